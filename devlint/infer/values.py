"""What the inference knows of a value: its kind, its device, and the evidence that gathers about it."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from ..knowledge import api


class Kind(Enum):
    """What a value is."""

    __hash__ = object.__hash__  # members are looked up in sets all the time, and Enum hashes by name

    UNKNOWN = "unknown"
    NONE = "None"
    NUMBER = "number"
    STRING = "string"
    FLAG = "flag"
    """A truth value that says whether an accelerator is there; `data` is a `Truth`."""
    TENSOR = "tensor"
    SCALAR = "0-dim tensor"
    PARAMETER = "parameter"
    MODULE = "module"
    OPTIMIZER = "optimizer"
    LOADER = "loader"
    BATCH = "batch"
    """Of unknown structure, but its tensors live on `device`: a loader's element, a model's output."""
    MOVES_IN_PLACE = "moves-in-place"
    """An object that is no module and whose `.to` moves itself, such as transformers' `BatchEncoding`."""
    OTHER = "other"
    """Known to be none of the rest: an object of a class that devlint does not model."""
    DEVICE = "device"
    DTYPE = "dtype"
    ARRAY = "array"
    CONTAINER = "container"
    FUNCTION = "function"
    CLASS = "class"
    INSTANCE = "instance"
    LIBRARY = "library"
    """A name of an imported module; `data` is its dotted name."""


TENSORS = frozenset({Kind.TENSOR, Kind.SCALAR, Kind.PARAMETER})
MAY_HOLD_TENSORS = TENSORS | {Kind.BATCH, Kind.UNKNOWN}


class Form(Enum):
    """How much is known of a device."""

    __hash__ = object.__hash__

    UNKNOWN = "unknown"
    CPU = "cpu"
    ACCELERATOR = "accelerator"
    """A literal such as `cuda:1`."""
    SAME = "same"
    """What a device variable says; the key is its cell."""
    AT = "at"
    """Wherever an object is: an argument, the parameters of `self`; the key is its cell."""
    EITHER = "either"
    """The cpu on some paths and elsewhere on others."""


ON_DEVICE = frozenset({Form.ACCELERATOR, Form.SAME, Form.EITHER})
"""What a value on the cpu cannot meet wherever the program finds an accelerator."""


class Device(NamedTuple):
    """Where a tensor lives, or what a device value denotes. Equal devices agree; unequal ones may.

    `key` is the cell that a symbol stands for; on the cpu, the element of a batch that the value came from,
    or the variable that holds the cpu. Of `either`, it is the set of paths on which the value was moved.
    """

    form: Form
    name: str = ""
    key: object = None


UNKNOWN_DEVICE = Device(Form.UNKNOWN)
CPU = Device(Form.CPU, "cpu")


def accelerator(name: str) -> Device:
    """The device that a literal such as `cuda:0` denotes."""
    return CPU if name == "cpu" else Device(Form.ACCELERATOR, name)


def symbol_name(device: Device) -> str:
    """What the program calls a device: the variable that holds it, or its literal."""
    return device.key.label if device.form is Form.SAME and isinstance(device.key, Cell) else device.name


def join_devices(a: Device, b: Device) -> Device:
    """The device of a value that is at `a` on one path and at `b` on another."""
    if a == b or a.form is b.form is Form.CPU:
        return a
    if isinstance(a.key, Kept) or isinstance(b.key, Kept):
        return _join_kept(a.key, b.key)
    if Form.UNKNOWN in (a.form, b.form):
        return UNKNOWN_DEVICE
    if Form.CPU in (a.form, b.form) or Form.EITHER in (a.form, b.form):
        other = b if a.form is Form.CPU else a
        return Device(Form.EITHER, symbol_name(other))
    if a.form is b.form is Form.ACCELERATOR:
        return a if a.name.split(":")[0] == b.name.split(":")[0] else UNKNOWN_DEVICE
    return UNKNOWN_DEVICE


def _join_kept(a: object, b: object) -> Device:
    """The device of a value that is a kept copy on one path at least."""
    kept = [key for key in (a, b) if isinstance(key, Kept)]
    for key in kept:
        key.links.update(kept)
    return Device(Form.EITHER, symbol_name(kept[0].target), kept[0])


def devices_conflict(a: Device, b: Device) -> bool:
    """Whether values on `a` and `b` cannot meet wherever the program finds an accelerator."""
    if a.form is Form.CPU:
        return b.form in ON_DEVICE
    if b.form is Form.CPU:
        return a.form in ON_DEVICE
    if a.form is b.form is Form.ACCELERATOR:
        return ":" in a.name and ":" in b.name and a.name != b.name
    return False


