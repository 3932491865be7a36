"""Accelerate: what an `Accelerator` prepares is on the device that it has chosen.

https://huggingface.co/docs/accelerate/package_reference/accelerator says what `prepare` does with models and
loaders; what else it is given comes back as it was.
"""

from __future__ import annotations

from ...core.kinds import Kind
from ...core.places import UNKNOWN_PLACE, Place
from ...core.values import ACCELERATOR, OTHER, Value, container
from ..machine import Machine, Site

_OTHERWISE = ("device_placement", "cpu")
"""Arguments that say that it may move nothing, or to the cpu."""


def accelerator(machine: Machine, site: Site) -> Value:
    """`Accelerator()`."""
    args = site.args
    if args.unpacked or args.starred or any(args.get(name) is not None for name in _OTHERWISE):
        return OTHER
    return machine.own(site.node, Kind.OTHER, role="made")._replace(known=ACCELERATOR)


def prepare(machine: Machine, site: Site) -> Value:
    """`model, loader = accelerator.prepare(model, loader)`."""
    args = site.args
    if site.receiver is None or args.unpacked or args.starred:
        return machine.unknown(site.node)
    device = machine.attribute(site.receiver, "device", site.node)
    place = machine.denoted(device, UNKNOWN_PLACE)
    prepared = [_prepared(machine, site, value, place, at) for at, (_, value) in enumerate(args.positional)]
    return prepared[0] if len(prepared) == 1 else container(items=tuple(prepared))


def _prepared(machine: Machine, site: Site, value: Value, place: Place, at: int) -> Value:
    ref = machine.ref(value)
    if value.kind is Kind.LOADER and value.element is not None:
        return value._replace(element=value.element._replace(place=place))
    if value.kind is Kind.CONTAINER:  # a generator, or several: some may be loaders
        return machine.own(site.node, Kind.UNKNOWN, role=f"prepared {at}")
    if value.kind in (Kind.MODULE, Kind.UNKNOWN) and ref is not None:
        machine.settle_at(ref, place, site.node)
        for part in machine.objects.parts(ref):
            if part in machine.state.places:
                machine.state.places[part] = place
    return value
