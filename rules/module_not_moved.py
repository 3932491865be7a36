"""A module stays on the cpu, and is given what was moved

The batch goes to the device and the model does not; or a second model, or a loss with class weights, is
forgotten where the first one is moved. The call fails as soon as there is an accelerator.

    student = Net().to(device)
    teacher = Net()  # DEV406
    for x, y in loader:
        x = x.to(device)
        loss = distance(student(x), teacher(x))

Move it, too: `teacher = Net().to(device)`.

So does a layer that `forward` makes: its weights are on the cpu, and new in each call. One that it makes when
it first runs is a warning, unless the module is run on the cpu first, in sight.

    def forward(self, x):
        return nn.LayerNorm(self.width)(x)  # DEV406

Only what the file itself makes is told, and only where nothing that might move it is in sight: not what
unknown functions are given, nor what objects keep whose other parts more than run. What an object keeps and
gives what it is given is a warning where the file makes such objects and moves other modules; so is a loss
with weights that a function computed. What a function makes at each call, and gives the tensors that it was
given, is a warning where a caller has those on a device, and a note where nobody in sight calls it. What two
branches make, and one moves, is a warning; so are one of several modules of which some have nothing to move,
and a part that is made for a model which was moved before. A model of a class that is not in sight is a note,
if its use shows that it is one, where it is given what was moved, or another is moved that is made beside it;
so is one that a function gives out with the weights of a given layer, or with what it loads to a device. What
an object of another file copied before the model moved is told where that object is made.
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

_EITHER = "what is done afterwards needs all of it on one device, whichever path was taken"
_FILLED = "loading and copying leave a module where it is: move it as well"
_MADE = "the module has been moved by then: make it in the constructor, or move it at once"
_UNLESS = "unless what makes it brings it there, they are apart where there is an accelerator"


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
        device, stays = event.right.place.name, f"`{event.left.label}` stays on the cpu"
        if event.conflict is Conflict.BRANCHES:
            goes = f"goes to {f'`{device}`' if device else 'the device'}"
            ways = {"beside": f"what is made beside it {goes}", "attribute": "its whole was moved before"}
            note, told = event.left.presumed, ways.get(event.how, f"{goes} in the other branch")
            why, level = (_UNLESS, Severity.NOTE) if note else (_EITHER, Severity.WARNING)
            yield Report(f"{stays} here, and {told}", why, level)
            return
        if event.how == "state":
            has = f"has the weights of `{event.right.label}`, which may be elsewhere"
            told = f"its weights are loaded to `{device}`" if device else has
            yield Report(f"{stays}, and {told}", _FILLED, Severity.NOTE)
            return
        if event.conflict is Conflict.GIVEN:
            told = f"`{event.left.label}` is made on the cpu when the module runs, and nothing moves it"
            if not any(place.form is Form.CPU for place in _fed(ask, event.at.function)):
                yield Report(told, _MADE, Severity.WARNING)
            return
        where = f" on `{device}`" if device else " elsewhere"
        severity = Severity.WARNING if event.conflict is Conflict.PRESUMED else None
        why = "its parameters and what it is given are on different devices where there is an accelerator"
        if event.conflict is Conflict.PORTABLE:
            where = " wherever the module runs"
            why = "its weights are new in each call, too: what the constructor makes is moved and trained"
        of_callers = event.how == "attribute" and event.conflict is Conflict.PRESUMED and event.right.given[1]
        if (event.conflict is Conflict.CALLER and not event.left.presumed) or of_callers:
            there = on_device(given := ask.given(event.right), tensors=True)
            if there is None and all_on_cpu(given):
                return
            severity = Severity.NOTE if there is None and not severity else Severity.WARNING
            where = " wherever the caller put it"
        severity, why = (Severity.NOTE, _UNLESS) if event.left.presumed else (severity, why)
        told = f"is given `{event.right.label}`, which is{where}"
        if event.how == "result":
            told = f"what it gives meets `{event.right.label}`{where}"
            why = "where there is an accelerator they are apart: what it is given stays on the cpu as well"
        yield Report(f"{stays}, and {told}", why, severity)


def _fed(ask: Ask, function: str, depth: int = 6) -> Iterator[Place]:
    """Where what modules are given is that run a function, as far as callers show."""
    for call in ask.callers(function) if depth else ():
        yield from (each.place for each in call.passed if each.kind in TENSORS)
        if call.caller != function:
            yield from _fed(ask, call.caller, depth - 1)
