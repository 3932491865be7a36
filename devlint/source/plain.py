"""Reads files, and nothing else that has a name and would block, or not end."""

from __future__ import annotations

import os
import stat

_NOT_WAITING = getattr(os, "O_NONBLOCK", 0)
"""Opening a pipe waits for a writer otherwise."""


def read(path: str) -> bytes:
    """Return what is in a regular file that a walk comes upon; raises OSError, for a pipe or a device too."""
    with open(path, "rb", opener=_regular) as file:
        return file.read()


def read_named(path: str) -> bytes:
    """Return what is in a file that the user names, which may be a pipe that somebody writes to.

    Raises OSError, also for a pipe that waits for a writer, and for a device that is no terminal.
    """
    handle = os.open(path, os.O_RDONLY | _NOT_WAITING | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        begin: bytes | None = b""
        if stat.S_ISFIFO(status.st_mode):
            begin = _begin(handle)
            if begin == b"" and os.path.exists(os.path.realpath(path)):  # it has a name on the disk
                raise OSError(None, "it is a pipe, and nobody writes to it", path)
        elif not (stat.S_ISREG(status.st_mode) or file.isatty() or _is_empty(status)):
            raise OSError(None, "it is a device", path)
        if _NOT_WAITING:
            os.set_blocking(handle, True)
        return (begin or b"") + file.read()


def _is_empty(status: os.stat_result) -> bool:
    return os.path.samestat(status, os.stat(os.devnull))


def _begin(handle: int) -> bytes | None:
    """Return what can be read from a pipe at once; None where its writer has not written yet."""
    try:
        return os.read(handle, 1 << 16)
    except BlockingIOError:
        return None


def _regular(path: str, flags: int) -> int:
    handle = os.open(path, flags | _NOT_WAITING)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # for a folder, `open` has a message
        return handle
    os.close(handle)
    raise OSError(None, "not a regular file", path)
