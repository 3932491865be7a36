"""Inference: which value is a tensor, a module or a batch, and on which device it lives."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from ..core.events import Event
from . import calls as _calls  # noqa: F401  # registers the evaluation of calls
from .module import Module, Wants, everything
from .resolve import in_use
from .reveal import describe
from .settle import events
from .values import Value


class Inference(NamedTuple):
    """What was learned of one file."""

    events: tuple[Event, ...]
    """In source order."""
    reveals: tuple[tuple[int, str], ...]
    """The line and description of each `reveal_device(x)`."""


def infer(
    text: str,
    tree: ast.Module | None = None,
    lookup: Callable[[str], Value | None] | None = None,
    wants: Wants = everything,
) -> Inference:
    """Infer the values and devices of a module from its source.

    `tree` is the parsed text, if the caller has it. `lookup` tells what other files of the project define
    under a dotted name: a function, a class or a value; None where that is not known. Events that nobody
    `wants`, by type and name, are left out.

    Raises SyntaxError, ValueError (a NUL byte) or RecursionError when the source cannot be read.
    """
    module = Module(ast.parse(text) if tree is None else tree, lookup, wants)
    module.analyse()
    found = events(module, text)
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
