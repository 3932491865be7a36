"""Enumerations whose members are read as fast as any attribute of a class."""

from __future__ import annotations

import sys
from enum import Enum, EnumMeta
from typing import TypeVar

E = TypeVar("E", bound=type[Enum])
_KEPT = ("__bool__", "__call__", "__contains__", "__getitem__", "__iter__", "__len__", "__members__")
_Plain = type("EnumMeta", (type,), {name: vars(EnumMeta)[name] for name in _KEPT})


def plain(enum: E) -> E:
    """Leave out the hook for attributes that are not there, which Python ran for those that are until 3.12.

    The inference reads members some ten times for each expression: it took a tenth of a run.
    """
    if sys.version_info < (3, 12):
        enum.__class__ = _Plain  # type: ignore[method-assign]
    return enum
