"""Attributes that a method fills where they are missing: what they hold then is what was put there before."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .. import knowledge
from ..core.kinds import Kind
from ..core.paths import Attr, Ref
from ..core.places import CPU
from ..core.state import Key, State
from ..core.values import Value, is_made
from .machine import Machine


def filled(machine: Machine, test: ast.expr, then: State, orelse: State) -> dict[Key, Value]:
    """The attributes that one side of a condition fills that asks whether they are there."""
    found: dict[Key, Value] = {}
    if not (then.alive and orelse.alive and machine.here.is_method):
        return found
    for outcome, fills, other in ((True, then, orelse), (False, orelse, then)):
        for name in set(_missing(machine, test, outcome)):
            key = _own(machine, name)
            if key is None:
                continue
            now, before = fills.env.get(key), other.env.get(key)
            if now is None or now is before:
                continue
            if before is None or _is_itself(before, machine.objects.part(*key)):
                found[key] = now
    return found


def _own(machine: Machine, name: str) -> tuple[Ref, Attr] | None:
    """An attribute of the object whose method runs, if nothing but None is known to be put there else."""
    owner = machine.here.owner
    view = machine.program.view(owner) if owner is not None else None
    if view is None:
        return None
    term = view.attribute(name)
    if term is not None and term.kind is not Kind.NONE:
        return None
    return machine.objects.self_of(view.name), Attr(name)


def _is_itself(value: Value, part: Ref) -> bool:
    return value.kind is Kind.UNKNOWN and value.who == part


def as_filled(machine: Machine, value: Value) -> Value:
    """What a method keeps or gives that it made the first time: on the other path, it was made before."""
    ref = machine.ref(value)
    if ref is None or value.kind is not Kind.UNKNOWN or not is_made(value) or machine.here.owner is None:
        return value
    owner = machine.objects.self_of(machine.here.owner)
    for source in machine.objects.sources.get(ref, ()):
        way = machine.objects.ways[source]
        if isinstance(way, Attr) and machine.objects.parents[source] == owner and _own(machine, way.name):
            return value._replace(kind=Kind.TENSOR, place=CPU)
    return value


def _missing(machine: Machine, test: ast.expr, outcome: bool) -> Iterator[str]:
    """The attributes of its own object that are not there where a condition comes out so."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _missing(machine, test.operand, not outcome)
    elif isinstance(test, ast.BoolOp):
        for part in test.values:
            yield from _missing(machine, part, outcome)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        nothing = test.comparators[0]
        same = isinstance(test.ops[0], (ast.Is, ast.Eq))
        if isinstance(nothing, ast.Constant) and nothing.value is None and same is outcome:
            yield from _named(machine, test.left)
    elif not outcome:
        yield from _named(machine, test)


def _named(machine: Machine, node: ast.expr) -> Iterator[str]:
    own = machine.here.positional[:1]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and [node.value.id] == own:
        yield node.attr
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
        subject, name = node.args[0], node.args[1]  # `hasattr(self, "mask")`, `getattr(self, "mask", None)`
        itself = isinstance(subject, ast.Name) and [subject.id] == own
        text = name.value if isinstance(name, ast.Constant) else None
        if node.func.id in knowledge.ASKS_ATTRIBUTE and itself and isinstance(text, str):
            yield text
