"""All that one run has read of the disk: as long as none of it differs, nothing that was found does."""

from __future__ import annotations

import os
from typing import NamedTuple

from ..source.digest import digest

Kinds = dict[str, bytes]
"""Paths, and what tells what is there from anything else that could be."""
SUFFIXES = (".py", ".pyi")
"""How the names of modules end."""
ROOTS = (".git", "pyproject.toml", "setup.py", "setup.cfg", "devlint.toml")
"""What the root of a project holds."""
COPIES = ("LICENSE", "LICENSE.md", "LICENSE.txt")
"""What the root holds of a copy that came without any of those: an archive, say."""
APART = frozenset({"pyvenv.cfg"})
"""What a folder holds that is no part of the project around it."""
MARKS = APART.union(ROOTS, COPIES)
MAX_BYTES = 4_000_000
"""Larger files are data; what they define is not asked for."""
_NOTHING = b""
_BYTECODE = "__pycache__"


class Facts(NamedTuple):
    """What was read: plain data, so that processes can tell each other."""

    files: Kinds
    """By absolute path; empty for what is no file that can be read."""
    folders: Kinds
    """By path, the names in them."""


class World:
    """Notes what is read, and whether two readings differed."""

    def __init__(self) -> None:
        """Take nothing as read."""
        self._facts = Facts({}, {})
        self._new = Facts({}, {})
        self.is_steady = True
        """Whether nothing was read twice with another outcome."""

    def note_file(self, path: str, raw: bytes | None) -> None:
        """Remember a file's bytes; None where it could not be read."""
        self._note(0, os.path.abspath(path), of_file(raw))

    def note_folder(self, path: str, names: frozenset[str]) -> None:
        """Remember the names in a folder; those of what is no folder are none."""
        self._note(1, path, of_folder(names))

    def add(self, facts: Facts) -> None:
        """Remember what another process has read."""
        for kind, known in enumerate(facts):
            for path, found in known.items():
                self._note(kind, path, found)

    def _note(self, kind: int, path: str, found: bytes) -> None:
        known = self._facts[kind].get(path)
        if known is None:
            self._facts[kind][path] = self._new[kind][path] = found
        elif known != found:
            self.is_steady = False

    def facts(self) -> Facts:
        """Return all that was read."""
        return self._facts

    def news(self) -> tuple[Facts, bool]:
        """Return what was read since this was last asked, and whether all is steady."""
        found, self._new = self._new, Facts({}, {})
        return found, self.is_steady


def of_file(raw: bytes | None) -> bytes:
    """Return what tells a file's content from any other."""
    return _NOTHING if raw is None else digest(raw)


def of_folder(names: frozenset[str]) -> bytes:
    """Return what tells the names in a folder that have a say from any others.

    Those are the names of what may be packages, modules and the marks of a project; reports, logs and the
    cache itself come and go.
    """
    plain = (name for name in names if may_be_folder(name) and name != _BYTECODE)
    counted = {*plain, *MARKS.intersection(names), *(name for name in names if name.endswith(SUFFIXES))}
    return digest("\0".join(sorted(counted)).encode("utf-8", "surrogateescape"))


def may_be_folder(name: str) -> bool:
    """Whether a name may be that of a folder with code: `v1.0` and `2. Deep Q`, and not `notes.txt`."""
    return "." not in name or (name[0] != "." and not name.rpartition(".")[2].isidentifier())


def raw_of(path: str) -> bytes | None:
    """Return the bytes of a file; None where it cannot be read, or is too large to be source."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > MAX_BYTES:
            return None
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError):
        return None


def names_in(folder: str) -> frozenset[str]:
    """Return the names in a folder; none where it is no folder that can be read."""
    try:
        return frozenset(os.listdir(folder or "."))
    except (OSError, ValueError):
        return frozenset()


def is_same(facts: Facts) -> bool:
    """Whether all that was read is as it was."""
    return all(of_folder(names_in(path)) == known for path, known in facts.folders.items()) and all(
        of_file(raw_of(path)) == known for path, known in facts.files.items()
    )
