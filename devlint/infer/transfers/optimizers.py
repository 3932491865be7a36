"""Optimizers: what they hold, and what their steps leave behind."""

from __future__ import annotations

from ...core.kinds import TENSORS, Kind
from ...core.paths import Ref
from ...core.state import LOADED, OPTIMIZER, STEPPED, Mark
from ...core.values import NONE, Api, Value, constant
from ..machine import Machine, Site

_PHASES = {"step": STEPPED, "load_state_dict": LOADED}


def make(machine: Machine, site: Site) -> Value:
    """An optimizer holds the parameters that it is given."""
    value = machine.own(site.node, Kind.OPTIMIZER, role="made")._replace(known=Api(site.api))
    ref = machine.ref(value)
    given = site.args.get("params") or site.args.first()
    if given is None or ref is None:
        return value
    held = holds(given)
    _updated(machine, given)
    if held:
        momentum = site.args.get("momentum")
        stateless = "stateless-without-momentum" in site.row.topics and (
            momentum is None or constant(momentum) == 0
        )
        phase = "stateful" if "stateful" in site.row.topics else "fresh"
        at = (machine.here.name, machine.here.number(site.node))
        machine.state.marks[OPTIMIZER, ref] = Mark(phase, held, site.name, at, stateless)
        for node, stale in machine.log.stale.items():
            machine.log.stale[node] = tuple(
                each for each in stale if each.protocol != OPTIMIZER or not each.mark.holds <= held
            )
    return value


def _updated(machine: Machine, given: Value, depth: int = 3) -> None:
    """An optimizer updates leaves alone: what is a copy of one, it refuses."""
    if given.kind in TENSORS:
        machine.leaf(given, "optimized")
    elif depth:
        for part in (*(given.items or ()), *((given.element,) if given.element else ())):
            _updated(machine, part, depth - 1)


def doubt(machine: Machine, value: Value) -> None:
    """The optimizer is of another class on another path, which has no state when it is built."""
    ref = machine.ref(value)
    mark = machine.state.marks.get((OPTIMIZER, ref)) if ref is not None else None
    if mark is not None and ref is not None and mark.phase == "stateful":
        machine.state.marks[OPTIMIZER, ref] = mark._replace(phase="perhaps")


def holds(value: Value) -> frozenset[Ref]:
    """The modules whose parameters are in a value, or inside it."""
    found: set[Ref] = {who for who in value.holds if type(who) is int}
    for part in (*(value.items or ()), *((value.element,) if value.element else ())):
        found |= holds(part)
    return frozenset(found)


def step(machine: Machine, site: Site) -> Value:
    """`step` gives an optimizer state that stays where it is."""
    _advance(machine, site, STEPPED)
    return machine.unknown(site.node) if site.args.positional else NONE


def load(machine: Machine, site: Site) -> Value:
    """So does `load_state_dict`."""
    _advance(machine, site, LOADED)
    return NONE


def advance(machine: Machine, value: Value, method: str) -> None:
    """A method that optimizers have is called on what may be one."""
    ref, phase = machine.ref(value), _PHASES.get(method)
    if ref is not None and phase is not None:
        machine.advance(ref, phase)


def add(machine: Machine, site: Site) -> Value:
    """`add_param_group({"params": …})`: it holds those parameters too; the next step makes their state."""
    ref = machine.ref(site.receiver) if site.receiver is not None else None
    mark = machine.state.marks.get((OPTIMIZER, ref)) if ref is not None else None
    group = site.args.first()
    if ref is not None and group is not None:
        for node, stale in machine.log.stale.items():
            new = holds(group)
            machine.log.stale[node] = tuple(
                each for each in stale if each.holder != ref or each.ref not in new
            )
    if mark is not None and ref is not None and group is not None and mark.phase == "fresh":
        machine.state.marks[OPTIMIZER, ref] = mark._replace(holds=mark.holds | holds(group))
    return NONE


def _advance(machine: Machine, site: Site, phase: str) -> None:
    ref = machine.ref(site.receiver) if site.receiver is not None else None
    if ref is not None:
        machine.advance(ref, phase, site.node)
