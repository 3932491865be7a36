"""Whether a file imports a module that its own project should have, and has not: then nobody can run it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from .. import knowledge
from .choices import Choices
from .reach import reached
from .resolve import Layout

_BUILDS = (
    "setup.py",
    "setup.cfg",
    "pyproject.toml",
    "CMakeLists.txt",
    ".gitmodules",
    ".gitignore",
    "Makefile",
)
"""What makes modules, or brings them, names them there."""
_MADE = re.compile(r"^_|^version$|_pb2(?:_grpc)?$|_ext$")
"""Modules that are often made when a project is built."""


class Broken:
    """Looks for modules that are missing."""

    def __init__(self, choices: Choices, layout: Layout, read: Callable[[str], str | None]) -> None:
        """`read` gives a file's text."""
        self._choices = choices
        self._layout = layout
        self._read = read
        self._known: dict[str, bool] = {}
        self._broken: dict[str, tuple[bool, frozenset[str]]] = {}

    def is_broken(self, path: str) -> tuple[bool, frozenset[str]]:
        """Whether a file, or one that it imports whatever happens, lacks a module; and who tells."""
        found = self._broken.get(path)
        if found is None:
            told = frozenset(reached(path, self._choices.imported))
            found = self._broken[path] = any(map(self._lacks, told)), told
        return found

    def _lacks(self, path: str) -> bool:
        found = self._known.get(path)
        if found is None:
            names = self._choices.modules(path)
            found = self._known[path] = any(self._is_missing(name, path) for name in names)
        return found

    def _is_missing(self, name: str, path: str) -> bool:
        home, plain = self._choices.home(path), name.lstrip(".")
        parts = plain.split(".")
        folder = os.path.dirname(path)
        if name.startswith("."):
            for _ in range(len(name) - len(plain) - 1):
                folder = os.path.dirname(folder)
            inside = folder == home or folder.startswith(os.path.join(home, ""))
            starts = [folder] if inside and plain else []
        elif len(parts) < 2 or parts[0] in knowledge.LIBRARIES or self._is_found(name, path):
            return False
        else:
            starts = [each for each in self._choices.starts(path) if self._is_own(each, parts[0], home)]
        if not starts or any(self._is_there(each, parts) for each in starts):
            return False
        return not (_MADE.search(parts[-1]) or self._is_made(home, parts[-1]))

    def _is_found(self, name: str, path: str) -> bool:
        """Whether a name means a module of the project, and not only a package around it."""
        found = os.path.splitext(self._choices.named(name, path) or "")[0]
        return found.removesuffix(os.sep + "__init__").endswith(os.sep + name.rpartition(".")[2])

    def _is_own(self, start: str, first: str, home: str) -> bool:
        """Whether a folder has a package that the project imports from by its name."""
        folder = os.path.join(start, first)
        if f"{first}.py" in self._layout.names(start) or not self._layout.holds(start, first):
            return False
        return any(
            names[0] == first and len(names) > 1 and self._is_there(folder, names[1:2])
            for each in self._choices.mentioning(home, first)
            for name in self._choices.modules(each)
            if (names := name.split("."))
        )

    def _is_there(self, folder: str, parts: list[str]) -> bool:
        for part in parts:
            listed = self._layout.names(folder)
            if any(each.startswith(f"{part}.") for each in listed):
                return True
            if part not in listed:
                return False
            folder = os.path.join(folder, part)
        return True

    def _is_made(self, home: str, name: str) -> bool:
        """Whether what builds the project, or brings parts of it, has a name."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        return any(
            word.search(self._read(os.path.join(home, each)) or "") is not None
            for each in sorted(self._layout.names(home).intersection(_BUILDS))
        )
