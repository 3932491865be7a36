"""Prints proofs: a table for people, JSON for programs, a page for the documentation."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from ..console import escaped, printable
from .proof import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .proof import Proof
    from .worker import Device

_PAGE = """\
# What is proven

Written by `devlint verify --markdown`; do not edit. Each rule's programs in `fixtures/` are run on every
device at hand, and what happens is compared with what the rule claims: `bug.py` shows the bug,
`fixed.py` runs, and where a program holds several bugs, `bug.py:12` is the cured program with only the
cure of that line taken back. `sim` is [a simulated accelerator](runtime.md).
"""


def as_json(proofs: Sequence[Proof], devices: Mapping[str, Device]) -> str:
    """Return everything, for programs."""
    rows = [proof._asdict() for proof in proofs]
    return escaped(json.dumps({"devices": devices, "proofs": rows}, indent=2))


def as_table(proofs: Sequence[Proof], width: int | None) -> Iterator[str]:
    """Yield one line for each proof, cut to a width; a false claim is never cut."""
    columns = [[p.code, p.program, p.device, p.verdict.value] for p in proofs]
    widths = [max(map(len, column)) for column in zip(*columns, strict=True)]
    for proof, cells in zip(proofs, columns, strict=True):
        line = "  ".join(cell.ljust(size) for cell, size in zip(cells, widths, strict=True))
        if proof.verdict is Verdict.FALSE:
            yield printable(f"{line}  claimed: {proof.claim or 'nothing'}; but: {proof.evidence}")
        else:
            yield printable(f"{line}  {proof.evidence}"[:width].rstrip())


def as_markdown(proofs: Sequence[Proof], devices: Mapping[str, Device]) -> str:
    """Return the documentation page: one row for each program, one column for each device."""
    present = [name for name, about in devices.items() if "unavailable" not in about]
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for proof in proofs:
        verdict = "" if proof.verdict is Verdict.CONFIRMED else f"**{proof.verdict.value}**: "
        rows.setdefault((proof.code, proof.program), {})[proof.device] = verdict + _cell(proof.evidence)
    where = ", ".join(f"`{n}` ({devices[n]['name']}, torch {devices[n]['torch']})" for n in present)
    lines = [_PAGE, f"Devices: {where}. {summary(proofs)}.", ""]
    lines += [_row(["rule", "program", *present]), _row(["---"] * (len(present) + 2))]
    for (code, program), cells in rows.items():
        lines.append(_row([code, f"`{program}`", *(cells.get(name, "") for name in present)]))
    return "\n".join(lines) + "\n"


def summary(proofs: Sequence[Proof]) -> str:
    """Return how many proofs came to which verdict."""
    counts = Counter(proof.verdict for proof in proofs)
    return ", ".join(f"{counts[v]} {v.value}" for v in Verdict if counts[v]) or "nothing run"


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
