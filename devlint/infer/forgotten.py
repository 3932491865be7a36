"""Modules that an object keeps, and that nobody moves where it moves another, or is given what was moved."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .. import knowledge
from ..core.events import Conflict, Meets
from ..core.kinds import TENSORS, Kind
from ..core.paths import Attr
from ..core.places import MOVED_TO, Form, Place
from ..core.values import Value
from .behind import Meetings
from .classes import Class
from .log import RawBind, RawCall, RawMeeting
from .results import Result
from .settle import Settled
from .several import alternatives
from .stays import is_heavy, is_heavy_anyway, is_heavy_perhaps, is_plain, moves_another


class Forgotten(NamedTuple):
    """A module in an attribute, and what it is given."""

    function: str
    """Where it is called."""
    raw: RawCall | RawMeeting
    target: ast.expr
    """Where the constructor assigns it."""
    bind: RawBind
    constructor: str
    given: ast.expr
    there: Place
    value: Value
    conflict: Conflict
    """`PRESUMED` where a function computed the weights of a loss; where it is up to callers, in a file that
    makes such objects and moves other modules; and where a file moves no other."""
    how: Meets = "attribute"


class _Bound(NamedTuple):
    """Where a constructor assigns a module."""

    target: ast.expr
    bind: RawBind
    constructor: str


class _Search:
    """What objects of one file keep."""

    def __init__(self, settled: Settled, judged: Meetings, gave: Iterable[Result]) -> None:
        self.settled = settled
        self.judged = judged
        self.gave: dict[str, list[Result]] = {}
        """By function, what modules gave on the cpu that meets what was moved there."""
        for each in gave:
            self.gave.setdefault(each.function, []).append(each)
        self.told: set[tuple[str, str]] = set()

    def found(self) -> Iterator[Forgotten]:
        """The first call of each that fails on an accelerator."""
        for cls in self.settled.file.classes.values():
            if is_plain(self.settled, cls):
                all_of = sorted((*self._called(cls), *self._resulting(cls), *self._met(cls)), key=_line)
                made = {each.bind.value.origin: each for each in reversed(all_of)}  # one may be a copy of it
                yield from made.values()

    def _called(self, cls: Class) -> Iterator[Forgotten]:
        for method in cls.methods.values():
            log = self.settled.logs.get(method)
            for raw in log.calls.values() if log is not None and not self.judged.constructing(method) else ():
                module, at = raw.receiver, raw.receiver_at
                if raw.callee != knowledge.RUNS_MODULE or module is None or at is None:
                    continue
                place = raw.places.get(at)
                if place is None or place.form is not Form.CPU or place.of is not None:
                    continue
                found = self._kept(cls, module, whole=True)
                if found is None or not moves_another(self.settled, module):
                    continue
                kept, sure = found
                for _, where, value in raw.args.named():
                    there = raw.places.get(where, value.place)
                    if there.form in MOVED_TO and self.settled.kind_of_moved(value, method) in TENSORS:
                        self.told.add((cls.name, kept[1].name))
                        conflict = Conflict.CERTAIN if sure else Conflict.PRESUMED
                        yield Forgotten(method, raw, *kept, where, there, value, conflict)
                        break

    def _resulting(self, cls: Class) -> Iterator[Forgotten]:
        """Modules that are given what nothing has moved, while what they give meets what was moved."""
        for each in (found for method in cls.methods.values() for found in self.gave.get(method, ())):
            found = self._kept(cls, each.module, whole=True)
            if found is not None and not self.judged.constructing(each.function):
                kept, sure = found
                self.told.add((cls.name, kept[1].name))
                sure = sure and each.sure and moves_another(self.settled, each.module)
                conflict = Conflict.CERTAIN if sure else Conflict.PRESUMED
                sides = (each.given, each.there, each.value)
                yield Forgotten(each.function, each.raw, *kept, *sides, conflict, "result")

    def _met(self, cls: Class) -> Iterator[Forgotten]:
        objects = self.settled.objects
        for method in cls.methods.values():
            log = self.settled.logs.get(method)
            if log is None or not self.judged.may_follow(method):
                continue
            for raw in log.meetings.values():
                for here, one, given, there, value in (
                    (raw.here, raw.one, raw.right, raw.there, raw.other),
                    (raw.there, raw.other, raw.left, raw.here, raw.one),
                ):
                    ref = there.of
                    if here.form is not Form.CPU or there.form is not Form.AT or type(ref) is not int:
                        continue
                    if one.kind is not Kind.MODULE or value.kind is Kind.MODULE:
                        continue
                    roots = self.judged.roots(ref)
                    own = (objects.is_parameter(root) and objects.functions[root] == method for root in roots)
                    found = self._kept(cls, one, whole=False) if roots and all(own) else None
                    if found is not None and isinstance(given, ast.expr):
                        kept = found[0]
                        self.told.add((cls.name, kept[1].name))
                        beside = self._is_made(cls) and moves_another(self.settled, one)
                        conflict = Conflict.PRESUMED if beside else Conflict.CALLER
                        yield Forgotten(method, raw, *kept, given, there, value, conflict)

    def _kept(self, cls: Class, module: Value, whole: bool) -> tuple[_Bound, bool] | None:
        """Where the constructor assigns a module, or what it is part of, that nothing else can reach.

        And whether it has something to move on all paths.
        """
        objects, ref = self.settled.objects, module.who
        itself = objects.self_of(cls.name)
        while type(ref) is int and objects.parents[ref] != itself and not whole and ref >= 0:
            ref = objects.parents[ref]
        if type(ref) is not int or ref < 0 or objects.parents[ref] != itself:
            return None
        way = objects.ways[ref]
        if not isinstance(way, Attr) or (cls.name, way.name) in self.told:
            return None
        if self.judged.is_reached(cls.name, way.name):
            return None
        bound = self.settled.bound(cls.name, way.name)
        binds = [each for each in bound if each[2].target == "attribute"]
        constructor = binds[0][0] if binds else ""
        home = self.settled.file.functions.get(constructor)
        if any(method != constructor for method, _, _ in binds) or not self.judged.constructing(constructor):
            return None
        if home is None or home.owner != cls.name:
            return None
        made = [
            (target, bind._replace(value=value))
            for _, target, bind in binds
            if bind.value.kind is not Kind.NONE
            for value in self._alternatives(constructor, bind.value)
        ]
        if not all(_is_made(bind.value) and isinstance(target, ast.Attribute) for target, bind in made):
            return None
        heavy = [
            (target, bind)
            for target, bind in made
            if is_heavy(self.settled, bind.value) or is_heavy_perhaps(self.settled, bind.value)
        ]
        if not heavy or not isinstance(heavy[0][0], ast.Attribute):
            return None
        sure = all(is_heavy_anyway(self.settled, bind.value) for _, bind in made)
        return _Bound(heavy[0][0], heavy[0][1], constructor), sure

    def _alternatives(self, function: str, value: Value) -> list[Value]:
        log = self.settled.logs[function]
        return alternatives(self.settled.objects, log.alternatives, value) or [value]

    def _is_made(self, cls: Class) -> bool:
        """Whether the file makes objects of a class."""
        made = cls.method("__init__")
        return made is not None and bool(self.settled.sites.get(made))


def _is_made(value: Value) -> bool:
    return value.kind is Kind.MODULE and value.origin is not None and value.origin.how == "made"


def _line(found: Forgotten) -> int:
    return found.target.lineno


def forgotten(settled: Settled, judged: Meetings, gave: Iterable[Result]) -> Iterator[Forgotten]:
    """Modules that plain objects keep on the cpu."""
    return _Search(settled, judged, gave).found()
