"""Modules that objects were given and run on what they bring to a device: there those are, too."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.kinds import Kind
from ..core.paths import Ref, Root
from ..core.places import MOVED_TO, Form, Place
from ..core.values import Value
from .settle import Settled


def fed(settled: Settled) -> dict[Ref, str]:
    """By the object of a class that is no module, what that calls the module, if it never goes back."""
    found: dict[Ref, str] = {}
    for log in settled.logs.values():
        for raw in log.meetings.values():
            for here, one, there in ((raw.here, raw.one, raw.there), (raw.there, raw.other, raw.here)):
                owner = _owner(settled, here, one) if there.form in MOVED_TO else None
                if owner is not None and type(one.who) is int:
                    found.setdefault(owner, settled.objects.labels[one.who])
    back = set(_brought_back(settled)) if found else set()
    return {ref: name for ref, name in found.items() if ref not in back}


def _owner(settled: Settled, place: Place, module: Value) -> Ref | None:
    """The object that has a module as one of its attributes, and lies nowhere itself."""
    ref = module.who
    if module.kind is not Kind.MODULE or place.form is not Form.AT or type(ref) is not int:
        return None
    top = settled.objects.top(ref)
    way = settled.objects.ways[top]
    view = settled.file.view(way.name) if isinstance(way, Root) and way.kind == "self" else None
    plain = view is not None and not view.is_module
    return top if plain and top != ref and place.of == top else None


def _brought_back(settled: Settled) -> Iterator[Ref]:
    """The objects of which something is moved to the cpu."""
    for log in settled.logs.values():
        for raw in log.moves.values():
            who = raw.receiver.who
            if raw.target is not None and raw.target.form is Form.CPU and type(who) is int and raw.in_place:
                yield settled.objects.top(who)
