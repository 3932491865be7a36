"""A loop moves its variable, and the container keeps its tensors where they were

Inside `for x in xs`, `x.to(device)` throws a copy away, and `x = x.to(device)` binds the copy to a
name that the next round binds anew: either way `xs` still holds the tensors that it held before.

    for part in parts:
        part = part.to(device)  # DEV102

Build the container anew:

    parts = [part.to(device) for part in parts]

A loop whose body goes on to use the moved variable is right and left alone, and so are loops over
modules, which move in place.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    TENSORS,
    Ask,
    Claim,
    Move,
    Report,
    Rule,
    cst,
    elsewhere,
    iterated,
    made_here,
    move,
    outside,
    receiver,
    result,
    unless,
)


class DiscardedMoveInLoop(Rule[Move]):
    """A move of a loop variable that the container never sees."""

    code = "DEV102"
    name = "discarded-move-in-loop"
    watches = (
        move(
            result("discarded", "rebound"),
            receiver(*TENSORS),
            elsewhere(),
            iterated(),
            unless(made_here()),
            outside("probe"),
        ),
    )
    claim = Claim(MIXED_DEVICES)

    def visit(self, node: cst.CSTNode, event: Move, ask: Ask) -> Iterator[Report]:
        """Report the call."""
        what = f"{event.receiver.label}.{event.method}()"
        yield Report(
            f"`{what}` moves a copy: what `{event.iterates}` holds stays where it is",
            "a tensor's move returns a copy, and nothing reads it before the loop goes on",
        )
