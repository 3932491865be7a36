"""What a callee speaks of, in terms of the call at hand: paths of a summary as objects of its caller."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import NamedTuple

from .. import knowledge
from ..core.kinds import MAY_HOLD_TENSORS, TENSORS, Kind
from ..core.objects import OR_ANOTHER
from ..core.paths import REST, RESULT, Attr, Element, Item, Path, Ref, Root, Step, Who
from ..core.places import CPU, UNKNOWN_PLACE, Form, Place
from ..core.summary import FunctionSummary
from ..core.values import (
    ENCODING,
    GRAPH,
    MADE,
    NONE,
    UNKNOWN,
    Const,
    Defined,
    Origin,
    Value,
    container,
    derived,
    element_of,
    is_made,
)
from . import cases
from .machine import Machine
from .told import tells_cpu

_ITSELF = frozenset({Kind.UNKNOWN, Kind.MODULE, Kind.BATCH, Kind.OPTIMIZER})
"""What a function that returns its parameter gives back as the very object; a tensor may be a view."""
KEEP_IDENTITY = frozenset({Kind.MODULE, Kind.OPTIMIZER, Kind.LOADER, Kind.INSTANCE})
"""What a callee returns as the object that it made, and not as one more that stands for the call."""
_AS_IT_IS = frozenset({Kind.FLAG, Kind.FUNCTION, Kind.CLASS, Kind.LIBRARY, Kind.NONE, Kind.DTYPE})
_MAX_ROLE = 64


class Given(NamedTuple):
    """What the caller passes for one parameter."""

    at: ast.expr | None
    value: Value


class Substitution:
    """Turns paths of a summary into objects of the run at hand."""

    def __init__(
        self, machine: Machine, node: ast.AST | None, given: Mapping[str, Given], bound: Value | None
    ) -> None:
        self.machine = machine
        self.node = node
        self.given = given
        self.bound = bound
        self.results: set[Who | None] = set()
        """The objects that stand for what this call returns."""
        self.made: set[Ref] = set()
        """The objects that this call makes."""
        self.rest: Value | None = None
        """What a move is told that the function passes its `*args` and `**kwargs` on to."""
        self.chooses: frozenset[str] = frozenset()
        """The parameters for which the callee chooses the device itself."""
        self.returned: Root | None = None
        """What the callee calls the object that it makes and returns, unless that keeps a name of its own."""
        self.local = True
        """Whether the callee is of this very file, which sees for itself what its callers agree to pass."""
        self.called: ast.expr | None = None
        """What is called, where that is not the callee of `node`."""
        self.moves: frozenset[Path] = frozenset()
        """What the callee moves in place, maybe there and back again."""
        self.answers: dict[Path, Given] = {}
        """What calls of the callee give of which this caller knows what they call, and what was called."""

    def root(self, path: Path) -> Value | None:
        """What the caller has at the root of a path."""
        root = path.root
        if root.kind == "parameter":
            given = self.given.get(root.name)
            return given.value if given is not None else None
        if root.kind == "self":
            if self.bound is not None:
                return self.bound
            return Value(Kind.INSTANCE, who=self.machine.objects.self_of(root.name), known=Defined(root.name))
        if root.kind == "global":
            foreign = self.machine.objects.foreign(root.name)
            label = root.name.rpartition(".")[2] if "<" not in root.name else ""
            return Value(who=self.machine.objects.root("", root, label) if foreign is None else foreign)
        if self.node is None:
            return None
        machine = self.machine
        role = f"{root.at}/{root.name}"[:_MAX_ROLE] if root != self.returned else ""
        ref = machine.objects.made(machine.here.name, machine.here.number(self.node), role)
        self.made.add(ref)
        return Value(who=ref)

    def at(self, path: Path) -> Value | None:
        """What the caller has at a path."""
        known = self.answer(path)
        value = self.root(path) if known is None else self.answers[known].value
        for step in path.steps if known is None else path.steps[len(known.steps) :]:
            if value is None:
                return None
            value = self._step(value, step)
        return value

    def answer(self, path: Path) -> Path | None:
        """What an object is, or is a part of, that a call gives of which this caller knows what it calls."""
        wholes = (path._replace(steps=path.steps[:count]) for count in range(len(path.steps), -1, -1))
        return next((whole for whole in wholes if whole in self.answers), None) if self.answers else None

    def _step(self, value: Value, step: Step) -> Value | None:
        if isinstance(step, Item) and value.items is not None and type(step.key) is int:
            return value.items[step.key] if -len(value.items) <= step.key < len(value.items) else None
        ref = self.machine.ref(value)
        if isinstance(step, (Item, Element)):
            stored = self.machine.state.env.get((ref, step)) if ref is not None else None
            if value.kind is Kind.CONTAINER:
                return stored or part_of(value, step)
            if value.kind in TENSORS:
                return self.machine.sliced(value, -1)
        if (
            (value.kind in TENSORS or value.known == GRAPH)
            and isinstance(step, Attr)
            and not _is_device(step)
        ):
            return self.machine.attribute(value, step.name, self.node or self.machine.here.node)
        if ref is None:
            return None
        if value.kind is Kind.LOADER and value.element is not None and isinstance(step, Element):
            return _yielded(self.machine, ref, value.element, step)
        stored = self.machine.state.env.get((ref, step))
        if stored is not None:
            return stored
        if value.kind is Kind.INSTANCE and isinstance(step, Attr) and value is not self.bound:
            kept = self._attribute(value, step.name)
            if kept is not None:
                return kept
        part = self.machine.objects.part(ref, step)
        if value.kind is Kind.BATCH:
            self.machine.objects.share(part, batch=True)
        kind = Kind.BATCH if value.kind is Kind.BATCH else Kind.UNKNOWN
        place = value.place if value.kind is Kind.BATCH or _has_moved(value) else UNKNOWN_PLACE
        return Value(kind, place._replace(of=part) if place.of == ref else place, part)

    def _attribute(self, value: Value, name: str) -> Value | None:
        """A tensor that an object has, which the caller's object was made with; None for anything else."""
        view = self.machine.program.view(value.known.dotted) if isinstance(value.known, Defined) else None
        term = view.attribute(name) if view is not None and not view.is_module else None
        if term is None or term.kind not in TENSORS:
            return None
        return instance_attribute(self.machine, value, term)

    def ref(self, who: Who | None) -> Ref | None:
        """The object at a path."""
        if not isinstance(who, Path):
            return who
        value = self.at(who)
        return self.machine.ref(value) if value is not None else None

    def refs(self, paths: frozenset[Who]) -> frozenset[Who]:
        """The objects at some paths."""
        found = {self.ref(path) for path in paths}
        return frozenset(ref for ref in found if ref is not None)

    def place(self, place: Place) -> Place:
        """A place of the callee in terms of its caller."""
        of = place.of
        if not isinstance(of, Path):
            return place
        if _is_rest(of) and place.form is Form.SAME:
            return self.machine.denoted(self.rest, UNKNOWN_PLACE)
        if self.answer(of) is not None:
            return self._of_answer(place, of)
        if place.form is Form.SAME and self.bound is not None and tells_cpu(self.machine, self.bound, of):
            return CPU
        if of.root.kind == "global" and not of.steps:
            constructed = self.constructed_with(of)
            if constructed is not None and place.form is Form.SAME:
                return self.machine.denoted(constructed, self.machine.state.default or CPU)
            if constructed is not None:
                moved = constructed.kind is Kind.MODULE and constructed.origin is not None
                return self.machine.place_of(constructed) if moved else constructed.place
        if of.root.kind == "parameter" or (of.root.kind == "self" and not of.steps):
            value = self.root(of)
            if value is None:
                return UNKNOWN_PLACE
            if not of.steps:
                if place.form is Form.SAME:
                    chosen = of.root.kind == "parameter" and of.root.name in self.chooses
                    return self.machine.denoted(value, UNKNOWN_PLACE, chosen=chosen)
                if place.form is Form.CPU:
                    return place._replace(of=self.machine.ref(value))
                return UNKNOWN_PLACE if self._keeps_apart(value) else self.machine.where(value)
            whole = (
                value.kind is Kind.BATCH
                or _has_moved(value)
                or (value.kind is Kind.MODULE and place.form is Form.AT)
            )
            of_tensor = value.kind in TENSORS and len(of.steps) == 1 and _is_device(of.steps[0])
            if whole or of_tensor or is_slice(of, value):
                return self.machine.where(value)
            if value.kind is Kind.LOADER and not self.local:
                part = self.at(of)
                return part.place if part is not None else UNKNOWN_PLACE
            if value.kind not in (Kind.UNKNOWN, Kind.INSTANCE, Kind.MODULE):
                return UNKNOWN_PLACE
        if place.form is Form.SAME and of.steps and _is_device(of.steps[-1]):
            owner = self.root(of)
            if owner is not None and (owner.kind is Kind.MODULE or _is_placed(owner) or owner.place == CPU):
                return self.machine.where(owner)  # of the device of its weights, where it is known
        part = self.at(of)
        if part is not None and place.form is Form.SAME and part.kind in (Kind.DEVICE, Kind.STRING):
            return self.machine.denoted(part, UNKNOWN_PLACE)
        if part is not None and place.form is Form.AT and _is_placed(part):
            return part.place
        if part is not None and place.form is Form.AT and self._is_of_loader(of):
            return part.place
        ref = self.machine.ref(part) if part is not None else None
        return place._replace(of=ref) if ref is not None else UNKNOWN_PLACE

    def _of_answer(self, place: Place, of: Path) -> Place:
        """A place that speaks of what a call of the callee gives."""
        beside = place.form is Form.SAME and bool(of.steps) and _is_device(of.steps[-1])
        value = self.at(of._replace(steps=of.steps[:-1]) if beside else of)
        if value is None:
            return UNKNOWN_PLACE
        if place.form is Form.SAME and not beside:
            return self.machine.denoted(value, UNKNOWN_PLACE)
        return self.machine.where(value)

    def _keeps_apart(self, value: Value) -> bool:
        """Whether it is an object that has modules and is none: nothing moved it; these may have moved."""
        known = value.known if value is self.bound and value.kind is Kind.INSTANCE else None
        view = self.machine.program.view(known.dotted) if isinstance(known, Defined) else None
        if view is None or view.is_module:
            return False
        ref, origin = self.machine.ref(value), value.origin
        made = origin is not None and origin.how == "made"
        return made and ref is not None and self.machine.place_at(ref) is None

    def _is_of_loader(self, of: Path) -> bool:
        """Whether a loader yields it that this caller gave the object, whose class another file defines."""
        if self.local or of.root.kind != "self" or len(of.steps) < 2 or not isinstance(of.steps[1], Element):
            return False
        loader = self.at(of._replace(steps=of.steps[:1]))
        return loader is not None and loader.kind is Kind.LOADER

    def constructed_with(self, of: Who | None) -> Value | None:
        """What the constructor of the object at hand was given, where that was then; None if unknown."""
        if self.bound is None or not isinstance(of, Path) or of.root.kind != "global" or of.steps:
            return None
        local = self.machine.program.function(of.root.name.partition("<")[0]) is not None
        ref, name = self.machine.ref(self.bound), of.root.name.removesuffix(OR_ANOTHER)
        found = self.machine.state.env.get((ref, Attr(name))) if ref is not None else None
        # Where nothing is given for what gives way to another then, it is that.
        replaced = found is not None and found.kind is Kind.NONE and name != of.root.name
        told_cpu = self.bound.kind is Kind.MODULE and found is not None and found.place == CPU
        if local and not told_cpu:
            return None  # of this very file, which sees for itself what all callers agree to give
        return None if replaced else found

    def within(self, path: Who | None) -> Value | None:
        """What an argument is, or holds, at a path that leads through containers alone."""
        if not isinstance(path, Path) or path.root.kind != "parameter":
            return None
        given = self.given.get(path.root.name)
        value = given.value if given is not None else None
        for step in path.steps:
            if value is None or value.kind is not Kind.CONTAINER or not isinstance(step, (Item, Element)):
                return None
            value = part_of(value, step)
        return value

    def casts(self, place: Place) -> bool:
        """Whether a move to a place is told a dtype by this call, or nothing."""
        rest = isinstance(place.of, Path) and _is_rest(place.of)
        return rest and (self.rest is None or self.rest.kind is Kind.DTYPE)

    def value(self, term: Value) -> Value:
        """A value of the callee in terms of its caller."""
        machine = self.machine
        who = term.who
        itself = term.kind in _ITSELF or (term.kind is Kind.INSTANCE and self.bound is not None)
        if itself and isinstance(who, Path) and not who.steps and who.root.kind in ("parameter", "self"):
            given = self.root(who)
            if given is not None:
                moved = term.origin is not None and term.origin.how == "moved"
                if term.place.form is not Form.UNKNOWN or moved:
                    given = given._replace(place=self.place(term.place), origin=term.origin)
                    if given.known == ENCODING and (held := given.element) is not None:
                        given = given._replace(element=held._replace(place=given.place, origin=term.origin))
                return given
        if term.kind is Kind.UNKNOWN and term.place.form is Form.UNKNOWN and term.origin is None:
            part = self.within(who) if isinstance(who, Path) and who.steps else None
            if part is not None and part.kind in TENSORS:
                return part
            attribute = self.at(who) if isinstance(who, Path) and _is_attribute(who) else None
            if attribute is not None:
                return attribute
            given = (self._given_by(who) or self._yielded_by(who)) if isinstance(who, Path) else None
            if given is not None:
                return given
        if term.kind in _AS_IT_IS and term.items is None:
            return term._replace(who=None)
        items = tuple(map(self.value, term.items)) if term.items is not None else None
        element = self.value(term.element) if term.element is not None else None
        if term.kind is Kind.LOADER and element is not None and machine.state.default not in (None, CPU):
            element = element._replace(place=UNKNOWN_PLACE)  # what it yields may be made there, too
        place = self.place(term.place)
        if term.origin is not None and term.origin.how in MADE and term.place.form is not place.form:
            term = term._replace(origin=None)  # `torch.zeros(n, device=x.device)`: it was told where
        elif machine.state.default is not None and is_made(term) and place.form is Form.CPU:
            place, term = UNKNOWN_PLACE, term._replace(origin=None)  # it is made on the default device, too
        if term.kind is Kind.TENSOR and place == CPU and self.constructed_with(term.place.of) is not None:
            term = term._replace(origin=told_cpu(term.place.of))
        ref: Ref | None
        if term.kind in KEEP_IDENTITY or self.node is None:
            ref = self.ref(who)
        else:
            ref = machine.objects.made(machine.here.name, machine.here.number(self.node))
            self.results.add(ref)
        kind, origin, measures = term.kind, term.origin, self.ref(term.measures)
        source = self._source(term)
        if source is not None:
            kind = Kind.TENSOR
            if origin is None and source.origin is not None and is_made(source) and place == source.place:
                # What was computed of it may have a dimension less.
                likened = term.measures == term.place.of
                dims = source.origin.dims if likened else max(source.origin.dims - 1, 0)
                origin = derived(source.origin, dims)
                measures = self.machine.ref(Value(who=source.measures)) if measures is None else measures
        if kind is Kind.CONTAINER:
            whole = container(ref, items, element, self.refs(term.holds))
            return whole._replace(place=place, origin=term.origin, known=term.known)
        found = Value(
            kind,
            place,
            ref,
            term.known,
            items,
            element,
            origin,
            self.refs(term.holds),
            measures,
        )
        self.derive(found, term.place)
        return found

    def _given_by(self, path: Path) -> Value | None:
        """What a module gives that the caller passes, and the callee only calls; None for anything else."""
        if path.steps[-1:] != (RESULT,) or self.node is None:
            return None
        called, machine = self.at(path._replace(steps=path.steps[:-1])), self.machine
        if called is None or called.kind is not Kind.MODULE:
            return None
        ref = machine.objects.made(machine.here.name, machine.here.number(self.node))
        self.results.add(ref)
        return Value(Kind.BATCH, machine.place_of(called), ref)

    def _yielded_by(self, path: Path) -> Value | None:
        """What a loader yields that the caller passes, if the callee goes through it; else None."""
        if self.node is None or len(path.steps) != 1 or not isinstance(path.steps[0], Element):
            return None
        loader = self.at(path._replace(steps=()))
        return (
            self.machine.element(loader, self.node)
            if loader is not None and loader.kind is Kind.LOADER
            else None
        )

    def _source(self, term: Value) -> Value | None:
        """The tensor that is given, where a value of the callee is computed from it, or is a part of it."""
        of = term.place.of
        if term.kind not in (Kind.UNKNOWN, Kind.TENSOR) or not isinstance(of, Path):
            return None
        source = self.root(of) if term.place.form is Form.AT else None
        if source is None or source.kind not in TENSORS or not is_slice(of, source):
            return None
        return source

    def derive(self, value: Value, place: Place) -> None:
        """Record that a value of the callee lies with what the caller passes, as `place` says of it."""
        given = self.root(place.of) if isinstance(place.of, Path) and place.form is Form.AT else None
        if given is not None and given.who != value.who and value.kind in MAY_HOLD_TENSORS:
            self.machine.derive(value, (given,))

    def argument(self, place: Place) -> ast.expr | None:
        """The argument that a place of the callee speaks of."""
        of = place.of
        if not isinstance(of, Path):
            return None
        known = self.answer(of)
        if known is None and of.root.kind != "parameter":
            return None
        given = self.given.get(of.root.name) if known is None else self.answers[known]
        return given.at if given is not None else None


