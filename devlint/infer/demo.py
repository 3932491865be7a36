"""Whether the end of a file only tries out what it defines: `if __name__ == "__main__":` in a library."""

from __future__ import annotations

import ast
from typing import NamedTuple

from .. import knowledge
from ..core.values import dotted
from .conditions import asks_for_main
from .definitions import Function
from .settle import Settled


class Demo(NamedTuple):
    """The lines of such a block, and the functions that nothing else calls."""

    lines: tuple[range, ...] = ()
    functions: frozenset[str] = frozenset()

    def covers(self, function: str, line: int) -> bool:
        """Whether what stands on a line of a function runs for a trial alone."""
        return function in self.functions or any(line in part for part in self.lines)


def demo_of(settled: Settled) -> Demo:
    """The block that tries out the modules that a file defines.

    It is none where the file trains, saves, or is told anything by its user: then it is a program.
    """
    file = settled.file
    tree = file.module.node
    top = getattr(tree, "body", ())
    blocks = [part for part in top if isinstance(part, ast.If) and asks_for_main(part.test)]
    if not blocks or not _is_part(settled) or _is_program(settled):
        return Demo()
    inside = {name.id for block in blocks for name in ast.walk(block) if isinstance(name, ast.Name)}
    others = [part for part in top if part not in blocks]
    outside = {name.id for part in others for name in ast.walk(part) if isinstance(name, ast.Name)}
    return Demo(
        tuple(range(part.lineno, (part.end_lineno or part.lineno) + 1) for part in blocks),
        frozenset(
            name
            for name, function in file.functions.items()
            if function.own_name in inside - outside and _is_told_nothing(function)
        ),
    )


def _is_part(settled: Settled) -> bool:
    """Whether others import a file: it defines modules, or classes in a package, or imports from that."""
    file = settled.file
    package, _, inside = file.name.partition(".")
    imports = [part for part in getattr(file.module.node, "body", ()) if isinstance(part, ast.ImportFrom)]
    return any(cls.is_module or inside for cls in file.classes.values()) or any(
        part.level or (inside and (part.module or "").partition(".")[0] == package) for part in imports
    )


def _is_program(settled: Settled) -> bool:
    """Whether a file trains, saves, or reads what its user says."""
    if not knowledge.ARGUMENTS.isdisjoint(settled.file.names):
        return True
    imported = {dotted(value).partition(".")[0] for value in settled.file.variables().values()}
    if not knowledge.ARGUMENT_PARSERS.isdisjoint(imported):
        return True
    return any(not knowledge.SAVED.isdisjoint(log.reaches) for log in settled.logs.values())


def _is_told_nothing(function: Function) -> bool:
    """Whether a function of the module is given nothing, and gives nothing."""
    args = function.args
    if args is None or function.owner is not None or any((*args.posonlyargs, *args.args, *args.kwonlyargs)):
        return False
    returns = (part for part in ast.walk(function.node) if isinstance(part, ast.Return))
    return all(each.value is None for each in returns)
