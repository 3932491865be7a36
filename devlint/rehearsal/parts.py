"""Questions about values, and about where they stand."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from .. import knowledge
from ..core.met import Position, There
from ..knowledge.row import Row
from .perform import Argument
from .values import (
    NONE,
    NUMBER,
    TEXT,
    Array,
    Const,
    Lib,
    Map,
    Obj,
    Seq,
    Spot,
    Tensor,
    Unknown,
    Value,
)

DISTRIBUTIONS = "torch.distributions."
_DEPTH = 4
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


def tensors_in(value: Value | None, depth: int = 0) -> Iterator[Tensor]:
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
            yield from tensors_in(each, depth + 1)


def is_none(value: Value) -> bool:
    """Whether a value is None."""
    return isinstance(value, Const) and value.value is None


def encloses(function: ast.AST | None, node: ast.AST) -> bool:
    """Whether a node stands in a function, or anywhere in a module."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
        return isinstance(function, ast.Module)
    return function.lineno <= getattr(node, "lineno", 0) <= (function.end_lineno or 0)


def brought_to(value: Value, place: str) -> Value:
    """A tensor, or those in a container, elsewhere."""
    if isinstance(value, Tensor):
        return value._replace(place=place, made=None)
    if isinstance(value, Seq):
        return Seq(tuple(brought_to(each, place) for each in value.items), value.form, open=value.open)
    if isinstance(value, Map):
        return Map({key: brought_to(each, place) for key, each in value.items.items()}, value.rest)
    return value


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
    return There(spot.path, _position(spot.node), type(spot.node).__name__)


def _position(node: ast.AST) -> Position:
    """Where a node stands in its file."""
    names = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    line, column, end_line, end_column = (getattr(node, name, None) or 0 for name in names)
    return line, column, end_line, end_column


def last(node: ast.AST) -> str:
    """The last part of a name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


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
    return Array(0) if gives == "array" else Unknown()
