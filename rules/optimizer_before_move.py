"""A module is moved after an optimizer was built from its parameters

What then happens depends on the optimizer and on the move. By default `Module.to` swaps the data of
each parameter in place, so a fresh SGD or Adam goes on working. But Adagrad allocates its state when
it is built: that state stays on the old device, and the next step raises. Where the move makes new parameters
(`to_empty`, FSDP, XLA, `torch.__future__.set_overwrite_module_params_on_conversion`) the optimizer
holds dead ones: training runs and changes nothing.

    model = nn.Linear(2, 2)
    optimizer = torch.optim.Adagrad(model.parameters())
    model.to(device)  # DEV301

Move first:

    model = nn.Linear(2, 2).to(device)
    optimizer = torch.optim.Adagrad(model.parameters())

An error where it breaks, a warning where it does for one of several classes, a note (shown where the rule
is selected) where nothing fails today. DEV303 is about state from steps and checkpoints. An optimizer that
nothing steps any more is left alone, and so is a module that was moved before.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    Ask,
    Cause,
    Claim,
    Move,
    Observes,
    Report,
    Rule,
    Severity,
    casts,
    cst,
    everywhere,
    held_by,
    move,
    unless,
)

_WHY = {
    "stateful": "{} allocates its state when it is built; that state stays behind, and the next step raises",
    "perhaps": "{} allocates its state when it is built; where it is chosen, the next step raises",
    "replaced": "this makes new parameters: {} goes on updating the old ones, and the model never trains",
    "fresh": "{} works after an ordinary move, but not after one that makes new parameters (XLA, FSDP)",
}
_SEVERITIES = {"fresh": Severity.NOTE, "perhaps": Severity.WARNING}


class OptimizerBeforeMove(Rule[Move]):
    """A move that comes after the optimizer."""

    code = "DEV301"
    name = "optimizer-before-move"
    cause = Cause.OPTIMIZER
    watches = (move(held_by("optimizer"), unless(casts())),)
    claim = Claim(
        MIXED_DEVICES,
        programs={
            "fresh": everywhere(
                Observes("trains", bug=[False] * 5, fixed=[True] * 5),
                setup="torch.__future__.set_overwrite_module_params_on_conversion(True)",
            ),
            "to_empty": everywhere(Observes("torch.equal(before, model.weight)", bug=True, fixed=False)),
        },
    )

    def visit(self, node: cst.CSTNode, event: Move, ask: Ask) -> Iterator[Report]:
        """Report the move, as bad as it is."""
        for holder in event.holders:
            phase = "replaced" if event.replaces else holder.phase
            if holder.protocol == "optimizer" and phase in _WHY:
                yield Report(
                    f"`{event.receiver.label}` is moved after its optimizer was built on {holder.line}",
                    _WHY[phase].format(holder.name),
                    _SEVERITIES.get(phase),
                )
