"""How a value reads to a person: what `reveal_device` shows."""

from __future__ import annotations

from ..core.kinds import TENSORS, Kind
from ..core.places import Form, Place
from ..core.values import Value
from .settle import Settled

_HAVE_A_PLACE = TENSORS | {Kind.BATCH, Kind.MODULE, Kind.UNKNOWN}


def describe(settled: Settled, value: Value, place: Place) -> str:
    """A value's kind and place: `tensor on cpu`, `module on device`, `container of tensor on x`."""
    if value.kind is Kind.CONTAINER:
        parts = value.items or ((value.element,) if value.element else ())
        described = {describe(settled, part, part.place) for part in parts}
        return f"container of {described.pop()}" if len(described) == 1 else "container"
    if value.kind is Kind.LIBRARY or (value.kind is Kind.UNKNOWN and place.form in (Form.AT, Form.UNKNOWN)):
        return "unknown"
    name = place_name(settled, place) if value.kind in _HAVE_A_PLACE else ""
    return f"{value.kind.value} on {name}" if name else value.kind.value


def place_name(settled: Settled, place: Place) -> str:
    """The name of a place as the program would say it."""
    label = settled.objects.labels[place.of] if type(place.of) is int else ""
    if place.form in (Form.SAME, Form.AT) and label:
        return label
    if place.form is Form.EITHER or (place.form is Form.SAME and place.name):
        name = label or place.name
        return f"cpu or {name}" if name else "cpu or elsewhere"
    return place.name
