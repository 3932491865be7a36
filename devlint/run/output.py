"""Writes files whole or not at all, so that a full disk or a kill costs no older version.

A file is written beside the old one and put in its place by renaming. That makes another file of the same
name, so a file that has other names, or an owner or attributes that cannot be given to the new one, is
written in place, and so is one whose folder takes no new files.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ..errors import DevlintError

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_REPLACING = frozenset({errno.EACCES, errno.EPERM, errno.EBUSY, errno.EROFS})
_NO_UNNAMED = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT})
"""What a file system or a kernel without unnamed files says."""


def write(path: str, data: bytes) -> None:
    """Write a file; what it held is kept until all of the new is on the disk."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # such as /dev/stdout or a pipe
            with open(path, "wb") as file:
                file.write(data)
        else:
            replace(path, data)
    except OSError as error:
        raise DevlintError(f"cannot write {path}: {error.strerror}") from error


def replace(path: str, data: bytes) -> None:
    """Put `data` in place of what a file holds, keeping its mode, owner, attributes and other names.

    Raises OSError, and then changes nothing.
    """
    path = os.path.realpath(path)
    with _uninterrupted():
        try:
            status = os.stat(path)
        except FileNotFoundError:
            status = None
        try:
            if (status is None or status.st_nlink == 1) and _renamed(path, data, status):
                return
        except OSError as error:
            if error.errno not in _NO_REPLACING or status is None:
                raise
        _overwrite(path, data)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Make signals that end the program wait until the files on the disk are in order."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    waiting = {signal.SIGTERM, signal.SIGHUP, signal.SIGINT}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waiting)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _renamed(path: str, data: bytes, status: os.stat_result | None) -> bool:
    """Write a new file and give it the name; `False`, and nothing done, if it could not be like the old."""
    folder = os.path.dirname(path)
    temporary = os.path.join(folder, f".devlint-{os.urandom(8).hex()}")
    handle, named = _new_file(folder, temporary)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            if not _made_alike(file.fileno(), path, status):
                return False
            os.fsync(file.fileno())
            if not named:
                # Any `*_dir_fd` makes Python follow the link; the folder itself plays no part.
                os.link(f"/proc/self/fd/{file.fileno()}", temporary, src_dir_fd=file.fileno())
        os.replace(temporary, path)
        return True
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def _new_file(folder: str, name: str) -> tuple[int, bool]:
    """Open a new file; return whether it has the name already.

    Without one, nothing is left of it should the program be killed.
    """
    unnamed = getattr(os, "O_TMPFILE", 0)
    if unnamed and os.path.exists("/proc/self/fd"):
        try:
            return os.open(folder, unnamed | os.O_WRONLY, 0o600), False
        except OSError as error:
            if error.errno not in _NO_UNNAMED:
                raise
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), True


def _made_alike(handle: int, path: str, status: os.stat_result | None) -> bool:
    """Give a new file the owner, the attributes (access lists among them) and the mode of the old."""
    if status is None:
        mask = os.umask(0)  # there is no other way to ask for it
        os.umask(mask)
        os.chmod(handle, 0o666 & ~mask)
        return True
    mine = os.fstat(handle)
    try:
        if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
            os.chown(handle, status.st_uid, status.st_gid)
        attributes = _attributes(path)
        for name, value in attributes.items():
            if _attributes(handle).get(name) != value:
                os.setxattr(handle, name, value)
        os.chmod(handle, status.st_mode & 0o7777)
        return _attributes(handle) == attributes
    except OSError:
        return False


def _attributes(file: str | int) -> dict[str, bytes]:
    if not hasattr(os, "listxattr"):
        return {}
    try:
        return {name: os.getxattr(file, name) for name in os.listxattr(file)}
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            return {}
        raise


def _overwrite(path: str, data: bytes) -> None:
    """Write over what a file holds; should that fail, put the old text back."""
    handle = os.open(path, os.O_RDWR)
    try:
        with open(path, "rb") as file:
            before = file.read()
        try:
            _fill(handle, data)
        except OSError:
            _fill(handle, before)
            raise
    finally:
        os.close(handle)


def _fill(handle: int, data: bytes) -> None:
    """Make a file hold `data`; it is cut last, so that a kill finds no empty file."""
    os.lseek(handle, 0, os.SEEK_SET)
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
    os.truncate(handle, len(data))
    os.fsync(handle)
