"""Lists, dicts and iterators."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ... import knowledge
from ...bind.names import is_place
from ...core.evidence import Evidence
from ...core.kinds import Kind
from ...core.paths import Item, Ref, Step
from ...core.places import Form
from ...core.values import (
    MAPPING,
    MAPPINGS,
    MAX_ITEMS,
    NONE,
    NUMBER,
    UNKNOWN,
    Known,
    Record,
    Truth,
    Value,
    Words,
    constant,
    container,
    dotted,
    element_of,
)
from ..apply import call_with
from ..conditions import truth
from ..machine import Arguments, Machine, Site

_WITH_DEFAULT = "defaultdict"
_MAPPINGS = frozenset({"dict", "OrderedDict"})


def held_by(values: tuple[Value, ...] | list[Value]) -> frozenset[Ref]:
    """The modules whose parameters are among the values, or inside them."""
    found: set[Ref] = set()
    for value in values:
        found.update(who for who in value.holds if type(who) is int)
    return frozenset(found)


def concatenation(machine: Machine, left: Value, right: Value) -> Value:
    """`list + list`, or a list repeated."""
    if left.kind is not Kind.CONTAINER:
        left, right = right, left
    if right.kind is not Kind.CONTAINER:
        if not left.items and right.measures is None:
            return left
        element = element_of(left, machine.either)
        if right.measures is not None and (element is None or element.kind is Kind.NUMBER):
            element = NUMBER._replace(measures=right.measures)  # `x.shape[:-1] + (1,)`
        return container(left.who, element=element, holds=left.holds)
    holds = held_by([left, right])
    if left.items is not None and right.items is not None and len(left.items) + len(right.items) <= MAX_ITEMS:
        return container(who=left.who, items=left.items + right.items, holds=holds)
    parts = [element_of(side, machine.either) for side in (left, right)]
    element = machine.joined([part for part in parts if part is not None])
    return container(who=left.who, element=element, holds=holds)


def make(machine: Machine, site: Site) -> Value:
    """`list(…)`, `dict(a=…)`: what is given, or a new container."""
    first = site.args.first()
    if site.name == _WITH_DEFAULT:
        return _with_default(machine, site, first)
    if first is not None:
        return _of_pairs(machine, first) if site.name in _MAPPINGS else first
    value = machine.own(site.node, Kind.CONTAINER, role="made")
    ref = machine.ref(value)
    assert ref is not None
    for key, (_, item) in site.args.keywords.items():
        machine.state.env[ref, Item(key)] = item
    element = machine.joined([item for _, item in site.args.keywords.values()])
    known = MAPPING if site.name in _MAPPINGS else None
    return value._replace(items=None if element else (), element=element, known=known)


def _with_default(machine: Machine, site: Site, factory: Value | None) -> Value:
    """`defaultdict(list)`: a mapping of what the factory gives, and of what it begins with."""
    row = knowledge.find(dotted(factory)) if factory is not None else None
    held = [container(items=())] if row is not None and row.gives == Kind.CONTAINER.value else []
    for _, begun in site.args.positional[1:]:
        held.append(element_of(_of_pairs(machine, begun), machine.either) or UNKNOWN)
    held += [each for _, each in site.args.keywords.values()]
    element = machine.joined(held)
    value = machine.own(site.node, Kind.CONTAINER, role="made")
    return value._replace(items=None if held else (), element=element, known=MAPPING)


def _of_pairs(machine: Machine, pairs: Value) -> Value:
    """`dict(pairs)`: it leads from the first of each to the second; of another mapping it is a copy."""
    pair = element_of(pairs, machine.either) if pairs.kind is Kind.CONTAINER else None
    if pair is None or pairs.known in MAPPINGS or pair.items is None or len(pair.items) != 2:
        return pairs
    return container(pairs.who, element=pair.items[1], holds=pairs.holds)._replace(known=MAPPING)


def range_(machine: Machine, site: Site) -> Value:
    """`range(n)`; of a number of accelerators, it yields anything only where there are some."""
    args = site.args.positional
    sized = next((value.measures for _, value in args if value.measures is not None), None)
    counted = NUMBER._replace(measures=sized)
    return Value(Kind.CONTAINER, known=truth(*args[-1]) if args else None, element=counted)


def enumerate_(machine: Machine, site: Site) -> Value:
    """`enumerate(xs)`."""
    first = site.args.first()
    if first is None:
        return UNKNOWN
    pair = container(items=(NUMBER, machine.iterate(first, site.node)))
    return container(element=pair)._replace(known=_counted([first]))


def zip_(machine: Machine, site: Site) -> Value:
    """`zip(xs, ys)`; `zip(*rows)` gives what the rows hold, by their columns."""
    if len(site.args.positional) == 1 and isinstance(site.args.positional[0][0], ast.Starred):
        row = site.args.positional[0][1]
        if row.kind is Kind.CONTAINER and row.items is not None:
            return container(items=tuple(container(element=item) for item in row.items))
        return container(element=container(element=machine.element(row, site.node)))
    items = tuple(machine.iterate(value, at) for at, value in site.args.positional)
    counted = _counted([value for _, value in site.args.positional])
    return container(element=container(items=items))._replace(known=counted)


def _counted(values: Iterable[Value]) -> Known | None:
    """What it says about the machine that one of several containers yields anything."""
    counted = (value.known for value in values if value.kind is Kind.CONTAINER)
    return next((known for known in counted if isinstance(known, Truth)), None)


def next_(machine: Machine, site: Site) -> Value:
    """`next(xs)`."""
    first = site.args.first()
    return machine.iterate(first, site.node) if first is not None else UNKNOWN


def filter_(machine: Machine, site: Site) -> Value:
    """`filter(f, xs)` yields what `xs` does."""
    return site.args.positional[-1][1] if len(site.args.positional) == 2 else machine.unknown(site.node)


def map_(machine: Machine, site: Site) -> Value:
    """`map(f, xs)`: what the function gives for an element."""
    if len(site.args.positional) != 2:
        return machine.unknown(site.node)
    callee, (at, iterable) = site.args.positional[0][1], site.args.positional[1]
    element = machine.element(iterable, site.node)
    row = knowledge.find(dotted(callee))
    if row is not None and row.gives == Kind.NUMBER.value and "sync" in row.topics:
        return container(element=NUMBER)  # `map(int, xs)`
    result = call_with(machine, site.node, callee, [(at, element)])
    return container(element=result if result is not None else machine.unknown(site.node))


def field(machine: Machine, site: Site) -> Value:
    """`field(default_factory=f)` of a dataclass: a device that is made there is one for whoever leaves it."""
    given = site.args.get("default")
    factory = site.args.get("default_factory")
    if factory is not None:
        given = call_with(machine, site.node, factory, [])
    if given is None or given.kind not in (Kind.DEVICE, Kind.STRING):
        return machine.unknown(site.node)
    return (
        given if given.kind is Kind.DEVICE or given.place.form is Form.EITHER else machine.unknown(site.node)
    )


def chain(machine: Machine, site: Site) -> Value:
    """`itertools.chain(xs, ys)`."""
    values = [value for _, value in site.args.positional]
    if not values:
        return machine.unknown(site.node)
    if len(values) == 1:
        return values[0]
    element = machine.joined([machine.element(value, site.node) for value in values])
    return container(element=element, holds=held_by(values))


def add(machine: Machine, site: Site) -> Value:
    """`append`, `add`, `extend` and their like."""
    base = site.receiver
    if base is None or not site.args.positional:
        return NONE
    value = held = site.args.positional[-1][1]
    if site.name in knowledge.ADDS_ALL:
        held = machine.element(value, site.node)
        value = held if base.known not in MAPPINGS else value
    if isinstance(site.receiver_at, ast.IfExp):  # `(large if x.ndim > 1 else small).append(x)`
        for one in (site.receiver_at.body, site.receiver_at.orelse):
            _grow(machine, one, machine.eval(one), value, held)
    elif site.receiver_at is not None:
        _grow(machine, site.receiver_at, base, value, held)
    return NONE


def _grow(machine: Machine, at: ast.expr, base: Value, value: Value, held: Value) -> None:
    """What is called so in the program holds one more, or all that a mapping holds."""
    if base.kind is Kind.CONTAINER and is_place(at):
        old = element_of(base, machine.either)
        element = value if old is None else machine.join(old, value)
        machine.rebind(at, container(who=base.who, element=element, holds=held_by([base, value])))
        machine.put(at, base, held)


def views(machine: Machine, site: Site) -> Value:
    """`items()`, `values()`, `keys()` of a mapping."""
    base = site.receiver or Value()
    if base.kind is Kind.UNKNOWN:
        machine.note(base, Evidence.OTHER | Evidence.CONTAINER)
    if site.name == "keys":
        return container(element=UNKNOWN)
    if base.kind is Kind.CONTAINER:
        item = _any_item(machine, base, site.node)
    else:
        item = base.element or machine.part(base, Item("value", variable=True))
    element = item if site.name == "values" else container(items=(_keys(machine, base), item))
    return container(element=element, holds=base.holds)


def _any_item(machine: Machine, mapping: Value, node: ast.AST) -> Value:
    """Any item of a mapping: what it was made with, or what was put there since."""
    ref, put = mapping.who, list[Value]()
    if type(ref) is int:
        put = [value for (of, step), value in _parts(machine) if of == ref and isinstance(step, Item)]
    lists = [value for value in put if value.kind is Kind.CONTAINER]
    return machine.joined([machine.element(mapping, node), *lists]) or UNKNOWN


def _parts(machine: Machine) -> Iterator[tuple[tuple[Ref, Step], Value]]:
    return ((key, value) for key, value in machine.state.env.items() if type(key) is tuple)


def record(machine: Machine, node: ast.Call, known: Record, args: Arguments) -> Value:
    """A tuple with named items: `Point(x=1, y=2)`, `Point(*values)`."""
    who = machine.own(node, Kind.CONTAINER, role="made").who
    if args.starred or args.unpacked:
        element = machine.joined(value for _, value in (*args.all(), *args.unpacked))
        return container(who, element=element)._replace(known=known)
    args.names = known.names
    given = {name: value for name, _, value in args.named()}
    items = tuple(given.get(name, UNKNOWN) for name in known.names)
    return container(who, items, holds=held_by(items))._replace(known=known)


def _keys(machine: Machine, mapping: Value) -> Value:
    """The keys of a mapping that is written with texts for all of them."""
    ref = machine.ref(mapping)
    if mapping.known not in MAPPINGS or ref is None:
        return UNKNOWN
    steps = [key[1] for key in machine.state.env if type(key) is tuple and key[0] == ref]
    texts = [step.key for step in steps if isinstance(step, Item) and not step.variable]
    if not 0 < len(texts) == len(steps) <= MAX_ITEMS:
        return UNKNOWN
    return Value(Kind.STRING, known=Words(tuple(map(str, texts))))


def get(machine: Machine, site: Site) -> Value:
    """`get`, `pop`, `popleft`, `setdefault`: an item."""
    base = site.receiver or Value()
    first = site.args.first()
    key = constant(first) if first is not None else None
    ref = machine.ref(base)
    if base.kind is not Kind.CONTAINER:
        return machine.part(base, Item(key) if key is not None else Item("get", variable=True))
    if ref is not None and key is not None:
        stored = machine.state.env.get((ref, Item(key)))
        return machine.known_by(site.node, base, Item(key), stored or machine.element(base, site.node))
    return machine.element(base, site.node)


def placed(machine: Machine, site: Site) -> Value:
    """`update(…)` of something unknown: what it holds now is what it was given."""
    if site.receiver is not None:
        machine.note(site.receiver, Evidence.PLACED)
    return NONE


def set_default(machine: Machine, site: Site) -> Value:
    """`setdefault(key, value)` of something unknown: the item."""
    placed(machine, site)
    return machine.unknown(site.node)
