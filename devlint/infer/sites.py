"""The calls of the project's functions in a file, and what each passes, as plain data."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Protocol

from .. import knowledge
from ..core.evidence import IS_TENSOR, NOT_A_TENSOR, Evidence
from ..core.kinds import TENSORS, Kind
from ..core.objects import Objects, Or
from ..core.paths import Attr, Element, Item, Ref, Root
from ..core.places import ANYWHERE, CPU, ON_DEVICE, UNKNOWN_PLACE, Form, Place
from ..core.summary import Calling, Passed
from ..core.values import Value, element_of
from .abroad import name_of
from .cases import said_of
from .definitions import Function
from .function import CONSTRUCTORS
from .log import Log, Site
from .machine import ClassView

_KEPT = frozenset({Form.CPU, Form.LITERAL, Form.EITHER, Form.ANYWHERE})
_TOLD = frozenset({Kind.UNKNOWN, Kind.MODULE, Kind.INSTANCE, Kind.BATCH, Kind.CONTAINER, *TENSORS})
_CHOSEN = frozenset({Kind.DEVICE, Kind.STRING, Kind.GENERATOR})
"""What says where something is, or is drawn, and is no object that anybody moves."""
_MAX_DEPTH = 6


class Analysed(Protocol):
    """What a file knows once it has been analysed."""

    name: str
    objects: Objects
    functions: dict[str, Function]
    module: Function
    logs: dict[str, Log]

    def view(self, dotted: str) -> ClassView | None:
        """A class of the project."""


def calls_in(file: Analysed) -> tuple[Calling, ...]:
    """All calls of functions of the project, in the order of the functions they stand in."""
    found = []
    everywhere = "" in file.logs and _asks(file.logs[""], file.module)
    for caller, log in file.logs.items():
        home = file.functions.get(caller, file.module)
        anywhere = everywhere or _asks(log, home)
        test = home.own_name.startswith(knowledge.COLLECTED)
        for site in (*log.sites, *log.abroad):
            if site.at is not None:
                passed = tuple(_passed(file, log, site, home))
                number, why = home.number(site.at), site.why
                at = caller or name_of(file.name), number
                needs = why.guarded, why.needed, log.needs_after(number), site.conditional, anywhere
                said = (*needs, site.default)
                found.append(Calling(site.callee, caller, at, passed, site.open, test, *said))
    return tuple(found)


def _asks(log: Log, home: Function) -> bool:
    """Whether a function asks if an accelerator is there, or has an option or choice that may be the cpu."""
    if any(raw.callee in knowledge.ASKS_MACHINE for raw in log.calls.values()):
        return True
    either = [part for node in home.nodes if isinstance(node, ast.IfExp) for part in (node.body, node.orelse)]
    calls = (node for node in home.nodes if isinstance(node, ast.Call))
    either += (each.value for node in calls for each in node.keywords if each.arg == knowledge.BY_DEFAULT)
    return any(isinstance(part, ast.Constant) and part.value == CPU.name for part in either)


def _passed(file: Analysed, log: Log, site: Site, home: Function) -> Iterator[Passed]:
    constructing = home.own_name == CONSTRUCTORS[0]
    itself = file.objects.self_of(home.owner) if home.owner is not None and not constructing else None
    for name, value in site.arguments.items():
        means = said_of(value)
        if value.kind not in _TOLD:
            place = value.place._replace(of=None, when=frozenset())
            yield Passed(name, value.kind, place, _passed_on(file, value), means)
            continue
        place, own = _told(file, _where(value, site.places))
        if constructing and place is ANYWHERE:
            place = UNKNOWN_PLACE  # nobody has moved the module yet
        if itself is not None and value.who == itself:
            own = next(iter(home.positional), "")
        kind = Kind.TENSOR if _is_moved_tensor(log, value) else value.kind
        yield Passed(name, kind, place, own, means)


def _passed_on(file: Analysed, value: Value) -> str:
    """The caller's own parameter that a device or generator is, or is that of."""
    if value.kind not in _CHOSEN:
        return ""
    ref = value.who if value.place.form is Form.UNKNOWN else value.place.of
    root = _root(file.objects, ref) if type(ref) is int else None
    return file.objects.labels[root] if root is not None and file.objects.is_parameter(root) else ""


