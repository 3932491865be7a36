"""What a program asserts to be on the cpu: where that holds, nothing that it was made of is elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .. import knowledge
from ..bind.names import blocks_in, last_name
from ..core.places import CPU

_DEVICE, _TYPE = "device", "type"


def asserted_on_cpu(function: ast.AST) -> Iterator[ast.stmt]:
    """The statements that bind what the same block asserts, after them, to be on the cpu."""
    for block in blocks_in(function):
        names = set[str]()
        for statement in reversed(block):
            names.update(filter(None, map(_on_cpu, _compared(statement))))
            if isinstance(statement, ast.Assign) and not names.isdisjoint(map(last_name, statement.targets)):
                yield statement


def _compared(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a statement asserts to be equal."""
    test = statement.test if isinstance(statement, ast.Assert) else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        yield test.left, test.comparators[0]
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and "asserts" in knowledge.hints("callable", last_name(call)):
        yield from zip(call.args[:1], call.args[1:2], strict=False)


def _on_cpu(pair: tuple[ast.expr, ast.expr]) -> str:
    """The variable of which the device, or its type, is compared with the cpu; empty where there is none."""
    for asked, other in (pair, pair[::-1]):
        if isinstance(asked, ast.Attribute) and asked.attr == _TYPE:
            asked = asked.value
        if isinstance(other, ast.Call) and last_name(other) == _DEVICE and len(other.args) == 1:
            other = other.args[0]
        named = isinstance(asked, ast.Attribute) and asked.attr == _DEVICE
        if named and isinstance(other, ast.Constant) and other.value == CPU.name:
            assert isinstance(asked, ast.Attribute)
            return asked.value.id if isinstance(asked.value, ast.Name) else ""
    return ""
