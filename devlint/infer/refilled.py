"""Modules that a function makes and gives out, with the weights of others, or what was loaded to a device."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from .. import knowledge
from ..bind.names import last_name, statements_in
from ..bind.walk import descendants
from ..core.places import CPU
from ..core.values import Defined
from .definitions import Function
from .function import CONSTRUCTORS
from .halves import gives, is_told, stripped
from .log import Log
from .settle import Settled
from .stays import may_move_itself

_NOT_NEW = frozenset({"super", "getattr", "next"})


class Refilled(NamedTuple):
    """A module that is left on the cpu, and what its weights came from."""

    function: str
    at: ast.Call
    """What made it, or loads it."""
    made: ast.Call
    name: str
    source: str
    """What it is filled with, or the device that this was loaded to."""
    loaded: bool


def refilled(settled: Settled) -> Iterator[Refilled]:
    """Each such module that its function does not move; who gets it may."""
    if settled.file.names.isdisjoint(knowledge.FILLS_WEIGHTS):
        return
    for function, log in settled.logs.items():
        home = settled.file.functions.get(function)
        if home is None or home.args is None or home.node is None:
            continue
        if not any(
            isinstance(each, ast.Call) and last_name(each) in knowledge.FILLS_WEIGHTS for each in log.calls
        ):
            continue
        calls = [each for each in _own(home.node) if isinstance(each, ast.Call)]
        fills = [each for each in calls if last_name(each) in knowledge.FILLS_WEIGHTS]
        if not fills:
            continue
        given = {arg.arg for arg in descendants(home.args) if isinstance(arg, ast.arg)}
        if home.own_name in CONSTRUCTORS:
            given -= {*home.positional[:1]}  # nothing of it has been moved yet
        given |= {
            each.targets[0].id
            for each in statements_in(home.node)
            if isinstance(each, ast.Assign)
            and isinstance(each.targets[0], ast.Name)
            and isinstance(each.value, ast.Attribute)
            and _root(each.value) in given
        }
        made = _made(settled, home, log)
        meant = {_root(each.func) for each in fills if any(map(_brings_back, descendants(each)))}
        for call in fills:
            name = _root(call.func)
            source = _source(call, given, calls, log)
            if name in made and source is not None and name not in meant and _is_given_out(home, name):
                new, (label, loaded) = made.pop(name), source
                yield Refilled(function, call if loaded else new, new, name, label, loaded)


def _brings_back(node: ast.AST) -> bool:
    """Whether something is brought to the cpu, which is where a module is filled with it on purpose."""
    return isinstance(node, ast.Attribute) and node.attr == CPU.name


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What the statements of a function consist of."""
    for statement in statements_in(node):
        for child in ast.iter_child_nodes(statement):
            if not isinstance(child, (ast.stmt, ast.ExceptHandler)):
                yield from descendants(child)


def _made(settled: Settled, home: Function, log: Log) -> dict[str, ast.Call]:
    """The variables that a function assigns what it makes, and that it moves nowhere."""
    times = Counter(each.id for each in _own(home.node) if isinstance(each, ast.Name) and _is_stored(each))
    moved = {_root(each.func) for each, raw in log.moves.items() if raw.target is not None}
    found: dict[str, ast.Call] = {}
    for statement in statements_in(home.node):
        target = getattr(statement, "target", None) or (getattr(statement, "targets", None) or [None])[0]
        value = getattr(statement, "value", None)
        if not isinstance(target, ast.Name) or not isinstance(value, ast.Call) or target.id in moved:
            continue
        call, at = stripped(value, log)
        told = isinstance(call, ast.Call) and (is_told(call) or last_name(call) in _NOT_NEW)
        if at is not None or times[target.id] != 1 or not isinstance(call, ast.Call) or told:
            continue
        if not _may_place(settled, call):
            found[target.id] = call
    return found


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _may_place(settled: Settled, call: ast.Call) -> bool:
    """Whether a call is one of the project that speaks of devices."""
    value = settled.file.top(call.func.id) if isinstance(call.func, ast.Name) else None
    known = value.known if value is not None else None
    if not isinstance(known, Defined):
        return False
    summary = settled.file.summary(known.dotted)
    if summary is not None:
        return not summary.reaches.isdisjoint(knowledge.NAMES_DEVICES)
    return may_move_itself(settled, known.dotted)


def _root(node: ast.expr) -> str:
    """The variable that an expression is a part of."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _source(call: ast.Call, given: set[str], calls: list[ast.Call], log: Log) -> tuple[str, bool] | None:
    """What a call fills a module with, if a caller gave that, or the device that it loads it to."""
    first = call.args[0] if call.args else None
    if first is not None and _root(first) in given and _is_weight(first):
        return _root(first), False
    if last_name(call) == knowledge.LOADS_WEIGHTS:
        for each in calls:
            raw = log.calls.get(each)
            to = next((key.value for key in each.keywords if key.arg == knowledge.MAPPED), None)
            if (
                raw is not None
                and last_name(each) in knowledge.LOADS
                and isinstance(to, ast.Name)
                and to.id in given
            ):
                used = any(gives(other, to.id) for other in calls if other is not each)
                return None if used else (to.id, True)
    return None


def _is_weight(node: ast.expr) -> bool:
    """Whether it is a parameter of a module, or its state: `layer.weight.data`, `net.state_dict()`."""
    names = {each.attr for each in descendants(node) if isinstance(each, ast.Attribute)}
    state = isinstance(node, ast.Call) and last_name(node) == knowledge.GIVES_WEIGHTS
    return state or not names.isdisjoint(knowledge.MODULE_PARAMETERS)


def _is_given_out(home: Function, name: str) -> bool:
    """Whether a function returns what a variable holds, or puts it into what it was given."""
    for statement in statements_in(home.node):
        value = getattr(statement, "value", None)
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        held = any(isinstance(each, ast.Name) and each.id == name for each in parts)
        if isinstance(statement, ast.Return) and held:
            return True
        if isinstance(statement, ast.Assign) and held:
            return isinstance(statement.targets[0], (ast.Attribute, ast.Subscript))
        if (
            isinstance(value, ast.Call)
            and last_name(value) == knowledge.SETS_ATTRIBUTE
            and gives(value, name)
        ):
            return True
    return False
