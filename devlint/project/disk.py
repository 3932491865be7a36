"""A project whose files are read from disk."""

from __future__ import annotations

import os

from ..infer import summarise
from ..text import decode
from .index import Project

_MAX_BYTES = 4_000_000
"""Larger files are data; what they define is not asked for."""


def project() -> Project:
    """The files around those that are linted; each is read when another asks for what it defines."""
    return Project(_read, summarise)


def _read(path: str) -> str | None:
    """The text of a file; None where it cannot be read as Python source."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _MAX_BYTES:
            return None
        with open(path, "rb") as file:
            return decode(file.read()).text
    except (OSError, SyntaxError, ValueError, LookupError):
        return None
