"""Renders a rule's change of the LibCST tree as minimal edits of the original text."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, cast

import libcst

from .finding import Edit, Fix, Position
from .text import Rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .rule import Change
    from .slices import Slice

_NEWLINE = re.compile(r"\r\n?|\n")


class _Splice(NamedTuple):
    """Replace `before[start:end]` by `content`."""

    start: int
    end: int
    content: str


def render(change: Change, module: libcst.Module, part: Slice) -> Fix | None:
    """Return the fix, or `None` where LibCST cannot make it without touching anything else.

    That is so where it does not give back the text that it read (form feeds, lone carriage returns).
    """
    before = part.text
    if module.code != before:
        return None
    splices = sorted(_splice(before, _replaced(module, {old: new})) for old, new in change.replacements)
    if any(left.end >= right.start for left, right in pairwise(splices)):
        splices = [_splice(before, _replaced(module, dict(change.replacements)))]
    rows = Rows(before)
    edits = tuple(
        _edit(splice, rows, part) for splice in splices if splice.content or splice.start < splice.end
    )
    return Fix(change.message, edits, change.safe) if edits else None


class _Replace(libcst.CSTTransformer):
    """Puts new nodes in place of old ones, whatever their class."""

    def __init__(self, nodes: Mapping[libcst.CSTNode, libcst.CSTNode | None]) -> None:
        super().__init__()
        self.nodes = nodes

    def on_leave(
        self, original_node: libcst.CSTNodeT, updated_node: libcst.CSTNodeT
    ) -> libcst.CSTNodeT | libcst.RemovalSentinel:
        """Replace a node that the change names; `None` removes it."""
        if original_node not in self.nodes:
            return updated_node
        new = self.nodes[original_node]
        return libcst.RemoveFromParent() if new is None else cast("libcst.CSTNodeT", new)


def _replaced(module: libcst.Module, nodes: Mapping[libcst.CSTNode, libcst.CSTNode | None]) -> str:
    changed = module.visit(_Replace(nodes))
    assert isinstance(changed, libcst.Module)
    return changed.code


def _splice(before: str, after: str) -> _Splice:
    """Return the smallest difference of two texts that does not cut a word or a line end in two.

    The common end is taken first, so that `x.to(d)` becomes `x = x.to(d)` by an insertion at its start.
    """
    tail = _common(reversed(before), reversed(after))
    head = _common(before[: len(before) - tail], after[: len(after) - tail])
    while head and _cuts(before, head, after, head):
        head -= 1
    while tail and _cuts(before, len(before) - tail, after, len(after) - tail):
        tail -= 1
    newline = _NEWLINE.search(before)
    content = after[head : len(after) - tail]
    if newline:
        content = _NEWLINE.sub(newline[0], content)
    end = len(before) - tail
    while head == end < len(before) and content[:1] in ("\t", " ") and content[0] == before[head]:
        head = end = head + 1  # of insertions that come to the same, the one that begins with a word
        content = content[1:] + content[0]
    return _Splice(head, end, content)


def _common(one: Iterable[str], other: Iterable[str]) -> int:
    """Return how many characters two texts share at the start."""
    number = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        number += 1
    return number


def _cuts(before: str, at: int, after: str, at_after: int) -> bool:
    """Whether either text has a word or a line end across this place."""
    return any(
        0 < place < len(text)
        and ((_word(text[place - 1]) and _word(text[place])) or text[place - 1 : place + 1] == "\r\n")
        for text, place in ((before, at), (after, at_after))
    )


def _word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _edit(splice: _Splice, rows: Rows, part: Slice) -> Edit:
    start = part.to_file(*rows.locate(splice.start))
    end = part.to_file(*rows.locate(splice.end))
    return Edit(Position(start[0], start[1] + 1), Position(end[0], end[1] + 1), splice.content)
