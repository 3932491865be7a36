"""An object by the way to it: the name that survives a run, a file and the cache."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Ref = int
"""An object of the run at hand: an index into its `Objects`. It never leaves the file."""


class Attr(NamedTuple):
    """An attribute."""

    name: str


class Item(NamedTuple):
    """An item in brackets: a constant, or what tells a variable index from another."""

    key: str | int | float | bool | bytes | None
    variable: bool = False
    """Whether `key` names the variable, or the kind of expression, that stands in the brackets."""


class Element(NamedTuple):
    """What iterating yields, at one place in the program."""

    at: int = -1
    """The loop's node; -1 for any."""
    function: str = ""
    """The function in which the loop is."""


Step = Attr | Item | Element
OF_OPERATION: Final = "op"
"""The role of what an operation on tensors gives."""


class Root(NamedTuple):
    """Where a path starts."""

    kind: Literal["parameter", "self", "global", "made"]
    name: str = ""
    """Of a parameter, its name; of `self`, the class; of a global, the dotted name; of what a function
    makes, the role that tells several objects of one node apart."""
    at: int = 0
    """Of what a function makes: the node, by its number in the function."""


class Path(NamedTuple):
    """An object by its root and the steps from there."""

    root: Root
    steps: tuple[Step, ...] = ()


Who = Ref | Path
"""Inside a run objects are refs; in summaries they are paths. Values and places are the same otherwise."""

REST = "*"
"""How the roots of parameters begin that take all further arguments."""
RESULT = Attr("()")
"""The step from what is called to what it gives."""
MAX_STEPS = 4
"""Deeper parts of an object have no name outside of the function."""
