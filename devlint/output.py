"""Writes files whole or not at all, so that a full disk costs no older version."""

from __future__ import annotations

import errno
import os
import tempfile

from .errors import DevlintError

_NO_REPLACING = frozenset({errno.EACCES, errno.EPERM, errno.EBUSY, errno.EROFS})


def write(path: str, data: bytes) -> None:
    """Write a file; what it held is kept until all of the new is on the disk."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # such as /dev/stdout or a pipe
            _overwrite(path, data)
            return
        try:
            replace(path, data)
        except OSError as error:
            # The file may be writable where its folder is not, or be mounted by itself.
            if error.errno not in _NO_REPLACING or not os.path.isfile(path):
                raise
            _overwrite(path, data)
    except OSError as error:
        raise DevlintError(f"cannot write {path}: {error.strerror}") from error


def replace(path: str, data: bytes) -> None:
    """Put `data` in place of what a file holds, keeping its mode; raises OSError and then changes nothing."""
    path = os.path.realpath(path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=".devlint-", dir=os.path.dirname(path))
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
        temporary = None
    finally:
        if temporary is not None:
            os.unlink(temporary)


def _overwrite(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        mask = os.umask(0)  # there is no other way to ask for it
        os.umask(mask)
        return 0o666 & ~mask
