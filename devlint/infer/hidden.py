"""What the modules of a file have, and do not know of: in containers, and tensors. Judged when all is in."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from .. import knowledge
from ..bind.names import last_name, statements_in
from ..bind.walk import descendants
from ..core.events import Conflict, Container, Hidden
from ..core.evidence import Evidence
from ..core.kinds import TENSORS, Kind
from ..core.paths import Attr, Element, Item, Ref
from ..core.places import ON_DEVICE, Form
from ..core.values import ENCODED, Defined, Value, is_made
from .assigning import Target, gives_way, making, targets
from .behind import Behind, Kept, is_empty
from .caches import Cached, cached
from .classes import Class, is_super
from .function import CONSTRUCTORS
from .log import Holding, Log
from .machine import COPIES
from .settle import Settled

T = TypeVar("T")
_SURE = (Conflict.CERTAIN, Conflict.PORTABLE)
_ELSEWHERE = (*_SURE, Conflict.PRESUMED)
_KNOWN = (*_SURE, Conflict.PRESUMED, Conflict.BRANCHES, Conflict.CALLER, Conflict.GIVEN)
_QUOTED = 40
_LISTS = (ast.List, ast.Tuple, ast.ListComp)
_ITERATES = (ast.For, ast.AsyncFor, ast.comprehension)
_READERS = frozenset({"len", "enumerate", "zip", "iter", "reversed"})
"""Builtins that a `ModuleList` serves as well as a list."""
_MOVES = frozenset({"to", "cuda", "cpu"})
"""Of the methods with which a class keeps things its own way, those that move."""
_CONDITIONAL = (ast.IfExp, ast.BoolOp, ast.Lambda)
_LIST_METHODS = frozenset({"append", "extend", "insert"})
_DICT_METHODS = frozenset({"items", "keys", "values"})


def hidden(
    settled: Settled, behind: Iterable[Behind], kept: Iterable[Kept], may_follow: Callable[[str], bool]
) -> Iterator[tuple[ast.AST, Hidden]]:
    """By the targets that first assign it, what modules of the file do not know of.

    `behind` are the meetings of what the file makes on the cpu, `kept` those of what modules keep where it
    is; `may_follow` tells whether what a function is given may be elsewhere.
    """
    modules = [cls for cls in settled.file.classes.values() if cls.is_module and cls.node is not None]
    for cls in modules:
        if not any(map(cls.method, knowledge.KEEPS_ITS_OWN)):
            yield from _containers(settled, cls)
    for target, found in of_parts(settled, behind):
        where, sure = ast.unparse(found.other_at)[:_QUOTED], found.conflict in _SURE
        yield target, Hidden(Kind.TENSOR, "", False, False, where, sure, of_part=True)
    met = _by_attribute(
        settled, ((each.origin.attribute, each) for each in behind if each.conflict in _KNOWN)
    )
    stays = _by_attribute(settled, ((each.attribute, each) for each in kept))
    for cls in modules:
        names = _left_to_torch(settled, cls)
        stored = cached(settled, cls) if names else {}
        for name in names:
            attribute = f"{cls.name}.{name}"
            if attribute in met and _else_untrained(settled, cls, name):
                continue
            if (attribute in met or attribute in stays) and gives_way(settled, cls, name):
                continue
            meeting = min(met.get(attribute, ()), key=lambda each: _KNOWN.index(each.conflict), default=None)
            beside = meeting is None or meeting.conflict is Conflict.GIVEN
            either = beside and _else_parameter(settled, cls, name)
            if meeting is not None and not either:
                yield from _meeting(settled, cls, name, meeting, met)
            elif attribute in stays:
                yield from _staying(settled, cls, name, stays[attribute][0])
            elif either:
                yield from _tensor(settled, cls, name, "")
            elif name in stored and may_follow(stored[name].method):
                yield from _cached(settled, cls, name, stored[name])


def _by_attribute(settled: Settled, found: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    """What is known of attributes, by the class that assigns each."""
    by: dict[str, list[T]] = {}
    for read, each in found:
        for attribute in _assigning(settled, read) if read else ():
            by.setdefault(attribute, []).append(each)
    return by


def _meeting(
    settled: Settled, cls: Class, name: str, meeting: Behind, met: Mapping[str, list[Behind]]
) -> Iterator[tuple[ast.AST, Hidden]]:
    """A tensor, and what is computed of it, that meets what is elsewhere; `meeting` is the surest."""
    beside = meeting.conflict is Conflict.GIVEN
    every = met[f"{cls.name}.{name}"]
    stands = _stands(settled, cls, name, every)
    if stands:  # on the first run it is what the constructor made, on all paths
        meeting = min(every, key=lambda each: _KNOWN.index(each.wholly))
        meeting = meeting._replace(conflict=meeting.wholly)
    where, sure = ast.unparse(meeting.other_at)[:_QUOTED], meeting.conflict in _SURE
    others = _computed_from(settled, cls, name, met) if stands else ()
    for part in (name, *others):
        for node, told in _tensor(settled, cls, part, where, sure, stands and part == name):
            yield node, told._replace(beside=beside, path=meeting.conflict is Conflict.BRANCHES)


def _staying(settled: Settled, cls: Class, name: str, found: Kept) -> Iterator[tuple[ast.AST, Hidden]]:
    """A tensor that stays where the constructor was given it, or was told to make it."""
    where, placed = ast.unparse(found.other_at)[:_QUOTED], not found.given
    stands = placed and _stays_placed(settled, cls, name)
    for node, told in _tensor(settled, cls, name, where, found.given and found.shown, stands):
        fits = told.replaceable and not placed  # as it says where to
        yield node, told._replace(given=found.given, placed=placed, replaceable=fits)


def of_parts(settled: Settled, behind: Iterable[Behind]) -> Iterator[tuple[ast.AST, Behind]]:
    """What the constructors of objects that modules keep, and that are none, make on the cpu and keep.

    Each with the target that it is assigned to.
    """
    kept = {
        term.known.dotted
        for cls in settled.file.classes.values()
        if cls.is_module and cls.node is not None
        for term in cls.attributes()
        if term.kind is Kind.INSTANCE and isinstance(term.known, Defined)
    }
    for found in behind if kept else ():
        home = settled.file.functions.get(found.origin.function)
        if home is None or home.owner not in kept or home.own_name != CONSTRUCTORS[0]:
            continue
        view = settled.file.classes.get(home.owner)
        if view is None or view.is_module or found.conflict not in _ELSEWHERE:
            continue
        if any(map(view.method, knowledge.KEEPS_ITS_OWN)):
            continue
        for target, bind in settled.logs[home.name].binds.items():
            origin = bind.value.origin
            own = bind.owner.who == settled.objects.self_of(home.owner)
            same = origin is not None and (origin.how, origin.at) == (found.origin.how, found.origin.at)
            if own and same and not _moved_from_outside(settled, home.owner, bind.name):
                yield target, found


def abroad(settled: Settled, behind: Iterable[Behind]) -> Iterator[Behind]:
    """The first meeting of each plain tensor that a module has by its class's constructor in another file."""
    found: dict[str, Behind] = {}
    for each in behind:
        attribute = each.origin.attribute
        if not attribute or each.conflict not in _ELSEWHERE or not _reads(each.at, attribute):
            continue  # what the class itself computes is told in its own file
        if _is_of_another_file(settled, attribute):
            known = found.get(attribute)
            if known is None or _row(each) < _row(known):
                found[attribute] = each
    yield from found.values()


