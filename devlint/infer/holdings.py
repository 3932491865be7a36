"""What a module has in lists and dicts when a method ends, and whether it knows of it."""

from __future__ import annotations

from collections.abc import Container, Iterator

from .. import knowledge
from ..core.kinds import TENSORS, Kind
from ..core.objects import Apart, Objects
from ..core.paths import Attr, Element, Item, Ref, Root
from ..core.places import ON_DEVICE, Form
from ..core.state import State
from ..core.values import Api, Defined, OneOf, Value
from ..knowledge.vocabulary import NAMES_DEVICES
from .log import Holding, Log, RawBind
from .machine import GRADIENTS, Arguments, Machine, Program

_REGISTERED = frozenset({Kind.MODULE, Kind.PARAMETER})
"""What a module registers where it is assigned to an attribute, and not where it is inside of a list."""
_NESTED = _REGISTERED | {Kind.CONTAINER}
_HELD = _REGISTERED | {Kind.UNKNOWN}
"""What may have to be registered: what something unknown made may be a module, as use shows."""
_NO_RECEIVER = TENSORS | {Kind.CONTAINER, Kind.BATCH, Kind.NUMBER, Kind.STRING, Kind.DEVICE, Kind.ARRAY}
"""What keeps nothing of what its methods are given, or only what a container holds anyway."""
_WEIGHTY = frozenset({knowledge.HOLDS_MODULES, "model"})
_NOWHERE = frozenset({Kind.NONE, Kind.NUMBER, Kind.STRING})
_OWN = ("made", "parameter")
_DEPTH = 4


def holdings(machine: Machine, end: State, cls: str, given: Value) -> Iterator[tuple[str, Holding]]:
    """What the attributes of `self` that are containers hold when a method of a module ends.

    What it gives, in a container, its caller may register.
    """
    objects = machine.objects
    owner = objects.self_of(cls)
    own: set[Ref] = set()
    containers: list[tuple[str, Value]] = []
    for value in _leaves(given):
        if type(value.who) is int:
            own.update(may_be(objects, value.who))
    for key, value in end.env.items():
        if type(key) is tuple and key[0] == owner and isinstance(key[1], Attr):
            if value.kind is Kind.CONTAINER:
                containers.append((key[1].name, value))
            elif type(value.who) is int and value.kind in _REGISTERED | {Kind.UNKNOWN}:
                own.update(_chosen_from(objects, value.who))
                if value.kind in _REGISTERED:
                    own.update(may_be(objects, value.who))
    for name, whole in containers:
        leaves = list(_leaves(whole))
        kinds = {value.kind for value in leaves if value.kind is not Kind.NONE}
        if len(kinds) != 1 or not kinds <= _HELD:
            continue
        if not all(_is_free(objects, value) for value in leaves):
            continue  # what is a part of something else is registered there, if anywhere
        refs: set[Ref] = set()
        for value in (whole, *leaves):
            if type(value.who) is int:
                refs.update(may_be(objects, value.who))
        by_key = [value for key, value in end.env.items() if key[0] == whole.who and isinstance(key[1], Item)]
        yield (
            name,
            Holding(
                kinds.pop(),
                refs=frozenset(refs),
                known=not refs.isdisjoint(own | machine.log.handed),
                moved=any(ref in end.places and end.places[ref].form is not Form.CPU for ref in refs)
                or (
                    # Made where the caller says, and trained by an optimizer that is told of them.
                    all(value.place.form in ON_DEVICE for value in leaves)
                    and not refs.isdisjoint(machine.log.trained)
                ),
                given=any(objects.is_given(ref) for ref in refs),
                weights=any(
                    value.kind is Kind.UNKNOWN or has_weights(value, machine.program)
                    for value in by_key or leaves
                ),
                single=whole.items is not None and len(whole.items) == 1,
                nested=any(part.kind is Kind.CONTAINER for part in _inside(whole)),
            ),
        )


def _chosen_from(objects: Objects, ref: Ref) -> Iterator[Ref]:
    """The containers of which something is an item, chosen at run time: the others are not used."""
    for each in may_be(objects, ref):
        while isinstance(objects.ways[each], (Item, Element)):
            each = objects.parents[each]
            yield each


def _is_free(objects: Objects, value: Value) -> bool:
    """Whether a module or parameter is part of nothing but containers, as far as is known."""
    if value.kind is Kind.NONE:
        return True
    ref = value.who
    if value.holds or type(ref) is not int:
        return False
    return all(_stands_alone(objects, each) for each in may_be(objects, ref) if each not in objects.sources)


