"""Parts that a module makes for itself when it first runs, and that nothing brings to where it is by then."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ..core.kinds import Kind
from ..core.values import Value
from .behind import Meetings
from .classes import Class
from .definitions import Function
from .log import RawBind
from .settle import Settled
from .stays import is_left_alone

_FORWARD = ("forward", "__call__")
_MAX_DEPTH = 4


class Late(NamedTuple):
    """A module with weights that becomes part of another when that runs."""

    function: str
    at: ast.expr
    """The target that it is assigned to."""
    raw: RawBind


def late(settled: Settled, judged: Meetings) -> Iterator[Late]:
    """Modules that methods make which run with `forward`: the module itself may have moved by then."""
    for cls in settled.file.classes.values():
        if not cls.is_module or cls.framework:
            continue
        itself = settled.objects.self_of(cls.name)
        for method in cls.methods.values():
            home, log = settled.file.functions.get(method), settled.logs.get(method)
            if home is None or log is None or not judged.may_follow(method):
                continue
            for target, raw in log.binds.items():
                if not isinstance(target, (ast.Attribute, ast.Subscript)) or type(raw.owner.who) is not int:
                    continue
                if not settled.objects.is_part(raw.owner.who, itself) or raw.value.kind is not Kind.MODULE:
                    continue
                if not is_left_alone(settled, raw.value) or _is_brought(settled, cls, raw.value):
                    continue
                if _runs(settled, cls, home):
                    yield Late(method, target, raw)


def _runs(settled: Settled, cls: Class, home: Function, depth: int = _MAX_DEPTH) -> bool:
    """Whether a method is `forward`, or called by nothing but methods that run with it."""
    if home.own_name in _FORWARD:
        return True
    callers = {caller for caller, _ in settled.sites.get(home.name, ())} - {home.name}
    homes = [settled.file.functions.get(caller) for caller in callers]
    return (
        depth > 0
        and bool(homes)
        and all(each is not None and each.owner == cls.name for each in homes)
        and all(each is not None and _runs(settled, cls, each, depth - 1) for each in homes)
    )


def _is_brought(settled: Settled, cls: Class, part: Value) -> bool:
    """Whether anything in the class moves the part, or the whole that it belongs to."""
    objects, whole = settled.objects, settled.objects.self_of(cls.name)

    def within(ref: object) -> bool:
        return type(ref) is int and objects.is_part(ref, whole)

    placed = {node: ref for log in settled.logs.values() for (ref, _), node in log.moved_at.items()}
    made = settled.made_by(part.who) if type(part.who) is int else None
    within_it = ast.walk(made) if made is not None else ()
    return (
        part.who in placed.values()
        or not placed.keys().isdisjoint(within_it)
        or any(
            raw.target is not None and (within(raw.receiver.who) or raw.receiver.who == part.who)
            for method in cls.methods.values()
            if method in settled.logs
            for raw in settled.logs[method].moves.values()
            if raw.receiver.kind in (Kind.MODULE, Kind.INSTANCE)
        )
    )
