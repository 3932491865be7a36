"""Folders that a file adds, where its text alone tells them, to where imports start: `sys.path.insert(…)`."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterator, Mapping

from ..bind.names import last_name

MENTIONED = "sys.path"
"""What the text of such a file has."""
_ADDS = frozenset({"insert", "append", "extend"})
_SAME = frozenset(
    {"abspath", "realpath", "normpath", "resolve", "absolute", "as_posix", "fspath", "str", "Path"}
)
"""What gives the path that it is given, or that it belongs to."""
_JOINS = frozenset({"join", "joinpath"})
_NAMES = {"pardir": os.pardir, "curdir": os.curdir}
_MAX_DEPTH = 12


def added(text: str, path: str) -> tuple[str, ...]:
    """The folders that a file adds; relative ones are those of the working directory, which nobody knows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the file's own, such as invalid escapes
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    reader = _Reader(path, dict(_assigned(tree)))
    found = (reader.read(each, 0) for node in ast.walk(tree) for each in _added_by(node))
    return tuple(dict.fromkeys(os.path.normpath(each) for each in found if each))


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value


def _added_by(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDS:
        if ast.unparse(node.func.value) == MENTIONED and node.args:
            last = node.args[-1]
            yield from last.elts if isinstance(last, (ast.List, ast.Tuple)) else (last,)
    elif isinstance(node, ast.AugAssign) and ast.unparse(node.target) == MENTIONED:
        yield from node.value.elts if isinstance(node.value, ast.List) else ()


class _Reader:
    """Reads the paths that expressions of one file denote."""

    def __init__(self, path: str, variables: Mapping[str, ast.expr]) -> None:
        self._path = path
        self._variables = variables

    def read(self, node: ast.expr, depth: int) -> str | None:
        """The path that an expression denotes, or None."""
        if depth > _MAX_DEPTH:
            return None
        depth += 1
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            if node.id == "__file__":
                return self._path
            value = self._variables.get(node.id)
            return self.read(value, depth) if value is not None else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return self._joined((node.left, node.right), depth)
        if isinstance(node, ast.Attribute):
            if node.attr == "parent":
                return self._above(node.value, 1, depth)
            return _NAMES.get(node.attr)
        if isinstance(node, ast.Subscript):
            return self._part(node, depth)
        return self._called(node, depth) if isinstance(node, ast.Call) else None

    def _called(self, node: ast.Call, depth: int) -> str | None:
        name, args = last_name(node), list(node.args)
        if name == "getcwd":
            return os.curdir
        if isinstance(node.func, ast.Attribute) and not (name in _JOINS and len(args) > 1) and not args:
            args = [node.func.value]  # a method of a path
        elif name == "joinpath" and isinstance(node.func, ast.Attribute):
            args = [node.func.value, *args]
        if name == "dirname" and len(args) == 1:
            return self._above(args[0], 1, depth)
        if name in _JOINS or (name == "Path" and len(args) > 1):
            return self._joined(args, depth)
        return self.read(args[0], depth) if name in _SAME and len(args) == 1 else None

    def _part(self, node: ast.Subscript, depth: int) -> str | None:
        """`Path(…).parents[1]`, and `sys.path[0]`, which is the folder of the program."""
        number = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if type(number) is not int or not isinstance(node.value, ast.Attribute):
            return None
        if node.value.attr == "parents":
            return self._above(node.value.value, number + 1, depth)
        return os.path.dirname(self._path) if ast.unparse(node.value) == MENTIONED else None

    def _above(self, node: ast.expr, levels: int, depth: int) -> str | None:
        path = self.read(node, depth)
        if path is None:
            return None
        path = os.path.normpath(path)
        for _ in range(levels):
            path = os.path.dirname(path) if os.path.isabs(path) else os.path.join(path, os.pardir)
        return path

    def _joined(self, nodes: list[ast.expr] | tuple[ast.expr, ...], depth: int) -> str | None:
        parts = [self.read(each, depth) for each in nodes]
        known = [each for each in parts if each is not None]
        return os.path.join(*known) if known and len(known) == len(parts) else None
