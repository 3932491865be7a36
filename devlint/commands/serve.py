"""The command `server`: the language server, on stdin and stdout; needs the extra `devlint[server]`."""

from __future__ import annotations

import argparse
import gc
import io
import os
import sys
import threading
from typing import TYPE_CHECKING

from ..errors import DevlintError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

_STACK = 64 * 1024 * 1024
"""Bytes for the thread that analyses; Python's own limit holds before it is used up."""


def main(arguments: Sequence[str]) -> int:
    """Serve until the client ends, and return the exit status."""
    parser().parse_args(arguments)
    try:
        import pygls  # noqa: F401
    except ImportError:
        raise DevlintError("the server needs pygls: pip install 'devlint[server]'") from None
    reader, writer = _streams()
    # Syntax trees are many objects and few cycles: garbage is collected when nobody waits for an answer.
    gc.disable()
    threading.stack_size(_STACK)
    from ..server.server import Server

    server = Server()
    try:
        server.run(reader, writer)
    finally:
        sys.stderr.flush()
        os._exit(server.status)  # an analysis that is still under way has nobody to tell


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    found = argparse.ArgumentParser(
        prog="devlint server",
        description="Serve an editor: the language server protocol on stdin and stdout.",
    )
    found.add_argument("--stdio", action="store_true", help="accepted; there is no other way")
    return found


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """Take stdin and stdout for the protocol: who else reads gets nothing, who writes does so to stderr."""
    reader = os.fdopen(os.dup(0), "rb")
    writer = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    sys.stdin = io.StringIO()
    return reader, writer
