"""What a function returns on one path is on the cpu, and on another elsewhere: they meet in who calls it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set

from .. import knowledge
from ..bind.names import names_in, statements_in
from ..core.kinds import TENSORS, Kind
from ..core.paths import Element
from ..core.places import CPU, Form, Place
from ..core.values import MADE, Value, is_made
from .definitions import Function
from .statements import Answer, Statements

_ELSEWHERE = TENSORS | {Kind.BATCH}
_NOT_THERE = (Form.CPU, Form.UNKNOWN, Form.KEPT)


def returned(machine: Statements) -> None:
    """Record where what is made on the cpu is returned in place of what may be elsewhere."""
    answers = [answer for answer in machine.answers if answer.node is not None]
    if len(answers) > 1 and _is_asked(machine.here):
        return  # the caller says which of them it wants
    stored: set[str] | None = None
    for answer in answers:
        if answer.missing:
            continue  # nothing was given that would say where
        for index, (at, value) in enumerate(_parts(answer)):
            _round_trip(machine, at, value)
            filled = machine.log.stand_ins.get(value.who) if type(value.who) is int else None
            if filled is not None and value.kind is Kind.CONTAINER:
                before, target, place, other = filled
                if place.form not in _NOT_THERE and before.origin is not None and before.origin.dims:
                    machine.meeting("container", at, CPU, before, target, place, other)
            if not is_made(value) or value.origin is None or value.origin.how != MADE[0]:
                continue
            if not value.origin.dims or answer.why.guarded:
                continue
            if value.place.form is Form.CPU:
                others = _beside(answers, answer, index)
            else:
                mixed = machine.log.mixed.get((value.origin.function, value.origin.at))
                others = iter(((at, *mixed),) if mixed is not None else ())
            for other_at, place, other in others:
                if place.form in _NOT_THERE or _is_asked_for_cpu(machine, place):
                    continue
                joined = value.place.form is not Form.CPU
                if joined and (not value.origin.api or _is_parameter(machine, other)):
                    continue  # what stands in for what the caller did not give
                machine.meeting("return", at, CPU, value._replace(place=CPU), other_at, place, other)
                break
            else:
                filled_by = machine.log.filled.get((value.origin.function, value.origin.at))
                if filled_by is not None and value.place.form is Form.CPU and machine.here.is_method:
                    target, place, other = filled_by
                    if place.form not in _NOT_THERE and other.kind in _ELSEWHERE:
                        machine.meeting("filled", at, CPU, value, target, place, other)
                if _is_borrowed(machine, value):
                    stored = _stored(machine.here.node) if stored is None else stored
                    _leaves(machine, at, value, stored)


def _beside(answers: Sequence[Answer], answer: Answer, index: int) -> Iterator[tuple[ast.expr, Place, Value]]:
    """What the other paths return in the same position."""
    for each in answers:
        parts = list(_parts(each))
        if each.why.guarded:
            continue  # a condition that asks for an accelerator decides which
        if each is not answer and index < len(parts) and len(parts) == len(list(_parts(answer))):
            at, value = parts[index]
            follows = value.kind is Kind.UNKNOWN and value.place.form is Form.AT
            if (value.kind in _ELSEWHERE or follows) and not is_made(value):
                yield at, value.place, value


def _parts(answer: Answer) -> Iterator[tuple[ast.expr, Value]]:
    node, value = answer.node, answer.value
    assert node is not None
    if isinstance(node, ast.Tuple) and value.items is not None and len(value.items) == len(node.elts):
        yield from zip(node.elts, value.items, strict=True)
    else:
        yield node, value


def _is_borrowed(machine: Statements, value: Value) -> bool:
    """Whether a factory's very result has the size, or dtype, of what the function is given."""
    size = value.measures
    if value.origin is None or not value.origin.api or value.origin.function != machine.here.name:
        return False  # what was computed of it with something unknown may be there by now
    if value.place.form is not Form.CPU or type(size) is not int:
        return False
    # What has a length, and is one of several that are gone through, may well be a text.
    return machine.objects.is_given(size) and not isinstance(machine.objects.ways[size], Element)


def _leaves(machine: Statements, at: ast.expr, value: Value, stored: Set[str]) -> None:
    """Record that what is returned has the size of what the function is given, and may not be where that is.

    What is filled by items may be meant to gather on the cpu what is computed elsewhere.
    """
    given_back = _is_filled_with_given(machine, value)
    if given_back or (given_back is None and stored.isdisjoint(names_in(at))):
        there, given = Place(Form.AT, "", value.measures), Value(Kind.UNKNOWN, who=value.measures)
        machine.meeting("size", at, CPU, value, machine.here.node, there, given)


def _is_filled_with_given(machine: Statements, value: Value) -> bool | None:
    """Whether what fills it is computed of the very thing that has its size; None if nothing does."""
    origin, size = value.origin, value.measures
    filled = machine.log.filled.get((origin.function, origin.at)) if origin is not None else None
    if filled is None:
        return None
    of = filled[1].of if filled[1].form is Form.AT else None
    return type(of) is int and type(size) is int and machine.objects.is_part(of, size)


def _stored(function: ast.AST) -> set[str]:
    """The variables of which a function assigns items."""
    return {
        node.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
    }


def _is_asked_for_cpu(machine: Statements, place: Place) -> bool:
    """Whether a condition of the function compares the device of a place with the cpu: it may be that."""
    label = machine.objects.labels[place.of] if type(place.of) is int else ""
    name = label.rpartition(".")[2]
    return bool(name) and any(
        isinstance(side, ast.Constant) and side.value == CPU.name and name in names_in(test)
        for node in ast.walk(machine.here.node)
        if isinstance(node, (ast.If, ast.IfExp))
        for test in ast.walk(node.test)
        if isinstance(test, ast.Compare)
        for side in (test.left, *test.comparators)
    )


def _is_parameter(machine: Statements, value: Value) -> bool:
    return type(value.who) is int and machine.objects.is_parameter(value.who)


def _is_asked(function: Function) -> bool:
    """Whether the truth of a parameter decides what is returned."""
    return any(
        isinstance(node, ast.If)
        and isinstance(test := _plain(node.test), ast.Name)
        and test.id in function.positional
        and any(isinstance(part, ast.Return) for part in statements_in(node))
        for node in statements_in(function.node)
    )


def _plain(test: ast.expr) -> ast.expr:
    return test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test


def _round_trip(machine: Statements, at: ast.expr, value: Value) -> None:
    """Record that what a parameter was on its way to an array does not come back to where that was."""
    api = value.origin.api if value.origin is not None else ""
    if value.place.form is not Form.CPU or api.rpartition(".")[2] not in knowledge.OF_ARRAY:
        return
    returns = getattr(machine.here.node, "returns", None)
    if returns is None or knowledge.TENSOR_TYPE not in ast.unparse(returns):
        return
    for call, raw in machine.log.moves.items():
        ref = raw.receiver.who
        given = type(ref) is int and machine.objects.is_parameter(ref) and raw.receiver.kind is Kind.TENSOR
        if given and raw.target is not None and raw.target.form is Form.CPU:
            assert isinstance(call.func, ast.Attribute)
            there = Place(Form.AT, "", ref)
            machine.meeting("join", at, CPU, value, call.func.value, there, raw.receiver)
