"""Buffers that a method of a module replaces by what it makes on the cpu, when that may have moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ..core.paths import Attr
from ..core.places import CPU
from ..core.values import Value, is_made
from .behind import Meetings
from .classes import Class
from .log import RawBind
from .settle import Settled


class Replaced(NamedTuple):
    """A registered tensor for which another is put."""

    function: str
    at: ast.Attribute
    """The target that it is assigned to."""
    raw: RawBind


def replaced(settled: Settled, judged: Meetings) -> Iterator[Replaced]:
    """Tensors that methods make on the cpu where a buffer of their module was."""
    for cls in settled.file.classes.values():
        if not cls.is_module or cls.framework or cls.is_guessed:
            continue
        itself, moved = settled.objects.self_of(cls.name), None
        for method in cls.methods.values():
            log = settled.logs.get(method)
            if log is None or not judged.may_follow(method):
                continue
            for target, raw in log.binds.items():
                if not isinstance(target, ast.Attribute) or raw.owner.who != itself:
                    continue
                if not cls.registers(raw.name, certain=True) or not _is_made_in(method, raw.value):
                    continue
                moved = _moved(settled, cls) if moved is None else moved
                if moved.isdisjoint((settled.objects.part(itself, Attr(raw.name)), raw.value.who)):
                    yield Replaced(method, target, raw)


def _is_made_in(method: str, value: Value) -> bool:
    """Whether a method makes a tensor on the cpu, with dimensions: a number goes anywhere."""
    origin = value.origin
    own = origin is not None and origin.dims > 0 and not origin.attribute and origin.function == method
    return own and is_made(value) and value.place == CPU


def _moved(settled: Settled, cls: Class) -> set[object]:
    """What methods of a class move."""
    logs = (settled.logs[method] for method in cls.methods.values() if method in settled.logs)
    return {raw.receiver.who for log in logs for raw in log.moves.values()}
