"""Models that what is not in sight made, that nothing in sight moves, and that are given what was moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .. import knowledge
from ..core.events import Conflict
from ..core.evidence import Evidence
from ..core.kinds import Kind
from ..core.paths import Attr, Ref, Root
from ..core.places import MOVED_TO, Form, Place
from ..core.values import Origin
from .behind import Meetings
from .function import CONSTRUCTORS
from .halves import is_heavy_class
from .holdings import is_reached
from .settle import Settled
from .stays import Stays


def foreign(settled: Settled, judged: Meetings) -> Iterator[Stays]:
    """The first call of each that fails on an accelerator, unless what made it has put it there."""
    told = set[Ref]()
    for function, log in settled.logs.items():
        for raw in log.meetings.values() if not judged.among_cpu(function) else ():
            for at, here, model, given, there, value in (
                (raw.left, raw.here, raw.one, raw.right, raw.there, raw.other),
                (raw.right, raw.there, raw.other, raw.left, raw.here, raw.one),
            ):
                ref = model.who
                if type(ref) is not int or ref in told or here.form is not Form.AT or raw.how != "call":
                    continue
                if raw.within is not None:
                    continue  # what a function of the project does with it, which may be told more
                made = ref if here.of == ref else _kept(settled, function, ref)
                if made is None:
                    continue
                if there.form not in MOVED_TO or judged.follows_cpu(there):
                    continue
                if not (isinstance(at, ast.expr) and isinstance(given, ast.expr)):
                    continue
                known = model.kind not in (Kind.UNKNOWN, Kind.MODULE) or model.origin is not None
                origin = None if known else _made(settled, ref, made, there)
                if origin is not None and not (_is_reached(settled, ref) or _is_reached(settled, made)):
                    told.add(ref)
                    module = model._replace(origin=origin, kind=Kind.MODULE)
                    yield Stays(function, raw, module, at, given, there, value, Conflict.CALLER)


def _is_reached(settled: Settled, ref: Ref) -> bool:
    """Whether something in the file may move it, or is given it."""
    return any(is_reached(settled.objects, log, ref) for log in settled.logs.values())


def _kept(settled: Settled, function: str, ref: Ref) -> Ref | None:
    """What the constructor alone assigns to an attribute of an object that is no module."""
    objects, way = settled.objects, settled.objects.ways[ref]
    owner = objects.ways[objects.parents[ref]] if isinstance(way, Attr) else None
    view = settled.file.view(owner.name) if isinstance(owner, Root) and owner.kind == "self" else None
    if not isinstance(way, Attr) or view is None or view.is_module or view.framework:
        return None
    binds = [
        (method, raw)
        for method in view.methods.values()
        for raw in settled.logs[method].binds.values()
        if raw.name == way.name and raw.owner.who == objects.parents[ref]
    ]
    if len(binds) != 1 or binds[0][0] == function or not _is_constructor(settled, binds[0][0]):
        return None
    who = binds[0][1].value.who
    return who if type(who) is int else None


def _is_constructor(settled: Settled, method: str) -> bool:
    """Whether a method is `__init__`."""
    home = settled.file.functions.get(method)
    return home is not None and home.own_name == CONSTRUCTORS[0]


def _made(settled: Settled, ref: Ref, whole: Ref, there: Place) -> Origin | None:
    """The call that made what use shows to be a model, or made it where no caller gave one."""
    objects = settled.objects
    if not (settled.seen(ref) | settled.seen(whole)) & Evidence.MODULE:
        return None
    several = [each for each in objects.may_be(whole) if each not in objects.sources]
    found = [each for each in several if _is_made(settled, each, there)]
    if not found or not all(each in found or objects.is_parameter(each) for each in several):
        return None
    way = objects.ways[found[0]]
    return Origin("made", objects.functions[found[0]], way.at) if isinstance(way, Root) else None


def _is_made(settled: Settled, ref: Ref, there: Place) -> bool:
    """Whether a call made an object that is told nothing that may name a device."""
    made, objects = settled.made_by(ref), settled.objects
    if not isinstance(made, ast.Call) or is_heavy_class(settled, made) is not None:
        return False
    if any(each.arg is None or each.arg in knowledge.DEVICE_KEYWORDS for each in made.keywords):
        return False
    place = objects.top(there.of) if type(there.of) is int else None
    for given in settled.forms.get(ref, ()):
        if given == place or any(each != given for each in objects.parts(given)):
            return False  # settings, perhaps, of which one is a device
    return True
