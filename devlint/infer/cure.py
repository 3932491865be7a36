"""Which discarded moves could be kept without harm: the program is analysed again as if all of them were.

A tensor that is kept where it was moved may meet what was where it was before. Each kept copy is at a
place of its own in that analysis, a `Kept`, so that every meeting tells which moves brought it about.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from .module import Module
from .values import (
    Device,
    Form,
    Kept,
    Kind,
    devices_conflict,
    symbol_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .module import Seen
    from .scope import FunctionNode

_LEAF = frozenset({"grad", "is_leaf", "requires_grad", "requires_grad_"})
_DISPLAYS = (ast.List, ast.Dict, ast.ListComp, ast.DictComp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SCOPES = (*_DEFINITIONS, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_ONLY_MOVES = frozenset({"device", "non_blocking"})


class Harm(NamedTuple):
    """What would come of keeping the results of discarded moves."""

    possible: frozenset[ast.Call]
    """Moves whose kept result may meet a value on another device, where all may be well now."""
    certain: frozenset[ast.Call]
    """Those of which it is certain."""


def harm(module: Module, moves: Iterable[ast.Call]) -> Harm:
    """Analyse the file again with the results of these moves kept."""
    kept = {node: Kept(node, module.discards[node].receiver.device) for node in moves}
    if not kept:
        return Harm(frozenset(), frozenset())
    cured = Module(module.tree, module.lookup)
    cured.keeping = kept
    cured.analyse()
    for function in cured.functions.values():
        if function.summary is not None and not function.sites:
            cured.spill(function.summary.returns)  # to callers that nobody knows
    bad: set[Kept] = {each for each in kept.values() if each.spilled}
    certain: set[Kept] = set()
    met = [(m.here, m.there) for m in cured.meetings if _kept(m.here) or _kept(m.there)]
    found = len(bad) - 1
    while found != len(bad):
        found = len(bad)
        for here, there in met:
            now, other = _real(here, bad), _real(there, bad)
            if _same_place(now, other) or devices_conflict(_before(here), _before(there)):
                continue
            blamed = {each for each in (_kept(here), _kept(there)) if each is not None}
            if devices_conflict(now, other) and not blamed & bad:
                certain |= blamed
            bad |= blamed
        bad |= {link for each in bad for link in each.links}
    return Harm(frozenset(k.move for k in bad), frozenset(k.move for k in certain))


def _kept(device: Device) -> Kept | None:
    return device.key if isinstance(device.key, Kept) else None


def _real(device: Device, bad: set[Kept]) -> Device:
    """Where a value is if all moves are kept but the bad ones."""
    kept = _kept(device)
    if kept is None:
        return device
    if kept in bad:
        return kept.before
    return Device(Form.EITHER, symbol_name(kept.target)) if device.form is Form.EITHER else kept.target


def _before(device: Device) -> Device:
    kept = _kept(device)
    return device if kept is None else kept.before


def _same_place(one: Device, other: Device) -> bool:
    if one.form is Form.UNKNOWN or other.form is Form.UNKNOWN:
        return False
    if one == other or one.form is other.form is Form.CPU:
        return True
    return _is_device_of(one, other) or _is_device_of(other, one)


def _is_device_of(symbol: Device, place: Device) -> bool:
    """Whether one is `x.device` and the other is where `x` is."""
    cell = symbol.key
    via = getattr(cell, "via", "") if symbol.form is Form.SAME else ""
    return via == "device" and getattr(cell, "parent", None) is place.key and place.form is Form.AT


# What the text says by itself


def only_moves(node: ast.Call, seen: Seen) -> bool:
    """Whether a call changes nothing but the device: neither the dtype nor who shares the memory."""
    if seen.casts or any(keyword.arg not in _ONLY_MOVES for keyword in node.keywords):
        return False
    return len(node.args) < 2


def can_be_bound(module: Module, node: ast.Call, seen: Seen) -> bool | None:
    """Whether the receiver can be assigned to in its scope without an effect elsewhere; None if it cannot."""
    assert isinstance(node.func, ast.Attribute)
    receiver = node.func.value
    if isinstance(receiver, ast.Name):
        return True if seen.function is None or receiver.id in _own_names(seen.function.node) else None
    owner = seen.owner
    if isinstance(receiver, ast.Subscript):
        made = owner.cell.key if owner is not None and owner.cell is not None else None
        if isinstance(made, ast.Tuple):
            return None
        return owner is not None and owner.kind is Kind.CONTAINER and isinstance(made, _DISPLAYS)
    return owner is not None and owner.kind in (Kind.INSTANCE, Kind.CLASS, Kind.MODULE)


def _own_names(function: FunctionNode) -> set[str]:
    """The names that a function may bind without hiding those of the scopes around it."""
    arguments = function.args
    every = (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    )
    names = {each.arg for each in every if each is not None}
    todo: list[ast.AST] = list(function.body) if not isinstance(function, ast.Lambda) else []
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            names.update(node.names)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, _DEFINITIONS):
            names.add(node.name)
        if isinstance(node, _SCOPES):
            continue
        todo.extend(ast.iter_child_nodes(node))
    return names


def leaves(tree: ast.Module) -> frozenset[str]:
    """The expressions of which the program wants gradients: a moved copy is no leaf and has none."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _LEAF:
            found.add(ast.unparse(node.value))
        elif isinstance(node, ast.Assign) and any(map(_asks_for_gradients, ast.walk(node.value))):
            found.update(ast.unparse(target) for target in node.targets)
    return frozenset(found)


def _asks_for_gradients(node: ast.AST) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg == "requires_grad"
    return isinstance(node, ast.Attribute) and node.attr in _LEAF
