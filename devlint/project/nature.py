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
_ONLY = re.compile(
    r"^try:[ \t]*\n((?:[ \t]+(?:from|import)\s[^\n]+\n)+)except\b[^\n]*:[ \t]*\n[ \t]+raise\b", re.MULTILINE
)
"""What is imported, or that is the end."""
_MARGIN = re.compile(r"^[ \t]+", re.MULTILINE)
_EXTENSION = re.compile(r"\b\w*[eE]xtension\(\s*(?:name\s*=\s*)?[\"']([\w.]+)[\"']")
_FOR_CUDA = "CUDAExtension"
_PLAIN = re.compile(r"^(?![ \t]*(?:from|import)\b).*\bCppExtension\b", re.MULTILINE)
_PLAIN_CALL = re.compile(r"\bCppExtension\(")
_RAISES = re.compile(r"\braise\b")
_SETUP = "setup.py"
_NO_NAMES = re.compile(r"#[^\n]*|[(),\\]")


class Natures:
    """Follows the imports of files that are in no block, without analysing what is imported."""

    def __init__(self, layout: Layout, read: Callable[[str], str | None]) -> None:
        self._layout = layout
        self._read = read
        self._known: dict[str, bool] = {}
        self._imported: dict[str, tuple[str, ...]] = {}
        self._imports: dict[str, frozenset[str]] = {}
        self._built: dict[str, frozenset[str]] = {}

    def needs_accelerator(self, path: str) -> bool:
        """Whether the file cannot be imported, or is of no use, where no accelerator is."""
        found = self._known.get(path)
        if found is None:
            self._known[path] = False  # files that import each other
            found = any(map(knowledge.imports_accelerator, self._names(path))) or self._calls_extension(path)
            found = self._known[path] = found or any(map(self.needs_accelerator, sorted(self._files(path))))
        return found

    def needs_extension(self, path: str) -> bool:
        """Whether the file needs what the project itself builds for CUDA and for nothing else."""
        return any(map(self._calls_extension, (path, *self.imports(path))))

    def imports(self, path: str) -> frozenset[str]:
        """The files of the project that importing it imports, whatever happens."""
        found, todo = set[str](), [path]
        while todo:
            for each in self._files(todo.pop()):
                if each not in found:
                    found.add(each)
                    todo.append(each)
        return frozenset(found)

    def _names(self, path: str) -> tuple[str, ...]:
        """The modules that a file imports whatever happens, or what takes their place."""
        found = self._imported.get(path)
        if found is None:
            text = knowledge.without_texts(self._read(path) or "")
            # In place of others stands, say, the source of an extension that is not built yet.
            apart = (*_ONLY.findall(text), *_INSTEAD.findall(text))
            others = (each for lines in apart for each in imported(re.sub(_MARGIN, "", lines)))
            found = self._imported[path] = (*imported(text), *others)
        return found

    def _files(self, path: str) -> frozenset[str]:
        found = self._imports.get(path)
        if found is None:
            meant = (self._layout.find(name, path) for name in self._names(path))
            found = self._imports[path] = frozenset(each.path for each in meant if each is not None) - {path}
        return found

    def _calls_extension(self, path: str) -> bool:
        names = self._names(path)
        return any(name in built for built in self._extensions_around(path) for name in names)

    def _extensions_around(self, path: str) -> Iterator[frozenset[str]]:
        """The modules that folders around a file, up to its project, build for CUDA and for nothing else."""
        folder, root = os.path.dirname(path), self._layout.project_of(os.path.dirname(path))
        while True:
            yield self._extensions(folder)
            above = os.path.dirname(folder)
            if folder == root or above == folder:
                return
            folder = above

    def _extensions(self, folder: str) -> frozenset[str]:
        found = self._built.get(folder)
        if found is None:
            there = _SETUP in self._layout.names(folder)
            text = (self._read(os.path.join(folder, _SETUP)) or "") if there else ""
            for_cuda = _FOR_CUDA in text and not _builds_anywhere(text)
            found = self._built[folder] = frozenset(_EXTENSION.findall(text)) if for_cuda else frozenset()
        return found


def _builds_anywhere(text: str) -> bool:
    """Whether there is an extension without CUDA as well, where what is missing does not end it."""
    used = _PLAIN.search(text) is not None
    return used and (_RAISES.search(text) is None or _PLAIN_CALL.search(text) is not None)


def imported(text: str, *, certain: bool = False) -> Iterator[str]:
    """The modules, and what may be modules unless they are to be `certain`, that the lines of a text import
    that are in no block."""
    for line in _IMPORTS.findall(text):
        words = _NO_NAMES.sub(" ", line).split()
        if words[0] == "import":
            yield from (word for word in words[1:] if word != "as")
        elif len(words) > 3 and words[2] == "import":
            yield words[1]
            if words[3] != "*" and not certain:
                dot = "" if words[1].endswith(".") else "."
                yield from (f"{words[1]}{dot}{word}" for word in words[3:] if word != "as")