def _is_moved_tensor(log: Log, value: Value) -> bool:
    """Whether something was moved to a device that is used as a tensor, here or by what it is passed to."""
    if value.kind is not Kind.UNKNOWN or value.place.form not in ON_DEVICE or type(value.who) is not int:
        return False
    bits = log.notes.get(value.who, 0)
    return bool(bits & (IS_TENSOR | Evidence.OPERAND)) and not bits & NOT_A_TENSOR


def _where(value: Value, places: Mapping[Ref, Place]) -> Place:
    """Where an argument is; of a container, where what is in it is."""
    if value.kind in (Kind.MODULE, Kind.INSTANCE):
        place = places.get(value.who) if type(value.who) is int else None
        if place is not None:
            return place
        made = value.origin is not None and value.origin.how == "made"
        return CPU if made else UNKNOWN_PLACE
    if value.kind is Kind.CONTAINER:
        element = element_of(value)
        told = element is not None and element.kind in (*TENSORS, Kind.GENERATOR, Kind.CONTAINER)
        return _where(element, places) if element is not None and told else UNKNOWN_PLACE
    moved = value.origin is not None and value.origin.how == "moved"
    if value.place.form is Form.UNKNOWN and value.kind not in TENSORS and value.who is not None and not moved:
        return Place(Form.AT, "", value.who)
    return value.place


def _told(file: Analysed, place: Place) -> tuple[Place, str]:
    """A place without the objects of a run, and the caller's own parameter that it speaks of."""
    objects, ref = file.objects, place.of
    if place.form in _KEPT:
        name = place.name or (objects.labels[ref] if type(ref) is int else "")
        if place.form is Form.EITHER and not name:
            return UNKNOWN_PLACE, ""  # as made here, or as a caller gives it
        return Place(place.form, name), ""
    if type(ref) is not int:
        return UNKNOWN_PLACE, ""
    if place.form is Form.SAME and (objects.ways[ref] != Attr("device") or _is_chosen(file, ref)):
        return Place(Form.SAME, objects.labels[ref] or place.name), ""
    root = _root(objects, ref)
    way = objects.ways[root] if root is not None else None
    if root is None or not isinstance(way, Root):
        return UNKNOWN_PLACE, ""
    if way.kind == "self":
        view = file.view(way.name)
        if _is_of_another(objects, ref):
            return UNKNOWN_PLACE, ""
        return (ANYWHERE if view is not None and view.is_module else UNKNOWN_PLACE), ""
    if way.kind != "parameter":
        return UNKNOWN_PLACE, ""
    function = file.functions.get(objects.functions[root])
    owner = file.view(function.owner) if function is not None and function.owner is not None else None
    if function is None:
        return UNKNOWN_PLACE, ""
    if owner is not None and owner.is_module and function.own_name in knowledge.RUNS_FORWARD:
        return ANYWHERE, way.name
    return UNKNOWN_PLACE, way.name


def _is_chosen(file: Analysed, ref: Ref) -> bool:
    """Whether a device is a setting, of an object that is no module or has others: `args.device`."""
    owner = file.objects.parents[ref]
    way = file.objects.ways[owner]
    if isinstance(way, Root) and way.kind == "self":
        view = file.view(way.name)
        return view is not None and not view.is_module
    return any(log.notes.get(owner, 0) & NOT_A_TENSOR for log in file.logs.values())


def _is_of_another(objects: Objects, ref: Ref) -> bool:
    """Whether it is, or is part of, an attribute of an attribute: of a dataset that a module has, say."""
    attributes = 0
    while ref >= 0:
        attributes += isinstance(objects.ways[ref], Attr)
        ref = objects.parents[ref]
    return attributes > 1


def _root(objects: Objects, ref: Ref, depth: int = _MAX_DEPTH) -> Ref | None:
    """What an object is part of, in the end; None where it is one of several from different roots."""
    while depth > 0:
        way = objects.ways[ref]
        if isinstance(way, Root):
            return ref
        if isinstance(way, Or):
            roots = {_root(objects, each, depth - 1) for each in objects.sources[ref]}
            return roots.pop() if len(roots) == 1 else None
        if not isinstance(way, (Attr, Item, Element)):
            return None
        ref = objects.parents[ref]
    return None
