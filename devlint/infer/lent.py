"""What moves itself in place, when it has: whoever has it, by whatever name, has it there."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.evidence import Evidence
from ..core.kinds import Kind
from ..core.places import UNKNOWN_PLACE
from ..core.values import ENCODING, GRAPH, UNKNOWN, Value
from .machine import Machine


def lend(machine: Machine, values: Iterable[Value]) -> None:
    """What may move anything is given encodings and graphs: nobody knows where they are afterwards."""
    for value in values:
        if value.known == ENCODING:
            replace(machine, value, value._replace(element=UNKNOWN))
        elif value.known == GRAPH:
            replace(machine, value, UNKNOWN)


def note_placed(machine: Machine, value: Value) -> None:
    """What a value holds may be where it belongs; of a batch, that is what its loader is known to yield."""
    machine.note(value, Evidence.PLACED)
    if value.kind is Kind.BATCH and type(value.place.of) is int:
        machine.log.note(value.place.of, Evidence.PLACED)


def unsettle(machine: Machine, values: Iterable[Value]) -> None:
    """What nobody knows was called for what it does: perhaps it moves all that batches hold."""
    env = machine.state.env
    for batch in values:
        if batch.kind is Kind.BATCH:
            note_placed(machine, batch)
            for key, value in list(env.items()):
                if value.who == batch.who and value.kind is Kind.BATCH:
                    env[key] = value._replace(place=UNKNOWN_PLACE)


def replace(machine: Machine, old: Value, new: Value) -> None:
    """What moves in place has changed, by whichever name, and in whatever holds it."""
    for key, value in list(machine.state.env.items()):
        if value.known == old.known and value.who == old.who:
            machine.state.env[key] = new
        elif (held := value.element) is not None and held.known == old.known and held.who == old.who:
            machine.state.env[key] = value._replace(element=new)
