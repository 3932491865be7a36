"""Where tensors are, what moves them, and what objects do to what they keep."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from .. import knowledge
from ..knowledge.row import Row
from .builtins import Builtins
from .parts import DISTRIBUTIONS, held, is_none, quoted
from .values import (
    CPU,
    NOWHERE,
    Argument,
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
MOVES = ("to", "cuda", "cpu")
_HOST_DATA = ("factory", "told")
_DEPTH = 4
_PARTS = 12
"""Modules within modules."""

_NONE = ("out", "generator")
"""Arguments that are no operands of any operation."""


class Moves(Builtins):
    """Knows where tensors are, and moves them."""

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
        if isinstance(value, Obj):
            self._bring(value, spot)
        return value

    def _bring(self, value: Obj, spot: Spot, depth: int = 0) -> None:
        """Remember the call that brought an object, and the modules that it has, from another file."""
        if value.via is None and depth < _DEPTH:
            self.spend(1 + len(value.attrs))
            self.alter(value, "via", spot)
            for each in (*value.attrs.values(), *held(value)):
                if isinstance(each, Obj):
                    self._bring(each, spot, depth + 1)

    def weights(self, obj: Obj, depth: int = 0) -> Iterator[Tensor]:
        """The parameters and buffers of a module and its parts."""
        if depth > _PARTS:
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
        if depth > _PARTS:
            return
        if self.has_method(obj, "_apply"):
            self.hand_over([obj])  # it moves what it likes
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
            if isinstance(obj.parts.rest, Tensor):
                self.alter(obj.parts, "rest", obj.parts.rest._replace(place=place, made=None))
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
        spot = self.spot(node)
        if not self.is_module(owner):
            if isinstance(value, Tensor) and value.made is not None and value.made.kept is None:
                return value._replace(made=value.made._replace(kept=spot))
            if isinstance(value, Obj):
                self._keep(value, spot)
            return value
        if name in owner.buffers:
            return value
        if isinstance(value, Tensor) and value.registered and value.made is not None:
            return self._registered(owner, value)
        if isinstance(value, Seq):
            self.alter(value, "hidden", spot)
        if isinstance(value, (Seq, Map)):
            for each in value.items.values() if isinstance(value, Map) else value.items:
                self._hide(each, spot)
        return self._plain(value, spot)

    def added(self, seq: Seq, value: Value) -> Value:
        """What is added to a sequence, as that has it."""
        if seq.hidden is None:
            return value
        self._hide(value, seq.hidden)
        return self._listed(value, seq.hidden)

    def held(self, value: Value, node: ast.expr) -> None:
        """An object has a value in an item."""
        if isinstance(value, Obj):
            self._keep(value, self.spot(node))

    def _keep(self, value: Obj, spot: Spot) -> None:
        """Remember what has a module, and its parts."""
        if self.is_module(value) and value.kept is None:
            self.spend(1 + len(value.attrs))
            self.alter(value, "kept", spot)
            for each in (*value.attrs.values(), *held(value)):
                if isinstance(each, Obj):
                    self._keep(each, spot)

    def _hide(self, value: Value, spot: Spot) -> None:
        """Remember that a module is in a plain container of another."""
        if isinstance(value, Obj) and value.hidden is None and self.is_module(value):
            self.alter(value, "hidden", spot)

    def _plain(self, value: Value, spot: Spot) -> Value:
        self.spend()
        if isinstance(value, Tensor):
            if value.place == CPU and value.made is None and not value.registered:
                # A copy of a parameter: that it is lost is told by itself.
                return value._replace(place=NOWHERE)
            own = value.made is not None and value.made.how in (*_HOST_DATA, "computed")
            plain = own and value.place == CPU and not value.registered
            return value._replace(made=Made("attribute", spot, quoted(spot.node))) if plain else value
        if isinstance(value, Seq) and any(isinstance(each, Tensor) for each in value.items):
            listed = Seq(tuple(self._listed(each, spot) for each in value.items), value.form, open=value.open)
            listed.hidden = spot
            return listed
        return value

    def _listed(self, value: Value, spot: Spot) -> Value:
        """A tensor in a plain container of a module: a parameter is one that the module does not know."""
        if isinstance(value, Tensor) and value.registered and value.place == CPU:
            return Tensor(CPU, value.dims, Made("attribute", spot, quoted(spot.node)), registered=True)
        return self._plain(value, spot)

    def _registered(self, owner: Obj, value: Tensor) -> Tensor:
        """A parameter of a plain container that its module has as an attribute as well, moves with that."""
        for each in list(owner.attrs.values()):
            if isinstance(each, Seq) and value in each.items:
                left = (Tensor(NOWHERE, item.dims) if item == value else item for item in each.items)
                self.alter(each, "items", tuple(left))
        return value._replace(made=None)

    def read(self, owner: Obj, name: str, value: Value) -> Value:
        """A value as it is read: of a parameter or buffer on the cpu, whose it is."""
        own = isinstance(value, Tensor) and (value.registered or name in owner.buffers)
        if not own or not isinstance(value, Tensor) or value.place != CPU or value.made is not None:
            return value
        known = owner.spot is not None and self.is_module(owner)
        return value._replace(made=Made("weights", owner.spot, "", owner)) if known and owner.spot else value

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
            left = isinstance(told[1], Const) and told[1].left is not None if told is not None else False
            return NOWHERE if left else None  # which device is left to a default is told by itself
        value = told[1]
        if isinstance(value, Lib):
            return None if value.dotted.startswith("torch") else NOWHERE
        return self.place_of(value)

    def operands(self, row: Row, given: dict[str, Argument]) -> list[Argument]:
        """The arguments that meet."""
        found: list[Argument] = []
        for name, (at, value) in given.items():
            other = name in knowledge.OR_OTHER and isinstance(value, Tensor)
            if name in row.host or (name in knowledge.TAKES_NUMBERS and not other) or name in _NONE:
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
