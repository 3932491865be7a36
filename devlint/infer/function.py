"""One run of one function: what it is entered with, and what it leaves behind."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from operator import is_
from typing import NamedTuple

from .. import knowledge
from ..bind.names import last_name
from ..core.events import Why
from ..core.evidence import NO_NUMBER, NOT_A_TENSOR, Evidence
from ..core.kinds import MAY_BE_COPIED, TENSORS, Kind
from ..core.paths import MAX_STEPS, REST, RESULT, Attr, Element, Item, Path, Ref, Root
from ..core.places import CPU, UNKNOWN_PLACE, Form, Place
from ..core.state import NEVER, Key, Mark, State, join_states
from ..core.summary import Answers, Binding, Bound, Effect, FunctionSummary, Marked, Moved, Parameter, Term
from ..core.values import (
    NONE,
    NUMBER,
    UNKNOWN,
    Const,
    Defined,
    Known,
    Origin,
    Truth,
    Value,
    constant,
    container,
    dotted,
    is_anew,
    is_made,
)
from . import cases, lazily, unmoved
from .annotations import annotated
from .answers import returned
from .classes import Class, Entered
from .conditions import PROCESSES, false_constant
from .definitions import Function
from .extract import Extraction, outlasting
from .filled import parts_of_parameters
from .holdings import holdings, is_reached, moves_what_it_is_given
from .log import NOBODY, Log
from .machine import flag
from .standing import as_one
from .statements import Answer, Statements
from .substitute import Substitution

CONSTRUCTORS = ("__init__", "setUpClass", "setUp", "setup_class", "setup_method", "setup")
"""Methods that run before the others: what they leave behind, or skip, holds in those."""


class Informed(NamedTuple):
    """What all callers in the file agree to pass: values, where the objects are, and a guard."""

    values: tuple[tuple[str, Value], ...] = ()
    places: tuple[tuple[Ref, Place], ...] = ()
    marks: tuple[tuple[tuple[str, Ref], Mark], ...] = ()
    why: Why = NEVER
    settled: Mapping[str, Answers] = {}
    """What is assumed of parameters, to see what the function does then."""
    entries: frozenset[str] = frozenset()
    """Those that may be given one entry of a tensor, which is 0-dim."""
    default: bool = False
    """Whether one of them calls it where another device is the default."""


UNINFORMED = Informed()
_MAX_WRAPPERS = 3
_MADE_WITH = frozenset({Kind.DEVICE, Kind.STRING, Kind.NONE})
"""What an object may be made with that is no object, and says where things are."""


class Outcome(NamedTuple):
    """What a run found out."""

    summary: FunctionSummary
    log: Log
    attributes: dict[tuple[str, str], Term]
    """What it leaves in attributes of its class."""
    added: dict[tuple[str, str], Term]
    """What it puts into the containers that such attributes are."""
    after_init: tuple[Effect, ...]
    """Of a constructor: where it leaves the objects of its class."""
    requires: Why
    returns: bool
    """Whether control ever comes back from it."""


def run(machine: Statements, owner: Class | None, informed: Informed, outside: State, around: Why) -> Outcome:
    """Run a function's body; `outside` holds in the module, `around` is what makes its tests run at all."""
    function, state = machine.here, machine.state
    machine.settled, machine.entries = informed.settled, informed.entries
    _enter(machine, owner, dict(informed.values), around)
    given = dict(informed.values)
    for name, value in informed.values:
        ref = machine.ref(value)
        if ref is not None:
            machine.aliases[machine.objects.parameter(function.name, name)] = ref
    state.more(informed.why)
    state.places.update(informed.places)
    state.marks.update(informed.marks)
    passed = {value.who for value in given.values()}
    for ref, place in function.around.items():
        if place.form is not Form.CPU and ref not in passed:
            state.places.setdefault(ref, place.of_another())
    for ref, place in outside.places.items():
        if ref not in passed:  # where an argument was at the call, not where the module leaves it
            state.places.setdefault(ref, place.of_another())
    for key, mark in outside.marks.items():
        if key[1] not in passed and not mark.holds & passed:
            state.marks.setdefault(key, mark)
    before, marks, why = dict(state.places), dict(state.marks), state.why
    state.default = UNKNOWN_PLACE if informed.default else outside.default
    node = function.node
    if isinstance(node, ast.Lambda):
        machine.returned = machine.eval(node.body)
    elif not (isinstance(node, ast.Module) or _is_of_another_language(machine, node)):
        machine.run(node.body)
    end = machine.state
    for other in machine.exits:
        end = join_states(end, other, machine.either)
    if end.alive:
        machine.log.lasting = end.loads
    return _leave(machine, owner, end, before, marks, why, outside)


