"""What a function puts into parts of what it is given: so do helpers that move a batch in place."""

from __future__ import annotations

import ast

from ..core.kinds import MAY_HOLD_TENSORS, TENSORS
from ..core.paths import MAX_STEPS, Attr, Item, Path, Ref
from ..core.state import State
from ..core.summary import Bound
from .extract import Extraction, sure
from .log import Log
from .machine import subscript_step

_MOST = 8
"""Of more parts than that, callers know no more than that there are some."""


def parts_of_parameters(plain: Extraction, log: Log, end: State) -> tuple[list[Bound], set[Path]]:
    """What is in the items and attributes that the function assigns, and the objects of which that is all.

    An index that is no constant, or a part that is assigned on some paths alone, leaves open what is where.
    """
    found: dict[Path, Bound] = {}
    known: set[Path] = set()
    doubtful: set[Path] = set()
    stored: dict[tuple[Ref, Item | Attr], None] = {}
    for target, raw in log.binds.items():
        owner = raw.owner.who
        if type(owner) is not int or raw.owner.kind in TENSORS:
            continue
        if isinstance(target, ast.Subscript) and raw.target == "item":
            stored[owner, subscript_step(target.slice)] = None
        elif isinstance(target, ast.Attribute) and raw.value.kind in MAY_HOLD_TENSORS:
            stored[owner, Attr(target.attr)] = None
    for key in end.env:
        if isinstance(key, tuple) and isinstance(key[1], Item):
            stored[key[0], key[1]] = None  # by what it called
    for whole, step in stored:
        path = plain.path(whole)
        if path is None or path.root.kind != "parameter":
            continue
        told = isinstance(step, Attr) or not step.variable
        value = end.env.get((whole, step)) if told else None
        if value is None or path != sure(path) or len(path.steps) >= MAX_STEPS or len(found) >= _MOST:
            doubtful.add(path)
        else:
            known.add(path)
            part = path._replace(steps=(*path.steps, step))
            found[part] = Bound(part, plain.term(value))
    return list(found.values()), known - doubtful
