"""A project whose files are read from disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..source.text import decode
from .index import Observed, Project, Rehearses, View, Watching, parsed
from .memory import Memory
from .resolve import Layout
from .store import Store
from .world import World, names_in, raw_of

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from ..core.summary import ModuleSummary
    from ..span import Span
    from .edits import Edits

# The inference is imported when a file takes an analysis: most files that are linted take none.


def project(
    unsaved: Callable[[str], str | None] | None = None,
    store: Store | None = None,
    shared: Store | None = None,
    world: World | None = None,
    edits: Edits | None = None,
) -> Project:
    """The files around those that are linted; each is read when another asks for what it defines.

    What is on the disk counts only where `unsaved` gives no text for a path. `store` has what earlier runs
    have learned, `shared` is for what the processes of this one tell each other; `world` is told of all
    that is read from the disk; `edits` keeps the analyses of files that are edited.
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
    return Project(reads, _summarise, _locate, _observe, memory, Layout(names, from_disk), _company, edits)


def _company(layout: Layout, read: Callable[[str], str | None], memory: Memory | None) -> Rehearses:
    from ..rehearsal.program import Company

    return Company(layout, read, memory)


def _summarise(tree: ast.Module, name: str, view: View) -> ModuleSummary:
    from ..infer import summarise

    return summarise(tree, name, view)


def _locate(text: str, name: str, node: tuple[str, int], view: View) -> Span | None:
    from ..infer import locate

    return locate(text, name, node, view)


def _observe(text: str, name: str, view: View, rules: Watching) -> Observed:
    from ..infer import infer_and_keep

    found = view.edited(text, rules)
    if found is None:
        learned, file = infer_and_keep(text, parsed(text), wants=rules.wants, index=view, name=name)
        found = learned.events, file
        view.keep(text, rules, file)
    events, file = found
    return tuple(event for event in events if any(rules.matching(event))), file.module_summary(), file


def _text(raw: bytes | None) -> str | None:
    """The text of a file; None where it is no Python source."""
    try:
        return decode(raw).text if raw is not None else None
    except (SyntaxError, ValueError, LookupError):
        return None
