"""Conditions that are asked again: what was moved where one holds is not moved where it does not."""

from __future__ import annotations

import ast
from typing import Any

from ..core.kinds import TENSORS, Kind
from ..core.places import MOVED_TO, UNKNOWN_PLACE, Branch, Form, Place, join_places
from ..core.state import Key, State
from ..core.values import Value
from . import conditions
from .machine import Machine

_MOVED = TENSORS | {Kind.UNKNOWN, Kind.BATCH}
Narrowed = dict[Key, tuple[Value, Value]]
"""Variables with what they are where a condition comes out so, and with what they were before."""


def note(machine: Machine, name: str, place: Place) -> None:
    """Remember that a variable is elsewhere only if a condition comes out in one way."""
    if place.form is not Form.EITHER:
        return
    for branch in place.when:
        test = machine.tests.get(branch)
        if test is not None:
            machine.parted.setdefault(_plain(test, True)[0], set()).add(name)
            return


def narrow(machine: Machine, test: ast.expr, outcome: bool) -> Narrowed:
    """Take what was moved under the same condition as where it was, if that comes out otherwise now."""
    found: Narrowed = {}
    if not machine.parted:
        return found
    text, outcome = _plain(test, outcome)
    for name in machine.parted.get(text, ()):
        value = machine.state.env.get(name)
        when = value.place.when if value is not None and value.place.form is Form.EITHER else None
        if value is not None and when and _is_not_moved(machine, when, text, outcome):
            found[name] = value._replace(place=UNKNOWN_PLACE, origin=None), value
    machine.state.env.update({name: narrowed for name, (narrowed, _) in found.items()})
    return found


def parted(machine: Machine, node: ast.IfExp, test: Value, body: Value, orelse: Value, both: Value) -> Value:
    """What is moved on one path alone, with that: `x.cuda() if use_cuda else x`, or `else x.cpu()`."""
    moved = body.place.form in MOVED_TO
    value = body if moved else orelse
    if value.place.form not in MOVED_TO or value.kind not in _MOVED or body.who != orelse.who:
        return both
    place = both.place
    if _is_moved_by(machine, node.body, body) and _is_moved_by(machine, node.orelse, orelse):
        place = join_places(body.place, orelse.place)
    if place.form is not Form.EITHER or place.when:
        return both
    at = machine.here.number(node)
    asks: Any = conditions.asks(node.test, test)
    branch = Branch(at, at, moved, asks, moved_at(machine, value))
    machine.tests[branch] = node.test
    return both._replace(place=place._replace(when=frozenset({branch})))


def restore(state: State, narrowed: Narrowed) -> None:
    """Go on with what nothing has assigned under the condition as it was before that was asked."""
    for name, (value, before) in narrowed.items():
        if state.env.get(name) is value:
            state.env[name] = before


def moved_at(machine: Machine, value: Value) -> int:
    """The number of the node that moved a value in this function; -1 for another."""
    origin = value.origin
    return origin.at if origin is not None and origin.function == machine.here.name else -1


def _is_moved_by(machine: Machine, call: ast.expr, value: Value) -> bool:
    """Whether a value is what a call, as it stands, has moved."""
    moved = value.origin is not None and value.origin.how == "moved"
    return moved and moved_at(machine, value) == machine.here.number(call)


def _is_not_moved(machine: Machine, when: frozenset[Branch], text: str, outcome: bool) -> bool:
    """Whether a condition moves a value only where it comes out otherwise."""
    for branch in when:
        test = machine.tests.get(branch)
        if test is None or (text, not outcome) != _plain(test, branch.outcome):
            return False
    return True


def _plain(test: ast.expr, outcome: bool) -> tuple[str, bool]:
    """A condition without `not`, and how that comes out."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, outcome = test.operand, not outcome
    return ast.unparse(test), outcome
