"""Finds the files to lint: walks folders, leaving out what is ignored or excluded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..errors import DevlintError
from . import ignores
from .globs import matches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..config.settings import Settings
    from .ignores import Ignore

SUFFIXES = (".py", ".pyi", ".ipynb")


def find(path: str, settings_for: Callable[[str], Settings], problems: list[str]) -> Iterator[str]:
    """Yield the files that a path given by the user means, sorted.

    A file named outright is linted whatever its suffix and the excludes, unless `force-exclude` is on.
    Folders that cannot be read are added to `problems`. Links to folders are not followed, so that
    there are no loops. Of the links that lead to no file, those to nothing are left out (editors lock files
    by them); the others are found, and cannot be opened.
    """
    path = os.path.normpath(path)
    folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
    settings = settings_for(folder)
    if not os.path.lexists(path):
        raise DevlintError(f"no such file or folder: {path}")
    if settings.force_exclude and excluded(path, settings):
        return
    if os.path.isdir(path):
        known = ignores.above(path) if settings.respect_gitignore else ()
        yield from _walk(path, settings_for, known, problems)
    else:
        yield path


def _walk(
    folder: str, settings_for: Callable[[str], Settings], known: Sequence[Ignore], problems: list[str]
) -> Iterator[str]:
    waiting = [(folder, tuple(known))]
    while waiting:
        folder, known = waiting.pop()
        settings = settings_for(folder)
        if settings.respect_gitignore:
            known = (*ignores.of(folder), *known)
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            problems.append(f"cannot read folder {folder}: {error.strerror}")
            continue
        folders = []
        for entry in entries:
            path = os.path.normpath(entry.path)
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not (entry.name.endswith(SUFFIXES) and _may_be_file(entry)):
                continue
            if _excluded(path, settings) or ignores.ignored(path, is_folder, known):
                continue
            if is_folder:
                folders.append((path, known))
            else:
                yield path
        waiting.extend(reversed(folders))


def _may_be_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link to itself, or into a folder that may not be read
        return True


def _excluded(path: str, settings: Settings) -> bool:
    return matches(path, (*settings.exclude, *settings.extend_exclude), settings.root)


def excluded(path: str, settings: Settings) -> bool:
    """Return whether the path or a folder that holds it, up to the configuration's folder, is excluded."""
    path = os.path.abspath(path)
    while path != settings.root and path != os.path.dirname(path):
        if _excluded(path, settings):
            return True
        path = os.path.dirname(path)
    return False
