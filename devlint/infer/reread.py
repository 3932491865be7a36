"""Which of what is loaded the same file saves: at the same path, as far as that can be told."""

from __future__ import annotations

import ast
import posixpath
from collections import Counter
from collections.abc import Iterator

from .. import knowledge
from .definitions import Function
from .settle import Settled

_MAX_NAMES = 4
"""So many variables are followed from one to the next."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
Path = tuple[str, str]
"""The class whose attributes it is made of, else empty, and what it looks like."""


class Reread:
    """Compares the paths of what a file saves and loads."""

    def __init__(self, settled: Settled) -> None:
        self._settled = settled
        self._saved: frozenset[Path] | None = None
        self._several: dict[str, frozenset[str]] = {}
        self._assigned: dict[str, dict[str, list[ast.expr | None]]] = {}

    def is_own(self, function: str, path: ast.expr) -> bool:
        """Whether a function loads from a path at which the file saves."""
        if self._saved is None:
            self._saved = frozenset(
                each
                for saver, log in self._settled.logs.items()
                for raw in log.calls.values()
                if "saves" in knowledge.topics_of_call(raw.callee)
                for name, at, _ in raw.args.named()
                if name == knowledge.SAVED_AT
                for each in self._looks(saver, at, _MAX_NAMES)
            )
        return bool(self._saved) and not self._saved.isdisjoint(self._looks(function, path, _MAX_NAMES))

    def _looks(self, function: str, path: ast.expr, left: int) -> Iterator[Path]:
        """What a path looks like, by what does not differ between the functions of a class or file."""
        if isinstance(path, ast.Constant) and isinstance(path.value, str):
            yield "", posixpath.normpath(path.value)
            return
        if isinstance(path, ast.Name) and left and (given := self._given(function, path.id)):
            for each in given:
                yield from self._looks(function, each, left - 1)
            return
        names = {part.id for part in ast.walk(path) if isinstance(part, ast.Name)}
        local = names & self._local(function).keys()
        known = self._settled.file.functions.get(function)
        owner = known.owner if known is not None and known.owner else ""
        if known is not None and owner and local == set(known.positional[:1]):
            attributes = {part.attr for part in ast.walk(path) if isinstance(part, ast.Attribute)}
            if attributes.isdisjoint(self._varying(owner)) and names.isdisjoint(self._varying("")):
                yield owner, ast.unparse(path)
        elif names and not local:
            if names.isdisjoint(self._varying("")):
                yield "", ast.unparse(path)
        elif isinstance(path, ast.Call) and len(path.args) == 1:  # what finds a file of that name
            yield from self._looks(function, path.args[0], left)

    def _varying(self, owner: str) -> frozenset[str]:
        """The attributes of a class, or the variables of the module, that are assigned in several places."""
        found = self._several.get(owner)
        if found is None:
            cls = self._settled.file.classes.get(owner)
            node = cls.node if cls is not None else self._settled.file.module.node
            counts = Counter(
                _assigned(node, ast.Attribute if owner else ast.Name) if node is not None else ()
            )
            found = frozenset(name for name, count in counts.items() if count > 1)
            self._several[owner] = found
        return found

    def _given(self, function: str, name: str) -> list[ast.expr]:
        """What a variable of a function is, if that is one thing: what is assigned, or the default."""
        found = self._local(function).get(name, [])
        return [each for each in found if each is not None] if len(found) == 1 else []

    def _local(self, function: str) -> dict[str, list[ast.expr | None]]:
        """The variables of a function, and what is assigned to them; None for what is not known."""
        found = self._assigned.get(function)
        if found is None:
            found = self._assigned[function] = {}
            known = self._settled.file.functions.get(function)
            while known is not None and known.args is not None:
                _note(known, found)
                known = known.outer
        return found


def _assigned(node: ast.AST, what: type[ast.Attribute] | type[ast.Name]) -> Iterator[str]:
    """The attributes that a class assigns, or the variables of a module, once for each place."""
    todo = [node]
    while todo:
        for part in ast.iter_child_nodes(todo.pop()):
            if isinstance(part, what) and isinstance(part.ctx, ast.Store):
                yield part.id if isinstance(part, ast.Name) else part.attr
            if what is ast.Attribute or not isinstance(part, _SCOPES):
                todo.append(part)


def _note(function: Function, found: dict[str, list[ast.expr | None]]) -> None:
    """Add the variables of one function, and the defaults of its parameters that are constants."""
    args = function.args
    assert args is not None
    positional = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(positional) - len(args.defaults)) + args.defaults
    for arg, default in (
        *zip(positional, defaults, strict=True),
        *zip(args.kwonlyargs, args.kw_defaults, strict=True),
    ):
        found.setdefault(arg.arg, []).append(default if isinstance(default, ast.Constant) else None)
    plain = {
        part.targets[0]: part.value
        for part in ast.walk(function.node)
        if isinstance(part, ast.Assign) and len(part.targets) == 1
    }
    for part in ast.walk(function.node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.setdefault(part.id, []).append(plain.get(part))
