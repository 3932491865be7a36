"""Which functions and classes of a program the names that it makes up may reach, when it is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from .. import knowledge
from ..bind.names import last_name
from ..bind.walk import descendants
from .mentions import Mentions

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_PLACEHOLDER = re.compile(r"\{[^}]*\}|%[-+ #0-9.]*[sdifr]")
_Import = ast.Import | ast.ImportFrom
_IMPORTLIB = "importlib"
_OBJECTS = ("self", "cls")
_HOLE = "\0"
"""Stands for what nobody knows of a text that is made up."""


class Lookup(NamedTuple):
    """What one expression may reach: in some files, or anywhere; by names of a form, or any."""

    files: frozenset[str] | None
    names: re.Pattern[str] | None = None

    def may_find(self, path: str, name: str | None) -> bool:
        """Whether a name of a file may be meant, or anything in it."""
        if self.files is not None and path not in self.files:
            return False
        return name is None or self.names is None or self.names.fullmatch(name) is not None


_ANYTHING = Lookup(None)
_NO_NAME = re.compile(r"(?!)")
"""What a module is asked for of which all that is used is named where it is used."""


class Lookups:
    """Looks for what evaluates texts, and for what asks modules for names."""

    def __init__(
        self,
        module: Callable[[str, str], str | None],
        below: Callable[[str], frozenset[str]],
        code: Callable[[str], str],
        texts: Callable[[str], Mentions],
    ) -> None:
        """`module` gives the file of a module that a file names, `below` a file and all that it imports."""
        self._module = module
        self._below = below
        self._code = code
        self._texts = texts
        self._known: dict[str, tuple[Lookup, ...]] = {}
        self._of_project: dict[str, tuple[Lookup, ...]] = {}

    def may_find(self, home: str, path: str, name: str | None) -> bool:
        """Whether a program looks something of a file up, under a name that it makes up."""
        found = self._of_project.get(home)
        if found is None:
            files = self._texts(home).matching(knowledge.REACHES_NAMES, "")
            found = self._of_project[home] = tuple({each: None for file in files for each in self.of(file)})
        return any(each.may_find(path, name) for each in found)

    def of(self, path: str) -> tuple[Lookup, ...]:
        """What the expressions of a file look up."""
        found = self._known.get(path)
        if found is None:
            try:
                nodes = descendants(ast.parse(self._code(path)))
            except (SyntaxError, ValueError, RecursionError):
                return (Lookup(self._below(path)),)  # of another Python
            found = self._known[path] = tuple(self._find(nodes, path))
        return found

    def _find(self, nodes: Iterable[ast.AST], path: str) -> Iterator[Lookup]:
        defined = {node.name for node in nodes if isinstance(node, _DEFINITIONS)}
        of_modules = None if any(_may_be_module(_looked_in(node)) for node in nodes) else _NO_NAME
        imports = [node for node in nodes if isinstance(node, _Import)]
        for node in nodes:
            looked_in = _looked_in(node)
            if isinstance(node, ast.Call):
                name = last_name(node.func)
                given = node.args[0] if node.args else None
                if name in knowledge.IMPORTS_MODULE:
                    yield from self._of_module(node, imports, path, of_modules)
                elif isinstance(node.func, ast.Name) and name in knowledge.BUILTIN_LOOKS_UP_ANY - defined:
                    yield from self._of_builtin(given, imports, path)
                elif name in knowledge.FINDS_MODULES:
                    yield Lookup(None, of_modules)
                elif name in knowledge.LOOKS_UP_ANY:
                    yield _ANYTHING
            if looked_in is not None:
                yield from self._of_namespace(looked_in, imports, path)

    def _of_builtin(self, given: ast.expr | None, imports: list[_Import], path: str) -> Iterator[Lookup]:
        text = _made_up(given) if given is not None else _HOLE
        if text.startswith("self."):
            return  # it can only be a method or attribute of that
        called, _, arguments = text.partition("(")
        if _HOLE in arguments:
            called = _HOLE
        elif _HOLE not in called and given is not None:
            return  # it says what it means
        first, last = called.strip().partition(".")[0], called.strip().rpartition(".")[2]
        names = re.compile(re.escape(last).replace(_HOLE, r"\w*")) if last != _HOLE else None
        modules = filter(None, (self._module(each, path) for each in _modules_named(first, imports)))
        yield Lookup(self._below(next(modules, path)), names)

    def _of_module(
        self, call: ast.Call, imports: list[_Import], path: str, names: re.Pattern[str] | None
    ) -> Iterator[Lookup]:
        """What a module that is imported by its name may be asked for."""
        given = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
        found = self._module(given, path) if isinstance(given, str) else None
        if found is not None:
            yield Lookup(self._below(found), names)
        elif not (isinstance(given, str) and _is_of_python(call.func, imports)):
            yield Lookup(None, names)

    def _of_namespace(self, node: ast.expr, imports: list[_Import], path: str) -> Iterator[Lookup]:
        """What is looked up in something, if that may be a module of the project."""
        if isinstance(node, (ast.Subscript, ast.Call)):
            own = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name)
            own = own and node.slice.id == "__name__"  # type: ignore[union-attr]
            yield Lookup(self._below(path)) if own else _ANYTHING  # such as `sys.modules[...]`
        elif isinstance(node, ast.Name):
            for name in _modules_named(node.id, imports):
                found = self._module(name, path)
                if found is not None:
                    yield Lookup(self._below(found))


def _modules_named(name: str, imports: Iterable[_Import]) -> Iterator[str]:
    """The modules that a name may stand for, as the imports of its file tell."""
    for each in imports:
        for alias in each.names:
            if isinstance(each, ast.Import):
                if (alias.asname or alias.name.partition(".")[0]) == name:
                    yield alias.name if alias.asname else name
                    yield alias.name
            elif (alias.asname or alias.name) == name:
                module = f"{'.' * each.level}{each.module or ''}"
                yield f"{module}{alias.name}" if module.endswith(".") else f"{module}.{alias.name}"
                yield module


def _looked_in(node: ast.AST) -> ast.expr | None:
    """What is asked for a name that is made up, or for all that it has."""
    if isinstance(node, ast.Attribute) and node.attr in knowledge.NAMESPACE:
        return node.value
    if isinstance(node, ast.Call) and node.args:
        name = last_name(node.func)
        if name in knowledge.NAMESPACE or (name == knowledge.LOOKS_UP and _is_made_up(node.args)):
            return node.args[0]
    return None


def _may_be_module(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Name):
        return node.id not in _OBJECTS
    return isinstance(node, (ast.Call, ast.Subscript))


def _is_of_python(function: ast.expr, imports: Iterable[_Import]) -> bool:
    """Whether it is Python that imports what a text names, and no function of the project's own."""
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id == _IMPORTLIB
    modules = (each.module for each in imports if isinstance(each, ast.ImportFrom))
    return last_name(function) in knowledge.BUILTIN_LOOKS_UP_ANY or _IMPORTLIB in modules


def _is_made_up(arguments: list[ast.expr]) -> bool:
    return len(arguments) > 1 and not isinstance(arguments[1], ast.Constant)


def _made_up(node: ast.expr) -> str:
    """A text, with a hole for each part that nobody knows."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_made_up, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _made_up(node.left) + _made_up(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        return _PLACEHOLDER.sub(_HOLE, str(node.left.value))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _PLACEHOLDER.sub(_HOLE, _made_up(node.func.value))
    return _HOLE
