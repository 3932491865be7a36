"""What moves itself in place, when it has: whoever has it, by whatever name, has it there."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.values import ENCODING, GRAPH, UNKNOWN, Value
from .machine import Machine


def lend(machine: Machine, values: Iterable[Value]) -> None:
    """What may move anything is given encodings and graphs: nobody knows where they are afterwards."""
    for value in values:
        if value.known == ENCODING:
            replace(machine, value, value._replace(element=UNKNOWN))
        elif value.known == GRAPH:
            replace(machine, value, UNKNOWN)


def replace(machine: Machine, old: Value, new: Value) -> None:
    """What moves in place has changed, by whichever name, and in whatever holds it."""
    for key, value in list(machine.state.env.items()):
        if value.known == old.known and value.who == old.who:
            machine.state.env[key] = new
        elif (held := value.element) is not None and held.known == old.known and held.who == old.who:
            machine.state.env[key] = value._replace(element=new)
