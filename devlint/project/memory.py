"""What was learned of files, each time with the questions that it took and a digest of what was answered.

It holds for a file of the same content as long as the same questions have the same answers, whatever else has
changed about the files that answer. Answers have one digest together, and definitions have none until it is
asked for: digests cannot be compressed.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from ..core.packed import packed, unpacked
from ..core.summary import ModuleSummary
from ..source.digest import digest
from .store import Store

Question = tuple[str, ...]
"""What is asked, and about what: `("find", "package.module.name")`."""
Log = dict[Question, bytes]
"""Questions in the order in which they were first asked, and the digests of the answers."""
Asks = Callable[[Question], bytes]
"""The digest of what a question is answered today."""

_MOST = 4
"""Results of one file that are kept beside each other: by settings, and by what files in circles can tell."""
T = TypeVar("T")
Parts = Mapping[str, bytes]
"""What each definition is packed in."""


class Definitions(Mapping[str, T]):
    """What a module defines, by name; each is read when it is asked for."""

    def __init__(self, parts: Parts, known: Mapping[str, T] | None = None) -> None:
        """Take all of them, and those that have been read."""
        self.parts = parts
        self._known = dict(known or {})
        self._digests: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> T:
        """Return what has a name."""
        if name not in self._known:
            self._known[name] = unpacked(marshal.loads(self.parts[name]))
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        """Whether anything has a name; it is not read for that."""
        return name in self.parts

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self.parts)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.parts)

    def digest(self, name: str) -> bytes:
        """Return what tells a definition from any other."""
        if name not in self._digests:
            self._digests[name] = _digest(marshal.loads(self.parts[name]))
        return self._digests[name]


def digest_of(answer: object) -> bytes:
    """Return what tells an answer from any other; empty for none."""
    return b"" if answer is None else _digest(packed(answer))


def of_text(text: str) -> bytes:
    """Return what tells a file's text from any other."""
    return digest(text.encode("utf-8", "surrogatepass"))


class Memory:
    """What is remembered of files, by a store."""

    def __init__(self, store: Store, shared: Store | None = None) -> None:
        """Take the store, and one that the processes of this run have in common until it ends."""
        self._store = store
        self._shared = shared

    def summary(self, path: str, name: str, text: str, asks: Asks) -> ModuleSummary | None:
        """Return what a module of that name and text defines."""
        for questions, answers, requires, stars, calls, loaders, *tables in _results(
            self._store, "module", path, name, of_text(text)
        ):
            if _together(map(asks, questions)) == answers:
                values, functions, classes = (Definitions[Any](parts) for parts in tables)
                about = unpacked(requires), stars, unpacked(marshal.loads(calls)), unpacked(loaders)
                return ModuleSummary(name, values, functions, classes, *about)
        return None

    def keep_summary(self, path: str, text: str, log: Log, summary: ModuleSummary) -> ModuleSummary:
        """Keep what a module defines, and return it with the digests of its definitions."""
        values, functions, classes = map(_parts, (summary.values, summary.functions, summary.classes))
        calls = marshal.dumps(packed(summary.calls))
        about = packed(summary.requires), summary.stars, calls, packed(summary.loaders)
        result = *_asked(log), *about, values, functions, classes
        _keep(self._store, "module", path, summary.name, of_text(text), result)
        return summary._replace(
            values=Definitions(values, summary.values),
            functions=Definitions(functions, summary.functions),
            classes=Definitions(classes, summary.classes),
        )

    def circle(self, path: str) -> frozenset[str]:
        """Return the files that asked each other, this one among them, when that was last looked at."""
        kept = self._store.get("circle", path)
        folder = os.path.dirname(path)
        return frozenset(os.path.normpath(os.path.join(folder, each)) for each in kept or ())

    def keep_circle(self, path: str, circle: Iterable[str]) -> None:
        """Keep which files ask each other."""
        folder = os.path.dirname(path)
        with suppress(ValueError):  # another drive
            self._store.put("circle", path, tuple(sorted(os.path.relpath(each, folder) for each in circle)))

    def findings(self, path: str, name: str, raw: bytes, key: str, asks: Asks) -> Any:
        """Return what was found in a file of that content with settings of that key."""
        known = _keyed(self._store, "findings", path, name, digest(raw), key, asks)
        return None if known is None else known[0]

    def keep_findings(self, path: str, name: str, raw: bytes, key: str, log: Log, found: object) -> None:
        """Keep what was found."""
        result = *_asked(log), key, packed(found)
        _keep(self._store, "findings", path, name, digest(raw), result)

    def rehearsal(self, path: str, name: str, content: bytes, key: str, asks: Asks) -> tuple[Any, Log] | None:
        """Return what was met when a file of that content was gone through, and the questions it took."""
        return _keyed(self._store, "rehearsal", path, name, content, key, asks)

    def keep_rehearsal(self, path: str, name: str, content: bytes, key: str, log: Log, found: object) -> None:
        """Keep what was met."""
        _keep(self._store, "rehearsal", path, name, content, (*_asked(log), key, packed(found)))

    def events(self, path: str, name: str, text: str, key: str, asks: Asks) -> Any:
        """Return what rules of that key watch of the events in a file of that text, and the questions."""
        if self._shared is None:
            return None
        return _keyed(self._shared, "events", path, name, of_text(text), key, asks)

    def keep_events(self, path: str, name: str, text: str, key: str, log: Log, found: object) -> None:
        """Keep events for the process that lints the file; those that are no plain data it finds again."""
        if self._shared is not None:
            with suppress(TypeError):
                result = *_asked(log), key, packed(found)
                _keep(self._shared, "events", path, name, of_text(text), result)


def _asked(log: Log) -> tuple[tuple[Question, ...], bytes]:
    return tuple(log), _together(log.values())


def _together(answers: Iterable[bytes]) -> bytes:
    return digest(repr(tuple(answers)).encode())


def _keyed(
    store: Store, kind: str, path: str, name: str, content: bytes, key: str, asks: Asks
) -> tuple[Any, Log] | None:
    for questions, answers, known, found in _results(store, kind, path, name, content):
        log = {question: asks(question) for question in questions} if known == key else {}
        if known == key and _together(log.values()) == answers:
            return unpacked(found), log
    return None


def _results(store: Store, kind: str, path: str, name: str, content: bytes) -> tuple[Any, ...]:
    """Return what is kept of a file as it is, the latest first."""
    kept = store.get(kind, path)
    return kept[2] if kept is not None and kept[:2] == (content, name) else ()


def _keep(store: Store, kind: str, path: str, name: str, content: bytes, result: tuple[Any, ...]) -> None:
    others = [each for each in _results(store, kind, path, name, content) if each[:3] != result[:3]]
    store.put(kind, path, (content, name, (result, *others[: _MOST - 1])))


def _parts(table: Mapping[str, object]) -> dict[str, bytes]:
    return {name: marshal.dumps(packed(each)) for name, each in table.items()}


def _digest(data: object) -> bytes:
    # What `marshal` writes of equal data depends on which texts the interpreter happens to share.
    return digest(repr(data).encode("utf-8", "backslashreplace"))
