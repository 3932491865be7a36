"""The programs of a project, each rehearsed once, and what was seen to go wrong in each of its files."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from ..bind.binding import STARS, may_bind
from ..core.met import Met
from ..infer.edited import MODULE
from ..infer.room import with_room
from ..source.digest import digest
from .prospects import Prospects
from .shells import Shell
from .trial import Trial
from .values import Unit, release

_SUFFIX = ".py"
_MAX_CHARACTERS = 1_500_000
"""Of the files that are kept at hand, whose trees take fifty times as much; those used last are."""
_MAX_FILE = 400_000


class Finds(Protocol):
    """Finds files."""

    def find(self, dotted: str, importer: str) -> Any:
        """What a dotted name means to a file: the `path` of another, and the `rest` of the name; or None."""

    def module_name(self, path: str) -> str:
        """The name of a file's module."""


class Remembers(Protocol):
    """Has what was met in earlier runs; see `project.memory`."""

    def rehearsal(
        self, path: str, name: str, content: bytes, key: str, asks: Callable[[tuple[str, ...]], bytes]
    ) -> tuple[Any, _Log] | None:
        """What was met when a file of that content was gone through, with what it rests on, if that holds."""

    def keep_rehearsal(
        self, path: str, name: str, content: bytes, key: str, log: _Log, found: object
    ) -> None:
        """Keep that."""


_Log = dict[tuple[str, ...], bytes]
"""What something rests on."""


class _Parsed(NamedTuple):
    """A file's tree, with the hash of its text."""

    text: bytes
    tree: ast.Module | Shell | None
    """None where it has none; the very tree that others have of it, where they have one."""
    length: int = 0
    """Of that one."""

    @property
    def size(self) -> int:
        """How many characters of it are kept as nodes."""
        return self.tree.size if isinstance(self.tree, Shell) else self.length

    def close(self) -> None:
        """Let go of what has been read of it since."""
        if isinstance(self.tree, Shell):
            self.tree.close()


class _Gone(NamedTuple):
    """A program that was gone through, with all that this rests on."""

    met: tuple[Met, ...]
    log: _Log
    """The files that it read, with the hashes of their texts, empty for what cannot be read; which file each
    name meant, in which file.
    """
    tried: frozenset[str] | None = None
    """Of a file that is tried and not run: the functions and classes that are."""
    entered: frozenset[tuple[str, str]] | None = None
    """The functions that were gone through, by file and name; None where nobody has kept them."""


