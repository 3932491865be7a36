"""Finds the files to lint: walks folders, leaving out what is ignored or excluded."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import DevlintError
from .globs import matches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..config.settings import Settings

SUFFIXES = (".py", ".pyi", ".ipynb")


class _Ignore(NamedTuple):
    """A .gitignore: the folder that its patterns are relative to, and the patterns."""

    folder: str
    spec: Any


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
        ignores = _ignores_above(path) if settings.respect_gitignore else ()
        yield from _walk(path, settings_for, ignores, problems)
    else:
        yield path


def _walk(
    folder: str, settings_for: Callable[[str], Settings], ignores: Sequence[_Ignore], problems: list[str]
) -> Iterator[str]:
    waiting = [(folder, tuple(ignores))]
    while waiting:
        folder, ignores = waiting.pop()
        settings = settings_for(folder)
        if settings.respect_gitignore:
            ignores = (*_read_ignore(folder), *ignores)
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
            if _excluded(path, settings) or _ignored(path, is_folder, ignores):
                continue
            if is_folder:
                folders.append((path, ignores))
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


def _ignored(path: str, is_folder: bool, ignores: Sequence[_Ignore]) -> bool:
    """Ask the .gitignore files from the nearest on; the first that says anything decides."""
    if not ignores:
        return False
    absolute = os.path.abspath(path)
    for ignore in ignores:
        relative = os.path.relpath(absolute, ignore.folder) + "/" * is_folder
        verdict = ignore.spec.check_file(relative).include
        if verdict is not None:
            return bool(verdict)
    return False


def _ignores_above(folder: str) -> tuple[_Ignore, ...]:
    """Return the .gitignore files above a folder, up to the root of its repository, nearest first."""
    found: list[_Ignore] = []
    folder = os.path.abspath(folder)
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ()  # no repository: files above are somebody else's
        folder = parent
        found.extend(_read_ignore(folder))
    return tuple(found)


def _read_ignore(folder: str) -> tuple[_Ignore, ...]:
    try:
        with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return ()
    return (_Ignore(os.path.abspath(folder), _patterns(lines)),)


def _patterns(lines: list[str]) -> Any:
    """Return the patterns of a .gitignore; like git, without the lines that are none."""
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except (ValueError, re.error):
        return GitIgnoreSpec.from_lines(filter(_is_pattern, lines))


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True
