"""A module stays on the cpu, and is given what was moved, in code that moves another

A second model, or a loss with class weights, is easily forgotten where the first model is moved: its
parameters are on the cpu, and the call fails as soon as there is an accelerator.

    student = Net().to(device)
    teacher = Net()  # DEV406
    for x, y in loader:
        x = x.to(device)
        loss = distance(student(x), teacher(x))

Move it, too:

    teacher = Net().to(device)

Only what the function itself makes is reported, and only where nothing that might move it can be seen:
modules that are kept in attributes, or given to functions that devlint does not know, are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    Ask,
    Cause,
    Claim,
    Conflict,
    Kind,
    Meeting,
    Report,
    Rule,
    Severity,
    conflict,
    cst,
    left,
    meeting,
    outside,
)


class ModuleNotMoved(Rule[Meeting]):
    """A module that nobody moves, and that is called with what was moved."""

    code = "DEV406"
    name = "module-not-moved"
    cause = Cause.MODULE
    watches = (meeting(left(Kind.MODULE), conflict(Conflict.CERTAIN, Conflict.PRESUMED), outside("probe")),)
    claim = Claim(MIXED_DEVICES)

    def suspects(self, event: Meeting) -> bool:
        """Only what the file itself makes."""
        return event.left.origin is not None and event.left.origin.how == "made"

    def visit(self, node: cst.CSTNode, event: Meeting, ask: Ask) -> Iterator[Report]:
        """Report the module where it is made."""
        where = f" on `{event.right.place.name}`" if event.right.place.name else " elsewhere"
        yield Report(
            f"`{event.left.label}` stays on the cpu, and is given `{event.right.label}`, which is{where}",
            "its parameters and what it is given are on different devices where there is an accelerator",
            Severity.WARNING if event.conflict is Conflict.PRESUMED else None,
        )
