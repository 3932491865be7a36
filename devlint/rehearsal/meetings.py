"""Where tensors are, what moves them, and what comes together and is apart."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from .. import knowledge
from ..bind.position import encloses
from ..core.met import Met
from ..knowledge.row import Row
from .builtins import Builtins
from .parts import (
    DISTRIBUTIONS,
    held,
    is_none,
    quoted,
    there,
)
from .stage import Load
from .values import (
    CPU,
    NOWHERE,
    Argument,
    Batch,
    Const,
    Device,
    Lib,
    Made,
    Map,
    Obj,
    Seq,
    Spot,
    Tensor,
    Value,
    normal,
)

ACCELERATOR = "cuda"
_DEPTH = 4
_ORIGINS = {
    "told": "literal",
    "attribute": "abroad",
    "copied": "moved",
    "weights": "moved",
}
"""What origins of values call it."""


class Meetings(Builtins):
    """Tells what comes together and is apart."""

    def __init__(self, load: Load, *, lazy: bool) -> None:
        """See `Stage`."""
        super().__init__(load, lazy=lazy)
        self.lost: set[Made] = set()
        """What was moved, and is still where it was as nobody kept the copy."""
        self.moved_groups: set[int] = set()
        """The batches of which something was moved."""

    def place_of(self, value: Value | None) -> str:
        """The device that a value names, or is on; empty where nobody knows."""
        if isinstance(value, Const):
            if isinstance(value.value, str):
                return normal(value.value)
            if isinstance(value.value, int) and not isinstance(value.value, bool):
                return normal(f"{ACCELERATOR}:{value.value}")
            return NOWHERE
        if isinstance(value, (Device, Tensor)):
            return value.place
        return NOWHERE

    def combined(
        self, node: ast.AST, how: str, parties: Sequence[Argument], *, exact: bool = False
    ) -> Tensor:
        """What an operation gives of tensors, which have to be together."""
        tensors = [(at, value) for at, value in parties if isinstance(value, Tensor)]
        dims = max((value.dims for _, value in tensors), default=0)
        place, made, sure = NOWHERE, None, True
        for _, value in tensors:
            sure &= bool(value.place)
            counts = value.dims > 0 or exact or len(tensors) == 1
            if value.place and (counts or not place) and (place in (NOWHERE, CPU) or value.place != CPU):
                place = value.place
        if place == CPU and sure:
            made = next((value.made for _, value in tensors if value.made is not None), None)
        behind = [(at, value) for at, value in tensors if value.place == CPU and (value.dims > 0 or exact)]
        ahead = [(at, value) for at, value in tensors if value.place not in (NOWHERE, CPU)]
        if behind and ahead:
            self.tell(how, behind[0], ahead[0])
            return Tensor(NOWHERE, dims)
        others = [(at, value) for at, value in ahead if value.dims > 0]
        for at, value in others[1:]:
            if value.place != others[0][1].place:
                self.tell(how, others[0], (at, value))
                return Tensor(NOWHERE, dims)
        return Tensor(place if sure or place != CPU else NOWHERE, dims, made)

    def tell(self, how: Any, behind: Argument, ahead: Argument, module: Obj | None = None) -> None:
        """Note what came together and is apart."""
        at, value = behind
        made = value.made if isinstance(value, Tensor) else None
        if self.tried:
            return
        if module is None and made is not None and made.how == "weights" and isinstance(made.group, Obj):
            module = made.group
        here = self.spot(at)
        kind, origin, home, label, dims, partly = "tensor", "moved", here, "", 1, False
        if module is not None:
            found = self._left_behind(module)
            if found is None:
                return
            (kind, home, label), origin = found, "made"
        elif made is not None and isinstance(value, Tensor):
            origin, home, label, dims = _ORIGINS.get(made.how, made.how), made.spot, made.label, value.dims
            if made.how == "loader":
                kind, home, partly = "batch", here, id(made.group) in self.moved_groups
                label = quoted(at)
        made_at, via = None, made.via if made is not None else None
        if made is not None and made._replace(via=None) in self.lost:
            return  # that its move is thrown away is told by itself
        if made is not None and made.how == "loader":
            home = self._passed(made, here)
            label = quoted(home.node)
        elif (
            kind == "tensor" and origin == "factory" and home.path != here.path and not self.is_at_work(home)
        ):
            # Who made it in another file, and gave it away, does not know what it meets.
            made_at = there(home)
            home = via if via is not None and via.path != here.path else here
            label = quoted(home.node)
        met, place = ahead[1], value.place if isinstance(value, Tensor) else CPU
        device = met.place if isinstance(met, Tensor) else NOWHERE
        self.met.setdefault(
            (home.path, there(home).at, kind, origin),
            Met(
                how,
                kind,  # type: ignore[arg-type]
                origin,  # type: ignore[arg-type]
                there(home),
                label or quoted(home.node),
                place,
                dims,
                quoted(ahead[0]),
                device,
                there(here),
                partly,
                made_at,
                there(via) if via is not None else None,
            ),
        )

    def _passed(self, made: Made, here: Spot) -> Spot:
        """What was passed of a batch, or of its loader, where it meets something in another file."""
        assert isinstance(made.group, Batch)
        for caller, frame in pairwise(self.frames):
            path = caller.scope.unit.path
            if path == frame.scope.unit.path:
                continue
            for at, value in frame.given:
                if value is made.group.loader and path != made.spot.path:
                    return Spot(path, at)
                if path == made.spot.path and any(
                    each.made is not None and each.made.group is made.group for each in self.tensors_in(value)
                ):
                    return Spot(path, at)
        return here

    def is_at_work(self, spot: Spot) -> bool:
        """Whether the function in which something stands has not ended."""
        return any(
            frame.scope.unit.path == spot.path
            and (isinstance(frame.node, ast.Module) or encloses(frame.node, spot.node))
            for frame in self.frames
        )

    def dropped(self, value: Value) -> None:
        """Nobody keeps what an expression gives: a move that is thrown away is told by itself."""
        self.lost.update(
            each.was._replace(via=None) for each in self.tensors_in(value) if each.was is not None
        )

    def crossed(self, value: Value, spot: Spot) -> Value:
        """What a call of another file's function gives: what that made on the cpu came by that call."""
        self.spend()
        if isinstance(value, Tensor) and value.made is not None:
            return value._replace(made=value.made._replace(via=value.made.via or spot))
        if isinstance(value, Seq) and value.items:
            items = tuple(self.crossed(each, spot) for each in value.items)
            return value if items == value.items else Seq(items, value.form, open=value.open)
        if isinstance(value, Map):
            for key, each in list(value.items.items()):
                if isinstance(each, Tensor):
                    self.put(value.items, key, self.crossed(each, spot))
        return value

    def _left_behind(self, module: Obj) -> tuple[str, Spot, str] | None:
        """The outermost module at work of which nothing was moved: how it is told, where, and its name.

        One that another module has in a plain container is told where that is assigned.
        """
        for each in (*self.running, None):
            obj = each.obj if each is not None else module
            if obj.unsettled:
                return None
            if {tensor.place for tensor in self.weights(obj)} != {CPU} or obj.spot is None:
                continue
            if obj.hidden is not None and each is not self.running[0]:
                return "hidden", obj.hidden, quoted(obj.hidden.node)
            if each is None:
                return "module", obj.spot, ""
            given = each.spot.path != obj.spot.path and not self.is_at_work(obj.spot)
            return "module", each.spot if given else obj.spot, each.label
        return None

    def weights(self, obj: Obj, depth: int = 0) -> Iterator[Tensor]:
        """The parameters and buffers of a module and its parts."""
        if depth > 12:
            return
        self.spend(1 + len(obj.attrs))
        for name, value in obj.attrs.items():
            if isinstance(value, Tensor) and (value.registered or name in obj.buffers):
                yield value
            elif isinstance(value, Obj) and self.is_module(value):
                yield from self.weights(value, depth + 1)
        for value in held(obj):
            if isinstance(value, Obj):
                yield from self.weights(value, depth + 1)
            elif isinstance(value, Tensor) and value.registered:
                yield value

    def move(self, obj: Obj, place: str, depth: int = 0) -> None:
        """Move the parameters and buffers of a module and its parts."""
        if depth > 12:
            return
        self.spend(1 + len(obj.attrs))
        for name, value in list(obj.attrs.items()):
            if isinstance(value, Tensor) and (value.registered or name in obj.buffers):
                self.put(obj.attrs, name, value._replace(place=place, made=None))
            elif isinstance(value, Obj) and self.is_module(value):
                self.move(value, place, depth + 1)
        if isinstance(obj.parts, Seq):
            items = tuple(
                each._replace(place=place, made=None) if isinstance(each, Tensor) else each
                for each in obj.parts.items
            )
            self.alter(obj.parts, "items", items)
        elif isinstance(obj.parts, Map):
            for key, each in list(obj.parts.items.items()):
                if isinstance(each, Tensor):
                    self.put(obj.parts.items, key, each._replace(place=place, made=None))
        for value in held(obj):
            if isinstance(value, Obj):
                self.move(value, place, depth + 1)

    def hand_over(self, values: Sequence[Value], depth: int = 0) -> None:
        """Something unknown is given objects: it may move them, and what they have."""
        self.spend(len(values))
        for value in values if depth < _DEPTH else ():
            if isinstance(value, Obj) and not value.unsettled:
                self.alter(value, "unsettled", True)
                if self.is_module(value):
                    self.move(value, NOWHERE)
                for name, each in list(value.attrs.items()):
                    if isinstance(each, Tensor):
                        self.put(value.attrs, name, each._replace(place=NOWHERE, made=None))
                self.hand_over([*value.attrs.values(), *held(value)], depth + 1)
            elif isinstance(value, Seq):
                self.hand_over(value.items, depth + 1)
                items = tuple(
                    each._replace(place=NOWHERE) if isinstance(each, Tensor) else each for each in value.items
                )
                if items != value.items and value.form == "list":
                    self.alter(value, "items", items)
            elif isinstance(value, Map):
                self.hand_over(list(value.items.values()), depth + 1)
                for key, each in list(value.items.items()):
                    if isinstance(each, Tensor):
                        self.put(value.items, key, each._replace(place=NOWHERE, made=None))

    def set_attribute(self, owner: Value, name: str, value: Value, node: ast.expr) -> None:
        """Assign an attribute: what is done to the data of a weight is not followed."""
        held = isinstance(owner, Tensor) and owner.made is not None and isinstance(owner.made.group, Obj)
        if held and name in knowledge.TENSOR_DATA:
            self.hand_over([owner.made.group])  # type: ignore[union-attr, list-item]
        super().set_attribute(owner, name, value, node)

    def kept(self, owner: Obj, name: str, value: Value, node: ast.expr) -> Value:
        """A value as an object has it: of a plain tensor of a module, that it is one."""
        if self.is_module(owner) and name not in owner.buffers:
            if isinstance(value, (Seq, Map)):
                for each in value.items.values() if isinstance(value, Map) else value.items:
                    if isinstance(each, Obj) and each.hidden is None and self.is_module(each):
                        self.alter(each, "hidden", self.spot(node))
            return self._plain(owner, value, Made("attribute", self.spot(node), quoted(node)))
        return value

    def read(self, owner: Obj, name: str, value: Value) -> Value:
        """A value as it is read: of a parameter or buffer on the cpu, whose it is."""
        own = isinstance(value, Tensor) and (value.registered or name in owner.buffers)
        if not own or not isinstance(value, Tensor) or value.place != CPU or value.made is not None:
            return value
        known = owner.spot is not None and self.is_module(owner)
        return value._replace(made=Made("weights", owner.spot, "", owner)) if known and owner.spot else value

    def _plain(self, owner: Obj, value: Value, made: Made) -> Value:
        self.spend()
        if isinstance(value, Tensor):
            own = value.made is not None and value.made.how == "factory"
            return value._replace(made=made) if own and value.place == CPU and not value.registered else value
        if isinstance(value, Seq) and any(isinstance(each, Tensor) for each in value.items):
            return Seq(
                tuple(self._plain(owner, each, made) for each in value.items), value.form, open=value.open
            )
        return value

    def tensors_in(self, value: Value | None, depth: int = 0) -> Iterator[Tensor]:
        """A tensor, or those in a container, in an object that is no module, or in a distribution."""
        if isinstance(value, Tensor):
            yield value
        elif depth < _DEPTH:
            parts: Iterable[Value] = ()
            if isinstance(value, Seq):
                parts = value.items
            elif isinstance(value, Map):
                parts = value.items.values()
            elif isinstance(value, Obj) and (value.lib in ("", "?") or value.lib.startswith(DISTRIBUTIONS)):
                parts = value.attrs.values()
            for each in parts:
                self.spend()
                yield from self.tensors_in(each, depth + 1)

    def brought_to(self, value: Value, place: str) -> Value:
        """A tensor, or those in a container, elsewhere."""
        self.spend()
        if isinstance(value, Tensor):
            return value._replace(place=place, made=None)
        if isinstance(value, Seq):
            items = tuple(self.brought_to(each, place) for each in value.items)
            return Seq(items, value.form, open=value.open)
        if isinstance(value, Map):
            items_ = {key: self.brought_to(each, place) for key, each in value.items.items()}
            return Map(items_, value.rest)
        return value

    def target(self, name: str, positional: Sequence[Argument], keywords: dict[str, Argument]) -> str | None:
        """Where a move goes; None where it only casts."""
        if name == "cpu":
            return CPU
        told = keywords.get("device") or keywords.get("other")
        if told is None and positional:
            told = positional[0]
        if name == "cuda":
            if told is None or is_none(told[1]):
                return ACCELERATOR
            return self.place_of(told[1])
        if told is None or is_none(told[1]):
            return None
        value = told[1]
        if isinstance(value, Lib):
            return None if value.dotted.startswith("torch") else NOWHERE
        return self.place_of(value)

    def operands(self, row: Row, given: dict[str, Argument]) -> list[Argument]:
        """The arguments that meet."""
        found: list[Argument] = []
        for name, (at, value) in given.items():
            if name in row.host or name in knowledge.TAKES_NUMBERS or name in ("out", "generator"):
                continue
            if isinstance(value, Seq):
                elts = (
                    at.elts
                    if isinstance(at, (ast.List, ast.Tuple)) and len(at.elts) == len(value.items)
                    else None
                )
                found += [
                    (elts[i] if elts is not None else at, each)
                    for i, each in enumerate(value.items)
                    if isinstance(each, Tensor)
                ]
            elif isinstance(value, Tensor):
                found.append((at, value))
        return found
