"""From a finished run to a summary: what a function does, in terms of what its caller passes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Literal

from ..core.evidence import IS_TENSOR, NO_NUMBER, PASSED_ON, Evidence
from ..core.kinds import MAY_HOLD_TENSORS, TENSORS, Kind
from ..core.objects import Objects
from ..core.paths import MAX_STEPS, Attr, Element, Item, Path, Ref, Root, Step, Who
from ..core.places import ON_DEVICE, UNKNOWN_PLACE, Form, Place
from ..core.state import OPTIMIZER, Mark, State
from ..core.summary import Ask, Copied, Effect, Marked, Moved, Need, Term
from ..core.values import Value, is_any_model, is_made
from .log import Log, RawMeeting

_MAX_NEEDS = 64
_MAX_DEPTH = 8
"""Values nested deeper are not told to callers."""

_NESTED = 5
"""What is asked is told what it is given on so many levels less."""
_MAX_ASKS = 6

_OUTSIDE = "<outside>"
"""What no function is called."""


class Extraction:
    """Turns the objects of a run into paths."""

    def __init__(self, objects: Objects, function: str, lasting: bool = False) -> None:
        self.objects = objects
        self.function = function
        self.lasting = lasting
        """Whether it is of what a constructor leaves behind: devices that nobody keeps have a name."""
        self.renamed: dict[Ref, Path] = {}
        """The objects that the function made and left in an attribute of `self`."""
        self.answered: set[Path] = set()
        """What calls give of which callers know what they call."""

    def path(self, ref: Ref) -> Path | None:
        """The name of an object outside of the function."""
        steps: list[Step] = []
        at = ref
        while at >= 0:
            found = self.renamed.get(at)
            if found is not None:
                whole = (*found.steps, *reversed(steps))
                return Path(found.root, whole) if len(whole) <= MAX_STEPS else None
            way = self.objects.ways[at]
            if not isinstance(way, (Attr, Item, Element)):
                break
            steps.append(way)
            at = self.objects.parents[at]
        return self.objects.path(ref, self.function)

    def who(self, who: Who | None) -> Path | None:
        """The name of an object, if it has one."""
        return self.path(who) if type(who) is int else None

    def whose(self, refs: frozenset[Who]) -> frozenset[Who]:
        """The names of some objects."""
        paths = {self.who(ref) for ref in refs}
        return frozenset(path for path in paths if path is not None)

    def place(self, place: Place) -> Place:
        """A place in terms of the caller."""
        if place.of is None:
            return place._replace(when=frozenset()) if place.when and place.form is not Form.KEPT else place
        path = self.who(place.of)
        if path is None:
            return Place(place.form, place.name) if place.form is Form.CPU else UNKNOWN_PLACE
        told = path.root.kind in ("parameter", "made") and place.form is Form.SAME
        beside = path.root.kind == "parameter" and place.form is Form.AT and not path.steps
        if self.lasting and (told or beside):
            abroad = self.objects.path(place.of, _OUTSIDE) if type(place.of) is int else None
            path = abroad or path
        if place.form is Form.SAME and type(place.of) is int and not path.steps:
            path = self.objects.or_another(path, place.of)  # `device or best()`
        return Place(place.form, place.name, path)

    def term(self, value: Value, depth: int = 0) -> Term:
        """A value in terms of the caller."""
        if depth >= _MAX_DEPTH:
            return Value()
        items = value.items
        return Value(
            value.kind,
            self.place(value.place),
            self.who(value.who),
            value.known,
            tuple(self.term(item, depth + 1) for item in items) if items is not None else None,
            self.term(value.element, depth + 1) if value.element is not None else None,
            value.origin,
            self.whose(value.holds),
            self.who(value.measures),
        )

    def rename(self, value: Value, path: Path, depth: int = 0) -> None:
        """What the function made, or was given, and keeps in an attribute is known by that from now on."""
        ref = value.who
        loads = value.kind in (Kind.LOADER, Kind.BATCH)
        if type(ref) is int and (self._of_function(ref) or (loads and self._is_either(ref))):
            self.renamed.setdefault(ref, path)
        named = value.place.of if value.kind in (Kind.DEVICE, Kind.STRING) else None
        if type(named) is int and self._of_function(named):
            self.renamed.setdefault(named, path)  # `self.device = torch.device(device)`
        elif loads and type(value.place.of) is int and value.place.of != ref and self._is_either(ref):
            self.renamed.setdefault(value.place.of, path)  # what either of two loaders yields
        if depth < MAX_STEPS:
            for index, item in enumerate(value.items or ()):
                self.rename(item, Path(path.root, (*path.steps, Item(index))), depth + 1)
            if value.element is not None:
                self.rename(value.element, Path(path.root, (*path.steps, Element())), depth + 1)

    def rename_put(self, value: Value, path: Path) -> None:
        """What is put into a container that an attribute is goes by that; so does what lies where it is."""
        self.rename(value, path)
        leaves = value.items or ((value.element,) if value.element is not None else (value,))
        for index, leaf in enumerate(leaves):
            of = leaf.place.of if leaf.place.form is Form.AT else None
            if type(of) is int and self._of_function(of):
                step = () if leaf is value else (Item(index) if value.items else Element(),)
                self.renamed.setdefault(of, Path(path.root, (*path.steps, *step)))

    def _is_either(self, ref: Who | None) -> bool:
        """Whether an object is one of several, such as what a mapping has by any key, all made here."""
        sources = self.objects.sources.get(ref, ()) if type(ref) is int else ()
        return bool(sources) and all(self._of_function(self.objects.top(each)) for each in sources)

    def _of_function(self, ref: Ref) -> bool:
        """Whether the function made the object, or was given it."""
        way = self.objects.ways[ref]
        own = isinstance(way, Root) and way.kind in ("made", "parameter")
        return own and self.objects.functions[ref] == self.function

    # Effects

    def moved(self, before: Mapping[Ref, Place], end: State, log: Log) -> list[Effect]:
        """What the function moved in place, in the order in which it was first known."""
        replaced = {each.ref for stale in log.stale.values() for each in stale if each.method == "to_empty"}
        found: list[Effect] = []
        for ref, place in end.places.items():
            if before.get(ref) != place:
                path = self.path(ref)
                if path is not None:
                    found.append(Moved(path, self.place(place), ref in replaced))
        return found

    def copied(self, log: Log) -> list[Effect]:
        """The parameters of which a moved copy was kept."""
        found: dict[Ref, Effect] = {}
        for ref, place in log.kept:
            if self.objects.is_parameter(ref) and place.form not in (Form.CPU, Form.UNKNOWN):
                path = self.path(ref)
                if path is not None:
                    found[ref] = Copied(path, self.place(place))
        return list(found.values())

    def marked(self, before: Mapping[tuple[str, Ref], Mark], end: State) -> list[Effect]:
        """How far objects came in their protocols."""
        found: list[Effect] = []
        for (protocol, ref), mark in end.marks.items():
            if before.get((protocol, ref)) == mark:
                continue
            path = self.path(ref)
            holds = self.whose(frozenset(mark.holds))
            if path is not None:
                held = frozenset(each for each in holds if isinstance(each, Path))
                found.append(Marked(path, protocol, mark.phase, held, mark.name, mark.at, mark.stateless))
        return found

    def advanced(self, log: Log) -> list[Effect]:
        """What came to a phase of an optimizer, whatever it is, and wherever it was before."""
        found: list[Effect] = []
        for ref, phase in log.advanced.items():
            path = self.path(ref)
            if path is not None:
                found.append(Marked(path, OPTIMIZER, phase, frozenset(), "", (self.function, 0), False))
        return found

    # What callers must know

    def needs(self, log: Log, number: Callable[[ast.AST], int]) -> tuple[Need, ...]:
        """Meetings in which something of the caller's takes part; `number` is that of a node."""
        moved = moved_wholes(self.objects, log)
        lost = {raw.receiver.who for raw in log.moves.values() if raw.fate != "kept" and not raw.in_place}
        found: dict[Need, tuple[str, int]] = {}
        for raw in log.meetings.values():
            if not (self._of_caller(raw.here) or self._of_caller(raw.there)):
                continue
            if lost and not lost.isdisjoint((raw.one.who, raw.other.who, raw.here.of, raw.there.of)):
                continue  # that its move is lost is told in the function
            if self._told_inside(raw.here, moved, log) or self._told_inside(raw.there, moved, log):
                continue
            if _is_of_loader(raw.here, raw.there) or _is_of_loader(raw.there, raw.here):
                continue
            made = None
            for one, other in ((raw.one, raw.other), (raw.other, raw.one)):
                if is_made(one) and (raw.how == "index" or _is_no_number(other, log)):
                    made = one.origin
            need = Need(
                self.place(raw.here),
                self.place(raw.there),
                self.who(raw.one.who),
                self.who(raw.other.who),
                made,
                "left" if is_any_model(raw.one) else "right" if is_any_model(raw.other) else "",
                made is not None and raw.how == "index",
                made is None and raw.how == "index",
                (_is_tensor(raw.one, raw.here, log), _is_tensor(raw.other, raw.there, log)),
                runs=_runs(raw),
            )
            found.setdefault(need, raw.within or (self.function, number(raw.left)))
            if len(found) >= _MAX_NEEDS:
                break
        return tuple(need._replace(at=at) for need, at in found.items())

    def _of_caller(self, place: Place) -> bool:
        if type(place.of) is not int:
            return False
        path = self.path(place.of)
        return path is not None and (path.root.kind in ("parameter", "self") or self._is_answer(path))

    def _is_answer(self, path: Path) -> bool:
        """Whether callers know an object as what they answer."""
        return Path(path.root) in self.answered

    def _told_inside(self, place: Place, moved: dict[Ref, set[Ref]], log: Log) -> bool:
        """Whether a function moves one part of a parameter and not this: that shows without any caller."""
        ref = place.of
        if type(ref) is not int:
            return False
        whole = self.objects.wholes[ref]
        parts = moved.get(whole) if whole >= 0 else None
        if parts is None or ref in parts:
            return False
        return self.objects.is_structural(ref) or bool(log.notes.get(ref, 0) & IS_TENSOR)

    def asks(self, log: Log) -> tuple[Ask, ...]:
        """Calls of which callers know what they call."""
        found: list[Ask] = []
        moved = moved_wholes(self.objects, log)
        used = {value.who for raw in log.asks.values() for value in raw.positional}
        for raw in log.asks.values():
            given = (*raw.positional, *(value for _, value in raw.keywords))
            if any(self._told_inside(Place(Form.AT, "", each.who), moved, log) for each in given):
                continue
            of, result = self.path(raw.of), self.path(raw.result)
            way = self.objects.ways[raw.result]
            if of is None or result is None:
                continue
            if of.root.kind not in ("parameter", "self") and not self._is_answer(of):
                continue
            at = raw.within or (self.function, way.at if isinstance(way, Root) else -1)
            if not (given or log.meetings or raw.result in used):
                continue
            part = of.root.kind == "self" or bool(of.steps)
            placed = bool(raw.placed or log.meetings) or any(map(_is_placed, given))
            if part and not placed and (of.steps or not any(map(self._is_drawn, given))):
                continue  # nothing says that the function is about tensors
            positional = tuple(self._given(value) for value in raw.positional)
            keywords = tuple((name, self._given(value)) for name, value in raw.keywords)
            found.append(Ask(of, raw.method, positional, keywords, result, at))
            self.answered.add(result)
            if len(found) >= _MAX_ASKS:
                break
        return tuple(found)

    def _is_drawn(self, value: Value) -> bool:
        """Whether a loop gives it of what a caller gave: a batch, which a method of a subclass is to take."""
        path = self.path(value.who) if type(value.who) is int else None
        return (
            path is not None
            and path.root.kind == "parameter"
            and any(isinstance(step, Element) for step in path.steps)
        )

    def _given(self, value: Value) -> Term:
        """What is given where only a caller knows to whom."""
        term = self.term(value, _NESTED)
        if term.kind not in MAY_HOLD_TENSORS and term.kind is not Kind.CONTAINER:
            term = term._replace(origin=None)
        return term._replace(measures=None, holds=frozenset())

    def evidence(
        self, log: Log, returned: Who | None = None, exact: Set[Path] = frozenset()
    ) -> tuple[tuple[Path, int], ...]:
        """What the use of parameters and of their parts shows, and of what is returned.

        Of what has parts assigned nobody knows where they are by now, if it is not one of `exact`.
        """
        found: dict[Path, int] = {}
        for ref, bits in log.notes.items():
            if bits & PASSED_ON:
                path = self.path(ref)
                if path is None:
                    continue
                if path.root.kind == "self" and not path.steps and bits & Evidence.FILLED:
                    found[path] = int(Evidence.FILLED | Evidence.PLACED)
                if path.root.kind == "parameter" or path == returned:
                    found[path] = found.get(path, 0) | int(bits & PASSED_ON)
                    if bits & Evidence.FILLED and (path not in exact or bits & Evidence.PLACED):
                        whole = sure(path)  # whichever element it was, callers loop anew
                        found[whole] = found.get(whole, 0) | int(Evidence.FILLED | Evidence.PLACED)
        return tuple(sorted(found.items(), key=repr)) if found else ()