def _reads(node: ast.expr, attribute: str) -> bool:
    name = attribute.rpartition(".")[2]
    return any(isinstance(part, ast.Attribute) and part.attr == name for part in descendants(node))


def _row(found: Behind) -> tuple[int, int]:
    return getattr(found.at, "lineno", 0), getattr(found.at, "col_offset", 0)


def _is_of_another_file(settled: Settled, attribute: str) -> bool:
    """Whether a class of another file keeps a plain tensor in an attribute, and nothing here moves that."""
    owner, _, name = attribute.rpartition(".")
    view = settled.file.view(owner)
    if view is None or not view.is_module or view.is_guessed or view.registers(name):
        return False
    if any(map(view.method, knowledge.KEEPS_ITS_OWN)) or _moved_from_outside(settled, owner, name):
        return False
    having = [cls for cls in view.lineage() if cls.own_attribute(name) is not None]
    return bool(having) and all(cls.node is None for cls in having)


def _assigning(settled: Settled, attribute: str) -> Iterator[str]:
    """An attribute, by the class that assigns it: the one that reads it, or a base of that."""
    owner, _, name = attribute.rpartition(".")
    view = settled.file.classes.get(owner)
    for cls in view.lineage() if view is not None else ():
        if name in cls.assigned():
            yield f"{cls.name}.{name}"
            return


