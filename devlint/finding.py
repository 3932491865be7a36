"""What devlint reports: plain, frozen data that sorts, pickles and prints."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple


class Severity(str, Enum):
    """How sure the harm is."""

    ERROR = "error"
    """Wrong on any accelerator, whatever the caller does."""
    WARNING = "warning"
    """Not portable, or risky."""
    NOTE = "note"
    """Slower than needed; off unless selected."""


class Position(NamedTuple):
    """A place in a file: row and column, both from 1, columns in characters."""

    row: int
    column: int


class Edit(NamedTuple):
    """Replace the text from `start` up to, not including, `end`."""

    start: Position
    end: Position
    content: str


class Fix(NamedTuple):
    """The edits that cure a finding, in file order and not overlapping; `safe` keeps behaviour on the cpu."""

    message: str
    edits: tuple[Edit, ...]
    safe: bool


class Related(NamedTuple):
    """Another place that explains a finding, perhaps in another file."""

    path: str
    start: Position
    end: Position
    message: str
    """One short sentence on what happens there."""
    cell: int | None = None


class Finding(NamedTuple):
    """One problem at one place; sorts by file, then by position."""

    path: str
    start: Position
    end: Position
    code: str
    name: str
    severity: Severity
    message: str
    reason: str
    """One line on why it matters; empty where the message says it all."""
    fix: Fix | None
    noqa_row: int
    """The last row of the statement that holds the finding: where a `# noqa` goes."""
    cell: int | None = None
    """In a notebook, the cell that the rows count in, from 1 over cells of every kind."""
    related: tuple[Related, ...] = ()
    """Where it comes from; what it is known again by does not depend on these."""


def order(finding: Finding) -> tuple[object, ...]:
    """Sort findings by file, cell and position."""
    return finding.path, finding.cell or 0, *finding[1:5]


def place(finding: Finding | Related) -> str:
    """Return the file, and the cell in a notebook: what stands before the row."""
    return finding.path if finding.cell is None else f"{finding.path}:cell {finding.cell}"


def plain(finding: Finding) -> tuple[Any, ...]:
    """Return a finding as tuples, texts and numbers alone, which `marshal` takes."""
    fix = finding.fix
    edits = tuple((*each.start, *each.end, each.content) for each in fix.edits) if fix is not None else ()
    return (
        *(finding.path, tuple(finding.start), tuple(finding.end), finding.code, finding.name),
        *(finding.severity.value, finding.message, finding.reason),
        (fix.message, edits, fix.safe) if fix is not None else None,
        *(finding.noqa_row, finding.cell),
        tuple((each.path, tuple(each.start), tuple(each.end), *each[3:]) for each in finding.related),
    )


def from_plain(data: tuple[Any, ...]) -> Finding:
    """Return the finding that `plain` made something of."""
    path, start, end, code, name, severity, message, reason, fix, noqa_row, cell, related = data
    if fix is not None:
        edits = (Edit(Position(a, b), Position(c, d), content) for a, b, c, d, content in fix[1])
        fix = Fix(fix[0], tuple(edits), fix[2])
    return Finding(
        *(path, Position(*start), Position(*end), code, name, Severity(severity), message, reason, fix),
        *(noqa_row, cell),
        tuple(Related(where, Position(*a), Position(*b), *rest) for where, a, b, *rest in related),
    )
