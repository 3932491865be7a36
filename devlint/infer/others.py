"""Which objects a file reads attributes of that none of its classes has: settings, mostly."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .. import knowledge

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class _Name(NamedTuple):
    """What stands for an object in a function, or of a `self`, in a class."""

    scope: ast.AST | None
    names: tuple[str, ...]


def of_others(nodes: Iterable[ast.AST], parents: Mapping[ast.AST, ast.AST]) -> set[ast.Attribute]:
    """The attributes that belong to none of the objects of a file's own classes.

    `args.teacher` is none of what has a teacher, where `args.lr` is read as well and nothing has one.
    """
    nodes, named = list(nodes), _Naming(parents)
    defined = {name for node in nodes for name in _defined(node)}
    read: dict[_Name, list[ast.Attribute]] = {}
    bound: dict[_Name, int] = {}
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            whose = named(node.value)
            if whose is not None:
                read.setdefault(whose, []).append(node)
        whose = named(node) if isinstance(getattr(node, "ctx", None), ast.Store) else named.given(node)
        if whose is not None:
            bound[whose] = bound.get(whose, 0) + 1
        asked = _asked(node)
        whose = named(asked) if asked is not None else None
        if whose is not None:
            bound[whose] = 2  # it is one thing or another
    return {
        each
        for whose, all_of in read.items()
        if bound.get(whose, 0) < 2 and any(_is_foreign(each.attr, defined) for each in all_of)
        for each in all_of
    }


def _defined(node: ast.AST) -> Iterable[str]:
    """The attributes that a piece of syntax may give an object."""
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return (node.attr,)
    if isinstance(node, ast.ClassDef):
        targets = (part for each in node.body for part in _targets(each))
        return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    return (node.name,) if isinstance(node, _DEFINITIONS) else ()


def _targets(statement: ast.stmt) -> Iterable[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    return (statement.target,) if isinstance(statement, (ast.AnnAssign, ast.AugAssign)) else ()


def _is_foreign(name: str, defined: set[str]) -> bool:
    return name not in defined and not name.startswith(2 * knowledge.PRIVATE)


def _asked(node: ast.AST) -> ast.expr | None:
    """What is asked for its class, or whether it has an attribute."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        return node.args[0] if node.func.id in knowledge.ASKS_FOR_KIND else None
    return None


class _Naming:
    """Names for what expressions stand for."""

    def __init__(self, parents: Mapping[ast.AST, ast.AST]) -> None:
        self._parents = parents

    def __call__(self, node: ast.AST) -> _Name | None:
        """The name of what an expression stands for; None where it is no name, or the `self` of a method."""
        names: list[str] = []
        root = node
        while isinstance(root, ast.Attribute):
            names.append(root.attr)
            root = root.value
        if not isinstance(root, ast.Name):
            return None
        scope = self._scope(root)
        if _first(scope) == root.id:
            owner = self._parents.get(scope) if scope is not None else None
            if isinstance(owner, ast.ClassDef):
                return _Name(owner, tuple(names)) if names else None
        return _Name(scope, (*names, root.id))

    def given(self, node: ast.AST) -> _Name | None:
        """The name of a parameter in its function."""
        return _Name(self._scope(node), (node.arg,)) if isinstance(node, ast.arg) else None

    def _scope(self, node: ast.AST) -> ast.AST | None:
        """The function around an expression; None for the module, whose classes are as one with it."""
        around = self._parents.get(node)
        while around is not None and not isinstance(around, (*_DEFINITIONS[:2], ast.Lambda)):
            around = self._parents.get(around)
        return around


def _first(scope: ast.AST | None) -> str:
    """The first parameter of a function."""
    if not isinstance(scope, (*_DEFINITIONS[:2], ast.Lambda)):
        return ""
    args = [*scope.args.posonlyargs, *scope.args.args]
    return args[0].arg if args else ""
