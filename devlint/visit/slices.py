"""Cuts out of a file the statements that hold suspects, so that LibCST need not parse the rest.

LibCST takes about 150 ms for 900 lines (parse and positions); the innermost statement around a suspect
is a few lines. An indented statement parses below an `if 1:` line with its columns unchanged.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..span import Span

_HEADER = "if 1:"


class Slice(NamedTuple):
    """A stretch of rows that parses on its own."""

    first: int
    last: int
    text: str
    """What to parse: the rows, perhaps below a header row."""
    rows_before: int
    """Add this to a row of the parsed text to get the row in the file."""
    shift: int
    """Characters left out at the start of the first row (up to a form feed)."""

    def to_file(self, row: int, column: int) -> tuple[int, int]:
        """Return the file's row and column (from 0) of a place in the parsed text."""
        row += self.rows_before
        return row, column + self.shift * (row == self.first)


def whole(rows: Sequence[str]) -> Slice:
    """Return the slice that is the whole file."""
    return Slice(1, len(rows), "".join(rows), 0, 0)


def cut(tree: ast.Module, rows: Sequence[str], spans: Iterable[Span]) -> dict[Slice, list[Span]]:
    """Return disjoint slices, in file order, and the spans that each holds."""
    held: dict[tuple[int, int], list[Span]] = {}
    for span in spans:
        held.setdefault(_innermost(tree, rows, span), []).append(span)
    found: dict[Slice, list[Span]] = {}
    outer, last = None, 0
    for (start, end), inside in sorted(held.items(), key=lambda item: (item[0][0], -item[0][1])):
        if outer is None or start > last:
            outer, last = _slice(start, end, rows), end
        found.setdefault(outer, []).extend(inside)
    return found


def _innermost(tree: ast.Module, rows: Sequence[str], span: Span) -> tuple[int, int]:
    """Return the rows of the smallest statement around `span` that stands alone on its rows."""
    best = 1, len(rows)
    bodies: list[list[ast.stmt]] = [tree.body]
    while bodies:
        around = [stmt for body in bodies for stmt in _near(body, span) if _holds(stmt, span)]
        if len(around) != 1:  # none: in a header; several: joined by `;`
            break
        (stmt,) = around
        if _stands_alone(stmt, rows):
            best = _first(stmt), stmt.end_lineno or stmt.lineno
        bodies = list(_bodies(stmt))
    return best


def _near(body: list[ast.stmt], span: Span) -> list[ast.stmt]:
    """Return the statements of a body that may hold `span`, found by bisection."""
    start = bisect_left(body, span.line, key=lambda stmt: stmt.end_lineno or stmt.lineno)
    end = bisect_right(body, span.line, lo=start, key=_first)
    return body[start:end]


def _first(stmt: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(stmt, "decorator_list", [])
    return min([stmt.lineno, *(item.lineno for item in decorators)])


def _holds(stmt: ast.stmt, span: Span) -> bool:
    return _first(stmt) <= span.line and span.end_line <= (stmt.end_lineno or stmt.lineno)


def _stands_alone(stmt: ast.stmt, rows: Sequence[str]) -> bool:
    """Whether nothing but space is before it; an `elif` is a statement to `ast`, but not on its own."""
    first = _first(stmt)
    if first < stmt.lineno:
        return rows[first - 1].lstrip().startswith("@")
    row = rows[first - 1]
    return not row[: stmt.col_offset].strip() and not (
        isinstance(stmt, ast.If) and row.lstrip().startswith("elif")
    )


def _bodies(stmt: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(stmt, name, [])
    for part in (*getattr(stmt, "handlers", ()), *getattr(stmt, "cases", ())):
        yield part.body


def _slice(first: int, last: int, rows: Sequence[str]) -> Slice:
    text = "".join(rows[first - 1 : last])
    shift = 0
    indent = text[: len(text) - len(text.lstrip(" \t\f"))]
    if "\f" in indent:  # resets Python's count of columns; LibCST loses it before a statement
        shift = indent.rindex("\f") + 1
        text, indent = text[shift:], indent[shift:]
    if not indent or (first, last) == (1, len(rows)):
        return Slice(first, last, text, first - 1, shift)
    newline = "\r\n" if rows[first - 1].endswith("\r\n") else "\n"
    return Slice(first, last, _HEADER + newline + text, first - 2, shift)
