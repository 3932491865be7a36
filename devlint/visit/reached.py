"""Whether a place is only reached by a call that nobody makes: with a flag up that all leave down."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.summary import Answers, Calling

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOWN, _NONE = "f", "n"


class Flag(NamedTuple):
    """A parameter that must be true, or given at all, where a place is reached."""

    name: str
    down: Answers
    """What is true of it where that place is not reached."""


def flags(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> tuple[ast.AST | None, tuple[Flag, ...]]:
    """The function around a node, and its parameters that are down by default and have to be up there."""
    asked: list[Flag] = []
    while (above := parents.get(node)) is not None and not isinstance(node, (*_FUNCTIONS, ast.Lambda)):
        if isinstance(above, ast.If) and node in above.body:
            asked += _asked(above.test)
        node = above
    if not isinstance(node, _FUNCTIONS):
        return None, ()
    defaults = dict(_defaults(node.args)) if asked else {}
    found = [each for each in asked if each.name in defaults and defaults[each.name] in each.down]
    if not found:
        return node, ()
    bound = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and _is_bound(each)}
    return node, tuple(each for each in found if each.name not in bound)


def is_down(flag: Flag, calls: Sequence[Calling]) -> bool:
    """Whether there are calls, and all of them leave a flag down."""
    return bool(calls) and all(_leaves_down(flag, each) for each in calls)


def _leaves_down(flag: Flag, call: Calling) -> bool:
    given = next((each for each in call.passed if each.name == flag.name), None)
    if given is None:
        return not call.open
    return bool(given.means) and given.means in flag.down


def _asked(test: ast.expr) -> Iterator[Flag]:
    """The variables that have to be true, or something, for a condition to hold."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            yield from _asked(part)
    elif isinstance(test, ast.Name):
        yield Flag(test.id, _DOWN + _NONE)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
        operator, other = test.ops[0], test.comparators[0]
        if not isinstance(other, ast.Constant):
            return
        if isinstance(operator, (ast.Is, ast.Eq)) and other.value is True:
            yield Flag(test.left.id, _DOWN + _NONE)
        elif isinstance(operator, (ast.IsNot, ast.NotEq)) and other.value is None:
            yield Flag(test.left.id, _NONE)


def _defaults(args: ast.arguments) -> Iterator[tuple[str, Answers]]:
    plain = [*args.posonlyargs, *args.args]
    pairs = zip(reversed(plain), reversed(args.defaults), strict=False)
    for arg, default in (*pairs, *zip(args.kwonlyargs, args.kw_defaults, strict=True)):
        if isinstance(default, ast.Constant) and not default.value:
            yield arg.arg, _NONE if default.value is None else _DOWN


def _is_bound(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)
