"""Which variables are read after a statement, or by code that a loop may run after it."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import NamedTuple

from .names import bound_names
from .walk import descendants

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_END = 1 << 30

At = tuple[int, int]


class _Loop(NamedTuple):
    """A loop, by its rows."""

    first: int
    last: int
    body: int
    """The first row of what it repeats."""
    around: int
    """The loop that it is nested in, by its index; -1 for none."""


class Reads:
    """The reads of variables in one function or module; all is looked up by bisection."""

    def __init__(self, scope: ast.AST) -> None:
        self.scope = scope

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return descendants(self.scope)

    @cached_property
    def _loads(self) -> dict[str, list[At]]:
        found: dict[str, list[At]] = {}
        for node in self._nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, []).append((node.lineno, node.col_offset))
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found.setdefault(node.target.id, []).append((node.lineno, node.col_offset))
        for places in found.values():
            places.sort()
        return found

    @cached_property
    def _loops(self) -> list[_Loop]:
        """The loops, in the order of the text."""
        nodes = [node for node in self._nodes if isinstance(node, _LOOPS)]
        found: list[_Loop] = []
        for node in sorted(nodes, key=lambda node: node.lineno):
            around = len(found) - 1
            while around >= 0 and found[around].last < node.lineno:
                around = found[around].around
            found.append(_Loop(node.lineno, node.end_lineno or node.lineno, node.body[0].lineno, around))
        return found

    @cached_property
    def _binding(self) -> dict[str, list[At]]:
        """By variable, the first row of each loop that binds it, and of what that repeats, in order."""
        found: dict[str, list[At]] = {}
        for node in self._nodes:
            if isinstance(node, (ast.For, ast.AsyncFor)):
                for name in bound_names(node.target):
                    found.setdefault(name, []).append((node.lineno, node.body[0].lineno))
        for rows in found.values():
            rows.sort()
        return found

    def after(self, name: str, statement: ast.stmt | ast.expr, loop: ast.For | ast.AsyncFor) -> bool:
        """Whether a variable of `loop` is read after a statement in it."""
        loads = self._loads.get(name, [])
        start = (statement.lineno, statement.col_offset)
        end = (statement.end_lineno or statement.lineno, statement.end_col_offset or 0)
        at = bisect_right(self._loops, statement.lineno, key=lambda each: each.first) - 1
        while at >= 0 and self._loops[at].first > loop.lineno:
            inner = self._loops[at]
            if statement.lineno <= inner.last and (
                _any_within(loads, (inner.body, 0), start) or _any_within(loads, end, (inner.last, _END))
            ):
                return True
            at = inner.around
        later = bisect_left(loads, end)
        return later < len(loads) and loads[later] < self._bound_again(name, loop)

    def _bound_again(self, name: str, loop: ast.For | ast.AsyncFor) -> At:
        """Where a loop after this one binds the same name anew."""
        rows = self._binding.get(name, [])
        after = bisect_right(rows, (loop.end_lineno or loop.lineno, _END))
        return (rows[after][1], 0) if after < len(rows) else (_END, 0)


def _any_within(places: list[At], start: At, end: At) -> bool:
    """Whether there is a place from `start` on and before `end`."""
    return bisect_left(places, start) < bisect_left(places, end)
