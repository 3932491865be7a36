"""Which files of a project mention a name: what is read before anything is analysed to find who calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property

_MAX_CHARACTERS = 64_000_000
"""The text that is kept; who calls what is not looked for in larger projects."""
_MAX_SCANS = 64
"""The texts are searched for so many names: more names are asked for in larger projects, and to search larger
texts for each takes time that grows with the square. It takes about as long to note all their words, once."""
_PLAIN = re.compile(r"[A-Za-z_]\w*\Z")
_WORD = re.compile(r"\w+")


class Mentions:
    """The texts of a project's files, each read once."""

    def __init__(self, paths: Iterable[str], read: Callable[[str], str | None]) -> None:
        self._texts: dict[str, str] = {}
        self._having: dict[str, list[str]] = {}
        self._matching: dict[tuple[re.Pattern[str], str], list[str]] = {}
        self._first: dict[re.Pattern[str], str] = {}
        size = 0
        for path in paths:
            text = read(path)
            if text is None:
                continue
            size += len(text)
            if size > _MAX_CHARACTERS:
                self._texts = {}
                break
            self._texts[path] = text

    def follow(self, path: str, text: str) -> bool:
        """A file has another text; whether all that was told still holds."""
        if path not in self._texts:
            return not self._texts  # it is new, or all is too large
        if not all(_has_word(text, name) == (path in known) for name, known in self._having.items()):
            return False
        for (pattern, word), known in self._matching.items():
            if (path in known) != (word in text and pattern.search(text) is not None):
                return False
        for pattern, first in self._first.items():
            if first in ("", path) and (first == path) != (pattern.search(text) is not None):
                return False
        self._texts[path] = text
        self.__dict__.pop("_words", None)
        return True

    def of(self, name: str) -> list[str]:
        """The files, in order, that have a name as a whole word."""
        known = self._having.get(name)
        if known is None:
            known = self._having[name] = self._find(name) if _PLAIN.match(name) else []
        return known

    def _find(self, name: str) -> list[str]:
        if len(self._having) < _MAX_SCANS:
            return [path for path, text in self._texts.items() if _has_word(text, name)]
        return self._words.get(name, [])

    @cached_property
    def _words(self) -> dict[str, list[str]]:
        """By word, the files, in order, that have it."""
        found: dict[str, list[str]] = {}
        for path, text in self._texts.items():
            for word in set(_WORD.findall(text)):
                found.setdefault(word, []).append(path)
        return found

    def matching(self, pattern: re.Pattern[str], word: str) -> list[str]:
        """The files, in order, of which the text, which has a word, matches a pattern."""
        known = self._matching.get((pattern, word))
        if known is None:
            texts = self._texts.items()
            known = [path for path, text in texts if word in text and pattern.search(text)]
            self._matching[pattern, word] = known
        return known

    def first(self, pattern: re.Pattern[str]) -> str:
        """A file whose text matches a pattern; empty if there is none."""
        known = self._first.get(pattern)
        if known is None:
            matching = (path for path, text in self._texts.items() if pattern.search(text) is not None)
            known = self._first[pattern] = next(matching, "")
        return known

    @property
    def paths(self) -> frozenset[str]:
        """The files whose texts are known: none where all is too large."""
        return frozenset(self._texts)

    def has(self, path: str, name: str) -> bool:
        """Whether a file has a name as a whole word."""
        return _has_word(self._texts[path], name)


def _has_word(text: str, word: str) -> bool:
    """Whether a text has a word by itself: a pattern that begins with a boundary takes far longer."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (_is_of_word(text[at - 1 : at]) or _is_of_word(text[end : end + 1])):
            return True
        at = text.find(word, end)
    return False


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"