# Entering


def required(machine: Statements, node: ast.AST) -> Why:
    """What decorators make sure of: that an accelerator is there, or that the code is skipped."""
    state, around = State(), machine.state
    for decorator in getattr(node, "decorator_list", ()):
        name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
        machine.state = around.copy()  # it is evaluated before, and elsewhere
        value = machine.eval(decorator)
        machine.state = around
        if not isinstance(node, ast.ClassDef) and _moves_around(machine, value):
            machine.log.reaches.add(knowledge.MOVED_BEFORE)
        if value.kind is Kind.FLAG and isinstance(value.known, Truth) and value.known.if_true:
            state.certain(value.known.hint)
        elif "accelerator" in knowledge.hints("decorator", name) or _is_kernel(decorator):
            state.certain(f"decorator:{name}")
    return state.why


def _moves_around(machine: Statements, decorator: Value) -> bool:
    """Whether a decorator of the project, or what it makes of a function, moves anything."""
    for _ in range(_MAX_WRAPPERS):
        known = decorator.known if decorator.kind is Kind.FUNCTION else None
        summary = machine.program.summary(known.dotted) if isinstance(known, Defined) else None
        if summary is None:
            return False
        if not summary.reaches.isdisjoint(knowledge.NAMES_DEVICES):
            return True
        decorator = summary.returns
    return False


def _is_of_another_language(machine: Statements, node: ast.AST) -> bool:
    """Whether a function is compiled for a device by what has values of its own, in place of tensors."""
    for decorator in getattr(node, "decorator_list", ()):
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if last_name(called) in knowledge.COMPILES and isinstance(called, (ast.Name, ast.Attribute)):
            around = machine.state
            machine.state = around.copy()
            name = dotted(machine.eval(called))
            machine.state = around
            if name.partition(".")[0] in knowledge.OTHER_LANGUAGES:
                return True
    return False


def _is_kernel(decorator: ast.expr) -> bool:
    """Whether a decorator registers what runs for tensors on accelerators alone."""
    if not isinstance(decorator, ast.Call) or last_name(decorator) not in knowledge.REGISTERS_KERNELS:
        return False
    given = [*decorator.args, *(keyword.value for keyword in decorator.keywords)]
    named = [part.value for each in given for part in ast.walk(each) if isinstance(part, ast.Constant)]
    kinds = {each.lower() for each in named if isinstance(each, str)}
    return not kinds.isdisjoint(knowledge.ACCELERATORS) and "cpu" not in kinds


def _enter(machine: Statements, owner: Class | None, given: dict[str, Value], around: Why) -> None:
    """Bind the parameters and what is known of `self`."""
    function = machine.here
    args = function.args
    if args is None:
        return
    asked = required(machine, function.node)
    state = machine.state  # a decorator may be one of two: where they part, the state is another
    for why in (asked, around, function.why):
        state.more(why)
    if owner is not None:
        makes = function.own_name in CONSTRUCTORS
        for cls in owner.lineage():
            why = cls.around if function.own_name == CONSTRUCTORS[0] else cls.why
            if why is not NEVER:
                state.more(why._replace(needed=why.needed and not makes))
    for name in function.names:
        if "accelerator" in knowledge.hints("function", name):
            state.certain(f"function:{name}")
    receiver = _receiver(machine, owner)
    if owner is not None and receiver is not None:
        _enter_method(machine, owner, receiver)
        _forget_what_is_assigned_again(machine, owner, receiver)
    defaults = dict(zip(reversed([*args.posonlyargs, *args.args]), reversed(args.defaults), strict=False))
    keywords = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    defaults.update({arg: default for arg, default in keywords if default is not None})
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs)
    for index, arg in enumerate(every):
        if index == 0 and receiver is not None:
            state.env[arg.arg] = receiver
        else:
            value = _parameter(machine, arg, defaults.get(arg), given.get(arg.arg), owner)
            state.env[arg.arg] = cases.enter(machine, arg.arg, value)
    if any(_prepares(machine, arg.annotation) for arg in every):
        for arg in every:
            if arg.annotation is None or state.env[arg.arg].kind is Kind.LOADER:
                machine.note(state.env[arg.arg], Evidence.PLACED)  # it may have been prepared
    for rest in (args.vararg, args.kwarg):
        if rest is not None:
            state.env[rest.arg] = Value(who=machine.objects.parameter(function.name, f"{REST}{rest.arg}"))
            _given_alike(machine, rest)
            machine.objects.labels[machine.objects.parameter(function.name, f"{REST}{rest.arg}")] = rest.arg


