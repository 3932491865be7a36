"""Which files of a project mention a name: what is read before anything is analysed to find who calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_MAX_CHARACTERS = 64_000_000
"""The text that is kept; who calls what is not looked for in larger projects."""
_PLAIN = re.compile(r"[A-Za-z_]\w*\Z")


class Mentions:
    """The texts of a project's files, each read once."""

    def __init__(self, paths: Iterable[str], read: Callable[[str], str | None]) -> None:
        self._texts: dict[str, str] = {}
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

    def of(self, name: str) -> list[str]:
        """The files, in order, that have a name as a whole word."""
        if not _PLAIN.match(name):
            return []
        word = re.compile(rf"\b{name}\b")
        return [path for path, text in self._texts.items() if name in text and word.search(text)]

    def matching(self, pattern: re.Pattern[str], word: str) -> list[str]:
        """The files, in order, of which the text, which has a word, matches a pattern."""
        return [path for path, text in self._texts.items() if word in text and pattern.search(text)]

    def has(self, path: str, name: str) -> bool:
        """Whether a file has a name as a whole word."""
        text = self._texts[path]
        return name in text and re.search(rf"\b{re.escape(name)}\b", text) is not None
