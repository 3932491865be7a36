"""What APIs mean to device placement: rows of data, found by name. Nothing here imports what it describes."""

from __future__ import annotations

from .find import attribute, bind, find, kind_of_class, method, topics_of_class
from .row import Hint, Row
from .words import hints

__all__ = [
    "Hint",
    "Row",
    "attribute",
    "bind",
    "find",
    "hints",
    "kind_of_class",
    "method",
    "topics_of_class",
]