def _stands_alone(objects: Objects, ref: Ref) -> bool:
    """Whether something was made by itself, or is what a caller gave, perhaps in containers."""
    while isinstance(objects.ways[ref], Apart):
        ref = objects.parents[ref]
    way = objects.ways[ref]
    if isinstance(way, Root):
        return way.kind in _OWN
    while isinstance(objects.ways[ref], (Element, Item, Apart)):
        ref = objects.parents[ref]
    return objects.is_parameter(ref)


def _inside(value: Value) -> tuple[Value, ...]:
    return (*(value.items or ()), *((value.element,) if value.element is not None else ()))


def _leaves(value: Value, depth: int = 0) -> Iterator[Value]:
    """What is in a container, and in containers inside of it."""
    for part in _inside(value):
        if part.kind is not Kind.CONTAINER:
            yield part
        elif depth < _DEPTH:
            yield from _leaves(part, depth + 1)


def give_away(machine: Machine, value: Value) -> None:
    """A container is put into something unknown: whoever has that may register what it holds."""
    for part in (value, *_leaves(value)):
        if type(part.who) is int:
            machine.log.handed.update(may_be(machine.objects, part.who))


def may_be(objects: Objects, ref: Ref) -> Iterator[Ref]:
    """An object, and all that it may be."""
    return objects.may_be(ref)


def is_reached(objects: Objects, log: Log, module: Ref, placed: Container[Ref] | None = None) -> bool:
    """Whether something that a function does may move a module: it moves it or a part, or others have it.

    `placed` are the modules that are not where they were made, if that is known of all.
    """
    if any(_is_of(objects, each, module) for each in (*log.passed, *log.handed)):
        return True
    if any(_shares(objects, log, module, raw, placed) for raw in log.binds.values()):
        return True
    for raw in log.moves.values():
        moved = raw.receiver.who
        if raw.target is not None and type(moved) is int:
            for each in may_be(objects, moved):
                if objects.is_part(module, each) or _is_of(objects, each, module):
                    return True
    return False


def _shares(objects: Objects, log: Log, module: Ref, raw: RawBind, placed: Container[Ref] | None) -> bool:
    """Whether a part of a module is replaced, perhaps by what is elsewhere: `conv.weight = self.kernel`.

    A layer that is made for it, `model.fc = nn.Linear(512, 10)`, is where the module is: on the cpu.
    """
    owner, part = raw.owner.who, raw.value.who
    if raw.name == GRADIENTS.name or type(owner) is not int or not _is_of(objects, owner, module):
        return False
    if placed is None or raw.value.kind is not Kind.MODULE or type(part) is not int or part in placed:
        return raw.value.kind not in _NOWHERE
    layer = objects.ways[part]
    made = isinstance(layer, Root) and layer.kind == "made" and not objects.is_part(module, part)
    return not made or is_reached(objects, log, part)


def _is_of(objects: Objects, ref: Ref, module: Ref) -> bool:
    """Whether an object is a module, or a part of it, or of what may be that module."""
    if objects.is_part(ref, module):
        return True
    while ref >= 0:
        if ref in objects.sources and module in may_be(objects, ref):
            return True
        ref = objects.owner(ref)
    return False


def has_weights(value: Value, program: Program, depth: int = 3) -> bool:
    """Whether something has parameters or buffers: an activation, or a loss, has nothing to move or train."""
    if value.kind is not Kind.MODULE:
        return value.kind is Kind.PARAMETER
    known = value.known
    if isinstance(known, OneOf):
        return all(has_weights(value._replace(known=each), program, depth) for each in known.classes)
    if isinstance(known, Api):
        return _library_has_weights(known.dotted)
    if not isinstance(known, Defined):
        return True  # one of several, or any module
    view = program.view(known.dotted)
    if view is None or not depth:
        return False
    base = view.library_base()
    if base is not None and base.startswith(knowledge.OF_TORCH) and _library_has_weights(base):
        return True
    if view.has_buffers():
        return True
    return any(has_weights(part, program, depth - 1) for part in view.attributes())


def _library_has_weights(dotted: str) -> bool:
    row = knowledge.find(dotted)
    if row is None:
        return not dotted.startswith(knowledge.OF_TORCH)
    if dotted.rpartition(".")[2] in knowledge.OF_PARAMETERS:
        return False
    return bool(row.devices) or not row.topics.isdisjoint(_WEIGHTY)


