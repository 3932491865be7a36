"""Which variables are read after a statement, or by code that a loop may run after it."""

from __future__ import annotations

import ast
from functools import cached_property

from .names import bound_names

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_NEVER = (1 << 30, 0)


class Reads:
    """The reads of variables in one function or module."""

    def __init__(self, scope: ast.AST) -> None:
        self.scope = scope

    @cached_property
    def _loads(self) -> dict[str, list[tuple[int, int]]]:
        found: dict[str, list[tuple[int, int]]] = {}
        for node in ast.walk(self.scope):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, []).append((node.lineno, node.col_offset))
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found.setdefault(node.target.id, []).append((node.lineno, node.col_offset))
        return found

    def after(self, name: str, statement: ast.stmt | ast.expr, loop: ast.For | ast.AsyncFor) -> bool:
        """Whether a variable of `loop` is read after a statement in it."""
        loads = self._loads.get(name, ())
        start = (statement.lineno, statement.col_offset)
        end = (statement.end_lineno or statement.lineno, statement.end_col_offset or 0)
        for inner in ast.walk(loop):
            if isinstance(inner, _LOOPS) and inner is not loop:
                last = inner.end_lineno or inner.lineno
                if inner.lineno <= statement.lineno <= last and any(
                    (inner.body[0].lineno, 0) <= at <= (last, 1 << 30) and not start <= at < end
                    for at in loads
                ):
                    return True
        later = [at for at in loads if at >= end]
        return bool(later) and min(later) < self._bound_again(name, loop)

    def _bound_again(self, name: str, loop: ast.For | ast.AsyncFor) -> tuple[int, int]:
        """Where a loop after this one binds the same name anew."""
        last = loop.end_lineno or loop.lineno
        starts = [
            (node.body[0].lineno, 0)
            for node in ast.walk(self.scope)
            if isinstance(node, (ast.For, ast.AsyncFor))
            and node.lineno > last
            and name in bound_names(node.target)
        ]
        return min(starts, default=_NEVER)
