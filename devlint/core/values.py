"""What is known of a value: what it is, where it lives, how it came to be."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal, NamedTuple

from .kinds import NAMED, TENSORS, Kind
from .paths import Who
from .places import CPU, UNKNOWN_PLACE, Form, Place, join_places


class Const(NamedTuple):
    """A constant of the program."""

    value: str | int | float | bool | None


class Words(NamedTuple):
    """One of several strings, as a loop over a display of them yields."""

    values: tuple[str, ...]


class Api(NamedTuple):
    """A name of a library: `torch.load`; of an optimizer, module, loader or device, its class."""

    dotted: str


class Apis(NamedTuple):
    """One of several names of libraries, by the path taken."""

    names: tuple[str, ...]


class Defined(NamedTuple):
    """A function or class of the project; of a module or an instance, its class."""

    dotted: str


class OneOf(NamedTuple):
    """One of several classes, by the path taken, or by the name that a table is asked for; of a module, its
    class."""

    classes: tuple[Api | Defined, ...]


class Inherited(NamedTuple):
    """What the bases of a class of the project say: `super()` in its methods."""

    dotted: str


class Partial(NamedTuple):
    """A function or class with some arguments, which the value's items are: `partial(f, …)`."""

    kind: Kind
    """Of what is called."""
    of: Api | Defined
    names: tuple[str, ...]
    """The parameters of the last items; the others come first, by position."""


class Record(NamedTuple):
    """A class of tuples whose items have names, or such a tuple."""

    names: tuple[str, ...]


class Truth(NamedTuple):
    """What a condition says about the machine: an accelerator is there if it is true, or if it is false."""

    if_true: bool
    if_false: bool
    machine: bool = False
    """Whether it asks the machine and nothing else."""
    hint: str = ""
    """The name that suggests it, where nothing else says so."""

    def opposite(self) -> Truth:
        """What its negation says."""
        return Truth(self.if_false, self.if_true, self.machine, self.hint)


Known = Const | Words | Api | Apis | Defined | OneOf | Inherited | Partial | Record | Truth

How = Literal[
    "factory",
    "array",
    "encoded",
    "loader",
    "moved",
    "literal",
    "default",
    "made",
    "copied",
    "cloned",
    "attribute",
    "abroad",
    "brought",
    "typed",
]
ENCODED: How = "encoded"
"""How tensors come to be that a tokenizer gives."""
CLONED: How = "cloned"
"""How a copy of a weight came to be that was taken before its model moved."""
TYPED: How = "typed"
"""How the name of a tensor's legacy type came to be, of one that is not known to be on the cpu."""
BROUGHT: How = "brought"
"""How what is computed came to be of which all that took part had been moved to the cpu, or made there."""
MADE = ("factory", "array", ENCODED)
"""How tensors come to be that nothing else was made from."""
_BY_FACTORY = (*MADE, "attribute")


class Origin(NamedTuple):
    """How a value came to be: for messages, and what tells rules about meetings apart."""

    how: How
    function: str
    """The function in which it did, by its dotted name."""
    at: int
    """The node, by its number in that function."""
    api: str = ""
    dims: int = 0
    """Of a tensor, how many dimensions it has at least: torch lets a 0-dim one of the cpu meet any device.

    Of a module that computes a loss, those of the loss.
    """
    attribute: str = ""
    """Of an attribute of a module, its class and name, with a dot between; of a loss, see `OF_CLASSES`."""


class Value(NamedTuple):
    """What is known of the value of an expression."""

    kind: Kind = Kind.UNKNOWN
    place: Place = UNKNOWN_PLACE
    who: Who | None = None
    """The object, as far as the program text tells objects apart."""
    known: Known | None = None
    items: tuple[Value, ...] | None = None
    """The elements of a container whose length is known."""
    element: Value | None = None
    """What a container, loader or mapping yields."""
    origin: Origin | None = None
    holds: frozenset[Who] = frozenset()
    """The modules whose parameters are in it: of an optimizer, a container, a parameter."""
    measures: Who | None = None
    """The tensor whose size or dtype this number is; of a new tensor, whose elements it has as well."""