def _prepares(machine: Statements, annotation: ast.expr | None) -> bool:
    """Whether a parameter is what has loaders yield what is where models are: `fabric: Fabric`."""
    if not isinstance(annotation, (ast.Name, ast.Attribute)):
        return False
    found = machine.eval(annotation)
    return found.kind is Kind.LIBRARY and knowledge.PREPARES in knowledge.topics(dotted(found))


def _given_alike(machine: Statements, rest: ast.arg) -> None:
    """`*models: nn.Module`, `*values: Tensor`."""
    whole = machine.state.env[rest.arg]
    ref = machine.ref(whole)
    if rest.annotation is None or ref is None:
        return
    promised = annotated(machine, rest.annotation, machine.objects.part(ref, Element()))
    if promised is not None and promised.kind in (Kind.MODULE, Kind.TENSOR):
        machine.state.env[rest.arg] = container(ref, element=_where_it_is(promised))


def _receiver(machine: Statements, owner: Class | None) -> Value | None:
    function = machine.here
    if owner is None or not function.is_method:
        return None
    kind = Kind.CLASS if function.of_class else Kind.INSTANCE
    return Value(kind, who=machine.objects.self_of(owner.name), known=Defined(owner.name))


def _parameter(
    machine: Statements, arg: ast.arg, default: ast.expr | None, given: Value | None, owner: Class | None
) -> Value:
    function = machine.here
    ref = machine.objects.parameter(function.name, arg.arg)
    if owner is not None and owner.framework:
        machine.log.note(ref, Evidence.PLACED)
    if isinstance(default, ast.Name) and moves_what_it_is_given(machine, machine.eval(default)):
        machine.log.reaches.add(knowledge.MOVER)  # `def __init__(self, transform=to_device)`
    text = default.value if isinstance(default, ast.Constant) else None
    if isinstance(text, str) and default is not None and knowledge.is_accelerator_name(text):
        at = function.number(default)
        machine.log.born[at] = machine.state.why
        origin = Origin("default", function.name, at)
        return Value(Kind.STRING, Place(Form.SAME, "", ref), ref, Const(text), origin=origin)
    if isinstance(text, str):
        machine.log.note(ref, Evidence.TEXT)
    if given is not None and given.kind is Kind.TENSOR:
        given = _given_tensor(given, ref)
    elif given is not None and given.kind is Kind.CONTAINER and given.items is not None:
        parts = enumerate(given.items)
        items = [(machine.objects.part(ref, Item(index)), item) for index, item in parts]
        given = given._replace(items=tuple(_given_tensor(item, part) for part, item in items))
    promised = given or annotated(machine, arg.annotation, ref)
    value = promised or Value(who=ref, known=_made_with(machine, default))
    if given is None and value.kind is Kind.TENSOR:
        machine.log.note(ref, Evidence.TENSOR)  # so callers know that they pass one
    if value.kind is Kind.DEVICE and value.place.form is Form.UNKNOWN:
        return value._replace(place=Place(Form.SAME, "", ref))
    if value.kind in (Kind.DEVICE, Kind.STRING) and value.place.form is Form.EITHER:
        return value._replace(place=Place(Form.SAME, value.place.name, ref))  # as a variable that keeps it
    return _where_it_is(value)


