"""Loops that give a model what comes, where another loop of the file moves it first."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .. import knowledge
from ..core.paths import Element, Item, Ref
from ..core.places import ON_DEVICE, Form, Place
from ..core.values import UNKNOWN
from .behind import Meetings
from .log import Feed
from .settle import Clash, Settled

_Steps = tuple[Item, ...]
_Module = tuple[Ref, Place | None]
"""A module, and where it is in who calls the functions that are given it."""
_OPEN = (Form.AT, Form.UNKNOWN)
"""Where a model is of which nobody knows where that is."""


class _Moved(NamedTuple):
    """What a loop moves and gives to a module."""

    function: str
    loop: Ref
    """What it goes through."""
    steps: _Steps
    """Which part of what that yields it moves."""
    to: Place


def unlike(settled: Settled, judged: Meetings) -> Iterator[Clash]:
    """What a loop gives to a module as it comes, while another one moves the same part of its batches."""
    moved: dict[_Module, list[_Moved]] = {}
    for function, log in settled.logs.items():
        for feed in log.feeds:
            found = _moved(settled, function, feed)
            if found is not None:
                moved.setdefault(_module(settled, function, feed), []).append(found)
    dropped = settled.dropped() if moved else set()
    for function, log in settled.logs.items() if moved else ():
        for feed in log.feeds:
            if type(feed.value.who) is int and settled.any_of(dropped, feed.value.who):
                continue  # that its move is lost is told by itself
            for mover in moved.get(_module(settled, function, feed), ()):
                clash = _clash(settled, judged, function, feed, mover)
                if clash is not None:
                    yield clash
                    break


def _moved(settled: Settled, function: str, feed: Feed) -> _Moved | None:
    """What of a loop a module is given, if it was moved to a device."""
    origin = feed.value.origin
    if not feed.moved or origin is None or origin.function != function or feed.device.form not in ON_DEVICE:
        return None
    to = _told(settled, function, feed.device)
    if feed.place.form not in _OPEN and feed.place not in (feed.device, to):
        return None
    home = settled.file.functions.get(function, settled.file.module)
    made = home.nodes[origin.at] if 0 <= origin.at < len(home.nodes) else None
    raw = settled.logs[function].moves.get(made) if isinstance(made, ast.Call) else None
    if raw is None or type(raw.receiver.who) is not int:
        return None
    way = _way(settled, raw.receiver.who)
    return _Moved(function, *way, to) if way is not None else None


def _told(settled: Settled, function: str, place: Place) -> Place:
    """A place that a parameter names, as all callers name it."""
    ref, objects = place.of, settled.objects
    if place.form is not Form.SAME or type(ref) is not int or not objects.is_parameter(ref):
        return place
    passed = (
        site.arguments.get(objects.labels[ref], UNKNOWN)
        for _, site in settled.sites.get(function, ())
        if objects.functions[ref] == function
    )
    found = {Place(Form.SAME, "", value.who) if value.who is not None else value.place for value in passed}
    return found.pop() if len(found) == 1 else place


def _module(settled: Settled, function: str, feed: Feed) -> _Module:
    """What a function gives to: of a parameter, what all callers pass, if that is one module in one place."""
    ref, objects = feed.module, settled.objects
    if objects.is_parameter(ref) and objects.functions[ref] == function:
        name = objects.labels[ref]
        passed = {
            (value.who, site.places.get(value.who))
            for _, site in settled.sites.get(function, ())
            if (value := site.arguments.get(name)) is not None and type(value.who) is int
        }
        if len(passed) == 1:
            return passed.pop()
    return ref, None


def _way(settled: Settled, ref: Ref) -> tuple[Ref, _Steps] | None:
    """The iterable of a loop, and which part of what it yields an object is."""
    objects, steps = settled.objects, list[Item]()
    while isinstance(step := objects.ways[ref], Item) and not step.variable:
        steps.append(step)
        ref = objects.parents[ref]
    whole = isinstance(objects.ways[ref], Element)  # as such it may be anything, and not what a loader gives
    return (objects.parents[ref], tuple(reversed(steps))) if whole and steps else None


def _clash(settled: Settled, judged: Meetings, function: str, feed: Feed, mover: _Moved) -> Clash | None:
    part = settled.part(feed.device)
    if feed.moved or part is None:
        return None
    way = _way(settled, part.ref)
    if way is None or way[0] == mover.loop or way[1] != mover.steps or part.ref != feed.value.who:
        return None
    if feed.place.form not in _OPEN and feed.place != mover.to:
        return None
    if _is_told(settled, way[0]):
        return None
    if judged.among_cpu(function) or _is_framework(settled, function):
        return None
    if settled.contradicted(part.ref):
        return None
    sides = (feed.device, part.ref, part.whole, feed.at, mover.to)
    return Clash(function, feed.at, *sides, False, False, False, None, by=feed.module)


def _is_told(settled: Settled, loop: Ref) -> bool:
    """Whether what made what a loop goes through is told of a device: it may bring there what it yields."""
    made = [settled.made_by(loop), *(settled.made_by(each) for each in settled.kept_in(loop))]
    return any(isinstance(node, ast.Call) and knowledge.speaks_of_devices(ast.unparse(node)) for node in made)


def _is_framework(settled: Settled, function: str) -> bool:
    """Whether a framework moves what a method is given."""
    home = settled.file.functions.get(function)
    view = settled.file.view(home.owner) if home is not None and home.owner is not None else None
    return view is not None and (view.framework or view.is_module)
