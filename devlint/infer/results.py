"""What modules that stay on the cpu gave, where it meets what was moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .. import knowledge
from ..core.evidence import Evidence
from ..core.kinds import TENSORS, Kind
from ..core.paths import Ref
from ..core.places import CPU, MOVED_TO, Form, Place
from ..core.values import Api, Value
from .behind import Meetings
from .log import Log, RawCall, RawMeeting
from .settle import Settled

_MAX_STEPS = 40
"""How many values are followed back to the call that one was computed from."""


class Result(NamedTuple):
    """What a module gave on the cpu, and what that meets elsewhere."""

    function: str
    raw: RawMeeting
    module: Value
    at: ast.expr
    """What is called."""
    given: ast.expr
    there: Place
    value: Value
    sure: bool
    """Whether what the module gave has dimensions: one without may meet any device in an operator."""


def results(settled: Settled, judged: Meetings) -> Iterator[Result]:
    """The meetings of what modules gave on the cpu, with what was moved."""
    for function, log in settled.logs.items():
        if judged.among_cpu(function):
            continue
        for raw in log.meetings.values():
            for here, one, given, there, value in (
                (raw.here, raw.one, raw.right, raw.there, raw.other),
                (raw.there, raw.other, raw.left, raw.here, raw.one),
            ):
                if here.form is not Form.CPU or here.of is not None or there.form not in MOVED_TO:
                    continue
                if one.kind not in TENSORS or one.kind is Kind.SCALAR or one.origin is not None:
                    continue
                if value.kind is Kind.SCALAR or not _is_tensor(settled, raw, value, function):
                    continue
                call = _computed_from(settled, log, one)
                module, at = (call.receiver, call.receiver_at) if call is not None else (None, None)
                if call is None or module is None or at is None or not isinstance(given, ast.expr):
                    continue
                if call.places.get(at) != CPU or (raw.left, raw.right) in judged.moved_afterwards(function):
                    continue
                sure = raw.how != "operator" or _has_dimensions(settled, one, module)
                yield Result(function, raw, module, at, given, there, value, sure)


def _is_tensor(settled: Settled, raw: RawMeeting, value: Value, function: str) -> bool:
    """Whether what is met is a tensor: what a loss is given is, as far as nothing speaks against it."""
    if raw.how == "call" and settled.may_hold_tensors(value):
        return True
    return settled.kind_of_moved(value, function) in TENSORS


def _computed_from(settled: Settled, log: Log, value: Value) -> RawCall | None:
    """The call of a module of this function that a value was computed from, if there is one alone."""
    objects = settled.objects
    todo, seen, found = [value.who], set[Ref](), list[RawCall]()
    while todo and len(seen) < _MAX_STEPS:
        ref = todo.pop()
        if type(ref) is not int or ref < 0 or ref in seen:
            continue
        seen.add(ref)
        made = settled.made_by(ref)
        call = log.calls.get(made) if isinstance(made, ast.Call) else None
        if call is not None and call.callee == knowledge.RUNS_MODULE:
            found.append(call)
            continue
        todo += (each for each, _ in log.derived.get(ref, ()))
        todo += objects.sources.get(ref, ())
        todo.append(objects.parents[ref])
    return found[0] if len(found) == 1 else None


def _has_dimensions(settled: Settled, value: Value, module: Value) -> bool:
    """Whether a tensor that a module gave has dimensions, as what layers give has."""
    shown = type(value.who) is int and bool(settled.seen(value.who) & Evidence.SHAPED)
    return shown or isinstance(module.known, Api)