def _made_with(machine: Statements, default: ast.expr | None) -> Known | None:
    """The factory that a parameter is where a call leaves it out: `window=torch.hann_window`."""
    if not isinstance(default, (ast.Name, ast.Attribute)):
        return None
    found = machine.eval(default)
    machine.log.uses.pop(default, None)  # it is read where the function is defined
    return found.known if found.kind is Kind.LIBRARY and knowledge.makes_tensor(dotted(found)) else None


def _given_tensor(given: Value, ref: Ref) -> Value:
    """What callers give: if they are tensors, several of them, in one place."""
    if given.kind is not Kind.TENSOR:
        return given
    return Value(Kind.TENSOR, given.place, ref, origin=given.origin if is_made(given) else None)


def _where_it_is(value: Value, depth: int = 4) -> Value:
    """What a caller passes is wherever that is, and so are the tensors that an annotation promises in it."""
    if value.kind in TENSORS and value.place.form is Form.UNKNOWN and value.who is not None:
        return value._replace(place=Place(Form.AT, "", value.who))
    if value.kind is not Kind.CONTAINER or not depth:
        return value
    element = _where_it_is(value.element, depth - 1) if value.element is not None else None
    items = tuple(_where_it_is(item, depth - 1) for item in value.items) if value.items is not None else None
    return value._replace(element=element, items=items)


def _enter_method(machine: Statements, cls: Class, receiver: Value) -> None:
    """Where constructors leave the objects of the class."""
    lineage = cls.lineage()
    if machine.here.own_name == CONSTRUCTORS[0]:
        lineage = [each for each in lineage if each is not cls]
    said = [each.effects for each in lineage]
    if not any(said):
        return
    known = machine.objects.known_abroad
    entered = cls.entered.get(len(lineage))
    if entered is None or entered.known != known or not all(map(is_, entered.said, said)):
        entered = cls.entered[len(lineage)] = Entered(said, known, *_left_by(machine, lineage, receiver))
    machine.state.places.update(entered.places)
    machine.state.marks.update(entered.marks)
    machine.state.env.update(entered.env)


def _forget_what_is_assigned_again(machine: Statements, cls: Class, receiver: Value) -> None:
    """What a constructor assigns again after this method has run is not yet there."""
    ref, found = machine.ref(receiver), cls.assigned_around.get(machine.here.own_name, ())
    if ref is None:
        return
    for name in found:
        part = machine.objects.part(ref, Attr(name))
        machine.state.places.pop(part, None)
        machine.state.env[ref, Attr(name)] = Value(who=part)


def _left_by(
    machine: Statements, lineage: list[Class], receiver: Value
) -> tuple[dict[Ref, Place], dict[tuple[str, Ref], Mark], dict[Key, Value]]:
    """Where the constructors of a class and its bases leave what is in an instance."""
    effects: dict[tuple[object, ...], Moved | Marked | Bound] = {}
    for each in reversed(lineage):
        for effect in each.effects:  # a constructor that calls that of the base class has its effects as well
            if isinstance(effect, (Moved, Marked, Bound)):
                path = effect.path
                root = None if path.root.kind == "self" else path.root
                protocol = effect.protocol if isinstance(effect, Marked) else ""
                effects[root, path.steps, protocol, isinstance(effect, Bound)] = effect
    sub = Substitution(machine, None, {}, receiver)
    places: dict[Ref, Place] = {}
    marks: dict[tuple[str, Ref], Mark] = {}
    env: dict[Key, Value] = {}
    for effect in effects.values():
        if isinstance(effect, Bound):
            whose = sub.ref(effect.path._replace(steps=effect.path.steps[:-1]))
            if whose is not None:
                env[whose, effect.path.steps[-1]] = sub.value(effect.value)
            continue
        ref = sub.ref(effect.path)
        if ref is None:
            continue
        if isinstance(effect, Moved):
            places[ref] = sub.place(effect.place)
        else:
            holds = {who for who in sub.refs(frozenset(effect.holds)) if type(who) is int}
            mark = Mark(effect.phase, frozenset(holds), effect.name, effect.at, effect.stateless)
            marks[effect.protocol, ref] = mark
    return places, marks, env


# Leaving


