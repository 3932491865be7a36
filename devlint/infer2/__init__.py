"""Inference: which value is a tensor, a module or a batch, and on which device it lives."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from ..core.summary import ModuleSummary
from ..infer.facts import AnyFact
from ..infer.sections import Section, arranged
from .facts_adapter import facts
from .file import File, Index
from .reveal import describe
from .settle import Settled


class Inference(NamedTuple):
    """What was learned of one file."""

    facts: tuple[AnyFact, ...]
    reveals: tuple[tuple[int, str], ...]
    """The line and description of each `reveal_device(x)`."""


def infer(
    text: str,
    tree: ast.Module | None = None,
    index: Index | None = None,
    name: str = "",
    sections: Sequence[Section] = (),
) -> Inference:
    """Infer the values and devices of a module from its source.

    Raises SyntaxError, ValueError (a NUL byte) or RecursionError when the source cannot be read.
    """
    file = File(arranged(ast.parse(text) if tree is None else tree, text, sections), name, index)
    file.analyse()
    settled = Settled(file)
    shown = {line: each for log in file.logs.values() for line, each in log.reveals.items()}
    reveals = tuple(
        (line, describe(settled, settled.in_use(value), place)) for line, (value, place) in sorted(shown.items())
    )
    result = Inference(facts(file, settled, text), reveals)
    file.release()
    return result


def summarise(tree: ast.Module, name: str, index: Index) -> ModuleSummary:
    """What a module defines, for the files that import it."""
    file = File(tree, name, index)
    file.analyse()
    summary = file.module_summary()
    file.release()
    return summary
