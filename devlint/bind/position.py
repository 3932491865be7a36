"""Where a node of syntax stands in its file."""

from __future__ import annotations

import ast

from ..core.met import Position


def position(node: ast.AST) -> Position:
    """The line, column, last line and column after it of a node; zeros where it has none."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    return line, column, getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0


def encloses(function: ast.AST, node: ast.AST) -> bool:
    """Whether a node stands in a definition."""
    first, last = getattr(function, "lineno", 0), getattr(function, "end_lineno", 0) or 0
    return first <= getattr(node, "lineno", 0) <= last
