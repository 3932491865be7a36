"""Whether nothing in a program uses a function, class or file of it: told by the texts of all its files.

A name that no file of the program has, besides where it is defined and imported, is used by nobody: others
do not import what is no package. What is decorated, may take the place of something inherited, or can be
reached by a name that is made up, may be used all the same.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .. import knowledge
from ..bind.names import last_name, names_in
from ..source.text import NOTEBOOK
from .broken import Broken
from .choices import Choices, cells
from .lookups import Lookups
from .mentions import Mentions
from .reach import reached
from .resolve import Layout

_COMMENT = re.compile(r"#[^\n]*")
_IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+import[ \t]+(?:\([^)]*\)|[^\n]*(?:\\\n[^\n]*)*)|import[ \t]+[^\n]*)",
    re.MULTILINE,
)
_FROM = re.compile(
    r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*(?:\\\n[^\n]*)*)", re.MULTILINE
)
_EXPORTS = re.compile(r"^__all__\s*\+?=\s*[\[(][^\])]*[\])]", re.MULTILINE)
"""The names that a file offers to others: who uses one names it."""
_PACKAGE = "__init__"
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
_WORD = re.compile(r"\w+|\*")
_IMPORTING = (ast.Import, ast.ImportFrom)
_OF_PROGRAMS = knowledge.ARGUMENTS | knowledge.ARGUMENT_PARSERS | knowledge.TRAINS_OR_SAVES
"""Names in what is a program, whoever imports it as well."""
_MAX_STEPS = 4
"""What is used by what is used by so many others is used."""
_MAX_USES = 128
"""So many are looked at for one question; what has more of them in code that may be unused counts as used."""
_MAX_FOLDERS = 3
"""So many of the folders that a file is in may be packages by which others import what it defines."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Part(NamedTuple):
    """A function or class around a place, and its lines."""

    name: str
    first: int
    last: int
    within: bool = False
    """Whether it is part of a class: any object may have it."""


class _Asked(NamedTuple):
    """A part of a file, or the whole of it, of which it is asked whether anything uses it."""

    path: str
    name: str


class _Definition(NamedTuple):
    """A function or class, what of it only its name can reach, and what it defines, if it is a class."""

    part: Part
    counts: bool
    inside: tuple[_Definition, ...]


class _Outline(NamedTuple):
    """What is kept of the syntax of a file."""

    quiet: bool
    definitions: tuple[_Definition, ...]
    trials: tuple[range, ...]
    """The lines of what runs only where the file is run by itself, unless that makes it a program."""


def parts_around(tree: ast.Module, line: int) -> tuple[Part, ...]:
    """The functions and classes around a line that only their names can reach, the outermost first."""
    return _parts_around(_outlined(tree.body, None), line)


def _parts_around(definitions: tuple[_Definition, ...], line: int) -> tuple[Part, ...]:
    found: list[Part] = []
    while (
        each := next((each for each in definitions if each.part.first <= line <= each.part.last), None)
    ) is not None:
        if each.counts:
            found.append(each.part)
        definitions = each.inside
    return tuple(found)


