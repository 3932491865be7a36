"""Calls that make tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import knowledge
from ...bind.names import is_place, last_name
from ...core.evidence import Evidence
from ...core.kinds import MAY_HOLD_TENSORS, TENSORS, Kind
from ...core.paths import Ref
from ...core.places import CPU, ON_DEVICE, UNKNOWN_PLACE, Form, Place
from ...core.values import ENTRY, ROWS, Const, Value, constant, is_made
from ...knowledge.row import Row
from ..machine import COPIES, ELEMENTS, GRADIENTS, Machine, Site

_DIMENSIONS = {
    "eye": 2,
    "generate_square_subsequent_mask": 2,
    "tril_indices": 2,
    "triu_indices": 2,
    "scalar_tensor": 0,
    "from_file": 1,
    "tokenize": 2,
    **dict.fromkeys(("read_image", "decode_image", "to_tensor", "pil_to_tensor"), 3),
    "load": 3,
}
"""Factories that say by themselves how many dimensions a tensor has at least; of the others it is one. What
torchaudio loads has two, and counts one more, as it comes with a number."""
_LEVELS = 2
"""Rows of rows: so deep are the data looked into that a tensor is made of."""


def factory(machine: Machine, site: Site) -> Value:
    """A tensor on `device=`, or on the default device."""
    args = site.args
    if not (args.positional or args.keywords or args.unpacked) and "legacy-type" not in site.row.topics:
        return machine.unknown(site.node)  # `torch.rand()` raises before anything meets it
    machine.note_unknown(_limits(site), Evidence.NUMBER)
    given = args.get("device")
    told = given is not None and given.kind is not Kind.NONE
    if told:
        machine.log.reaches.add("places")
    if args.unpacked and given is None:
        return machine.own(site.node, Kind.TENSOR, UNKNOWN_PLACE)
    place = machine.denoted(given, default(machine, site.row))
    follows = args.get("out")
    if not told and follows is not None and follows.kind is not Kind.NONE:
        place = machine.where(follows) if follows.kind in TENSORS else UNKNOWN_PLACE
    machine.need(place)
    drawn = args.get("generator")
    told |= drawn is not None and drawn.kind is not Kind.NONE and drawn.place.form is not Form.CPU
    kind = Kind.SCALAR if _is_scalar(site) else Kind.TENSOR
    if told or place.form is not Form.CPU:
        known = place.form in ON_DEVICE
        value = machine.made(site.node, kind, place, "factory" if known else "made", site.api)
    else:
        value = made_on_cpu(machine, site, kind, place)
    asks_gradients(machine, value, args.get("requires_grad"))
    _borrows_dtype(machine, value, args.get("dtype"))
    return value


def _borrows_dtype(machine: Machine, value: Value, given: Value | None) -> None:
    """Remember of a new tensor whose dtype it has."""
    ref = machine.ref(value)
    if ref is not None and given is not None and given.measures is not None:
        machine.state.env[ref, ELEMENTS] = given


def _limits(site: Site) -> Iterator[Value]:
    """What a factory is given that is a number: a size, a start, an end."""
    if "legacy-type" not in site.row.topics:
        for name, _, value in site.args.named():
            if name in knowledge.LIMITS or name.isdigit():
                yield value


def made_on_cpu(machine: Machine, site: Site, kind: Kind, place: Place = CPU) -> Value:
    """A tensor that was told no device, with what its size, dtype or elements were borrowed from."""
    if knowledge.DEVICE_KEYWORDS.intersection(site.args.keywords) and not site.row.devices:
        return machine.unknown(site.node)  # `torch.from_numpy(x, device=…)` fails before anything meets it
    kind = Kind.SCALAR if kind is Kind.TENSOR and _is_scalar(site) else kind
    value = machine.made(site.node, kind, place, "factory", site.api)
    assert value.origin is not None
    dims = 0 if kind is Kind.SCALAR else least(site)
    return value._replace(origin=value.origin._replace(dims=dims), measures=_borrowed(machine, site))


def asks_gradients(machine: Machine, value: Value, asked: Value | None) -> None:
    """Remember of a new tensor whether it is to get gradients."""
    ref = machine.ref(value)
    if ref is None:
        return
    if asked is not None:
        machine.state.env[ref, GRADIENTS] = asked
    else:
        machine.state.env.pop((ref, GRADIENTS), None)  # of one that was made here before


def requires_grad(machine: Machine, site: Site) -> Value:
    """`x.requires_grad_()` gives `x`; what it is called on is a leaf from here on."""
    base = site.receiver or Value()
    asked = site.args.get("requires_grad") or Value(Kind.NUMBER, known=Const(True))
    if base.kind is not Kind.PARAMETER:
        asks_gradients(machine, base, asked)
    origin = base.origin
    if origin is None or origin.how not in COPIES:
        return base
    leaf = base._replace(origin=None)
    if site.receiver_at is not None and is_place(site.receiver_at):
        machine.rebind(site.receiver_at, leaf)
    return leaf


def from_data(machine: Machine, site: Site) -> Value:
    """A tensor where its data are, unless `device=` says where."""
    args = site.args
    given = args.get("device")
    if (given is None or given.kind is Kind.NONE) and not args.unpacked:
        parties = [value for _, value in args.all()]
        places = [machine.where(v) for v in parties if v.kind in TENSORS or v.kind is Kind.BATCH]
        copies = site.name == Kind.TENSOR.value
        if places and (not copies or parties[0].kind in TENSORS):
            return machine.own(site.node, Kind.TENSOR, places[0])
        there = machine.where(parties[0]) if parties and parties[0].kind is Kind.UNKNOWN else UNKNOWN_PLACE
        if there.form in ON_DEVICE:
            return machine.own(site.node, Kind.TENSOR, there)  # a tensor, as it was moved
        if not copies and any(value.kind in MAY_HOLD_TENSORS for value in parties[:3]):
            return machine.own(site.node, Kind.TENSOR, UNKNOWN_PLACE)
    return factory(machine, site)


def sparse(machine: Machine, site: Site) -> Value:
    """A sparse tensor, whose indices and values have to be in one place unless `device=` says where."""
    given = site.args.get("device")
    if (given is None or given.kind is Kind.NONE) and not site.args.unpacked:
        parties = [
            (at, value)
            for name, at, value in site.args.named()
            if name not in site.row.host and value.kind in MAY_HOLD_TENSORS
        ]
        if len(parties) > 1:
            place = machine.meet(site.node, parties, "call", exact=True)
            return machine.computed(site.node, Kind.TENSOR, place, [value for _, value in parties], 2)
    return from_data(machine, site)


def array(machine: Machine, site: Site) -> Value:
    """A tensor that shares its memory with an array, or is made of one: on the cpu."""
    value = machine.made(site.node, Kind.TENSOR, CPU, "array", site.api)
    asks_gradients(machine, value, None)
    return value


def default(machine: Machine, row: Row | None = None) -> Place:
    """Where something is made that is told nothing, by what has a row."""
    if row is not None and knowledge.IGNORES_DEFAULT in row.topics:
        return CPU
    return machine.state.default or CPU


def _is_scalar(site: Site) -> bool:
    """Whether a factory makes a 0-dim tensor: of a number, or of the empty shape."""
    first = site.args.first()
    if first is None:
        return False
    if first.kind is Kind.ARRAY and first.known == ENTRY:
        return True
    if "data" in site.row.parameters or "s" in site.row.parameters:
        return first.kind is Kind.NUMBER and not (site.args.positional and _sizes(site.args.positional[0][0]))
    return first.kind is Kind.CONTAINER and first.items == ()


def _sizes(node: ast.expr) -> bool:
    """Whether an expression is all the sizes of a tensor, or a slice of them: `x.shape[2:]`, `x.size()`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice) and _sizes(node.value)
    if isinstance(node, ast.Call) and (node.args or node.keywords):
        return False
    return isinstance(node, (ast.Attribute, ast.Call)) and last_name(node) in knowledge.ALL_SIZES


