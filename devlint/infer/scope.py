"""The state of a program at one point, and what is known of its functions and classes."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from .values import UNKNOWN, Cell, Device, Form, Value, join, join_devices

Key = Any
"""A variable's name, or the cell of an object and the name or constant that selects a part of it."""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def subscript_key(node: ast.expr) -> object:
    """What tells one item of an object from another: the constant, or the variable, in the brackets."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return ("item", node.id)
    return ("item", type(node).__name__)


class Holding(NamedTuple):
    """An optimizer's hold on the parameters of modules."""

    modules: frozenset[Cell]
    name: str
    """The optimizer's class."""
    line: int
    stage: str
    """`fresh`, `stateful`, `stepped` or `loaded`."""
    stateless: bool


class State:
    """What holds at one point: variables, where modules are, what optimizers hold, and guards."""

    __slots__ = ("accelerated", "alive", "default", "env", "held", "places")

    def __init__(self) -> None:
        self.env: dict[Key, Value] = {}
        self.places: dict[Cell, Device] = {}
        """Where modules and other objects that move in place are."""
        self.held: dict[Cell, Holding] = {}
        """Optimizers by cell."""
        self.accelerated = False
        """Whether an accelerator is known to be there."""
        self.alive = True
        """Whether control can reach this point."""
        self.default: Device | None = None
        """The default device, where one was set."""

    def copy(self) -> State:
        """An independent state that starts from this one."""
        new = State.__new__(State)
        new.env = self.env.copy()
        new.places = self.places.copy()
        new.held = self.held.copy()
        new.accelerated = self.accelerated
        new.alive = self.alive
        new.default = self.default
        return new

    def forget(self, cell: Cell) -> None:
        """A new object is made at a place in the program that made another one before, in a loop."""
        self.places.pop(cell, None)
        for optimizer in [o for o, holding in self.held.items() if cell in holding.modules]:
            del self.held[optimizer]

    def same(self, other: State) -> bool:
        """Whether both states say the same, so that a loop has come to rest."""
        return self.env == other.env and self.places == other.places and self.held == other.held


def join_states(a: State, b: State) -> State:
    """The state after two paths meet; may reuse either argument."""
    if not a.alive:
        return b
    if not b.alive:
        return a
    env = a.env
    for key, value in b.env.items():
        mine = env.get(key)
        if mine is None:
            env[key] = value
        elif mine is not value:
            env[key] = join(mine, value)
    for cell, place in b.places.items():
        before = a.places.get(cell)
        a.places[cell] = Device(Form.EITHER, place.name) if before is None else join_devices(before, place)
    for cell, place in a.places.items():
        if cell not in b.places:
            a.places[cell] = Device(Form.EITHER, place.name)
    for cell, holding in b.held.items():
        mine_held = a.held.get(cell)
        if mine_held is None or _STAGES.index(mine_held.stage) < _STAGES.index(holding.stage):
            a.held[cell] = holding
    a.accelerated = a.accelerated and b.accelerated
    if a.default != b.default:
        a.default = None
    return a


_STAGES = ("fresh", "stateful", "stepped", "loaded")


class Summary(NamedTuple):
    """What a call of a function does, in terms of the cells of its parameters."""

    returns: Value
    moves: tuple[tuple[Cell, Device], ...]
    """Parameters that the function moves in place, and where to."""
    meetings: tuple[Meeting, ...]
    """Places whose values meet inside the function, where at least one is a parameter's."""
    held: tuple[tuple[Cell, Holding], ...]
    """Optimizers that the function makes."""
    accelerated: bool
    """Whether it returns only where an accelerator is there."""


class Meeting(NamedTuple):
    """Two places whose values come together at one node."""

    left: Device
    right: Device


class Met(NamedTuple):
    """Values on two devices that come together."""

    function: Function | None
    left: ast.expr
    here: Device
    right: ast.AST
    there: Device
    one: Cell | None
    """The cell of the value at `left`."""
    other: Cell | None


class Feed(NamedTuple):
    """A value that a method passes to a module which the class moved."""

    function: Function
    module: Cell
    at: ast.expr
    device: Device
    place: Device
    moved: bool
    """Whether the method moved the value before."""


NO_SUMMARY = Summary(UNKNOWN, (), (), (), False)


