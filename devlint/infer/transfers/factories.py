"""Calls that make tensors."""

from __future__ import annotations

from ...core.kinds import TENSORS, Kind
from ...core.places import CPU, UNKNOWN_PLACE, Place
from ...core.values import Value
from ..machine import Machine, Site


def factory(machine: Machine, site: Site) -> Value:
    """A tensor on `device=`, or on the default device."""
    args = site.args
    given = args.get("device")
    if args.unpacked and given is None:
        return machine.own(site.node, Kind.TENSOR, UNKNOWN_PLACE)
    kind = Kind.SCALAR if _is_scalar(site) else Kind.TENSOR
    place = machine.denoted(given, default(machine))
    return machine.made(site.node, kind, place, "factory", site.api)


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
    return machine.made(site.node, Kind.TENSOR, CPU, "array", site.api)


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
