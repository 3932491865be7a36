"""Tells on a terminal how far a long run has come."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from ..console import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TextIO

_PATIENCE = 1.0
"""Seconds before anything is shown."""
_PAUSE = 0.1
"""Seconds between two changes of what is shown."""
_CLEAR = "\r\x1b[K"


@contextlib.contextmanager
def status_line(
    stream: TextIO, clock: Callable[[], float] = time.monotonic, patience: float = _PATIENCE
) -> Iterator[Callable[[str], None]]:
    """Give a function that shows a text on `stream` in place of the last one, if it is a terminal.

    It may be called from any thread and as often as one likes: what comes too soon is not shown. The line is
    taken away in the end.
    """
    due = clock() + patience
    shown = False

    def show(text: str) -> None:
        nonlocal due, shown
        now = clock()
        if now >= due:
            due, shown = now + _PAUSE, True
            stream.write(f"{_CLEAR}devlint: {printable(text)}")
            stream.flush()

    try:
        yield show if stream.isatty() else lambda text: None
    finally:
        if shown:
            stream.write(_CLEAR)
            stream.flush()


def counted(
    paths: Sequence[str], stream: TextIO, clock: Callable[[], float] = time.monotonic
) -> Iterator[str]:
    """Yield the paths, and show their count on `stream` while they are worked on, if it is a terminal."""
    with status_line(stream, clock) as show:
        for done, path in enumerate(paths):
            show(f"{done} of {len(paths)} files")
            yield path
