"""Modules that were made here, are never moved, and are given what was, or may have been."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from .. import knowledge
from ..core.events import Conflict, Meets
from ..core.evidence import Evidence
from ..core.kinds import MAY_HOLD_TENSORS, TENSORS, Kind
from ..core.paths import Ref, Root, Who
from ..core.places import MOVED_TO, ON_DEVICE, Form, Place
from ..core.values import OF_CLASSES, OF_SOME, Api, Defined, OneOf, Value
from .behind import Meetings
from .classes import Class
from .function import CONSTRUCTORS
from .holdings import has_weights, is_reached
from .log import RawBind, RawCall, RawMeeting
from .results import Result
from .settle import Settled
from .several import alternatives, default
from .transfers.modules import held_in

_PLAIN = ("", "builtins.object")


_Side = tuple[ast.AST, Place, Value, ast.AST, Place, Value]
_HAVE_A_PLACE = TENSORS | {Kind.DEVICE, Kind.BATCH, Kind.MODULE}


class Stays(NamedTuple):
    """A module that stays on the cpu, and the first call that gives it what is elsewhere."""

    function: str
    """Where it is called."""
    raw: RawCall | RawMeeting
    module: Value
    at: ast.expr
    """What is called."""
    given: ast.expr
    there: Place
    value: Value
    conflict: Conflict = Conflict.CERTAIN
    how: Meets = "call"


def staying(settled: Settled, judged: Meetings, gave: Iterable[Result]) -> Iterator[Stays]:
    """Modules that fail at their first call on an accelerator; each is told once."""
    told: set[Ref] = set()
    perhaps: list[Stays] = []
    """What is given something that was moved as tensors are, and may be anything that has such a method."""
    for function, log in settled.logs.items():
        for raw in log.calls.values():
            module, at = raw.receiver, raw.receiver_at
            if raw.callee != knowledge.RUNS_MODULE or module is None or at is None:
                continue
            place = raw.places.get(at)
            if type(module.who) is not int or module.who in told or place is None:
                continue
            if place.form is not Form.CPU or place.of is not None:
                continue
            several = alternatives(settled.objects, log.alternatives, module) or [module]
            left = next((each for each in several if _stays(settled, judged, each)), None)
            if left is None or type(left.who) is not int or left.who in told:
                continue
            for _, where, value in raw.args.named():
                there = raw.places.get(where, value.place)
                if type(there.of) is int and settled.objects.is_part(there.of, module.who):
                    continue  # where the module itself is
                if there.form not in MOVED_TO or judged.follows_cpu(there):
                    continue
                if settled.kind_of_moved(value, function) is not None:
                    told.add(left.who)
                    sure = all(is_heavy_anyway(settled, each) for each in several)
                    conflict = Conflict.CERTAIN if sure else Conflict.PRESUMED
                    yield Stays(function, raw, left, at, where, there, value, conflict)
                    break
                if value.kind is Kind.UNKNOWN:
                    perhaps.append(Stays(function, raw, left, at, where, there, value, Conflict.PRESUMED))
    others = (search(settled, judged) for search in (_needed, _given, _copied, _by_default))
    for found in chain(*others, _resulting(settled, judged, gave), perhaps):
        if judged.follows_cpu(found.there):
            continue
        if type(found.module.who) is int and found.module.who not in told:
            told.add(found.module.who)
            yield found


def _sides(raw: RawMeeting) -> tuple[_Side, _Side]:
    """A meeting from each of its sides: what is there and where, and the same of the other."""
    one, other = (raw.left, raw.here, raw.one), (raw.right, raw.there, raw.other)
    return (*one, *other), (*other, *one)


def _needed(settled: Settled, judged: Meetings) -> Iterator[Stays]:
    """Modules of which a method brings together what they have, be it buffers, and what was moved."""
    for function, log in settled.logs.items():
        for raw in log.meetings.values() if not judged.among_cpu(function) else ():
            for at, here, module, given, there, value in _sides(raw):
                if module.kind is not Kind.MODULE or here.form is not Form.CPU or here.of is not None:
                    continue
                if not isinstance(module.known, Defined):
                    continue  # what a library's class keeps may be a copy of what was moved
                if there.form not in MOVED_TO or not settled.may_hold_tensors(value):
                    continue
                if not (isinstance(at, ast.expr) and isinstance(given, ast.expr)) or raw.within is None:
                    continue
                if _stays(settled, judged, module) and moves_another(settled, module):
                    yield Stays(function, raw, module, at, given, there, value)


def _given(settled: Settled, judged: Meetings) -> Iterator[Stays]:
    """Modules that a function makes for this call alone, and gives what its caller may have moved."""
    objects = settled.objects
    for function, log in settled.logs.items():
        home = settled.file.functions.get(function)
        if home is None or home.own_name in CONSTRUCTORS or not judged.may_follow(function):
            continue
        modules = _made_in(settled, function)
        for raw in log.meetings.values() if modules else ():
            for at, here, one, given, there, value in _sides(raw):
                module, ref = _whole(settled, modules, one), there.of
                if module is None or here.form is not Form.CPU:
                    continue
                if there.form is not Form.AT or type(ref) is not int:
                    continue
                if not (isinstance(at, ast.expr) and isinstance(given, ast.expr)):
                    continue
                conflict = judged.apart(function, there, value, module)
                if conflict is not Conflict.PORTABLE:
                    roots = judged.roots(ref)
                    own = [
                        objects.is_parameter(each) and objects.functions[each] == function for each in roots
                    ]
                    if value.kind not in TENSORS or not own or not all(own):
                        continue
                    conflict = Conflict.CALLER
                if _stays(settled, judged, module):
                    yield Stays(function, raw, module, at, given, there, value, conflict)


def _copied(settled: Settled, judged: Meetings) -> Iterator[Stays]:
    """What objects keep copies of that were taken before the module moved, and what methods give those."""
    objects = settled.objects
    for function, log in settled.logs.items():
        for raw in log.meetings.values() if not judged.among_cpu(function) else ():
            for at, here, module, given, there, value in _sides(raw):
                if module.kind is not Kind.MODULE or module.origin is None or type(module.who) is not int:
                    continue
                if here.form is not Form.CPU or here.of is not None or there.form not in MOVED_TO:
                    continue
                keeper = objects.parents[module.who]
                if keeper < 0 or not objects.is_made_in(keeper, function):
                    continue
                if value.kind not in MAY_HOLD_TENSORS:
                    continue
                reached = any(is_reached(objects, each, keeper) for each in settled.logs.values())
                if not (isinstance(at, ast.expr) and isinstance(given, ast.expr)):
                    continue
                if not reached and is_heavy(settled, module) and moves_another(settled, module):
                    yield Stays(function, raw, module, at, given, there, value)


def _resulting(settled: Settled, judged: Meetings, gave: Iterable[Result]) -> Iterator[Stays]:
    """Modules that are given what is on the cpu as well, while what they give meets what was moved."""
    for each in gave:
        if _stays(settled, judged, each.module):
            conflict = Conflict.CERTAIN if each.sure else Conflict.PRESUMED
            sides = (each.module, each.at, each.given, each.there, each.value)
            yield Stays(each.function, each.raw, *sides, conflict, "result")


def _by_default(settled: Settled, judged: Meetings) -> Iterator[Stays]:
    """Modules that a function makes where its caller gives none, and runs on what it moved."""
    for function, log in settled.logs.items():
        for raw in log.calls.values() if not judged.among_cpu(function) else ():
            module, at = raw.receiver, raw.receiver_at
            if raw.callee != knowledge.RUNS_MODULE or module is None or at is None:
                continue
            made = default(settled.objects, log.alternatives, module)
            if made is None or not _stays(settled, judged, made):
                continue
            for _, where, value in raw.args.named():
                there = raw.places.get(where, value.place)
                if there.form in MOVED_TO and settled.may_hold_tensors(value):
                    yield Stays(function, raw, made, at, where, there, value, Conflict.PRESUMED)
                    break


def _whole(settled: Settled, modules: list[Value], value: Value) -> Value | None:
    """The module that a value is, or is a part of."""
    ref, within = value.who, settled.objects.is_part
    if type(ref) is not int:
        return None
    return next((each for each in modules if type(each.who) is int and within(ref, each.who)), None)


def _made_in(settled: Settled, function: str) -> list[Value]:
    """The modules that a function makes, and runs or passes on."""
    log = settled.logs[function]
    used = [raw.receiver for raw in log.calls.values() if raw.receiver is not None]
    used += [value for site in log.sites for value in site.arguments.values()]
    return [
        value
        for value in used
        if value.kind is Kind.MODULE and value.origin is not None and value.origin.function == function
    ]


def _stays(settled: Settled, judged: Meetings, module: Value) -> bool:
    """Whether a module has something to move, and nothing that could move it is to be seen."""
    kept = (
        raw
        for log in settled.logs.values()
        for raw in log.binds.values()
        if raw.value.who == module.who or _is_among(settled, module.who, raw.value.who)
    )
    return is_left_alone(settled, module) and all(_only_kept(settled, judged, raw) for raw in kept)


def _is_among(settled: Settled, one: Who | None, who: Who | None) -> bool:
    """Whether an object is one of the several that another may be."""
    known = type(who) is int and who in settled.objects.sources
    return known and type(who) is int and any(each == one for each in settled.objects.may_be(who))


def _only_kept(settled: Settled, judged: Meetings, raw: RawBind) -> bool:
    """Whether a plain object of the file keeps a module, and nothing does more with it than to run it."""
    owner = raw.owner
    if raw.target != "attribute" or owner.kind is not Kind.INSTANCE or not isinstance(owner.known, Defined):
        return False
    cls = settled.file.classes.get(owner.known.dotted)
    return cls is not None and is_plain(settled, cls) and not judged.is_reached(cls.name, raw.name)


def is_plain(settled: Settled, cls: Class) -> bool:
    """Whether a class of the file has nothing but what it and its bases, of the file as well, define.

    One that reaches its attributes by other ways than their names may have anything.
    """
    if cls.is_module or cls.framework or cls.node is None or not cls.names.isdisjoint(knowledge.LOOKS_INSIDE):
        return False
    here = all(each in settled.file.classes for one in cls.lineage() for each in one.bases)
    return here and (cls.library_base() or "") in _PLAIN


def is_left_alone(settled: Settled, module: Value) -> bool:
    """Whether a module has something to move, and nothing moves it, but what keeps it may."""
    ref, origin, objects = module.who, module.origin, settled.objects
    if type(ref) is not int or origin is None:
        return False
    way = objects.ways[ref]
    if not isinstance(way, Root) or way.kind != origin.how or not is_heavy(settled, module):
        return False
    classes = module.known.classes if isinstance(module.known, OneOf) else (module.known,)
    if any(isinstance(each, Defined) and may_move_itself(settled, each.dotted) for each in classes):
        return False
    return not any(is_reached(objects, log, ref) for log in settled.logs.values())


def may_move_itself(settled: Settled, name: str) -> bool:
    """Whether a class of the project may bring its parts somewhere, or is not known well enough."""
    view = settled.file.view(name)
    if view is None or view.framework or any(map(view.method, knowledge.KEEPS_ITS_OWN)):
        return True
    if view.moves_more() or any(_places(settled, cls) for cls in view.lineage()):
        return True
    return any(value.kind is Kind.DEVICE or value.place.form in ON_DEVICE for value in view.attributes())


def _places(settled: Settled, cls: Class) -> bool:
    """Whether a constructor is told a device, or finds one, for what it makes."""
    made = (cls.methods[name] for name in CONSTRUCTORS if name in cls.methods)
    summaries = map(settled.file.summary, made)
    return any(each is None or not each.reaches.isdisjoint(knowledge.NAMES_DEVICES) for each in summaries)


def moves_another(settled: Settled, module: Value) -> bool:
    """Whether the file moves a module, so that this one was meant to be moved as well."""
    return any(
        raw.target is not None
        and raw.receiver.who != module.who
        and type(raw.receiver.who) is int
        and (raw.receiver.kind is Kind.MODULE or settled.seen(raw.receiver.who) & Evidence.MODULE)
        and raw.target.form is not Form.CPU
        for log in settled.logs.values()
        for raw in log.moves.values()
    )


def is_heavy_anyway(settled: Settled, module: Value) -> bool:
    """The same, on all paths on which it was made, and known of one part at least, if it holds others."""
    some = module.origin is not None and module.origin.attribute == OF_SOME
    held = _held(settled, module)
    unknown = bool(held) and not any(_is_heavy_part(settled, part) for part in held or ())
    return not some and not unknown and is_heavy(settled, module)


def is_heavy(settled: Settled, module: Value) -> bool:
    """Whether a module has weights to move, or is a loss with those of classes."""
    if module.origin is not None and module.origin.attribute in (OF_CLASSES, OF_SOME):
        return True
    if has_weights(module, settled.file) and not _holds_nothing(settled, module):
        return True
    if module.who in settled.optimized:
        return True
    return any(
        (value.kind is Kind.TENSOR and _is_on_cpu(value)) or _is_given_on_cpu(settled, value)
        for value in _of_classes(settled, module)
    )


def _holds_nothing(settled: Settled, module: Value) -> bool:
    """Whether all that a container is made with has nothing to move: `nn.Sequential(nn.Flatten())`."""
    held = _held(settled, module)
    return bool(held) and not any(
        part.kind is not Kind.MODULE or _is_heavy_part(settled, part) for part in held or ()
    )


def _is_heavy_part(settled: Settled, part: Value) -> bool:
    return part.kind is Kind.MODULE and has_weights(part, settled.file)


def _held(settled: Settled, module: Value) -> list[Value] | None:
    """All that a container of modules is made with; None of anything else, and where that is not known."""
    known = module.known
    if known is not None and not (isinstance(known, Api) and _holds_modules(known.dotted)):
        return None
    for raw in _made_with(settled, module):
        if not _holds_modules(raw.callee) or raw.args.unpacked:
            return None
        return [part for _, value in raw.args.all() for part in held_in(value)]
    return None


def _holds_modules(name: str) -> bool:
    return knowledge.HOLDS_MODULES in knowledge.topics(name)


def _made_with(settled: Settled, module: Value) -> Iterator[RawCall]:
    """The call that made a module, here or in a function that gave it."""
    made = [settled.made_by(module.who)] if type(module.who) is int else []
    origin = module.origin
    if origin is not None and (home := settled.file.functions.get(origin.function)) is not None:
        made.append(home.nodes[origin.at])
    calls = (
        log.calls.get(node) for node in made for log in settled.logs.values() if isinstance(node, ast.Call)
    )
    yield from filter(None, calls)


def _is_on_cpu(value: Value) -> bool:
    return value.place.form is Form.CPU and value.place.of is None


def _is_given_on_cpu(settled: Settled, value: Value) -> bool:
    """Whether all calls in the file give a function what is on the cpu, and it is that, or lies with it."""
    ref = value.place.of if value.place.form is Form.AT else value.who
    if type(ref) is not int or value.place.form not in (Form.AT, Form.UNKNOWN):
        return False
    way = settled.objects.ways[ref]
    if not isinstance(way, Root) or way.kind != "parameter":
        return False
    sites = settled.sites.get(settled.objects.functions[ref], ())
    given = [site.arguments.get(way.name) for _, site in sites]
    tensors = [each for each in given if each is not None and each.kind in TENSORS]
    return bool(given) and len(tensors) == len(given) and all(map(_is_on_cpu, tensors))


def is_heavy_perhaps(settled: Settled, module: Value) -> bool:
    """Whether a loss has weights of classes that a function computed which moves nothing."""
    return any(
        value.kind is Kind.TENSOR and value.place.form is Form.UNKNOWN and _is_computed_here(settled, value)
        for value in _of_classes(settled, module)
    )


def _of_classes(settled: Settled, module: Value) -> Iterator[Value]:
    """The tensors that a loss is given as the weights of classes."""
    known = module.known
    if not isinstance(known, Api) or "loss" not in knowledge.topics(known.dotted):
        return
    for raw in _made_with(settled, module):
        for name, _, value in raw.args.named():
            if name in knowledge.LOSS_WEIGHTS and value.kind in (Kind.TENSOR, Kind.UNKNOWN):
                yield value


def _is_computed_here(settled: Settled, value: Value) -> bool:
    """Whether a function of the project made a tensor of what is none, and knows no device."""
    made = settled.made_by(value.who) if type(value.who) is int else None
    for log in settled.logs.values():
        for site in (*log.sites, *log.abroad) if made is not None else ():
            if site.at is made:
                summary = settled.file.summary(site.callee)
                given = {each.kind for each in site.arguments.values()}
                if summary is None or not given.isdisjoint(_HAVE_A_PLACE):
                    return False
                return summary.reaches.isdisjoint(knowledge.NAMES_DEVICES)
    return False
