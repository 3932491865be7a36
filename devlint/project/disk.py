"""A project whose files are read from disk."""

from __future__ import annotations

import ast
import os

from ..infer import infer_and_summarise, locate, summarise
from ..source.text import decode
from .index import Observed, Project, View, Watching

_MAX_BYTES = 4_000_000
"""Larger files are data; what they define is not asked for."""


def project() -> Project:
    """The files around those that are linted; each is read when another asks for what it defines."""
    return Project(_read, summarise, locate, _observe)


def _observe(text: str, tree: ast.Module, name: str, view: View, rules: Watching) -> Observed:
    found, summary = infer_and_summarise(text, tree, name, view, rules.wants)
    return tuple(event for event in found.events if any(rules.matching(event))), summary


def _read(path: str) -> str | None:
    """The text of a file; None where it cannot be read as Python source."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _MAX_BYTES:
            return None
        with open(path, "rb") as file:
            return decode(file.read()).text
    except (OSError, SyntaxError, ValueError, LookupError):
        return None
