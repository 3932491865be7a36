"""Whether a file can bind a name, as its text tells: what cannot is not parsed to be asked."""

from __future__ import annotations

import re
from functools import lru_cache

STARS = re.compile(r"^[ \t]*from\s+([.\w]+)\s+import\s*\(?\s*\*", re.MULTILINE)
"""Imports all names of a module."""
_BINDS = r"\b(?:def|class|type)\s+{name}\b|\bimport\b.*\b{name}\b|\b{name}\b(?!\s*[(\[.])"
"""A definition, an import, or any other mention but a use."""


def may_bind(text: str, name: str) -> bool:
    """Whether anything in a text may bind a name, other than an import of all names."""
    return name in text and _binds(name).search(text) is not None


@lru_cache(maxsize=4096)
def _binds(name: str) -> re.Pattern[str]:
    return re.compile(_BINDS.format(name=name))
