"""Calls that make devices, set the default one, or depend on one."""

from __future__ import annotations

from ... import knowledge
from ...core.evidence import Evidence
from ...core.kinds import Kind
from ...core.paths import Attr
from ...core.places import CPU, UNKNOWN_PLACE, Form, literal
from ...core.values import NONE, OTHER, TORCH_DEVICE, Value, constant, dotted
from ..machine import Machine, Site, text_of


def device(machine: Machine, site: Site) -> Value:
    """`torch.device(…)`."""
    first = site.args.get("type") or site.args.get("device")
    place = machine.denoted(first, UNKNOWN_PLACE) if first is not None else UNKNOWN_PLACE
    named = machine.of(place)
    if named is not None and machine.objects.ways[named] == Attr("device"):
        # What has it are settings: of a tensor, it is a device already.
        machine.log.note(machine.objects.parents[named], Evidence.OTHER)
    if first is not None and first.place.form is Form.EITHER:
        place = first.place  # what keeps the device gives the choice a name
    return Value(Kind.DEVICE, place, known=TORCH_DEVICE)


def accelerator(machine: Machine, site: Site) -> Value:
    """`torch.accelerator.current_accelerator()`: the device there is, or None."""
    return Value(Kind.DEVICE, literal("accelerator"), known=TORCH_DEVICE)


def set_default(machine: Machine, site: Site) -> Value:
    """`torch.set_default_device`; a default tensor type leaves the place of what is made unknown."""
    given, kind = site.args.get("device"), site.args.get("t")
    if kind is not None and (text_of(kind) or dotted(kind)).startswith(knowledge.CUDA_MODULE):
        machine.need(literal(knowledge.CUDA))
    machine.state.default = machine.denoted(given, CPU) if given is not None else UNKNOWN_PLACE
    return NONE


def autocast(machine: Machine, site: Site) -> Value:
    """Autocast for one device type, unless something decides whether it is on."""
    given, enabled = site.args.get("device_type"), site.args.get("enabled")
    decided = enabled is not None and (enabled.kind is Kind.FLAG or constant(enabled) is not None)
    if given is not None and given.kind is Kind.STRING and not site.args.unpacked and not decided:
        machine.use_literal(given, "autocast")
    return OTHER