def _leave(
    machine: Statements,
    owner: Class | None,
    end: State,
    before: dict[Ref, Place],
    marks: dict[tuple[str, Ref], Mark],
    why: Why,
    outside: State,
) -> Outcome:
    function, log, objects = machine.here, machine.log, machine.objects
    plain = Extraction(objects, function.name)
    inner = Extraction(objects, function.name, lasting=function.own_name == CONSTRUCTORS[0])
    assigned = _assigned(machine, end)
    for (cls, attribute), value in assigned.items():
        path = Path(Root("self", cls), (Attr(attribute),))
        inner.rename(value, path)
        if type(value.who) is int and not objects.is_parameter(value.who):
            plain.rename(value, path)
    for (cls, attribute), value in log.added.items():
        inner.rename_put(value, Path(Root("self", cls), (Attr(attribute), Element())))
    _name_results(machine, plain)
    parts = list(_parts_made(machine, owner, assigned, end))
    for (part, step), value in parts:
        for extraction in (inner, plain) if _is_made_here(machine, value) else ():
            whose = extraction.path(part)
            if whose is not None:
                extraction.rename(value, whose._replace(steps=(*whose.steps, step)))
    asks = plain.asks(log) if log.asks else ()
    result = lazily.as_filled(machine, as_one(machine, _complete(_result(machine), end), end))
    _doubt_places(machine, end, result)
    returns = plain.term(result)
    bound = [*_bound(machine, plain, owner, assigned), *_moved_attributes(machine, plain, owner, assigned)]
    bound += _devices_of(machine, plain, end, result)
    bound += _kept_by_parts(plain, parts)
    stored, exact = parts_of_parameters(plain, log, end)
    bound += stored
    changed = [*plain.moved(before, end, log), *plain.copied(log), *plain.marked(marks, end)]
    changed += plain.advanced(log)
    effects = [*outlasting(changed, (returns, *(effect.value for effect in bound))), *bound]
    after_init: tuple[Effect, ...] = ()
    if owner is not None and function.own_name == CONSTRUCTORS[0]:
        left = [*inner.moved(outside.places, end, log), *inner.marked(outside.marks, end)]
        after_init = (
            *(effect for effect in left if effect.path.root.kind in ("self", "global")),
            *_kept_by_parts(inner, parts),
        )
        for (ref, _), at in log.moved_at.items():
            kept = inner.path(ref)
            if kept is not None and kept.root.kind == "self":
                log.left[kept] = at
    if owner is not None and owner.is_module:
        log.holdings.update(holdings(machine, end, owner.name, result))
    log.hosts.update(
        key[0]
        for key, value in end.env.items()
        if value.place == CPU and not isinstance(key, str) and key[1] == Attr("device")
    )
    requires = _since(why, end) if end.alive else NEVER
    summary = FunctionSummary(
        function.name,
        _binding(function),
        _parameters(function),
        returns,
        tuple(effects),
        plain.needs(log, function.number),
        plain.evidence(log, returns.who, exact),
        requires,
        knowledge.REACHED.intersection(log.reaches),
        function.is_hook,
        machine.yields,
        frozenset(_chooses(machine)),
        end.alive and end.touched is not None and not machine.yields,
        asks=asks,
    )
    if function.own_name != CONSTRUCTORS[0] and not machine.yields:
        returned(machine)
    attributes = {key: inner.term(_number(log, value)) for key, value in assigned.items()}
    added = {key: inner.term(_number(log, value)) for key, value in log.added.items()}
    return Outcome(summary, log, attributes, added, after_init, end.why if end.alive else NEVER, end.alive)


def _name_results(machine: Statements, plain: Extraction) -> None:
    """What a parameter that is called gives is known by that: callers know what it is, and where."""
    function, objects = machine.here, machine.objects
    for node, callee in machine.log.guesses.items():
        if callee != NOBODY and objects.is_parameter(callee) and objects.functions[callee] == function.name:
            way = objects.ways[callee]
            assert isinstance(way, Root)
            plain.renamed.setdefault(objects.made(function.name, function.number(node)), Path(way, (RESULT,)))


