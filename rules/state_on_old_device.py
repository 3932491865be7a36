"""State of an optimizer stays on the device that its module leaves

What its steps, or a loaded checkpoint, left in an optimizer does not move with the module: the next
step raises. SGD without momentum has no state.

    optimizer.load_state_dict(checkpoint["optimizer"])  # DEV303
    model.to(device)

Move first; `load_state_dict` casts what it loads to where the parameters are:

    model.to(device)
    optimizer.load_state_dict(checkpoint["optimizer"])

State that steps left is told of where the module is moved. Left alone is an optimizer that nothing steps any
more, one whose state is loaded again after the move and before the next step, and one whose state
(`optimizer.state`) the program moves. A function that moves what it is given may do so on one path alone: a
warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    Ask,
    Call,
    Claim,
    Form,
    Move,
    Report,
    Rule,
    Severity,
    call,
    casts,
    cst,
    held_by,
    move,
    unless,
)

_WHY = {
    "stepped": "{} has state from an earlier step, which stays behind: the next step raises",
    "loaded": "the loaded state of {} stays behind: the next step raises",
}


class StateOnOldDevice(Rule[Call | Move]):
    """A move that leaves state behind."""

    code = "DEV303"
    name = "state-on-old-device"
    watches = (move(held_by("optimizer"), unless(casts())), call("Optimizer.load_state_dict"))
    claim = Claim(MIXED_DEVICES)

    def suspects(self, event: Call | Move) -> bool:
        """Whether a loaded state is left behind; most never are."""
        return isinstance(event, Move) or bool(event.leaves)

    def visit(self, node: cst.CSTNode, event: Call | Move, ask: Ask) -> Iterator[Report]:
        """Report what left the state; where a move makes new parameters, there is worse to say of it."""
        if isinstance(event, Call):
            for left in sorted(event.leaves, key=lambda each: not each.sure)[:1]:
                yield Report(
                    f"`{left.label}` is moved on {left.line}, after the state of its optimizer is loaded",
                    _WHY["loaded"].format(left.name),
                    Severity.ERROR if left.sure else Severity.WARNING,
                    because=tuple((spot, "") for spot in left.spots),
                )
            return
        if Form.EITHER in {place.form for place in (event.receiver.place, event.target) if place is not None}:
            return  # moved on one path before, or on one now, it may stay where it is
        known = Severity.ERROR if _is_move(node, event) else Severity.WARNING
        for holder in event.holders:
            if holder.protocol == "optimizer" and holder.phase in _WHY and not event.replaces:
                yield Report(
                    f"`{event.receiver.label}` is moved, and the state of its optimizer, built on "
                    f"{holder.line}, is not",
                    _WHY[holder.phase].format(holder.name),
                    known,
                )


def _is_move(node: cst.CSTNode, event: Move) -> bool:
    """Whether it is the very move, and no call of a function that may move it on one path alone."""
    func = node.func if isinstance(node, cst.Call) else None
    return isinstance(func, cst.Attribute) and func.attr.value == event.method
