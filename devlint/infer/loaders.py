"""What loaders are given to run in their workers, as plain data: functions to collate with, and datasets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Protocol

from .. import knowledge
from ..core.kinds import Kind
from ..core.summary import FunctionSummary, Loading
from ..core.values import Defined, Partial, Value, constant, element_of
from .log import Log, RawCall
from .machine import ClassView

_NONE = "0"


class Analysed(Protocol):
    """What a file knows once it has been analysed."""

    logs: dict[str, Log]

    def view(self, dotted: str) -> ClassView | None:
        """A class of the project."""

    def summary(self, dotted: str) -> FunctionSummary | None:
        """What a function of the project does."""


def loaders_in(file: Analysed) -> tuple[Loading, ...]:
    """The loaders of a file, once for each function of the project that their workers run."""
    found = (Loading(name, _count(call), _bound(file, call, by)) for call, name, by in run_by_loaders(file))
    return tuple(dict.fromkeys(found))


def run_by_loaders(file: Analysed) -> Iterator[tuple[RawCall, str, str]]:
    """The functions that loaders are given to run, with the call and the parameter."""
    for log in file.logs.values():
        for call in log.calls.values():
            if "loader" not in knowledge.topics_of_call(call.callee):
                continue
            for parameter, _, value in call.args.named():
                if parameter in knowledge.RUN_BY_WORKERS:
                    names = called_by(file, value)
                else:
                    names = _asked(file, value) if parameter == knowledge.LOADS_FROM else iter(())
                yield from ((call, name, parameter) for name in names)


def _bound(file: Analysed, call: RawCall, parameter: str) -> tuple[str, ...] | None:
    """The parameters of what is run that are given before, or that the object was made with."""
    for name, at, value in call.args.named():
        if name == parameter and isinstance(value.known, Partial):
            return value.known.names
        if name == parameter and isinstance(at, ast.Call) and not (at.args or at.keywords):
            return () if _is_told_nothing(file, value) else None
    return None


def _is_told_nothing(file: Analysed, made: Value) -> bool:
    """Whether the constructor of an object has constants by default, and none that names an accelerator."""
    view = file.view(made.known.dotted) if isinstance(made.known, Defined) else None
    found = view.method(knowledge.INITS) if view is not None else None
    summary = file.summary(found) if found is not None else None
    return summary is not None and all(
        (each.on_cpu or bool(each.means)) and not each.accelerator for each in summary.parameters[1:]
    )


def _count(call: RawCall) -> str:
    """How many workers a loader has, as far as its call tells."""
    given = next((value for name, _, value in call.args.named() if name == knowledge.WORKERS), None)
    if given is None:
        return "" if call.args.unpacked or call.args.starred else _NONE
    number = constant(given)
    return str(number) if type(number) is int else given.kind.value


def called_by(file: Analysed, value: Value) -> Iterator[str]:
    """The function that runs when a value is called."""
    known = value.known.of if isinstance(value.known, Partial) else value.known
    if not isinstance(known, Defined):
        return
    if value.kind is Kind.INSTANCE:
        view = file.view(known.dotted)
        found = view.method(knowledge.CALLED) if view is not None else None
        yield from (found,) if found is not None else ()
    else:
        yield known.dotted


def _asked(file: Analysed, value: Value) -> Iterator[str]:
    """The methods by which a dataset of the project is asked for samples."""
    held = element_of(value) if value.kind is Kind.CONTAINER else value
    if held is None or held.kind is not Kind.INSTANCE or not isinstance(held.known, Defined):
        return
    view = file.view(held.known.dotted)
    methods = (view.method(name) for name in sorted(knowledge.IN_WORKERS)) if view is not None else ()
    yield from filter(None, methods)
