"""Rows as they are written: many to a table, names before their signature, what they share said once.

    abs acos(input, *, out)
    ctc_loss(log_probs, targets, input_lengths, target_lengths): host=input_lengths,target_lengths

`topics=a` adds one, `topics=!a` has that one alone, `topics=` none. A table is text until a name in it is
asked for: reading all of them takes longer than linting a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from .row import Row

_ENTRY = r"([^():=]+)\(([^()]*)\)(?::((?:\s+\w+=\S*)+))?"
_LISTS = frozenset({"devices", "host"})
_SHORT = {"0-dim": "0-dim tensor"}
"""Columns hold no spaces."""


class Table(NamedTuple):
    """Rows that have much in common."""

    prefix: str
    """What their names begin with."""
    row: Row
    """What they have in common; topics are added to, other columns replaced."""
    text: str


class Entry(NamedTuple):
    """One line of a table, not yet read."""

    signature: str
    columns: str
    row: Row


def entries(tables: Iterable[Table]) -> dict[str, Entry]:
    """All names of some tables; of a name twice, the last."""
    found: dict[str, Entry] = {}
    for prefix, row, text in tables:
        for names, signature, columns in re.findall(_ENTRY, text):
            entry = Entry(signature, columns, row)
            for name in names.split():
                found[prefix + name] = entry
    return found


def unread(text: str) -> str:
    """What is no row in the text of a table; the text itself where it has none."""
    if not re.search(_ENTRY, text):
        return text.strip() or "nothing"
    return re.sub(_ENTRY, "", text).strip()


def names(tables: Iterable[Table]) -> Iterator[str]:
    """Every name of some tables, as often as it is there."""
    for prefix, _, text in tables:
        for found, _, _ in re.findall(_ENTRY, text):
            yield from (prefix + name for name in found.split())


def read(entry: Entry) -> Row:
    """The row that an entry stands for."""
    signature = " ".join(entry.signature.split())
    changes: dict[str, object] = {}
    for column in entry.columns.split():
        name, _, value = column.partition("=")
        if name == "topics":
            alone = not value or value.startswith("!")
            added = frozenset(value.lstrip("!").split(",")) - {""}
            changes[name] = added if alone else entry.row.topics | added
        elif name in _LISTS:
            changes[name] = tuple(value.split(",")) if value else ()
        elif name in Row._fields:
            changes[name] = _SHORT.get(value, value)
        else:
            raise ValueError(f"a row has no column {name!r}: {entry.columns}")
    return entry.row._replace(signature=signature, **changes)  # type: ignore[arg-type]


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


@lru_cache(maxsize=16)
def pairs(text: str) -> Mapping[str, str]:
    """`name: words that stand for it`, by line, turned around: each word with the name."""
    found: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, rest = line.partition(":")
        found.update(dict.fromkeys(rest.split(), name))
    return found
