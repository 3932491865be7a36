"""From observations to events, once all evidence is in: the plain data that rules see."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Literal

from ..core import events as event
from ..core.events import At, Holder, Seen, Why
from ..core.kinds import Kind
from ..core.places import Branch, Form, Place
from ..core.values import How, Origin
from ..knowledge import api
from ..knowledge.topics import parameters_of, topics_of
from .flow import Path
from .resolve import apart, device_name, in_use, spread, tensor_kind
from .source import Source, node_type
from .values import Cell, Device, Value
from .values import Form as OldForm
from .values import Kind as OldKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .module import Called, Module, Moved, Stale
    from .resolve import Apart
    from .scope import Function, Here

_KINDS = {kind: Kind(kind.value) for kind in OldKind}
_FORMS = {form: Form("literal" if form is OldForm.ACCELERATOR else form.value) for form in OldForm}
_METHODS_OF = {
    Kind.TENSOR: "Tensor",
    Kind.SCALAR: "Tensor",
    Kind.PARAMETER: "Tensor",
    Kind.MODULE: "Module",
    Kind.OPTIMIZER: "Optimizer",
    Kind.LOADER: "Loader",
    Kind.DEVICE: "Device",
    Kind.CONTAINER: "Container",
    Kind.STRING: "String",
    Kind.ARRAY: "Array",
}
"""What callees are called whose receiver has one of these kinds."""
_ORIGINS: dict[str, How] = {
    "factory": "factory",
    "array": "array",
    "loader": "loader",
    "moved": "moved",
    "literal": "literal",
    "default": "default",
    "made": "made",
}
_ALL_MOVES = api.MOVE_METHODS | {"to_empty"}
_REPLACES = ("to_empty", "FullyShardedDataParallel")


def events(module: Module, text: str) -> tuple[event.Event, ...]:
    """The events of an analysed module, in source order."""
    spread(module)
    settled = Settled(module, text)
    found: list[event.Event] = [
        *settled.moves(),
        *settled.calls(),
        *settled.uses(),
        *settled.literals(),
        *settled.meetings(),
        *settled.binds(),
        *settled.comparisons(),
    ]
    found.sort(key=lambda each: (each.at.span, type(each).__name__))
    return tuple(found)


class Settled:
    """What a module turned out to be, in terms of plain data: objects are numbered as they come up."""

    def __init__(self, module: Module, text: str) -> None:
        self.module = module
        self.source = Source(text)
        self._nature = tuple(module.by_nature)
        self._numbers: dict[object, int] = {}

    def number(self, thing: object) -> int:
        """The number that stands for an object."""
        return self._numbers.setdefault(thing, len(self._numbers))

    def at(self, node: ast.expr, function: Function | None, here: Here | None, probe: bool = False) -> At:
        """Where something happens."""
        hints = (*self.module.hints(function), *self._nature)
        context = {"probe"} if here is not None and here.probing else set()
        owner = function.owner if function is not None else None
        if function is not None and owner is not None:
            if owner.is_module and function.name == "forward":
                context.add("forward")
            bases = [name for each in owner.lineage() for name in each.base_names]
            if any(name.startswith("torch.utils.data.") for name in bases):
                context.add("dataset")
            if any(name.startswith("unittest.") or name.endswith("TestCase") for name in bases):
                context.add("test")
        return At(
            self.source.span(node),
            node_type(node),
            _qualified(function),
            Why(here is not None and here.certain, hints),
            here.loops if here is not None else 0,
            frozenset(context),
        )

    def place(self, device: Device) -> Place:
        """A place in plain data: equal devices give equal places."""
        key, name = device.key, device.name
        if isinstance(key, frozenset):
            branches = frozenset(self._branch(path) for path in key)
            return Place(_FORMS[device.form], name, None, branches)
        if isinstance(key, Cell) and device.form is not OldForm.AT:
            name = device_name(device)
        return Place(_FORMS[device.form], name, None if key is None else self.number(key))

    def _branch(self, path: Path) -> Branch:
        asks: Literal["machine", "option", ""] = ""
        if path.asks == "machine":
            asks = "machine"
        elif path.asks == "option":
            asks = "option"
        move = -1 if path.origin is None else self.number(path.origin.node)
        return Branch(self.number(path.chain), self.number(path.node), path.outcome, asks, move)

    def seen(
        self, value: Value, device: Device, node: ast.AST | None, function: Function | None = None
    ) -> Seen:
        """A value as rules see it."""
        kind = tensor_kind(value, function)
        settled = in_use(value).kind if kind is None else kind
        origin = value.origin
        made = None
        if origin is not None and origin.how in _ORIGINS:
            made = Origin(_ORIGINS[origin.how], _qualified(function), self.number(origin.node))
        return Seen(
            _KINDS[settled],
            self.place(device),
            None if value.cell is None else self.number(value.cell),
            self.source.quote(node) if node is not None else "",
            made,
            value.kind is settled and settled is not OldKind.UNKNOWN,
            self.source.span(node) if isinstance(node, ast.expr) else None,
            made_here=origin is not None and origin.how in ("factory", "array") and origin.node is node,
        )

    # Moves

    def moves(self) -> Iterator[event.Move]:
        """Moves and casts, with the optimizers that hold what is moved."""
        wants = self.module.wants
        for node, moved in self.module.movements.items():
            if wants("move", moved.method):
                yield self._move(node, moved)
        for call, stale in self.module.stale.items():
            alone = call not in self.module.movements
            if alone and isinstance(call, ast.Call) and not self._told(call, stale):
                yield self._brought_about(call, stale)

    def _move(self, node: ast.Call, moved: Moved) -> event.Move:
        assert isinstance(node.func, ast.Attribute)
        receiver, casts = moved.receiver, moved.casts
        fate: event.Fate = "discarded" if moved.statement else "kept"
        iterates = None
        lost = self.module.discards.get(node)
        if lost is not None:
            receiver, fate = lost.receiver, "rebound" if lost.rebound else "discarded"
            iterates = self.source.quote(lost.loop) if lost.loop is not None else None
        stale = self.module.stale.get(node)
        return event.Move(
            self.at(node, moved.function, moved.here),
            moved.method,
            self.seen(receiver, moved.place, node.func.value, moved.function),
            None if moved.target is None else self.place(moved.target),
            moved.named,
            casts,
            receiver.kind in (OldKind.MODULE, OldKind.INSTANCE),
            fate,
            iterates,
            () if stale is None or self._told(node, stale) else (self._holder(stale),),
            moved.method in _REPLACES,
        )

    def _brought_about(self, node: ast.Call, stale: Stale) -> event.Move:
        """A move that a call brings about: of a helper, or of a wrapper that makes new parameters."""
        moved = node.func.value if isinstance(node.func, ast.Attribute) else node
        replaces = stale.method in _REPLACES
        if stale.method not in _ALL_MOVES and node.args:
            moved = node.args[0]
        place = Place(Form.UNKNOWN)
        return event.Move(
            self.at(node, stale.function, None),
            stale.method,
            Seen(Kind.MODULE, place, self.number(stale.module), self.source.quote(moved)),
            place,
            "other",
            casts=False,
            in_place=True,
            result="kept",
            iterates=None,
            holders=(self._holder(stale),),
            replaces=replaces,
        )

    def _told(self, node: ast.Call, stale: Stale) -> bool:
        """Whether the move stands in the function that is called here, and is told there."""
        inside = any(
            other.holding == stale.holding and other.function is not stale.function
            for other in self.module.stale.values()
        )
        return inside and not (isinstance(node.func, ast.Attribute) and node.func.attr in _ALL_MOVES)

    def _holder(self, stale: Stale) -> Holder:
        holding = stale.holding
        idle = holding.stateless and holding.stage in ("stepped", "loaded")
        return Holder("optimizer", "fresh" if idle else holding.stage, holding.name, holding.line)

    # Calls and names

    def calls(self) -> Iterator[event.Call]:
        """Calls of libraries' functions, and of methods of what has a known kind."""
        for node, called in self.module.calls.items():
            receiver = None
            callee = called.callee
            if called.receiver is not None:
                assert isinstance(node.func, ast.Attribute)
                receiver = self.seen(*called.receiver, node.func.value, called.function)
                kind = _METHODS_OF.get(receiver.kind)
                if kind is None:
                    continue
                callee = f"{kind}.{node.func.attr}"
            if self.module.wants("call", callee):
                yield event.Call(
                    self.at(node, called.function, called.here),
                    callee,
                    receiver,
                    self._given(called, parameters_of(callee)),
                    called.open,
                    "discarded" if called.statement else "kept",
                    topics_of(callee),
                )

    def _given(self, called: Called, parameters: tuple[str, ...]) -> dict[str, Seen]:
        given: dict[str, Seen] = {}
        for key, node, value, device in called.given:
            if isinstance(key, int):
                key = parameters[key] if key < len(parameters) else str(key)
            given[key] = self.seen(value, device, node, called.function)
        return given

    def uses(self) -> Iterator[event.Use]:
        """Names of libraries that are read."""
        for node, used in self.module.uses.items():
            if "." in used.name:
                yield event.Use(self.at(node, used.function, used.here), used.name, topics_of(used.name))

    def literals(self) -> Iterator[event.Literal_]:
        """Literal names of devices that reach a place where a device goes."""
        for node, placed in self.module.literals.items():
            text = str(node.value) if isinstance(node, ast.Constant) else ""
            if text and self.module.wants("literal", text):
                yield event.Literal_(self.at(node, placed.function, placed.here), text, placed.role)

    # Values that come together, or are kept

    def meetings(self) -> Iterator[event.Meeting]:
        """Values that come together though they are apart, or may be."""
        if not self.module.wants("meeting", ""):
            return
        for each in apart(self.module, self.source):
            function = each.here.function if each.here is not None else None
            yield event.Meeting(
                self.at(each.at, function, each.here),
                "call" if each.here is None else "operator",
                self._behind(each, function),
                Seen(Kind.UNKNOWN, self.place(each.there), None, each.other),
                each.conflict,
                each.sibling_moved,
            )

    def _behind(self, each: Apart, function: Function | None) -> Seen:
        if each.value is not None:
            return self.seen(each.value, each.device, each.at, function)
        number = None if each.cell is None else self.number(each.cell)
        origin = Origin("loader", _qualified(function), -1) if each.looped else None
        return Seen(
            *(Kind.BATCH, self.place(each.device), number, each.label, origin),
            span=self.source.span(each.at),
            within=each.within,
        )

    def binds(self) -> Iterator[event.Bind]:
        """What is assigned to attributes and items."""
        for node, stored in self.module.stores.items():
            owner = node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else None
            yield event.Bind(
                self.at(node, stored.function, stored.here),
                stored.target,
                self.seen(*stored.owner, owner, stored.function),
                stored.name,
                self.seen(*stored.value, None, stored.function),
            )

    def comparisons(self) -> Iterator[event.Compare]:
        """Values that are compared."""
        for node, compared in self.module.comparisons.items():
            yield event.Compare(
                self.at(node, compared.function, compared.here),
                self.seen(*compared.left, node.left, compared.function),
                self.seen(*compared.right, node.comparators[0], compared.function),
            )


def _qualified(function: Function | None) -> str:
    """The name of a function, with those around it."""
    names = []
    while function is not None:
        names.append(function.name)
        if function.owner is not None:
            names.append(function.owner.name)
        function = function.outer
    return ".".join(reversed(names))