def _left_to_torch(settled: Settled, cls: Class) -> list[str]:
    """The attributes that `nn.Module` has to move: all, but those that a class names in moves of its own.

    None where such a move may bring along anything, or the class keeps things its own way otherwise.
    """
    named: set[str] = set()
    for name in knowledge.KEEPS_ITS_OWN:
        method = cls.method(name)
        if method is None:
            continue
        function = settled.file.functions.get(method)
        node = function.node if function is not None else None
        if not isinstance(node, ast.FunctionDef) or name not in _MOVES:
            return []
        said = _attributes_named(node)
        if said is None or not said.isdisjoint(cls.methods):
            return []
        named |= said
    return [name for name in cls.assigned() if name not in named]


def _attributes_named(method: ast.FunctionDef) -> set[str] | None:
    """The attributes of its object in a method; None where the object itself is used for anything else."""
    given = (*method.args.posonlyargs, *method.args.args)
    if not given:
        return None
    itself, named, others = given[0].arg, set(), set[ast.AST]()
    for node in descendants(method):
        if isinstance(node, ast.Attribute) and _is_named(node.value, itself):
            named.add(node.attr)
            others.add(node.value)
        elif isinstance(node, ast.Return):
            others.add(node.value or node)
        elif isinstance(node, ast.Call) and is_super(node):
            others.update(node.args)
    alone = all(node in others for node in descendants(method) if _is_named(node, itself))
    return named if alone else None


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _else_parameter(settled: Settled, cls: Class, name: str) -> bool:
    """Whether the constructor makes a Parameter of it in one case, and leaves a tensor in another."""
    term = cls.own_attribute(name)
    if term is None or term.kind not in TENSORS or term.kind is Kind.PARAMETER:
        return False  # or what was a tensor at first is a Parameter by the end
    made = making(settled, cls)
    values = []
    for method, node in targets(settled, cls, made, name):
        raw = settled.logs[method].binds[node]
        if raw.untrained or is_empty(settled, raw.value):
            return False  # made to be nothing: what uses it asks for that
        values.append(raw.value)
    tensors = [value for value in values if value.kind is Kind.TENSOR and is_made(value) and _dims(value)]
    if not tensors or not any(value.kind is Kind.PARAMETER for value in values):
        return False
    return _is_read(settled, cls, made, name, unmoved=True)


def _else_untrained(settled: Settled, cls: Class, name: str) -> bool:
    """Whether a Parameter gives way to what is made to be nothing: what uses it asks for that."""
    made = making(settled, cls)
    raws = [settled.logs[method].binds[node] for method, node in targets(settled, cls, made, name)]
    if not any(raw.value.kind is Kind.PARAMETER for raw in raws):
        return False
    return any(raw.untrained or is_empty(settled, raw.value) for raw in raws)


def _is_read(settled: Settled, cls: Class, made: list[str], name: str, unmoved: bool = False) -> bool:
    """Whether a method of the class that does not make the object reads an attribute; to do more than to
    move it where it is needed, if `unmoved`."""
    for method in set(cls.methods.values()) - set(made):
        if method not in settled.file.functions:
            continue
        moved = set(_moved_at_once(settled.logs[method])) if unmoved else set()
        for node in descendants(settled.file.functions[method].node):
            read = isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)
            if read and node not in moved:
                return True
    return False


def _moved_at_once(log: Log) -> Iterator[ast.expr | None]:
    """What is no more than moved where it is read: `self.scale.to(x.device)`."""
    for node, raw in log.moves.items():
        if raw.target is not None:
            yield node.func.value if isinstance(node.func, ast.Attribute) else raw.given


def _dims(value: Value) -> int:
    return value.origin.dims if value.origin is not None else 0


def _cached(settled: Settled, cls: Class, name: str, found: Cached) -> Iterator[tuple[ast.AST, Hidden]]:
    """What a method makes where its input is, and keeps as long as something else stays the same."""
    unknown = cls.registers(name) or _moved_from_outside(settled, cls.name, name)
    if not unknown and cls.node is not None and not _manages_itself(cls):
        first = _first_target(settled, cls, making(settled, cls), name)
        node = first[1] if first is not None else found.at
        yield node, Hidden(Kind.TENSOR, "", False, False, found.beside, cached=found.condition[:_QUOTED])


