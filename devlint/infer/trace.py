"""Where values were made and moved: the places in the program that explain an event."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from ..bind.text import Text
from ..core.events import Explains, Spot
from ..core.paths import Element, Path, Ref
from ..core.places import ON_DEVICE, UNKNOWN_PLACE, Form, Place
from ..core.values import BROUGHT, Value
from .definitions import Function
from .settle import Settled

_MAX_SOURCES = 4


class _Arrival(NamedTuple):
    """An object comes to a place."""

    function: str
    node: ast.AST
    ref: Ref
    place: Place


class Tracer:
    """Answers where the values of an analysed file come from."""

    def __init__(self, settled: Settled, text: Text) -> None:
        self.settled = settled
        self.text = text

    def of(
        self, value: Value, place: Place, function: str, at: ast.AST | None, near: bool = True
    ) -> tuple[Spot, ...]:
        """Where a value that is at `place` in a function was moved there, or made.

        Where nobody knows, the last move of anything to that place tells, if `near` says so.
        """
        line = getattr(at, "lineno", 0)
        origin = value.origin
        if origin is not None and origin.how in ("moved", BROUGHT):
            return self._only(self.spot("moved", origin.function, origin.at, place))
        found = self._arrival(value, place, function, line)
        if found is not None:
            return self._only(self._told(found, place))
        if origin is not None and origin.how in ("factory", "array", "copied"):
            return self._only(self.spot("made", origin.function, origin.at, place))
        if near and place.form in ON_DEVICE:
            last = self._near(place, function, line)
            return self._only(self._told(last, place) if last is not None else None)
        return ()

    def of_batch(self, part: Ref, whole: Ref) -> tuple[Spot, ...]:
        """Where the loop yields a batch, and where another part of it is moved."""
        found: list[Spot | None] = []
        objects = self.settled.objects
        way = objects.ways[whole] if whole >= 0 else None
        if isinstance(way, Element) and way.at >= 0:
            found.append(self.spot("yielded", way.function, way.at, UNKNOWN_PLACE))
        moved = self.settled.moved.get(whole, set()) - {part}
        arrivals = [each for ref in sorted(moved) for each in self._by_ref.get(ref, ())]
        arrivals = [each for each in arrivals if each.place.form not in (Form.CPU, Form.UNKNOWN)]
        if arrivals:
            first = min(arrivals, key=lambda each: getattr(each.node, "lineno", 0))
            found.append(self._told(first, first.place))
        return tuple(spot for spot in found if spot is not None)

    def moves(self, nodes: Iterable[ast.Call]) -> tuple[Spot, ...]:
        """Some moves of a function."""
        return tuple(self._spot("moved", node, self._target(node)) for node in nodes)

    def _target(self, node: ast.Call) -> Place:
        """Where a call moves something."""
        for log in self.settled.logs.values():
            raw = log.moves.get(node)
            if raw is not None and raw.target is not None:
                return raw.target
        return UNKNOWN_PLACE

    def spot(self, how: Explains, function: str, number: int, place: Place) -> Spot | None:
        """The node of a number, in this file or another."""
        home = self._home(function)
        if home is None:
            return Spot(how, None, "", self._name(place), (function, number))
        node = home.nodes[number] if 0 <= number < len(home.nodes) else None
        return self._spot(how, node, place) if node is not None else None

    def _home(self, function: str) -> Function | None:
        file = self.settled.file
        return file.functions.get(function) if function else file.module

    @staticmethod
    def _only(spot: Spot | None) -> tuple[Spot, ...]:
        return (spot,) if spot is not None else ()

    # Where objects were moved

    @cached_property
    def _by_ref(self) -> dict[Ref, list[_Arrival]]:
        found: dict[Ref, list[_Arrival]] = {}
        for name, log in self.settled.logs.items():
            for (ref, place), node in log.moved_at.items():
                found.setdefault(ref, []).append(_Arrival(name, node, ref, place))
        return found

    @cached_property
    def _runs(self) -> dict[ast.AST, Ref]:
        return {node: ref for log in self.settled.logs.values() for node, ref in log.runs.items()}

    def _arrival(self, value: Value, place: Place, function: str, line: int) -> _Arrival | None:
        if type(value.who) is not int:
            return None
        for ref in self._chain(value.who):
            known = [each for each in self._by_ref.get(ref, ()) if _agree(each.place, place)]
            if known:
                return _latest(known, function, line)
            left = self._left(ref, place)
            if left is not None:
                return left
        return None

    def _chain(self, ref: Ref) -> Iterator[Ref]:
        """An object, what it is part of or one of, and the module whose result it is."""
        objects, seen, todo = self.settled.objects, set[Ref](), [ref]
        while todo:
            each = todo.pop(0)
            if each < 0 or each in seen:
                continue
            seen.add(each)
            yield each
            todo.extend(objects.sources.get(each, ())[:_MAX_SOURCES])
            made = self.settled.made_by(each)
            if made is not None and made in self._runs:
                todo.append(self._runs[made])
            todo.append(objects.owner(each))

    def _left(self, ref: Ref, place: Place) -> _Arrival | None:
        """Where the constructor of a class moved what it leaves in an attribute."""
        path = self.settled.objects.path(ref, "")
        if path is None or path.root.kind != "self" or not path.steps:
            return None
        found = self._left_by.get(path)
        return _Arrival(*found, ref, place) if found is not None else None

    @cached_property
    def _left_by(self) -> dict[Path, tuple[str, ast.AST]]:
        """The first constructor that leaves an attribute where it moved it, and where it did."""
        found: dict[Path, tuple[str, ast.AST]] = {}
        for name, log in self.settled.logs.items():
            for path, node in log.left.items():
                found.setdefault(path, (name, node))
        return found

    def _near(self, place: Place, function: str, line: int) -> _Arrival | None:
        """The last move to the very place before a line of a function."""
        there = [each for arrivals in self._by_ref.values() for each in arrivals if each.place == place]
        before = [each for each in there if each.function == function and _line(each) <= line]
        return _latest(before, function, line)

    # What is told

    def _told(self, found: _Arrival, place: Place) -> Spot | None:
        spot = self._spot("moved", found.node, place)
        if spot.label:
            return spot
        return spot._replace(how="put", label=self.settled.objects.labels[found.ref])

    def _spot(self, how: Explains, node: ast.AST, place: Place) -> Spot:
        assert isinstance(node, (ast.expr, ast.stmt))
        label = ""
        if how == "moved":
            label = self._moved(node)
        elif how == "yielded":
            label = self.text.quote(node)
        elif how == "built":
            label = self.text.quote(node.func) if isinstance(node, ast.Call) else ""
        return Spot(how, self.text.span(node), label, self._name(place))

    def _moved(self, node: ast.AST) -> str:
        """What a call moves, as the program calls it; empty where it makes what is there."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return ""
        log = next((log for log in self.settled.logs.values() if node in log.moves), None)
        return self.text.quote(node.func.value) if log is not None else ""

    def _name(self, place: Place) -> str:
        if place.form is Form.AT or place.form is Form.KEPT:
            return ""
        return self.settled.device_name(place) if type(place.of) is int else place.name


def _agree(arrival: Place, place: Place) -> bool:
    """Whether an object that came to one place may now be at the other: on some paths, it never moved."""
    return arrival == place or (place.form is Form.EITHER and arrival.form is not Form.CPU)


def _line(arrival: _Arrival) -> int:
    return getattr(arrival.node, "lineno", 0)


def _latest(arrivals: list[_Arrival], function: str, line: int) -> _Arrival | None:
    """The last before a line of a function, else the first of all."""
    before = [each for each in arrivals if each.function == function and _line(each) <= line]
    if before:
        return max(before, key=_line)
    return min(arrivals, key=_line, default=None)
