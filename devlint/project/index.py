"""What the files of a project define: summaries, computed when somebody asks, each once a run."""

from __future__ import annotations

import ast
import os
import sys
import warnings
from collections.abc import Callable

from ..core.kinds import Kind
from ..core.summary import ClassSummary, FunctionSummary, ModuleSummary
from ..core.values import Api, Defined, Value
from .resolve import Layout

Answer = Value | FunctionSummary | ClassSummary | None
_MAX_DEPTH = 10
"""Files deeper in a chain of imports are unknown to the first."""
_MAX_FORWARDS = 16


class Project:
    """The files around those that are linted; they are read, never run."""

    def __init__(
        self,
        read: Callable[[str], str | None],
        summarise: Callable[[ast.Module, str, View], ModuleSummary],
    ) -> None:
        """`read` gives a file's text, None where that cannot be had; `summarise` analyses a module."""
        self.layout = Layout()
        self._read = read
        self._summarise = summarise
        self._modules: dict[str, ModuleSummary | None] = {}
        self._running: list[_Running] = []
        self._waiting: dict[str, tuple[ModuleSummary | None, int]] = {}
        """What is known so far of files whose circle is not closed yet, with the lowest running file that they
        ask for: each is analysed once, however many of the circle ask for it."""
        self._paths: dict[str, str] = {}
        """The file of each module by its name."""

    def view(self, path: str) -> View:
        """The project as one of its files sees it."""
        path = os.path.abspath(path)
        self._paths.setdefault(self.layout.module_name(path), path)
        return View(self, path)

    def module(self, path: str) -> ModuleSummary | None:
        """What a file defines; None where it cannot be read, or asks for itself."""
        if path in self._modules:
            return self._modules[path]
        for running in self._running:
            if running.path == path:
                self._depends(running.index)
                return None
        if path in self._waiting:
            summary, low = self._waiting[path]
            self._depends(low)
            return summary
        if len(self._running) >= _MAX_DEPTH:
            return None
        return self._analyse(path)

    def _depends(self, index: int) -> None:
        """What is running asks, in the end, for a file that is itself running."""
        for above in self._running[index:]:
            above.low = min(above.low, index)

    def _analyse(self, path: str) -> ModuleSummary | None:
        running = _Running(path, len(self._running))
        self._running.append(running)
        summary = self._run(path, frozenset())
        self._running.pop()
        running.circle.add(path)
        if running.low < running.index:
            below = self._running[-1]
            below.low = min(below.low, running.low)
            below.circle |= running.circle
            self._waiting[path] = summary, running.low
            return summary
        if len(running.circle) > 1:
            # Files that ask each other: each is told of all but those, whoever was asked first.
            self._waiting[path] = summary, running.index
            for each in running.circle:
                self._waiting[each] = self._waiting[each][0], sys.maxsize  # waits for nobody below any more
            for each in sorted(running.circle):
                self._modules[each] = self._run(each, frozenset(running.circle - {each}))
            for each in running.circle:
                del self._waiting[each]
        else:
            self._modules[path] = summary
        return self._modules[path]

    def _run(self, path: str, hidden: frozenset[str]) -> ModuleSummary | None:
        name = self.layout.module_name(path)
        self._paths.setdefault(name, path)
        text = self._read(path)
        if text is None:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the other file's own, such as invalid escapes
                tree = ast.parse(text)
            return self._summarise(tree, name, View(self, path, hidden))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def named(self, dotted: str) -> tuple[str, str] | None:
        """The file and the rest of a name that a summary gave."""
        module, rest = dotted, ""
        while module:
            path = self._paths.get(module)
            if path is not None:
                return path, rest
            module, _, last = module.rpartition(".")
            rest = f"{last}.{rest}" if rest else last
        return None


class _Running:
    """A file that is being analysed."""

    __slots__ = ("circle", "index", "low", "path")

    def __init__(self, path: str, index: int) -> None:
        self.path = path
        self.index = index
        self.low = index
        self.circle: set[str] = set()


class View:
    """The project as one file sees it: the `Index` of its analysis."""

    def __init__(self, project: Project, path: str, hidden: frozenset[str] = frozenset()) -> None:
        self._project = project
        self.path = path
        self._hidden = hidden
        """Files that ask for this one in turn."""

    @property
    def name(self) -> str:
        """The name of the file's module."""
        return self._project.layout.module_name(self.path)

    def find(self, dotted: str) -> Answer:
        """What the project defines under a dotted name, as imported here or as a summary gave it."""
        return self._follow(dotted, self.path, _MAX_FORWARDS)

    def _follow(self, dotted: str, importer: str, left: int) -> Answer:
        found = self._project.layout.find(dotted, importer)
        path, rest = found if found is not None else (self._project.named(dotted) or ("", ""))
        if not path or not rest or path == self.path or path in self._hidden or not left:
            return None
        summary = self._project.module(path)
        if summary is None:
            return None
        full = f"{summary.name}.{rest}"
        known = summary.functions.get(full) or summary.classes.get(full)
        if known is not None:
            return known
        first, _, others = rest.partition(".")
        value = summary.values.get(first)
        if value is None:
            return None
        if value.kind is Kind.LIBRARY and isinstance(value.known, Api):
            onward = f"{value.known.dotted}.{others}" if others else value.known.dotted
            forwarded = self._follow(onward, path, left - 1)
            if forwarded is None and self._project.layout.find(onward, path) is None:
                return Value(Kind.LIBRARY, known=Api(onward)) if not onward.startswith(".") else None
            return forwarded
        if isinstance(value.known, Defined) and value.kind in (Kind.FUNCTION, Kind.CLASS):
            onward = f"{value.known.dotted}.{others}" if others else value.known.dotted
            if onward != dotted:
                return self._follow(onward, path, left - 1)
            return None
        return value if not others else None
