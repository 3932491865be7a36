"""Functions and methods of tensors: their arguments meet, and the result lives with them."""

from __future__ import annotations

import ast

from ... import knowledge
from ...core.evidence import Evidence
from ...core.kinds import MAY_HOLD_TENSORS, TENSORS, Kind
from ...core.paths import OF_OPERATION
from ...core.places import CPU, UNKNOWN_PLACE, Form
from ...core.values import NONE, NUMBER, OTHER, UNKNOWN, Origin, Truth, Value, container, is_made
from ..log import RawMeeting
from ..machine import Machine, Site, flag
from .ranks import dimensions, is_scalar

_NO_OPERANDS = knowledge.TAKES_NUMBERS | {"out", knowledge.DRAWN_WITH}
"""Arguments that are no operands of any operation."""


def operands(machine: Machine, site: Site) -> list[tuple[ast.expr, Value]]:
    """The arguments that meet in an operation: those that the row does not leave on the host."""
    found: list[tuple[ast.expr, Value]] = []
    for name, at, value in site.args.named():
        if isinstance(at, ast.Starred) or _is_left_out(machine, site, name, value):
            continue
        if value.kind is Kind.CONTAINER and value.items:
            display = at.elts if isinstance(at, (ast.Tuple, ast.List)) else ()
            each = display if len(display) == len(value.items) else [at] * len(value.items)
            found.extend(zip(each, value.items, strict=True))
        elif value.kind is Kind.CONTAINER:
            found.extend(((at, value.element),) if value.element else ())
        else:
            found.append((at, value))
    return found


def _is_left_out(machine: Machine, site: Site, name: str, value: Value) -> bool:
    """Whether an argument is no operand: it stays on the host, or is a number."""
    if name in knowledge.OR_OTHER and value.kind in TENSORS:
        return False
    if name in site.row.host or name in _NO_OPERANDS:
        return True
    return name in knowledge.OR_NUMBERS and _is_number(machine, value)


def _is_number(machine: Machine, value: Value) -> bool:
    """Whether nothing was seen yet of what is a number more often than a tensor: numbers are not moved."""
    if value.kind is not Kind.UNKNOWN or machine.seen(value):
        return False
    return all(raw.receiver.who != value.who for raw in machine.log.moves.values())


def note_tensors(machine: Machine, site: Site) -> None:
    """The first argument of an operator is a tensor, and no other is a module or a batch."""
    drawn_with = site.args.get(knowledge.DRAWN_WITH)
    given = [site.args.get(name) for name in knowledge.OR_NUMBERS]
    left = [drawn_with, *(value for value in given if value is not None and _is_number(machine, value))]
    values = [value for _, value in site.args.all() if not any(value is each for each in left)]
    for value in values[:1]:
        machine.note_tensor(value)
    machine.note_unknown(values[1:], Evidence.OPERAND)
    if site.name in knowledge.TAKES_INDEX:
        indices = [value for name, _, value in site.args.named() if name in knowledge.INDICES]
        machine.note_unknown(indices, Evidence.SHAPED)


def function(machine: Machine, site: Site) -> Value:
    """A torch function of tensors."""
    given = site.args.get("device")
    if given is not None and given.kind is not Kind.NONE:
        return machine.own(site.node, Kind.TENSOR, machine.denoted(given, CPU), OF_OPERATION)
    note_tensors(machine, site)
    machine.note_unknown([value for _, value in site.args.positional[:1]], Evidence.SHAPED)
    if site.name in knowledge.ALL_TENSORS:
        machine.note_unknown([value for _, value in site.args.all()], Evidence.SHAPED)
    parties = operands(machine, site)
    values = [value for _, value in parties]
    kind = Kind.SCALAR if is_scalar(site, values) else Kind.TENSOR
    if site.name.endswith(knowledge.LIKENED):
        return machine.computed(site.node, kind, machine.combine(values), values)
    exact = _takes_no_scalars(site)
    place = machine.meet(site.node, parties, "call", exact)
    return machine.computed(site.node, kind, place, values, dimensions(site, values))


def _takes_no_scalars(site: Site) -> bool:
    """Whether an operation refuses 0-dim tensors of the cpu; `clamp(x, low, 3)` reads `low` as a number."""
    if site.name in knowledge.CLAMPS:
        bounds = [value for value in (site.args.get("min"), site.args.get("max")) if value is not None]
        return all(value.kind in TENSORS or value.kind is Kind.NONE for value in bounds)
    return site.name in knowledge.NO_SCALARS