def _outlined(body: list[ast.stmt], owner: ast.ClassDef | None) -> tuple[_Definition, ...]:
    inherits = owner is not None and not _has_no_hooks(owner)
    return tuple(
        _Definition(
            Part(node.name, _first(node), _last(node), owner is not None),
            not (
                node.decorator_list
                or inherits
                or _ANYBODYS.match(node.name)
                or _is_of_modules(node.name, owner)
            ),
            _outlined(node.body, node) if isinstance(node, ast.ClassDef) else (),
        )
        for node in _definitions(body)
    )


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
        self._broken = Broken(choices, layout, read)
        self._books: dict[str, Mentions] = {}
        self._plain: dict[str, str] = {}
        self._outlines: dict[str, _Outline | None] = {}
        self._reached: dict[str, frozenset[str]] = {}
        self._programs: dict[str, bool] = {}
        self._lines: dict[tuple[str, str], tuple[int, ...]] = {}
        self._left = 0
        """How many more uses are looked at for the question at hand."""
        self._lookups = Lookups(choices.named, self._below, self._code, choices.texts)

    def unused(self, path: str, parts: tuple[Part, ...], quiet: bool) -> tuple[bool, frozenset[str]]:
        """Whether nothing uses one of the parts, or the whole file, if quiet; and the files that tell."""
        broken, files = self._broken.is_broken(path)
        if broken:
            return True, files
        if (not parts and not quiet) or self._choices.is_library(path):
            return False, files
        if not self._layout.files(self._choices.home(path)):
            return False, files
        told, self._left = set[str](files), _MAX_USES
        return self._is_unused(path, parts, quiet, told, ()), frozenset(told)

    def calls_are_known(self, path: str, name: str) -> tuple[bool, frozenset[str]]:
        """Whether nothing but the program calls what has a name, and nothing has it but to call it."""
        home = self._choices.home(path)
        if self._choices.is_library(path) or _ANYBODYS.match(name) or name in knowledge.MODULE_HOOKS:
            return False, frozenset()
        if not self._layout.files(home) or self._lookups.may_find(home, path, name):
            return False, frozenset()
        told = self._mentioning(home, name)
        passed_on = re.compile(rf"(?<!\bdef )\b{name}\b(?!\s*\()")
        return not any(passed_on.search(self._text(each)) for each in told), frozenset(told)

    def _is_unused(
        self, path: str, parts: tuple[Part, ...], quiet: bool, told: set[str], asked: tuple[_Asked, ...]
    ) -> bool:
        """Whether a place is never come to; what is `asked` about already does not come to it either."""
        if quiet:
            importers = self._importers(path)
            told |= importers
            if not importers:
                return self._is_left_out(path)
            around = (*asked, _Asked(path, ""))
            if not any(self._is_come_to(each, told, around) for each in sorted(importers)):
                return True
        return any(self._is_unused_part(path, part, quiet, told, asked) for part in parts)

    def _is_come_to(self, path: str, told: set[str], asked: tuple[_Asked, ...]) -> bool:
        """Whether a file is run, or anything imports it that is."""
        if _Asked(path, "") in asked:
            return False
        known = self._outline(path)
        if self._broken.is_broken(path)[0]:
            return False
        if len(asked) > _MAX_STEPS or known is None or not known.quiet or not self._is_of_program(path):
            return True
        return not self._is_unused(path, (), True, told, asked)

    def _is_unused_part(
        self, path: str, part: Part, quiet: bool, told: set[str], asked: tuple[_Asked, ...]
    ) -> bool:
        home, key = self._choices.home(path), _Asked(path, part.name)
        if key in asked:
            return True
        if len(asked) > _MAX_STEPS or self._lookups.may_find(home, path, part.name):
            return False
        by_name = self._lookups.may_find(home, path, None)
        # What has the names of a file that nobody imports is something else.
        alone = not (quiet or by_name or self._choices.is_imported(path))
        for each in [path] if alone else self._mentioning(home, part.name):
            told.add(each)
            if each == path or part.within or by_name or self._may_mean(each, part.name, path):
                if not (each == path or part.within or by_name) and self._means_another(
                    each, part.name, path
                ):
                    continue
                lines = self._uses(each, part, path)
                if any(self._is_used_at(each, line, told, (*asked, key)) for line in lines):
                    return False
        return True

    def _is_used_at(self, path: str, line: int, told: set[str], asked: tuple[_Asked, ...]) -> bool:
        """Whether control may come to a line."""
        known, self._left = self._outline(path), self._left - 1
        if self._left < 0 or known is None or not self._is_of_program(path):
            return True
        if self._broken.is_broken(path)[0]:
            return False
        if any(line in part for part in known.trials) and self._choices.importers(path):
            return False  # a module that only tries itself out
        return not self._is_unused(path, _parts_around(known.definitions, line), known.quiet, told, asked)

    def _is_of_program(self, path: str) -> bool:
        """Whether a program of the project imports others of its files: else nobody knows what is run."""
        if self._choices.is_library(path):
            return False
        home = self._choices.home(path)
        if home not in self._programs:
            programs = filter(self._choices.is_program, self._layout.files(home))
            self._programs[home] = any(self._choices.may_import(each) for each in programs)
        return self._programs[home]

    def _may_mean(self, path: str, name: str, own: str) -> bool:
        """Whether a name that a file has may be that of what another defines, which it imports somehow."""
        if path.endswith(NOTEBOOK) or own in self._below(path):
            return True
        known = {_stem(each) for each in self._choices.may_import(path)}
        unknown = {_stem(own), *os.path.dirname(own).split(os.sep)[-_MAX_FOLDERS:]} - known
        return any(
            not (words.isdisjoint(unknown) or words.isdisjoint({name, "*"}))
            for words in self._imports_of(path)
        )

    def _means_another(self, path: str, name: str, own: str) -> bool:
        """Whether a name that a file has is its own, or that of a third file, which defines it."""
        text = self._text(path)
        if re.search(rf"\.\s*{name}\b|\bas\s+{name}\b", text):
            return False
        code = _COMMENT.sub("", self._code(path))
        modules = [found[1] for found in _FROM.finditer(code) if name in _WORD.findall(found[2])]
        if not modules:
            return _defines(text, name)
        files = [self._choices.named(each, path) for each in modules]
        return all(each not in (None, own) and _defines(self._code(each or ""), name) for each in files)

    def _imports_of(self, path: str) -> Iterator[frozenset[str]]:
        """The words of each statement of a file that imports something."""
        for found in _IMPORTS.finditer(_COMMENT.sub("", self._code(path))):
            yield frozenset(_WORD.findall(found[0]))

    def _below(self, path: str) -> frozenset[str]:
        """A file and all that it may import."""
        found = self._reached.get(path)
        if found is None:
            found = self._reached[path] = frozenset(reached(path, self._choices.may_import))
        return found

    def _importers(self, path: str) -> frozenset[str]:
        """The files of a program that import a file, also where only some of it does."""
        home = self._choices.home(path)
        naming = {*self._choices.mentioning(home, _stem(path))} - {path}
        return self._choices.importers(path) | {
            each for each in naming if path in self._choices.may_import(each)
        }

    def _mentioning(self, home: str, name: str) -> list[str]:
        return [*self._choices.mentioning(home, name), *self._notebooks(home).of(name)]

    def _notebooks(self, home: str) -> Mentions:
        if home not in self._books:
            paths = self._layout.notebooks(home)
            self._books[home] = Mentions(paths, lambda path: cells(self._read(path) or ""))
        return self._books[home]

    def _uses(self, path: str, part: Part, own: str) -> Iterator[int]:
        """The lines where a file has a name and nothing defines or imports it, outside of its definition."""
        lines = self._lines.get((path, part.name))
        if lines is None:
            lines = self._lines[path, part.name] = tuple(_lines_with(part.name, self._text(path)))
        return (line for line in lines if path != own or not part.first <= line <= part.last)

    def _code(self, path: str) -> str:
        text = self._read(path) or ""
        return cells(text) if path.endswith(NOTEBOOK) else text

    def _text(self, path: str) -> str:
        """The text of a file without its comments, what it imports under its own name, and what it offers."""
        found = self._plain.get(path)
        if found is None:
            found = self._plain[path] = _plain(self._code(path))
        return found

    def _outline(self, path: str) -> _Outline | None:
        """The outline of a file; none of a notebook, of which any cell may be run."""
        if path not in self._outlines:
            try:
                tree = None if path.endswith(NOTEBOOK) else ast.parse(self._code(path))
            except (SyntaxError, ValueError, RecursionError):
                tree = None
            found = None
            if tree is not None:
                found = _Outline(is_quiet(tree), _outlined(tree.body, None), _trials(tree))
            self._outlines[path] = found
        return self._outlines[path]

    def _is_left_out(self, path: str) -> bool:
        """Whether nothing names a file that only defines something, and others import what lies beside it."""
        home, stem, folder = self._choices.home(path), _stem(path), os.path.dirname(path)
        if os.path.basename(path).startswith(_PACKAGE) or self._lookups.may_find(home, path, None):
            return False
        if any(self._may_name(each, stem) for each in self._mentioning(home, stem) if each != path):
            return False
        beside = (
            each for each in self._layout.files(home) if os.path.dirname(each) == folder and each != path
        )
        return any(map(self._choices.importers, beside))

    def _may_name(self, path: str, stem: str) -> bool:
        """Whether a file imports something of a name that is not found, or has a text that may mean it."""
        if path.endswith(NOTEBOOK):
            return True
        found = any(_stem(each) == stem for each in self._choices.may_import(path))
        if not found and any(stem in words for words in self._imports_of(path)):
            return True
        return re.search(rf"[\"'./]{stem}(?:\.py)?[\"']", self._text(path)) is not None


