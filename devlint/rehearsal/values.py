"""What a rehearsal computes with: values that know where they are, and objects that can change."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple, Union

CPU = "cpu"
NOWHERE = ""
"""Where nobody knows."""


class Spot(NamedTuple):
    """A node of a file."""

    path: str
    node: ast.AST


class Batch:
    """What one turn of a loop over a loader is given."""

    __slots__ = ("loader",)

    def __init__(self, loader: object) -> None:
        self.loader = loader


class Made(NamedTuple):
    """How a tensor on the cpu came to be."""

    how: str
    """`factory`; `told` where that was told the cpu; `loader` for what a loader yields; `attribute` for a
    plain tensor that a module has, `weights` for its own, `computed` for what was made of those; `copied`
    for what was brought to the cpu."""
    spot: Spot
    label: str = ""
    group: object = None
    """The batch that it came with, or the module that has it."""
    via: Spot | None = None
    """The call that brought it from another file."""
    kept: Spot | None = None
    """The attribute that an object has it in."""


class Tensor(NamedTuple):
    """A tensor."""

    place: str = NOWHERE
    dims: int = 0
    """How many dimensions it has at least."""
    made: Made | None = None
    registered: bool = False
    """Whether it is a Parameter, which moves with the module that has it."""
    was: Made | None = None
    """Of a moved copy, how what was moved came to be."""
    loose: bool = False
    """Whether it may as well be a structure of tensors that are all there: what a model gives."""


class Array(NamedTuple):
    """An array of numpy's."""

    dims: int = 0


class Device(NamedTuple):
    """A device."""

    place: str
    made: Made | None = None
    """How the tensor came to be on the cpu of which it was asked."""


class Const(NamedTuple):
    """A constant."""

    value: Any
    left: Spot | None = None
    """Of the None that a parameter is by default, the call that leaves it at that."""


class Number(NamedTuple):
    """A number or a truth that nobody knows."""


class Text(NamedTuple):
    """A text that nobody knows."""


class Lib(NamedTuple):
    """Something of a library, by its dotted name."""

    dotted: str


class Unknown:
    """What nobody knows; its parts are the same each time they are asked for."""

    __slots__ = ("moved", "parts")

    def __init__(self) -> None:
        self.parts: dict[Hashable, Unknown] = {}
        self.moved = False
        """Whether a move gave it, so that it is where nobody knows, if it is a tensor."""

    def part(self, name: Hashable) -> Unknown:
        """An attribute, item or result."""
        found = self.parts.get(name)
        if found is None:
            found = self.parts[name] = Unknown()
        return found


class Later(NamedTuple):
    """Something of a file that has not been run yet."""

    found: Any
    dotted: str


class Unrun(NamedTuple):
    """What a statement at the margin of a file defines, which is run when somebody asks for it."""

    unit: Any
    node: Any


class Seq:
    """A list, tuple, set or iterator."""

    __slots__ = ("form", "hidden", "items", "open")

    def __init__(self, items: tuple[Value, ...] = (), form: str = "list", *, open: bool = False) -> None:
        self.items = items
        """Replaced as a whole where it changes."""
        self.form = form
        self.open = open
        """Whether there may be more of the same, or fewer."""
        self.hidden: Spot | None = None
        """The attribute of a module that it is."""


class Map:
    """A dictionary."""

    __slots__ = ("items", "makes", "rest")

    def __init__(self, items: dict[Any, Value] | None = None, rest: Value | None = None) -> None:
        self.items: dict[Any, Value] = {} if items is None else items
        self.rest = rest
        """What stands under keys that nobody knows, if anything does."""
        self.makes: Value | None = None
        """What makes the value of a key that is not there: of a `defaultdict`."""


class Scope:
    """The variables of a module or of one call."""

    __slots__ = ("names", "outer", "shared", "unit")

    def __init__(self, unit: Unit, outer: Scope | None = None) -> None:
        self.names: dict[str, Value] = {}
        self.outer = outer
        self.unit = unit
        self.shared: dict[str, Scope] = {}
        """Names that are `global` or `nonlocal`, with whose they are."""


class Unit:
    """A file of the program."""

    __slots__ = ("_read", "_tree", "absent", "name", "path", "scope", "stars")

    def __init__(self, path: str, name: str, read: Callable[[], ast.Module | None]) -> None:
        """Take what gives the tree, or None for a file that has none: of most imports nobody uses it."""
        self._read = read
        self._tree: ast.Module | None = None
        self.path = path
        self.name = name
        self.scope = Scope(self)
        self.stars: list[str] = []
        """The modules, as it names them, of which it has all names that it does not bind itself."""
        self.absent: set[str] = set()
        """Names that none of these has."""

    @property
    def tree(self) -> ast.Module:
        """What the file says; nothing where it cannot be read."""
        if self._tree is None:
            self._tree = self._read() or ast.Module([], [])
        return self._tree


