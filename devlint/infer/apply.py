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
from ..core.paths import REST, RESULT, Attr, Element, Item, Path, Ref, Root, Step, Who
from ..core.places import CPU, ON_DEVICE, UNKNOWN_PLACE, Form, Place
from ..core.state import Mark
from ..core.summary import Bound, Copied, Effect, FunctionSummary, Marked, Moved, Need
from ..core.values import (
    MADE,
    MAPPING,
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
from .log import RawMove
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
        value = self.root(path)
        for step in path.steps:
            if value is None:
                return None
            value = self._step(value, step)
        return value

    def _step(self, value: Value, step: Step) -> Value | None:
        if isinstance(step, Item) and value.items is not None and type(step.key) is int:
            return value.items[step.key] if -len(value.items) <= step.key < len(value.items) else None
        ref = self.machine.ref(value)
        if ref is None:
            return None
        stored = self.machine.state.env.get((ref, step))
        if stored is not None:
            return stored
        if value.kind is Kind.INSTANCE and isinstance(step, Attr) and value is not self.bound:
            kept = self._attribute(value, step.name)
            if kept is not None:
                return kept
        part = self.machine.objects.part(ref, step)
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
    if bound is not None and bound.kind is Kind.INSTANCE and _is_replaced(summary):
        return machine.unknown(node)
    if machine.fates.get(node, ("kept", False))[0] == "discarded":
        _discard(machine, node, summary, given)
    if not args.starred and not args.unpacked:
        given = {**_left_out(summary, given), **given}
    result = apply(machine, node, summary, given, bound, _rest(summary, bound, args))
    if result.kind in _REFORMED and type(result.who) is int:
        machine.log.remade(result.who, [each.value for each in given.values()])
    return result


def _left_out(summary: FunctionSummary, given: Mapping[str, Given]) -> dict[str, Given]:
    """The cpu, where a parameter names it by its default and the caller says nothing else."""
    named = Given(None, Value(Kind.STRING, CPU, known=Const(CPU.name)))
    return {each.name: named for each in summary.parameters if each.on_cpu and each.name not in given}


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
    return CallSite(callee, arguments, places, marks, state.why, state.touched, node, more, entries)


def apply(
    machine: Machine,
    node: ast.AST,
    summary: FunctionSummary,
    given: Mapping[str, Given],
    bound: Value | None,
    rest: Value | None = None,
) -> Value:
    """Apply a summary at a call: substitute the arguments for the parameters.

    `rest` is what a move is told that the function passes its `*args` and `**kwargs` on to.
    """
    sub = Substitution(machine, node, given, bound)
    sub.rest = rest
    sub.chooses = summary.chooses
    whole = summary.returns.who
    if isinstance(whole, Path) and not whole.steps and summary.returns.kind not in _KEEP_IDENTITY:
        sub.returned = whole.root
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
    called = node.func if isinstance(node, ast.Call) else node
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
        kept = effect.lasts and given.kind in _KEPT
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
    held = _held(sub, need.left), _held(sub, need.right)
    left, one = (left, one) if held[0] is None else (held[0].place, held[0])
    right, two = (right, two) if held[1] is None else (held[1].place, held[1])
    if need.called == "left" and one.kind is not Kind.MODULE:
        one = Value(Kind.MODULE, left, one.who)
    elif need.called == "right" and two.kind is not Kind.MODULE:
        two = Value(Kind.MODULE, right, two.who)
    sub.derive(one, need.left)
    sub.derive(two, need.right)
    # What may be 0-dim accuses nobody, but does not make the fix of a lost move safe either.
    if Kind.SCALAR in (one.kind, two.kind) and Form.KEPT not in (left.form, right.form):
        return
    inside = need.origin is not None
    if at is not None:
        machine.meeting("call", at, left, one, other or called, right, two, inside)
    elif other is not None:
        machine.meeting("call", other, right, two, called, left, one, inside)


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
    found = sub.at(path) if path is not None and path == of else None
    return Value(Kind.BATCH if found is None else found.kind, here, sub.ref(path))


def _computed(sub: Substitution, place: Place, here: Place, one: Value) -> Value:
    """What a callee has of a tensor that an argument keeps, or computed from it, and what made that.

    That it is met by a tensor has to be sure: an attribute of unknown kind may be a number.
    """
    if is_made(one) or one.kind is Kind.SCALAR or place.form is not Form.AT:
        return one
    whole = sub.at(place.of) if isinstance(place.of, Path) else None
    if whole is None or whole.kind is not Kind.TENSOR or not is_made(whole):
        return one
    return Value(Kind.TENSOR, here, one.who, origin=whole.origin)


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
    if not isinstance(place.of, Path) or place.of.root.kind != "parameter":
        return None
    given = sub.given.get(place.of.root.name)
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
