"""Tells on a terminal how far a long run has come."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TextIO

_PATIENCE = 1.0
"""Seconds before anything is shown."""
_PAUSE = 0.1
"""Seconds between two changes of what is shown."""
_CLEAR = "\r\x1b[K"


def counted(
    paths: Sequence[str], stream: TextIO, clock: Callable[[], float] = time.monotonic
) -> Iterator[str]:
    """Yield the paths, and show their count on `stream` while they are worked on, if it is a terminal."""
    if not stream.isatty():
        yield from paths
        return
    due = clock() + _PATIENCE
    shown = False
    try:
        for done, path in enumerate(paths):
            now = clock()
            if now >= due:
                stream.write(f"{_CLEAR}devlint: {done} of {len(paths)} files")
                stream.flush()
                due, shown = now + _PAUSE, True
            yield path
    finally:
        if shown:
            stream.write(_CLEAR)
            stream.flush()
