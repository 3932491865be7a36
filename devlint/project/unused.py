"""Whether nothing in a program uses a function, class or file of it: told by the texts of all its files.

A name that no file of the program has, besides where it is defined and imported, is used by nobody: others
do not import what is no package. What is decorated, may take the place of something inherited, or can be
reached by a name that is made up, may be used all the same.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from .. import knowledge
from ..bind.names import last_name
from ..bind.walk import descendants
from .choices import Choices, cells
from .mentions import Mentions
from .resolve import Layout

_COMMENT = re.compile(r"#[^\n]*")
_IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+import[ \t]+(?:\([^)]*\)|[^\n]*(?:\\\n[^\n]*)*)|import[ \t]+[^\n]*)",
    re.MULTILINE,
)
_PACKAGE = "__init__"
_NOTEBOOK = ".ipynb"
_ANYBODYS = re.compile(r"__\w+__\Z")
"""What Python itself calls."""
_QUIET = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AnnAssign,
)
"""The statements of a file that does nothing when it is run."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Part(NamedTuple):
    """A function or class around a place, and its lines."""

    name: str
    first: int
    last: int


def parts_around(tree: ast.Module, line: int) -> tuple[Part, ...]:
    """The functions and classes around a line that only their names can reach, the outermost first."""
    found: list[Part] = []
    owner: ast.ClassDef | None = None
    body: list[ast.stmt] = tree.body
    while (
        node := next((each for each in _definitions(body) if _first(each) <= line <= _last(each)), None)
    ) is not None:
        inherits = owner is not None and not _has_no_hooks(owner)
        if not (
            node.decorator_list or inherits or _ANYBODYS.match(node.name) or _is_of_modules(node.name, owner)
        ):
            found.append(Part(node.name, _first(node), _last(node)))
        if not isinstance(node, ast.ClassDef):
            break
        owner, body = node, node.body
    return tuple(found)


def is_quiet(tree: ast.Module) -> bool:
    """Whether a file does nothing when it is run."""
    return all(isinstance(each, _QUIET) or _is_text(each) for each in tree.body)


