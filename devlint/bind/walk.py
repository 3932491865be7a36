"""All nodes of a piece of syntax, as a list that is made without the generators of `ast.walk`."""

from __future__ import annotations

import ast

_NO_NODES = frozenset({"ctx", "id", "attr", "kind", "module", "level"})
"""Fields that hold no syntax of their own; a context says how the node around it is used."""
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
"""By kind of node, the fields that may hold other nodes; of each kind that was seen."""


def descendants(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, contexts left out, in the order of `ast.walk`: those nearer to it first."""
    found = [node]
    for each in found:
        fields = _FIELDS.get(type(each))
        if fields is None:
            fields = _FIELDS[type(each)] = tuple(name for name in each._fields if name not in _NO_NODES)
        for name in fields:
            part = getattr(each, name, None)
            if type(part) is list:
                found += [item for item in part if isinstance(item, ast.AST)]
            elif isinstance(part, ast.AST):
                found.append(part)
    return found
