"""An analysis that follows an edit: where only the body of one function has changed, that is analysed again.

Those that call it are told what it does now. All others keep what was learned of them, if what it leaves
behind and passes on is what it was. So do all functions where statements of the module have changed that say
nothing to them. Wherever that is not certain, the text takes an analysis from the start.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..bind.graft import Change, Plain, change
from ..bind.names import names_in
from ..bind.text import Text
from ..bind.walk import descendants
from ..core.places import CPU
from ..knowledge import ASSIGNS_BY_NAME
from .classes import Class, acts_as_module
from .definitions import moved_for_another
from .function import CONSTRUCTORS

if TYPE_CHECKING:
    from .definitions import Function
    from .file import File
    from .function import Outcome
    from .log import Log

_LASTS = (ast.Global, ast.Nonlocal, ast.ClassDef)
"""What binds names that are not the function's own, or is run but once."""
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_KNOWN = (*_INNER, ast.Import, ast.ImportFrom)
"""What the rest of the file knows as well: it has to be the same."""
_INERT = (ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp, ast.unaryop)
"""What computes no tensor."""
MODULE = "<module>"
"""What the module's own statements are called."""
_MOST = 100
"""Edits that one analysis follows: it knows all that there ever was."""
_MOST_AGAIN = 24
"""Functions that are analysed again for what they call: with more, all may as well be."""


class _Face(NamedTuple):
    """What must stay as it is for the rest of a file to stay so, but for what callers are told."""

    outcomes: tuple[tuple[object, ...], ...]
    inner: tuple[tuple[object, ...], ...]
    """Where the functions in it are defined."""
    traits: tuple[object, ...]
    """What its syntax tells."""
    natures: tuple[object, ...]
    """What it says of the hardware that is there."""


def follow(file: File, before: str, after: str) -> str | None:
    """Bring the analysis of a text up to date with another, and return the name of the function that changed.

    The name is empty where none has, and `MODULE` where the module's own statements have. None where it takes
    an analysis from the start; this one may be spoiled then.
    """
    if file.followed >= _MOST:
        file.is_spoiled = True
        return None
    lines = Text(after).lines
    found = change(file.tree, Text(before).lines, lines)
    if found is None:
        return None
    file.followed += 1
    if found.plain is not None and (found.plain.gone or found.plain.now):
        return _follow_module(file, found, found.plain, lines)
    if found.function is None:
        found.make(file.nodes)
        return ""
    function = file.function_of(found.function)
    if function is None or file.is_in_circle(function.name):
        return None
    nodes, labels = descendants(function.node), file.objects.labels.copy()
    was, outcomes = _face(file, function, nodes)
    if not _is_settled(file, function, outcomes):
        return None
    file.is_spoiled = True
    found.make(file.nodes)
    file.forget_nodes(function.node)
    function.forget_syntax()
    now = descendants(function.node)
    if any(isinstance(each, _LASTS) for each in (*nodes, *now)) or _known(nodes) != _known(now):
        return None
    face, outcomes = _face(file, function, now)
    logs = _told(file, function, outcomes) if outcomes and face == was else None
    if logs is None or not file.takes(logs):
        return None
    # What is evaluated once more may get a name that it had not when it was made: sentences go without it.
    file.objects.labels[: len(labels)] = labels
    file.is_spoiled = False
    return function.own_name


def _follow_module(file: File, found: Change, plain: Plain, lines: Sequence[str]) -> str | None:
    """Run the module's statements again, where what has changed of them says nothing to its functions."""
    statements, labels = [*plain.gone, *plain.now], file.objects.labels.copy()
    if file.is_changed_from_inside or any(map(_counts_anywhere, statements)):
        return None
    file.is_spoiled = True
    if not file.is_run_again:
        known, variables, log = file.face(), file.variables(), file.logs[""]
        file.run_module_again()
        if (known, variables) != (file.face(), file.variables()) or not log.says_the_same(file.logs[""]):
            return None
        file.is_run_again = True
    was, variables, log = file.face(), file.variables(), file.logs[""]
    found.make(file.nodes)
    file.forget_nodes(None)
    file.run_module_again()
    if file.face() != was:
        return None
    now = file.variables()
    other = {key for key in {*variables, *now} if variables.get(key) != now.get(key)}
    rest = "\n".join((*lines[: plain.first], *lines[plain.end :]))
    if any(not isinstance(key, str) or re.search(rf"\b{re.escape(key)}\b", rest) for key in other):
        return None
    if not file.takes({"": file.logs[""]}, (log,)):
        return None
    file.objects.labels[: len(labels)] = labels
    file.is_spoiled = False
    return "" if all(_is_inert(each, file) for each in statements) else MODULE


