"""Where the methods of a class assign its attributes, and which of them run as the object is made."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..core.kinds import Kind
from .classes import Class
from .function import CONSTRUCTORS
from .settle import Settled

Target = ast.Attribute | ast.Call
"""What is assigned: an attribute, or by a call of `setattr`."""


def making(settled: Settled, cls: Class) -> list[str]:
    """The constructor, and the methods of the class that it calls, or that of a base."""
    own = set(cls.methods.values())
    begun = (
        CONSTRUCTORS[0],
        *(name for each in cls.lineage() if each is not cls for name in sorted(each.begins)),
    )
    todo = [cls.methods[name] for name in dict.fromkeys(begun) if name in cls.methods]
    found: list[str] = []
    while todo:
        method = todo.pop(0)
        if method in settled.logs and method not in found:
            found.append(method)
            todo += [site.callee for site in settled.logs[method].sites if site.callee in own]
    return found


def targets(settled: Settled, cls: Class, methods: Iterable[str], name: str) -> list[tuple[str, Target]]:
    """Where methods assign an attribute, in source order."""
    owner = settled.objects.self_of(cls.name)
    found = [
        (node.lineno, node.col_offset, method, node)
        for method in methods
        for node, raw in settled.logs[method].binds.items()
        if isinstance(node, Target) and name in (raw.name, *raw.names) and raw.owner.who == owner
    ]
    return [each[2:] for each in sorted(found, key=lambda each: each[:2])]


def gives_way(settled: Settled, cls: Class, name: str) -> bool:
    """Whether the constructor at last makes a Parameter of an attribute, whatever a method put there before.

    What it calls afterwards may put something else there.
    """
    constructor = cls.methods.get(CONSTRUCTORS[0], "")
    function = settled.file.functions.get(constructor)
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return False
    at_last = [
        node.lineno
        for statement in function.node.body
        if isinstance(statement, ast.Assign)
        for node in statement.targets
        if (raw := settled.logs[constructor].binds.get(node)) is not None
        and raw.name == name
        and raw.owner.who == settled.objects.self_of(cls.name)
        and raw.value.kind is Kind.PARAMETER
    ]
    if not at_last:
        return False
    assigning = {method for method, _ in targets(settled, cls, making(settled, cls), name)}
    begun = {site.callee: getattr(site.at, "lineno", 0) for site in settled.logs[constructor].sites}
    later = [begun.get(method, at_last[-1]) for method in assigning if method != constructor]
    own = [node.lineno for method, node in targets(settled, cls, [constructor], name)]
    return all(line < at_last[-1] for line in later) and max(own) == at_last[-1]
