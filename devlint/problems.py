"""What went wrong in a run: each is told once on stderr, and by the reports that can say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .console import tell
from .errors import DevlintError, Elsewhere, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .errors import BrokenRule


class Problem(NamedTuple):
    """One thing that kept a run from checking all it was asked to."""

    message: str
    path: str = ""
    """The file it is about; empty where it is about none."""


class Problems:
    """Collects problems while the run goes on."""

    def __init__(self, verbose: bool) -> None:
        """Take whether the traceback of what is unforeseen is shown."""
        self._verbose = verbose
        self._found: dict[Problem, None] = {}
        self._broken: dict[str, dict[str, BrokenRule]] = {}

    def add(self, message: str, path: str = "") -> None:
        """Remember a problem that has its words already."""
        self._found[Problem(message, path)] = None

    def caught(self, error: BaseException, path: str = "") -> None:
        """Remember what an exception says; one that is not DevlintError was not foreseen."""
        message = f"{unforeseen(error, path)} (-v shows where)" if kind_of(error) else str(error)
        if Problem(message, path) not in self._found:
            self._trace(error if error.__cause__ is None else error.__cause__)
        self.add(message, path)

    def broken(self, rules: Iterable[BrokenRule]) -> None:
        """Remember rules that raised: of each the first place, and in how many files."""
        for rule in rules:
            places = self._broken.setdefault(rule.code, {})
            if not places:
                self._trace(rule.error.__cause__ or rule.error)
            places.setdefault(rule.path, rule)

    @property
    def broken_codes(self) -> frozenset[str]:
        """The rules whose silence says nothing."""
        return frozenset(self._broken)

    def all(self) -> list[Problem]:
        """Return the problems, in the order in which they came up."""
        found = list(self._found)
        for places in self._broken.values():
            first = next(iter(places.values()))
            others = len(places) - 1
            more = f" (and in {others} more file{'s' * (others != 1)})" if others else ""
            found.append(Problem(f"{first}{more}", first.path))
        return found

    def _trace(self, error: BaseException) -> None:
        if self._verbose and not isinstance(error, DevlintError):
            show_traceback(error)


def unforeseen(error: BaseException, path: str = "") -> str:
    """Return the message for an exception that nobody has thought of."""
    place = f"{path}: " if path else ""
    return f"{place}internal error: {kind_of(error)}: {error}"


def show_traceback(error: BaseException) -> None:
    """Print a traceback to stderr, for whoever is to mend the code that raised."""
    if isinstance(error, Elsewhere):
        tell(*error.trace.splitlines())
        return
    import traceback

    tell(*"".join(traceback.format_exception(error)).splitlines())