def sequence(machine: Machine, site: Site) -> Value:
    """`cat`, `stack` and their like: the elements of the first argument are tensors that meet."""
    for _, value in site.args.positional[:1]:
        if value.kind is Kind.CONTAINER:
            parts = value.items or ((value.element,) if value.element else ())
            machine.note_unknown(parts, Evidence.TENSOR | Evidence.SHAPED)
    for at, whole in site.args.positional[:1]:
        # What a list was filled with on several paths is one value to the inference.
        each = whole.element if whole.kind is Kind.CONTAINER and not whole.items else None
        if each is not None and each.origin is not None and is_made(each):
            mixed = machine.log.mixed.get((each.origin.function, each.origin.at))
            if mixed is not None and each.place.form is not Form.CPU:
                machine.meeting("container", at, CPU, each._replace(place=CPU), site.node, *mixed)
    return function(machine, site)


def method(machine: Machine, site: Site) -> Value:
    """A method of a tensor whose arguments meet it."""
    base = site.receiver or Value()
    at = site.receiver_at or site.node
    args = [
        (where, value)
        for name, where, value in (site.args.named() if site.name not in knowledge.TAKES_SIZES else ())
        if value.kind in MAY_HOLD_TENSORS and not _is_left_out(machine, site, name, value)
    ]
    exact = _takes_no_scalars(site)
    place = machine.meet(site.node, [(at, base), *args], "call", exact)
    if "takes-callables" not in site.row.topics:
        note_tensors(machine, site)
    values = [base, *(value for _, value in args)]
    kind = Kind.SCALAR if is_scalar(site, values) else Kind.TENSOR
    values = [base, *(value for value in values[1:] if value.kind is not Kind.UNKNOWN)]
    return machine.computed(site.node, kind, place, values, dimensions(site, values))


def in_place(machine: Machine, site: Site) -> Value:
    """`x.add_(y)`: what it takes meets it, and it stays where it is."""
    base = site.receiver if site.receiver is not None else site.args.first()
    parties = [] if site.receiver is None else [(site.receiver_at or site.node, site.receiver)]
    if site.name not in knowledge.FILLS:
        exact = _takes_no_scalars(site)
        machine.meet(site.node, [*parties, *operands(machine, site)], "call", exact, in_place=True)
    return base or machine.unknown(site.node)


def backward(machine: Machine, site: Site) -> Value:
    """`loss.backward()`."""
    machine.log.reaches.add(knowledge.TRAINS)
    if site.receiver is not None:
        machine.note(site.receiver, Evidence.DIFFERENTIATED)
    return NONE


def variable(machine: Machine, site: Site) -> Value:
    """`torch.autograd.Variable(x)` is `x`, a tensor."""
    note_tensors(machine, site)
    return site.args.first() or machine.unknown(site.node)


def is_pinned(machine: Machine, site: Site) -> Value:
    """Memory is pinned for an accelerator alone."""
    return flag(Truth(True, False))


def index(machine: Machine, site: Site) -> Value:
    """`x.get_device()` is where `x` is, said by a number."""
    return NUMBER._replace(place=machine.where(site.receiver or UNKNOWN))


def pack(machine: Machine, site: Site) -> Value:
    """`pack_padded_sequence`: the lengths stay on the cpu."""
    first = site.args.first()
    if first is None:
        return OTHER
    lengths = site.args.at("lengths")
    if lengths is not None and lengths[1].kind in MAY_HOLD_TENSORS:
        at, value = lengths
        beside = site.args.positional[0][0] if site.args.positional else site.node
        machine.log.hosted[at] = RawMeeting(
            *("host", at, machine.where(value), value, beside, machine.where(first), first),
            *(machine.state.why, machine.loops),
        )
    packed = machine.own(site.node, Kind.BATCH, machine.where(first))
    machine.note(packed, Evidence.TENSOR)  # it moves as one does
    return packed


def pad_packed(machine: Machine, site: Site) -> Value:
    """`pad_packed_sequence` gives the tensor where it was, and its lengths on the cpu."""
    first = site.args.first()
    place = machine.where(first) if first is not None else UNKNOWN_PLACE
    origin = Origin("array", machine.here.name, machine.here.number(site.node), site.api, dims=1)
    lengths = machine.own(site.node, Kind.TENSOR, CPU, "lengths")._replace(origin=origin)
    return container(items=(machine.own(site.node, Kind.TENSOR, place), lengths))
