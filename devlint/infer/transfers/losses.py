"""Losses: what they are given must be in one place; an unknown network's output is where its input was."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ... import knowledge
from ...core.evidence import Evidence
from ...core.kinds import MAY_HOLD_TENSORS, Kind
from ...core.paths import OF_OPERATION, Ref
from ...core.places import Form
from ...core.values import Value, constant
from ..log import NOBODY, MaybeLoss
from ..machine import Arguments, Machine, Site, distinct
from .operations import note_tensors, operands

_AS_CTC = 4
"""As many tensors as CTCLoss is given: outputs, targets, and the lengths of both."""


def loss(machine: Machine, site: Site) -> Value:
    """A call of a loss, functional or a module."""
    note_tensors(machine, site)
    machine.note_unknown([value for _, value in site.args.positional[1:2]], Evidence.TENSOR)
    parties = [(at, followed(machine, value)) for at, value in operands(machine, site)]
    kind = Kind.TENSOR if _is_unreduced(site) else Kind.SCALAR
    exact = site.name in knowledge.NO_SCALARS
    return machine.own(site.node, kind, machine.meet(site.node, parties, "call", exact), OF_OPERATION)


def _is_unreduced(site: Site) -> bool:
    made = site.receiver.origin if site.receiver is not None else None
    return unreduced(site.args) or (made is not None and made.dims > 0)


def unreduced(args: Arguments) -> bool:
    """Whether a loss is told to give that of each element: a tensor with dimensions.

    `reduce=False` says so whatever `reduction` is (`torch.nn._reduction.legacy_get_string`).
    """
    reduce, reduction = args.get("reduce"), args.get("reduction")
    if reduce is not None and constant(reduce) is False:
        return True
    return reduction is not None and constant(reduction) in knowledge.NO_REDUCTION


def maybe_loss(
    machine: Machine,
    result: Value,
    parties: list[tuple[ast.expr, Value]],
    network: Ref = NOBODY,
    beside: Sequence[Value] = (),
) -> None:
    """Remember what may meet inside a call, in case its result turns out to be a loss."""
    ref = machine.ref(result)
    if len(parties) < 2 or ref is None:
        return
    if len(parties) >= _AS_CTC:
        first, _, *more = (machine.where(followed(machine, value)) for _, value in parties[:_AS_CTC])
        if any(place != first for place in more):
            return  # they may be lengths: then the targets stay on the host as well
        parties = parties[:2]
    given = [(at, followed(machine, value)) for at, value in parties]
    places = distinct([(at, machine.where(value), value) for at, value in given])
    if any(value.kind is Kind.MODULE for value in beside):
        return
    others = tuple(value.who for value in beside if value.kind is Kind.UNKNOWN and type(value.who) is int)
    machine.log.losses.append(
        MaybeLoss(ref, tuple(places), machine.state.why, machine.loops, network, others)
    )


def followed(machine: Machine, value: Value) -> Value:
    """A value that goes into a loss: what an unknown network made of a moved input lives with the input."""
    ref: Ref | None = machine.ref(value)
    if value.kind is not Kind.UNKNOWN or ref is None or value.place.form is not Form.UNKNOWN:
        return value
    follows = machine.log.follows.get(ref)
    return value if follows is None else value._replace(place=follows)


def unknown_call(
    machine: Machine,
    node: ast.Call,
    positional: list[tuple[ast.expr, Value]],
    placed: bool,
    given: Sequence[Value] = (),
) -> Value:
    """Call something unknown: what it is given may meet inside, if the result turns out to be a loss."""
    result = machine.unknown(node)
    ref = machine.ref(result)
    assert ref is not None
    if placed:
        machine.log.note(ref, Evidence.PLACED)
    machine.log.remade(ref, [value for _, value in positional])
    parties = [(at, value) for at, value in positional if value.kind in MAY_HOLD_TENSORS]
    if parties:
        place = followed(machine, parties[0][1]).place
        if place.form in (Form.SAME, Form.LITERAL):
            machine.log.follows[ref] = place
        else:
            machine.log.follows.pop(ref, None)
    maybe_loss(machine, result, parties, beside=given)
    return result
