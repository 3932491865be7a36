"""The `full` format: each finding with its code, the reason, the cure, and where to read more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..console import printable
from ..finding import place
from ..source.text import split_rows
from .style import BOLD, CYAN, DIM, SEVERITY_COLORS, applies, fix_mark, paint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..finding import Finding, Position, Related
    from . import Outcome

_CONTEXT = 1
"""Rows shown before and after."""
_MARKED = 4
"""Rows shown of a finding that spans more."""
_WIDTH = 160
"""Characters shown of a row: a minified line must not flood the terminal."""


def render(outcome: Outcome) -> str:
    """Return a paragraph for each finding."""
    paragraphs = []
    shown, rows = None, list[str]()
    sources = _Sources(outcome.sources)
    for finding in outcome.findings:
        if place(finding) != shown:
            shown = place(finding)
            rows = sources[shown]
        paragraphs.append("\n".join(_paragraph(finding, rows, sources, outcome)) + "\n\n")
    return "".join(paragraphs)


class _Sources(dict[str, list[str]]):
    """The rows of files and cells, split once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def __missing__(self, name: str) -> list[str]:
        rows = self[name] = split_rows(self._texts.get(name, ""))
        return rows


def _paragraph(finding: Finding, rows: Sequence[str], sources: _Sources, outcome: Outcome) -> Iterator[str]:
    color = outcome.color
    severity = SEVERITY_COLORS[finding.severity]
    mark = paint(fix_mark(finding, outcome), CYAN, color)
    last = min(finding.end.row, finding.start.row + _MARKED - 1)
    deepest = [min(last + _CONTEXT, len(rows)) if rows else finding.start.row]
    deepest += [related.start.row for related in finding.related]
    gutter = len(str(max(deepest)))
    blank = " " * gutter
    yield f"{paint(finding.code, severity, color)} {mark}{paint(printable(finding.message), BOLD, color)}"
    arrow, bar = paint("-->", DIM, color), paint("|", DIM, color)
    yield f"{blank}{arrow} {printable(place(finding))}:{finding.start.row}:{finding.start.column}"
    frame = list(_frame(finding, rows, last))
    if frame:
        yield f"{blank} {bar}"
    for row, text, carets in frame:
        yield f"{paint(str(row).rjust(gutter), DIM, color)} {bar} {text}".rstrip()
        if carets:
            yield f"{blank} {bar} {paint(carets, severity, color)}"
    if frame:
        yield f"{blank} {bar}"
    for related in finding.related:
        yield from _explained(related, sources, gutter, color)
        yield f"{blank} {bar}"
    equals = paint("=", DIM, color)
    if finding.reason:
        label = paint(finding.severity.value, severity, color)
        yield f"{blank} {equals} {label}: {printable(finding.reason)}"
    if finding.fix is not None:
        kind = "" if finding.fix.safe else "unsafe "
        flag = "--fix" if finding.fix.safe and applies(finding, outcome) else "--fix --unsafe-fixes"
        yield f"{blank} {equals} {kind}fix: {printable(finding.fix.message)} ({flag})"
    yield f"{blank} {equals} more: devlint rule {finding.code}"


def _explained(related: Related, sources: _Sources, gutter: int, color: bool) -> Iterator[str]:
    """Yield another place that explains a finding: its row, marked, and what happens there."""
    blank = " " * gutter
    at = f"{printable(place(related))}:{related.start.row}:{related.start.column}"
    rows = sources[place(related)]
    if related.start.row > len(rows):
        yield f"{blank}{paint(':::', DIM, color)} {at}: {printable(related.message)}"
        return
    yield f"{blank}{paint(':::', DIM, color)} {at}"
    bar = paint("|", DIM, color)
    yield f"{blank} {bar}"
    for row, text, marks in _marked(related.start, related.end, rows, related.start.row, related.start.row):
        yield f"{paint(str(row).rjust(gutter), DIM, color)} {bar} {text}".rstrip()
        said = f"{marks.replace('^', '-')} {printable(related.message)}"
        yield f"{blank} {bar} {paint(said, CYAN, color)}"


def _frame(finding: Finding, rows: Sequence[str], last: int) -> Iterator[tuple[int, str, str]]:
    """Yield the rows to show: number, text and, for those that are meant, a line of carets."""
    first = max(finding.start.row - _CONTEXT, 1)
    yield from _marked(finding.start, finding.end, rows, first, last + _CONTEXT, last)


def _marked(
    start: Position, end: Position, rows: Sequence[str], first: int, stop_row: int, last: int = 0
) -> Iterator[tuple[int, str, str]]:
    """Yield rows from `first` to `stop_row`; those of the stretch, up to `last`, with carets."""
    last = last or stop_row
    for number, raw in enumerate(rows[first - 1 : stop_row], first):
        row = raw.rstrip("\r\n")
        begin = start.column - 1 if number == start.row else len(row) - len(row.lstrip())
        stop = end.column - 1 if number == end.row else len(row)
        left = max(begin - _WIDTH // 2, 0) if len(row) > _WIDTH else 0
        text = row[left : left + _WIDTH]
        carets = ""
        if start.row <= number <= last:
            before = _columns(row[left:begin])
            marked = _columns(row[begin : min(stop, left + _WIDTH)])
            carets = " " * before + "^" * max(marked, 1)
        yield number, printable(text.replace("\t", "    ")), carets


def _columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    text = text.replace("\t", "    ")
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 1 + (east_asian_width(char) in "WF") for char in text)
