"""Which selections of rules hold for a file."""

from __future__ import annotations

from ..source.globs import chosen
from .settings import Selection, Settings


def selections_for(path: str, settings: Settings) -> tuple[Selection, ...]:
    """Return the layers of rule selection that hold for one file."""
    ignored = tuple(
        selector
        for pattern, selectors in (*settings.per_file_ignores, *settings.extend_per_file_ignores)
        if chosen(path, pattern, settings.root)
        for selector in selectors
    )
    return (*settings.selections, Selection(ignore=ignored)) if ignored else settings.selections
