"""Places in a file's text: spans in characters, and quotes of expressions."""

from __future__ import annotations

import ast
from functools import cached_property

from ..span import Span

NODE_TYPES: dict[type, str] = {
    ast.Call: "Call",
    ast.Name: "Name",
    ast.Attribute: "Attribute",
    ast.Subscript: "Subscript",
    ast.BinOp: "BinaryOperation",
    ast.UnaryOp: "UnaryOperation",
    ast.Compare: "Comparison",
    ast.Constant: "SimpleString",
    ast.IfExp: "IfExp",
    ast.List: "List",
    ast.Tuple: "Tuple",
    ast.Dict: "Dict",
    ast.ListComp: "ListComp",
    ast.GeneratorExp: "GeneratorExp",
    ast.DictComp: "DictComp",
    ast.Lambda: "Lambda",
    ast.BoolOp: "BooleanOperation",
    ast.NamedExpr: "NamedExpr",
    ast.Await: "Await",
}
"""The LibCST class of what `ast` calls otherwise."""


_PRIMARY = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Tuple, ast.List, ast.Dict, ast.Set),
    *(ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp),
)
"""What needs no parentheses before a dot."""


class Text:
    """The text of a file, to quote from and to count columns in characters."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def lines(self) -> list[str]:
        """The lines, without what ends them."""
        # `ast` counts lines as the tokenizer does: `splitlines` would also split at form feeds and the like.
        return self._text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def has(self, word: str) -> bool:
        """Whether a word occurs in it, in whatever sense."""
        return word in self._text

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return offset if text.isascii() else len(text.encode()[:offset].decode("utf-8", "ignore"))

    def span(self, node: ast.expr | ast.stmt) -> Span:
        """Where a node stands, columns in characters."""
        end_line = node.end_lineno or node.lineno
        return Span(
            node.lineno,
            self._column(node.lineno, node.col_offset),
            end_line,
            self._column(end_line, node.end_col_offset or 0),
        )

    def receiver(self, node: ast.AST) -> str:
        """The source of an expression as it must be spelled before a dot."""
        text = self.quote(node)
        return text if isinstance(node, (*_PRIMARY, ast.Constant)) or not text else f"({text})"

    def quote(self, node: ast.AST) -> str:
        """The source of an expression on one line."""
        if not isinstance(node, ast.expr):
            return ""
        span = self.span(node)
        if span.line == span.end_line:
            return self.lines[span.line - 1][span.column : span.end_column]
        return ast.unparse(node)
