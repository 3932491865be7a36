"""Whether the import of a file initialises CUDA, whatever else it does."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .. import knowledge

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LATER = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def initialises(text: str) -> bool:
    """Whether what a file does when it is imported asks CUDA for something on no condition."""
    if knowledge.CUDA not in text:
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Attribute) and (
                called.attr == knowledge.CUDA
                or knowledge.TOUCHES in knowledge.topics_of_call(ast.unparse(called))
            ):
                return True
        todo.extend(_run(node))
    return False


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """What runs where a node does, if nothing decides whether it does."""
    if isinstance(node, _SCOPES):
        yield from node.args.defaults
        yield from filter(None, node.args.kw_defaults)
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield node.test
    elif isinstance(node, ast.BoolOp):
        yield node.values[0]
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        yield node.iter
    elif isinstance(node, _LATER):
        yield node.generators[0].iter
    elif isinstance(node, (ast.Try, ast.Match)):
        return  # what fails is caught, and what is matched is one of several
    else:
        yield from ast.iter_child_nodes(node)
