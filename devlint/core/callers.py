"""What the calls of a function say together of what one of its parameters is given."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .events import Call, Given, Move, Seen
from .kinds import TENSORS, Kind
from .places import ON_DEVICE, Form, Place


def on_device(given: Iterable[Given], tensors: bool = False) -> Given | None:
    """The first call that passes what is on a device, or wherever a module runs if they all do.

    A module that shares a function with what reads data may itself be a step of reading them. With `tensors`,
    what is passed must be one for sure, or hold nothing else, as what was moved does, or a model gives: of
    what holds others, nobody knows a place.
    """
    calls = [each for each in given if each.kind not in (Kind.NONE, Kind.NUMBER)]
    sure = [
        each for each in calls if not tensors or each.kind in (*TENSORS, Kind.CONTAINER) or _is_moved(each)
    ]
    found = next((each for each in sure if each.place.form in ON_DEVICE), None)
    if found is None and all(each.test or each.place.form is Form.ANYWHERE for each in calls):
        return next((each for each in sure if not each.test), None)
    return found


def _is_moved(given: Given) -> bool:
    return given.kind is Kind.BATCH and given.place.form in (Form.LITERAL, Form.SAME)


def on_cpu_beside(given: Iterable[tuple[Given, Given | None]], away: bool) -> Given | None:
    """The first call that gives a generator of the cpu, and beside it what is, or says, another device.

    With `away`, the other is elsewhere whoever calls.
    """
    return next(
        (
            one
            for one, other in given
            if one.kind in (Kind.GENERATOR, Kind.CONTAINER)
            and one.place.form is Form.CPU
            and not one.test
            and (away or (other is not None and other.place.form in (*ON_DEVICE, Form.ANYWHERE)))
        ),
        None,
    )


def all_on_cpu(given: Iterable[Given]) -> bool:
    """Whether there are calls, and all pass what is on the cpu; those of tests say nothing."""
    places = [each.place.form for each in given if not each.test]
    return bool(places) and all(form is Form.CPU for form in places)


def handed_over(start: Call) -> Seen | None:
    """The first that is on a device of what a call gives to a process that it starts, if it starts one."""
    given = start.given.values() if "forks" in start.topics else ()
    held = (each for each in given if each.kind is Kind.MODULE or each.kind in TENSORS)
    return next((each for each in held if each.place.form in ON_DEVICE), None)


def device_used(event: Call | Move) -> Place | None:
    """The device that a move brings to, that a call is told or needs, or of what it hands to a process."""
    if isinstance(event, Move):
        return event.target
    if "needs-cuda" in event.topics:
        return Place(Form.LITERAL, "cuda")
    handed = handed_over(event) or event.given.get("device")
    return handed.place if handed is not None else None


def worker_counts(context: Collection[str], calls: Iterable[Call]) -> list[str]:
    """How many workers may run what no loader is known to run: as many as the file's loaders are given."""
    if "called" in context:
        return []
    loaders = [each for each in calls if "loader" in each.topics]
    if "collate_fn" in context and not loaders:
        return [""]
    return [each.given["num_workers"].label for each in loaders if "num_workers" in each.given]


def is_away(place: Place, *, following: bool) -> bool:
    """Whether a place is no cpu where there is an accelerator; with `following`, as another value may be."""
    if place.form is Form.EITHER:
        return bool(place.name) or place.of is not None
    return place.form in (Form.LITERAL, Form.SAME) or (following and place.form is Form.AT)
