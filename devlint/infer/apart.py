"""Values that were moved, or made, where others are not, and meet those."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .. import knowledge
from ..core.events import Conflict
from ..core.evidence import Evidence
from ..core.kinds import TENSORS, Kind
from ..core.paths import OF_OPERATION, Root
from ..core.places import CPU, Form, Place
from ..core.values import BROUGHT, CLONED, Value, is_made
from .behind import Meetings
from .log import RawMeeting
from .settle import Settled
from .two import Devices

_RAISES = ("operator", "index", "call")
_TOLD = ("moved", "made", CLONED, BROUGHT)
"""How values come to be that the program itself put on the cpu: `.cpu()`, `device="cpu"`."""


class Apart(NamedTuple):
    """Two values that the program put in different places, in one operation."""

    function: str
    raw: RawMeeting
    at: ast.expr
    here: Place
    one: Value
    other_at: ast.AST
    there: Place
    other: Value
    perhaps: bool = False
    """Whether callers tell both places, and may tell the same for both."""


def apart(settled: Settled, meetings: Meetings) -> Iterator[Apart]:
    """Meetings of what was put on the cpu, or on one device, with what was put on another."""
    found: dict[object, Apart] = {}
    devices, told = Devices(settled), set[int]()
    for each in _sides(settled, meetings):
        if id(each.raw) in told or not _is_tensor(settled, each.one, each.function):
            continue
        if each.raw.how == "operator" and settled.may_be_number(each.other):
            continue
        key, collated = (each.function, each.one.origin, each.one.who), _is_collated(meetings, each.one)
        if _differ(each, collated) and not _follows(settled, each.one):
            found.setdefault(key, each)
        elif each.raw.how != "index" and devices.differ(each.function, each.here, each.there):
            found.setdefault(key, each._replace(perhaps=True))
            told.add(id(each.raw))  # from the other side it is the same
    yield from found.values()


def given(settled: Settled, meetings: Meetings) -> Iterator[Apart]:
    """Meetings of what was put on the cpu with what callers give, who know where they have that."""
    found: dict[object, Apart] = {}
    for each in _sides(settled, meetings):
        origin = each.one.origin
        told = origin is not None and origin.how in _TOLD and not _follows(settled, each.one)
        if not told or each.here != CPU or each.raw.how == "index" or not meetings.may_follow(each.function):
            continue
        tensor = _is_tensor(settled, each.one, each.function)
        if tensor and meetings.is_given(each.function, each.there, each.other):
            found.setdefault((each.function, origin, each.one.who), each)
    yield from found.values()


def _sides(settled: Settled, meetings: Meetings) -> Iterator[Apart]:
    """All meetings that raise where the two are apart, from each side."""
    dropped = settled.dropped()
    for function, log in settled.logs.items():
        for raw in log.meetings.values():
            if raw.how not in _RAISES or raw.why.absent or meetings.among_cpu(function):
                continue
            if (raw.left, raw.right) in meetings.moved_afterwards(function):
                continue
            for each in (
                Apart(function, raw, raw.left, raw.here, raw.one, raw.right, raw.there, raw.other),
                *_turned(function, raw),
            ):
                refs = (each.one.who, each.other.who)
                if not any(type(ref) is int and settled.any_of(dropped, ref) for ref in refs):
                    yield each


def hosted(settled: Settled, meetings: Meetings) -> Iterator[tuple[Apart, Conflict]]:
    """What an operation wants on the cpu, and that is on a device, or wherever a module runs."""
    for function, log in settled.logs.items():
        for raw in log.hosted.values():
            if raw.why.absent or meetings.among_cpu(function):
                continue
            conflict = _kept_off(settled, meetings, raw)
            if conflict is Conflict.GIVEN or (conflict and _is_tensor(settled, raw.one, function)):
                each = Apart(function, raw, raw.left, raw.here, raw.one, raw.right, raw.there, raw.other)
                yield each, conflict


def _kept_off(settled: Settled, meetings: Meetings, raw: RawMeeting) -> Conflict | None:
    """How surely what has to be on the cpu is elsewhere."""
    if raw.here.form in (Form.SAME, Form.LITERAL, Form.EITHER):
        return meetings.placed(raw.here)
    ref = raw.here.of
    if raw.here.form is not Form.AT or type(ref) is not int:
        return None
    roots = meetings.roots(ref)
    if {meetings.rooted(root) for root in roots} != {Conflict.PORTABLE}:
        given = ref in roots and all(map(settled.objects.is_parameter, roots))
        return Conflict.GIVEN if given else None
    if not any(map(settled.objects.is_parameter, roots)):
        return Conflict.PORTABLE  # what its own layers gave
    if ref in roots:
        # `(ids != 0).sum(1)` is where the ids are, which a layer takes; lengths as such may be anywhere.
        way = settled.objects.ways[raw.one.who] if type(raw.one.who) is int else None
        counted = (
            isinstance(way, Root) and way.name == OF_OPERATION and settled.seen(ref) & Evidence.TO_MODULE
        )
        return Conflict.PORTABLE if counted else Conflict.GIVEN
    beside = raw.there.of
    together = type(beside) is int and beside not in roots and meetings.roots(beside) == roots
    return Conflict.CALLER if together else None


def _turned(function: str, raw: RawMeeting) -> tuple[Apart, ...]:
    both = raw.here.form is raw.there.form is Form.LITERAL
    if not isinstance(raw.right, ast.expr) or raw.how == "index" or both:
        return ()
    return (Apart(function, raw, raw.right, raw.there, raw.other, raw.left, raw.here, raw.one),)


def _follows(settled: Settled, value: Value) -> bool:
    """Whether an object that keeps copies of weights may bring them to where those are, or the other way."""
    origin = value.origin
    if origin is None or origin.how != CLONED:
        return False
    home = settled.file.functions.get(origin.function)
    view = settled.file.view(home.owner) if home is not None and home.owner is not None else None
    return view is not None and view.moves()


def _is_tensor(settled: Settled, value: Value, function: str) -> bool:
    """Whether it is a tensor that has dimensions, as far as its kind tells."""
    kind = settled.kind_of_moved(value, function)
    return kind in TENSORS and kind is not Kind.SCALAR


def _is_collated(meetings: Meetings, value: Value) -> bool:
    """Whether a function whose name says that it works on the cpu made a tensor: it is right to, there."""
    origin = value.origin
    return origin is not None and is_made(value) and origin.dims > 0 and meetings.among_cpu(origin.function)


def _differ(each: Apart, collated: bool) -> bool:
    here, there = each.here, each.there
    origin = each.one.origin
    if here.form is Form.LITERAL and there.form is Form.LITERAL:
        # Without an index it is the current device, which may be any.
        return here.name != there.name and all(place.name.partition(":")[2] for place in (here, there))
    if here.form is not Form.CPU or here.of is not None or origin is None:
        return False
    if origin.how not in _TOLD and not collated:
        return False
    if each.raw.how == "index":
        # An element of a tensor may be 0-dim, which counts as a number.
        if each.other.origin is None or each.other.origin.how not in _TOLD:
            return False
    elif each.other.kind is Kind.SCALAR or origin.api.endswith(knowledge.LIKENED):
        return False  # what is like another may have no dimensions, as that
    return there.form is Form.SAME or (
        there.form is Form.LITERAL and not there.name.startswith(knowledge.NO_DATA)
    )
