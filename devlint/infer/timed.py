"""Moves that are made to be timed: their results are thrown away on purpose."""

from __future__ import annotations

import ast

from .. import knowledge
from ..bind.names import last_name
from ..core.values import Api, Defined
from .machine import Machine

_WITH = (ast.With, ast.AsyncWith)


class Timed:
    """Where a function reads a clock, and where it last reads its variables, other than to move them."""

    def __init__(self, machine: Machine) -> None:
        nodes = list(ast.walk(machine.here.node))
        lines = [each for node in nodes for each in _read_at(machine, node)]
        self._first, self._last = min(lines, default=0), max(lines, default=0)
        receivers = filter(None, map(_receiver, nodes if lines else ()))
        moved = {each for receiver in receivers for each in ast.walk(receiver)}
        self._reads: dict[str, int] = {}
        for node in nodes if lines else ():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in moved:
                self._reads[node.id] = max(node.lineno, self._reads.get(node.id, 0))

    def has(self, call: ast.expr) -> bool:
        """Whether a clock is read before and after a move, and nothing goes on with what it is called on."""
        receiver = _receiver(call)
        if receiver is None or not self._first < call.lineno < self._last:
            return False
        inside = list(ast.walk(receiver))
        if any(isinstance(each, ast.Call) for each in inside):
            return True  # it is made for that
        names = (each.id for each in inside if isinstance(each, ast.Name))
        return all(self._reads.get(name, 0) <= call.lineno for name in names)


def _receiver(node: ast.AST) -> ast.expr | None:
    """What a move is called on."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.value if isinstance(func, ast.Attribute) and func.attr in knowledge.MOVES else None


def _read_at(machine: Machine, node: ast.AST) -> tuple[int, ...]:
    """The lines on which a clock is read: by a call, or where a block begins and ends that is timed."""
    if isinstance(node, ast.Call) and last_name(node) in knowledge.CLOCKS:
        return (node.lineno,)
    if isinstance(node, _WITH) and any(_times(machine, item.context_expr) for item in node.items):
        return node.lineno, (node.end_lineno or node.lineno) + 1
    return ()


def _times(machine: Machine, manager: ast.expr) -> bool:
    """Whether a function of the project, which makes a manager of a block, reads a clock."""
    func = manager.func if isinstance(manager, ast.Call) else None
    value = machine.program.top(func.id) if isinstance(func, ast.Name) else None
    known = value.known if value is not None else None
    if isinstance(known, Api):
        found = machine.program.resolve(known.dotted)
        known = found.known if found is not None else None
    summary = machine.program.summary(known.dotted) if isinstance(known, Defined) else None
    return summary is not None and knowledge.READS_CLOCK in summary.reaches
