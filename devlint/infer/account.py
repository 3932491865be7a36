"""What the inference knows of the values on a line: what each is, how it came there, what it meets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from ..core.events import At, Meeting, Meets, Spot
from ..core.kinds import Kind
from ..core.objects import Apart, Or
from ..core.paths import Attr, Element, Item, Ref, Root
from ..core.places import UNKNOWN_PLACE, Form, Place
from ..core.values import Origin, Value
from ..span import Span
from .log import RawMeeting, RawMove
from .machine import COPIES
from .record import Record
from .reveal import describe, place_name

_MOST_STEPS = 6
_MOST_MEETINGS = 3
_SILENT = frozenset(
    (Kind.NONE, Kind.NUMBER, Kind.STRING, Kind.DTYPE, Kind.LIBRARY, Kind.FUNCTION, Kind.CLASS, Kind.OTHER)
)
"""What lives on no device."""
_PLAIN = frozenset((Kind.UNKNOWN, Kind.INSTANCE, Kind.CONTAINER))
"""Of what there is nothing to tell but how it came there."""
_PLAINLY = {Kind.FLAG: "truth value"}
_NAMED = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
"""Expressions of which it is worth telling that nothing is known."""

Happened = Literal["made", "chosen", "computed", "moved", "copied", "put", "yielded", "given", "kept"]
"""What happened to a value; `kept` is that an attribute keeps it."""


class Step(NamedTuple):
    """One thing that happened to a value."""

    how: Happened
    spot: Spot | None
    """None where nobody knows the place."""
    label: str
    """What it was called there; empty where it had no name."""
    by: str = ""
    """The library's function that did it, where knowledge names it."""


class Met(NamedTuple):
    """Another value, perhaps elsewhere, that a value comes together with."""

    how: Meets
    span: Span
    other: str
    """The source of the other side."""
    what: str
    """Its kind and place."""
    conflict: str
    """What the inference made of it, as `core.events.Conflict` has it; empty where it told nobody."""


class Told(NamedTuple):
    """What is known of one expression."""

    span: Span
    source: str
    what: str
    """Kind and place: `tensor on cpu`."""
    kind: Kind
    place: str
    """Where it is, as the program calls it; empty where nobody knows."""
    certain: bool
    """Whether its kind is certain, not only shown by use."""
    steps: tuple[Step, ...]
    """How it came there, the last first."""
    meets: tuple[Met, ...]


class _Known(NamedTuple):
    value: Value
    place: Place
    function: str