def least(site: Site) -> int:
    """How many dimensions a factory's tensor has at least."""
    data = site.args.get("data")
    if data is None and "legacy-type" in site.row.topics:
        first = site.args.first()
        data = first if first is not None and first.kind is Kind.CONTAINER else None
    if data is not None:
        levels = 0
        while data is not None and data.kind is Kind.CONTAINER:
            if data.items == ():
                return 0  # of no elements: what is computed with it is computed with something else
            levels += 1
            data = data.items[0] if data.items else data.element
        if data is not None and data.kind is Kind.ARRAY and not levels:
            return int(data.known == ROWS)
        return levels
    if "legacy-type" in site.row.topics:
        return max(1, sum(value.kind is Kind.NUMBER for _, value in site.args.positional))
    size = site.args.get("size")
    if size is not None:
        return _length(size)
    given = site.args.positional
    if len(given) == 1 and constant(given[0][1]) == 0:
        return 0  # as above
    if site.row.signature.startswith(knowledge.VARIADIC_SIZE):
        if len(given) == 1 and given[0][1].kind is Kind.CONTAINER:
            return _length(given[0][1])
        return max(1, sum(not isinstance(at, ast.Starred) for at, _ in given))
    return _DIMENSIONS.get(site.name, 1)


def host_array(site: Site) -> Value:
    """What numpy makes is on the cpu; that it has dimensions is known of some."""
    if site.receiver is not None and site.name in knowledge.LEAVES_SHAPE:
        return Value(Kind.ARRAY, CPU, known=site.receiver.known)
    if _is_entry(site):
        return Value(Kind.ARRAY, CPU, known=ENTRY)
    return Value(Kind.ARRAY, CPU, known=ROWS if _has_rows(site.node) else None)


