"""Glob patterns of the configuration: `*` crosses folders, a bare name matches at any depth.

`{a,b}` stands for either, as in a shell.
"""

from __future__ import annotations

import os.path
import re
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from ..errors import DevlintError

_SPECIAL = frozenset("*?[/")
_BRACES = re.compile(r"(?<!\[)\{([^{}]*,[^{}]*)(?<!\[)\}")  # `[{]` is a brace in a name
_LITERAL = re.compile(r"[\[*?{}]")
_MOST = 256
"""Patterns that one with braces may stand for: their number is a product."""


class _Patterns(NamedTuple):
    names: frozenset[str]
    """Plain names: one look-up decides them all."""
    globs: tuple[str, ...]


def matches(path: str, patterns: tuple[str, ...], root: str) -> bool:
    """Whether a pattern means this file or folder: by its name, or by its path below `root`."""
    names, globs = _split(patterns)
    name = os.path.basename(path)
    if name in names:
        return True
    if not globs:
        return False
    absolute = os.path.abspath(path)
    return any(
        fnmatchcase(name, pattern) or any(fnmatchcase(absolute, below) for below in _below(pattern, root))
        for pattern in globs
    )


def chosen(path: str, pattern: str, root: str) -> bool:
    """Whether a pattern means this file; one that begins with `!` means all files but those."""
    negated = pattern.startswith("!")
    return matches(path, (pattern.removeprefix("!"),), root) is not negated


def expanded(pattern: str) -> list[str]:
    """Return the patterns that one with braces stands for; raises DevlintError where they are too many."""
    found = [pattern]
    done: list[str] = []
    while found:
        if len(found) + len(done) > _MOST:
            raise DevlintError(f"the pattern {pattern!r} stands for too many others")
        one = found.pop(0)
        braces = _BRACES.search(one)
        if braces is None:
            done.append(one)
        else:
            found += [one[: braces.start()] + part + one[braces.end() :] for part in braces[1].split(",")]
    return done


def anchored(pattern: str, root: str) -> str:
    """Return a pattern that means below any folder what this one means below `root`."""
    if "/" not in pattern:
        return pattern
    sign, below = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
    return sign + os.path.join(_LITERAL.sub(r"[\g<0>]", root), os.path.normpath(below))


@lru_cache(maxsize=256)
def _split(patterns: tuple[str, ...]) -> _Patterns:
    patterns = tuple(one for pattern in patterns for one in expanded(pattern))
    plain = frozenset(pattern for pattern in patterns if _SPECIAL.isdisjoint(pattern))
    return _Patterns(plain, tuple(pattern for pattern in patterns if pattern not in plain))


@lru_cache(maxsize=1024)
def _below(pattern: str, root: str) -> tuple[str, ...]:
    """Return the pattern as one of absolute paths; `**/` may also stand for no folder at all."""
    below = os.path.join(root.replace("[", "[[]"), os.path.normpath(pattern))
    return below, below.replace("**/", "")
