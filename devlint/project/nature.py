"""Whether a file, or one that it imports whatever happens, runs on an accelerator alone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

from .. import knowledge
from .resolve import Layout

_IMPORTS = re.compile(r"^(?:from|import)\s+[^\n(]+(?:\([^)]*\))?", re.MULTILINE)
_INSTEAD = re.compile(r"^except\b[^\n]*:[ \t]*\n((?:[ \t]+(?:from|import)\s[^\n]+\n?)+)", re.MULTILINE)
"""What is imported in place of something that cannot be."""
_EXTENSION = re.compile(r"\bCUDAExtension\(\s*(?:name\s*=\s*)?[\"']([\w.]+)[\"']")
_ANYWHERE = re.compile(r"\bCppExtension\(")
_SETUP = "setup.py"
_NO_NAMES = re.compile(r"#[^\n]*|[(),\\]")


class Natures:
    """Follows the imports of files that are in no block, without analysing what is imported."""

    def __init__(self, layout: Layout, read: Callable[[str], str | None]) -> None:
        self._layout = layout
        self._read = read
        self._known: dict[str, bool] = {}
        self._imports: dict[str, frozenset[str]] = {}
        """The files of the project that each file imports."""
        self._built: dict[str, frozenset[str]] = {}

    def needs_accelerator(self, path: str) -> bool:
        """Whether the file cannot be imported, or is of no use, where no accelerator is."""
        found = self._known.get(path)
        if found is None:
            self._known[path] = False  # files that import each other
            found = self._known[path] = self._find(path)
        return found

    def imports(self, path: str) -> frozenset[str]:
        """The files of the project whose imports were followed to tell."""
        found, todo = set[str](), [path]
        while todo:
            for each in self._imports.get(todo.pop(), ()):
                if each not in found:
                    found.add(each)
                    todo.append(each)
        return frozenset(found)

    def _find(self, path: str) -> bool:
        text = knowledge.without_texts(self._read(path) or "")
        names = list(imported(text))
        if any(map(knowledge.imports_accelerator, names)):
            return True
        built = self._extensions(self._layout.project_of(os.path.dirname(path)))
        if any(name in built for name in names):
            return True
        for lines in _INSTEAD.findall(text):  # such as the source of an extension that is not built yet
            names += imported(re.sub(r"^[ \t]+", "", lines, flags=re.MULTILINE))
        found = (self._layout.find(name, path) for name in names)
        self._imports[path] = frozenset(each.path for each in found if each is not None) - {path}
        return any(map(self.needs_accelerator, sorted(self._imports[path])))

    def _extensions(self, root: str) -> frozenset[str]:
        """The modules that a project builds for CUDA, and for nothing else."""
        found = self._built.get(root)
        if found is None:
            there = _SETUP in self._layout.names(root)
            text = (self._read(os.path.join(root, _SETUP)) or "") if there else ""
            names = frozenset(_EXTENSION.findall(text))
            found = self._built[root] = frozenset() if _ANYWHERE.search(text) else names
        return found


def imported(text: str) -> Iterator[str]:
    """The modules, and what may be modules, that the lines of a text import that are in no block."""
    for line in _IMPORTS.findall(text):
        words = _NO_NAMES.sub(" ", line).split()
        if words[0] == "import":
            yield from (word for word in words[1:] if word != "as")
        elif len(words) > 3 and words[2] == "import":
            yield words[1]
            if words[3] != "*":
                dot = "" if words[1].endswith(".") else "."
                yield from (f"{words[1]}{dot}{word}" for word in words[3:] if word != "as")
