"""Whether the programs of a project run on CUDA alone, or mean a device to be a choice.

Told by texts, without any analysis: a file chooses where it asks for an accelerator, has a device to pass on,
or an option about one. What a program imports, and what imports a file, may choose for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from .. import knowledge
from .mentions import Mentions
from .nature import imported, without_texts
from .reach import reached
from .resolve import Layout
from .world import ROOTS

Throughout = Literal["", "first", "later"]
"""Of a file whose programs have no choice anywhere: whether one of them begins there; else empty."""

Default = Literal["", "above", "beside"]
"""Whether what runs a file sets the default device, or only another file of the project; else empty."""

_COMMENT = re.compile(r"#[^\n]*")
_NEEDS = re.compile(r"\.cuda\s*\(|[\"']cuda(?::\d+)?[\"']|torch\.cuda\.\w*Tensor\b")
_MAIN = re.compile(r"^if\s+__name__\b", re.MULTILINE)
_BUILT = frozenset(ROOTS) - {".git"}
"""What a project has that others install."""
_PACKAGE = "__init__"
_MAX_UP = 3
_NOTEBOOK = ".ipynb"


class _Signs(NamedTuple):
    needs: bool
    """Whether it names CUDA where a device goes."""
    chooses: bool
    offers: bool
    """Whether it has an option about devices, which holds for those who import it."""
    runs: bool
    """Whether it asks if it is run by itself."""
    imports: tuple[str, ...]


class Choices:
    """Looks for choices of a device in files, in what they import, and in what imports them."""

    def __init__(self, layout: Layout, read: Callable[[str], str | None]) -> None:
        """`read` gives a file's text."""
        self._layout = layout
        self._read = read
        self._known: dict[str, _Signs] = {}
        self._imports: dict[str, frozenset[str]] = {}
        self._mentions: dict[str, Mentions] = {}
        self._answers: dict[str, tuple[Throughout, frozenset[str]]] = {}

    def throughout(self, path: str) -> tuple[Throughout, frozenset[str]]:
        """Whether all that runs a file runs on CUDA alone; and the files that tell."""
        found = self._answers.get(path)
        if found is None:
            found = self._answers[path] = self._find(path)
        return found

    def default_device(self, path: str) -> tuple[Default, frozenset[str]]:
        """Who sets the default device to an accelerator for a file, and the files that tell; no tests."""
        homes = {self._layout.project_of(os.path.dirname(path)), self._home(path)}
        found = {
            each
            for home in homes
            for each in self._texts(home).matching(knowledge.SETS_DEFAULT_DEVICE, "set_default_")
            if not any(self._texts(home).has(each, name) for name in knowledge.TESTS_WITH)
        } - {path}
        if not found:
            return "", frozenset()
        above = reached(path, self._importers)
        return "beside" if found.isdisjoint(above) else "above", frozenset(found | above)

    def _find(self, path: str) -> tuple[Throughout, frozenset[str]]:
        if self._signs(path).chooses or self._is_library(path):
            return "", frozenset()
        above = reached(path, self._importers)
        below = set[str]().union(*(reached(each, self._imported) for each in above))
        asked = frozenset(above | below)
        others = above - {path}
        if any(self._signs(each).chooses for each in others) or any(
            self._signs(each).offers for each in below
        ):
            return "", asked
        if any(self._signs(each).needs for each in others):
            return "later", asked
        if not self._signs(path).needs or (self._is_part(path) and not others):
            return "", asked  # of a package, somebody may import it by a name that is made up
        return "first", asked

    def _signs(self, path: str) -> _Signs:
        found = self._known.get(path)
        if found is None:
            text = self._read(path) or ""
            text = cells(text) if path.endswith(_NOTEBOOK) else text
            text = _COMMENT.sub("", without_texts(text))
            found = self._known[path] = _Signs(
                _NEEDS.search(text) is not None,
                knowledge.chooses_device(text),
                knowledge.offers_device(text),
                _MAIN.search(text) is not None,
                tuple(imported(text)),
            )
        return found

    def _home(self, path: str) -> str:
        """The folder of all that belongs to a file's project; without a mark, where its imports are found."""
        root = self._layout.project_of(os.path.dirname(path))
        if not self._layout.names(root).isdisjoint(ROOTS):
            return root
        tops = {name.partition(".")[0] for name in self._signs(path).imports if not name.startswith(".")}
        missing = [name for name in tops if self._layout.find(name, path) is None]
        above = root
        for _ in range(_MAX_UP):
            above = os.path.dirname(above)
            listed = self._layout.names(above)
            if any(name in listed or f"{name}.py" in listed for name in missing):
                return above
        return root

    def _is_library(self, path: str) -> bool:
        """Whether a file is part of a package that others install, or that no program beside it imports."""
        if not self._is_part(path):
            return False
        home = self._layout.project_of(os.path.dirname(path))
        if not self._layout.names(home).isdisjoint(_BUILT):
            return True
        package = os.path.join(home, os.path.relpath(path, home).split(os.sep)[0], "")
        return not any(
            found.startswith(package)
            for each in self._mentioning(home, os.path.basename(os.path.dirname(package)))
            if not each.startswith(package)
            for found in self._imported(each)
        )

    def _is_part(self, path: str) -> bool:
        """Whether a file is in a package, or a folder of one, and is no program that nobody imports."""
        if self._signs(path).runs and not self._importers(path):
            return False
        above = path
        for _ in range(_MAX_UP):
            above = os.path.dirname(above)
            if f"{_PACKAGE}.py" in self._layout.names(above):
                return True
        return False

    def _imported(self, path: str) -> frozenset[str]:
        """The files of the project that a file imports."""
        found = self._imports.get(path)
        if found is None:
            self._imports[path] = frozenset()
            home = self._home(path)
            all_of = (
                self._layout.find(name, path)
                or (None if name.startswith(".") else self._layout.found_in(home, name))
                for name in self._signs(path).imports
            )
            found = self._imports[path] = frozenset(each.path for each in all_of if each is not None) - {path}
        return found

    def _importers(self, path: str) -> frozenset[str]:
        """The files of the project that import a file."""
        stem = os.path.splitext(os.path.basename(path))[0]
        name = os.path.basename(os.path.dirname(path)) if stem == _PACKAGE else stem
        homes = {self._layout.project_of(os.path.dirname(path)), self._home(path)}
        found = {each for home in homes for each in self._mentioning(home, name)} - {path}
        return frozenset(each for each in found if path in self._imported(each))

    def _mentioning(self, home: str, name: str) -> list[str]:
        return self._texts(home).of(name)

    def _texts(self, home: str) -> Mentions:
        if home not in self._mentions:
            self._mentions[home] = Mentions(self._layout.files(home), self._read)
        return self._mentions[home]


def cells(text: str) -> str:
    """The code of a notebook, one cell after the other; empty where it is none."""
    import json

    try:
        found = json.loads(text)["cells"]
        return "\n".join("".join(each["source"]) for each in found if each["cell_type"] == "code")
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