def _complete(value: Value, end: State, depth: int = 2) -> Value:
    """What the function returns: a copy from a device for which it has waited is like any other."""
    origin = value.origin
    done = origin is not None and (origin.function, origin.at) not in end.copies
    if origin is not None and origin.api == knowledge.UNDER_WAY and done:
        value = value._replace(origin=origin._replace(api=""))
    if not depth or (value.items is None and value.element is None):
        return value
    items = tuple(_complete(item, end, depth - 1) for item in value.items) if value.items else value.items
    element = _complete(value.element, end, depth - 1) if value.element is not None else None
    return value._replace(items=items, element=element)


def _doubt_places(machine: Statements, end: State, value: Value, depth: int = 2) -> None:
    """A module that the function made and gave to others on the way may be anywhere when it is returned."""
    ref, objects = value.who, machine.objects
    if value.kind is Kind.MODULE and type(ref) is int and ref not in end.places:
        if objects.is_made_in(ref, machine.here.name) and is_reached(objects, machine.log, ref, end.places):
            end.places[ref] = UNKNOWN_PLACE
    elif value.kind is Kind.CONTAINER and depth:
        for part in (*(value.items or ()), *((value.element,) if value.element is not None else ())):
            _doubt_places(machine, end, part, depth - 1)


def _number(log: Log, value: Value) -> Value:
    """What is kept of a parameter that was a size of something: the methods have a number there."""
    seen = log.notes.get(value.who, 0) if type(value.who) is int and value.kind is Kind.UNKNOWN else 0
    return NUMBER if seen & Evidence.NUMBER and not seen & (NO_NUMBER | NOT_A_TENSOR) else value


def _since(why: Why, end: State) -> Why:
    """What is certain at the end and was not at the start."""
    needed = end.why.needed and not why.needed
    if why.certain:
        return Why(needed=True) if needed else NEVER
    hints = tuple(hint for hint in end.why.hints if hint not in why.hints)
    return Why(end.why.certain, hints, needed=needed)


def _assigned(machine: Statements, end: State) -> dict[tuple[str, str], Value]:
    """What is in those attributes of `self` that the function assigns."""
    found: dict[tuple[str, str], Value] = {}
    for cls, attribute in sorted(machine.assigned):
        own = machine.objects.self_of(cls)
        value = end.env.get((own, Attr(attribute)))
        if value is not None:
            value = as_one(machine, unmoved.left(machine, own, attribute, value), end)
            found[cls, attribute] = lazily.as_filled(machine, value)
    return found


def _bound(
    machine: Statements, plain: Extraction, owner: Class | None, assigned: dict[tuple[str, str], Value]
) -> Iterator[Bound]:
    """Attributes that are the caller's very objects, or that a method of a module makes anew."""
    renews = owner is not None and owner.is_module and machine.here.own_name not in CONSTRUCTORS
    makes = owner is not None and not owner.is_module and machine.here.own_name == CONSTRUCTORS[0]
    others = _assigned_by_others(machine, owner, CONSTRUCTORS[:1]) if makes else frozenset()
    for (cls, attribute), value in assigned.items():
        named = value.place.of if value.kind is Kind.DEVICE and makes and attribute not in others else None
        given = value.who if type(value.who) is int else named
        if renews and is_anew(value) and _is_always_assigned(machine, cls, attribute):
            yield Bound(Path(Root("self", cls), (Attr(attribute),)), plain.term(value), True)
            continue
        if type(given) is int and plain.objects.is_parameter(given):
            term = plain.term(value)
            who = term.who if named is None else term.place.of
            if isinstance(who, Path) and who.root.kind == "parameter":
                yield Bound(
                    Path(Root("self", cls), (Attr(attribute),)), term, makes and attribute not in others
                )


def _is_always_assigned(machine: Statements, cls: str, attribute: str) -> bool:
    """Whether a function assigns an attribute of `self` on no condition, before it ends."""
    at_its_margin = any(
        isinstance(target, ast.Attribute) and target.attr == attribute
        for statement in getattr(machine.here.node, "body", ())
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    )
    key = machine.objects.self_of(cls), Attr(attribute)
    return at_its_margin and all(key in other.env for other in machine.exits)


