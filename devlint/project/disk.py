"""A project whose files are read from disk."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ..infer import infer_and_summarise, locate, summarise
from ..source.text import decode
from .index import Observed, Project, Rehearses, View, Watching
from .memory import Memory
from .resolve import Layout
from .store import Store
from .world import World, names_in, raw_of


def project(
    unsaved: Callable[[str], str | None] | None = None,
    store: Store | None = None,
    shared: Store | None = None,
    world: World | None = None,
) -> Project:
    """The files around those that are linted; each is read when another asks for what it defines.

    What is on the disk counts only where `unsaved` gives no text for a path. `store` has what earlier runs
    have learned, `shared` is for what the processes of this one tell each other; `world` is told of all
    that is read from the disk.
    """

    def read(path: str) -> str | None:
        text = unsaved(path) if unsaved is not None else None
        return from_disk(path) if text is None else text

    def from_disk(path: str) -> str | None:
        raw = raw_of(path)
        if world is not None:
            world.note_file(path, raw)
        return _text(raw)

    def names(folder: str) -> frozenset[str]:
        found = names_in(folder)
        if world is not None:
            world.note_folder(folder, found)
        return found

    memory = Memory(store, shared) if store is not None else None
    reads = from_disk if unsaved is None else read
    return Project(reads, summarise, locate, _observe, memory, Layout(names), _company)


def _company(layout: Layout, read: Callable[[str], str | None]) -> Rehearses:
    from ..rehearsal.program import Company

    return Company(layout, read)


def _observe(text: str, tree: ast.Module, name: str, view: View, rules: Watching) -> Observed:
    found, summary, file = infer_and_summarise(text, tree, name, view, rules.wants)
    return tuple(event for event in found.events if any(rules.matching(event))), summary, file


def _text(raw: bytes | None) -> str | None:
    """The text of a file; None where it is no Python source."""
    try:
        return decode(raw).text if raw is not None else None
    except (SyntaxError, ValueError, LookupError):
        return None
