"""Which attributes a file does more with than to run, read, copy or train them: what may move them."""

from __future__ import annotations

import ast
from functools import cached_property

from .. import knowledge
from ..core.kinds import Kind
from .others import of_others
from .settle import Settled

_DISPLAYS = (ast.Starred, ast.List, ast.Tuple, ast.Dict, ast.BinOp, ast.keyword)
_LOOPS = (ast.For, ast.comprehension)
_DEPTH = 2
"""Functions deeper in a chain of calls may do anything with what they are given."""


def reached(settled: Settled) -> dict[str, set[str]]:
    """The attributes that anything in a file reaches by which they may be moved.

    By name, with the classes whose methods have them of their own object; empty for any other object.
    """
    uses, owners = _Uses(settled), _owners(settled)
    found = {
        node
        for node in settled.file.nodes
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and not uses.only_runs(node)
    }
    by: dict[str, set[str]] = {}
    for node in found - of_others(settled.file.nodes, uses.parents):
        by.setdefault(node.attr, set()).add(owners.get(node, ""))
    return by


def _owners(settled: Settled) -> dict[ast.Attribute, str]:
    """The classes whose methods read attributes of their own object."""
    return {
        node: function.owner
        for function in settled.file.functions.values()
        if function.owner is not None and function.is_method
        for node in ast.walk(function.node)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == function.positional[0]
    }


class _Uses:
    """What stands around the expressions of a file."""

    def __init__(self, settled: Settled) -> None:
        self._settled = settled
        self.parents = {child: node for node in settled.file.nodes for child in ast.iter_child_nodes(node)}

    @cached_property
    def _callees(self) -> dict[ast.Call, str]:
        return {call: raw.callee for log in self._settled.logs.values() for call, raw in log.calls.items()}

    def only_runs(self, node: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether what is read is called, asked for something, iterated or copied where it stands.

        So it is where it is given to a function of the file that does no more with it.
        """
        around = self.parents.get(node)
        if isinstance(around, ast.Attribute):
            if around.attr in knowledge.REACHES_PARTS:
                call = self.parents.get(around)
                return isinstance(call, ast.Call) and call.func is around and self._leaves(call)
            return around.attr not in knowledge.MOVES
        if isinstance(around, ast.Call):
            reads = isinstance(around.func, ast.Name) and around.func.id in knowledge.ITERATES
            runs = around.func is node or reads or self._copies(around)
            return runs or self._is_left(around, node, depth)
        if isinstance(around, ast.keyword):
            call = self.parents.get(around)
            return isinstance(call, ast.Call) and self._is_left(call, around, depth)
        return isinstance(around, _LOOPS) and around.iter is node

    @cached_property
    def _called(self) -> dict[ast.AST, str]:
        logs = self._settled.logs.values()
        return {site.at: site.callee for log in logs for site in log.sites if site.at is not None}

    def _is_left(self, call: ast.Call, given: ast.AST, depth: int) -> bool:
        """Whether a function of the file does no more with what a call gives it than to run or read it."""
        function = self._settled.file.functions.get(self._called.get(call, ""))
        if function is None or function.args is None or not depth:
            return False
        if isinstance(given, ast.keyword):
            name = given.arg or ""
        elif given in call.args:
            bound = function.is_method and isinstance(call.func, ast.Attribute)
            at = call.args.index(given) + bound
            name = function.positional[at] if at < len(function.positional) else ""
        else:
            return False
        names = (node for node in ast.walk(function.node) if isinstance(node, ast.Name))
        uses = [node for node in names if node.id == name]
        return bool(name) and all(
            isinstance(node.ctx, ast.Load) and self.only_runs(node, depth - 1) for node in uses
        )

    def _leaves(self, parts: ast.AST) -> bool:
        """Whether what has the parts of a module leaves them where they are: a loop, an optimizer."""
        around = self.parents.get(parts)
        if isinstance(around, ast.For):
            return around.iter is parts and not any(map(_replaces, ast.walk(around)))
        if isinstance(around, ast.Call):
            named = isinstance(around.func, ast.Name) and around.func.id in knowledge.ITERATES
            return self._leaves(around) if named else self._trains(around)
        return isinstance(around, _DISPLAYS) and self._leaves(around)

    def _trains(self, call: ast.Call) -> bool:
        """Whether a call makes an optimizer, or clips what parameters learn."""
        row = knowledge.find(self._callees.get(call, ""))
        return row is not None and (row.gives == Kind.OPTIMIZER.value or "clips" in row.topics)

    def _copies(self, call: ast.Call) -> bool:
        """Whether a call makes another object of what it is given, which stays where it is."""
        return self._callees.get(call, "").rpartition(".")[2] == knowledge.COPIES_ALL


def _replaces(node: ast.AST) -> bool:
    """Whether a statement or expression may put other data into a parameter, or what has it elsewhere."""
    if isinstance(node, ast.Attribute):
        return node.attr in knowledge.MOVES or (
            node.attr in knowledge.TENSOR_DATA and isinstance(node.ctx, ast.Store)
        )
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id not in knowledge.ITERATES | knowledge.SHOWS
    )
