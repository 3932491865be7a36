"""The analyses of the files that somebody edits, which follow each edit where they can."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..infer import follow, look, place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.events import Event
    from ..infer.file import File
    from ..span import Span
    from .index import Answer, View, Watching

_MOST = 8
"""Files of which the analysis is kept: of 5,300 lines it takes some six megabytes beside the tree."""


class _Kept(NamedTuple):
    """An analysis, and what it depends on."""

    text: str
    rules: Watching
    answers: Mapping[str, Answer]
    """What the project was said to define."""
    file: File


class Edits:
    """Keeps the analyses of the files that were linted last."""

    def __init__(self) -> None:
        """Begin with none."""
        self._kept: dict[str, _Kept] = {}

    def edited(self, view: View, text: str, rules: Watching) -> tuple[tuple[Event, ...], File] | None:
        """The events of a file, by the analysis that was kept of an earlier text, which is kept on.

        None where that is of no use: for this text, or for any.
        """
        kept = self._kept.pop(view.path, None)
        if kept is None:
            return None
        file, file.index = kept.file, view
        same = kept.rules is rules and view.tells(kept.answers)
        changed = follow(file, kept.text, text) if same else None
        if changed is not None:
            view.answers.update(kept.answers)
            view.followed(kept.text, text, changed)
            found = look(file, text, rules.wants)
            self.keep(view, text, rules, file)
            return found.events, file
        if file.is_spoiled:
            _let_go(file)
        else:  # of a text that cannot be parsed, perhaps
            self._kept[view.path] = kept
        return None

    def keep(self, view: View, text: str, rules: Watching, file: File) -> None:
        """Keep the analysis of a file, in place of that which was kept longest if need be."""
        before = self._kept.pop(view.path, None)
        if before is not None:
            _let_go(before.file)
        file.lasting = True
        self._kept[view.path] = _Kept(text, rules, view.answers, file)
        if len(self._kept) > _MOST:
            # Whoever has it still will let go of it; nobody knows who does.
            self._kept.pop(next(iter(self._kept))).file.lasting = False

    def span(self, path: str, text: str, node: tuple[str, int]) -> Span | None:
        """Where a node stands in a file whose analysis is kept, by its function and its number in that."""
        kept = self._kept.get(path)
        return place(kept.file, text, node) if kept is not None and kept.text == text else None


def _let_go(file: File) -> None:
    file.lasting = False
    file.release()
