"""What the inference is told of a file beside its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..bind.sections import Section
    from ..infer.file import Index
    from ..span import Span

    class Project(Index, Protocol):
        """The files around one."""

        def locate(self, node: tuple[str, int]) -> tuple[str, Span] | None:
            """The file and the place of a node that a summary named."""


class Around(NamedTuple):
    """The project around a file, what the file is called there, and its cells."""

    project: Project | None = None
    name: str = ""
    sections: Sequence[Section] = ()
