"""Calls of functions of the project: a summary, in terms of what the caller passes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .. import knowledge
from ..bind.names import is_place
from ..core.events import Why
from ..core.evidence import PASSED_ON, Evidence
from ..core.kinds import MAY_BE_COPIED, MAY_HOLD_TENSORS, TENSORS, Kind
from ..core.objects import OR_ANOTHER, foreign_name
from ..core.paths import REST, RESULT, Attr, Element, Item, Path, Ref, Root, Step, Who
from ..core.places import CPU, ON_DEVICE, UNKNOWN_PLACE, Form, Place
from ..core.state import Mark
from ..core.summary import Ask, Bound, Copied, Effect, FunctionSummary, Marked, Moved, Need
from ..core.values import (
    MADE,
    MAPPING,
    NONE,
    UNKNOWN,
    Api,
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
from .log import RawAsk, RawMove
from .log import Site as CallSite
from .machine import Arguments, Machine

_ITSELF = frozenset({Kind.UNKNOWN, Kind.MODULE, Kind.BATCH, Kind.OPTIMIZER})
"""What a function that returns its parameter gives back as the very object; a tensor may be a view."""
_KEEP_IDENTITY = frozenset({Kind.MODULE, Kind.OPTIMIZER, Kind.LOADER, Kind.INSTANCE})
_KEPT = frozenset({Kind.INSTANCE, Kind.MODULE, Kind.TENSOR})
"""What an object is known to have that it was made with, if none of its methods puts another in its place."""
_AS_IT_IS = frozenset({Kind.FLAG, Kind.FUNCTION, Kind.CLASS, Kind.LIBRARY, Kind.NONE, Kind.DTYPE})
_CHOSEN = frozenset({Kind.DEVICE, Kind.STRING, Kind.NUMBER})
"""What names a device, and is no object of its own."""
_REFORMED = frozenset({Kind.UNKNOWN, Kind.BATCH, Kind.CONTAINER})
"""What may be what the function was given, in another form."""
_MAX_ROLE = 64
_CONSTRUCTOR = ".__init__"
_MAX_GIVEN = 8
_MAX_ASKING = 3
"""Of what is asked, so many levels are answered at one call."""


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
        if value.kind in TENSORS and isinstance(step, Attr) and not _is_device(step):
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
        place = value.place if value.kind is Kind.BATCH else UNKNOWN_PLACE
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
                return self.machine.where(value)
            whole = value.kind is Kind.BATCH or (value.kind is Kind.MODULE and place.form is Form.AT)
            of_tensor = value.kind in TENSORS and len(of.steps) == 1 and _is_device(of.steps[0])
            if whole or of_tensor or _is_slice(of, value):
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

    def constructed_with(self, of: Who | None) -> Value | None:
        """What the constructor of the object at hand was given, where that was then; None if unknown."""
        if self.bound is None or not isinstance(of, Path) or of.root.kind != "global" or of.steps:
            return None
        if self.machine.program.function(of.root.name.partition("<")[0]) is not None:
            return None  # of this very file, which sees for itself what all callers agree to give
        ref, name = self.machine.ref(self.bound), of.root.name.removesuffix(OR_ANOTHER)
        found = self.machine.state.env.get((ref, Attr(name))) if ref is not None else None
        # Where nothing is given for what gives way to another then, it is that.
        replaced = found is not None and found.kind is Kind.NONE and name != of.root.name
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
                return given
        if term.kind is Kind.UNKNOWN and term.place.form is Form.UNKNOWN and term.origin is None:
            part = self.within(who) if isinstance(who, Path) and who.steps else None
            if part is not None and part.kind in TENSORS:
                return part
            given = self._given_by(who) if isinstance(who, Path) else None
            if given is not None:
                return given
        if term.kind in _AS_IT_IS and term.items is None:
            return term._replace(who=None)
        items = tuple(map(self.value, term.items)) if term.items is not None else None
        element = self.value(term.element) if term.element is not None else None
        place = self.place(term.place)
        if term.origin is not None and term.origin.how in MADE and term.place.form is not place.form:
            term = term._replace(origin=None)  # `torch.zeros(n, device=x.device)`: it was told where
        elif machine.state.default is not None and is_made(term) and place.form is Form.CPU:
            place, term = UNKNOWN_PLACE, term._replace(origin=None)  # it is made on the default device, too
        if term.kind is Kind.TENSOR and place == CPU and self.constructed_with(term.place.of) is not None:
            term = term._replace(origin=_told_cpu(term.place.of))
        ref: Ref | None
        if term.kind in _KEEP_IDENTITY or self.node is None:
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

    def _source(self, term: Value) -> Value | None:
        """The tensor that is given, where a value of the callee is computed from it, or is a part of it."""
        of = term.place.of
        if term.kind not in (Kind.UNKNOWN, Kind.TENSOR) or not isinstance(of, Path):
            return None
        source = self.root(of) if term.place.form is Form.AT else None
        if source is None or source.kind not in TENSORS or not _is_slice(of, source):
            return None
        return source

    def derive(self, value: Value, place: Place) -> None:
        """Record that a value of the callee lies with what the caller passes, as `place` says of it."""
        given = self.root(place.of) if isinstance(place.of, Path) and place.form is Form.AT else None
        if given is not None and given.who != value.who and value.kind in MAY_HOLD_TENSORS:
            self.machine.derive(value, (given,))


def function_call(
    machine: Machine, node: ast.Call, name: str, bound: Value | None, args: Arguments
) -> Value | None:
    """Call a function of the project by its summary; None where nothing is known of it."""
    function = machine.program.function(name)
    summary = machine.program.summary(name)
    if summary is None:
        return None
    given = bind_arguments(machine, summary, bound, args)
    if summary.cases:
        passed = {key: each.value for key, each in given.items()}
        summary = cases.fitting(machine, summary, passed, args.starred or bool(args.unpacked))
    sites = machine.log.abroad if function is None else machine.log.sites
    sites.append(_site(machine, node, name, given, args))
    if not (args.starred or args.unpacked):
        given = {**_defaults(summary), **given}
    if bound is not None and bound.kind is Kind.INSTANCE and name.endswith(_CONSTRUCTOR):
        _remember(machine, node, summary.name, given, bound)
    if bound is not None and bound.kind is Kind.INSTANCE and _is_replaced(summary):
        result = machine.unknown(node)
        record_ask(machine, bound, summary.name.rpartition(".")[2], args, result)
        return result
    if machine.fates.get(node, ("kept", False))[0] == "discarded":
        _discard(machine, node, summary, given)
    result = apply(machine, node, summary, given, bound, _rest(summary, bound, args))
    if result.kind in _REFORMED and type(result.who) is int:
        machine.log.remade(result.who, [each.value for each in given.values()])
    return result


def _defaults(summary: FunctionSummary) -> dict[str, Given]:
    """What parameters have that a call passes nothing for, if that is None or names the cpu."""
    found = {}
    for each in summary.parameters:
        if each.on_cpu:
            found[each.name] = Given(None, Value(Kind.STRING, CPU, known=Const(CPU.name)))
        elif each.means == cases.NONE:
            found[each.name] = Given(None, NONE)
    return found


def _remember(
    machine: Machine, node: ast.Call, constructor: str, given: Mapping[str, Given], made: Value
) -> None:
    """An object keeps what its constructor put where that was told, or where something else was then."""
    view = machine.program.view(made.known.dotted) if isinstance(made.known, Defined) else None
    ref = machine.ref(made)
    if view is None or ref is None:
        return
    kept = view.nearest()
    asked = {path.root.name.removesuffix(OR_ANOTHER) for term in kept.values() for path in _places_in(term)}
    copies = {
        term.place.of.root.name.removesuffix(OR_ANOTHER): Attr(name)
        for name, term in kept.items()
        if term.kind is Kind.UNKNOWN and term.place.form is Form.AT and isinstance(term.place.of, Path)
    }
    for name, each in given.items() if asked else ():
        key = foreign_name(constructor, Root("parameter", name))
        if key in asked:
            value = each.value
            place = (
                machine.where(value) if value.kind in (Kind.MODULE, Kind.UNKNOWN, *TENSORS) else value.place
            )
            then = value._replace(place=place, origin=None)
            if key in copies and value.kind is Kind.MODULE:
                part, at = machine.objects.part(ref, copies[key]), machine.here.number(node)
                then = then._replace(who=part, origin=Origin("made", machine.here.name, at))
                machine.state.env[ref, copies[key]] = then._replace(place=UNKNOWN_PLACE)
            machine.state.env[ref, Attr(key)] = then


def _places_in(term: Value, depth: int = 4) -> Iterator[Path]:
    """What the places of a value, and of what it holds, speak of."""
    if isinstance(term.place.of, Path):
        yield term.place.of
    for part in (
        (*(term.items or ()), *((term.element,) if term.element is not None else ())) if depth else ()
    ):
        yield from _places_in(part, depth - 1)


def _told_cpu(of: Who | None) -> Origin:
    """How a tensor came to be that a constructor was told to put on the cpu, or was told nothing."""
    assert isinstance(of, Path)
    return Origin("made", of.root.name.partition("<")[0], -1, dims=1)


def _discard(machine: Machine, node: ast.Call, summary: FunctionSummary, given: Mapping[str, Given]) -> None:
    """Nobody has what a function returns that does nothing but to return what it is given, moved."""
    found = _moved_copy(summary)
    moved = given.get(found[0]) if found is not None else None
    if found is None or moved is None or moved.at is None or not is_place(moved.at):
        return
    value = moved.value
    if value.kind is Kind.CONTAINER:
        held = element_of(value)
        if held is None or held.kind not in TENSORS:
            return
        value = held._replace(who=value.who)
    elif value.kind is Kind.BATCH:
        value = value._replace(kind=Kind.TENSOR)
    elif value.kind not in TENSORS:
        return
    target = Substitution(machine, node, given, None).place(found[1])
    fate, alone = machine.fates[node]
    here, method, why = machine.where(value), summary.name.rpartition(".")[2], machine.state.why
    machine.log.moves[node] = RawMove(
        method,
        value,
        here,
        target,
        "device",
        casts=False,
        in_place=False,
        fate=fate,
        alone=alone,
        iterates=None,
        why=why,
        loops=machine.loops,
        likens=False,
        leaf=False,
        vain=here == target,
        given=moved.at,
    )


def _moved_copy(summary: FunctionSummary) -> tuple[str, Place] | None:
    """The parameter of which a function returns a moved copy, and where that is, if it changes nothing."""
    filled = any(bits & Evidence.FILLED for _, bits in summary.evidence)
    if filled or summary.yields or any(isinstance(each, (Bound, Marked)) for each in summary.effects):
        return None
    found: set[tuple[str, Place]] = set()
    for part in _leaves(summary.returns):
        who = part.who
        if part.origin is None or part.origin.how != "moved" or part.place.form not in ON_DEVICE:
            return None
        if not isinstance(who, Path) or who.root.kind != "parameter":
            return None
        found.add((who.root.name, part.place))
    return found.pop() if len(found) == 1 else None


def _leaves(value: Value) -> Iterator[Value]:
    """What a value is, or what the container that it is holds."""
    parts = (*(value.items or ()), *((value.element,) if value.element is not None else ()))
    if value.kind is not Kind.CONTAINER or not parts:
        yield value
    else:
        for part in parts:
            yield from _leaves(part)


def _is_replaced(summary: FunctionSummary) -> bool:
    """Whether a subclass is likely to say what a method does, and it is not said to give a tensor."""
    return summary.hook and summary.returns.kind not in TENSORS


def _rest(summary: FunctionSummary, bound: Value | None, args: Arguments) -> Value | None:
    """What a move is told by the arguments that no parameter has the name of."""
    names = [each.name for each in summary.parameters if each.how in ("positional", "either")]
    taken = max(len(names) - (bound is not None and summary.binding != "static"), 0)
    if taken < len(args.positional):
        return args.positional[taken][1]
    told = (args.keywords.get(name) for name in ("device", "other") if name not in names)
    return next((value for _, value in filter(None, told)), None)


def call_with(
    machine: Machine, node: ast.Call, callee: Value, positional: list[tuple[ast.expr, Value]]
) -> Value | None:
    """Call a function value with some arguments, as `map` does; None where nothing is known of it."""
    if callee.kind is not Kind.FUNCTION or not isinstance(callee.known, Defined):
        return None
    summary = machine.program.summary(callee.known.dotted)
    if summary is None:
        return None
    names = [parameter.name for parameter in summary.parameters]
    given = {name: Given(at, value) for name, (at, value) in zip(names, positional, strict=False)}
    return apply(machine, node, summary, given, None)


def _site(
    machine: Machine, node: ast.Call, callee: str, given: Mapping[str, Given], args: Arguments
) -> CallSite:
    """A call of a function of the project, as it stands."""
    state, arguments = machine.state, {key: each.value for key, each in given.items()}
    entries = frozenset(
        key
        for key, each in given.items()
        if each.value.kind is Kind.TENSOR and each.at is not None and machine.is_entry(each.at)
    )
    refs = {value.who for value in arguments.values() if value.who is not None}
    places = {ref: place for ref, place in state.places.items() if ref in refs} if refs else {}
    marks = {key: mark for key, mark in state.marks.items() if key[1] in refs} if refs else {}
    more = args.starred or bool(args.unpacked)
    if state.default is not None:  # what the callee makes is there, too: that it meets these says nothing
        lost = {name: value for name, value in arguments.items() if value.kind in TENSORS}
        arguments = {**arguments, **{name: each._replace(place=UNKNOWN_PLACE) for name, each in lost.items()}}
    elsewhere = state.default is not None
    return CallSite(
        callee, arguments, places, marks, state.why, state.touched, node, more, entries, elsewhere
    )


def apply(
    machine: Machine,
    node: ast.AST,
    summary: FunctionSummary,
    given: Mapping[str, Given],
    bound: Value | None,
    rest: Value | None = None,
    shown: ast.expr | None = None,
) -> Value:
    """Apply a summary at a call: substitute the arguments for the parameters.

    `rest` is what a move is told that the function passes its `*args` and `**kwargs` on to; `shown` is what
    is called, where that is not the callee of `node`.
    """
    sub = Substitution(machine, node, given, bound)
    sub.rest = rest
    sub.chooses = summary.chooses
    whole = summary.returns.who
    if isinstance(whole, Path) and not whole.steps and summary.returns.kind not in _KEEP_IDENTITY:
        sub.returned = whole.root
    sub.local = machine.program.function(summary.name) is not None
    _forget_made(machine, sub, summary)
    for path, bits in summary.evidence:
        ref = sub.ref(path)
        if ref is not None:
            machine.log.note(ref, bits & PASSED_ON)
        if bits & Evidence.FILLED and not path.steps and path.root.kind == "parameter":
            _forget_items(machine, given.get(path.root.name))
    returned = summary.returns.who
    for effect in summary.effects:
        _effect(machine, node, sub, effect, effect.path == returned)
    called: ast.AST = node.func if isinstance(node, ast.Call) else node
    if shown is not None:
        called = sub.called = shown
    for ask in summary.asks:
        _answer(machine, node, sub, ask)
    for need in summary.needs:
        _need(machine, sub, need, called)
    require(machine, summary.requires)
    machine.log.reaches |= summary.reaches
    if "loads" in summary.reaches:
        machine.loads(node)
    if "sync" in summary.reaches:
        machine.state.copies = frozenset()
    if summary.touches:
        machine.touch(node)
    result = sub.value(summary.returns)
    machine.state.copies |= set(_under_way(result))
    if knowledge.MOVES_SOMETHING in summary.reaches:
        for value in (result, *(result.items or ())):
            if value.kind is Kind.UNKNOWN and value.who in sub.results:
                machine.note(value, Evidence.PLACED)  # a dataset, say, that may hold what was moved
    return result


def _forget_items(machine: Machine, given: Given | None) -> None:
    """What a container holds is not known any more when a function that it was given has assigned items."""
    if given is None or given.at is None or given.value.kind is not Kind.CONTAINER or not is_place(given.at):
        return
    ref = machine.ref(given.value)
    for key in [key for key in machine.state.env if type(key) is tuple and key[0] == ref]:
        del machine.state.env[key]
    machine.rebind(given.at, given.value._replace(items=None, element=UNKNOWN))


def _under_way(value: Value, depth: int = 2) -> Iterator[tuple[str, int]]:
    """The copies from a device among what a callee gives, for which it has not waited."""
    origin = value.origin
    if origin is not None and origin.api == knowledge.UNDER_WAY:
        yield origin.function, origin.at
    for part in (*(value.items or ()), value.element) if depth else ():
        if part is not None:
            yield from _under_way(part, depth - 1)


def require(machine: Machine, why: Why) -> None:
    """Control goes on only under what a callee, or a condition, makes sure of."""
    machine.state.more(why)


def _forget_made(machine: Machine, sub: Substitution, summary: FunctionSummary) -> None:
    """Each call makes objects of its own."""
    paths = [effect.path for effect in summary.effects]
    if isinstance(summary.returns.who, Path):
        paths.append(summary.returns.who)
    for path in paths:
        if path.root.kind == "made":
            sub.root(path)
    for ref in sub.made:
        machine.state.forget(ref)


def _effect(machine: Machine, node: ast.AST, sub: Substitution, effect: Effect, returned: bool) -> None:
    if isinstance(effect, Bound):
        given = sub.value(effect.value)
        owner = sub.ref(effect.path._replace(steps=effect.path.steps[:-1]))
        moved = given.kind in MAY_BE_COPIED and given.origin is not None and given.origin.how == "moved"
        kept = effect.lasts and (given.kind in _KEPT or len(effect.path.steps) > 1)
        kept |= effect.lasts and given.kind is Kind.UNKNOWN and given.who is not None
        if given.kind is Kind.DEVICE and given.place.form is Form.UNKNOWN:
            return
        if owner is not None and (given.kind in _CHOSEN or moved or kept):
            # An object that is given goes by the attribute's name, and moves with the one that has it.
            machine.state.env[owner, effect.path.steps[-1]] = given
        return
    value = sub.at(effect.path)
    ref = machine.ref(value) if value is not None else None
    if value is None or ref is None:
        return
    if isinstance(effect, Moved):
        place = sub.place(effect.place)
        of_caller = (
            effect.path.root.kind == "parameter"
            or (effect.path.root.kind == "self" and sub.bound is not None)
            or (effect.path.root.kind == "global" and machine.objects.is_made_in(ref, machine.here.name))
        )
        if place.form is Form.UNKNOWN and sub.casts(effect.place):
            return
        if value.kind in TENSORS and effect.path.steps and isinstance(effect.path.steps[-1], Attr):
            # A tensor does not move: the attribute may have its copy, or what it had.
            owner = sub.ref(effect.path._replace(steps=effect.path.steps[:-1]))
            if owner is not None:
                machine.state.env[owner, effect.path.steps[-1]] = value._replace(
                    place=UNKNOWN_PLACE, who=None
                )
            return
        if of_caller and (not returned or value.kind is Kind.MODULE):
            machine.relocate(node, value, place, "to_empty" if effect.replaces else "to")
        elif not of_caller or not effect.path.steps:
            machine.settle_at(ref, place, node)
    elif isinstance(effect, Copied):
        if value.kind in (Kind.UNKNOWN, Kind.BATCH):
            machine.keep_copy(value, sub.place(effect.place), node)
    elif isinstance(effect, Marked) and not effect.name:
        machine.advance(ref, effect.phase)
    elif isinstance(effect, Marked):
        holds = sub.refs(frozenset(effect.holds))
        held = frozenset(who for who in holds if type(who) is int)
        machine.state.marks[effect.protocol, ref] = Mark(
            effect.phase, held, effect.name, effect.at, effect.stateless
        )


# What only a caller knows


def record_ask(machine: Machine, of: Value, method: str, args: Arguments, result: Value) -> None:
    """Remember a call of what a caller gives, or of a method that subclasses define."""
    ref, to = machine.ref(of), machine.ref(result)
    if ref is None or to is None or args.starred or args.unpacked:
        return
    place = machine.place_at(ref)
    positional = tuple(value for _, value in args.positional)
    keywords = tuple((name, value) for name, (_, value) in args.keywords.items())
    if place is not None and place.form in ON_DEVICE and any(map(_is_batch_on_cpu, positional)):
        return  # that is told here
    if len(positional) + len(keywords) <= _MAX_GIVEN:
        made = {value.who for value in positional if value.kind is Kind.INSTANCE}
        env = machine.state.env.items() if made else ()
        placed = any(
            type(key) is tuple and key[0] in made and value.kind is Kind.DEVICE for key, value in env
        )
        machine.log.asks[to] = RawAsk(ref, method, positional, keywords, to, placed)


def _is_batch_on_cpu(value: Value) -> bool:
    return value.kind is Kind.BATCH and value.place.form is Form.CPU


def _answer(machine: Machine, node: ast.AST, sub: Substitution, ask: Ask) -> None:
    """Do what a callee asks of what it is given, where this caller knows what that is."""
    asked = sub.at(ask.of)
    ref = machine.ref(asked) if asked is not None else None
    result = sub.at(ask.result)
    if asked is None or ref is None or result is None or machine.asking >= _MAX_ASKING:
        return
    positional = [Given(_shown(sub, term), _passed(sub, term)) for term in ask.positional]
    keywords = {name: Given(_shown(sub, term), _passed(sub, term)) for name, term in ask.keywords}
    itself = ask.of.root.kind == "self" and not ask.of.steps
    known = isinstance(asked.known, (Defined, Api)) and (itself or not sub.local)
    at = _shown(sub, Value(who=ask.of))
    machine.asking += 1
    found = None
    if known and asked.kind in (Kind.INSTANCE, Kind.MODULE) and isinstance(asked.known, Defined):
        found = _answer_by_method(machine, node, asked, at, ask.method, positional, keywords)
    elif known and asked.kind is Kind.MODULE and ask.method in ("", *knowledge.RUNS_FORWARD):
        found = _answer_by_module(machine, at, asked, (*positional, *keywords.values()), ask.at)
    machine.asking -= 1
    if found is not None:
        who = found.who if found.kind in _KEEP_IDENTITY else result.who
        sub.answers[ask.result] = Given(at, found._replace(who=who))
    elif type(result.who) is int and asked.kind in (Kind.UNKNOWN, Kind.INSTANCE, Kind.MODULE):
        values = tuple(each.value for each in positional)
        named = tuple((name, each.value) for name, each in keywords.items())
        machine.log.asks[result.who] = RawAsk(ref, ask.method, values, named, result.who, within=ask.at)


def _answer_by_method(
    machine: Machine,
    node: ast.AST,
    asked: Value,
    at: ast.expr | None,
    method: str,
    positional: list[Given],
    keywords: dict[str, Given],
) -> Value | None:
    view = machine.program.view(asked.known.dotted) if isinstance(asked.known, Defined) else None
    if view is None or view.framework:
        return None
    found = view.method(method) if method else view.method(knowledge.CALLED)
    if found is None and method in ("", *knowledge.RUNS_FORWARD) and view.is_module:
        found = view.method("forward")
    summary = machine.program.summary(found) if found is not None else None
    if summary is None or (asked.kind is Kind.INSTANCE and _is_replaced(summary)):
        return None
    names = [each.name for each in summary.parameters if each.how in ("positional", "either")]
    given = {**_defaults(summary), **keywords}
    if summary.binding in ("self", "class", "property") and names:
        given[names[0]] = Given(None, asked)
        names = names[1:]
    given.update(zip(names, positional, strict=False))
    if summary.cases:
        summary = cases.fitting(machine, summary, {name: each.value for name, each in given.items()}, False)
    return apply(machine, node, summary, given, asked, shown=at)


def _answer_by_module(
    machine: Machine,
    at: ast.expr | None,
    module: Value,
    given: tuple[Given, ...],
    within: tuple[str, int],
) -> Value | None:
    """What a module of a library gives for tensors, which it wants where it is."""
    api = module.known.dotted if isinstance(module.known, Api) else ""
    topics = knowledge.topics(api)
    if not api.startswith(knowledge.OF_TORCH) or "scatters" in topics:
        return None
    parties = [(each.at, each.value) for each in given if each.value.kind in MAY_HOLD_TENSORS]
    shown = [(where, value) for where, value in parties if where is not None]
    place = machine.place_of(module)
    if "loss" in topics:
        return Value(Kind.SCALAR, machine.meet(at or ast.Pass(), shown, "call"))
    if api.rpartition(".")[2] in knowledge.NO_PARAMETERS:
        return Value(Kind.TENSOR, machine.combine([value for _, value in parties]))
    for where, value in shown:
        if at is not None:
            machine.meeting("call", where, machine.where(value), value, at, place, module, within=within)
    return Value(Kind.TENSOR, place)


def _passed(sub: Substitution, term: Value) -> Value:
    """What the callee gives: what it was given, where nothing is known of that but what it is."""
    unknown = term.kind in (Kind.UNKNOWN, Kind.BATCH) and term.place.form is Form.UNKNOWN
    found = sub.at(term.who) if unknown and isinstance(term.who, Path) and term.origin is None else None
    if _is_guess(sub, term.place, term.who if isinstance(term.who, Path) else None):
        return Value()
    return sub.value(term) if found is None else found


def _shown(sub: Substitution, term: Value) -> ast.expr | None:
    """The argument, at the call, that a value of the callee is, or lies with."""
    for who in (term.who, term.place.of):
        found = _argument(sub, Place(Form.AT, "", who))
        if found is not None:
            return found
    if sub.called is not None:
        return sub.called
    func = sub.node.func if isinstance(sub.node, ast.Call) else None
    return func.value if isinstance(func, ast.Attribute) and sub.bound is not None else func


def _need(machine: Machine, sub: Substitution, need: Need, called: ast.AST) -> None:
    if need.origin is not None and machine.state.default is not None:
        return  # what the callee makes is on the default device, too
    left, right = sub.place(need.left), sub.place(need.right)
    at, other = _argument(sub, need.left), _argument(sub, need.right)
    if need.indexes and _counts(machine, (at, left), (other, right)):
        need = need._replace(origin=None)
    one = _party(sub, need.left, left, need.one, need.origin)
    two = _party(sub, need.right, right, need.other, need.origin)
    sure = one.kind in TENSORS or need.tensors[0], two.kind in TENSORS or need.tensors[1]
    one = _computed(sub, need.left, left, one) if sure[1] else one
    two = _computed(sub, need.right, right, two) if sure[0] else two
    left, right = _of_part(sub, need.left, left, need.one), _of_part(sub, need.right, right, need.other)
    one, two = _constructed(sub, need.left, left, one), _constructed(sub, need.right, right, two)
    held = _held(sub, need.left), _held(sub, need.right)
    left, one = (left, one) if held[0] is None else (held[0].place, held[0])
    right, two = (right, two) if held[1] is None else (held[1].place, held[1])
    if not sub.local and (_is_guess(sub, need.left, need.one) or _is_guess(sub, need.right, need.other)):
        return
    called_at = need.one if need.called == "left" else need.other
    runs = sub.at(called_at) if need.called and called_at is not None else None
    if runs is not None and _scatters(runs):
        return
    if need.called == "left" and one.kind is not Kind.MODULE:
        one = Value(Kind.MODULE, left, one.who)
    elif need.called == "right" and two.kind is not Kind.MODULE:
        two = Value(Kind.MODULE, right, two.who)
    if not sub.local and any(_answers_itself(machine, side) for side in (one, two) if need.called):
        return
    sub.derive(one, need.left)
    sub.derive(two, need.right)
    # What may be 0-dim accuses nobody, but does not make the fix of a lost move safe either.
    if Kind.SCALAR in (one.kind, two.kind) and Form.KEPT not in (left.form, right.form):
        return
    inside = need.origin is not None
    of_part = not _is_given(need, at is not None) and sub.bound is not None and sub.called is None
    if isinstance(called, ast.Attribute) and of_part:
        called = called.value
    if at is not None:
        machine.meeting("call", at, left, one, other or called, right, two, inside, need.at)
    elif other is not None:
        machine.meeting("call", other, right, two, called, left, one, inside, need.at)


def _of_part(sub: Substitution, place: Place, here: Place, path: Path | None) -> Place:
    """Where a part of an object is that is no module: where that part is, and not where the object is."""
    of, bound = place.of, sub.bound
    if place.form is not Form.AT or not isinstance(of, Path) or of.root.kind != "self" or of.steps:
        return here
    if path is None or path.root != of.root or not path.steps or bound is None:
        return here
    view = sub.machine.program.view(bound.known.dotted) if isinstance(bound.known, Defined) else None
    part = sub.at(path) if bound.kind is Kind.INSTANCE and view is not None and not view.is_module else None
    if part is None:
        return here
    ref = sub.machine.ref(part)
    return (sub.machine.place_at(ref) if ref is not None else None) or sub.machine.where(part)


def _constructed(sub: Substitution, place: Place, here: Place, one: Value) -> Value:
    """What a method has of its object, where the constructor was told to put that on the cpu, or nothing."""
    kept = sub.constructed_with(place.of)
    if here != CPU or one.kind is Kind.SCALAR or kept is None:
        return one
    if kept.kind is Kind.MODULE and kept.origin is not None and kept.who == one.who:
        return kept._replace(place=here)
    return Value(Kind.TENSOR, here, one.who, origin=_told_cpu(place.of))


def _is_given(need: Need, left: bool) -> bool:
    """Whether the caller gives the other side of a meeting, which is then no part of the callee's object."""
    of = need.right.of if left else need.left.of
    return isinstance(of, Path) and of.root.kind == "parameter"