def _parts_made(
    machine: Statements, owner: Class | None, assigned: dict[tuple[str, str], Value], end: State
) -> Iterator[tuple[tuple[Ref, Attr], Value]]:
    """What the objects that a constructor makes, and keeps in attributes, have in attributes of their own."""
    if owner is None or machine.here.own_name != CONSTRUCTORS[0]:
        return
    made = {value.who: name for (_, name), value in assigned.items() if value.kind is Kind.INSTANCE}
    others = _assigned_by_others(machine, owner, CONSTRUCTORS) if made else frozenset()
    for key, value in end.env.items() if made else ():
        if not isinstance(key, str) and isinstance(key[1], Attr):
            top = made.get(machine.objects.top(key[0]))
            if top is not None and top not in others:
                yield (key[0], key[1]), value


def _is_made_here(machine: Statements, value: Value) -> bool:
    """Whether an object is of this function's own making, so that its callers know it by what keeps it."""
    itself = value.kind in (Kind.MODULE, Kind.INSTANCE, Kind.OPTIMIZER)
    return itself and type(value.who) is int and machine.objects.is_made_in(value.who, machine.here.name)


def _kept_by_parts(
    extraction: Extraction, parts: Iterable[tuple[tuple[Ref, Attr], Value]]
) -> Iterator[Bound]:
    """The same, for callers."""
    for (part, step), value in parts:
        path = extraction.path(part)
        if path is None or path.root.kind != "self" or len(path.steps) >= MAX_STEPS:
            continue
        term = extraction.term(value)
        known = isinstance(term.who, Path) and (
            value.kind is not Kind.UNKNOWN or term.who.root.kind != "made"
        )
        if value.kind in _MADE_WITH or known:
            yield Bound(path._replace(steps=(*path.steps, step)), term, lasts=True)


def _assigned_by_others(machine: Statements, owner: Class | None, but: Collection[str]) -> Set[str]:
    """The attributes that methods of a class assign, some of them left out."""
    methods = owner.methods.items() if owner is not None else ()
    found = (machine.program.function(name) for own, name in methods if own not in but)
    return {name for each in found if each is not None for name in each.assigned_attributes}


def _moved_attributes(
    machine: Statements, plain: Extraction, owner: Class | None, assigned: dict[tuple[str, str], Value]
) -> Iterator[Bound]:
    """Plain tensors that a class's own move moves besides, if nothing else in the class assigns them."""
    if owner is None or owner.node is None or machine.here.own_name not in knowledge.MOVES:
        return
    others = _assigned_by_others(machine, owner, (CONSTRUCTORS[0], *knowledge.MOVES))
    for (cls, attribute), value in assigned.items():
        moved = value.kind in MAY_BE_COPIED and value.origin is not None and value.origin.how == "moved"
        if moved and value.place.form in (Form.CPU, Form.LITERAL, Form.SAME) and attribute not in others:
            yield Bound(Path(Root("self", cls), (Attr(attribute),)), plain.term(value))


def _devices_of(machine: Statements, plain: Extraction, end: State, result: Value) -> Iterator[Bound]:
    """The devices that an object has which the function makes and returns: a configuration."""
    ref = result.who
    if type(ref) is not int or not machine.objects.is_made_in(ref, machine.here.name):
        return
    path = plain.path(ref)
    for key, value in end.env.items() if path is not None else ():
        named = value.kind in (Kind.DEVICE, Kind.STRING) and value.place.form is not Form.UNKNOWN
        if named and path is not None and isinstance(key, tuple) and key[0] == ref:
            yield Bound(path._replace(steps=(*path.steps, key[1])), plain.term(value))


def _chooses(machine: Statements) -> Iterable[str]:
    """Parameters that may name a device that is not there: the function goes on without it."""
    named, chosen = machine.log.named, machine.log.chosen | _wishes(machine)
    if named or chosen:
        for parameter in _parameters(machine.here):
            ref = machine.objects.parameter(machine.here.name, parameter.name)
            sure = named.get(ref)
            if sure is not False and (sure or ref in chosen):
                yield parameter.name


