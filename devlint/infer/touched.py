"""Where CUDA has been initialised before a function runs: by its callers, or by the import of its file."""

from __future__ import annotations

from .settle import Settled

Where = tuple[str, int]


class Touched:
    """Follows calls inside a file from the function that is called to its callers."""

    def __init__(self, settled: Settled) -> None:
        self._settled = settled
        self._known: dict[str, Where | None] = {"": None}

    def before(self, function: str) -> Where | None:
        """Where it was, whoever calls the function; None where somebody may call it before."""
        if function not in self._known:
            self._known[function] = None  # functions that call each other start nowhere
            self._known[function] = self._find(function)
        return self._known[function]

    def _find(self, function: str) -> Where | None:
        sites = self._settled.sites.get(function)
        if not sites:
            if self._settled.file.outside.touched is None:
                return None
            known = self._settled.file.functions.get(function)
            # What is handed to somebody may run in another process.
            handed = known is None or known.own_name in self._settled.file.names
            return None if handed else self._settled.file.outside.touched
        where = [site.touched or self.before(caller) for caller, site in sites]
        return where[0] if None not in where else None
