"""What use says about an object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from .paths import Ref


class Evidence:
    """What was seen of an object, as bits: they add up, and whatever contradicts wins over what use shows.

    Plain integers: an `IntFlag` makes an object of each sum, and sums are made all the time.
    """

    TENSOR: Final = 1
    OPERAND: Final = 2
    """A tensor or a number, so that what has a `.to` is a tensor."""
    MODULE: Final = 4
    OTHER: Final = 8
    LOADER: Final = 16
    CONTAINER: Final = 32
    DIFFERENTIATED: Final = 64
    """`.backward()` was called on it."""
    TO_MODULE: Final = 128
    """Passed to a module's call."""
    SWITCH: Final = 256
    """A variable that holds the cpu, and what is on the cpu anyway is moved to it: it is meant to change."""
    PLACED: Final = 512
    """A framework, or the code around it, put it where it belongs."""
    NAMED: Final = 1024
    """A method was called that tensors have: so may an object of any class."""
    SHAPED: Final = 2048
    """Has a shape, or was given to an operation that takes no number: a tensor, or perhaps an array."""
    RESTORED: Final = 4096
    """`load_state_dict` was given it: it is, or holds, the state of a module or optimizer."""
    NUMBER: Final = 8192
    """A size or limit of a new tensor: a number, whatever else it is computed with."""
    TEXT: Final = 16384
    """Compared with a text, or stands in for one."""
    RENEWED: Final = 32768
    """A function that was given it read its state, or loaded another: that of an optimizer may have moved."""
    HOSTED: Final = 65536
    """Read as an array as it comes, which fails but on the cpu."""
    FILLED: Final = 131072
    """An item of it was assigned, or put into it."""
    MENDED: Final = 262144
    """A function that was given it read its state: that of an optimizer is moved by hand so."""
    PULLS: Final = 524288
    """A hook that runs before it may bring what it is given to where it is."""


NOT_A_TENSOR = Evidence.MODULE | Evidence.OTHER | Evidence.LOADER | Evidence.CONTAINER | Evidence.TEXT
IS_TENSOR = Evidence.TENSOR | Evidence.NAMED
NO_NUMBER = Evidence.SHAPED | Evidence.NAMED | Evidence.TO_MODULE
"""What no number is used as; that it may be an array remains."""
PASSED_ON = (
    IS_TENSOR
    | Evidence.SHAPED
    | Evidence.OPERAND
    | Evidence.MODULE
    | Evidence.OTHER
    | Evidence.RESTORED
    | Evidence.NUMBER
    | Evidence.TEXT
    | Evidence.RENEWED
    | Evidence.HOSTED
    | Evidence.FILLED
    | Evidence.MENDED
    | Evidence.PULLS
)
"""What a function's use of a parameter says about what its callers pass."""


def solve(notes: Mapping[Ref, int], flows: Iterable[tuple[Ref, Ref]]) -> dict[Ref, int]:
    """What is known of each object once what is seen of `to` counts for its `source` too.

    `flows` are pairs of a source and what may be the same object; they may go in circles.
    """
    found = dict(notes)
    sources: dict[Ref, list[Ref]] = {}
    for source, to in flows:
        sources.setdefault(to, []).append(source)
    waiting = [ref for ref in found if ref in sources]
    while waiting:
        ref = waiting.pop()
        # Of `a * b`, either may be a number.
        seen = found.get(ref, 0) & ~(Evidence.SHAPED | Evidence.TO_MODULE)
        for source in sources.get(ref, ()):
            before = found.get(source, 0)
            if before | seen != before:
                found[source] = before | seen
                waiting.append(source)
    return found
