"""Which file a dotted name means to the file that imports it: packages, src layouts, scripts, stubs.

Only files of the project at hand are found: what is installed is known by `knowledge`, or not at all.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from .added import MENTIONED, added
from .world import APART, COPIES, ROOTS, SUFFIXES, may_be_folder, names_in

_NO_CODE = frozenset({"__pycache__", "node_modules", "site-packages"})
_BUILDS = frozenset({"setup.py"})
"""In a package, a module that is called so."""
_DECLARATIONS = ("pyproject.toml", "setup.py", "setup.cfg")
_DECLARED = re.compile(r"""\b(?<!ension\()name\s*=\s*["']?([A-Za-z][\w.-]*)""")
"""The first name; not that of an extension."""
_OTHERS = frozenset({"torch", "numpy"})
"""What nobody's checkout is, whatever it is called or says first."""
_MAX_UP = 12
_MAX_FILES = 4000
"""Who calls a function is not looked for in larger projects."""
_MAX_FOLDERS = 1000
"""Of what has no mark; it may be the home of much else."""


class Found(NamedTuple):
    """A module's file, and what of the dotted name lies inside the module."""

    path: str
    rest: str


class Layout:
    """The folders of one run, each read once."""

    def __init__(
        self,
        names: Callable[[str], frozenset[str]] = names_in,
        read: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        """`names` gives the names in a folder, `read` the text of a file."""
        self._names_in = names
        self._read = read
        self._names: dict[str, frozenset[str]] = {}
        self._roots: dict[str, tuple[str, ...]] = {}
        self._files: dict[str, tuple[str, ...]] = {}
        self._notebooks: dict[str, tuple[str, ...]] = {}
        self.find = lru_cache(maxsize=None)(self._find)
        self.project_of = lru_cache(maxsize=None)(self._project_of)
        self.module_name = lru_cache(maxsize=None)(self._module_name)
        self._names_of = lru_cache(maxsize=None)(self._declared)
        self._additions = lru_cache(maxsize=None)(self._read_additions)

    def lists(self, path: str) -> bool:
        """Whether a file was there when its folder was read."""
        return os.path.basename(path) in self._listed(os.path.dirname(path))

    def _module_name(self, path: str) -> str:
        """The name of a file's module, unique in the project: its way from the project's root."""
        root = self.project_of(os.path.dirname(path))
        relative = os.path.relpath(path, root)
        stem = os.path.splitext(relative)[0].replace(os.sep, ".")
        return stem.removesuffix(".__init__")

    def _project_of(self, folder: str) -> str:
        """The root of the project that a folder belongs to; without a mark, of the package around it."""
        above, copied = folder, ""
        for _ in range(_MAX_UP):
            marks = self._listed(above).intersection(ROOTS)
            copied = copied or (above if not self._listed(above).isdisjoint(COPIES) else "")
            if marks and not (marks == _BUILDS and "__init__.py" in self._listed(os.path.dirname(above))):
                return above
            parent = os.path.dirname(above)
            if parent == above:
                break
            above = parent
        return copied or self._beside_programs(self._package_root(folder))

    def _beside_programs(self, folder: str) -> str:
        """The folder of the programs beside which a folder of modules lies that need no `__init__.py`."""
        for _ in range(_MAX_UP):
            parent = os.path.dirname(folder)
            listed = self._listed(parent) if os.path.basename(folder).isidentifier() else ()
            if parent == folder or not any(name.endswith(".py") for name in listed):
                break
            folder = parent
        return folder

    def is_package(self, folder: str) -> bool:
        """Whether a folder is a package, which one with a name that no import can say is not."""
        return os.path.basename(folder).isidentifier() and "__init__.py" in self._listed(folder)

    def _package_root(self, folder: str) -> str:
        parent = os.path.dirname(folder)
        # A folder of a package may well be without a file of its own.
        while parent != folder and any(map(self.is_package, (folder, parent))):
            folder, parent = parent, os.path.dirname(parent)
        return folder

    def _find(self, dotted: str, importer: str) -> Found | None:
        """The file that a dotted name means in the file `importer`, or None where the project has none.

        A name with leading dots is relative to the importer's folder.
        """
        folder = os.path.dirname(importer)
        if dotted.startswith("."):
            names = dotted.lstrip(".")
            for _ in range(len(dotted) - len(names) - 1):
                folder = os.path.dirname(folder)
            return self._under(folder, names.split(".") if names else [])
        names_of = dotted.split(".")
        first: Found | None = None
        for root in chain(self._roots_of(folder), self._added_by(importer, names_of[0])):
            found = self.found_in(root, dotted)
            if found is None:
                continue
            if first is None or found.rest.count(".") < first.rest.count("."):
                first = found
            if "." not in first.rest:
                return first  # else a module beside the importer may only be called as the package is
        if first is not None:
            return first
        project = self.project_of(folder)
        if names_of[0] in self._names_of(project):
            return self._under(project, names_of[1:])
        return None

    def _declared(self, project: str) -> frozenset[str]:
        """What a project may call its root: its folder, or what it declares where that is renamed."""
        marks = self._listed(project).intersection(_DECLARATIONS)
        texts = (self._read(os.path.join(project, mark)) or "" for mark in sorted(marks))
        named = (
            found[1].replace("-", "_") for text in texts if (found := _DECLARED.search(text)) is not None
        )
        return frozenset((os.path.basename(project), *named)) - sys.stdlib_module_names - _OTHERS

    def found_in(self, folder: str, dotted: str) -> Found | None:
        """The file that an absolute name means where imports start in a folder."""
        first = dotted.partition(".")[0]
        listed = self._listed(folder)
        if any(f"{first}{suffix}" in listed for suffix in ("", *SUFFIXES)):
            return self._under(folder, dotted.split("."))
        return None

    def holds(self, folder: str, name: str) -> bool:
        """Whether a folder has a module of a name, or a folder of some; `/data` and `/opt` are none."""
        listed = self._listed(folder)
        if f"{name}.py" in listed:
            return True
        return name in listed and any(
            each.endswith(".py") for each in self._listed(os.path.join(folder, name))
        )

    def names(self, folder: str) -> frozenset[str]:
        """The names in a folder."""
        return self._listed(folder)

    def _roots_of(self, folder: str) -> tuple[str, ...]:
        """Where absolute imports of a folder's files may start: the importer's own folder is first, as in a
        script, then what holds its package, up to the project's root, and `src` folders on the way.
        """
        roots = self._roots.get(folder)
        if roots is None:
            project = self.project_of(folder)
            found = [folder] if not self.is_package(folder) else []
            above = self._package_root(folder)
            if project.startswith(os.path.join(above, "")):
                found += self._with_sources(project)  # which is written as a package itself
                found.append(above)
            else:
                for _ in range(_MAX_UP):
                    found += self._with_sources(above)
                    if above == project or os.path.dirname(above) == above:
                        break
                    above = os.path.dirname(above)
            roots = self._roots[folder] = tuple(dict.fromkeys(found))
        return roots

    def _added_by(self, importer: str, name: str) -> Iterator[str]:
        """The folders that a file itself adds to where imports start, unless no project has the name."""
        if name not in sys.stdlib_module_names and name not in _OTHERS:
            yield from self._additions(importer)

    def _read_additions(self, importer: str) -> tuple[str, ...]:
        text = self._read(importer) or ""
        found = added(text, importer) if MENTIONED in text else ()
        starts = (os.path.dirname(importer), self.project_of(os.path.dirname(importer)))
        paths = (os.path.normpath(os.path.join(start, each)) for start in starts for each in found)
        return tuple(dict.fromkeys(paths))

    def _with_sources(self, folder: str) -> list[str]:
        return [folder, os.path.join(folder, "src")] if "src" in self._listed(folder) else [folder]

    def _under(self, folder: str, names: list[str]) -> Found | None:
        """Go down from a folder as far as there are packages, to a module."""
        for index, name in enumerate(names):
            listed = self._listed(folder)
            for suffix in SUFFIXES:
                if f"{name}{suffix}" in listed and not self._is_package(folder, name):
                    return Found(os.path.join(folder, f"{name}{suffix}"), ".".join(names[index + 1 :]))
            if name not in listed:
                return self._init(folder, names[index:]) if index else None
            folder = os.path.join(folder, name)
        return self._init(folder, [])

    def _is_package(self, folder: str, name: str) -> bool:
        return name in self._listed(folder) and "__init__.py" in self._listed(os.path.join(folder, name))

    def _init(self, folder: str, rest: list[str]) -> Found | None:
        for suffix in SUFFIXES:
            if f"__init__{suffix}" in self._listed(folder):
                return Found(os.path.join(folder, f"__init__{suffix}"), ".".join(rest))
        return None

    def files(self, root: str) -> tuple[str, ...]:
        """The Python files of a project, in order; none where there are too many, or where it has no mark."""
        found = self._files.get(root)
        if found is None:
            found = self._files[root] = tuple(self._walk(root))
        return found

    def notebooks(self, root: str) -> tuple[str, ...]:
        """The notebooks among the files of a project, in order."""
        self.files(root)
        return self._notebooks.get(root, ())

    def _walk(self, root: str) -> list[str]:
        found: list[str] = []
        notebooks: list[str] = []
        todo = [root]
        marked = not self._listed(root).isdisjoint(ROOTS)
        folders = 0
        while todo:
            folder = todo.pop()
            folders += 1
            if folders > _MAX_FOLDERS and not marked:
                return []
            listed = self._listed(folder)
            if not APART.isdisjoint(listed):
                continue
            for name in sorted(listed, reverse=True):
                path = os.path.join(folder, name)
                if name.endswith(".py"):
                    found.append(path)
                elif name.endswith(".ipynb"):
                    notebooks.append(path)
                elif may_be_folder(name) and name not in _NO_CODE and self._listed(path):
                    todo.append(path)
            if len(found) > _MAX_FILES or len(todo) > _MAX_FILES:
                return []
        self._notebooks[root] = tuple(sorted(notebooks))
        return sorted(found)

    def _listed(self, folder: str) -> frozenset[str]:
        names = self._names.get(folder)
        if names is None:
            names = self._names[folder] = self._names_in(folder)
        return names
