"""Source text: bytes decoded as Python does it, rows as Python counts them."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

_COOKIE = re.compile(rb"(?:[^\r\n]*(?:\r\n?|\n))?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*[-\w.]+")
_ROW = re.compile(r"\r\n?|\n")
BOM = b"\xef\xbb\xbf"
NOTEBOOK = ".ipynb"
"""How the names of notebooks end."""


class Decoded(NamedTuple):
    """The text of a file and what is needed to write it back."""

    text: str
    encoding: str
    bom: bool

    def encode(self, text: str) -> bytes:
        """Return the bytes of an edited text in the file's own encoding."""
        return (BOM if self.bom else b"") + text.encode(self.encoding)


def decode(raw: bytes) -> Decoded:
    """Decode by byte-order mark and coding cookie (PEP 263); newlines stay as they are.

    Raises SyntaxError (an unknown or contradicted cookie), UnicodeDecodeError or LookupError.
    """
    encoding, bom = "utf-8", raw.startswith(BOM)
    if _COOKIE.match(raw[len(BOM) :] if bom else raw):
        import io
        import tokenize

        encoding = tokenize.detect_encoding(io.BytesIO(raw).readline)[0].replace("utf-8-sig", "utf-8")
    return Decoded(raw[len(BOM) * bom :].decode(encoding), encoding, bom)


def split_rows(text: str) -> list[str]:
    """Split into rows with their ends; unlike `str.splitlines`, only where Python ends a line."""
    starts = Rows(text).starts
    ends = [*starts[1:], len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True) if start < end]


class Rows:
    """Converts between offsets into a text and its rows (from 1) and columns (from 0)."""

    def __init__(self, text: str) -> None:
        """Find where each row of `text` starts."""
        self.starts = [0, *(end.end() for end in _ROW.finditer(text))]

    def offset(self, row: int, column: int) -> int:
        """Return the offset of a row and column."""
        return self.starts[row - 1] + column

    def locate(self, offset: int) -> tuple[int, int]:
        """Return the row and column of an offset."""
        row = bisect_right(self.starts, offset)
        return row, offset - self.starts[row - 1]