class Function:
    """A function with the variables around it."""

    __slots__ = ("binding", "defaults", "node", "owner", "scope", "yields")

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope) -> None:
        self.node = node
        self.scope = scope
        self.defaults: dict[str, Value] = {}
        self.owner: Class | None = None
        self.binding = ""
        """`static`, `class`, `property`, or `context` for a generator that is a context manager."""
        self.yields: bool | None = None
        """Whether it is a generator, once somebody asked."""


class Class:
    """A class of the program."""

    __slots__ = ("bases", "fields", "line", "name", "names", "node", "record", "unit")

    def __init__(self, name: str, node: ast.ClassDef, unit: Unit) -> None:
        self.name = name
        self.node = node
        self.unit = unit
        self.bases: list[Value] = []
        self.line: list[Class] | None = None
        """Itself and the classes that it derives from, once somebody asked."""
        self.names: dict[str, Value] = {}
        self.fields: list[str] = []
        self.record = False
        """Whether its constructor takes the fields."""


class Obj:
    """An object of a class of the program, or of a library."""

    __slots__ = (
        *("attrs", "buffers", "cls", "hidden", "hooks", "kept", "left_by", "lib", "moved"),
        *("names", "original", "parts", "pulls", "spot", "unsettled", "via"),
    )

    def __init__(self, cls: Class | None, lib: str, spot: Spot | None) -> None:
        self.cls = cls
        self.lib = lib
        """The class of a library that it is, or that its class derives from."""
        self.attrs: dict[Any, Value] = {}
        self.parts: Seq | Map | None = None
        """What a container of modules holds."""
        self.buffers: frozenset[str] = frozenset()
        self.names: tuple[Any, ...] = ()
        """The names of its parts, where they are a sequence that has some."""
        self.hooks: tuple[Value, ...] = ()
        self.spot = spot
        """Where it was made."""
        self.hidden: Spot | None = None
        """The attribute of a module that has it in a plain container."""
        self.kept: Spot | None = None
        """The attribute of an object that has it."""
        self.original: Obj | None = None
        """What it is a copy of."""
        self.via: Spot | None = None
        """The call that brought it from another file."""
        self.left_by: Spot | None = None
        """What stands where it was moved to the cpu, if that is the last that happened to it."""
        self.moved = False
        """Whether it was moved as a whole, with what it had by then."""
        self.pulls = False
        """Whether a hook that runs before it may bring what it is given to where it is."""
        self.unsettled = False
        """Whether something unknown was given it, which may have moved it."""


class Bound(NamedTuple):
    """A method of an object, or of what `super()` gives."""

    function: Function
    receiver: Value


class Method(NamedTuple):
    """A method that a library has for a value."""

    receiver: Any
    name: str


class Super(NamedTuple):
    """What `super()` gives."""

    receiver: Obj
    after: Class


class Partial(NamedTuple):
    """A function with some of its arguments."""

    function: Any
    positional: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]


Value = Union[  # noqa: UP007 - classes that refer to each other are not all known here
    Tensor,
    Array,
    Device,
    Const,
    Number,
    Text,
    Lib,
    Unknown,
    Seq,
    Map,
    Unit,
    Function,
    Class,
    Obj,
    Bound,
    Method,
    Super,
    Partial,
    Later,
    Unrun,
]
Argument = tuple[ast.expr, Value]
NONE = Const(None)
NUMBER = Number()
TEXT = Text()


def is_number(value: Value) -> bool:
    """Whether a value is a number or a truth."""
    return isinstance(value, Number) or (isinstance(value, Const) and isinstance(value.value, (int, float)))


def truth(value: Value) -> bool | None:
    """Whether a value counts as true; None where nobody knows."""
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, (Function, Class, Lib, Device, Bound, Method, Partial, Unit)):
        return True
    if isinstance(value, Obj):
        return (
            True if value.parts is None and (value.cls is None or "__len__" not in value.cls.names) else None
        )
    if isinstance(value, Seq) and not value.open:
        return bool(value.items)
    if isinstance(value, Map) and value.rest is None:
        return bool(value.items)
    return None


def normal(name: str) -> str:
    """One name for a device: `cuda` and `cuda:0` are the same."""
    return name.removesuffix(":0") if name.count(":") == 1 else name


Held = Union[Scope, Unit, Class, Obj]  # noqa: UP007
"""What may refer to itself in a circle."""


def release(held: Iterable[Held]) -> None:
    """Let go of what refers to itself in a circle, rather than leave it to the garbage collector."""
    for each in held:
        if isinstance(each, Unit):
            each.scope.names.clear()
            del each.scope
        elif isinstance(each, Obj):
            each.attrs, each.parts, each.hooks, each.original = {}, None, (), None
        elif isinstance(each, Class):
            each.names.clear()
            each.bases.clear()
            each.line = None
        else:
            each.names.clear()
            each.shared.clear()