def sure(path: Path) -> Path:
    """As much of a path as leads callers to the same object, and not to whichever a loop is at."""
    for index, step in enumerate(path.steps):
        if isinstance(step, Element) or (isinstance(step, Item) and step.variable):
            return path._replace(steps=path.steps[:index])
    return path


def outlasting(effects: Iterable[Effect], kept: Iterable[Term]) -> list[Effect]:
    """Leave out what happened to objects that the function made and `kept` no way to.

    Each call would make objects of its own of them, and so would the calls of the caller.
    """
    effects = list(effects)
    roots = {path.root for term in kept for path in paths_in(term)}
    known = -1
    while known != len(roots):
        known = len(roots)
        for effect in effects:
            if isinstance(effect, Marked) and _outlasts(effect.path, roots):
                roots |= {path.root for path in effect.holds}
    return [effect for effect in effects if _outlasts(effect.path, roots)]


def _outlasts(path: Path, roots: Set[Root]) -> bool:
    return path.root.kind != "made" or path.root in roots


def paths_in(term: Term) -> Iterator[Path]:
    """The names of all objects that a value speaks of."""
    for who in (term.who, term.place.of, term.measures, *term.holds):
        if isinstance(who, Path):
            yield who
    for item in term.items or ():
        yield from paths_in(item)
    if term.element is not None:
        yield from paths_in(term.element)