def _is_placed(value: Value) -> bool:
    """Whether it is a tensor of which it is known where it is."""
    return value.kind in TENSORS and value.place.form is not Form.UNKNOWN


def _counts(machine: Machine, *sides: tuple[ast.expr | None, Place]) -> bool:
    """Whether what a tensor is indexed with may be a number here, or an entry of a tensor."""
    return any(
        at is not None and (place.form not in ON_DEVICE or machine.is_entry(at)) for at, place in sides
    )


def _is_rest(path: Path) -> bool:
    """Whether a path begins at `*args` or `**kwargs`."""
    return path.root.kind == "parameter" and path.root.name.startswith(REST)


def _is_device(step: Step) -> bool:
    return isinstance(step, Attr) and knowledge.PLACEMENT_ATTRIBUTES.get(step.name) == "device"


def _party(sub: Substitution, place: Place, here: Place, path: Path | None, origin: Origin | None) -> Value:
    """What takes part in a callee's meeting: the very argument, if it is the tensor that is given."""
    of = place.of
    if isinstance(of, Path) and of.root.kind == "parameter" and of == path:
        given = sub.given.get(of.root.name)
        if given is not None and given.value.kind in TENSORS and (not of.steps or _is_slice(of, given.value)):
            dims = given.value.origin.dims - len(of.steps) if given.value.origin is not None else 1
            # A 0-dim tensor of the cpu meets what is elsewhere; one on a device does not.
            return given.value if dims or here.form in ON_DEVICE else given.value._replace(kind=Kind.SCALAR)
    if origin is not None and place.form is Form.CPU and place.of is None:
        return Value(Kind.TENSOR, here, sub.ref(path), origin=origin)
    if isinstance(of, Path) and place.form is Form.AT and sub.answer(of) is not None:
        answer = sub.at(of)
        if answer is not None and answer.kind in TENSORS:
            itself = of == path or answer.origin is None
            return (
                answer if itself else answer._replace(origin=derived(answer.origin or Origin("made", "", -1)))
            )
    found = sub.at(path) if path is not None and path == of else None
    if found is not None and found.kind is Kind.MODULE and _takes_as_it_comes(sub.machine, found):
        return found._replace(place=here)
    if found is not None and found.kind is Kind.TENSOR and found.origin is not None and here == CPU:
        return found._replace(place=here)
    return Value(Kind.BATCH if found is None else found.kind, here, sub.ref(path))


