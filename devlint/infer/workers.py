"""Which functions run in the workers of a loader: what it collates with, and what its dataset is asked by."""

from __future__ import annotations

from .. import knowledge
from ..core.values import Defined, Value
from .settle import Settled


def in_workers(settled: Settled) -> dict[str, set[str]]:
    """The contexts of functions that run in workers, and of what they call in this file."""
    found: dict[str, set[str]] = {}
    todo = [*_starts(settled)]
    calls = {caller: {site.callee for site in log.sites} for caller, log in settled.logs.items()}
    while todo:
        name, context = todo.pop()
        if context not in found.setdefault(name, set()):
            found[name].add(context)
            todo += ((callee, context) for callee in calls.get(name, ()))
    return found


def _starts(settled: Settled) -> list[tuple[str, str]]:
    file = settled.file
    found = [
        (method, "worker")
        for name, cls in file.classes.items()
        if (view := file.view(name)) is not None and "dataset" in view.topics
        for own, method in cls.methods.items()
        if own in knowledge.IN_WORKERS
    ]
    for log in settled.logs.values():
        given = [
            (name, value)
            for call in log.calls.values()
            if "loader" in knowledge.topics_of_call(call.callee)
            for name, _, value in call.args.named()
        ]
        given += [(bind.name, bind.value) for bind in log.binds.values() if bind.target == "attribute"]
        found += [(name, "collate_fn") for each, value in given if (name := _collates(each, value))]
    return found


def _collates(name: str, value: Value) -> str:
    """The function that is given to collate with."""
    named = name in knowledge.COLLATES and isinstance(value.known, Defined)
    return value.known.dotted if named and isinstance(value.known, Defined) else ""
