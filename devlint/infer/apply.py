"""Calls of functions of the project: a summary, in terms of what the caller passes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from .. import knowledge
from ..bind.names import is_place
from ..core.events import Why
from ..core.evidence import PASSED_ON, Evidence
from ..core.kinds import MAY_BE_COPIED, TENSORS, Kind
from ..core.objects import OR_ANOTHER, foreign_name
from ..core.paths import Attr, Item, Path, Ref, Root, Who
from ..core.places import CPU, ON_DEVICE, UNKNOWN_PLACE, Form, Place
from ..core.state import Mark
from ..core.summary import Bound, Copied, Effect, FunctionSummary, Marked, Moved
from ..core.values import (
    GRAPH,
    MAPPINGS,
    UNKNOWN,
    Defined,
    Origin,
    Value,
    element_of,
    is_anew,
    is_made,
)
from . import cases
from .asks import answer, is_replaced, record_ask
from .lent import lend, note_placed
from .log import RawMove
from .log import Site as CallSite
from .machine import Arguments, Machine
from .needs import fails, meet
from .substitute import KEEP_IDENTITY, Given, Substitution, defaults
from .told import keeps

_KEPT = frozenset({Kind.INSTANCE, Kind.MODULE, Kind.TENSOR, Kind.BATCH})
"""What an object is known to have that it was made with, if none of its methods puts another in its place."""
_CHOSEN = frozenset({Kind.DEVICE, Kind.STRING, Kind.NUMBER})
"""What names a device, and is no object of its own."""
_REFORMED = frozenset({Kind.UNKNOWN, Kind.BATCH, Kind.CONTAINER})
"""What may be what the function was given, in another form."""
_CONSTRUCTOR = ".__init__"


def function_call(
    machine: Machine, node: ast.Call, name: str, bound: Value | None, args: Arguments
) -> Value | None:
    """Call a function of the project by its summary; None where nothing is known of it."""
    function = machine.program.function(name)
    summary = machine.program.summary(name)
    if summary is None:
        return None
    if bound is not None and not name.endswith(_CONSTRUCTOR) and not _takes(summary, args):
        return machine.unknown(node)  # what was called is another: an annotation means the class itself, say
    if knowledge.MOVED_BEFORE in summary.reaches:
        return machine.unknown(node)
    given = bind_arguments(machine, summary, bound, args)
    if summary.cases:
        passed = {key: each.value for key, each in given.items()}
        summary = cases.fitting(machine, summary, passed, args.starred or bool(args.unpacked))
    sites = machine.log.abroad if function is None else machine.log.sites
    sites.append(_site(machine, node, name, given, args))
    if not (args.starred or args.unpacked):
        given = {**defaults(summary), **given}
    if bound is not None and bound.kind in (Kind.INSTANCE, Kind.MODULE) and name.endswith(_CONSTRUCTOR):
        _remember(machine, node, summary, given, bound)
    if bound is not None and bound.kind is Kind.INSTANCE and is_replaced(summary):
        result = machine.unknown(node)
        record_ask(machine, bound, summary.name.rpartition(".")[2], args, result)
        return result
    if machine.is_discarded(node):
        _discard(machine, node, summary, given)
    result = apply(machine, node, summary, given, bound, _rest(summary, bound, args))
    if bound is not None and name.rpartition(".")[2] in knowledge.MOVES:
        _forget_device(machine, bound)
    if not summary.reaches.isdisjoint(knowledge.NAMES_DEVICES):
        lend(machine, [each.value for each in given.values()])
    if result.kind in _REFORMED and type(result.who) is int:
        machine.log.remade(result.who, [each.value for each in given.values()])
    return result


def _remember(
    machine: Machine, node: ast.Call, summary: FunctionSummary, given: Mapping[str, Given], made: Value
) -> None:
    """An object keeps what its constructor put where that was told, or where something else was then."""
    view = machine.program.view(made.known.dotted) if isinstance(made.known, Defined) else None
    ref = machine.ref(made)
    if view is None or ref is None:
        return
    kept = view.nearest()
    told = {name: name for name in knowledge.DEVICE_KEYWORDS & given.keys() & kept.keys()} | keeps(
        summary, view
    )
    for attribute, name in told.items():
        if name in given and given[name].value.place == CPU and given[name].value.kind in _CHOSEN:
            machine.state.env[ref, Attr(attribute)] = given[name].value
    asked = {path.root.name.removesuffix(OR_ANOTHER) for term in kept.values() for path in _places_in(term)}
    copies = {
        term.place.of.root.name.removesuffix(OR_ANOTHER): Attr(name)
        for name, term in kept.items()
        if term.kind is Kind.UNKNOWN and term.place.form is Form.AT and isinstance(term.place.of, Path)
    }
    for name, each in given.items() if asked else ():
        key = foreign_name(summary.name, Root("parameter", name))
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


def _forget_device(machine: Machine, bound: Value) -> None:
    """Whoever moves an object tells it another device than its constructor was told."""
    if (ref := machine.ref(bound)) is not None:
        told = [key for key, value in machine.state.env.items() if type(key) is tuple and key[0] == ref]
        for key in told:
            if machine.state.env[key].kind in _CHOSEN and isinstance(key[1], Attr):
                del machine.state.env[key]


def _places_in(term: Value, depth: int = 4) -> Iterator[Path]:
    """What the places of a value, and of what it holds, speak of."""
    if isinstance(term.place.of, Path):
        yield term.place.of
    for part in (
        (*(term.items or ()), *((term.element,) if term.element is not None else ())) if depth else ()
    ):
        yield from _places_in(part, depth - 1)


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
    elif value.kind is Kind.BATCH and value.known != GRAPH:
        value = value._replace(kind=Kind.TENSOR)
    elif value.kind not in TENSORS and (value.kind is not Kind.UNKNOWN or value.who is None):
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


_MOVED_TO = ON_DEVICE | {Form.UNKNOWN}
"""Unknown is where it is moved if it is a tensor: `v.to(device) if torch.is_tensor(v) else v`."""


def _moved_copy(summary: FunctionSummary) -> tuple[str, Place] | None:
    """The parameter of which a function returns a moved copy, and where that is, if it changes nothing."""
    filled = (
        any(bits & Evidence.FILLED for _, bits in summary.evidence) or knowledge.STORES in summary.reaches
    )
    if filled or summary.yields or any(isinstance(each, (Bound, Marked)) for each in summary.effects):
        return None
    found: set[tuple[str, Place]] = set()
    for part in _leaves(summary.returns):
        who = part.who
        if part.origin is None or part.origin.how != "moved" or part.place.form not in _MOVED_TO:
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
    for value in arguments.values():  # a part of a module is where that is
        if value.kind is Kind.MODULE and type(value.who) is int and value.who not in places:
            place = machine.place_of(value)
            if place.form is not Form.CPU:
                places[value.who] = place
    marks = {key: mark for key, mark in state.marks.items() if key[1] in refs} if refs else {}
    more = args.starred or bool(args.unpacked)
    if state.default is not None:  # what the callee makes is there, too: that it meets these says nothing
        lost = {name: value for name, value in arguments.items() if value.kind in TENSORS}
        arguments = {**arguments, **{name: each._replace(place=UNKNOWN_PLACE) for name, each in lost.items()}}
    elsewhere = state.default is not None
    met = more, entries, elsewhere, machine.branches > 0
    machine.here.number(node)  # as others know it: whoever analyses the file again counts alike
    return CallSite(callee, arguments, places, marks, state.why, state.touched, node, *met)


def made_plainly(machine: Machine, node: ast.Call, cls: str, args: Arguments) -> None:
    """Record that an object is made of a class that has no constructor of its own, as a call of one."""
    machine.log.abroad.append(_site(machine, node, f"{cls}{_CONSTRUCTOR}", {}, args))


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
    if isinstance(whole, Path) and not whole.steps and summary.returns.kind not in KEEP_IDENTITY:
        sub.returned = whole.root
    sub.local = machine.program.function(summary.name) is not None
    sub.moves = frozenset(effect.path for effect in summary.effects if isinstance(effect, Moved))
    _forget_made(machine, sub, summary)
    for path, bits in summary.evidence:
        ref = sub.ref(path)
        if ref is not None:
            machine.log.note(ref, bits & PASSED_ON)
        if bits & Evidence.FILLED:
            passed = given.get(path.root.name)
            _fill(machine, passed, sub.at(path), bits)
            if passed is not None and passed.value.kind is Kind.CONTAINER:
                sub.given = {**sub.given, path.root.name: passed._replace(value=_opened(passed.value))}
    returned = summary.returns.who
    for effect in summary.effects:
        if summary.yields and isinstance(effect, Moved):
            effect = effect._replace(place=UNKNOWN_PLACE)  # as far as it has come by then, or to its end
        _effect(machine, node, sub, effect, effect.path == returned)
    called: ast.AST = node.func if isinstance(node, ast.Call) else node
    if shown is not None:
        called = sub.called = shown
    for ask in summary.asks:
        answer(machine, node, sub, ask, apply)
    for need in summary.needs:
        meet(machine, sub, need, called)
    require(machine, summary.requires)
    machine.log.reaches |= summary.reaches
    if "loads" in summary.reaches:
        machine.loads(node)
    if "sync" in summary.reaches:
        machine.state.copies = frozenset()
    if summary.touches:
        machine.touch(node)
    result = sub.value(summary.returns)
    if is_made(result) and any(fails(sub, need) for need in summary.needs):
        result = result._replace(place=UNKNOWN_PLACE, origin=None)  # of what does not come back
    machine.state.copies |= set(_under_way(result))
    if knowledge.MOVES_SOMETHING in summary.reaches:
        for value in (result, *(result.items or ())):
            if value.kind is Kind.UNKNOWN and value.who in sub.results:
                machine.note(value, Evidence.PLACED)  # a dataset, say, that may hold what was moved
    return result


def _has_parts(owner: Value | None) -> bool:
    """Whether what is put into an object is what is read there; a tensor copies what it is given."""
    return owner is not None and owner.kind not in TENSORS


def _objects(value: Value | None) -> Iterator[Ref]:
    """What has attributes, by itself or in a container."""
    held = (*(value.items or ()), value.element, value) if value is not None else ()
    for each in held:
        if each is not None and each.kind in (Kind.INSTANCE, Kind.MODULE) and type(each.who) is int:
            yield each.who


def _fill(machine: Machine, given: Given | None, filled: Value | None, bits: int) -> None:
    """A function assigned parts of what it was given: what a container holds is not known any more.

    What came with a batch may be where it belongs by now, if the function did not say what it put where.
    """
    if bits & Evidence.PLACED and filled is not None and filled.kind not in (*TENSORS, Kind.CONTAINER):
        note_placed(machine, filled)
    for each in _objects(filled) if bits & Evidence.PLACED else ():
        machine.forget_attributes(each)
    if given is None or given.value.kind is not Kind.CONTAINER:
        return
    ref = machine.ref(given.value)
    for key in [key for key in machine.state.env if type(key) is tuple and key[0] == ref]:
        del machine.state.env[key]
    if given.at is not None and is_place(given.at):
        machine.rebind(given.at, _opened(given.value))


def _opened(whole: Value) -> Value:
    """A container in which anything may be by now."""
    return whole._replace(items=None, element=UNKNOWN)


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


def _is_weight(sub: Substitution, who: Who | None) -> bool:
    """Whether a callee keeps a Parameter of its caller, which moves in place; a view of that stays."""
    source = sub.root(who) if isinstance(who, Path) and not who.steps else None
    return source is not None and source.kind is Kind.PARAMETER


def _effect(machine: Machine, node: ast.AST, sub: Substitution, effect: Effect, returned: bool) -> None:
    if isinstance(effect, Bound):
        given = sub.value(effect.value)
        if given.kind in TENSORS and _is_weight(sub, effect.value.who):
            given = given._replace(place=UNKNOWN_PLACE, origin=None)
        owner = sub.ref(effect.path._replace(steps=effect.path.steps[:-1]))
        moved = given.kind in MAY_BE_COPIED and given.origin is not None and given.origin.how == "moved"
        kept = effect.lasts and (given.kind in _KEPT or len(effect.path.steps) > 1)
        kept |= effect.lasts and given.kind is Kind.UNKNOWN and given.who is not None
        if given.kind is Kind.DEVICE and given.place.form is Form.UNKNOWN:
            return
        kept |= effect.lasts and (is_anew(given) or (given.kind is Kind.LOADER and _stays(sub, effect.path)))
        if effect.path.root.kind == "parameter":
            kept |= _has_parts(sub.at(effect.path._replace(steps=effect.path.steps[:-1])))
        if owner is not None and (given.kind in _CHOSEN or moved or kept):
            # An object that is given goes by the attribute's name, and moves with the one that has it.
            machine.state.env[owner, effect.path.steps[-1]] = given
            step = effect.path.steps[-1]
            home = machine.here.owner if moved and machine.here.own_name in knowledge.MOVES else None
            if home is not None and isinstance(step, Attr) and owner == machine.objects.self_of(home):
                machine.assigned.add((home, step.name))  # a class's own `cpu`, by its own `to`
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


def _stays(sub: Substitution, path: Path) -> bool:
    """Whether no method of the class that an object is of, or of its bases, puts another there later."""
    known, step = sub.bound.known if sub.bound is not None else None, path.steps[-1]
    view = sub.machine.program.view(known.dotted) if isinstance(known, Defined) else None
    return view is not None and isinstance(step, Attr) and not view.varies(step.name)


def _takes(summary: FunctionSummary, args: Arguments) -> bool:
    """Whether a function has the parameters that are named."""
    if not args.keywords:
        return True
    named = {each.name for each in summary.parameters if each.how in ("either", "keyword")}
    return named.issuperset(args.keywords) or any(each.how == "kwargs" for each in summary.parameters)


def inherit_devices(machine: Machine, node: ast.Call, base: str, itself: Value, args: Arguments) -> None:
    """A constructor tells the one that it inherits a device: `super().__init__(device)`.

    What else that assigns, methods begin with anyway; which device it is, callers tell this one.
    """
    summary, home, owner = machine.program.summary(base), machine.here.owner, machine.ref(itself)
    if summary is None or home is None or owner != machine.objects.self_of(home):
        return
    unpacked = [at for at, _ in args.unpacked]
    given = bind_arguments(machine, summary, itself, args)
    sub = Substitution(
        machine, node, {name: each for name, each in given.items() if each.at not in unpacked}, itself
    )
    for effect in summary.effects:
        if not isinstance(effect, Bound) or not effect.lasts or len(effect.path.steps) != 1:
            continue
        step, who = effect.path.steps[0], effect.value.who
        named = isinstance(who, Path) and not who.steps and who.root.name in knowledge.DEVICE_KEYWORDS
        if isinstance(step, Attr) and (named or effect.value.kind is Kind.DEVICE):
            value = sub.value(effect.value)
            if value.who is not None or value.place.form is not Form.UNKNOWN:
                made = value.kind is Kind.DEVICE
                machine.state.env[owner, step] = value._replace(who=None) if made else value
                machine.assigned.add((home, step.name))


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
        elif whole.kind is Kind.CONTAINER and whole.known in MAPPINGS and whole.element is not None:
            wanted = {each.name for each in summary.parameters if not each.default}
            for name in wanted.intersection(names).difference(given):  # it is there, whatever the mapping has
                kept = machine.state.env.get((machine.ref(whole) or -1, Item(name)))
                given[name] = Given(at, kept or whole.element)
    return given