def _is_guess(sub: Substitution, place: Place, path: Path | None) -> bool:
    """Whether something is only presumed to lie with what a loader yields: what a model gave for that."""
    of = place.of
    if place.form is not Form.AT or not isinstance(of, Path) or of == path or not of.steps:
        return False
    whole = sub.root(of)
    return whole is not None and whole.kind is Kind.LOADER


def _scatters(module: Value) -> bool:
    """Whether a module brings what it is given to where its replicas are."""
    api = module.known.dotted if module.kind is Kind.MODULE and isinstance(module.known, Api) else ""
    return "scatters" in knowledge.topics(api)


def _answers_itself(machine: Machine, module: Value) -> bool:
    """Whether it is known what a module's class does with what it is given: it was asked."""
    view = machine.program.view(module.known.dotted) if isinstance(module.known, Defined) else None
    found = view.method("forward") if view is not None and module.kind is Kind.MODULE else None
    return found is not None and machine.program.summary(found) is not None


def _takes_as_it_comes(machine: Machine, module: Value) -> bool:
    """Whether a module is of a class that is known, and moves nothing when it runs."""
    if not isinstance(module.known, Defined):
        return module.known is not None
    view = machine.program.view(module.known.dotted)
    found = view.method("forward") if view is not None else None
    summary = machine.program.summary(found) if found is not None else None
    return summary is not None and knowledge.MOVES_SOMETHING not in summary.reaches


