"""What a summary says, as bytes that are the same in every process, and their hash.

Who imports a file need not be looked at again while the file's digest is the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import Enum
from typing import Any

from .summary import ModuleSummary

_NO_DEFAULT = object()


def canonical(summary: ModuleSummary) -> bytes:
    """A module's summary as bytes: each distinct part once, and the others by reference to it."""
    return _Writer().written(summary)


def digest(summary: ModuleSummary) -> str:
    """The hash of what a module's summary says; lines, comments and what callers do not see are not in it."""
    return hashlib.sha256(canonical(summary._replace(calls=()))).hexdigest()


class _Writer:
    """Numbers the distinct parts of plain data in the order in which they are complete."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def written(self, part: object) -> bytes:
        """All parts of `part`, a line each, and itself last."""
        last = self._text(part)
        return "\n".join([*self._numbers, last]).encode("utf-8", "backslashreplace")

    def _text(self, part: object) -> str:
        """How a part is written inside of another: a small one as it is, any other as its number."""
        if part is None:
            return "-"
        if isinstance(part, Enum):
            return self._number(f".{part.name}")
        if isinstance(part, bool):
            return "T" if part else "F"
        if isinstance(part, (int, float)):
            return f"{part:+}"
        if isinstance(part, (str, bytes)):
            return self._number(repr(part))
        return self._number(self._composed(part))

    def _composed(self, part: object) -> str:
        if isinstance(part, tuple):
            if not hasattr(part, "_fields"):
                return f"({','.join(map(self._text, part))})"
            told = [self._field(part, name) for name in part._fields]
            return f"{self._text(type(part).__name__)}[{','.join(told).rstrip(',')}"
        if isinstance(part, Mapping):
            pairs = (f"{self._text(key)}={self._text(part[key])}" for key in sorted(part))
            return f"{{{','.join(pairs)}"
        if isinstance(part, frozenset):
            return f"<{','.join(map(self._text, sorted(part, key=repr)))}"
        raise TypeError(f"{type(part).__name__} is no plain data")

    def _field(self, part: Any, name: str) -> str:
        """A field; nothing where it has its default."""
        value, default = getattr(part, name), part._field_defaults.get(name, _NO_DEFAULT)
        return "" if value == default and type(value) is type(default) else self._text(value)

    def _number(self, text: str) -> str:
        return f"{self._numbers.setdefault(text, len(self._numbers))}"
