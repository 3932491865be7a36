"""Failures that the user can put right: the message is all they are shown, and the exit status is 2."""

from __future__ import annotations


class DevlintError(Exception):
    """A mistake in usage, configuration, an installed rule, or the file system."""


def broken_rule(code: str, path: str, row: int, error: Exception) -> DevlintError:
    """Return what to raise where a rule's own code raises."""
    return DevlintError(f"{path}:{row}: rule {code} is broken: {type(error).__name__}: {error}")