class Function:
    """A function or method of this file."""

    def __init__(
        self, node: FunctionNode, env: dict[Key, Value] | None, owner: Class | None, outer: Function | None
    ) -> None:
        self.node = node
        self.name = getattr(node, "name", "<lambda>")
        self.enclosing = env
        """The variables of the function it is nested in, if any."""
        self.owner = owner
        self.outer = outer
        self.cells: dict[str, Cell] = {}
        """A cell for each parameter."""
        self.sites: list[Site] = []
        self.summary: Summary | None = None
        self.running = False
        self.accelerated = False
        """Whether it is defined only where an accelerator is there."""
        args = node.args
        self.positional = [arg.arg for arg in (*args.posonlyargs, *args.args)]
        self.static = False
        self.of_class = self.name in ("__new__", "__init_subclass__", "__class_getitem__")
        """Whether its first parameter is the class."""
        self.prop = False
        self.autouse = False
        """Whether it is a fixture that every test around it uses."""
        for decorator in getattr(node, "decorator_list", ()):
            if isinstance(decorator, ast.Call):
                self.autouse |= any(
                    keyword.arg == "autouse" and getattr(keyword.value, "value", None) is True
                    for keyword in decorator.keywords
                )
            name = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")
            self.static |= name == "staticmethod"
            self.of_class |= name == "classmethod"
            self.prop |= name in ("property", "cached_property")

    @property
    def is_hook(self) -> bool:
        """Whether its body does nothing, so that a subclass is likely to replace it."""
        body = self.node.body if isinstance(self.node.body, list) else []
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        return all(
            isinstance(statement, (ast.Pass, ast.Raise))
            or (
                isinstance(statement, ast.Return)
                and isinstance(statement.value, (ast.Name, ast.Constant, type(None)))
            )
            for statement in body
        ) and not isinstance(self.node, ast.Lambda)

    @property
    def names(self) -> Iterator[str]:
        """Its name and those of the functions around it; a class says what its name says by itself."""
        function: Function | None = self
        while function is not None:
            yield function.name
            function = function.outer

    @property
    def is_method(self) -> bool:
        """Whether the first parameter is `self` or `cls`."""
        return self.owner is not None and not self.static and bool(self.positional)


class Site(NamedTuple):
    """A call of a function of this file, as the caller sees it."""

    caller: Function | None
    arguments: dict[str, Value]
    places: dict[Cell, Device]
    held: dict[Cell, Holding]
    accelerated: bool


class Class:
    """A class of this file, with what is known of its instances as one."""

    def __init__(self, node: ast.ClassDef) -> None:
        self.node = node
        self.name = node.name
        self.cell = Cell("self", node)
        """The cell of `self`."""
        self.bases: list[Class] = []
        self.base_names: list[str] = []
        self.methods: dict[str, Function] = {}
        self.body: dict[str, Value] = {}
        """Class variables."""
        self.attributes: dict[str, Value] = {}
        """What the methods assign to attributes of `self`, joined."""
        self._assigned: dict[str, dict[Function, Value]] = {}
        self.accelerated = False
        """Whether a decorator or condition makes sure that an accelerator is there."""
        self.is_module = False
        self.framework = False
        """Whether a framework moves what this class is given."""
        self.places: dict[Cell, Device] = {}
        self.held: dict[Cell, Holding] = {}
        """Where the constructor leaves the objects that it makes."""

    def assign(self, name: str, function: Function, value: Value) -> None:
        """Record what a method leaves in an attribute; an earlier analysis of it no longer counts."""
        by_function = self._assigned.setdefault(name, {})
        by_function[function] = value
        values = iter(by_function.values())
        joined = next(values)
        for other in values:
            joined = join(joined, other)
        self.attributes[name] = joined

    def method(self, name: str) -> Function | None:
        """The method of that name, here or in a base class of this file."""
        for cls in self.lineage():
            if name in cls.methods:
                return cls.methods[name]
        return None

    def attribute(self, name: str) -> Value | None:
        """What is assigned to an attribute, in any method or the class body, here or in a base class."""
        for cls in self.lineage():
            value = cls.attributes.get(name) or cls.body.get(name)
            if value is not None:
                return value
        return None

    def lineage(self) -> list[Class]:
        """This class and its bases in this file, nearest first."""
        found: dict[Class, None] = {self: None}
        todo = deque([self])
        while todo:
            for base in todo.popleft().bases:
                if base not in found:
                    found[base] = None
                    todo.append(base)
        return list(found)
