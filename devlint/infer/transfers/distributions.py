"""Distributions: where their parameters are, what is drawn is, and what is measured by them has to be."""

from __future__ import annotations

from ...core.kinds import MAY_HOLD_TENSORS, TENSORS, Kind
from ...core.places import Form
from ...core.values import Value, is_made
from ..machine import Machine, Site, is_bare
from . import factories


def make(machine: Machine, site: Site) -> Value:
    """`Normal(loc, scale)`: its tensors live together; what it makes of numbers is on the default device."""
    given = [value for _, value in site.args.all() if value.kind is not Kind.NONE]
    tensors = [value for value in given if value.kind in MAY_HOLD_TENSORS]
    if not tensors:
        known = bool(given) and all(value.kind is Kind.NUMBER for value in given)
        place = factories.default(machine)
        made = machine.made(site.node, Kind.BATCH, place, "factory", site.api)
        return made if known else machine.unknown(site.node)
    # It is measured or drawn from: then they meet, and what has no dimensions was given those of the others.
    parties = [(at, value) for at, value in site.args.all() if value.kind in (Kind.BATCH, *TENSORS)]
    if any(map(_has_dims, tensors)):
        parties = [(at, _expanded(value)) for at, value in parties]
    machine.meet(site.node, parties, "call")
    if any(value.kind is Kind.UNKNOWN for value in tensors):
        return machine.unknown(site.node)  # numbers, perhaps
    return machine.computed(site.node, Kind.BATCH, machine.combine(tensors), tensors)


def _has_dims(value: Value) -> bool:
    """Whether it is a tensor that is not known to be 0-dim."""
    return value.kind in TENSORS and value.kind is not Kind.SCALAR and not is_bare(value)


def _expanded(value: Value) -> Value:
    if value.origin is None or not is_bare(value):
        return value
    return value._replace(kind=Kind.TENSOR, origin=value.origin._replace(dims=1))


def measure(machine: Machine, site: Site) -> Value:
    """`log_prob(value)`: the value meets the parameters."""
    base, at = site.receiver, site.receiver_at
    if base is None or at is None or base.kind is not Kind.BATCH or not _is_settled(base):
        return machine.unknown(site.node)
    parties = [(at, base), *((where, value) for where, value in site.args.all())]
    values = [value for _, value in parties]
    return machine.computed(site.node, Kind.TENSOR, machine.meet(site.node, parties, "call"), values)


def draw(machine: Machine, site: Site) -> Value:
    """`sample(shape)`, `rsample()`: what is drawn is where the parameters are."""
    base = site.receiver
    if base is None or base.kind is not Kind.BATCH or not _is_settled(base):
        return machine.unknown(site.node)
    dims = base.origin.dims + bool(site.args.positional) if base.origin is not None else None
    return machine.computed(site.node, Kind.TENSOR, machine.where(base), [base], dims)


def _is_settled(base: Value) -> bool:
    """Whether it is a distribution that was made here, and no batch that has such a method."""
    return is_made(base) or (base.origin is None and base.place.form is not Form.CPU)


def apart(machine: Machine, site: Site) -> Value:
    """`kl_divergence(p, q)`: the parameters of both meet."""
    parties = [(at, value) for at, value in site.args.all() if value.kind in (Kind.BATCH, *TENSORS)]
    values = [value for _, value in parties]
    return machine.computed(site.node, Kind.TENSOR, machine.meet(site.node, parties, "call"), values)
