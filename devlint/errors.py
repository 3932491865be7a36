"""Failures that the user can put right: the message is all they are shown, and the exit status is 2."""

from __future__ import annotations

from typing import NamedTuple


class DevlintError(Exception):
    """A mistake in usage, configuration, an installed rule, or the file system."""


FAULTS = (Exception, SystemExit)
"""What code of others may raise without ending the run: `sys.exit` is no way to report a finding."""


class BrokenRule(NamedTuple):
    """A rule whose own code raised, and where it was looking."""

    code: str
    path: str
    row: int | None
    error: BaseException

    def __str__(self) -> str:
        """Return the message."""
        place = self.path if self.row is None else f"{self.path}:{self.row}"
        kind = "" if isinstance(self.error, DevlintError) else f"{type(self.error).__name__}: "
        return f"{place}: rule {self.code} is broken: {kind}{self.error}"
