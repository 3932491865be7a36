"""A project whose files are read from disk."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable

from ..infer import infer_and_summarise, locate, summarise
from ..source.text import decode
from .index import Observed, Project, View, Watching
from .memory import Memory
from .store import Store

_MAX_BYTES = 4_000_000
"""Larger files are data; what they define is not asked for."""


def project(
    unsaved: Callable[[str], str | None] | None = None,
    store: Store | None = None,
    shared: Store | None = None,
) -> Project:
    """The files around those that are linted; each is read when another asks for what it defines.

    What is on the disk counts only where `unsaved` gives no text for a path. `store` has what earlier runs
    have learned, `shared` is for what the processes of this one tell each other.
    """

    def read(path: str) -> str | None:
        text = unsaved(path) if unsaved is not None else None
        return _read(path) if text is None else text

    memory = Memory(store, shared) if store is not None else None
    return Project(_read if unsaved is None else read, summarise, locate, _observe, memory)


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
