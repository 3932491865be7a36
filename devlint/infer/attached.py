"""Parts that a function makes for a model which it has moved before, and leaves on the cpu."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ..bind.names import names_in
from ..core.paths import Ref
from ..core.places import Place
from .behind import Meetings
from .halves import gives, only_runs
from .log import Log, RawBind
from .settle import Settled
from .stays import is_left_alone


class Attached(NamedTuple):
    """A new part of a model, and where that is."""

    function: str
    at: ast.Attribute | ast.Subscript
    """The target that it is assigned to."""
    raw: RawBind
    there: Place


def attached(settled: Settled, judged: Meetings) -> Iterator[Attached]:
    """Each such part of a model that is a variable, unless something moves the model again, or may."""
    for function, log in settled.logs.items():
        home = settled.file.functions.get(function) if function else settled.file.module
        if home is None or not log.attached or judged.among_cpu(function):
            continue
        for target, there in log.attached.items():
            raw, whole = log.binds[target], target.value
            while isinstance(whole, (ast.Attribute, ast.Subscript)):
                whole = whole.value
            if not isinstance(whole, ast.Name) or type(raw.owner.who) is not int or judged.follows_cpu(there):
                continue
            if not is_left_alone(settled, raw.value) or _may_be_moved(settled, log, raw.owner.who, target):
                continue
            if home.owner is not None and whole.id in home.positional[:1]:
                continue  # who makes an object may move it once more
            if not _gives_out(settled, home.node, whole.id):
                yield Attached(function, target, raw, there)


def _may_be_moved(settled: Settled, log: Log, whole: Ref, target: ast.expr) -> bool:
    """Whether something that nobody knows has a model, or it is moved again after a part was put into it."""
    objects = settled.objects

    def is_it(ref: object) -> bool:
        return type(ref) is int and (objects.is_part(whole, ref) or whole in objects.may_be(ref))

    return any(map(is_it, (*log.passed, *log.handed))) or any(
        is_it(raw.receiver.who) and getattr(node, "lineno", 0) > target.lineno
        for node, raw in log.moves.items()
    )


def _gives_out(settled: Settled, node: ast.AST, name: str) -> bool:
    """Whether a function gives the model to others, or keeps it for them: they may move it."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and gives(each, name) and not only_runs(settled, each):
            return True
        out = each.value if isinstance(each, (ast.Return, ast.Yield)) else None
        if isinstance(out, (ast.Name, ast.Tuple)) and name in names_in(out):
            return True
        kept = each.value if isinstance(each, ast.Assign) and not _names_only(each) else None
        if isinstance(kept, ast.Name) and kept.id == name:
            return True
    return False


def _names_only(node: ast.Assign) -> bool:
    return all(isinstance(target, ast.Name) for target in node.targets)
