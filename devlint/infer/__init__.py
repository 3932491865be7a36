"""Inference: which value is a tensor, a module or a batch, and on which device it lives."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from ..bind.sections import Section, arranged
from ..bind.text import Text
from ..core.events import Event
from ..core.summary import ModuleSummary
from ..span import Span
from . import edited
from .abroad import name_of
from .file import File, Index
from .observe import Wants, everything, observed
from .reveal import describe
from .room import with_room
from .settle import Settled


class Inference(NamedTuple):
    """What was learned of one file."""

    events: tuple[Event, ...]
    """In source order."""
    reveals: tuple[tuple[int, str], ...]
    """The line and description of each `reveal_device(x)`."""


def infer(
    text: str,
    tree: ast.Module | None = None,
    *,
    wants: Wants = everything,
    index: Index | None = None,
    name: str = "",
    sections: Sequence[Section] = (),
) -> Inference:
    """Infer the values and devices of a module from its source.

    `tree` is the parsed text, if the caller has it. Events that nobody `wants`, by type and name, are left
    out. `index` tells what other files of the project define, `name` what this one is called there;
    `sections` are the cells, where the text is a notebook's.

    Raises SyntaxError, ValueError (a NUL byte) or RecursionError when the source cannot be read.
    """
    module = ast.parse(text) if tree is None else tree
    found, file = infer_and_keep(text, module, wants=wants, index=index, name=name, sections=sections)
    file.release()
    return found


def infer_and_keep(
    text: str,
    tree: ast.Module,
    *,
    wants: Wants = everything,
    index: Index | None = None,
    name: str = "",
    sections: Sequence[Section] = (),
) -> tuple[Inference, File]:
    """As `infer`, with the analysis, which the caller has to release."""
    file = File(arranged(tree, text, sections), name, index)
    return with_room(lambda: _inferred(file, text, wants, sections)), file


def follow(file: File, before: str, after: str) -> str | None:
    """Bring the analysis of a text up to date with another, where only the body of a function differs.

    Its name, empty where nothing but comments do; None where more does, or counts.
    """
    return with_room(lambda: edited.follow(file, before, after))


def look(file: File, text: str, wants: Wants) -> Inference:
    """What is learned of a file that is analysed."""
    return with_room(lambda: _seen(file, text, wants, ()))


def _inferred(file: File, text: str, wants: Wants, sections: Sequence[Section]) -> Inference:
    file.analyse()
    return _seen(file, text, wants, sections)


def _seen(file: File, text: str, wants: Wants, sections: Sequence[Section]) -> Inference:
    settled = Settled(file)
    found = observed(settled, Text(text), wants, sections)
    shown = {line: each for log in file.logs.values() for line, each in log.reveals.items()}
    reveals = tuple(
        (line, describe(settled, settled.in_use(value), place))
        for line, (value, place) in sorted(shown.items())
    )
    return Inference(found, reveals)


def summarise(tree: ast.Module, name: str, index: Index | None = None) -> ModuleSummary:
    """What a module defines, for the files that import it; raises as `infer` does."""
    file = File(tree, name, index)
    with_room(file.analyse)
    summary = file.module_summary()
    file.release()
    return summary


def locate(text: str, name: str, node: tuple[str, int], index: Index | None = None) -> Span | None:
    """Where a node stands that the summary of this module named, as its function and its number in that.

    Numbers are given as the analysis goes, so it is made again; raises as `infer` does.
    """
    file = File(ast.parse(text), name, index)
    with_room(file.analyse)
    found = place(file, text, node)
    file.release()
    return found


def place(file: File, text: str, node: tuple[str, int]) -> Span | None:
    """Where a node of an analysed file stands, by its function and its number in that."""
    function, number = node
    home = file.module if function == name_of(file.name) else file.functions.get(function)
    found = home.nodes[number] if home is not None and 0 <= number < len(home.nodes) else None
    return Text(text).span(found) if isinstance(found, (ast.expr, ast.stmt)) else None