def _is_entry(site: Site) -> bool:
    """Whether numpy computes with numbers alone, one by one: `np.asarray(np.cos(margin))`."""
    given = [value for _, value in site.args.positional]
    numbers = all(each.kind is Kind.NUMBER or each.known == ENTRY for each in given)
    return site.name in knowledge.ONE_BY_ONE and bool(given) and numbers and not site.args.unpacked


def _has_rows(made: ast.Call) -> bool:
    """Whether an array is made there by what gives none without dimensions: of an array, nobody knows."""
    name = last_name(made)
    if name in knowledge.KEEPS_ROWS:
        return bool(made.args) and isinstance(made.args[0], (ast.List, ast.ListComp))
    if name in knowledge.MAKES_ROWS:
        return True
    if name in knowledge.SIZED_ROWS and made.args:
        first = made.args[0]
        return not isinstance(first, ast.Starred) and not (isinstance(first, ast.Tuple) and not first.elts)
    return any(each.arg in knowledge.SIZES_OF_ARRAYS and _is_size(each.value) for each in made.keywords)


def _is_size(node: ast.expr) -> bool:
    """Whether it is the size of what has dimensions; a variable may be None, or the size of a number."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return bool(node.elts)
    told = isinstance(node, ast.Constant) and bool(node.value)
    return told or isinstance(node, (ast.Call, ast.Subscript))


def _length(size: Value) -> int:
    return len(size.items) if size.items is not None else 1


def _borrowed(machine: Machine, site: Site) -> Ref | None:
    """The tensor whose size or dtype is among what a factory is given, or whose elements are."""
    given = [value for _, value in site.args.all()]
    for value in given:
        element = () if value.element is None else (value.element,)
        for part in (value, *(value.items or element)):
            if type(part.measures) is int:
                return part.measures
    data = site.args.get("data")
    for part in _within(data) if data is not None and data.kind is Kind.CONTAINER else ():
        who = part.measures
        if who is None and part.kind in TENSORS and not is_made(part):
            who = machine.whose_size(part)
        if type(who) is int:
            return who
    return None


def _within(data: Value, depth: int = _LEVELS) -> Iterator[Value]:
    """What is in nested containers."""
    for part in data.items or (() if data.element is None else (data.element,)):
        yield part
        if depth and part.kind is Kind.CONTAINER:
            yield from _within(part, depth - 1)
