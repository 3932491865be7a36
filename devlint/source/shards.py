"""Divides files into parts that stay the same when files come and go."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def part(paths: Iterable[str], root: str, number: int, parts: int) -> list[str]:
    """Return the files of one part, the first of which is 1; each file is in one, by its way from `root`."""
    return [path for path in paths if _chance(path, root) % parts == number - 1]


def _chance(path: str, root: str) -> int:
    """Return a large number that depends on a path alone, the same on every machine."""
    from hashlib import sha256

    below = os.path.relpath(os.path.abspath(path), root).replace(os.sep, "/")
    return int.from_bytes(sha256(below.encode("utf-8", "surrogateescape")).digest()[:8], "big")