def _wishes(machine: Statements) -> set[Ref]:
    """Parameters that are only compared with an accelerator's name, to choose by what is there."""
    if not any(raw.callee in knowledge.ASKS_MACHINE for raw in machine.log.calls.values()):
        return set()
    compares = machine.log.compares
    sides = {part for node in compares for part in (node.left, *node.comparators)}
    used = {
        node.id
        for node in machine.here.nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in sides
    }
    return {
        value.who
        for raw in compares.values()
        for (at, value), (_, text) in ((raw.left, raw.right), (raw.right, raw.left))
        if constant(text) in knowledge.ACCELERATORS and type(value.who) is int
        if isinstance(at, ast.Name) and at.id not in used
    }


def _binding(function: Function) -> Binding:
    if function.prop and function.is_method:
        return "property"
    if not function.is_method:
        return "static" if function.owner is not None else "plain"
    return "class" if function.of_class else "self"


def _parameters(function: Function) -> tuple[Parameter, ...]:
    args = function.args
    if args is None:
        return ()
    without = len(args.posonlyargs) + len(args.args) - len(args.defaults)
    defaults = [*[None] * without, *args.defaults]
    found = [
        Parameter(
            arg.arg,
            "positional" if arg in args.posonlyargs else "either",
            default is not None,
            cases.answers_of_constant(default),
            _names_cpu(default),
            _accelerator_named(default),
        )
        for arg, default in zip((*args.posonlyargs, *args.args), defaults, strict=True)
    ]
    found += [
        Parameter(
            arg.arg,
            "keyword",
            default is not None,
            cases.answers_of_constant(default),
            _names_cpu(default),
            _accelerator_named(default),
        )
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    found += [Parameter(args.kwarg.arg, "kwargs", default=False)] if args.kwarg is not None else []
    return tuple(found)


def _names_cpu(default: ast.expr | None) -> bool:
    return _device_named(default) == CPU.name


def _accelerator_named(default: ast.expr | None) -> str:
    """The accelerator that an expression names; empty for any other."""
    text = _device_named(default)
    return text if text.partition(":")[0] in knowledge.ACCELERATORS else ""


def _device_named(default: ast.expr | None) -> str:
    """The device that an expression names, by itself or as a `torch.device`; empty for any other."""
    named = default
    if (
        isinstance(default, ast.Call)
        and last_name(default) == knowledge.MAKES_DEVICE
        and len(default.args) == 1
    ):
        named = default.args[0]
    text = named.value if isinstance(named, ast.Constant) else None
    return text if isinstance(text, str) else ""


def _result(machine: Statements) -> Value:
    """What the function returns; its annotation decides where the code does not."""
    result, answers = machine.returned, machine.answers
    if machine.yields:
        # What a decorator makes of a generator may be no iterable: a context manager, a fixture.
        plain = machine.here.decorators <= knowledge.LEAVES_GENERATORS
        element = machine.element_given if plain else None
        return container(element=element) if element is not None else UNKNOWN
    if _chooses_device(answers):
        nodes = [answer.node for answer in answers if answer.node is not None]
        machine.harmless(nodes, "chosen")
    said = _answers_for_accelerator(answers)
    if said is not None:
        return flag(said)
    if result is None:
        returns = getattr(machine.here.node, "returns", None) if machine.here.is_hook else None
        return annotated(machine, returns, None) or NONE
    if result.kind is Kind.UNKNOWN:
        promised = annotated(machine, getattr(machine.here.node, "returns", None), machine.ref(result))
        if promised is not None:
            return promised._replace(place=result.place)
    return result


def _answers_for_accelerator(answers: list[Answer]) -> Truth | None:
    """What a function says that gives False without an accelerator, and anything else with one only."""
    others = [answer for answer in answers if not false_constant(answer.value)]
    if not 0 < len(others) < len(answers) or not all(
        answer.why.guarded and answer.value.kind in (Kind.NUMBER, Kind.UNKNOWN, Kind.FLAG)
        for answer in others
    ):
        return None
    of_processes = all(answer.why.hints == (PROCESSES.hint,) and not answer.why.certain for answer in others)
    return PROCESSES if of_processes else Truth(True, False)


def _chooses_device(answers: list[Answer]) -> bool:
    """Whether a function returns the cpu on one path and an accelerator on another, whatever it asks."""
    forms = {answer.value.place.form for answer in answers if answer.value.kind is Kind.DEVICE}
    return {Form.CPU, Form.LITERAL} <= forms
