"""Logical lines and comments: where a statement or the header of one begins and ends."""

from __future__ import annotations

import tokenize
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SPACE = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
_ERRORS = (tokenize.TokenError, SyntaxError)  # IndentationError is a SyntaxError


class Comment(NamedTuple):
    """A comment, the rows of the statement it belongs to, and whether it has its row to itself."""

    text: str
    row: int
    column: int
    """Where it begins, from 0."""
    first: int
    last: int
    """The rows of the logical line that the comment is in, or, outside of one, that follows it."""
    alone: bool


def logical_ends(rows: Sequence[str], first: int, last: int) -> list[int]:
    """Return the rows that end logical lines, from `first`, where one begins, up to the one around `last`."""
    found: list[int] = []
    if first == last == len(rows):  # spares the tokenising of a file that is one long row
        return [last]
    try:
        for token in _tokens(rows, first):
            if token.type == tokenize.NEWLINE:
                found.append(token.start[0])
                if token.start[0] >= last:
                    break
    except _ERRORS:
        pass
    return found


def comments(rows: Sequence[str]) -> list[Comment]:
    """Return the comments of a file, in order; those before an error where it cannot be tokenised."""
    found: list[Comment] = []
    pending: list[tuple[str, int, int, bool]] = []
    first = 0
    try:
        for token in _tokens(rows, 1):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                pending.append((token.string, row, column, not rows[row - 1][:column].strip()))
            elif token.type == tokenize.NEWLINE:
                last = token.start[0]
                found += [
                    Comment(text, row, column, first, last, alone) for text, row, column, alone in pending
                ]
                pending, first = [], 0
            elif not first and token.type not in _SPACE:
                first = token.start[0]
    except _ERRORS:
        pass
    found += [Comment(text, row, column, first or row, row, alone) for text, row, column, alone in pending]
    return found


def _tokens(rows: Sequence[str], first: int) -> Iterator[tokenize.TokenInfo]:
    """Tokenise from a row on, counting rows as the file does, even those that end in a lone `\\r`."""
    lines = (row.rstrip("\r\n") + "\n" for row in islice(rows, first - 1, None))
    for token in tokenize.generate_tokens(lambda: next(lines, "")):
        yield token._replace(start=(token.start[0] + first - 1, token.start[1]))
