"""Lints a file unless an earlier run did, and nothing that has a say has changed since."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from ..config.layers import selections_for
from ..config.settings import Selection
from ..console import shown
from ..finding import Finding, from_plain, plain
from ..source.unreadable import CODE as UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..config.settings import Settings
    from ..errors import BrokenRule, DevlintError, Elsewhere
    from ..finding import Related
    from ..project.index import Project

_NO_SAY: dict[str, Any] = {
    "root": "",
    "per_file_ignores": (),
    "exclude": (),
    "extend_exclude": (),
    "force_exclude": False,
    "respect_gitignore": True,
    "unsafe_fixes": False,
    "output_format": None,
    "jobs": None,
    "cache_dir": None,
    "baseline": None,
    "max_findings": (),
    "extend_per_file_ignores": (),
    "source": None,
}
"""What makes no difference to what is found in a file; the rules that are on are in the selections."""

_NOTHING = Selection()


class Linted(NamedTuple):
    """What came of one file."""

    path: str
    findings: tuple[Finding, ...] = ()
    broken: tuple[BrokenRule, ...] = ()
    failure: DevlintError | Elsewhere | None = None
    """What kept the file from being linted."""
    read: int = 0
    """The hash of the file's bytes, to know whether it has changed since."""
    asked: frozenset[str] = frozenset()
    """The files that it depends on, by absolute path."""


def fingerprint(raw: bytes) -> int:
    """Return what tells a file's bytes from those that it had a moment ago."""
    from zlib import crc32

    return len(raw) << 32 | crc32(raw)


def lint(
    raw: bytes, path: str, settings: Settings, broken: list[BrokenRule], project: Project
) -> list[Finding]:
    """Return the findings of a file, as `lint.lint` does."""
    found = known(raw, path, settings, project)
    if found is not None:
        return found
    from .lint import examine  # what is known takes none of this

    raised: list[BrokenRule] = []
    view = project.view(path)
    found = examine(raw, path, settings, raised, view)
    broken += raised
    # What cannot be read may be readable from a lower stack, and who is broken is to be told of every time.
    if project.memory is not None and not raised and not any(each.code == UNREADABLE for each in found):
        moved = away(found, path)
        if moved is not None:
            project.memory.keep_findings(view.path, view.name, raw, key(path, settings), view.log, moved)
    return found


def known(raw: bytes, path: str, settings: Settings, project: Project) -> list[Finding] | None:
    """Return the findings of a file if they are known; None otherwise."""
    if project.memory is None:
        return None
    view = project.view(path)
    found = project.memory.findings(view.path, view.name, raw, key(path, settings), view.answered)
    return None if found is None else back(found, path)


def at_once(raw: bytes, path: str, settings: Settings, project: Project) -> list[Finding] | None:
    """Return the findings of a file if it takes no analysis of any other to know that they still hold."""
    with project.only_known():
        return known(raw, path, settings, project)
    return None


def key(path: str, settings: Settings) -> str:
    """Return what tells the settings that have a say in a file from any others."""
    layers = tuple(layer for layer in selections_for(path, settings) if layer != _NOTHING)
    return repr(settings._replace(**_NO_SAY, selections=layers))


def away(findings: Iterable[Finding], path: str) -> tuple[Any, ...] | None:
    """Return findings as plain data that name no place of this machine; None where that cannot be."""
    folder = os.path.dirname(os.path.abspath(path))

    def moved(related: Related) -> Related:
        if related.path == path:
            return related._replace(path="")
        return related._replace(path=os.path.relpath(related.path, folder))

    try:
        return tuple(
            plain(each._replace(path="", related=tuple(map(moved, each.related)))) for each in findings
        )
    except ValueError:  # another drive
        return None


def back(findings: Iterable[Any], path: str) -> list[Finding]:
    """Return findings that were taken `away`, for the file as it is named now."""
    folder = os.path.dirname(os.path.abspath(path))

    def moved(related: Related) -> Related:
        if not related.path:
            return related._replace(path=path)
        return related._replace(path=shown(os.path.normpath(os.path.join(folder, related.path))))

    found = map(from_plain, findings)
    return [each._replace(path=path, related=tuple(map(moved, each.related))) for each in found]
