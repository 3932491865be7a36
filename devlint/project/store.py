"""What earlier runs have learned, in files that one can lose, spoil or delete at any time.

Each file is signed with a key of the user's own, for one path and one version of everything that has a say.
What somebody else wrote, what came with a repository and what is damaged is as if it were not there.
"""

from __future__ import annotations

import marshal
import os
import stat
import sys
import zlib
from contextlib import suppress
from typing import Any, NamedTuple

from ..source.digest import SIZE, digest, keyed

TAG = "CACHEDIR.TAG"
SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55"
"""What marks a cache folder for backup programs; https://bford.info/cachedir/."""
_FILES = {
    TAG: f"{SIGNATURE}\n# This folder was made by devlint, and may be deleted.\n",
    ".gitignore": "# Made by devlint.\n*\n",
}
_MAX_SIZE = 1 << 26
_OLD = 30 * 24 * 3600.0
"""Seconds after which what another version has kept is deleted, once a version comes that is new."""
_SIGNED = SIZE
"""Bytes of a signature."""
_HERE = os.open in os.supports_dir_fd
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_UNREADABLE = (
    *(OSError, ValueError, TypeError, EOFError, IndexError, RecursionError, MemoryError, SystemError),
    zlib.error,
)


class Shelf(NamedTuple):
    """Where a store is, and what its files are signed with: all that another process needs to open it."""

    folder: str
    key: bytes
    versions: str
    """What has a say in results: devlint, rules, knowledge, Python."""
    follow: bool = False
    """Whether the folder may be a link, as where the user named it."""


class Store:
    """Data by kind and path of a file. Nothing here raises: what cannot be kept is found out again."""

    def __init__(self, shelf: Shelf) -> None:
        """Take where it is; nothing is made before something is kept."""
        self.shelf = shelf
        self._root = os.path.dirname(os.path.abspath(shelf.folder))
        self._versions = digest(shelf.versions.encode("utf-8", "surrogatepass"))
        self._name = self._versions.hex()[:16]
        self._folder: int | str | None = None
        self._writes = True

    @property
    def root(self) -> str:
        """The folder above the store."""
        return self._root

    def get(self, kind: str, path: str) -> Any:
        """Return what was put there, of whatever form; None where there is nothing that can be trusted."""
        about = self._about(kind, path)
        try:
            where = self._opened(make=False)
            if where is None:
                return None
            raw = _read(where, digest(about).hex())
            if raw is None or raw[:_SIGNED] != self._signature(about, raw[_SIGNED:]):
                return None
            return marshal.loads(zlib.decompress(raw[_SIGNED:]))
        except _UNREADABLE:
            return None

    def put(self, kind: str, path: str, data: Any) -> None:
        """Keep data that `marshal` takes; whole or not at all, whatever else is going on."""
        if not self._writes:
            return
        about = self._about(kind, path)
        try:
            raw = zlib.compress(marshal.dumps(data))
            where = self._opened(make=True)
            if where is not None:
                _write(where, digest(about).hex(), self._signature(about, raw) + raw)
        except (ValueError, RecursionError):  # nothing that `marshal` takes
            return
        except OSError:  # read-only, full, or no folder: the next file fares no better
            self._writes = False

    def _about(self, kind: str, path: str) -> bytes:
        """Name what is kept: by the way from the folder above the store, so that all may be moved."""
        path = os.path.abspath(path)
        below = path.removeprefix(os.path.join(self._root, ""))
        return f"{kind}\0{below.replace(os.sep, '/')}".encode("utf-8", "surrogateescape")

    def _signature(self, about: bytes, raw: bytes) -> bytes:
        return keyed(self.shelf.key, self._versions, digest(about), raw)

    def _opened(self, make: bool) -> int | str | None:
        """Return the folder of this version; None where there is none, or a link in its place."""
        if self._folder is None:
            above: int | str | None = None
            with suppress(OSError):
                above = _open(self.shelf.folder, self.shelf.follow)
            if make:
                if above is None:
                    os.makedirs(self.shelf.folder, exist_ok=True)
                    above = _open(self.shelf.folder, self.shelf.follow)
                if not is_ours(above):
                    if os.listdir(above):  # somebody else's folder
                        raise FileExistsError(self.shelf.folder)
                    for name, text in _FILES.items():
                        _write(above, name, text.encode())
            if above is None:
                return None
            self._folder = _inside(above, self._name, make)
            if isinstance(above, int):
                os.close(above)
        return self._folder


