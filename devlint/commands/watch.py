"""Runs a check again whenever a file changes; needs the extra `devlint[watch]`."""

from __future__ import annotations

import os.path
import sys
from typing import TYPE_CHECKING

from ..console import say
from ..errors import DevlintError
from ..source.files import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CONFIGURATION = frozenset({"pyproject.toml", "devlint.toml", ".gitignore"})


def watch(paths: Sequence[str], run: Callable[[], object]) -> None:
    """Run at once and after every change below `paths`, until interrupted."""
    try:
        from watchfiles import Change, DefaultFilter, watch
    except ImportError:
        raise DevlintError("--watch needs watchfiles: pip install watchfiles") from None
    for path in paths:
        if not os.path.exists(path):
            raise DevlintError(f"no such file or folder: {path}")
    ignored = DefaultFilter()

    def matters(change: Change, path: str) -> bool:
        name = os.path.basename(path)
        return (name.endswith(SUFFIXES) or name in _CONFIGURATION) and ignored(change, path)

    _once(run)
    for _ in watch(*paths, watch_filter=matters):
        _once(run)


def _once(run: Callable[[], object]) -> None:
    try:
        run()
    except DevlintError as error:  # the next change may put it right
        say(error)
    sys.stdout.flush()
    say("watching for changes, Ctrl-C ends")