class Account(Record):
    """A record that is told to people: of all values, whoever asks."""

    whole = True

    def told(self, line: int, column: int | None = None) -> tuple[Told, ...]:
        """The values that begin on a line; with a column (from 0), of the innermost expression around it."""
        if column is not None:
            around = [node for node in self._known if _holds(self._span(node), line, column)]
            around.sort(key=lambda node: _size(self._span(node)))
            return tuple(self._tell(node) for node in around[:1])
        on = [node for node in self._known if node.lineno == line and self._is_worth_telling(node)]
        on.sort(key=lambda node: (node.col_offset, -_size(self._span(node))[1]))
        found: dict[object, Told] = {}
        for told in map(self._tell, on):  # what is assigned is told once, by the name that it gets
            if told.kind not in _PLAIN or told.steps or told.meets:
                found.setdefault((told.what, told.steps, told.meets) if told.steps else told.source, told)
        return tuple(found.values())

    def under(self, line: int) -> At | None:
        """Under what the innermost statement around a line runs; None where nothing runs there."""
        around = [
            (span.end_line - span.line, -span.column, statement.lineno, statement)
            for statement in self._book.scopes
            if statement.lineno <= line <= (statement.end_lineno or 0)
            for span in (self._observer.text.span(statement),)
        ]
        if not around:
            return None
        statement = min(around, key=lambda item: item[:3])[3]
        scope = self._book.scopes[statement]
        return self._observer.at(statement, scope.function, scope.why, scope.loops)

    def is_reached(self, line: int) -> bool:
        """Whether control gets to a line; False only where it gets to the first of the same block."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.ClassDef):
                continue  # what a class defines is known without a run
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block[:1] and block[0] in self._book.scopes:
                    for each in block:
                        if each.lineno == line and each not in self._book.scopes:
                            return False
        return True

    def tensors(self, first: int, last: int) -> Iterator[Told]:
        """The variables that are bound between two lines to what lives on a device or the cpu."""
        for node, known in self._book.targets.items():
            if first <= node.lineno <= last:
                told = self._described(node, _Known(*known))
                if told.place:
                    yield told

    @cached_property
    def _known(self) -> dict[ast.expr, _Known]:
        found = {node: _Known(*known) for node, known in self._book.values.items()}
        for call, raw in self._unkept.items():
            if call in found and raw.target is not None:
                found[call] = found[call]._replace(place=raw.target)
        for node, known in self._book.targets.items():
            found[node] = _Known(*known)
        return found

    @cached_property
    def _called(self) -> set[ast.expr]:
        return {node.func for node in self._known if isinstance(node, ast.Call)}

    @cached_property
    def _unkept(self) -> dict[ast.Call, RawMove]:
        """Moves whose copy nobody has: to the inference, what there is stays where it was."""
        logs = self._observer.settled.logs.values()
        moves = [(call, raw) for log in logs for call, raw in log.moves.items()]
        return {call: raw for call, raw in moves if raw.fate != "kept" and raw.target and not raw.in_place}

    def _span(self, node: ast.expr) -> Span:
        return self._observer.text.span(node)

    def _is_worth_telling(self, node: ast.expr) -> bool:
        known = self._known[node]
        if known.value.kind is Kind.UNKNOWN:
            return isinstance(node, _NAMED) and node not in self._called
        return known.value.kind not in _SILENT

    # What it is

    def _tell(self, node: ast.expr) -> Told:
        known = self._known[node]
        if known.value.kind in _SILENT:
            return self._described(node, known)
        if known.value.kind is Kind.DEVICE:
            chosen = tuple(
                step._replace(how="chosen") for step in self._source(known.place.of, node) if step.spot
            )
            return self._described(node, known)._replace(steps=chosen)
        return self._described(node, known)._replace(
            steps=tuple(self._steps(node, known))[:_MOST_STEPS],
            meets=tuple(self._meets(node, known.value)) if node not in self._unkept else (),
        )

    def _described(self, node: ast.expr, known: _Known) -> Told:
        observer = self._observer
        seen = observer.seen(known.value, known.place, node, known.function)
        what, place = self._what(known.value._replace(kind=seen.kind), known.place)
        source = observer.text.quote(node)
        what = _not_where_itself_is(what, source)
        place = "" if place == source else place
        return Told(self._span(node), source, what, seen.kind, place, seen.certain, (), ())

    def _what(self, value: Value, place: Place) -> tuple[str, str]:
        settled = self._observer.settled
        value = settled.in_use(value)
        if value.kind in (Kind.DEVICE, Kind.GENERATOR):
            name = place_name(settled, place)
            if place.name and place.form is not Form.CPU and place.name != name:
                name = f"cpu or {place.name}" if "cpu" not in place.name else place.name
            if place.form is Form.AT and name:
                return f"{value.kind.value} of `{name.removesuffix('.device')}`", name
            return (f"{value.kind.value} ({name})" if name else value.kind.value), name
        if place.form is Form.ANYWHERE and value.kind is not Kind.UNKNOWN:
            return f"{value.kind.value} wherever the program runs", ""
        if value.kind is Kind.CONTAINER:
            parts = value.items or ((value.element,) if value.element else ())
            inside = {
                what.replace(part.kind.value, f"{part.kind.value}s", 1)
                for part in parts
                if (what := self._what(part, part.place)[0]).startswith(part.kind.value)
            }
            known = len(inside) == 1 and all(part.kind is not Kind.UNKNOWN for part in parts)
            return (f"container of {inside.pop()}" if known else "container"), ""
        what = _PLAINLY.get(value.kind) or describe(settled, value, place)
        kind, _, name = what.partition(" on ")
        if place.form is Form.AT and name:
            return f"{kind} where `{name}` is", name
        return what, name

    # How it came there

    def _steps(self, node: ast.expr, known: _Known) -> Iterator[Step]:
        value, place, function = known
        at: ast.AST = node
        if isinstance(node, ast.Call) and node in self._unkept:
            lost = self._unkept[node]
            label = self._observer.text.quote(node.func.value) if isinstance(node.func, ast.Attribute) else ""
            yield Step("moved", Spot("moved", self._span(node), label, self._what(value, place)[1]), "")
            value, place = lost.receiver, lost.place
        told: set[tuple[str, int]] = set()
        for _ in range(_MOST_STEPS):
            origin = value.origin
            if origin is None or origin.how not in COPIES:
                yield from self._beginning(value, place, function, at)
                return
            if (origin.function, origin.at) in told:
                return  # an attribute that a method moves was moved before by that very method
            told.add((origin.function, origin.at))
            moved = self._observer.node(origin.function, origin.at)
            log = self._observer.settled.logs.get(origin.function)
            raw = log.moves.get(moved) if log is not None and isinstance(moved, ast.Call) else None
            target = place if raw is None or raw.target is not None else UNKNOWN_PLACE
            spot = self._observer.tracer.spot("moved", origin.function, origin.at, target)
            casts = raw is not None and raw.target is None
            yield Step("copied" if casts else "moved", spot, "")
            if raw is None or moved is None:
                return
            value, place, function, at = raw.receiver, raw.place, origin.function, moved

    def _beginning(self, value: Value, place: Place, function: str, at: ast.AST) -> Iterator[Step]:
        """What happened to a value that is no copy of another."""
        told = False
        for spot in self._observer.tracer.of(value, place, function, at, near=False):
            told |= spot.how == "made"
            by = value.origin.api if spot.how == "made" and value.origin is not None else ""
            label = "" if self._is_of(value, spot) else spot.label
            yield Step("made" if spot.how == "built" or spot.how == "met" else spot.how, spot, label, by)
        if told:
            return
        made = self._made(value.origin)
        yield from [made] if made is not None else self._source(value.who, at)

    def _is_of(self, value: Value, spot: Spot) -> bool:
        """Whether it is the very value that is moved at a place, not something that brings it along."""
        node = self._expression(spot.span) if spot.span is not None else None
        moved = (
            node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        )
        known = self._known.get(moved) if moved is not None else None
        return known is not None and known.value.who == value.who

    def _made(self, origin: Origin | None) -> Step | None:
        if origin is None or origin.at < 0 or origin.how in ("loader", "attribute"):
            return None
        spot = self._observer.tracer.spot("made", origin.function, origin.at, UNKNOWN_PLACE)
        return Step("made", spot, "", origin.api) if spot is not None else None

    def _source(self, who: object, at: ast.AST) -> Iterator[Step]:
        """Where an object comes from that nothing is known to have moved or made."""
        objects, tracer = self._observer.settled.objects, self._observer.tracer
        ref = who if type(who) is int else -1
        while ref >= 0:
            way, label = objects.ways[ref], objects.labels[ref]
            if isinstance(way, Element):
                spot = tracer.spot("yielded", way.function, way.at, UNKNOWN_PLACE) if way.at >= 0 else None
                yield Step("yielded", spot, spot.label if spot is not None else label)
                return
            if isinstance(way, Attr) and self._is_self(objects.parents[ref]):
                yield Step("kept", None, label)
                return
            if isinstance(way, Root):
                yield from self._root(ref, way, label, at)
                return
            assert isinstance(way, (Attr, Item, Apart, Or))
            ref = objects.parents[ref]

    def _is_self(self, ref: Ref) -> bool:
        way = self._observer.settled.objects.ways[ref] if ref >= 0 else None
        return isinstance(way, Root) and way.kind == "self"

    def _root(self, ref: Ref, way: Root, label: str, at: ast.AST) -> Iterator[Step]:
        if way.kind == "parameter":
            yield Step("given", None, label)
        elif way.kind == "made":
            made = self._observer.settled.made_by(ref)
            if isinstance(made, ast.expr) and made is not at:
                spot = Spot("made", self._span(made), "")
                yield Step("computed", spot, self._observer.text.quote(made))

    # What it meets

    @cached_property
    def _meetings(self) -> list[RawMeeting]:
        found = [raw for log in self._observer.settled.logs.values() for raw in log.meetings.values()]
        return sorted(found, key=lambda raw: (raw.left.lineno, raw.left.col_offset))

    @cached_property
    def _judged(self) -> dict[Span, str]:
        """What the inference made of a meeting, by where the side that is behind stands."""
        return {
            each.left.span: each.conflict.value
            for each in self.events
            if isinstance(each, Meeting) and each.left.span is not None
        }

    def _meets(self, node: ast.expr, value: Value) -> Iterator[Met]:
        found: dict[tuple[Span, str], Met] = {}
        for raw in self._meetings:
            for at, mine, other_at, other, there in (
                (raw.left, raw.one, raw.right, raw.other, raw.there),
                (raw.right, raw.other, raw.left, raw.one, raw.here),
            ):
                same = type(value.who) is int and mine.who == value.who and mine.origin == value.origin
                if not (at is node or same) or not isinstance(at, ast.expr):
                    continue
                spans = [self._span(each) for each in (at, other_at) if isinstance(each, ast.expr)]
                conflict = next((self._judged[span] for span in spans if span in self._judged), "")
                quoted = self._observer.text.quote(other_at)
                what = _not_where_itself_is(self._what(other, there)[0], quoted)
                found.setdefault((spans[0], quoted), Met(raw.how, spans[0], quoted, what, conflict))
                break
        yield from list(found.values())[:_MOST_MEETINGS]


def _not_where_itself_is(what: str, source: str) -> str:
    """Leave out of what something is that it is where itself is."""
    return what.removesuffix(f" where `{source}` is")


def _holds(span: Span, line: int, column: int) -> bool:
    return span[:2] <= (line, column) < span[2:]


def _size(span: Span) -> tuple[int, int]:
    return span.end_line - span.line, span.end_column - span.column
