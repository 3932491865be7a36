"""The texts that findings count rows in."""

from __future__ import annotations

from .text import NOTEBOOK, decode
from .unreadable import UNDECODABLE


def texts(path: str, raw: bytes) -> dict[str, str]:
    """Return a file's own text by its path, and those of a notebook's cells by `PATH:cell N`."""
    try:
        found = {path: decode(raw).text}
    except UNDECODABLE:
        found = {path: raw.decode("latin-1")}
    if path.endswith(NOTEBOOK):
        from .notebook import read

        found |= {f"{path}:cell {number}": text for number, text in read(raw, path).sources.items()}
    return found