# Evidence from use: bits that accumulate on a cell.
AS_TENSOR = 1
AS_MODULE = 2
AS_OTHER = 4
AS_LOADER = 8
AS_OPERAND = 256
"""A tensor or a number, so that what has a `.to` is a tensor."""
DIFFERENTIATED = 16
"""`.backward()` was called on it."""
TO_MODULE = 32
"""Passed to a module call."""
AS_NAMED = 512
"""A method was called that tensors have: so may an object of any class."""
IS_TENSOR = AS_TENSOR | AS_NAMED
AS_CONTAINER = 64
AS_SWITCH = 128
"""A variable that holds the cpu, and that what is on the cpu anyway is moved to: it is meant to change."""


class Cell:
    """One object as far as the program text tells objects apart; evidence about it gathers here.

    Cells have identity. A value read twice from the same place has the same cell; a part of an object
    (attribute, item, element) has a child cell. Where branches join, a cell with two `sources` stands
    for either object, and what is learned of it is learned of both.
    """

    __slots__ = (
        "batch",
        "children",
        "elements_are",
        "follows",
        "kept",
        "key",
        "label",
        "moved",
        "moved_to",
        "parent",
        "placed",
        "seen",
        "sources",
        "via",
    )

    def __init__(self, label: str, key: object = None, parent: Cell | None = None, via: str = "") -> None:
        self.label = label
        self.key = key
        self.parent = parent
        self.via = via
        self.children: dict[object, Cell] | None = None
        self.sources: list[Cell] | None = None
        self.seen = 0
        self.elements_are = 0
        """Evidence about whatever iterating over it yields."""
        self.batch: Cell | None = None
        """The whole that this is an element of, where siblings share a fate."""
        self.kept: set[Cell] = set()
        """The elements of this whole of which a moved copy was kept, wherever it went."""
        self.moved: set[Cell] = set()
        """Those that were moved to a device."""
        self.follows: Device | None = None
        """Where its argument was moved, if an unknown callee computed it: for a loss, it is there too."""
        self.placed = False
        """Whether a framework put it where it belongs."""
        self.moved_to: Device | None = None
        """Where an element of this whole was moved, if one was."""

    def child(self, key: object, label: str, via: str) -> Cell:
        """The cell of a part of this object."""
        if self.children is None:
            self.children = {}
        cell = self.children.get(key)
        if cell is None:
            cell = self.children[key] = Cell(label, key, self, via)
        return cell

    def note(self, evidence: int) -> None:
        """Record how the object was used, here and wherever it came from."""
        todo = [self]
        while todo:
            cell = todo.pop()
            if cell.seen & evidence != evidence:
                cell.seen |= evidence
                todo.extend(cell.sources or ())

    def flows_from(self, source: Cell) -> None:
        """Record that this cell may be the object of `source`."""
        if source is self:
            return
        if self.sources is None:
            self.sources = []
        if source not in self.sources:
            self.sources.append(source)
            if self.seen:
                source.note(self.seen)

    def __repr__(self) -> str:
        """For people who debug the inference."""
        return f"<{self.label}>"


class Kept(Cell):
    """Where a discarded move's result would be if it were kept."""

    __slots__ = ("before", "links", "move", "spilled", "target")

    def __init__(self, move: Any, before: Device) -> None:
        super().__init__("kept", move)
        self.move = move
        """The `ast.Call`."""
        self.before = before
        """Where the tensor is as the program stands."""
        self.target = UNKNOWN_DEVICE
        self.spilled = False
        """Whether it went where nobody knows what it meets."""
        self.links: set[Kept] = set()
        """Others that stand or fall with it."""

    @property
    def place(self) -> Device:
        """The device of what is kept."""
        return Device(Form.SAME, "", self)


class Origin(NamedTuple):
    """Where a value was made, for messages and for what is reported at its origin."""

    how: str
    """`factory`, `loader`, `literal`, `default`, `moved`, `array`."""
    node: Any
    """The `ast` node."""
    label: str = ""


class Truth(NamedTuple):
    """What a condition says about the machine: an accelerator is there if it is true, or if it is false."""

    if_true: bool
    if_false: bool
    machine: bool = False
    """Whether it asks the machine and nothing else."""


class Value(NamedTuple):
    """What is known of the value of an expression."""

    kind: Kind = Kind.UNKNOWN
    device: Device = UNKNOWN_DEVICE
    cell: Cell | None = None
    data: Any = None
    """By kind: the constant, dotted name, `Truth`, function, class, or the parameters an optimizer holds."""
    items: tuple[Value, ...] | None = None
    """The elements of a container whose length is known."""
    element: Value | None = None
    """What a container, loader or mapping yields."""
    origin: Origin | None = None


