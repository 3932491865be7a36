"""What the inference is told of a file beside its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..bind.sections import Section
    from ..infer.file import Index


class Around(NamedTuple):
    """The project around a file, what the file is called there, and its cells."""

    project: Index | None = None
    name: str = ""
    sections: Sequence[Section] = ()