def defaults(summary: FunctionSummary) -> dict[str, Given]:
    """What parameters have that a call passes nothing for, if that is None or names the cpu."""
    found = {}
    for each in summary.parameters:
        if each.on_cpu:
            found[each.name] = Given(None, Value(Kind.STRING, CPU, known=Const(CPU.name)))
        elif each.means == cases.NONE:
            found[each.name] = Given(None, NONE)
    return found


def told_cpu(of: Who | None) -> Origin:
    """How a tensor came to be that a constructor was told to put on the cpu, or was told nothing."""
    assert isinstance(of, Path)
    return Origin("made", of.root.name.partition("<")[0], -1, dims=1)


def _is_placed(value: Value) -> bool:
    """Whether it is a tensor of which it is known where it is."""
    return value.kind in TENSORS and value.place.form is not Form.UNKNOWN


def _has_moved(value: Value) -> bool:
    """Whether an object that nobody knows was moved as a whole, and so were its parts."""
    return value.kind is Kind.UNKNOWN and value.origin is not None and value.origin.how == "moved"


def _is_attribute(path: Path) -> bool:
    """Whether what is returned is an attribute of what is given, as it is."""
    is_attribute = [isinstance(step, Attr) for step in path.steps]
    return path.root.kind == "parameter" and bool(is_attribute) and all(is_attribute)


