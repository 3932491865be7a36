"""Modules that one branch makes and moves, and the other branch makes alike and leaves on the cpu."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .. import knowledge
from ..bind.names import last_name
from ..core.kinds import Kind
from ..core.places import Form
from ..core.values import Api, Defined, Value
from .holdings import has_weights
from .log import Log, RawMove
from .settle import Settled
from .stays import may_move_itself

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
            arms = [_bound(body, log) for body in _arms(node)]
            for name in sorted(set().union(*arms)):
                made = [arm[name] for arm in arms if name in arm]
                moves = next((each.moved for each in made if each.moved is not None), None)
                if moves is None or _moved_later(settled, home.node, node, name, log):
                    continue
                raw = log.moves[moves]
                if any(_asks(each.test, raw) for each in _chained(node)):
                    continue
                for each in made:
                    if each.moved is not None or not each.alone or is_told(each.call):
                        continue
                    alike = any(
                        other.moved is not None
                        and ast.unparse(each.call.func) == ast.unparse(other.call.func)
                        for other in made
                    )
                    shown = raw.receiver.kind is Kind.MODULE or is_module(settled, function, each.call)
                    if is_heavy_class(settled, each.call) or (alike and shown):
                        yield Half(function, each.call, name, moves, raw)


def is_heavy_class(settled: Settled, call: ast.Call) -> bool | None:
    """Whether a call makes a module that has something to move and does not move itself; None if unknown."""
    root: ast.expr = call.func
    rest = ""
    while isinstance(root, ast.Attribute):
        rest, root = f".{root.attr}{rest}", root.value
    value = settled.file.top(root.id) if isinstance(root, ast.Name) else None
    known = value.known if value is not None else None
    if isinstance(known, Api):
        found = settled.file.resolve(known.dotted + rest)
        if found is None or found.kind is Kind.LIBRARY:
            return None if knowledge.find(known.dotted + rest) is None else False
        known = found.known
    if not isinstance(known, Defined):
        return None
    view = settled.file.view(known.dotted)
    if view is None or not view.is_module:
        return None if view is None else False
    module = Value(Kind.MODULE, known=known)
    return has_weights(module, settled.file) and not may_move_itself(settled, known.dotted)


def _chained(node: ast.If) -> Iterator[ast.If]:
    """A condition, and those that are asked where it does not hold."""
    yield node
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        node = node.orelse[0]
        yield node


def _arms(node: ast.If) -> Iterator[list[ast.stmt]]:
    """What is done where one of several conditions holds, and where none does."""
    *_, last = chain = list(_chained(node))
    yield from (each.body for each in chain)
    yield last.orelse


def _branches(node: ast.AST) -> Iterator[ast.If]:
    """The conditions of one function that have two branches."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(child, ast.If) and child.orelse:
            yield child
            for body in _arms(child):
                for statement in body:
                    yield from _branches(ast.Module([statement], []))
        elif isinstance(child, (ast.stmt, ast.ExceptHandler)):
            yield from _branches(child)


def _bound(body: Sequence[ast.stmt], log: Log) -> dict[str, _Made]:
    """The variables that a branch binds to what it makes, and whether it moves that."""
    found: dict[str, _Made] = {}
    for statement in body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        value = getattr(statement, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.Call):
            made, moved = stripped(value, log)
            if isinstance(made, ast.Call):
                found[target.id] = _Made(made, moved, True)
                continue
            if isinstance(made, ast.Name) and made.id == target.id and target.id in found:
                found[target.id] = found[target.id]._replace(moved=moved or found[target.id].moved)
                continue
            found.pop(target.id, None)
        elif isinstance(statement, ast.Expr) and isinstance(value, ast.Call):
            made, moved = stripped(value, log)
            if isinstance(made, ast.Name) and made.id in found and moved is not None:
                found[made.id] = found[made.id]._replace(moved=moved)
                continue
        for name, each in found.items():
            if _is_given(statement, name):
                found[name] = each._replace(alone=False)
    return found


def stripped(node: ast.expr, log: Log) -> tuple[ast.expr, ast.Call | None]:
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
        if isinstance(node, ast.Call) and gives(node, name):
            return True
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return True
    return False


def gives(call: ast.Call, name: str) -> bool:
    """Whether a call is given what a variable holds."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(isinstance(each, ast.Name) and each.id == name for each in given)


def _asks(test: ast.expr, raw: RawMove) -> bool:
    """Whether the condition is about devices, or anything makes sure of one where the move is."""
    return raw.why.guarded or raw.why.absent or knowledge.speaks_of_devices(ast.unparse(test))


def is_told(call: ast.Call) -> bool:
    """Whether what makes a module is told, as far as names say, where to make it."""
    if any(keyword.arg is None for keyword in call.keywords):
        return True
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    names = [*map(last_name, given), *(keyword.arg or "" for keyword in call.keywords)]
    return any("device" in knowledge.hints("option", name) for name in names)


def is_module(settled: Settled, function: str, call: ast.Call) -> bool:
    """Whether use shows that what a call makes is a module."""
    home = settled.file.functions.get(function, settled.file.module)
    for role in ("", "made"):
        ref = settled.objects.made(function, home.number(call), role)
        if settled.in_use(Value(Kind.UNKNOWN, who=ref)).kind is Kind.MODULE:
            return True
    return False


def _moved_later(settled: Settled, home: ast.AST, branch: ast.If, name: str, log: Log) -> bool:
    """Whether the variable is moved after a condition, or bound to what nobody knows made of it."""
    for node in ast.walk(home):
        if getattr(node, "lineno", 0) <= (branch.end_lineno or 0):
            continue
        if isinstance(node, ast.Call):
            of = stripped(node, log)[0]
            raw = log.moves.get(node)
            if isinstance(of, ast.Name) and of.id == name and raw is not None and raw.target is not None:
                return True
            if gives(node, name) and not _wraps(node, log) and is_told(node) and not only_runs(settled, node):
                return True
        given = node.value if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(given, ast.Call) and _is_given(ast.Expr(given), name):
            made, moved = stripped(given, log)
            known = isinstance(made, ast.Call) and _wraps(made, log)
            bound = any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
            if bound and not (known or (moved is not None and _is_conditional(home, branch, node))):
                return True
    return False


def only_runs(settled: Settled, call: ast.Call) -> bool:
    """Whether a call is one of a function of the file that moves nothing that it is given."""
    value = settled.file.top(call.func.id) if isinstance(call.func, ast.Name) else None
    known = value.known if value is not None else None
    log = settled.logs.get(known.dotted) if isinstance(known, Defined) else None
    if log is None:
        return False
    moved = (raw.receiver.who for raw in log.moves.values())
    return not log.sites and not any(type(ref) is int and settled.objects.is_parameter(ref) for ref in moved)


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