def _stands(settled: Settled, cls: Class, name: str, meetings: list[Behind]) -> bool:
    """Whether what methods assign to a tensor is on the cpu, too, or computed where it has met another."""
    later = set(cls.assigning(name)) - set(making(settled, cls))
    if not later:
        return False
    for method in later:
        found = targets(settled, cls, [method], name)
        if not found:
            return False
        for _, node in found:
            value = settled.logs[method].binds[node].value
            if value.kind is Kind.TENSOR and value.place.form is Form.CPU and is_made(value):
                continue
            computed = _assigned_with(settled.file.functions[method].node, node)
            if not any(each.function == method and each.at in computed for each in meetings):
                return False
    return True


def _computed_from(settled: Settled, cls: Class, name: str, met: Collection[str]) -> Iterator[str]:
    """The tensors of which methods compute one that stays on the cpu, and that meet nothing themselves."""
    for method in cls.assigning(name):
        for _, node in targets(settled, cls, [method], name):
            origin = settled.logs[method].binds[node].value.origin
            owner, _, source = (origin.attribute if origin is not None else "").rpartition(".")
            if owner == cls.name and source not in ("", name) and f"{owner}.{source}" not in met:
                yield source


def _stays_placed(settled: Settled, cls: Class, name: str) -> bool:
    """Whether what methods assign to a tensor is where the constructor put what is there before."""
    methods = {*cls.assigning(name), *making(settled, cls)}
    assigned = targets(settled, cls, methods, name)
    return len({settled.logs[method].binds[node].value.place for method, node in assigned}) == 1


def _assigned_with(function: ast.AST, target: Target) -> set[ast.AST]:
    """What is evaluated, whatever the conditions in it, to assign to a target."""
    for node in descendants(function):
        if isinstance(node, ast.AugAssign) and node.target is target:
            return {target, *_evaluated(node.value)}
        if isinstance(node, ast.Assign) and node.targets == [target]:
            return set(_evaluated(node.value))
    return set()


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    todo: list[ast.AST] = [node]
    while todo:
        each = todo.pop()
        if not isinstance(each, _CONDITIONAL):
            yield each
            todo += ast.iter_child_nodes(each)


def _tensor(
    settled: Settled, cls: Class, name: str, met: str, sure: bool = False, stands: bool = False
) -> Iterator[tuple[ast.AST, Hidden]]:
    """A tensor that the constructor makes on the cpu, and that meets what is elsewhere."""
    made = making(settled, cls)
    if cls.registers(name) or _moved_from_outside(settled, cls.name, name):
        return
    if not (stands or set(cls.assigning(name)) <= set(made)):
        return
    target = _first_filled(settled, cls, made, name)
    if target is None or cls.node is None or _manages_itself(cls):
        return
    method, node = target
    if _copies_given(settled, method, node):
        return
    form, _ = _form(settled, cls.node, method, node)
    once = targets(settled, cls, made, name) == [target] and isinstance(node, ast.Attribute)
    term = cls.own_attribute(name)
    if term is None or term.kind is not Kind.CONTAINER:
        origin = settled.logs[method].binds[node].value.origin
        graph = origin is not None and origin.how == ENCODED and bool(knowledge.topics_of_call(origin.api))
        form = "other" if graph or (term is not None and term.kind is Kind.BATCH) else ""  # a distribution
    else:
        attribute = settled.objects.part(settled.objects.self_of(cls.name), Attr(name))
        log = settled.logs[method]
        if log.binds[node].value.who in log.handed or _is_filled(settled, attribute, made):
            return
    yield node, Hidden(Kind.TENSOR, form, False, once and not form, met, sure)


def _copies_given(settled: Settled, method: str, target: ast.AST) -> bool:
    """Whether it is a copy of what all callers have on a device, and give: `torch.tensor(mean)`."""
    home = settled.file.functions[method]
    assigned = (each for each in statements_in(home.node) if isinstance(each, ast.Assign))
    value = next((each.value for each in assigned if target in each.targets), None)
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr in knowledge.COPIES_DATA and value.args and isinstance(value.args[0], ast.Name):
            return _is_given_elsewhere(settled, method, value.args[0].id, frozenset())
        value = value.func.value
    return False


