"""Values that were put on different devices meet

An operation wants its tensors on one device. What was moved to the cpu, or told to be there, raises
`Expected all tensors to be on the same device` where it meets what was moved to a device; so do two tensors
that were moved to two devices.

    scores = model(batch.to(device))
    best = scores.argmax(1).cpu()
    hits = best == labels.to(device)  # DEV408

Bring both to one place first:

    hits = best == labels.cpu()

So does an average of weights: what was cloned of a model on the cpu stays there when the model moves. The
lengths that `pack_padded_sequence` takes have to be on the cpu, wherever the padded tensor is: what is
moved, what layers give, and what is counted in their input is not. A warning where both are parts of one
argument, and where a caller gives them on a device. So is what meets what is on the cpu and is given on a
device by a caller, also to another method of the object, which keeps it. Two devices that are given to what
puts modules on each may be one: what goes from a part on the first to one on the second, and is not moved, is
a warning.

Left alone: 0-dim tensors of the cpu in arithmetic and comparisons, a cpu index of a tensor elsewhere, what is
moved under a condition, `cuda` next to `cuda:1` (which may be the current device), operations whose result is
moved at once, and what other rules explain: batches of a loader, factories without `device=`, attributes,
modules, moves whose result is thrown away.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    Ask,
    Cause,
    Claim,
    Conflict,
    Form,
    Given,
    Kind,
    Meeting,
    Raises,
    Report,
    Rule,
    Severity,
    comes_from,
    conflict,
    cst,
    how,
    left,
    meeting,
    on_device,
    outside,
)

_DOCS = "https://docs.pytorch.org/docs/stable/notes/cuda.html"
_MOVED = (Form.LITERAL, Form.SAME)


class MixedDevices(Rule[Meeting]):
    """What was put in one place, and meets what was put in another."""

    code = "DEV408"
    name = "mixed-devices"
    cause = Cause.MIXED
    watches = (
        meeting(
            conflict(Conflict.CERTAIN, Conflict.PRESUMED, Conflict.GIVEN),
            comes_from("moved", "made", "cloned", "literal", "brought"),
            left(Kind.TENSOR, Kind.PARAMETER),
            outside("probe"),
        ),
        meeting(how("host"), outside("probe", "test")),
    )
    claim = Claim(
        MIXED_DEVICES,
        programs={
            "gpus": Claim(MIXED_DEVICES, needs="cuda x2", documentation=_DOCS),
            **dict.fromkeys(
                ("lengths", "lengths_given", "lengths_in_loops"), Claim(Raises("RuntimeError", "lengths"))
            ),
        },
    )

    def visit(self, node: cst.CSTNode, event: Meeting, ask: Ask) -> Iterator[Report]:
        """Report the side that is on the cpu, or the first."""
        one, other = event.left, event.right
        if event.how == "host":
            there = _given(ask.given(one)) if event.conflict is Conflict.GIVEN else None
            if event.conflict is Conflict.GIVEN and there is None:
                return
            where = f"on `{one.place.name}`" if one.place.name else f"where `{other.label}` is"
            if there is not None:
                where = f"on `{there.place.name or 'the device of a module'}`, as a caller gives it"
            yield Report(
                f"`{one.label}` is {where}, and lengths have to be on the cpu",
                "`pack_padded_sequence` raises where they are on a device: give it `lengths.cpu()`",
                None if event.conflict in (Conflict.CERTAIN, Conflict.PORTABLE) else Severity.WARNING,
                because=None if there is None else ((there.spot, "it is given here"),),
            )
            return
        there = on_device(ask.given(other), tensors=True) if event.conflict is Conflict.GIVEN else None
        if event.conflict is Conflict.GIVEN and there is None:
            return
        name = one.place.name
        here = "the cpu" if name == "cpu" else f"`{name}`" if name else "one device"
        where = f" on `{other.place.name}`" if other.place.name else ", which is elsewhere"
        if there is not None:
            where = f", which a caller has on `{there.place.name or 'the device of a module'}`"
        yield Report(
            f"`{one.label}` is on {here} and meets `{other.label}`{where}",
            "the tensors of one operation have to be on one device",
            None if event.conflict is Conflict.CERTAIN else Severity.WARNING,
            because=None if there is None else ((there.spot, "it is given here"),),
        )


def _given(calls: tuple[Given, ...]) -> Given | None:
    """The first call that passes lengths on a device: a tensor, or part of a batch that was moved."""
    moved = (each for each in calls if each.kind is Kind.BATCH and each.place.form in _MOVED)
    return on_device(calls, tensors=True) or next(moved, None)
