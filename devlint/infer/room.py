"""Room on the stack, so that results depend on the text and not on how deep the host already is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

_ROOM = 6000
"""Frames that the inference may need, for nested expressions and chains of helpers."""
T = TypeVar("T")


def with_room(work: Callable[[], T]) -> T:
    """Let `work` recurse as deep as it may wherever it is called from: its results depend on the text alone.

    Before Python 3.11, calls take up the C stack, whose size nobody knows: what is too deep stays unknown.
    """
    if sys.version_info < (3, 11):
        return work()
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, depth + _ROOM))
    try:
        return work()
    finally:
        sys.setrecursionlimit(limit)