def _defines(text: str, name: str) -> bool:
    """Whether a text defines a function or class of its module."""
    return re.search(rf"^(?:async\s+)?(?:def|class)\s+{name}\b", text, re.MULTILINE) is not None


def _trials(tree: ast.Module) -> tuple[range, ...]:
    """The lines below `if __name__ == "__main__":` in what reads nothing of its user, nor trains or saves."""
    blocks = [each for each in tree.body if isinstance(each, ast.If) and _asks_for_main(each.test)]
    if not blocks or not _OF_PROGRAMS.isdisjoint(_names(tree)):
        return ()
    return tuple(range(each.lineno, _last(each) + 1) for each in blocks)


def _asks_for_main(test: ast.expr) -> bool:
    left = test.left if isinstance(test, ast.Compare) else None
    return isinstance(left, ast.Name) and left.id in knowledge.MODULE_NAME


def _names(tree: ast.Module) -> frozenset[str]:
    """The names in a file, of what it imports as well."""
    aliases = (each for node in ast.walk(tree) if isinstance(node, _IMPORTING) for each in node.names)
    modules = (node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    imported = (part for name in (*(each.name for each in aliases), *modules) for part in name.split("."))
    return names_in(tree) | frozenset(imported)


def _lines_with(name: str, text: str) -> Iterator[int]:
    """The lines where a text has a name that it does not define there."""
    line, at = 1, 0
    for found in re.finditer(rf"(?<!\bdef )(?<!\bclass )\b{name}\b", text):
        line, at = line + text.count("\n", at, found.start()), found.start()
        yield line


def _stem(path: str) -> str:
    """The last name of a file's module."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return os.path.basename(os.path.dirname(path)) if stem == _PACKAGE else stem


def _plain(text: str) -> str:
    return _EXPORTS.sub(
        lambda found: "\n" * found[0].count("\n"),
        _IMPORTS.sub(
            lambda found: found[0] if re.search(r"\bas\b", found[0]) else "\n" * found[0].count("\n"),
            _COMMENT.sub("", text),
        ),
    )


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