UNKNOWN = Value()
NONE = Value(Kind.NONE)
NUMBER = Value(Kind.NUMBER)
STRING = Value(Kind.STRING)
OTHER = Value(Kind.OTHER)
DTYPE = Value(Kind.DTYPE)


MAX_ITEMS = 256
"""Longer displays are tables of data: a sample tells what they hold."""
_MAX_PARTS = 1024
_MAX_LEVELS = 16


def container(
    cell: Cell | None = None,
    items: tuple[Value, ...] | None = None,
    element: Value | None = None,
    data: frozenset[Cell] | None = None,
) -> Value:
    """A container of those items, or of some that are like `element`; `data` are the modules it holds.

    What it knows of its parts is bounded: `y = y + y` and `y = (y, y)` double it each time.
    """
    if items is not None and not (len(items) <= MAX_ITEMS and _is_small(items)):
        element = _element(Value(items=items[:MAX_ITEMS]))
        items = None
    if element is not None and not _is_small((element,)):
        element = element._replace(items=None, element=None)
    return Value(Kind.CONTAINER, UNKNOWN_DEVICE, cell, data, items, element)


def _is_small(values: tuple[Value, ...]) -> bool:
    """Whether values have few enough parts, counted as often as they are reached, on few enough levels."""
    parts, level = 0, values
    for _ in range(_MAX_LEVELS):
        parts += len(level)
        if parts > _MAX_PARTS:
            return False
        below: list[Value] = []
        for value in level:
            below.extend(value.items or ())
            if value.element is not None:
                below.append(value.element)
            if len(below) > _MAX_PARTS:
                return False
        if not below:
            return True
        level = tuple(below)
    return False


def join(a: Value, b: Value) -> Value:
    """The value of a variable that is `a` on one path and `b` on another."""
    if a is b or a == b:
        return a
    if a.kind is Kind.NONE:
        return b
    if b.kind is Kind.NONE:
        return a
    if a.kind is Kind.NUMBER and b.kind in TENSORS:
        return b  # `total = 0`, to which tensors are added
    if b.kind is Kind.NUMBER and a.kind in TENSORS:
        return a
    kind = a.kind if a.kind is b.kind else _common_kind(a.kind, b.kind)
    if kind in _NAMED and a.data != b.data:
        # One of several callees: unknown, unless either would do the same.
        return a if api.is_optimizer(a.data) and api.is_optimizer(b.data) else UNKNOWN
    for value in (a, b):
        if value.kind in TENSORS and value.cell is not None:
            value.cell.note(AS_TENSOR)
    device = join_devices(a.device, b.device)
    if kind in (Kind.DEVICE, Kind.STRING) and device.form is Form.EITHER:
        for known in (a.device, b.device):
            if isinstance(known.key, Cell):
                device = Device(Form.SAME, device.name, known.key)
    if kind is Kind.FLAG:
        return Value(kind, data=Truth(a.data.if_true and b.data.if_true, a.data.if_false and b.data.if_false))
    items = None
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        items = tuple(map(join, a.items, b.items))
    element = None
    if items is None:
        mine, theirs = _element(a), _element(b)
        element = join(mine, theirs) if mine is not None and theirs is not None else mine or theirs
    return Value(
        kind,
        device,
        _join_cells(a.cell, b.cell),
        a.data if a.kind is b.kind and a.data == b.data else None,
        items,
        element,
        a.origin if a.origin == b.origin else None,
    )


def _element(value: Value) -> Value | None:
    """What a container yields; None for an empty one."""
    element = value.element
    for item in value.items or ():
        element = item if element is None else join(element, item)
    return element


_NAMED = frozenset({Kind.LIBRARY, Kind.CLASS, Kind.FUNCTION, Kind.INSTANCE})


def _common_kind(a: Kind, b: Kind) -> Kind:
    if a in TENSORS and b in TENSORS:
        return Kind.TENSOR
    return Kind.UNKNOWN


def _join_cells(a: Cell | None, b: Cell | None) -> Cell | None:
    if a is b:
        return a
    if a is None or b is None:
        known = a or b
        assert known is not None
        cell = known.child("or", known.label, "or")
        cell.flows_from(known)
        cell.batch = known.batch
        return cell
    if b.sources and a in b.sources:
        return b
    if a.sources and b in a.sources:
        return a
    cell = a.child(("or", b), a.label, "or")
    cell.flows_from(a)
    cell.flows_from(b)
    cell.batch = a.batch if a.batch is b.batch else None
    return cell
