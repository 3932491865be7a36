"""Inference: which value is a tensor, a module or a batch, and on which device it lives."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from . import calls as _calls  # noqa: F401  # registers the evaluation of calls
from .facts import AnyFact
from .module import Module
from .resolve import facts, in_use
from .reveal import describe
from .sections import Section, arranged
from .values import Value

_ROOM = 6000
"""Frames that the inference may need: for `_MAX_NESTING` expressions, or some thousand `elif`s."""
T = TypeVar("T")


class Inference(NamedTuple):
    """What was learned of one file."""

    facts: tuple[AnyFact, ...]
    """In source order."""
    reveals: tuple[tuple[int, str], ...]
    """The line and description of each `reveal_device(x)`."""


def infer(
    text: str,
    tree: ast.Module | None = None,
    lookup: Callable[[str], Value | None] | None = None,
    sections: Sequence[Section] = (),
) -> Inference:
    """Infer the values and devices of a module from its source.

    `tree` is the parsed text, if the caller has it. `lookup` tells what other files of the project define
    under a dotted name: a function, a class or a value; None where that is not known. `sections` are the
    cells, where the text is a notebook's.

    Raises SyntaxError, ValueError (a NUL byte) or RecursionError when the source cannot be read.
    """
    module = Module(arranged(ast.parse(text) if tree is None else tree, text, sections), lookup)
    return _with_room(lambda: _inferred(module, text, sections))


def _inferred(module: Module, text: str, sections: Sequence[Section]) -> Inference:
    module.analyse()
    found = facts(module, text, sections)
    reveals = tuple(
        (line, describe(in_use(value), device)) for line, (value, device) in sorted(module.reveals.items())
    )
    return Inference(found, reveals)


def exports(text: str, lookup: Callable[[str], Value | None] | None = None) -> dict[str, Value]:
    """Infer what a module defines at its top level, for the `lookup` of the files that import it.

    Functions and classes come with their summaries: a call from another file means what it means here.

    Raises as `infer` does.
    """
    module = Module(ast.parse(text), lookup)
    _with_room(module.analyse)
    return {name: value for name, value in module.state.env.items() if isinstance(name, str)}


def _with_room(work: Callable[[], T]) -> T:
    """Let `work` recurse as deep as it may wherever it is called from: its results depend on the text alone.

    Before Python 3.11, calls take up the C stack, whose size nobody knows: what is too deep stays unknown.
    """
    if sys.version_info < (3, 11):
        return work()
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, depth + _ROOM))
    try:
        return work()
    finally:
        sys.setrecursionlimit(limit)