def hand(machine: Machine, callee: Value, receiver: Value | None, method: str, args: Arguments) -> None:
    """A call is given modules or parameters: from here on, something else may know of them."""
    if receiver is not None and receiver.kind in _NO_RECEIVER:
        return
    whole = receiver.who if receiver is not None and receiver.kind is Kind.MODULE else None
    if type(whole) is int and _rewrites(machine, method, args):
        machine.log.passed.update(may_be(machine.objects, whole))
    sources = machine.objects.sources

    def nested(value: Value) -> bool:
        # Where a module and something unknown came together, nothing is known but that it may be either.
        return value.kind in _NESTED or (value.kind is Kind.UNKNOWN and value.who in sources)

    given = [value for _, value in args.positional if nested(value)]
    if args.keywords or args.unpacked:
        given += [value for _, value in (*args.keywords.values(), *args.unpacked) if nested(value)]
    if not given:
        return
    dotted = callee.known.dotted if isinstance(callee.known, Api) else ""
    row = knowledge.find(dotted) if dotted else None
    if receiver is not None and _only_looks(machine, receiver, method):
        return
    if row is not None and row.gives == Kind.OPTIMIZER.value:
        parts = (part.who for value in given for part in _leaves(value))
        machine.log.trained.update(
            each for ref in parts if type(ref) is int for each in may_be(machine.objects, ref)
        )
    keeps = row is not None and (row.gives == Kind.MODULE.value or "keeps" in row.topics)
    if row is not None and not keeps:
        return
    seen = _is_seen(machine, callee)
    registers = keeps or (not seen and _registers(callee, receiver, method))
    unseen = not keeps and not seen
    handed = machine.log.handed
    for value in given:
        if unseen and value.kind is Kind.MODULE and type(value.who) is int:
            machine.log.passed.update(may_be(machine.objects, value.who))
        if value.kind is Kind.CONTAINER or registers:
            for part in (value, *_leaves(value)):
                if nested(part) and type(part.who) is int:
                    handed.update(may_be(machine.objects, part.who))
                if registers and part.kind is Kind.PARAMETER:  # it is replaced in the module that had it, too
                    handed.update(each for each in part.holds if type(each) is int)
                    owner = machine.objects.owner(part.who) if type(part.who) is int else -1
                    handed.update((owner,) if owner >= 0 else ())


def _rewrites(machine: Machine, method: str, args: Arguments) -> bool:
    """Whether a method of a module may put other weights into it: by a function that it runs on all parts."""
    if method not in knowledge.RUNS_ON_PARTS:
        return not knowledge.TAKES_OVER.isdisjoint(args.keywords)
    runs = args.first()
    return runs is None or moves_what_it_is_given(machine, runs) is not False


def moves_what_it_is_given(machine: Machine, value: Value) -> bool | None:
    """Whether a function of the project may move something; None for anything else."""
    known = value.known if value.kind is Kind.FUNCTION else None
    summary = machine.program.summary(known.dotted) if isinstance(known, Defined) else None
    return None if summary is None else not summary.reaches.isdisjoint(NAMES_DEVICES)


def _only_looks(machine: Machine, receiver: Value, method: str) -> bool:
    """Whether a static method of the project leaves what it is given as it is."""
    if receiver.kind is not Kind.INSTANCE or not isinstance(receiver.known, Defined):
        return False
    view = machine.program.view(receiver.known.dotted)
    found = view.method(method) if view is not None else None
    summary = machine.program.summary(found) if found is not None else None
    return summary is not None and summary.binding == "static" and not summary.effects


def _is_seen(machine: Machine, callee: Value) -> bool:
    """Whether it is known what a function does to what it is given."""
    known = callee.known
    if not isinstance(known, Defined):
        return False
    if callee.kind is Kind.CLASS:
        view = machine.program.view(known.dotted)
        made = view.method("__init__") if view is not None and view.library_base() is None else None
        return made is not None and machine.program.summary(made) is not None
    return callee.kind is Kind.FUNCTION and machine.program.summary(known.dotted) is not None


def _registers(callee: Value, receiver: Value | None, method: str) -> bool:
    """Whether a call may make a single module part of another: that of a plain function mostly does not."""
    if receiver is not None and receiver.kind is Kind.MODULE:
        row = knowledge.method(Kind.MODULE, method)
        return row is not None and (row.by == "modules.register" or "of-module-list" in row.topics)
    if isinstance(callee.known, Api):
        return not callee.known.dotted.startswith(knowledge.OF_TORCH)
    return callee.kind is not Kind.FUNCTION
