"""Whether a program ends where there is no CUDA, whatever else it does."""

from __future__ import annotations

import ast

from .. import knowledge
from ..bind.names import last_name, names_in

_NONE = frozenset[str]()


def demands_cuda(text: str) -> bool:
    """Whether a program makes sure of CUDA on no condition, itself or in a function that it begins with."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    begins = list(tree.body)
    for each in tree.body:
        if isinstance(each, ast.If) and not knowledge.MODULE_NAME.isdisjoint(names_in(each.test)):
            begins += each.body
    counted = frozenset(
        each.targets[0].id
        for each in begins
        if isinstance(each, ast.Assign)
        and isinstance(each.targets[0], ast.Name)
        and _counts(each.value, _NONE)
    )
    run = {last_name(each.value) for each in begins if isinstance(each, ast.Expr)}
    functions = (each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name in run)
    done = [*begins, *(each for called in functions for each in called.body)]
    return any(_demands(each, counted) for each in done)


def _demands(node: ast.stmt, counted: frozenset[str]) -> bool:
    """`assert torch.cuda.is_available()`, `if not torch.cuda.is_available(): raise …`."""
    if isinstance(node, ast.Assert):
        return _asks(node.test, counted)
    if not isinstance(node, ast.If) or node.orelse:
        return False
    leaves = any(isinstance(each, ast.Raise) or _is_exit(each) for each in node.body)
    return leaves and _asks_for_none(node.test, counted)


def _asks(test: ast.expr, counted: frozenset[str]) -> bool:
    """Whether what is asked is that there is a device: `device_count() > 0`."""
    if isinstance(test, ast.Compare) and _counts(test.left, counted):
        return _compared(test) in (("Gt", 0), ("GtE", 1))
    available = isinstance(test, ast.Call) and ast.unparse(test.func) in knowledge.ASKS_MACHINE
    return available or _counts(test, counted)


def _asks_for_none(test: ast.expr, counted: frozenset[str]) -> bool:
    """Whether what is asked is that there is no device: `device_count() == 0`."""
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not) and _asks(test.operand, counted)
    if not isinstance(test, ast.Compare) or not _counts(test.left, counted):
        return False
    return _compared(test) in (("Eq", 0), ("Lt", 1), ("LtE", 0))


def _compared(test: ast.Compare) -> tuple[str, object]:
    """How something is compared with a number."""
    with_what = test.comparators[0]
    return type(test.ops[0]).__name__, with_what.value if isinstance(with_what, ast.Constant) else None


def _counts(node: ast.expr, counted: frozenset[str]) -> bool:
    """Whether something is the number of devices, or a name that was given it."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in knowledge.COUNTS_DEVICES
    return isinstance(node, ast.Name) and node.id in counted


def _is_exit(node: ast.stmt) -> bool:
    called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    return called is not None and last_name(called) in knowledge.EXITS
