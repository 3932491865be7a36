"""What a function does with one of its variables, and in which order."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Uses:
    """The variables of one function or module."""

    def __init__(self, scope: ast.AST) -> None:
        self.scope = scope
        self._parents: dict[ast.AST, ast.AST] = {}
        self._loads: dict[str, list[ast.Name]] = {}
        for node in ast.walk(scope):
            self._parents.update(dict.fromkeys(ast.iter_child_nodes(node), node))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._loads.setdefault(node.id, []).append(node)

    def bound_to(self, value: ast.AST) -> str | None:
        """The one variable that a value is assigned to."""
        parent = self._parents.get(value)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            target = parent.targets[0]
            return target.id if isinstance(target, ast.Name) else None
        return None

    def after(
        self, name: str, node: ast.AST, keeps_none: Callable[[ast.AST], bool]
    ) -> tuple[str, ...] | None:
        """The attributes of a variable that are read after a node, in order; None where others may use it.

        `keeps_none` tells the calls that may be given it.
        """
        loops = {each for each in self._around(node) if isinstance(each, _LOOPS)}
        first, again = [], []
        for load in self._loads.get(name, ()):
            parent, around = self._parents[load], set(self._around(load))
            if any(isinstance(each, _SCOPES) and each is not self.scope for each in around):
                return None
            if not isinstance(parent, ast.Attribute):
                if not keeps_none(parent):
                    return None
            elif (load.lineno, load.col_offset) > _end(node):
                first.append((load.lineno, load.col_offset, parent.attr))
            elif loops & around:
                again.append((load.lineno, load.col_offset, parent.attr))
        return tuple(attribute for _, _, attribute in (*sorted(first), *sorted(again)))

    def attributes(self, name: str) -> set[str]:
        """The attributes of a variable that are read anywhere."""
        return {
            parent.attr
            for load in self._loads.get(name, ())
            if isinstance(parent := self._parents.get(load), ast.Attribute)
        }

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        while (parent := self._parents.get(node)) is not None:
            yield parent
            node = parent


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)