UNKNOWN = Value()
NONE = Value(Kind.NONE)
NUMBER = Value(Kind.NUMBER)
STRING = Value(Kind.STRING)
OTHER = Value(Kind.OTHER)
DTYPE = Value(Kind.DTYPE)
MAPPING = Api("builtins.dict")
"""What a container is known to be that a loop reads the keys of; its element is what those lead to."""
ENCODING = Api("transformers.BatchEncoding")
"""The same, of one whose items are its attributes, too, and whose `.to` moves them in place."""
MAPPINGS = (MAPPING, ENCODING)
BUFFER = Api("torch.nn.Buffer")
"""What a tensor is known as that the module registers of which it becomes an attribute."""
GRAPH = Api("torch_geometric.data.Data")
"""What a batch is known to be whose tensors are its attributes, and whose `.to` moves them in place."""
ROWS = Api("numpy.ndarray")
"""What an array is known to be that has dimensions: a tensor of its data is none that counts as a number."""
ENTRY = Api("numpy.generic")
"""What is known of an array that has none, as numpy makes of numbers."""
ACCELERATOR = Api("accelerate.Accelerator")
"""What an object is known to be that prepares models and loaders for the device that it chooses."""
FABRIC = Api("lightning_fabric.Fabric")
"""The same, which sets them up."""
PREPARERS = (ACCELERATOR, FABRIC)
TORCH_DEVICE = Api("torch.device")
"""The class of a device that torch made, which tells it from a string that names one: `args.device`."""

OF_CLASSES = "weight"
"""What a loss keeps that was given weights of classes on the cpu, as the attribute of its origin."""
OF_SOME = "weight?"
"""The same, of what is such a loss on some paths only, or anything else that has something to move."""
OF_LEAF = "torch.nn.Parameter"
"""How a moved copy came to be that was to be a Parameter, as the API of its origin."""
_MAY_BE_CPU = (Form.CPU, Form.EITHER, Form.UNKNOWN)
MAX_ITEMS = 256
"""Longer containers are tables of data: an element tells what they hold."""
_MAX_PARTS = 1024
_MAX_LEVELS = 16
_MAX_NAMES = 8


Either = Callable[[Value, Value], "Who | None"]
"""Gives the object that is the one of one value or of another."""


def same(a: Value, b: Value) -> Who | None:
    """The object of either value, where nobody keeps account of those: only one and the same."""
    return a.who if a.who == b.who else None


def constant(value: Value) -> str | int | float | bool | None:
    """The constant that a value is, if it is one."""
    return value.known.value if isinstance(value.known, Const) else None


def dotted(value: Value) -> str:
    """The library's name that a value is, or that its class has; empty where there is none."""
    return value.known.dotted if isinstance(value.known, Api) else ""


@lru_cache(maxsize=4096)
def library_value(name: str) -> Value:
    """The value of a name of a library."""
    return Value(Kind.LIBRARY, known=Api(name))


def truth_of(value: Value) -> Truth | None:
    """What a flag says about the machine."""
    return value.known if isinstance(value.known, Truth) else None


def element_of(value: Value, either: Either = same) -> Value | None:
    """What a container yields, whatever its items are; None for an empty one."""
    element = value.element
    for item in value.items or ():
        element = item if element is None else join(element, item, either)
    return element


