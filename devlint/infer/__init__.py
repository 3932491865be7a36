"""Inference: which value is a tensor, a module or a batch, and on which device it lives."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import NamedTuple

from . import calls as _calls  # noqa: F401  # registers the evaluation of calls
from .facts import AnyFact
from .module import Module
from .resolve import facts, in_use
from .reveal import describe
from .sections import Section, arranged
from .values import Value


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
    module.analyse()
    return {name: value for name, value in module.state.env.items() if isinstance(name, str)}
