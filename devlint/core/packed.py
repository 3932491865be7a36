"""Plain data as tuples of texts and numbers alone, which `marshal` takes, and back.

What a tuple stands for is named by a number in a closed list of classes: nothing else can be made of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from ..span import Span
from . import events, kinds, met, paths, places, summary, values

_PLAIN, _SET, _MAPPING, _FIRST = 0, 1, 2, 3
_ATOMS = frozenset({type(None), bool, int, float, str, bytes})
_MAX_DEPTH = 200


def _of(module: Any, base: type) -> list[Any]:
    found = (each for each in vars(module).values() if isinstance(each, type) and issubclass(each, base))
    return sorted((each for each in found if each.__module__ == module.__name__), key=lambda e: e.__name__)


_MODULES = (events, kinds, met, paths, places, summary, values)
_CLASSES: tuple[Any, ...] = (
    *(each for module in _MODULES for each in _of(module, tuple)),
    Span,
)
_ENUMS: tuple[Any, ...] = tuple(each for module in _MODULES for each in _of(module, Enum))
_ENUMS_FROM = _FIRST + len(_CLASSES)
_NUMBERS = {each: number for number, each in enumerate((*_CLASSES, *_ENUMS), _FIRST)}


def packed(data: object) -> Any:
    """Return data as what `marshal` takes; equal data may differ in the order of mappings alone.

    Raises TypeError where something is no plain data.
    """
    kind = type(data)
    if kind in _ATOMS:
        return data
    number = _NUMBERS.get(kind)
    if number is not None:
        if number >= _ENUMS_FROM:
            return number, data.name  # type: ignore[attr-defined]
        return number, *map(packed, data)  # type: ignore[call-overload]
    if kind is tuple:
        return _PLAIN, *map(packed, data)  # type: ignore[call-overload]
    if kind is frozenset:
        return _SET, *sorted(map(packed, data), key=repr)  # type: ignore[call-overload]
    if isinstance(data, Mapping):
        return _MAPPING, *((packed(key), packed(value)) for key, value in data.items())
    raise TypeError(f"{kind.__name__} is no plain data")


def unpacked(data: Any) -> Any:
    """Return what was packed; raises ValueError where the data is nothing of the kind."""
    try:
        return _unpacked(data, _MAX_DEPTH)
    except (TypeError, IndexError, KeyError) as error:
        raise ValueError("not packed") from error


def _unpacked(data: Any, left: int) -> Any:
    if type(data) is not tuple:
        if type(data) in _ATOMS:
            return data
        raise ValueError("not packed")
    number, *parts = data
    if type(number) is not int or number < 0 or not left:
        raise ValueError("not packed")
    left -= 1
    if number >= _ENUMS_FROM:
        (name,) = parts
        return _ENUMS[number - _ENUMS_FROM][name]
    if number == _MAPPING:
        return {_unpacked(key, left): _unpacked(value, left) for key, value in parts}
    made = [_unpacked(part, left) for part in parts]
    if number >= _FIRST:
        return _CLASSES[number - _FIRST](*made)
    return tuple(made) if number == _PLAIN else frozenset(made)