def _is_rest(path: Path) -> bool:
    """Whether a path begins at `*args` or `**kwargs`."""
    return path.root.kind == "parameter" and path.root.name.startswith(REST)


def _is_device(step: Step) -> bool:
    return isinstance(step, Attr) and knowledge.PLACEMENT_ATTRIBUTES.get(step.name) == "device"


def _yielded(machine: Machine, loader: Ref, element: Value, step: Element) -> Value:
    """What a loader yields to a callee that loops over it."""
    if element.kind is not Kind.BATCH:
        return element
    part = machine.objects.part(loader, step)
    of = part if element.place.of is not None else None
    return element._replace(place=element.place._replace(of=of), who=part)


def part_of(whole: Value, step: Item | Element) -> Value | None:
    """What a container holds at a step; None for an empty one."""
    number, items = step.key if isinstance(step, Item) else None, whole.items
    known = type(number) is int and items is not None and number < len(items)
    return items[number] if known and items and type(number) is int else element_of(whole)


def is_slice(path: Path, value: Value) -> bool:
    """Whether a path leads to a part of a tensor, which is where that is."""
    return value.kind in TENSORS and all(isinstance(step, (Item, Element)) for step in path.steps)


def instance_attribute(machine: Machine, base: Value, term: Value) -> Value:
    """What an attribute of an object is, by what its class says of `self`."""
    return Substitution(machine, None, {}, base).value(term)


def unknown_attribute(machine: Machine, base: Value, name: str) -> Value:
    """An attribute of which nothing is known."""
    ref = machine.ref(base)
    return Value(who=machine.objects.part(ref, Attr(name))) if ref is not None else UNKNOWN
