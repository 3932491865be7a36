"""Rows that other packages bring, for APIs that devlint itself knows nothing about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..core.kinds import Kind
from . import table
from .row import Row
from .table import Entry, Table

THIRD_PARTY = "third-party"
"""The topic of each of these rows."""
GIVES = frozenset(kind.value for kind in Kind) | {"first", "element", "reduced"}
PLACES = frozenset({"", "device", "receiver-device", "default", "cpu", "operands", "first", "unknown"})
MAKES = {"module": "modules.make", "loader": "loaders.loader", "optimizer": "optimizers.make"}
"""What makes an object of a kind, where a row does not say it."""
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+\*?|[^\W\d]\w*(?:\.[^\W\d]\w*)*\.\*")
_OWN = "Tensor Array Module Optimizer Loader InPlace Generator Device Container String TestCase torch"

_tables: tuple[Table, ...] = ()
_rows: dict[str, Entry] = {}
_prefixes: tuple[tuple[str, Entry], ...] = ()


def provide(tables: Iterable[Table]) -> bool:
    """Know what these say, and nothing that was provided before; False where nothing changes."""
    global _tables, _rows, _prefixes
    wanted = tuple(tables)
    if wanted == _tables:
        return False
    _tables = wanted
    _rows = table.entries(wanted)
    _prefixes = tuple((name[:-1], entry) for name, entry in _rows.items() if name.endswith("*"))
    return True


def exact(dotted: str) -> Entry | None:
    """The row of a name."""
    return _rows.get(dotted)


def longest_prefix(dotted: str, longer_than: int) -> Entry | None:
    """The row of the longest `prefix*` that begins a name."""
    best, found = longer_than, None
    for prefix, entry in _prefixes:
        if len(prefix) > best and dotted.startswith(prefix):
            best, found = len(prefix), entry
    return found


def read(entry: Entry) -> Row:
    """The row that an entry stands for."""
    row = table.read(entry)
    row = row._replace(topics=row.topics | {THIRD_PARTY})
    if not row.by and row.gives in MAKES:
        return row._replace(by=MAKES[row.gives], place=row.place or "cpu")
    return row


def is_brought(dotted: str) -> bool:
    """Whether another package brings a row of this very name."""
    return dotted in _rows


def rows() -> Iterator[tuple[str, Entry]]:
    """Every row under its name."""
    yield from _rows.items()


def libraries() -> frozenset[str]:
    """The packages that rows are about."""
    return frozenset(name.partition(".")[0] for name in _rows)


def complaint(tables: object) -> str:
    """What is wrong with a package's `TABLES`, in words; empty if nothing is."""
    if not isinstance(tables, tuple) or not tables:
        return '`TABLES` must be a tuple of tables, such as `(Table("acme.", Row("tensor"), "load(path)"),)`'
    for each in tables:
        sound = isinstance(each, Table) and isinstance(each.prefix, str) and isinstance(each.text, str)
        if not sound or not _is_row(each.row):
            return f"a table is `Table(prefix, Row(…), text)`, not {each!r:.80}"
        left = table.unread(each.text)
        if left:
            return f"the table of {each.prefix!r} has no rows, or something that is none: {left!r:.60}"
        for name, entry in table.entries((each,)).items():
            said = _wrong(name, entry)
            if said:
                return f"the row of `{name}`: {said}"
    return ""


def _wrong(name: str, entry: Entry) -> str:
    if not _NAME.fullmatch(name):
        return "a name is dotted, of a library's function or class, and may end in `*`"
    if name.partition(".")[0] in _OWN.split():
        return "what torch and its objects do is devlint's to know"
    try:
        row = table.read(entry)
    except ValueError as error:
        return str(error)
    if row.gives not in GIVES:
        return f"it cannot give {row.gives!r}: there are {', '.join(sorted(GIVES))}"
    if row.place not in PLACES:
        return f"there is no place {row.place!r}: there are {', '.join(sorted(PLACES - {''}))}"
    if row.by and row.by != MAKES.get(row.gives):
        return "`by` names code of devlint's own"
    parameters = set(row.signature.replace("*", " ").replace(",", " ").split())
    shared = {*entry.row.devices, *entry.row.host}  # of those, each row has its own
    unknown = {*row.devices, *row.host} - shared - parameters
    if unknown:
        return f"its signature has no parameter {', '.join(sorted(unknown))}"
    return ""


def _is_row(row: Any) -> bool:
    texts = ("gives", "place", "signature", "by", "source", "probe")
    return (
        isinstance(row, Row)
        and all(isinstance(getattr(row, name), str) for name in texts)
        and all(isinstance(each, tuple) and all(map(_is_text, each)) for each in (row.devices, row.host))
        and isinstance(row.topics, frozenset)
        and all(map(_is_text, row.topics))
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str)
