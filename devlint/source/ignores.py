"""What git and its like are told to ignore: `.gitignore`, `.ignore`, `info/exclude`, the user's own file."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .plain import read

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMES = (".ignore", ".gitignore")
"""The first has the last word, as in ripgrep, fd and ruff."""
_SECTION = re.compile(r"\s*\[\s*(?P<name>[\w.-]+)\s*\]")
_EXCLUDES = re.compile(r"\s*excludesfile\s*=\s*(?P<quote>\"?)(?P<path>[^\"]+?)(?P=quote)\s*(?:[#;].*)?", re.I)
_STAR = re.escape("[^/]*")
_FOLDERS = r"(?:/.+)?"
_FOLDERS_FIRST = "(?:.+/)?"
_BETWEEN_STARS = re.compile(
    rf"{_STAR}(?P<text>(?:\\.|\[\^/\](?!\*)|\[(?!\^)[^\]]*\]|[^\\\[\]/()*+?|.^$])+)(?={_STAR})"
)


class Ignore(NamedTuple):
    """One such file: the folder that its patterns are relative to, and the patterns."""

    folder: str
    spec: Any


def ignored(path: str, is_folder: bool, ignores: Sequence[Ignore]) -> bool:
    """Ask the files from the nearest on; the first that says anything decides."""
    if not ignores:
        return False
    absolute = os.path.abspath(path)
    for ignore in ignores:
        relative = os.path.relpath(absolute, ignore.folder) + "/" * is_folder
        verdict = ignore.spec.check_file(relative).include
        if verdict is not None:
            return bool(verdict)
    return False


def above(folder: str) -> tuple[Ignore, ...]:
    """Return what holds in a folder from above it, up to the root of its repository, nearest first."""
    found: list[Ignore] = []
    root = os.path.abspath(folder)
    while not os.path.lexists(git := os.path.join(root, ".git")):
        parent = os.path.dirname(root)
        if parent == root:
            return ()  # no repository: files above are somebody else's
        root = parent
        found += of(root)
    return (*found, *_of_file(os.path.join(_common(git), "info", "exclude"), root), *_of_user(root))


def of(folder: str) -> tuple[Ignore, ...]:
    """Return what a folder itself says."""
    return tuple(
        ignore for name in _NAMES for ignore in _of_file(os.path.join(folder, name), os.path.abspath(folder))
    )


def _of_file(path: str, folder: str) -> tuple[Ignore, ...]:
    try:
        lines = read(path).decode("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ()
    return (Ignore(folder, _patterns(lines)),)


def _common(git: str) -> str:
    """Return the folder that a repository's worktrees share; each has a file that leads to it."""
    try:
        git = os.path.join(os.path.dirname(git), read(git).decode().removeprefix("gitdir:").strip())
        return os.path.join(git, read(os.path.join(git, "commondir")).decode().strip())
    except (OSError, UnicodeDecodeError):
        return git


def _of_user(root: str) -> tuple[Ignore, ...]:
    path = _excludes_file(os.environ.get("GIT_CONFIG_GLOBAL"), os.environ.get("XDG_CONFIG_HOME"))
    return _of_file(path, root)


@lru_cache(maxsize=8)
def _excludes_file(configuration: str | None, home: str | None) -> str:
    """Return the file of patterns that the user's git configuration names, or git's default for it."""
    folder = os.path.join(home or os.path.expanduser("~/.config"), "git")
    places = [os.path.expanduser("~/.gitconfig"), os.path.join(folder, "config")]
    for place in [configuration] if configuration is not None else places:
        try:
            named = _named(read(place).decode("utf-8", "surrogateescape"))
        except OSError:
            continue
        if named is not None:
            return os.path.expanduser(named)
    return os.path.join(folder, "ignore")


def _named(configuration: str) -> str | None:
    """Return `core.excludesFile` of a file of git's."""
    found, section = None, ""
    for line in configuration.splitlines():
        if match := _SECTION.match(line):
            section, line = match["name"].lower(), line[match.end() :]
        if section == "core" and (match := _EXCLUDES.fullmatch(line)):
            found = match["path"]
    return found


def _patterns(lines: list[str]) -> Any:
    """Return the patterns of such a file; like git, without the lines that are none."""
    from pathspec import GitIgnoreSpec

    try:
        spec = GitIgnoreSpec.from_lines(lines)
    except (ValueError, re.error):
        spec = GitIgnoreSpec.from_lines(filter(_is_pattern, lines))
    for pattern in spec.patterns:
        regex = getattr(pattern, "regex", None)
        if regex is not None and (linear := _linear(regex.pattern)) != regex.pattern:
            pattern.regex = re.compile(linear)
    return spec


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _linear(regex: str) -> str:
    """Return an expression in which only the last of the stars in a name, and of the `**`, tries all lengths.

    What follows one of the others is found best where it comes first. The expression as it was tries all
    combinations, which takes hours for `a*a*a*…b` and a long name, or `**/a/**/a/…b` and a deep folder.
    """
    names = iter(range(len(regex)))

    def once(match: re.Match[str]) -> str:
        name = f"star{next(names)}"
        return f"(?=(?P<{name}>[^/]*?{match['text']}))(?P={name})"

    return _shallow(_BETWEEN_STARS.sub(once, regex))


def _shallow(regex: str) -> str:
    """Return an expression in which what stands between two `**` is found in the first folder that has it."""
    first, *between = regex.split(_FOLDERS)
    if first.startswith(f"^{_FOLDERS_FIRST}"):
        first, between = "^", [first.removeprefix(f"^{_FOLDERS_FIRST}"), *between]
        folders = [
            _FOLDERS_FIRST.replace("+/)?", "+?/)??"),
            *[_FOLDERS.replace("+)?", "+?)??")] * len(between),
        ]
    else:
        folders = [_FOLDERS.replace("+)?", "+?)??")] * len(between)
    if len(between) < 2:
        return regex
    *between, last = between
    held = (
        f"(?=(?P<folder{number}>{folder}{text}(?=/)))(?P=folder{number})"
        for number, (folder, text) in enumerate(zip(folders, between, strict=False))
    )
    return f"{first}{''.join(held)}{_FOLDERS}{last}"