def _yielded(machine: Machine, loader: Ref, element: Value, step: Element) -> Value:
    """What a loader yields to a callee that loops over it."""
    if element.kind is not Kind.BATCH:
        return element
    part = machine.objects.part(loader, step)
    return Value(Kind.BATCH, element.place._replace(of=part if element.place.of is not None else None), part)


def _computed(sub: Substitution, place: Place, here: Place, one: Value) -> Value:
    """What a callee has of a tensor that an argument keeps, or computed from it, and what made that.

    That it is met by a tensor has to be sure: an attribute of unknown kind may be a number.
    """
    if is_made(one) or one.kind is Kind.SCALAR or place.form is not Form.AT:
        return one
    whole = sub.at(place.of) if isinstance(place.of, Path) else None
    if whole is None or whole.kind is not Kind.TENSOR or whole.origin is None:
        return one
    if not (is_made(whole) or here == CPU):
        return one
    kind = Kind.TENSOR if whole.origin is not None and whole.origin.dims else Kind.SCALAR
    return Value(kind, here, one.who, origin=whole.origin)


def _held(sub: Substitution, place: Place) -> Value | None:
    """What was made on the cpu for a pair, or list, that is given: the states of a recurrent network."""
    of = place.of
    value = sub.within(of) if place.form is Form.AT else None
    if value is not None and value.kind is Kind.CONTAINER:
        value = element_of(value)
    elif not isinstance(of, Path) or not of.steps:
        return None  # the very argument
    made = value is not None and value.kind in TENSORS and is_made(value) and value.place.form is Form.CPU
    return value if made else None


