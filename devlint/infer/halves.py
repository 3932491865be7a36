"""Modules that one branch makes and moves, and the other branch makes alike and leaves on the cpu."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .. import knowledge
from ..bind.names import last_name
from ..core.kinds import Kind
from ..core.places import Form
from ..core.values import Value
from .log import Log, RawMove
from .settle import Settled

_CHAINED = knowledge.MOVES | knowledge.CASTS | knowledge.WHOLE_MODULE
"""Methods of a module that give that very module."""


class Half(NamedTuple):
    """A module that is moved where it is made in one branch, and not in the other."""

    function: str
    made: ast.Call
    """Where it is made and not moved."""
    name: str
    moved: ast.Call
    """What moves it in the other branch."""
    raw: RawMove


class _Made(NamedTuple):
    """What a branch binds a variable to."""

    call: ast.Call
    moved: ast.Call | None
    alone: bool
    """Whether the branch gives it to nothing that might move it."""


def halves(settled: Settled) -> Iterator[Half]:
    """Each such module, unless the program moves it, or might, where the branches have met."""
    for function, log in settled.logs.items():
        home = settled.file.functions.get(function) if function else settled.file.module
        view = settled.file.view(home.owner) if home is not None and home.owner is not None else None
        if home is None or not log.moves or (view is not None and view.framework):
            continue
        for node in _branches(home.node):
            one, other = _bound(node.body, log), _bound(node.orelse, log)
            for name in one.keys() & other.keys():
                mine, theirs = one[name], other[name]
                if (mine.moved is None) is (theirs.moved is None):
                    continue
                left, moves = (mine, theirs.moved) if mine.moved is None else (theirs, mine.moved)
                assert moves is not None
                raw = log.moves[moves]
                alike = ast.dump(mine.call.func) == ast.dump(theirs.call.func)
                if not (alike and left.alone) or _asks(node.test, raw) or _told(left.call):
                    continue
                if _is_module(settled, function, left.call, raw) and not _moved_later(
                    home.node, node, name, log
                ):
                    yield Half(function, left.call, name, moves, raw)


def _branches(node: ast.AST) -> Iterator[ast.If]:
    """The conditions of one function that have two branches."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(child, ast.If) and child.orelse:
            yield child
        if isinstance(child, (ast.stmt, ast.ExceptHandler)):
            yield from _branches(child)


def _bound(body: Sequence[ast.stmt], log: Log) -> dict[str, _Made]:
    """The variables that a branch binds to what it makes, and whether it moves that."""
    found: dict[str, _Made] = {}
    for statement in body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        value = getattr(statement, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.Call):
            made, moved = _stripped(value, log)
            if isinstance(made, ast.Call):
                found[target.id] = _Made(made, moved, True)
                continue
            if isinstance(made, ast.Name) and made.id == target.id and target.id in found:
                found[target.id] = found[target.id]._replace(moved=moved or found[target.id].moved)
                continue
            found.pop(target.id, None)
        elif isinstance(statement, ast.Expr) and isinstance(value, ast.Call):
            made, moved = _stripped(value, log)
            if isinstance(made, ast.Name) and made.id in found and moved is not None:
                found[made.id] = found[made.id]._replace(moved=moved)
                continue
        for name, each in found.items():
            if _is_given(statement, name):
                found[name] = each._replace(alone=False)
    return found


def _stripped(node: ast.expr, log: Log) -> tuple[ast.expr, ast.Call | None]:
    """What moves, casts and modes are called on, and the move among them."""
    moved: ast.Call | None = None
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHAINED:
        raw = log.moves.get(node)
        if raw is not None and raw.target is not None and raw.target.form is not Form.CPU:
            moved = node
        node = node.func.value
    return node, moved


def _is_given(statement: ast.stmt, name: str) -> bool:
    """Whether a statement gives the value of a variable to a call, or binds the variable anew."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and _gives(node, name):
            return True
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return True
    return False


def _gives(call: ast.Call, name: str) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(isinstance(each, ast.Name) and each.id == name for each in given)


def _asks(test: ast.expr, raw: RawMove) -> bool:
    """Whether the condition is about devices, or anything makes sure of one where the move is."""
    return raw.why.guarded or raw.why.absent or knowledge.speaks_of_devices(ast.unparse(test))


def _told(call: ast.Call) -> bool:
    """Whether what makes a module is told, as far as names say, where to make it."""
    if any(keyword.arg is None for keyword in call.keywords):
        return True
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    names = [*map(last_name, given), *(keyword.arg or "" for keyword in call.keywords)]
    return any("device" in knowledge.hints("option", name) for name in names)


def _is_module(settled: Settled, function: str, call: ast.Call, raw: RawMove) -> bool:
    if raw.receiver.kind is Kind.MODULE:
        return True
    home = settled.file.functions.get(function, settled.file.module)
    for role in ("", "made"):
        ref = settled.objects.made(function, home.number(call), role)
        if settled.in_use(Value(Kind.UNKNOWN, who=ref)).kind is Kind.MODULE:
            return True
    return False


def _moved_later(home: ast.AST, branch: ast.If, name: str, log: Log) -> bool:
    """Whether the variable is moved after a condition, or bound to what nobody knows made of it."""
    for node in ast.walk(home):
        if getattr(node, "lineno", 0) <= (branch.end_lineno or 0):
            continue
        if isinstance(node, ast.Call):
            of = _stripped(node, log)[0]
            raw = log.moves.get(node)
            if isinstance(of, ast.Name) and of.id == name and raw is not None and raw.target is not None:
                return True
            if _gives(node, name) and not _wraps(node, log) and _told(node):
                return True
        given = node.value if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(given, ast.Call) and _is_given(ast.Expr(given), name):
            made, moved = _stripped(given, log)
            known = isinstance(made, ast.Call) and _wraps(made, log)
            bound = any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
            if bound and not (known or (moved is not None and _is_conditional(home, branch, node))):
                return True
    return False


def _wraps(call: ast.Call, log: Log) -> bool:
    """Whether a call gives a module that runs the one it is given, where that is."""
    raw = log.calls.get(call)
    row = knowledge.find(raw.callee) if raw is not None else None
    return row is not None and row.by in ("modules.wrap", "modules.scatter")


def _is_conditional(home: ast.AST, branch: ast.If, node: ast.stmt) -> bool:
    """Whether a condition that `branch` is not under decides if a statement is reached."""
    return any(
        isinstance(each, ast.If)
        and each.lineno <= node.lineno <= (each.end_lineno or 0)
        and not each.lineno <= branch.lineno <= (each.end_lineno or 0)
        for each in ast.walk(home)
    )
