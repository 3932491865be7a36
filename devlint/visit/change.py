"""Renders a rule's change of the LibCST tree as minimal edits of the original text."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, cast

import libcst

from ..finding import Edit, Fix, Position
from ..source.text import Rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from libcst.metadata import CodeRange

    from ..rule import Change
    from ..span import Span
    from .slices import Slice

    Positions = Mapping[libcst.CSTNode, CodeRange]

_NEWLINE = re.compile(r"\r\n?|\n")


class _Splice(NamedTuple):
    """Replace `before[start:end]` by `content`."""

    start: int
    end: int
    content: str


class Renderer:
    """Renders changes of one parsed slice.

    A change is rendered node by node where LibCST's code for the old node is what stands at its position,
    and by the whole slice otherwise: a slice may hold hundreds of changes.
    """

    def __init__(self, module: libcst.Module, positions: Positions, part: Slice) -> None:
        self._module = module
        self._positions = positions
        self._part = part
        self._rows = Rows(part.text)
        newline = _NEWLINE.search(part.text)
        self._newline = newline[0] if newline else "\n"
        # Form feeds before a statement and lone carriage returns are lost: such a slice is not edited.
        self._faithful = module.code == part.text

    def render(self, change: Change) -> Fix | None:
        """Return the fix, or `None` where LibCST cannot make it without touching anything else."""
        if not self._faithful:
            return None
        splices = sorted(self._replaced(old, new) for old, new in change.replacements)
        if any(left.end >= right.start for left, right in pairwise(splices)):
            splices = [self._in_module(dict(change.replacements))]
        edits = tuple(self._edit(item) for item in splices if item.content or item.start < item.end)
        edits += tuple(self._elsewhere(span, text) for span, text in change.elsewhere)
        return Fix(change.message, edits, change.safe) if edits else None

    def _elsewhere(self, span: Span, text: str) -> Edit:
        start, end = Position(span.line, span.column + 1), Position(span.end_line, span.end_column + 1)
        return Edit(start, end, _NEWLINE.sub(self._newline, text))

    def _replaced(self, old: libcst.CSTNode, new: libcst.CSTNode | None) -> _Splice:
        before = self._module.code_for_node(old)
        start = self._rows.offset(*self._start(old)) - len(self._left_parentheses(old))
        if new is None or self._part.text[start : start + len(before)] != before:
            return self._in_module({old: new})
        splice = _splice(before, self._module.code_for_node(new))
        return _Splice(start + splice.start, start + splice.end, splice.content)

    def _start(self, node: libcst.CSTNode) -> tuple[int, int]:
        place = self._positions[node].start
        return place.line, place.column

    def _left_parentheses(self, node: libcst.CSTNode) -> str:
        """Return the parentheses that belong to a node and stand before its position."""
        return "".join(self._module.code_for_node(item) for item in getattr(node, "lpar", ()))

    def _in_module(self, nodes: Mapping[libcst.CSTNode, libcst.CSTNode | None]) -> _Splice:
        changed = self._module.visit(_Replace(nodes))
        assert isinstance(changed, libcst.Module)
        return _splice(self._part.text, changed.code)

    def _edit(self, splice: _Splice) -> Edit:
        start = self._part.to_file(*self._rows.locate(splice.start))
        end = self._part.to_file(*self._rows.locate(splice.end))
        content = _NEWLINE.sub(self._newline, splice.content)
        return Edit(Position(start[0], start[1] + 1), Position(end[0], end[1] + 1), content)


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
    content = after[head : len(after) - tail]
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
