"""What a value can be."""

from __future__ import annotations

from enum import Enum

from .enums import plain


@plain
class Kind(Enum):
    """What a value is."""

    __hash__ = object.__hash__  # members are looked up in sets all the time, and Enum hashes by name

    UNKNOWN = "unknown"
    NONE = "None"
    NUMBER = "number"
    STRING = "string"
    FLAG = "flag"
    """A truth value that says whether an accelerator is there."""
    TENSOR = "tensor"
    SCALAR = "0-dim tensor"
    PARAMETER = "parameter"
    MODULE = "module"
    OPTIMIZER = "optimizer"
    LOADER = "loader"
    BATCH = "batch"
    """Of unknown structure, but its tensors live in one place: a loader's element, a model's output."""
    MOVES_IN_PLACE = "moves-in-place"
    """An object that is no module and whose `.to` moves itself, such as transformers' `BatchEncoding`."""
    OTHER = "other"
    """Known to be none of the rest: an object of a class that devlint does not model."""
    DEVICE = "device"
    DTYPE = "dtype"
    GENERATOR = "generator"
    ARRAY = "array"
    CONTAINER = "container"
    FUNCTION = "function"
    CLASS = "class"
    INSTANCE = "instance"
    LIBRARY = "library"
    """A name of an imported module that the project does not define."""


TENSORS = frozenset({Kind.TENSOR, Kind.SCALAR, Kind.PARAMETER})
MAY_HOLD_TENSORS = TENSORS | {Kind.BATCH, Kind.UNKNOWN}
MAY_BE_COPIED = frozenset({Kind.TENSOR, Kind.UNKNOWN})
"""What an attribute has anew where it is moved: a tensor, or what is used like one."""
NAMED = frozenset({Kind.LIBRARY, Kind.CLASS, Kind.FUNCTION, Kind.INSTANCE})
"""What is one thing with a name: joined with another, it is neither."""