def is_ours(folder: int | str) -> bool:
    """Whether a folder, by its path or opened, is one that devlint made to keep results in."""
    try:
        return _read(folder, TAG) == _FILES[TAG].encode()
    except OSError:
        return False


def _open(path: str, follow: bool) -> int | str:
    if _HERE:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | (0 if follow else _NO_LINK))
    if not os.path.isdir(path) or (os.path.islink(path) and not follow):
        raise NotADirectoryError(path)
    return path


def _inside(above: int | str, name: str, make: bool) -> int | str | None:
    """Open a folder in another one, however often that is moved meanwhile."""
    if isinstance(above, str):
        path = os.path.join(above, name)
        if make:
            os.makedirs(path, exist_ok=True)
        return path if os.path.isdir(path) and not os.path.islink(path) else None
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=above)
            _forget_old(above)
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK, dir_fd=above)
    except FileNotFoundError:
        return None


def _forget_old(folder: int) -> None:
    """Delete what was kept by versions that nobody has run for a while."""
    if sys.version_info < (3, 11):  # its `rmtree` takes no folder that is open
        return
    import shutil
    import time

    for name in os.listdir(folder):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode) and status.st_mtime < time.time() - _OLD:
            shutil.rmtree(name, ignore_errors=True, dir_fd=folder)


def _read(folder: int | str, name: str) -> bytes | None:
    # Not blocking: what lies there may be a pipe that nobody writes to.
    flags = os.O_RDONLY | _NO_LINK | _BINARY | getattr(os, "O_NONBLOCK", 0)
    try:
        if isinstance(folder, str):
            handle = os.open(os.path.join(folder, name), flags)
        else:
            handle = os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_SIZE:
            return None
        found = b""
        while chunk := os.read(handle, status.st_size + 1 - len(found)):
            found += chunk
        return found
    finally:
        os.close(handle)


def _write(folder: int | str, name: str, raw: bytes) -> None:
    """Write a file beside the one of that name, and put it in its place: what is a link is replaced by it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _BINARY
    beside = f".{name}-{os.urandom(6).hex()}"
    if isinstance(folder, str):
        name, beside = os.path.join(folder, name), os.path.join(folder, beside)
    at = None if isinstance(folder, str) else folder
    handle = os.open(beside, flags, 0o666, dir_fd=at)
    try:
        try:
            rest = memoryview(raw)
            while rest:
                rest = rest[os.write(handle, rest) :]
        finally:
            os.close(handle)
        os.replace(beside, name, src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside, dir_fd=at)
        raise


def secret(folder: str | None) -> bytes | None:
    """Return the user's key, made at first use; None without a folder that the user alone can write."""
    if folder is None:
        return None
    path = os.path.join(folder, "key")
    try:
        return _secret(path)
    except FileNotFoundError:
        pass
    except OSError:
        return None
    beside = f"{path}.{os.urandom(6).hex()}"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600), "wb") as file:
            file.write(os.urandom(32))
        try:
            os.link(beside, path)  # fails where another process was faster
        except FileExistsError:
            pass
        finally:
            os.unlink(beside)
        return _secret(path)
    except OSError:
        return None


def _secret(path: str) -> bytes | None:
    handle = os.open(path, os.O_RDONLY | _NO_LINK | _BINARY)
    try:
        for status, is_kind in (
            (os.stat(os.path.dirname(path)), stat.S_ISDIR),
            (os.fstat(handle), stat.S_ISREG),
        ):
            if not is_kind(status.st_mode):
                return None
            if sys.platform != "win32" and (status.st_uid != os.getuid() or status.st_mode & 0o022):
                return None
        found = os.read(handle, 65)
    finally:
        os.close(handle)
    return found if len(found) == 32 else None
