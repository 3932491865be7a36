"""Converts between rows and columns, in characters, and a client's lines, in units of its encoding."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from ..finding import Position
from ..source.text import split_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Place = tuple[int, int]
"""A client's line and character, both from 0."""
UTF16, UTF32 = "utf-16", "utf-32"
_SIZES = {UTF16: 2, UTF32: 4, "utf-8": 1}
_CODECS = {UTF16: "utf-16-le", UTF32: "utf-32-le", "utf-8": "utf-8"}


class Lines:
    """The rows of a text, for one encoding."""

    def __init__(self, text: str, encoding: str = UTF16) -> None:
        """Take the text, and what a client counts characters in."""
        self.text = text
        self.rows = split_rows(text)
        self._codec, self._size = _CODECS[encoding], _SIZES[encoding]

    def _row(self, row: int) -> str:
        return self.rows[row - 1].rstrip("\r\n") if 1 <= row <= len(self.rows) else ""

    def place(self, position: Position) -> Place:
        """Return the client's line and character of a row and column, at most those of the row's end."""
        text = self._row(position.row)
        column = max(position.column - 1, 0)
        if text.isascii():
            return position.row - 1, min(column, len(text))
        return position.row - 1, len(text[:column].encode(self._codec, "surrogatepass")) // self._size

    def position(self, place: Place) -> Position:
        """Return the row and column of a client's line and character."""
        line, character = place
        text = self._row(line + 1)
        if text.isascii():
            return Position(line + 1, min(character, len(text)) + 1)
        raw = text.encode(self._codec, "surrogatepass")[: character * self._size]
        return Position(line + 1, len(raw.decode(self._codec, "ignore")) + 1)

    def offset(self, place: Place) -> int:
        """Return the offset into the text of a client's line and character; beyond the end, the end."""
        position = self.position(place)
        if position.row > len(self.rows):
            return len(self.text)
        return sum(map(len, self.rows[: position.row - 1])) + position.column - 1


def changed(text: str, start: Place, end: Place, content: str, encoding: str = UTF16) -> str:
    """Return a text with what stands between two places replaced."""
    lines = Lines(text, encoding)
    return f"{text[: lines.offset(start)]}{content}{text[lines.offset(end) :]}"


class Replacement(NamedTuple):
    """Put `content` between two positions."""

    start: Position
    end: Position
    content: str


def difference(before: str, after: str) -> Iterator[Replacement]:
    """Yield the edits that make one text of another: of rows that differ, the stretch that does."""
    old, new = split_rows(before), split_rows(after)
    for what, first, last, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            yield _trimmed(old, first, "".join(old[first:last]), "".join(new[start:stop]))


def _trimmed(rows: Sequence[str], first: int, old: str, new: str) -> Replacement:
    """Return an edit without what its texts begin and end with in common."""
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    begin = sum(map(len, rows[:first])) + head
    text = "".join(rows)
    return Replacement(
        _at(text, begin), _at(text, begin + len(old) - head - tail), new[head : len(new) - tail]
    )


def _at(text: str, offset: int) -> Position:
    """Return the row and column of an offset; what ends a row is no part of the next."""
    rows = split_rows(text[:offset])
    if not rows:
        return Position(1, 1)
    if rows[-1].endswith(("\n", "\r")):
        return Position(len(rows) + 1, 1)
    return Position(len(rows), len(rows[-1]) + 1)
