"""Where a node stands in the source, in the terms that `ast` and LibCST share."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A stretch of source: lines from 1, columns from 0 and counted in characters, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