def _is_given_elsewhere(
    settled: Settled, function: str, name: str, above: frozenset[tuple[str, str]]
) -> bool:
    """Whether all calls in the file give a parameter what is on a device, be it what they were given."""
    objects, key = settled.objects, (function, name)
    given = [
        (caller, site.arguments[name])
        for caller, site in settled.sites.get(function, ())
        if name in site.arguments
    ]

    def elsewhere(caller: str, value: Value) -> bool:
        if value.kind in TENSORS:
            return value.place.form in ON_DEVICE
        ref = value.who
        if type(ref) is not int or not objects.is_parameter(ref) or objects.functions[ref] != caller:
            return False
        return _is_given_elsewhere(settled, caller, objects.labels[ref], above | {key})

    return key not in above and bool(given) and all(elsewhere(*each) for each in given)


def _is_filled(settled: Settled, attribute: Ref, made: list[str]) -> bool:
    """Whether what is in a container changes after it was made: by a method, or by what it is given to."""
    objects = settled.objects
    return attribute in settled.known_elsewhere or any(
        raw.target == "item" and type(raw.owner.who) is int and objects.is_part(raw.owner.who, attribute)
        for name, log in settled.logs.items()
        if name not in made
        for raw in log.binds.values()
    )


def _moved_from_outside(settled: Settled, cls: str, name: str) -> bool:
    """Whether an attribute that may be one of a class's objects is given what was moved, or is assigned where
    all that a module has is moved."""
    functions = settled.file.functions
    return any(
        (raw.value.origin is not None and raw.value.origin.how in COPIES)
        or (method in functions and functions[method].own_name in knowledge.KEEPS_ITS_OWN)
        for method, _, raw in settled.bound(cls, name)
    )


def _containers(settled: Settled, cls: Class) -> Iterator[tuple[ast.AST, Hidden]]:
    made = making(settled, cls)
    held: dict[str, list[Holding]] = {}
    for method in made:
        for name, holding in settled.logs[method].holdings.items():
            held.setdefault(name, []).append(holding)
    if held and _registers_later(settled, cls, made):
        return
    for name, found in held.items():
        given = any(each.given for each in found)
        if any(each.known or each.moved for each in found) or not found[0].weights:
            continue
        if any(each.single for each in found) and (given or not _is_looped_over(cls, name)):
            continue  # as `self._net = [net]` and `self._net[0]` keep a module from being registered
        attribute = settled.objects.part(settled.objects.self_of(cls.name), Attr(name))
        term = cls.own_attribute(name)
        if term is None or term.kind is not Kind.CONTAINER or attribute in settled.known_elsewhere:
            continue
        if any(_gives_items(settled, method, name) for method in made):
            continue
        what, called = found[0].what, False
        if what is Kind.UNKNOWN:
            called = not _are_modules(settled, attribute, found[0].refs)
            if called and (given or not _are_called(settled, attribute, found[0].refs)):
                continue
            what = Kind.MODULE
        if what is Kind.PARAMETER:
            # A caller's are those of its own modules; others may only hold the place of what comes later.
            lasting = set(cls.assigning(name)) <= set(made)
            if given or not lasting or not _is_read(settled, cls, made, name):
                continue
        target = _first_target(settled, cls, made, name)
        if target is not None and cls.node is not None and not _manages_itself(cls):
            nested = any(each.nested for each in found)
            method, node = target
            form, replaceable = _form(settled, cls.node, method, node)
            sure = what is found[0].what
            fits = replaceable and not (nested or called)
            yield node, Hidden(what, form, given, fits, sure=sure, called=called)


def _registers_later(settled: Settled, cls: Class, made: list[str]) -> bool:
    """Whether a method registers modules by names that it makes up, when the object is there."""
    if cls.names.isdisjoint(knowledge.ADDS_BY_NAME):
        return False
    later = set(cls.methods.values()).difference(made) & settled.file.functions.keys()
    return any(
        isinstance(node, ast.Call)
        and last_name(node) in knowledge.ADDS_BY_NAME
        and bool(node.args)
        and not isinstance(node.args[0], ast.Constant)
        for method in later
        for node in descendants(settled.file.functions[method].node)
    )


def _is_looped_over(cls: Class, name: str) -> bool:
    """Whether a class loops over what an attribute holds."""
    nodes = descendants(cls.node) if cls.node is not None else ()
    loops = (node.iter for node in nodes if isinstance(node, _ITERATES))
    inside = (part for loop in loops for part in descendants(loop))
    return any(isinstance(part, ast.Attribute) and part.attr == name for part in inside)


