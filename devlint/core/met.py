"""What a rehearsal has seen to go wrong, as plain data that any process can be told."""

from __future__ import annotations

from typing import Literal, NamedTuple

Position = tuple[int, int, int, int]
"""The line, column, last line and column after it of a node, as `ast` counts them."""


class There(NamedTuple):
    """A node of a file."""

    path: str
    at: Position
    node: str
    """Its class in `ast`."""


class Met(NamedTuple):
    """A value that stayed behind, and what it came together with."""

    how: Literal["operator", "index", "call", "array", "host"]
    kind: Literal["tensor", "batch", "module", "hidden"]
    """`hidden` are modules that another has in a plain container."""
    origin: Literal["factory", "loader", "made", "abroad", "moved", "literal"]
    """How the value came to be, as origins of values have it."""
    home: There
    """What is to be changed."""
    label: str
    """What the program calls the value."""
    place: str
    """Where that is."""
    dims: int
    other: str
    """What the program calls what it met."""
    there: str
    """Where that is."""
    here: There
    """Where they meet."""
    partly: bool = False
    """Whether the rest of its batch was moved."""
    made: There | None = None
    """Where it was made, if that is another file."""
    via: There | None = None
    """The call that brought it from there."""
    kept: There | None = None
    """The attribute that an object has it in."""
    presumed: bool = False
    """Whether who makes the module may move it as a whole, though it brings its parts there by itself."""
    tried: bool = False
    """Whether what it met is there only as nobody says that its module is elsewhere."""
