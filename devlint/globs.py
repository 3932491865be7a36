"""Glob patterns of the configuration: `*` crosses folders, a bare name matches at any depth."""

from __future__ import annotations

import os.path
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

_SPECIAL = frozenset("*?[/")


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


@lru_cache(maxsize=256)
def _split(patterns: tuple[str, ...]) -> _Patterns:
    plain = frozenset(pattern for pattern in patterns if _SPECIAL.isdisjoint(pattern))
    return _Patterns(plain, tuple(pattern for pattern in patterns if pattern not in plain))


@lru_cache(maxsize=1024)
def _below(pattern: str, root: str) -> tuple[str, ...]:
    """Return the pattern as one of absolute paths; `**/` may also stand for no folder at all."""
    below = os.path.join(root.replace("[", "[[]"), os.path.normpath(pattern))
    return below, below.replace("**/", "")