def _are_called(settled: Settled, attribute: Ref, refs: Collection[Ref]) -> bool:
    """Whether what is in an attribute is called as modules are, and made by classes that nobody knows.

    That they are classes, the way in which their names are written says.
    """
    if settled.called.isdisjoint((attribute, *refs)):
        return False
    made = [node for ref in refs if isinstance(node := settled.made_by(ref), ast.Call)]
    return bool(made) and all(last_name(node)[:1].isupper() for node in made)


def _are_modules(settled: Settled, attribute: Ref, refs: Collection[Ref]) -> bool:
    """Whether what is in an attribute, of which nobody knows the class, is used as modules are."""
    ways, parents = settled.objects.ways, settled.objects.parents
    return any(
        bits & Evidence.MODULE
        and (ref in refs or (isinstance(ways[ref], (Item, Element)) and parents[ref] == attribute))
        for ref, bits in settled.evidence.items()
        if ref >= 0
    )


def _gives_items(settled: Settled, method: str, name: str) -> bool:
    """Whether a method that makes the object gives what is in an attribute to its caller, to register it."""
    return any(
        isinstance(node, ast.Return)
        and isinstance(node.value, ast.Subscript)
        and isinstance(node.value.value, ast.Attribute)
        and node.value.value.attr == name
        for node in descendants(settled.file.functions[method].node)
    )


def _manages_itself(cls: Class) -> bool:
    """Whether a class goes past what a module does with its attributes."""
    return not cls.names.isdisjoint(knowledge.MODULE_INTERNALS)


def _first_target(settled: Settled, cls: Class, made: list[str], name: str) -> tuple[str, Target] | None:
    return next(iter(targets(settled, cls, made, name)), None)


def _first_filled(settled: Settled, cls: Class, made: list[str], name: str) -> tuple[str, Target] | None:
    """Where an attribute is first given a plain value: not None, which keeps its place, nor a Parameter."""
    first = _first_target(settled, cls, made, name)
    found = (*targets(settled, cls, made, name), *targets(settled, cls, cls.assigning(name), name))
    logs = settled.logs
    no_plain = (Kind.NONE, Kind.PARAMETER)
    return next((each for each in found if logs[each[0]].binds[each[1]].value.kind not in no_plain), first)


# Whether torch's own container could stand there


def _form(settled: Settled, cls: ast.ClassDef, method: str, target: Target) -> tuple[Container, bool]:
    function = settled.file.functions[method]
    assigned = next(
        (
            node.value
            for node in descendants(function.node)
            if (isinstance(node, ast.Assign) and node.targets == [target])
            or (isinstance(node, ast.AnnAssign) and node.target is target)
        ),
        None,
    )
    initialised = function.own_name != CONSTRUCTORS[0] or any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == CONSTRUCTORS[0]
        and node.lineno < target.lineno
        for node in descendants(function.node)
    )
    if isinstance(target, ast.Call):
        return "other", False
    if isinstance(assigned, _LISTS):
        return "list", initialised and _serves(cls, target, _LIST_METHODS)
    if isinstance(assigned, ast.DictComp):
        return "dict", False
    if isinstance(assigned, ast.Dict):
        named = all(
            isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isidentifier()
            for key in assigned.keys
        )
        return "dict", initialised and named and bool(assigned.keys) and _serves(cls, target, _DICT_METHODS)
    return "other", False


def _serves(cls: ast.ClassDef, target: ast.Attribute, methods: frozenset[str]) -> bool:
    """Whether every use of an attribute in a class is one that torch's own container has, too."""
    parents = {child: node for node in descendants(cls) for child in ast.iter_child_nodes(node)}
    name = ast.unparse(target)
    for node in descendants(cls):
        if not isinstance(node, ast.Attribute) or node is target or node.attr != target.attr:
            continue
        if ast.unparse(node) != name:
            return False
        around = parents[node]
        if isinstance(around, ast.Attribute):
            fits = around.attr in methods and isinstance(parents[around], ast.Call)
        elif isinstance(around, ast.Call):
            fits = isinstance(around.func, ast.Name) and around.func.id in _READERS
        elif isinstance(around, ast.Subscript):
            fits = around.value is node and not isinstance(around.slice, ast.Slice)
        else:
            fits = isinstance(around, _ITERATES) and around.iter is node
        if not fits:
            return False
    return True
