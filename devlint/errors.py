"""Failures that the user can put right: the message is all they are shown, and the exit status is 2."""

from __future__ import annotations

from typing import NamedTuple


class DevlintError(Exception):
    """A mistake in usage, configuration, an installed rule, or the file system."""


FAULTS = (Exception, SystemExit)
"""What code of others may raise without ending the run: `sys.exit` is no way to report a finding."""


class Elsewhere(Exception):
    """What was raised in another process: its class, its message and its traceback, as texts."""

    def __init__(self, kind: str, message: str, trace: str) -> None:
        """Take texts alone: an exception of somebody's own may not survive the way."""
        super().__init__(kind, message, trace)
        self.kind = kind
        self.message = message
        self.trace = trace

    def __str__(self) -> str:
        """Return the message that the exception had."""
        return self.message


def kind_of(error: BaseException) -> str:
    """Return the name of an exception's class; empty for a failure whose message says everything."""
    if isinstance(error, Elsewhere):
        return error.kind
    return "" if isinstance(error, DevlintError) else type(error).__name__


class BrokenRule(NamedTuple):
    """A rule whose own code raised, and where it was looking."""

    code: str
    path: str
    row: int | None
    error: BaseException

    def __str__(self) -> str:
        """Return the message."""
        place = self.path if self.row is None else f"{self.path}:{self.row}"
        kind = kind_of(self.error)
        return f"{place}: rule {self.code} is broken: {kind}{': ' if kind else ''}{self.error}"
