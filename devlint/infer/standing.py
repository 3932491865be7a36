"""One of several modules, for those who have no name for all of them: the one that has something to move."""

from __future__ import annotations

from ..core.kinds import Kind
from ..core.places import UNKNOWN_PLACE
from ..core.state import State
from ..core.values import OF_CLASSES, OF_SOME, Value, one_of
from .holdings import has_weights, is_reached
from .machine import Machine
from .several import alternatives


def as_one(machine: Machine, value: Value, end: State) -> Value:
    """What a function gives or keeps that is one of several modules, if nothing else has or moves any."""
    objects, log = machine.objects, machine.log
    several = alternatives(objects, log.alternatives, value)
    refs = {each.who for each in several if type(each.who) is int}
    if not refs or not all(objects.is_made_in(ref, machine.here.name) for ref in refs):
        return value
    if not refs.isdisjoint(end.places) or any(is_reached(objects, log, ref) for ref in refs):
        return value
    kept = {(raw.owner.who, raw.name) for raw in log.binds.values() if raw.value.who in {*refs, value.who}}
    heavy = [each for each in several if _is_heavy(machine, each)]
    if len(kept) > 1 or not heavy:
        return value
    same = all(each.known == heavy[0].known for each in several)
    known = heavy[0].known if same else one_of(*(each.known for each in several))
    origin = heavy[0].origin
    assert origin is not None
    if len(heavy) < len(several) or origin.attribute == OF_SOME:
        origin = origin._replace(attribute=OF_SOME)
    return Value(Kind.MODULE, UNKNOWN_PLACE, heavy[0].who, known, origin=origin)


def _is_heavy(machine: Machine, module: Value) -> bool:
    """Whether a module has something to move, or is a loss that was given weights of classes."""
    kept = module.origin.attribute if module.origin is not None else ""
    return kept in (OF_CLASSES, OF_SOME) or has_weights(module, machine.program)