def _is_no_number(value: Value, log: Log) -> bool:
    """Whether a function's own use of a value shows that it has a device."""
    if value.kind is not Kind.UNKNOWN:
        return True
    return type(value.who) is int and bool(log.notes.get(value.who, 0) & NO_NUMBER)


def moved_wholes(objects: Objects, log: Log) -> dict[Ref, set[Ref]]:
    """The elements that were moved to a device, by the whole that they came with."""
    found: dict[Ref, set[Ref]] = {}
    for ref, place in log.kept:
        if place.form not in (Form.CPU, Form.UNKNOWN):
            whole = objects.wholes[ref]
            found.setdefault(whole if whole >= 0 else ref, set()).add(ref)
    return found


def _is_placed(value: Value) -> bool:
    """Whether a value is a tensor, or somewhere."""
    return value.kind in TENSORS or value.kind is Kind.BATCH or value.place.form is not Form.UNKNOWN


def _is_of_loader(here: Place, there: Place) -> bool:
    """Whether a batch of what the function knows to be a loader meets what it knows to be elsewhere."""
    return here.form is Form.CPU and here.of is not None and there.form in ON_DEVICE


def _runs(raw: RawMeeting) -> Literal["", "left", "right"]:
    """The side of a meeting that is a module, which takes nothing that is 0-dim."""
    if raw.how != "call" or raw.one.kind is raw.other.kind:
        return ""
    return "left" if raw.one.kind is Kind.MODULE else "right" if raw.other.kind is Kind.MODULE else ""


def _is_tensor(value: Value, place: Place, log: Log) -> bool:
    """Whether a value is a tensor, and does not lie with something else that may be none."""
    if value.kind not in TENSORS:
        return False
    itself = place.form is not Form.AT or place.of == value.who
    return itself or (type(place.of) is int and bool(log.notes.get(place.of, 0) & Evidence.TENSOR))
