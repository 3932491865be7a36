"""Whether a program ends where there is no CUDA, whatever else it does."""

from __future__ import annotations

import ast

from .. import knowledge
from ..bind.names import last_name, names_in


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
    run = {last_name(each.value) for each in begins if isinstance(each, ast.Expr)}
    functions = (each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name in run)
    return any(map(_demands, begins)) or any(_demands(each) for called in functions for each in called.body)


def _demands(node: ast.stmt) -> bool:
    """`assert torch.cuda.is_available()`, `if not torch.cuda.is_available(): raise …`."""
    if isinstance(node, ast.Assert):
        test, negated = node.test, False
    elif isinstance(node, ast.If) and isinstance(node.test, ast.UnaryOp) and not node.orelse:
        leaves = any(isinstance(each, ast.Raise) or _is_exit(each) for each in node.body)
        test, negated = node.test.operand, leaves and isinstance(node.test.op, ast.Not)
        if not negated:
            return False
    else:
        return False
    return isinstance(test, ast.Call) and ast.unparse(test.func) in knowledge.ASKS_MACHINE


def _is_exit(node: ast.stmt) -> bool:
    called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    return called is not None and last_name(called) in knowledge.EXITS
