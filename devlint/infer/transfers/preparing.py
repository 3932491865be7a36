"""Accelerate and Fabric: what an `Accelerator` prepares, or a `Fabric` sets up, is where that has chosen.

https://huggingface.co/docs/accelerate/package_reference/accelerator says what `prepare` does with models and
loaders, https://lightning.ai/docs/fabric/stable/api/fabric_methods.html what `setup` and others do; what else
they are given comes back as it was.
"""

from __future__ import annotations

from ... import knowledge
from ...core.kinds import Kind
from ...core.places import CPU, UNKNOWN_PLACE, Place
from ...core.values import ACCELERATOR, FABRIC, OTHER, Const, Value, container
from ..machine import Machine, Site


def accelerator(machine: Machine, site: Site) -> Value:
    """`Accelerator()`."""
    args = site.args
    if (
        args.unpacked
        or args.starred
        or any(args.get(name) is not None for name in knowledge.PLACES_OTHERWISE)
    ):
        return OTHER
    return machine.own(site.node, Kind.OTHER, role="made")._replace(known=ACCELERATOR)


def fabric(machine: Machine, site: Site) -> Value:
    """`Fabric(accelerator="auto")`, which is what it is unless it is told of the cpu."""
    told = site.args.get("accelerator")
    if site.args.unpacked or (told is not None and told.known == Const(CPU.name)):
        return OTHER
    return machine.own(site.node, Kind.OTHER, role="made")._replace(known=FABRIC)


def context(machine: Machine, site: Site) -> Value:
    """`with fabric.init_module():`, in which its device is the default."""
    return OTHER if site.receiver is None else machine.attribute(site.receiver, "device", site.node)


def prepare(machine: Machine, site: Site) -> Value:
    """`model, loader = accelerator.prepare(model, loader)`."""
    args = site.args
    otherwise = not knowledge.PLACES_OTHERWISE.isdisjoint(args.keywords)
    if site.receiver is None or args.unpacked or args.starred or otherwise:
        return machine.unknown(site.node)
    device = machine.attribute(site.receiver, "device", site.node)
    place = machine.denoted(device, UNKNOWN_PLACE)
    prepared = [_prepared(machine, site, value, place, at) for at, (_, value) in enumerate(args.positional)]
    return prepared[0] if len(prepared) == 1 else container(items=tuple(prepared))


def _prepared(machine: Machine, site: Site, value: Value, place: Place, at: int) -> Value:
    if value.kind is Kind.LOADER and value.element is not None:
        return value._replace(element=value.element._replace(place=place))
    if value.kind is Kind.CONTAINER:  # a generator, or several: some may be loaders
        return machine.own(site.node, Kind.UNKNOWN, role=f"prepared {at}")
    if value.kind in (Kind.MODULE, Kind.UNKNOWN):
        # Optimizers that are prepared with it hold the parameters that it has then.
        machine.relocate(site.node, value, place, site.name, parameters=False)
    return value
