"""A module stays on the cpu, and is given what was moved

The batch goes to the device and the model does not; or a second model, or a loss with class weights, is
forgotten where the first one is moved. Its parameters are on the cpu, and the call fails as soon as there is
an accelerator.

    student = Net().to(device)
    teacher = Net()  # DEV406
    for x, y in loader:
        x = x.to(device)
        loss = distance(student(x), teacher(x))

Move it, too:

    teacher = Net().to(device)

So does a layer that `forward` makes: its weights are on the cpu, and new in each call. One that a module
makes for itself when it first runs is a warning, unless the module is run on the cpu first, in sight.

    def forward(self, x):
        return nn.LayerNorm(self.width)(x)  # DEV406

A module without parameters has its buffers to move: filters, windows, tables of positions.

Only what the file itself makes is reported, and only where nothing that might move it can be seen: what is
given to functions that devlint does not know, and of what objects keep all that is more than run, is left
alone. What an object keeps and gives what it is given itself is a warning where the file makes such objects
and moves other modules; so is a loss with weights that a function computed. What a function makes anew at
each call, and gives the tensors that it was given, is a warning where a caller has those on a device, and a
note where nobody in sight calls it. What two branches make alike, and one of them moves, is a warning; so is
one of several modules of which some have nothing to move. A copy that an object of another file took before
the model moved is told where that object is made.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    TENSORS,
    Ask,
    Cause,
    Claim,
    Conflict,
    Form,
    Kind,
    Meeting,
    Place,
    Report,
    Rule,
    Severity,
    all_on_cpu,
    conflict,
    cst,
    left,
    meeting,
    on_device,
    outside,
    unless,
)


class ModuleNotMoved(Rule[Meeting]):
    """A module that nobody moves, and that is called with what was moved."""

    code = "DEV406"
    name = "module-not-moved"
    cause = Cause.MODULE
    watches = (meeting(left(Kind.MODULE), unless(conflict(Conflict.NONE)), outside("probe", "test")),)
    claim = Claim(MIXED_DEVICES)

    def suspects(self, event: Meeting) -> bool:
        """Only what the file itself makes."""
        return event.left.origin is not None and event.left.origin.how == "made"

    def visit(self, node: cst.CSTNode, event: Meeting, ask: Ask) -> Iterator[Report]:
        """Report the module where it is made."""
        if event.conflict is Conflict.BRANCHES:
            device = event.right.place.name
            yield Report(
                f"`{event.left.label}` stays on the cpu here, and goes to "
                f"{f'`{device}`' if device else 'the device'} in the other branch",
                "what is done with it afterwards does not know which branch was taken",
                Severity.WARNING,
            )
            return
        if event.conflict is Conflict.GIVEN:
            if not any(place.form is Form.CPU for place in _fed(ask, event.at.function)):
                yield Report(
                    f"`{event.left.label}` is made on the cpu when the module runs, and nothing moves it",
                    "the module has been moved by then: make it in the constructor, or move it at once",
                    Severity.WARNING,
                )
            return
        where = f" on `{event.right.place.name}`" if event.right.place.name else " elsewhere"
        severity = Severity.WARNING if event.conflict is Conflict.PRESUMED else None
        why = "its parameters and what it is given are on different devices where there is an accelerator"
        if event.conflict is Conflict.PORTABLE:
            where = " wherever the module runs"
            why = "its weights are new in each call, too: what the constructor makes is moved and trained"
        of_callers = event.how == "attribute" and event.conflict is Conflict.PRESUMED and event.right.given[1]
        if event.conflict is Conflict.CALLER or of_callers:
            given = ask.given(event.right)
            there = on_device(given, tensors=True)
            if there is None and all_on_cpu(given):
                return
            likely = there is not None or event.conflict is Conflict.PRESUMED
            severity = Severity.WARNING if likely else Severity.NOTE
            where = " wherever the caller put it"
        told = f"is given `{event.right.label}`, which is{where}"
        if event.how == "result":
            told = f"what it gives meets `{event.right.label}`{where}"
            why = "where there is an accelerator they are apart: what it is given stays on the cpu as well"
        yield Report(f"`{event.left.label}` stays on the cpu, and {told}", why, severity)


def _fed(ask: Ask, function: str, depth: int = 6) -> Iterator[Place]:
    """Where what modules are given is that run a function, as far as callers show."""
    for call in ask.callers(function) if depth else ():
        yield from (each.place for each in call.passed if each.kind in TENSORS)
        if call.caller != function:
            yield from _fed(ask, call.caller, depth - 1)
