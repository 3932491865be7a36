"""Where a tensor lives, or what a device value denotes."""

from __future__ import annotations

from enum import Enum
from typing import Literal, NamedTuple

from .enums import plain
from .paths import Who


@plain
class Form(Enum):
    """How much is known of a place."""

    __hash__ = object.__hash__  # looked up in sets all the time, and Enum hashes by name

    UNKNOWN = "unknown"
    CPU = "cpu"
    LITERAL = "literal"
    """A literal such as `cuda:1`."""
    SAME = "same"
    """What the device variable `of` says."""
    AT = "at"
    """Wherever `of` is: an argument, the parameters of `self`."""
    EITHER = "either"
    """The cpu on some paths and elsewhere on others."""
    KEPT = "kept"
    """Where discarded moves' results would be if they were kept: `when` tells which."""
    ANYWHERE = "anywhere"
    """Wherever the caller wants it: a tensor that a `forward` is given, what a module returns."""


ON_DEVICE = frozenset({Form.LITERAL, Form.SAME, Form.EITHER})
"""What a value on the cpu cannot meet wherever the program finds an accelerator."""
MOVED_TO = frozenset({Form.LITERAL, Form.SAME})
"""Those of what was moved on every path."""


class Branch(NamedTuple):
    """One outcome of one `if` in which something is moved."""

    chain: int
    """The first `if` of its `if … elif … else`, by its node's number."""
    test: int
    outcome: bool
    asks: Literal["machine", "option", ""]
    """`machine` when the condition asks the machine alone, `option` when it asks for a setting."""
    move: int
    """The move, by its node's number; -1 where it is not known."""


MIXED = Branch(-1, -1, False, "", -1)
"""Stands, among the moves of a kept place, for a path on which the value is elsewhere."""


class Place(NamedTuple):
    """Where a value is. Equal places agree; unequal ones may.

    `of` is the object that `same` and `at` speak of; on the cpu, the element of a batch that the value came
    from, or the variable that holds the cpu. `when` are the branches on which a value of `either` was moved.
    """

    form: Form
    name: str = ""
    of: Who | None = None
    when: frozenset[Branch] = frozenset()

    @property
    def is_anywhere(self) -> bool:
        """Whether it is the cpu on one path, and on another wherever something is, which may be there too."""
        return self.form is Form.EITHER and not self.name and self.of is None and not self.when

    @property
    def is_of_machine(self) -> bool:
        """Whether something is moved wherever the machine has an accelerator, on no other condition."""
        return bool(self.when) and all(each.asks == "machine" for each in self.when)

    def of_another(self) -> Place:
        """The same for another function, of whose nodes the numbers in `when` say nothing."""
        if not self.when or self.form is Form.KEPT:
            return self
        return self._replace(
            when=frozenset(
                each._replace(chain=min(each.chain, _ABROAD - each.chain), test=_ABROAD, move=-1)
                for each in self.when
            )
        )


_ABROAD = -2
"""Stands for a condition of another function: `chain`, negative as well, tells one from the other."""


UNKNOWN_PLACE = Place(Form.UNKNOWN)
CPU = Place(Form.CPU, "cpu")
ANYWHERE = Place(Form.ANYWHERE)


def literal(name: str) -> Place:
    """The place that a literal such as `cuda:0` denotes."""
    return CPU if name == "cpu" else Place(Form.LITERAL, name)


def join_places(a: Place, b: Place) -> Place:
    """The place of a value that is at `a` on one path and at `b` on another."""
    if a == b or a.form is b.form is Form.CPU:
        return a
    if Form.KEPT in (a.form, b.form):
        mixed = frozenset({MIXED}) if a.form is not b.form or a.when != b.when else frozenset()
        return Place(Form.KEPT, "", None, a.when | b.when | mixed)
    if Form.UNKNOWN in (a.form, b.form):
        return UNKNOWN_PLACE
    if Form.CPU in (a.form, b.form) or Form.EITHER in (a.form, b.form):
        other = b if a.form is Form.CPU else a
        return Place(Form.EITHER, other.name, other.of if other.form in (Form.SAME, Form.EITHER) else None)
    if a.form is b.form is Form.LITERAL:
        return a if a.name.split(":")[0] == b.name.split(":")[0] else UNKNOWN_PLACE
    return UNKNOWN_PLACE


def weight(place: Place) -> int:
    """How much a place says about where a mixed operation was meant to run."""
    return {Form.UNKNOWN: 0, Form.ANYWHERE: 1, Form.AT: 1, Form.CPU: 2}.get(place.form, 3)