def part_of(whole: Value, step: Item | Element) -> Value | None:
    """What a container holds at a step; None for an empty one."""
    number, items = step.key if isinstance(step, Item) else None, whole.items
    known = type(number) is int and items is not None and number < len(items)
    return items[number] if known and items and type(number) is int else element_of(whole)


def _is_slice(path: Path, value: Value) -> bool:
    """Whether a path leads to a part of a tensor, which is where that is."""
    return value.kind in TENSORS and all(isinstance(step, (Item, Element)) for step in path.steps)


def _argument(sub: Substitution, place: Place) -> ast.expr | None:
    """The argument that a place of the callee speaks of."""
    of = place.of
    if not isinstance(of, Path):
        return None
    known = sub.answer(of)
    if known is None and of.root.kind != "parameter":
        return None
    given = sub.given.get(of.root.name) if known is None else sub.answers[known]
    return given.at if given is not None else None


def bind_arguments(
    machine: Machine, summary: FunctionSummary, bound: Value | None, args: Arguments
) -> dict[str, Given]:
    """What each parameter is given."""
    given: dict[str, Given] = {}
    names = [each.name for each in summary.parameters if each.how in ("positional", "either")]
    if summary.binding in ("self", "class", "property") and names and bound is not None:
        given[names[0]] = Given(None, bound)
        names = names[1:]
    for index, (name, (at, value)) in enumerate(zip(names, args.positional, strict=False)):
        if isinstance(at, ast.Starred):
            whole = machine.eval(at.value)
            for item, rest in enumerate(names[index:]):
                given[rest] = Given(at.value, machine.unpack(whole, len(names) - index, item))
            break
        given[name] = Given(at, value)
    every = {each.name for each in summary.parameters if each.how in ("either", "keyword")}
    given.update({name: Given(*argument) for name, argument in args.keywords.items() if name in every})
    for at, whole in args.unpacked:
        if whole.kind in (Kind.BATCH, Kind.UNKNOWN):
            for name in names:
                if name not in given:
                    given[name] = Given(at, machine.part(whole, Item(name)))
        elif whole.kind is Kind.CONTAINER and whole.known == MAPPING and whole.element is not None:
            wanted = {each.name for each in summary.parameters if not each.default}
            for name in wanted.intersection(names).difference(given):  # it is there, whatever the mapping has
                kept = machine.state.env.get((machine.ref(whole) or -1, Item(name)))
                given[name] = Given(at, kept or whole.element)
    return given


def instance_attribute(machine: Machine, base: Value, term: Value) -> Value:
    """What an attribute of an object is, by what its class says of `self`."""
    return Substitution(machine, None, {}, base).value(term)


def unknown_attribute(machine: Machine, base: Value, name: str) -> Value:
    """An attribute of which nothing is known."""
    ref = machine.ref(base)
    return Value(who=machine.objects.part(ref, Attr(name))) if ref is not None else UNKNOWN
