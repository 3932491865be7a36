"""Devices that are chosen or given and then lost: a choice takes their place before anybody asks."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from .. import knowledge
from ..bind.names import blocks_in, statements_in
from ..bind.walk import descendants
from ..core.events import Role
from ..core.places import CPU
from .settle import Settled

_DEVICE = "torch.device"
Called = dict[ast.Call, str]
"""What functions of libraries are called."""
Devices = tuple[ast.Constant, ...]


class Lost(NamedTuple):
    """The name of an accelerator that is chosen in vain."""

    function: str
    at: ast.Constant
    role: Role
    """`forced` where what takes its place is no choice, `usurps` of what takes the place of a given one."""


def lost(settled: Settled) -> Iterator[Lost]:
    """The accelerators that are chosen, and lost by the next statement."""
    calls = (item for log in settled.logs.values() for item in log.calls.items())
    called = {node: raw.callee for node, raw in calls if isinstance(node, ast.Call)}
    if not any(each == _DEVICE or _asked(each) for each in called.values()):
        return
    for function in settled.logs:
        home = settled.file.functions.get(function, settled.file.module)
        for block in blocks_in(home.node):
            for one, other in pairwise(block):
                for at, role in _between(one, other, called):
                    yield Lost(function, at, role)
        if isinstance(home.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from (Lost(function, at, "usurps") for at in _usurping(home.node, called))


def _usurping(function: ast.FunctionDef | ast.AsyncFunctionDef, called: Called) -> Iterator[ast.Constant]:
    """The devices that take the place of what the caller gives, before the function has looked at it."""
    args = function.args
    given = {each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    unread = given
    last = max((at for at, each in enumerate(function.body) if _may_usurp(each, unread)), default=-1)
    for statement in function.body[: last + 1]:
        for name in sorted(unread):
            devices = _everywhere(statement, name, called) or ()
            yield from sorted(devices, key=lambda each: _type(each) == CPU.name)[:1]
        named = _named(statement)
        unread = set() if named & knowledge.NAMESPACES else unread - named
    if given.isdisjoint(knowledge.DEVICE_KEYWORDS):
        return
    named = set().union(*map(_named, function.body))
    if not named.isdisjoint(knowledge.NAMESPACES) or not given & knowledge.DEVICE_KEYWORDS - named:
        return
    for statement in statements_in(function):
        for devices in _assigned([statement], called).values():
            if CPU.name in {_type(each) for each in devices} and len(devices) > 1:
                yield min(devices, key=lambda each: _type(each) == CPU.name)
                return


def _named(statement: ast.stmt) -> set[str]:
    return {each.id for each in descendants(statement) if isinstance(each, ast.Name)}


def _may_usurp(statement: ast.stmt, names: set[str]) -> bool:
    """Whether a statement assigns one of some variables and nothing else, or has a branch that ends so."""
    if isinstance(statement, ast.If):
        statement = statement.body[-1]
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return isinstance(target, ast.Name) and target.id in names


def _between(one: ast.stmt, other: ast.stmt, called: Called) -> Iterator[tuple[ast.Constant, Role]]:
    """The accelerators that one statement chooses, and the next replaces wherever they are there."""
    for target, devices in _chosen(one, called).items():
        role: Role = "lost"
        kept = _everywhere(other, target, called)
        if kept is None:
            missed = _missed(other, target, called)
            stays = {missed} if missed else {_type(each) for each in devices}
        else:
            stays = {_type(each) for each in kept}
            if isinstance(other, ast.Assign) and len(kept) == 1:
                if stays != {CPU.name}:
                    continue  # a choice may begin with what it falls back from
                role = "forced"
        yield from ((each, role) for each in devices if _type(each) not in stays | {CPU.name})


def _chosen(statement: ast.stmt, called: Called) -> dict[str, Devices]:
    """The devices that a statement chooses between, by what it assigns."""
    if isinstance(statement, ast.If):
        chosen: dict[str, Devices] = {}
        for block in _branches(statement):
            for target, devices in _assigned(block, called).items():
                chosen[target] = (*chosen.get(target, ()), *devices)
        return chosen
    found = _assigned([statement], called)
    parts = descendants(statement) if found else ()
    return found if any(isinstance(each, ast.IfExp) for each in parts) else {}


def _branches(statement: ast.If) -> Iterator[list[ast.stmt]]:
    """The blocks of an `if`, and of the `elif`s after it; the last is empty where there is no `else`."""
    yield statement.body
    while len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
        statement = statement.orelse[0]
        yield statement.body
    yield statement.orelse


def _assigned(block: Sequence[ast.stmt], called: Called) -> dict[str, Devices]:
    """What a block assigns devices, and does not read after that."""
    found: dict[str, Devices] = {}
    for statement in block:
        for target in [each for each in found if _reads(statement, each)]:
            del found[target]
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            devices = _devices(statement.value, called)
            if devices and isinstance(statement.targets[0], (ast.Name, ast.Attribute)):
                found[ast.unparse(statement.targets[0])] = devices
    return found


def _everywhere(statement: ast.stmt, target: str, called: Called) -> Devices | None:
    """The devices of which a statement assigns one in any case, without a look at what was there."""
    if isinstance(statement, ast.Assign):
        found = _assigned([statement], called).get(target)
        return found if found is not None and not _reads(statement, target) else None
    if not isinstance(statement, ast.If):
        return None
    blocks = [_assigned(block, called).get(target) for block in _branches(statement)]
    if not all(blocks) or _reads(statement, target):
        return None
    return tuple(each for block in blocks for each in block or ())


def _missed(statement: ast.stmt, target: str, called: Called) -> str:
    """The type of accelerator without which a statement assigns another device."""
    if not isinstance(statement, ast.If) or statement.orelse or _reads(statement, target):
        return ""
    test = statement.test
    if not isinstance(test, ast.UnaryOp) or not isinstance(test.op, ast.Not):
        return ""
    asks = _asked(called.get(test.operand, "")) if isinstance(test.operand, ast.Call) else ""
    return asks if target in _assigned(statement.body, called) else ""


def _asked(name: str) -> str:
    """The type of accelerator that a function asks for, if it does."""
    asks = knowledge.ASKS_ACCELERATOR in knowledge.topics_of_call(name)
    return next((part for part in name.split(".") if part in knowledge.ACCELERATORS), "") if asks else ""


def _devices(value: ast.expr, called: Called) -> Devices:
    """The names of devices that an expression is one of, or makes one of; empty where it may be another."""
    if isinstance(value, ast.Constant):
        type_ = _type(value)
        return (value,) if type_ == CPU.name or type_ in knowledge.ACCELERATORS else ()
    if isinstance(value, ast.IfExp):
        one, other = _devices(value.body, called), _devices(value.orelse, called)
        return (*one, *other) if one and other else ()
    makes = isinstance(value, ast.Call) and called.get(value) == _DEVICE and len(value.args) == 1
    return _devices(value.args[0], called) if makes and isinstance(value, ast.Call) else ()


def _type(device: ast.Constant) -> str:
    return device.value.partition(":")[0] if isinstance(device.value, str) else ""


def _reads(node: ast.AST, target: str) -> bool:
    """Whether a variable or attribute is read, or what has it is passed on."""
    inside = descendants(node)
    called = {each.func for each in inside if isinstance(each, ast.Call)}
    owners = {each.value for each in inside if isinstance(each, ast.Attribute) and each not in called}
    return any(
        isinstance(each.ctx, ast.Load) and (ast.unparse(each) == target or _is_whole(each, target, owners))
        for each in inside
        if isinstance(each, (ast.Name, ast.Attribute))
    )


def _is_whole(node: ast.Name | ast.Attribute, target: str, owners: set[ast.expr]) -> bool:
    """Whether an object that has an attribute is read, and not another attribute of it."""
    return isinstance(node, ast.Name) and target.startswith(f"{node.id}.") and node not in owners
