"""Questions about values, and about where they stand."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from .. import knowledge
from ..bind.position import position
from ..core.met import There
from ..knowledge.row import Row
from .values import (
    NONE,
    NUMBER,
    TEXT,
    Argument,
    Array,
    Const,
    Lib,
    Map,
    Obj,
    Seq,
    Spot,
    Unknown,
    Value,
)

DISTRIBUTIONS = "torch.distributions."
_SHORT = 60


def held(obj: Obj) -> Iterable[Value]:
    """What a container of modules holds."""
    if isinstance(obj.parts, Seq):
        return obj.parts.items
    if isinstance(obj.parts, Map):
        return [*obj.parts.items.values(), *([obj.parts.rest] if obj.parts.rest is not None else [])]
    return ()


def named_parts(obj: Obj) -> Iterator[tuple[object, Value]]:
    """The parts of a module, by their names."""
    yield from obj.attrs.items()
    if isinstance(obj.parts, Map):
        yield from obj.parts.items.items()
    elif isinstance(obj.parts, Seq):
        named = len(obj.names) == len(obj.parts.items)
        yield from zip(
            obj.names if named else map(str, range(len(obj.parts.items))), obj.parts.items, strict=True
        )


def is_none(value: Value) -> bool:
    """Whether a value is None."""
    return isinstance(value, Const) and value.value is None


def class_of(value: Value) -> Value:
    """What `type` gives."""
    if isinstance(value, Obj) and value.cls is not None:
        return value.cls
    if isinstance(value, Seq) and value.form in ("list", "tuple", "set"):
        return Lib(f"builtins.{value.form}")
    return Lib("builtins.dict") if isinstance(value, Map) else Unknown()


def quoted(node: ast.AST) -> str:
    """The beginning of a node's source."""
    return ast.unparse(node)[:_SHORT]


def there(spot: Spot) -> There:
    """Where something stands, as plain data."""
    return There(spot.path, position(spot.node), type(spot.node).__name__)


def told_device(given: dict[str, Argument]) -> bool:
    """Whether a call is told a device."""
    return "device" in given and not is_none(given["device"][1])


def bind(row: Row, positional: Sequence[Argument], keywords: dict[str, Argument]) -> dict[str, Argument]:
    """The arguments of a call by the parameters of a row."""
    names = knowledge.bind(row, len(positional))
    found: dict[str, Argument] = {}
    for index, argument in enumerate(positional):
        name = names[index] if index < len(names) else f"*{index}"
        found[name if name not in found else f"{name}*{index}"] = argument
    return {**found, **keywords}


def of_kind(gives: str) -> Value:
    """A value of a kind that rows name."""
    if gives in ("number", "flag"):
        return NUMBER
    if gives == "string":
        return TEXT
    if gives == "None":
        return NONE
    if gives == "dtype":
        return Lib("torch.dtype")
    return Array(0) if gives == "array" else Unknown()
