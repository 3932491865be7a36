"""Files without what their functions do, which is read where one is entered: most are never called."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from ..source.text import Rows

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LEFT_OUT = "left_out"
"""The attribute of a function's node that says where its body stands."""


class Shell:
    """A file's tree, in which functions at the margin and in classes have no body until somebody wants it."""

    def __init__(self, text: str) -> None:
        """Read a file.

        Raises:
            SyntaxError: the text is no Python
            ValueError: it has a null byte
            RecursionError, MemoryError: it is nested too deeply
        """
        self.tree = _parsed(text)
        starts = Rows(text).starts
        self._source = source = _Source(text)
        for node in _functions(self.tree.body):
            first, last = node.body[0], node.body[-1]
            row = min(each.lineno for each in (first, *getattr(first, "decorator_list", ())))
            start, after = starts[row - 1], last.end_lineno or last.lineno
            end = starts[after] if after < len(starts) else len(text)
            if not text[start : start + first.col_offset].strip(" \t\f"):
                setattr(node, _LEFT_OUT, (source, start, end, row))
                source.size -= end - start
                node.body = []

    @property
    def size(self) -> int:
        """How many characters of the text are kept as nodes."""
        return self._source.size

    def close(self) -> None:
        """Let go of what has been read since."""
        self._source.close()


class _Source:
    """A file's text, which does not hold its tree: so neither waits for the garbage collector."""

    def __init__(self, text: str) -> None:
        self.size = len(text)
        self._text = text
        self._open: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]] = []

    def read(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, start: int, end: int, row: int
    ) -> list[ast.stmt]:
        """The statements of a function, which stand in some rows."""
        block = _parsed(f"if 1:\n{self._text[start:end]}").body[0]
        assert isinstance(block, ast.If)
        for statement in block.body:
            ast.increment_lineno(statement, row - 2)
        self._open.append((node, end - start))
        self.size += end - start
        return block.body

    def close(self) -> None:
        for node, length in self._open:
            node.body = []
            self.size -= length
        self._open.clear()


def body(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Sequence[ast.stmt]:
    """What a function does."""
    left_out = node.__dict__.get(_LEFT_OUT)
    if left_out is not None and not node.body:
        source, start, end, row = left_out
        node.body = source.read(node, start, end, row)
    return node.body


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the program's own, such as invalid escapes
        return ast.parse(text)


def _functions(statements: Sequence[ast.stmt]) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    found = []
    for statement in statements:
        if isinstance(statement, _DEFINITIONS):
            found.append(statement)
        elif isinstance(statement, ast.ClassDef):
            found += _functions(statement.body)
    return found
