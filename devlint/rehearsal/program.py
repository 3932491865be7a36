"""The programs of a project, each rehearsed once, and what was seen to go wrong in each of its files."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from ..bind.binding import STARS, may_bind
from ..core.met import Met
from ..infer.room import with_room
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


class _Parsed(NamedTuple):
    """A file's tree, with the hash of its text."""

    text: int | None
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
    texts: tuple[tuple[str, int | None], ...]
    """The files that it read, with the hashes of their texts; None for one that cannot be read."""
    found: tuple[tuple[tuple[str, str], str | None], ...]
    """Which file each name meant, in which file."""
    tried: frozenset[str] | None = None
    """Of a file that is tried and not run: the functions and classes that are."""
    entered: frozenset[tuple[str, str]] = frozenset()
    """The functions that were gone through, by file and name."""


class Company:
    """Rehearses programs, each by itself; their files are parsed once, and again where they change."""

    def __init__(self, layout: Finds, read: Callable[[str], str | None]) -> None:
        """Take what finds files, and what gives a file's text."""
        self._layout = layout
        self._read = read
        self._prospects = Prospects(self._found, read)
        self._trees: dict[str, _Parsed] = {}
        """What the files mean, those used last at the end."""
        self._having: dict[tuple[str, str], bool] = {}
        """Whether a file can have a name, as long as no text has changed."""
        self._known: dict[tuple[str, bool], _Gone] = {}
        self._texts: dict[str, int | None] = {}
        """The hashes of the texts that were asked for since the last change; None where there is none."""
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
        self._texts[path] = hash(text)
        was, now = (path, hash(before)), (path, hash(text))
        for key, gone in self._known.items():
            if not gone.met and (path, function) not in gone.entered and was in gone.texts:
                self._known[key] = gone._replace(
                    texts=tuple(now if each == was else each for each in gone.texts)
                )

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

    def _gone(
        self, key: tuple[str, bool], lazy: bool, tree: ast.Module | None, tried: frozenset[str] | None
    ) -> tuple[Met, ...]:
        path = key[0]
        known = self._known.get(key)
        stands = known is not None and (key in self._current or self._rests_on_the_same(known))
        if known is None or known.tried != tried or not stands:
            self._tree(path, tree)
            known = self._known[key] = self._gone_through(path, lazy, tried)
        self._current.add(key)
        return known.met

    def _rests_on_the_same(self, gone: _Gone) -> bool:
        return all(self._hash(path) == known for path, known in gone.texts) and all(
            self._path_of(*asked) == path for asked, path in gone.found
        )

    def _path_of(self, dotted: str, importer: str) -> str | None:
        found = self._layout.find(dotted, importer)
        return found.path if found is not None else None

    def _found(self, dotted: str, importer: str) -> tuple[str, str] | None:
        found = self._layout.find(dotted, importer)
        return (found.path, found.rest) if found is not None else None

    def _gone_through(self, path: str, lazy: bool, tried: frozenset[str] | None) -> _Gone:
        units: dict[str, Unit] = {}
        asked: dict[tuple[str, str], str | None] = {}
        texts: dict[str, int | None] = {}

        def load(dotted: str, importer: str, having: str = "") -> tuple[Unit, str] | None:
            found = self._layout.find(dotted, importer)
            asked[dotted, importer] = found.path if found is not None else None
            if found is None:
                return None
            if found.path not in units:
                if having:
                    texts[found.path] = self._hash(found.path)
                    if not self._may_have(found.path, having):
                        return None
                units[found.path] = unit(found.path)
            return units[found.path], found.rest

        def unit(path: str) -> Unit:
            def read() -> ast.Module | None:
                texts[path] = self._hash(path)
                return self._tree(path)

            return Unit(path, self._layout.module_name(path), read)

        program = unit(path)
        stage = Trial(load, lazy=lazy)
        with suppress(RecursionError):  # what was seen until then stands
            with_room(lambda: stage.rehearse(program) if tried is None else stage.try_out(program, tried))
        release([*stage.made, *units.values(), program])
        self._shrink()
        met = sorted(stage.met.values(), key=lambda each: (each.home, each.here, each.kind))
        entered = frozenset(stage.entered_in)
        return _Gone(tuple(met), tuple(texts.items()), tuple(asked.items()), tried, entered)

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

    def _hash(self, path: str) -> int | None:
        if path not in self._texts:
            self._text(path)
        return self._texts[path]

    def _text(self, path: str) -> str | None:
        text = self._read(path) if path.endswith(_SUFFIX) else None
        self._texts[path] = hash(text) if text is not None else None
        return text


def _shell(text: str) -> Shell | None:
    try:
        return Shell(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
