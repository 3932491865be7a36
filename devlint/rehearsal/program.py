"""The programs of a project, each rehearsed once, and what was seen to go wrong in each of its files."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from ..core.met import Met
from ..infer.room import with_room
from .torchlike import Rehearsal
from .trial import Trial
from .values import Unit, release

_SUFFIX = ".py"
_MAX_CHARACTERS = 6_000_000
"""Of the files that are kept at hand; where there are more, they are read anew."""
_MAX_FILE = 400_000


class Finds(Protocol):
    """Finds files."""

    def find(self, dotted: str, importer: str) -> Any:
        """What a dotted name means to a file: the `path` of another, and the `rest` of the name; or None."""

    def module_name(self, path: str) -> str:
        """The name of a file's module."""


class Company:
    """Rehearses programs, each by itself; their files are parsed once."""

    def __init__(self, layout: Finds, read: Callable[[str], str | None]) -> None:
        """Take what finds files, and what gives a file's text."""
        self._layout = layout
        self._read = read
        self._trees: dict[str, ast.Module | None] = {}
        self._size = 0
        self._known: dict[str, tuple[Met, ...]] = {}
        self._tried: dict[str, tuple[Met, ...]] = {}

    def rehearse(self, path: str, lazy: bool, tree: ast.Module | None = None) -> tuple[Met, ...]:
        """What goes wrong in the program that a file is, in whichever of its files.

        `lazy` is whether modules are imported when something of them is used; `tree` is the file's own.
        """
        known = self._known.get(path)
        if known is None:
            if self._size > _MAX_CHARACTERS:
                self._trees.clear()
                self._size = 0
            if tree is not None:
                self._trees.setdefault(path, tree)
            known = self._known[path] = self._rehearsed(path, lazy, Rehearsal.rehearse)
        return known

    def try_out(self, path: str, tree: ast.Module | None = None) -> tuple[Met, ...]:
        """What goes wrong in the functions and classes of a file, called one by one as others would.

        Other modules are imported when something of them is used.
        """
        known = self._tried.get(path)
        if known is None:
            if tree is not None:
                self._trees.setdefault(path, tree)
            known = self._tried[path] = self._rehearsed(path, True, Trial.try_out)
        return known

    def _rehearsed(self, path: str, lazy: bool, go: Callable[[Trial, Unit], None]) -> tuple[Met, ...]:
        units: dict[str, Unit] = {}

        def load(dotted: str, importer: str) -> tuple[Unit, str] | None:
            found = self._layout.find(dotted, importer)
            if found is None:
                return None
            if found.path not in units:
                tree = self._tree(found.path)
                if tree is None:
                    return None
                units[found.path] = Unit(found.path, self._layout.module_name(found.path), tree)
            return units[found.path], found.rest

        tree = self._tree(path)
        if tree is None:
            return ()
        program = Unit(path, self._layout.module_name(path), tree)
        stage = Trial(load, lazy=lazy)
        with suppress(RecursionError):  # what was seen until then stands
            with_room(lambda: go(stage, program))
        release([*stage.made, *units.values(), program])
        return tuple(sorted(stage.met.values(), key=lambda each: (each.home, each.here, each.kind)))

    def _tree(self, path: str) -> ast.Module | None:
        if path not in self._trees:
            self._trees[path] = self._parsed(path)
        return self._trees[path]

    def _parsed(self, path: str) -> ast.Module | None:
        text = self._read(path) if path.endswith(_SUFFIX) else None
        if text is None or len(text) > _MAX_FILE:
            return None
        self._size += len(text)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the program's own, such as invalid escapes
                return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
