"""The names that expressions end in."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .walk import descendants

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def last_name(node: ast.AST) -> str:
    """The last name of a (called) dotted name, as in `a.b.c(…)`; empty for anything else."""
    if type(node) is ast.Call:
        node = node.func
    if type(node) is ast.Attribute:
        return node.attr
    return node.id if type(node) is ast.Name else ""


def is_place(node: ast.expr) -> bool:
    """Whether an expression names a variable or a part of one, so that evaluating it again is harmless."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name)


def opened(node: ast.AST) -> ast.expr | None:
    """The object whose attributes an expression gives as a mapping: `x.__dict__`, `vars(x)`."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars":
        return node.args[0] if len(node.args) == 1 else None
    return None


def bound_names(target: ast.AST) -> list[str]:
    """The variables that a target binds, in order."""
    return [node.id for node in descendants(target) if isinstance(node, ast.Name)]


def names_in(node: ast.AST) -> frozenset[str]:
    """The names of all variables and attributes that are mentioned in a piece of syntax."""
    found: set[str] = set()
    todo: list[object] = [node]
    while todo:
        part = todo.pop()
        if type(part) is list:
            todo += part
        elif isinstance(part, ast.AST):
            if isinstance(part, ast.Name):
                found.add(part.id)
                continue
            if isinstance(part, ast.Attribute):
                found.add(part.attr)
            todo += part.__dict__.values()
    return frozenset(found)


def blocks_in(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of statements in a function, without those of functions and classes inside."""
    todo = [node]
    while todo:
        each = todo.pop()
        for name in _BLOCKS:
            block = getattr(each, name, None)
            if type(block) is list and block:
                if isinstance(block[0], ast.stmt):
                    yield block
                todo += (inner for inner in block if not isinstance(inner, _SCOPES))


def statements_in(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements in a piece of syntax, without a look at the expressions in them."""
    todo = [node]
    while todo:
        each = todo.pop()
        if isinstance(each, ast.stmt):
            yield each
        for name in _BLOCKS:
            block = getattr(each, name, None)
            if type(block) is list:
                todo += reversed(block)
