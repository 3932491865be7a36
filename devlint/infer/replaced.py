"""Buffers that a method of a module replaces by what it makes on the cpu, when that may have moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ..core.paths import Attr, Ref
from ..core.places import Form
from ..core.values import is_made
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
    ref: Ref
    """The attribute."""


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
                value, ref = raw.value, settled.objects.part(itself, Attr(raw.name))
                origin = value.origin
                if (
                    not is_made(value)
                    or value.place.form is not Form.CPU
                    or origin is None
                    or not origin.dims
                ):
                    continue
                if origin.attribute or origin.function != method:
                    continue
                if not cls.registers(raw.name):
                    continue
                moved = _moved(settled, cls) if moved is None else moved
                if moved.isdisjoint((ref, value.who)):
                    yield Replaced(method, target, raw, ref)


def _moved(settled: Settled, cls: Class) -> set[object]:
    """What methods of a class move."""
    logs = (settled.logs[method] for method in cls.methods.values() if method in settled.logs)
    return {raw.receiver.who for log in logs for raw in log.moves.values()}
