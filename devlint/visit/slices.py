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
    statements = _Statements(rows)
    for span in spans:
        held.setdefault(statements.innermost(tree, span), []).append(span)
    found: dict[Slice, list[Span]] = {}
    outer, last = None, 0
    for (start, end), inside in sorted(held.items(), key=lambda item: (item[0][0], -item[0][1])):
        if outer is None or start > last:
            outer, last = _slice(start, end, rows), end
        found.setdefault(outer, []).extend(inside)
    return found


class _Inside(NamedTuple):
    """The statements directly inside of another, in order, and their first and last rows."""

    body: list[ast.stmt]
    first: list[int]
    last: list[int]


class _Statements:
    """The statements of a file, found by bisection."""

    def __init__(self, rows: Sequence[str]) -> None:
        self.rows = rows
        self._inside: dict[ast.AST, _Inside] = {}

    def innermost(self, tree: ast.Module, span: Span) -> tuple[int, int]:
        """Return the rows of the smallest statement around `span` that stands alone on its rows."""
        best = 1, len(self.rows)
        around: ast.Module | ast.stmt = tree
        while True:
            inside = self.inside(around)
            start = bisect_left(inside.last, span.line)
            end = bisect_right(inside.first, span.line, lo=start)
            if end - start != 1 or inside.last[start] < span.end_line:
                return best  # none: in a header; several: joined by `;`
            around = inside.body[start]
            if _stands_alone(around, self.rows):
                best = inside.first[start], inside.last[start]

    def inside(self, node: ast.Module | ast.stmt) -> _Inside:
        """Return the statements directly inside of another."""
        found = self._inside.get(node)
        if found is None:
            body = list(self._body(node))
            last = [stmt.end_lineno or stmt.lineno for stmt in body]
            found = self._inside[node] = _Inside(body, [_first(stmt) for stmt in body], last)
        return found

    def _body(self, node: ast.Module | ast.stmt) -> Iterator[ast.stmt]:
        yield from getattr(node, "body", ())
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from part.body
        orelse: list[ast.stmt] = getattr(node, "orelse", [])
        while len(orelse) == 1 and isinstance(orelse[0], ast.If) and not _stands_alone(orelse[0], self.rows):
            yield from orelse[0].body  # an `elif`
            orelse = orelse[0].orelse
        yield from orelse
        yield from getattr(node, "finalbody", ())


def _first(stmt: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(stmt, "decorator_list", [])
    return min([stmt.lineno, *(item.lineno for item in decorators)])


def _stands_alone(stmt: ast.stmt, rows: Sequence[str]) -> bool:
    """Whether nothing but space is before it; an `elif` is a statement to `ast`, but not on its own."""
    first = _first(stmt)
    if first < stmt.lineno:
        return rows[first - 1].lstrip().startswith("@")
    row = rows[first - 1]
    return not row[: stmt.col_offset].strip() and not (
        isinstance(stmt, ast.If) and row.lstrip().startswith("elif")
    )


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
