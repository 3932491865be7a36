"""Whose keys a loop cuts: a dict of which each key loses a prefix is the state of a module."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .. import knowledge
from ..bind.names import last_name
from ..bind.walk import descendants
from ..core.evidence import Evidence
from .machine import Machine


def note(machine: Machine, target: ast.expr, iterated: ast.expr, made: Iterable[ast.AST]) -> None:
    """Note that what a loop goes through is a state, where it makes other names of its keys."""
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.args:
        iterated = iterated.args[0]  # a list, or what else keeps the order, of the keys
    if last_name(iterated) not in knowledge.LISTS_KEYS or not isinstance(iterated, ast.Call):
        return
    pair = isinstance(target, ast.Tuple) and len(target.elts) == 2
    key = target.elts[0] if pair and isinstance(target, ast.Tuple) else target
    whole = iterated.func
    if (
        isinstance(key, ast.Name)
        and isinstance(whole, ast.Attribute)
        and isinstance(whole.value, ast.Name)
        and any(_cuts(node, key.id) for part in made for node in descendants(part))
    ):
        value = machine.state.env.get(whole.value.id)
        if value is not None:
            machine.note(value, Evidence.RESTORED)


def _cuts(node: ast.AST, key: str) -> bool:
    """Whether the start of a key is cut off: `k[7:]`, `k.replace("module.", "")`."""
    if isinstance(node, ast.Subscript):
        cut, part = node.value, node.slice
        return (
            isinstance(cut, ast.Name)
            and cut.id == key
            and isinstance(part, ast.Slice)
            and part.lower is not None
            and part.upper is None
        )
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return False
    whose, prefix = node.func.value, node.args[0]
    return (
        isinstance(whose, ast.Name)
        and whose.id == key
        and node.func.attr in knowledge.CUTS
        and isinstance(prefix, ast.Constant)
        and isinstance(prefix.value, str)
        and prefix.value.endswith(knowledge.PART_ENDS)
    )
