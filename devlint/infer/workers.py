"""Which functions run in the workers of a loader: what it collates with, and what its dataset is asked by."""

from __future__ import annotations

from collections.abc import Iterator

from .. import knowledge
from .loaders import called_by, run_by_loaders
from .settle import Settled


class Workers:
    """Follows what loaders are given to the functions that their workers call."""

    def __init__(self, settled: Settled) -> None:
        self._settled = settled
        self.contexts: dict[str, set[str]] = {}
        """By function, in which ways it runs in workers."""
        self._begun: dict[str, set[str]] = {}
        self._follow()

    def begun_by(self, function: str) -> tuple[str, ...]:
        """The functions that loaders run by which this one runs in their workers."""
        return tuple(sorted(self._begun.get(function, ())))

    def _follow(self) -> None:
        todo = [(name, context, name) for name, context in self._starts()]
        calls = {caller: {site.callee for site in log.sites} for caller, log in self._settled.logs.items()}
        done = set[tuple[str, str, str]]()
        while todo:
            name, context, first = step = todo.pop()
            if step in done:
                continue
            done.add(step)
            self.contexts.setdefault(name, set()).add(context)
            self._begun.setdefault(name, set()).add(first)
            todo += ((callee, context, first) for callee in calls.get(name, ()))

    def _starts(self) -> Iterator[tuple[str, str]]:
        file = self._settled.file
        for name, cls in file.classes.items():
            view = file.view(name)
            if view is not None and "dataset" in view.topics:
                yield from (
                    (cls.methods[own], "worker") for own in cls.methods if own in knowledge.IN_WORKERS
                )
        for _, name, parameter in run_by_loaders(file):
            yield name, "worker" if parameter == knowledge.LOADS_FROM else "collate_fn"
        for log in self._settled.logs.values():
            for bind in log.binds.values():
                if bind.target == "attribute" and bind.name in knowledge.COLLATES:
                    yield from ((name, "collate_fn") for name in called_by(file, bind.value))
