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
from typing import TYPE_CHECKING

from ..claim import MIXED_DEVICES, Claim
from ..infer.facts import Discarded
from ..rule import Report, Rule

if TYPE_CHECKING:
    from libcst import CSTNode


class DiscardedMoveInLoop(Rule[Discarded]):
    """A move of a loop variable that the container never sees."""

    code = "DEV102"
    name = "discarded-move-in-loop"
    fact = Discarded
    claim = Claim(MIXED_DEVICES)

    def suspects(self, fact: Discarded) -> bool:
        """Moves of what a loop yields; casts are DEV105's."""
        return fact.loop is not None and not fact.casts

    def visit(self, node: CSTNode, fact: Discarded) -> Iterator[Report]:
        """Report the call."""
        yield Report(
            f"`{fact.receiver}.{fact.method}()` moves a copy: what `{fact.loop}` holds stays where it is",
            "a tensor's move returns a copy, and nothing reads it before the loop goes on",
        )
