"""What is only presumed of a value: that it is a tensor, or that it is where what gave it is.

The inference takes what an object of unknown class is called with, and what it gives, for what a module is
given and gives. Mostly that is so, and it finds bugs; but it is not known, and what rests on nothing else is
no error.
"""

from __future__ import annotations

import ast
from functools import cached_property

from ..core.evidence import IS_TENSOR, NO_NUMBER, Evidence
from ..core.kinds import TENSORS, Kind
from ..core.paths import Ref
from ..core.places import Form, Place
from ..core.values import Value
from .settle import Settled

_MAX_DEPTH = 12
_SHOWN = IS_TENSOR | NO_NUMBER
_NOWHERE = frozenset({Form.UNKNOWN, Form.CPU})
"""Of what is there, nobody presumes that it is elsewhere."""


class Presumed:
    """Answers what of a file's values nothing but a guess shows."""

    def __init__(self, settled: Settled) -> None:
        self.settled = settled
        self._known: dict[Ref, bool | None] = {}

    @cached_property
    def _guesses(self) -> dict[ast.AST, Ref]:
        """Calls of what nothing but such a call shows to be a module, with what is called."""
        return {
            node: callee
            for log in self.settled.logs.values()
            for node, callee in log.guesses.items()
            if not self.settled.seen(callee) & Evidence.MODULE
        }

    def is_kind(self, value: Value, kind: Kind) -> bool:
        """Whether only the names of its methods show that a value is a tensor, which others have as well."""
        if kind not in TENSORS:
            return False
        if value.kind in TENSORS:
            likely = self.settled.likely
            if type(value.who) is not int or value.who not in likely:
                return False
            value = Value(who=likely[value.who])
        of = self._derived.get(value.who, ()) if type(value.who) is int else ()
        return not any(map(self.settled.is_certain, (value, *(Value(who=each) for each, _ in of))))

    def is_place(self, value: Value, place: Place) -> bool:
        """Whether only a guess says that a value is where it is."""
        if place.form in _NOWHERE or type(value.who) is not int or not self._guesses:
            return False
        if value.origin is not None and value.origin.how == "moved":
            return False
        return self._of(value.who, _MAX_DEPTH) is True

    def _of(self, ref: Ref, depth: int) -> bool | None:
        """Whether an object is what something guessed gave, or was computed from that; None if unknown."""
        if depth <= 0:
            return None
        if ref not in self._known:
            self._known[ref] = None  # of what is computed from itself, in a loop, the others tell
            self._known[ref] = self._find(ref, depth)
        return self._known[ref]

    def _find(self, ref: Ref, depth: int) -> bool | None:
        objects = self.settled.objects
        made = self.settled.made_by(ref)
        if made is not None and made in self._guesses:
            return True
        derived = self._derived.get(ref)
        if derived:
            tensors = [each for each, sure in derived if sure or self.settled.seen(each) & _SHOWN]
            found = {self._of(each, depth - 1) for each in tensors}
            return False not in found and True in found
        found = {self._of(source, depth - 1) for source in objects.sources.get(ref, ())}
        if found:
            return True in found
        parent = objects.owner(ref)
        if parent >= 0:
            return self._of(parent, depth - 1)
        return False

    @cached_property
    def _derived(self) -> dict[Ref, tuple[tuple[Ref, bool], ...]]:
        """By the results of operations, what those were of."""
        return {ref: of for log in self.settled.logs.values() for ref, of in log.derived.items()}