class Unused:
    """Looks for uses of names in the files of programs."""

    def __init__(self, choices: Choices, layout: Layout, read: Callable[[str], str | None]) -> None:
        """`read` gives a file's text."""
        self._choices = choices
        self._layout = layout
        self._read = read
        self._books: dict[str, Mentions] = {}
        self._reached: dict[str, bool] = {}
        self._plain: dict[str, str] = {}

    def unused(self, path: str, parts: tuple[Part, ...], quiet: bool) -> tuple[bool, frozenset[str]]:
        """Whether nothing uses one of the parts, or the whole file, if quiet; and the files that tell."""
        if not parts and not quiet:
            return False, frozenset()
        if self._choices.is_library(path):
            return False, frozenset()
        home = self._choices.home(path)
        alone = not quiet and not self._choices.is_imported(path)  # what has its names as well is another
        if not self._layout.files(home) or (self._looks_up(path) if alone else self._reaches_names(home)):
            return False, frozenset()
        if quiet and not self._choices.importers(path):
            return self._is_left_out(path, home), frozenset()
        told = set[str]()
        for part in parts:
            mentioning = [path] if alone else self._mentioning(home, part.name)
            told.update(mentioning)
            if not any(self._uses(each, part, path) for each in mentioning):
                return True, frozenset(told)
        return False, frozenset(told)

    def calls_are_known(self, path: str, name: str) -> tuple[bool, frozenset[str]]:
        """Whether nothing but the program calls what has a name, and nothing has it but to call it."""
        home = self._choices.home(path)
        if self._choices.is_library(path) or _ANYBODYS.match(name) or name in knowledge.MODULE_HOOKS:
            return False, frozenset()
        if not self._layout.files(home) or self._reaches_names(home):
            return False, frozenset()
        told = self._mentioning(home, name)
        passed_on = re.compile(rf"(?<!\bdef )\b{name}\b(?!\s*\()")
        return not any(passed_on.search(self._text(each)) for each in told), frozenset(told)

    def _mentioning(self, home: str, name: str) -> list[str]:
        return [*self._choices.mentioning(home, name), *self._notebooks(home).of(name)]

    def _notebooks(self, home: str) -> Mentions:
        if home not in self._books:
            paths = self._layout.notebooks(home)
            self._books[home] = Mentions(paths, lambda path: cells(self._read(path) or ""))
        return self._books[home]

    def _uses(self, path: str, part: Part, own: str) -> bool:
        """Whether a file has a name where nothing defines or imports it, and not in the definition itself."""
        text = self._text(path)
        if path == own:
            rows = (self._read(path) or "").splitlines(keepends=True)
            text = _plain("".join((*rows[: part.first - 1], *rows[part.last :])), own)
        return re.search(rf"(?<!\bdef )(?<!\bclass )\b{part.name}\b", text) is not None

    def _text(self, path: str) -> str:
        """The text of a file without its comments, and without what it imports under its own name."""
        found = self._plain.get(path)
        if found is None:
            text = self._read(path) or ""
            found = self._plain[path] = _plain(cells(text) if path.endswith(_NOTEBOOK) else text, path)
        return found

    def _is_left_out(self, path: str, home: str) -> bool:
        """Whether nothing names a file that only defines something, and others import what lies beside it."""
        stem = os.path.splitext(os.path.basename(path))[0]
        if stem == _PACKAGE or self._mentioning(home, stem) not in ([], [path]):
            return False
        folder = os.path.dirname(path)
        beside = (
            each for each in self._layout.files(home) if os.path.dirname(each) == folder and each != path
        )
        return any(map(self._choices.importers, beside))

    def _reaches_names(self, home: str) -> bool:
        """Whether a program looks names of its own up that it makes up."""
        found = self._reached.get(home)
        if found is None:
            files = self._choices.texts(home).matching(knowledge.REACHES_NAMES, "")
            found = self._reached[home] = any(map(self._looks_up, files))
        return found

    def _looks_up(self, path: str) -> bool:
        text = self._read(path) or ""
        try:
            tree = ast.parse(cells(text) if path.endswith(_NOTEBOOK) else text)
        except (SyntaxError, ValueError, RecursionError):
            return True
        nodes = descendants(tree)
        defined = {node.name for node in nodes if isinstance(node, _DEFINITIONS)}
        imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
        for node in nodes:
            if isinstance(node, ast.Call):
                name = last_name(node.func)
                made_up = len(node.args) > 1 and not isinstance(node.args[1], ast.Constant)
                builtin = isinstance(node.func, ast.Name) and name in knowledge.BUILTIN_LOOKS_UP_ANY - defined
                if (builtin and not _is_of_self(node)) or name in knowledge.LOOKS_UP_ANY:
                    return True
                looked_in = (
                    node.args[:1]
                    if name in knowledge.NAMESPACE or (made_up and name == knowledge.LOOKS_UP)
                    else []
                )
            else:
                inside = isinstance(node, ast.Attribute) and node.attr in knowledge.NAMESPACE
                looked_in = [node.value] if inside and isinstance(node, ast.Attribute) else []
            if any(self._is_own_module(each, imports, path) for each in looked_in):
                return True
        return False

    def _is_own_module(
        self, node: ast.expr, imports: Iterable[ast.Import | ast.ImportFrom], path: str
    ) -> bool:
        """Whether an expression may be a module of the project, as the imports of its file tell."""
        if not isinstance(node, ast.Name):
            return isinstance(node, (ast.Subscript, ast.Call))  # such as `sys.modules[...]`
        for each in imports:
            if isinstance(each, ast.Import):
                for alias in each.names:
                    if (alias.asname or alias.name.partition(".")[0]) == node.id:
                        return self._layout.find(alias.name, path) is not None
            else:
                for alias in each.names:
                    if (alias.asname or alias.name) == node.id:
                        dots = "." * each.level
                        names = f"{dots}{each.module or ''}", f"{dots}{each.module or ''}.{alias.name}"
                        return any(self._layout.find(name, path) is not None for name in names)
        return False


def _is_of_self(call: ast.Call) -> bool:
    """Whether what is evaluated begins with `self.`: it can only be a method or attribute of that."""
    text = call.args[0] if call.args else call
    while isinstance(text, ast.BinOp):
        text = text.left
    if isinstance(text, ast.JoinedStr) and text.values:
        text = text.values[0]
    return isinstance(text, ast.Constant) and str(text.value).startswith("self.")


def _plain(text: str, path: str) -> str:
    text = _COMMENT.sub("", text)
    if os.path.basename(path).startswith(_PACKAGE):
        return text
    return _IMPORTS.sub(lambda found: found[0] if re.search(r"\bas\b", found[0]) else "", text)


def _definitions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for node in body:
        if isinstance(node, _DEFINITIONS):
            yield node
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from _definitions(
                [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.stmt)]
            )


def _first(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return min((node.lineno, *(each.lineno for each in node.decorator_list)))


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _has_no_hooks(owner: ast.ClassDef) -> bool:
    """Whether nothing that a class inherits calls methods by their names, but for those of modules."""
    return not owner.keywords and all(last_name(base) in knowledge.PLAIN_BASES for base in owner.bases)


def _is_of_modules(name: str, owner: ast.ClassDef | None) -> bool:
    """Whether a module's own code calls a method of that name."""
    return (
        owner is not None and bool(owner.bases) and (name.startswith("_") or name in knowledge.MODULE_HOOKS)
    )


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
