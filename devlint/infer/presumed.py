"""What is only presumed of a value: that it is a tensor, or that it is where what gave it is.

The inference takes what an object of unknown class is called with, and what it gives, for what a module is
given and gives. Mostly that is so, and it finds bugs; but it is not known, and what rests on nothing else is
no error.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cached_property

from ..core.evidence import IS_TENSOR, NO_NUMBER, Evidence
from ..core.kinds import TENSORS, Kind
from ..core.paths import Ref
from ..core.places import Form, Place
from ..core.values import Value
from .log import RawCall
from .settle import Settled

_MAX_DEPTH = 12
_SHOWN = IS_TENSOR | NO_NUMBER
_METHODS = ("Tensor.", "?.")
_NOWHERE = frozenset({Form.UNKNOWN, Form.CPU})
"""Of what is there, nobody presumes that it is elsewhere."""


class Presumed:
    """Answers what of a file's values nothing but a guess shows."""

    def __init__(self, settled: Settled) -> None:
        self.settled = settled
        self._known: dict[Ref, bool | None] = {}
        self._passed: dict[Ref, bool | None] = {}

    @cached_property
    def _calls(self) -> dict[ast.AST, Ref]:
        """Calls of what may be a module of any class, with what is called."""
        return {node: ref for log in self.settled.logs.values() for node, ref in log.guesses.items()}

    @cached_property
    def _guesses(self) -> dict[ast.AST, Ref]:
        """Those of what nothing but such a call shows to be a module."""
        return {
            node: ref for node, ref in self._calls.items() if not self.settled.seen(ref) & Evidence.MODULE
        }

    @cached_property
    def _varies(self) -> set[Ref]:
        """Attributes that some methods leave on the cpu and others elsewhere."""
        return {ref for log in self.settled.logs.values() for ref in log.varies}

    def is_of_any_model(self, value: Value) -> bool:
        """Whether a model that may be of any class gave a value, or what it was computed from.

        One that scatters takes its input as a loader yields it, and gives what is on a device.
        """
        if type(value.who) is not int or not self._calls:
            return False
        return self._of(value.who, self._calls, self._passed, _MAX_DEPTH) is True

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
        if place.form in _NOWHERE or type(value.who) is not int or not (self._guesses or self._varies):
            return False
        if value.origin is not None and value.origin.how == "moved":
            return False
        return self._of(value.who, self._guesses, self._known, _MAX_DEPTH) is True

    def _of(
        self, ref: Ref, calls: Mapping[ast.AST, Ref], known: dict[Ref, bool | None], depth: int
    ) -> bool | None:
        """Whether one of some calls gave an object, or what it was computed from; None if unknown."""
        if depth <= 0:
            return None
        if ref not in known:
            known[ref] = None  # of what is computed from itself, in a loop, the others tell
            known[ref] = self._find(ref, calls, known, depth)
        return known[ref]

    def _find(
        self, ref: Ref, calls: Mapping[ast.AST, Ref], known: dict[Ref, bool | None], depth: int
    ) -> bool | None:
        objects = self.settled.objects
        made = self.settled.made_by(ref)
        if (made is not None and made in calls) or (known is self._known and ref in self._varies):
            return True
        derived = self._derived.get(ref)
        if derived:
            tensors = [each for each, sure in derived if sure or self.settled.seen(each) & _SHOWN]
            found = {self._of(each, calls, known, depth - 1) for each in tensors}
            return False not in found and True in found
        raw = self._recorded.get(made) if made is not None else None
        if raw is not None and raw.receiver is not None and type(raw.receiver.who) is int:
            return raw.receiver.who != ref and self._of(raw.receiver.who, calls, known, depth - 1)
        found = {self._of(each, calls, known, depth - 1) for each in objects.sources.get(ref, ())}
        if found:
            return True in found
        parent = objects.owner(ref)
        if parent >= 0:
            return self._of(parent, calls, known, depth - 1)
        return False

    @cached_property
    def _recorded(self) -> dict[ast.AST, RawCall]:
        """The calls of methods that tensors have."""
        return {
            node: raw
            for log in self.settled.logs.values()
            for node, raw in log.calls.items()
            if raw.callee.startswith(_METHODS)
        }

    @cached_property
    def _derived(self) -> dict[Ref, tuple[tuple[Ref, bool], ...]]:
        """By the results of operations, what those were of."""
        return {ref: of for log in self.settled.logs.values() for ref, of in log.derived.items()}