def join(a: Value, b: Value, either: Either = same) -> Value:
    """The value of a variable that is `a` on one path and `b` on another."""
    if a is b or a == b:
        return a
    if a.kind is Kind.NONE:
        return b
    if b.kind is Kind.NONE:
        return a
    if (a.kind is Kind.PARAMETER) is not (b.kind is Kind.PARAMETER):
        a, b = _but_weight(a), _but_weight(b)
    if a.kind is Kind.NUMBER and b.kind in TENSORS:
        return b  # `total = 0`, to which tensors are added
    if b.kind is Kind.NUMBER and a.kind in TENSORS:
        return a
    for one, constant_other in ((a, b.known), (b, a.known)):
        asked = truth_of(one) if one.kind is Kind.FLAG else None
        if asked is not None and asked.if_true and constant_other == Const(False):
            return Value(Kind.FLAG, known=Truth(True, False, hint=asked.hint))  # true only where that is
    kind = a.kind if a.kind is b.kind else common_kind(a.kind, b.kind)
    if kind in NAMED and a.known != b.known:
        if kind is Kind.CLASS:
            known = one_of(a.known, b.known)
            return Value(kind, known=known) if known is not None else UNKNOWN
        return _either_name(a.known, b.known) if kind is Kind.LIBRARY else UNKNOWN
    place = join_places(a.place, b.place)
    tensors = a.kind in TENSORS or b.kind in TENSORS
    if tensors and place.form is Form.UNKNOWN and not (is_made(a) or is_made(b)):
        whose, of = _lies_with(a), _lies_with(b)
        of = either(Value(who=whose), Value(who=of)) if whose is not None and of is not None else None
        place = place if of is None else Place(Form.AT, "", of)
    if kind in (Kind.DEVICE, Kind.STRING) and place.form is Form.EITHER:
        for side in (a.place, b.place):
            if side.of is not None:
                place = Place(Form.SAME, place.name, side.of)
    if kind is Kind.FLAG:
        said, other = truth_of(a), truth_of(b)
        if said is None or other is None:
            return NUMBER
        hint = said.hint or other.hint
        both = Truth(said.if_true and other.if_true, said.if_false and other.if_false, hint=hint)
        return Value(kind, known=both)
    arrays = Kind.ARRAY in (a.kind, b.kind) and a.kind is not b.kind
    if place.form is Form.EITHER and (arrays or brought_back(a) or brought_back(b)):
        place = UNKNOWN_PLACE
    items = None
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        items = tuple(join(mine, theirs, either) for mine, theirs in zip(a.items, b.items, strict=True))
    element = None
    if items is None:
        mine, theirs = element_of(a, either), element_of(b, either)
        element = join(mine, theirs, either) if mine and theirs else mine or theirs
    return Value(
        kind,
        place,
        either(a, b),
        _known_of(a, b),
        items,
        element,
        a.origin if a.origin == b.origin else _moved(a) or _moved(b) or _made(a, b),
        a.holds | b.holds,
        a.measures if a.measures == b.measures else _measures_of_made(a, b),
    )


def _known_of(a: Value, b: Value) -> Known | None:
    if a.kind is not b.kind:
        return None
    return a.known if a.known == b.known else one_of(a.known, b.known) if a.kind is Kind.MODULE else None


def _but_weight(value: Value) -> Value:
    """Where one path has a parameter, which moves, it does not say where the other has been made."""
    return value._replace(origin=None) if value.kind is Kind.PARAMETER and is_made(value) else value


def _lies_with(value: Value) -> Who | None:
    """The object where a value is: of what nothing is known, itself."""
    if value.place.form is Form.AT:
        return value.place.of
    return value.who if value.kind is Kind.UNKNOWN and value.place.form is Form.UNKNOWN else None


def brought_back(value: Value) -> bool:
    """Whether a value was moved to the cpu: on the path on which it was not, it may have been there."""
    return value.place.form is Form.CPU and _moved(value) is not None


def _moved(value: Value) -> Origin | None:
    """What was moved on one path is not known to be where it was; nor is what was computed of that."""
    return value.origin if value.origin is not None and value.origin.how in ("moved", BROUGHT) else None


def _made(a: Value, b: Value) -> Origin | None:
    """What one path makes on the cpu is there on that path, whatever the other does."""
    made = [each.origin for each in (a, b) if each.origin is not None and is_made(each)]
    if len(made) == 2 and made[0]._replace(dims=0) == made[1]._replace(dims=0):
        return made[0]._replace(dims=min(made[0].dims, made[1].dims))
    return made[0] if made else None


