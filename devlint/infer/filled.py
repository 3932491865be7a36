"""What a function puts into the items of what it is given: a helper that moves a batch in place does that."""

from __future__ import annotations

import ast

from ..core.kinds import TENSORS
from ..core.paths import MAX_STEPS, Item, Path, Ref
from ..core.state import State
from ..core.summary import Bound
from .extract import Extraction, sure
from .log import Log
from .machine import subscript_step

_MOST = 8
"""Of more items than that, callers know no more than that there are some."""


def items_of_parameters(plain: Extraction, log: Log, end: State) -> tuple[list[Bound], set[Path]]:
    """What is in the items that the function assigns, at its end, and the objects of which that is all.

    An index that is no constant, or an item that is assigned on some paths alone, leaves open what is where.
    """
    found: dict[Path, Bound] = {}
    known: set[Path] = set()
    doubtful: set[Path] = set()
    stored: dict[tuple[Ref, Item], None] = {}
    for target, raw in log.binds.items():
        owner = raw.owner.who
        if type(owner) is not int or not isinstance(target, ast.Subscript):
            continue
        if raw.target == "item" and raw.owner.kind not in TENSORS:
            stored[owner, subscript_step(target.slice)] = None
    for key in end.env:
        if isinstance(key, tuple) and isinstance(key[1], Item):
            stored[key[0], key[1]] = None  # by what it called
    for whole, step in stored:
        path = plain.path(whole)
        if path is None or path.root.kind != "parameter":
            continue
        value = None if step.variable else end.env.get((whole, step))
        if value is None or path != sure(path) or len(path.steps) >= MAX_STEPS or len(found) >= _MOST:
            doubtful.add(path)
        else:
            known.add(path)
            item = path._replace(steps=(*path.steps, step))
            found[item] = Bound(item, plain.term(value))
    return list(found.values()), known - doubtful
