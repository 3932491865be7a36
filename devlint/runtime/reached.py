"""Watches which statements of a program are run."""

from __future__ import annotations

import ast
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType


class Watch:
    """While it is entered, lines of one file that are run are noted, in every thread of this process."""

    def __init__(self, path: str, source: str, rows: Sequence[int]) -> None:
        """Take the file and the rows of the statements that matter."""
        self._path = path
        self._statements = {row: _deciding(source, row) for row in rows}
        self._seen: set[int] = set()

    def __enter__(self) -> Watch:
        """Begin."""
        if self._statements:
            threading.settrace(self._call)
            sys.settrace(self._call)
        return self

    def __exit__(self, *error: object) -> None:
        """End."""
        if self._statements:
            sys.settrace(None)
            threading.settrace(None)

    def reached(self) -> list[int]:
        """The rows whose statements were run, or begun."""
        return [row for row, lines in self._statements.items() if not self._seen.isdisjoint(lines)]

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != self._path:
            return None
        self._seen.add(frame.f_lineno)
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        self._seen.add(frame.f_lineno)
        return self._line


def statement(source: str, row: int) -> range:
    """The lines of the innermost statement at a row; of one with a body, those of its head."""
    found = _found(source, row)
    return found[-1][1] if found else range(row, row + 1)


def _deciding(source: str, row: int) -> set[int]:
    """The lines of a statement, and those of the conditions directly around it, which may leave it out."""
    lines = set(statement(source, row))
    for node, head in reversed(_found(source, row)[:-1]):
        if not isinstance(node, ast.If):
            break
        lines.update(head)
    return lines


def _found(source: str, row: int) -> list[tuple[ast.AST, range]]:
    try:
        return list(_around(ast.parse(source).body, row))
    except SyntaxError:
        return []


def _around(body: Sequence[ast.AST], row: int) -> Iterator[tuple[ast.AST, range]]:
    for node in body:
        first, last = getattr(node, "lineno", row + 1), getattr(node, "end_lineno", row)
        if not isinstance(node, (ast.stmt, ast.ExceptHandler)) or not first <= row <= last:
            continue
        inner = [
            part
            for field in ("body", "orelse", "finalbody", "handlers")
            for part in getattr(node, field, None) or []
        ]
        starts = [part.lineno for part in inner if hasattr(part, "lineno")]
        yield node, range(first, min([*starts, last + 1]) if starts else last + 1)
        yield from _around(inner, row)
