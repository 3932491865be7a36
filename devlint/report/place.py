"""Where a finding is, for formats that know files and lines and no notebook cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..finding import Position, place

if TYPE_CHECKING:
    from ..finding import Finding, Related


class Place(NamedTuple):
    """A stretch of a file, its end exclusive."""

    start: Position
    end: Position


def in_file(finding: Finding | Related) -> Place:
    """Return where to show a finding; in a notebook that is its beginning, as its JSON has other lines."""
    if finding.cell is not None:
        return Place(Position(1, 1), Position(1, 1))
    return Place(finding.start, finding.end)


def headline(finding: Finding | Related) -> str:
    """Return the message; in a notebook, with the cell and row that the format cannot point to."""
    if finding.cell is None:
        return finding.message
    return f"{finding.message} (cell {finding.cell}, line {finding.start.row})"


def line(finding: Finding) -> str:
    """Return a finding as one line for a log."""
    return f"{place(finding)}:{finding.start.row}:{finding.start.column}: {finding.code} {finding.message}"


def explanations(finding: Finding) -> list[str]:
    """Return a line for each other place that explains a finding."""
    return [f"{place(each)}:{each.start.row}:{each.start.column}: {each.message}" for each in finding.related]