def _counts_anywhere(statement: ast.stmt) -> bool:
    """Whether all of a file may be seen in another light by what a statement says."""
    nodes = descendants(statement)
    return any(isinstance(each, ast.Constant) and each.value == CPU.name for each in nodes) or any(
        map(moved_for_another, nodes)
    )


def _is_inert(statement: ast.stmt, file: File) -> bool:
    """Whether a statement assigns what has no tensor in it, or imports a library, and does nothing else."""
    if isinstance(statement, ast.ImportFrom):
        return not statement.level and _is_library(statement.module or "", file)
    if isinstance(statement, ast.Import):
        return all(_is_library(each.name, file) for each in statement.names)
    nodes = descendants(statement)[1:]
    return isinstance(statement, ast.Assign) and all(isinstance(each, _INERT) for each in nodes)


def _is_library(dotted: str, file: File) -> bool:
    return file.index is None or not file.index.has(dotted)


def _told(file: File, function: Function, outcomes: list[Outcome]) -> dict[str, Log] | None:
    """Tell callers what a function does now, and theirs what they do then; the logs of all that ran for that.

    None where that changes more than what callers are told, or takes too long.
    """
    logs: dict[str, Log] = {}
    new, left = [(function, outcomes)], _MOST_AGAIN
    while new:
        logs |= {each.name: found[-1].log for each, found in new}
        summaries = [found[0].summary for _, found in new if not file.is_summary(found[0].summary)]
        users = file.users({each.name for each in summaries})
        if users is None or len(users) > left:
            return None
        left -= len(users)
        faces = [_face(file, each, descendants(each.node)) for each in users]
        if not all(_is_settled(file, each, found) for each, (_, found) in zip(users, faces, strict=True)):
            return None
        for summary in summaries:
            file.tell(summary)
        new = []
        for each, (was, _) in zip(users, faces, strict=True):
            face, found = _face(file, each, descendants(each.node))
            if not found or face != was:
                return None
            new.append((each, found))
    return logs


def _known(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    return [each for each in nodes if isinstance(each, _KNOWN)]


def _face(file: File, function: Function, nodes: list[ast.AST]) -> tuple[_Face, list[Outcome]]:
    said = file.natures.pop(function.name, None)
    outcomes = file.outcomes(function)
    scopes = (node for node in nodes[1:] if isinstance(node, _INNER))
    inner = [each for node in scopes if (each := file.function_of(node)) is not None]
    cls = file.classes.get(function.owner) if function.owner is not None else None
    face = _Face(
        tuple(_seen_of(file, function, each) for each in outcomes),
        tuple(map(_around, inner)),
        (
            function.assigned_attributes,
            function.is_left_open,
            any(isinstance(each, ast.Constant) and each.value == CPU.name for each in nodes),
            {name for each in nodes if (name := moved_for_another(each))},
            _acts_as_module(cls) if cls is not None else None,
            cls.assigns_any
            if cls is not None and not ASSIGNS_BY_NAME.isdisjoint(names_in(function.node))
            else None,
        ),
        (file.natures.get(function.name), tuple(file.nature), file.why),
    )
    if said is not None:
        file.natures[function.name] = said
    return face, outcomes


def _seen_of(file: File, function: Function, outcome: Outcome) -> tuple[object, ...]:
    """What a run leaves behind, and what it shows of the object whose method it is."""
    log = outcome.log
    return (
        outcome.attributes,
        outcome.added,
        outcome.after_init,
        outcome.requires if function.own_name in CONSTRUCTORS else None,
        outcome.summary.reaches - file.reached_beside(function),
        log.registered,
        log.sized,
        file.begins(function, log),
    )


def _acts_as_module(cls: Class) -> bool | None:
    """What its code shows of what a class derives from; None where nobody asks."""
    if cls.node is None or not cls.node.bases or (cls.is_module and not cls.is_guessed):
        return None
    return acts_as_module(cls.node)


def _around(function: Function) -> tuple[object, ...]:
    """What a function finds of that which it is defined in."""
    names = names_in(function.node)
    known = {
        key: value
        for key, value in (function.enclosing or {}).items()
        if not isinstance(key, str) or key in names
    }
    return function.why, known, dict(function.around)


def _is_settled(file: File, function: Function, outcomes: list[Outcome]) -> bool:
    """Whether a function says once more what it said when it was analysed last."""
    log = file.logs.get(function.name)
    return (
        bool(outcomes)
        and log is not None
        and file.is_summary(outcomes[0].summary)
        and log.says_the_same(outcomes[-1].log)
    )