def derived(origin: Origin, dims: int | None = None) -> Origin:
    """Of what was computed from a tensor that a factory made: it is no leaf, and no call's very result."""
    return origin._replace(api="", dims=origin.dims if dims is None else dims)


def is_any_model(value: Value) -> bool:
    """Whether a value is a module of which nobody knows the class: its call suggests it, or an annotation."""
    return value.kind is Kind.MODULE and value.known is None


def is_made(value: Value) -> bool:
    """Whether a value is, on some path, a tensor that a factory made on the cpu, perhaps for an attribute."""
    origin = value.origin
    return origin is not None and origin.how in _BY_FACTORY and value.place.form in _MAY_BE_CPU


def is_anew(value: Value) -> bool:
    """Whether a value is, on all paths, a tensor that a factory made on the cpu, or several of them."""
    if value.kind is Kind.CONTAINER and value.element is None:
        return bool(value.items) and all(map(is_anew, value.items or ()))
    origin = value.origin
    own = origin is not None and not origin.attribute  # and not what the constructor made before
    return value.kind is Kind.TENSOR and own and is_made(value) and value.place == CPU


def _measures_of_made(a: Value, b: Value) -> Who | None:
    """What gave its size to a tensor that is made on one path, in place of what a caller gave."""
    made = [each for each in (a, b) if is_made(each)]
    return made[0].measures if len(made) == 1 else None


def container(
    who: Who | None = None,
    items: tuple[Value, ...] | None = None,
    element: Value | None = None,
    holds: frozenset[Who] = frozenset(),
) -> Value:
    """A container of those items, or of some that are like `element`.

    What it knows of its parts is bounded: `y = y + y` and `y = (y, y)` double it each time.
    """
    if items is not None and not (len(items) <= MAX_ITEMS and _is_small(items)):
        element = element_of(Value(items=items[:MAX_ITEMS]))
        items = None
    if element is not None and not _is_small((element,)):
        element = element._replace(items=None, element=None)
    return Value(Kind.CONTAINER, UNKNOWN_PLACE, who, None, items, element, None, holds)


def _either_name(a: Known | None, b: Known | None) -> Value:
    """One of several names of libraries: what is called may mean the same whichever it is."""
    names: set[str] = set()
    for known in (a, b):
        names |= set(known.names) if isinstance(known, Apis) else set()
        if isinstance(known, Api):
            names.add(known.dotted)
    return Value(Kind.LIBRARY, known=Apis(tuple(sorted(names)[:_MAX_NAMES])))


def one_of(*known: Known | None) -> OneOf | None:
    """One of several classes, as long as they are few, and each is one."""
    found: set[Api | Defined] = set()
    for each in known:
        if isinstance(each, OneOf):
            found.update(each.classes)
        elif isinstance(each, (Api, Defined)):
            found.add(each)
        else:
            return None
    return OneOf(tuple(sorted(found, key=repr))) if len(found) <= _MAX_NAMES else None


def is_one_of(value: Value) -> bool:
    """Whether a value is a module of one of several classes, which is run as any is."""
    return value.kind is Kind.MODULE and isinstance(value.known, OneOf)


def _is_small(values: tuple[Value, ...]) -> bool:
    """Whether values have few enough parts, counted as often as they are reached, on few enough levels."""
    parts, level = 0, values
    for _ in range(_MAX_LEVELS):
        parts += len(level)
        if parts > _MAX_PARTS:
            return False
        below: list[Value] = []
        for value in level:
            if value.items:
                below.extend(value.items)
            if value.element is not None:
                below.append(value.element)
            if len(below) > _MAX_PARTS:
                return False
        if not below:
            return True
        level = tuple(below)
    return False


def common_kind(a: Kind, b: Kind) -> Kind:
    """The kind of what is one of two kinds."""
    return Kind.TENSOR if a in TENSORS and b in TENSORS else Kind.UNKNOWN
