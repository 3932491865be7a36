"""`devlint verify --knowledge`: tries every row with torch, and says which could not be tried, and why."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..console import say

PARTS = ("bare", "device")
_STRENGTH = ("open", "signature", "proven", "false")
"""Of two verdicts on one row, the later counts."""


_HEADS = ("library", "rows", "proven", "signature", "not provable", "false")
_METHODS = ("Tensor", "Module", "Optimizer", "Loader", "Generator", "Device", "Array", "InPlace")
_PYTHON = ("Container", "String", "builtins", *sys.stdlib_module_names)


class Judged(NamedTuple):
    """What is known of one row."""

    name: str
    verdict: str
    """`proven`, by calls; `signature`, by that alone; `open`; `false`."""
    why: str


def main(as_json: bool = False) -> int:
    """Judge every row: 0 if none is false, 1 if one is, 2 if nothing could be tried."""
    judged = judge()
    if as_json:
        print(json.dumps([row._asdict() for row in judged], indent=2))
    else:
        for line in table(judged):
            print(line)
    verdicts = {row.verdict for row in judged}
    if "false" in verdicts:
        return 1
    return 0 if "proven" in verdicts else 2


def judge(parts: Iterable[str] = PARTS, every: int = 1) -> list[Judged]:
    """What the parts found, by row; of the rows, one in `every` is tried."""
    found: dict[str, Judged] = {}
    for part in parts:
        for row in _run(part, every):
            known = found.get(row.name)
            if known is None or _weight(row) > _weight(known):
                found[row.name] = row
    return list(found.values())


def _weight(row: Judged) -> tuple[int, bool]:
    return _STRENGTH.index(row.verdict), bool(row.why)


def _run(part: str, every: int) -> Iterator[Judged]:
    """One part, begun anew behind each row that its process does not survive."""
    first, alive = 0, True
    while alive:
        command = [sys.executable, "-m", "devlint.runtime.evidence", part, str(first), str(every)]
        pipe = subprocess.PIPE
        trying = None
        with subprocess.Popen(command, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                said = json.loads(line)
                if isinstance(said, str):
                    say(said)
                    continue
                number, name, *verdict = said
                trying = (number, name) if not verdict else None
                if verdict:
                    yield Judged(name, *verdict)
        alive = trying is not None
        if trying is not None:
            first = trying[0] + 1
            yield Judged(trying[1], "open", "the process did not survive it")


def table(judged: Iterable[Judged]) -> list[str]:
    """Counts by library, then what is false, then a line that says it all."""
    judged = list(judged)
    counts: dict[str, Counter[str]] = {}
    for row in judged:
        counts.setdefault(_library(row.name), Counter())[row.verdict] += 1
    rows: list[tuple[str, ...]] = [_HEADS]
    for library, n in sorted(counts.items()):
        rows.append((library, *map(str, (n.total(), n["proven"], n["signature"], n["open"], n["false"]))))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    shown = [
        row[0].ljust(widths[0])
        + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
    shown += [f"{row.name} is false: {row.why}" for row in judged if row.verdict == "false"]
    return [*shown, summary(judged)]


def summary(judged: Iterable[Judged]) -> str:
    """One line: how many rows, and how far each was proven."""
    judged = list(judged)
    total = Counter(row.verdict for row in judged)
    why = Counter(_reason(row.why) for row in judged if row.verdict == "open")
    reasons = ", ".join(f"{reason} {count}" for reason, count in why.most_common())
    return (
        f"{len(judged)} rows: {total['proven']} proven by calls, "
        f"{total['signature']} by their signature alone, "
        f"{total['open']} not provable ({reasons}), {total['false']} false"
    )


def _library(name: str) -> str:
    first, _, rest = name.partition(".")
    if first == "torch":
        return f"torch.{rest.partition('.')[0]}" if "." in rest else "torch"
    if first in _METHODS:
        return f"methods of {first}"
    return "Python" if first in _PYTHON or not rest else "other libraries"


def _reason(why: str) -> str:
    known = ("another library's", "a group of names", "no sample", "there is no such device")
    return next(
        (reason for reason in known if why.startswith(reason)), "not simulated" if why else "not told"
    )
