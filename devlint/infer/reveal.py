"""How a value reads to a person: what `reveal_device` shows."""

from __future__ import annotations

from .values import TENSORS, Cell, Device, Form, Kind, Value

_HAVE_A_PLACE = TENSORS | {Kind.BATCH, Kind.MODULE, Kind.UNKNOWN}


def describe(value: Value, device: Device) -> str:
    """A value's kind and device: `tensor on cpu`, `module on device`, `container of tensor on x`."""
    if value.kind is Kind.CONTAINER:
        parts = value.items or ((value.element,) if value.element else ())
        described = {describe(part, part.device) for part in parts}
        return f"container of {described.pop()}" if len(described) == 1 else "container"
    if value.kind is Kind.LIBRARY or (value.kind is Kind.UNKNOWN and device.form in (Form.AT, Form.UNKNOWN)):
        return "unknown"
    place = place_name(device) if value.kind in _HAVE_A_PLACE else ""
    return f"{value.kind.value} on {place}" if place else value.kind.value


def place_name(device: Device) -> str:
    """The name of a device as the program would say it."""
    if device.form in (Form.SAME, Form.AT) and isinstance(device.key, Cell):
        return device.key.label
    if device.form is Form.EITHER:
        return f"cpu or {device.name}" if device.name else "cpu or elsewhere"
    return device.name