class Company:
    """Rehearses programs, each by itself; their files are parsed once, and again where they change."""

    def __init__(
        self, layout: Finds, read: Callable[[str], str | None], memory: Remembers | None = None
    ) -> None:
        """Take what finds files, what gives a file's text, and what has been kept of earlier runs."""
        self._layout = layout
        self._read = read
        self._memory = memory
        self._prospects = Prospects(self._found, read)
        self._trees: dict[str, _Parsed] = {}
        """What the files mean, those used last at the end."""
        self._having: dict[tuple[str, str], bool] = {}
        """Whether a file can have a name, as long as no text has changed."""
        self._known: dict[tuple[str, bool], _Gone] = {}
        self._texts: dict[str, bytes] = {}
        """The hashes of the texts that were asked for since the last change; empty where there is none."""
        self._current = set[tuple[str, bool]]()
        """The programs that rest on nothing else than they did."""

    def reread(self, path: str) -> None:
        """Trust nothing that rests on the text of a file that has changed."""
        self._texts.pop(path, None)
        self._let_go(path)
        self._having.clear()
        self._current.clear()
        self._prospects.reread(path)

    def followed(self, path: str, before: str, text: str, function: str) -> None:
        """A file has another text than before, in which only the body of a function is another, if of one.

        What did not go through that function goes as it went; where something was met, it may be elsewhere.
        """
        self._let_go(path)
        self._texts[path] = _hash(text)
        if function == MODULE:
            return
        was, now, question = _hash(before), _hash(text), ("text", path)
        for gone in self._known.values():
            passed_by = gone.entered is not None and (path, function) not in gone.entered
            if passed_by and not gone.met and gone.log.get(question) == was:
                gone.log[question] = now

    def _let_go(self, path: str) -> None:
        """Let go of a tree, which is at hand for others that may change it."""
        kept = self._trees.pop(path, None)
        if kept is not None:
            kept.close()

    def rehearse(self, path: str, lazy: bool, tree: ast.Module | None = None) -> tuple[Met, ...]:
        """What goes wrong in the program that a file is, in whichever of its files.

        `lazy` is whether modules are imported when something of them is used; `tree` is the file's own.
        """
        return self._gone((path, False), lazy, tree, None)

    def try_out(self, path: str, tree: ast.Module | None = None) -> tuple[Met, ...]:
        """What goes wrong in the functions and classes of a file, called one by one as others would.

        Other modules are imported when something of them is used.
        """
        wanted = self._prospects.of(path)
        return self._gone((path, True), True, tree, wanted) if wanted else ()

    def knows(self, path: str, lazy: bool, *, tried: bool) -> bool:
        """Whether it takes no rehearsal to say what goes wrong in a program, or in what is tried of it."""
        wanted = self._prospects.of(path) if tried else None
        return wanted == frozenset() or self._at_hand((path, tried), lazy, wanted) is not None

    def _gone(
        self, key: tuple[str, bool], lazy: bool, tree: ast.Module | None, tried: frozenset[str] | None
    ) -> tuple[Met, ...]:
        path = key[0]
        known = self._at_hand(key, lazy, tried)
        if known is None:
            self._tree(path, tree)
            known = self._known[key] = self._gone_through(path, lazy, tried)
            if self._memory is not None:
                self._memory.keep_rehearsal(*self._about(path, lazy, tried), known.log, known.met)
        self._current.add(key)
        return known.met

    def _at_hand(self, key: tuple[str, bool], lazy: bool, tried: frozenset[str] | None) -> _Gone | None:
        """What was gone through, if it would be gone through in the same way."""
        path = key[0]
        known = self._known.get(key)
        if known is None:
            known = self._remembered(path, lazy, tried)
        elif known.tried != tried or not (key in self._current or self._holds(known.log)):
            known = None
        if known is not None:
            self._known[key] = known
            self._current.add(key)
        return known

    def _remembered(self, path: str, lazy: bool, tried: frozenset[str] | None) -> _Gone | None:
        """What was gone through in an earlier run, or by another process of this one."""
        if self._memory is None:
            return None
        met, log = self._memory.rehearsal(*self._about(path, lazy, tried), self._is) or ((), {})
        # Files are named as they were then: what was kept of the same files elsewhere says nothing here.
        return _Gone(met, log, tried) if ("text", path) in log else None

    def _about(self, path: str, lazy: bool, tried: frozenset[str] | None) -> tuple[str, str, bytes, str]:
        key = f"{lazy} {None if tried is None else sorted(tried)}"
        return path, self._layout.module_name(path), self._hash(path), key

    def _holds(self, log: _Log) -> bool:
        """Whether all that something rested on is as it was."""
        return all(self._is(question) == answer for question, answer in log.items())

    def _is(self, question: tuple[str, ...]) -> bytes:
        kind, *about = question
        return self._hash(about[0]) if kind == "text" else _named(self._path_of(about[0], about[1]))

    def _path_of(self, dotted: str, importer: str) -> str | None:
        found = self._layout.find(dotted, importer)
        return found.path if found is not None else None

    def _found(self, dotted: str, importer: str) -> tuple[str, str] | None:
        found = self._layout.find(dotted, importer)
        return (found.path, found.rest) if found is not None else None

    def _gone_through(self, path: str, lazy: bool, tried: frozenset[str] | None) -> _Gone:
        units: dict[str, Unit] = {}
        log: _Log = {}

        def load(dotted: str, importer: str, having: str = "") -> tuple[Unit, str] | None:
            found = self._layout.find(dotted, importer)
            log["find", dotted, importer] = _named(found.path if found is not None else None)
            if found is None:
                return None
            if found.path not in units:
                if having:
                    log["text", found.path] = self._hash(found.path)
                    if not self._may_have(found.path, having):
                        return None
                units[found.path] = unit(found.path)
            return units[found.path], found.rest

        def unit(path: str) -> Unit:
            def read() -> ast.Module | None:
                log["text", path] = self._hash(path)
                return self._tree(path)

            return Unit(path, self._layout.module_name(path), read)

        program = unit(path)
        stage = Trial(load, lazy=lazy)
        with suppress(RecursionError):  # what was seen until then stands
            with_room(lambda: stage.rehearse(program) if tried is None else stage.try_out(program, tried))
        release([*stage.made, *units.values(), program])
        self._shrink()
        met = sorted(stage.met.values(), key=lambda each: (each.home, each.here, each.kind))
        return _Gone(tuple(met), log, tried, frozenset(stage.entered_in))

    def _tree(self, path: str, own: ast.Module | None = None) -> ast.Module | None:
        kept = self._trees.pop(path, None)
        if kept is None or path not in self._texts or kept.text != self._texts[path]:
            text = self._text(path)
            if kept is None or kept.text != self._texts[path]:
                if kept is not None:
                    kept.close()
                kept = _Parsed(self._texts[path], None)
                if text is not None and len(text) <= _MAX_FILE:
                    length = len(text) if own is not None else 0
                    kept = kept._replace(tree=own if own is not None else _shell(text), length=length)
        self._trees[path] = kept
        return kept.tree.tree if isinstance(kept.tree, Shell) else kept.tree

    def _shrink(self) -> None:
        """Keep no more than may be kept: of those used last most."""
        size = sum(kept.size for kept in self._trees.values())
        for kept in self._trees.values() if size > _MAX_CHARACTERS else ():
            size -= kept.size
            kept.close()
            size += kept.size
        while size > _MAX_CHARACTERS and len(self._trees) > 1:
            size -= self._trees.pop(next(iter(self._trees))).size

    def _may_have(self, path: str, name: str) -> bool:
        """Whether a file can have a name, its own or one of those that it imports from elsewhere."""
        key = path, name
        known = self._having.get(key)
        if known is None:
            text = self._read(path) or ""
            known = self._having[key] = may_bind(text, name) or STARS.search(text) is not None
        return known

    def _hash(self, path: str) -> bytes:
        if path not in self._texts:
            self._text(path)
        return self._texts[path]

    def _text(self, path: str) -> str | None:
        text = self._read(path) if path.endswith(_SUFFIX) else None
        self._texts[path] = _hash(text) if text is not None else b""
        return text


def _hash(text: str) -> bytes:
    return digest(text.encode("utf-8", "surrogatepass"))


def _named(path: str | None) -> bytes:
    return os.fsencode(path or "")


def _shell(text: str) -> Shell | None:
    try:
        return Shell(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
