"""Calls that make tensors."""

from __future__ import annotations

from ...bind.names import is_place
from ...core.kinds import TENSORS, Kind
from ...core.places import CPU, UNKNOWN_PLACE, Place
from ...core.values import Const, Value
from ..machine import COPIES, GRADIENTS, Machine, Site


def factory(machine: Machine, site: Site) -> Value:
    """A tensor on `device=`, or on the default device."""
    args = site.args
    given = args.get("device")
    if args.unpacked and given is None:
        return machine.own(site.node, Kind.TENSOR, UNKNOWN_PLACE)
    kind = Kind.SCALAR if _is_scalar(site) else Kind.TENSOR
    place = machine.denoted(given, default(machine))
    value = machine.made(site.node, kind, place, "factory", site.api)
    asks_gradients(machine, value, args.get("requires_grad"))
    return value


def asks_gradients(machine: Machine, value: Value, asked: Value | None) -> None:
    """Remember of a new tensor whether it is to get gradients."""
    ref = machine.ref(value)
    if ref is None:
        return
    if asked is not None:
        machine.state.env[ref, GRADIENTS] = asked
    else:
        machine.state.env.pop((ref, GRADIENTS), None)  # of one that was made here before


def requires_grad(machine: Machine, site: Site) -> Value:
    """`x.requires_grad_()` gives `x`; what it is called on is a leaf from here on."""
    base = site.receiver or Value()
    asked = site.args.get("requires_grad") or Value(Kind.NUMBER, known=Const(True))
    if base.kind is not Kind.PARAMETER:
        asks_gradients(machine, base, asked)
    origin = base.origin
    if origin is None or origin.how not in COPIES:
        return base
    leaf = base._replace(origin=None)
    if site.receiver_at is not None and is_place(site.receiver_at):
        machine.rebind(site.receiver_at, leaf)
    return leaf


def from_data(machine: Machine, site: Site) -> Value:
    """A tensor where its data are, unless `device=` says where."""
    args = site.args
    given = args.get("device")
    if (given is None or given.kind is Kind.NONE) and not args.unpacked:
        parties = [value for _, value in args.positional]
        places = [machine.where(v) for v in parties if v.kind in TENSORS or v.kind is Kind.BATCH]
        if places:
            return machine.own(site.node, Kind.TENSOR, places[0])
        copies = site.name == "tensor"
        if parties and parties[0].kind is Kind.UNKNOWN and not copies:
            return machine.own(site.node, Kind.TENSOR, UNKNOWN_PLACE)
    return factory(machine, site)


def array(machine: Machine, site: Site) -> Value:
    """A tensor that shares its memory with an array, or is made of one: on the cpu."""
    value = machine.made(site.node, Kind.TENSOR, CPU, "array", site.api)
    asks_gradients(machine, value, None)
    return value


def default(machine: Machine) -> Place:
    """Where a tensor is made that is told nothing."""
    return machine.state.default or CPU


def _is_scalar(site: Site) -> bool:
    """Whether a factory makes a 0-dim tensor: of a number, or of the empty shape."""
    first = site.args.first()
    if first is None:
        return False
    if "data" in site.row.parameters or "s" in site.row.parameters:
        return first.kind is Kind.NUMBER
    return first.kind is Kind.CONTAINER and first.items == ()
