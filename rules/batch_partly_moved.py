"""Part of a batch is moved, and another part is not

The inputs go to the device; labels, masks or weights stay where the loader left them. The loss, or
whatever combines them, raises `Expected all tensors to be on the same device` on every accelerator.

    model = nn.Linear(2, 2).to(device)
    for inputs, targets in DataLoader(dataset):
        loss = criterion(model(inputs.to(device)), targets)  # DEV402

Move every element that meets the model's output:

    for inputs, targets in DataLoader(dataset):
        loss = criterion(model(inputs.to(device)), targets.to(device))

A warning where the element is only given to a model of which nobody knows the class: it may move it. So is
it where nothing shows that what takes both is a loss, or that what gave the other is a model, and where they
are moved under different conditions.

Left alone: elements that are only measured, printed, indexed with or turned into numbers, lengths
for `pack_padded_sequence` (which must stay on the cpu), and labels that meet outputs moved back.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    Ask,
    Claim,
    Conflict,
    Meeting,
    Report,
    Rule,
    Severity,
    conflict,
    cst,
    meeting,
    outside,
    sibling_moved,
)


class BatchPartlyMoved(Rule[Meeting]):
    """An element that stays behind while its siblings are moved."""

    code = "DEV402"
    name = "batch-partly-moved"
    watches = (
        meeting(
            conflict(Conflict.CERTAIN, Conflict.PORTABLE, Conflict.PRESUMED, Conflict.BRANCHES),
            sibling_moved(),
            outside("probe"),
        ),
    )
    claim = Claim(MIXED_DEVICES, packages=("numpy", "torch_geometric"))

    def visit(self, node: cst.CSTNode, event: Meeting, ask: Ask) -> Iterator[Report]:
        """Report where the element meets the device."""
        element, other = event.left, event.right
        if event.conflict is Conflict.BRANCHES:
            yield Report(
                f"`{element.label}` is moved under another condition than the rest of its batch",
                "on a path where one of them is moved and the other is not, their devices differ",
                Severity.WARNING,  # whether there is such a path, the options decide
            )
            return
        where = f" on `{other.place.name}`" if other.place.name else " on another device"
        stays = f"`{element.label}` was not moved with the rest of its batch and"
        if event.copied:
            stays = f"`{element.label}` itself was not moved, only a copy of it, and"
        yield Report(
            f"{stays} meets `{other.label}`{where}",
            "every element of a batch that meets a value on the device must be moved there",
            Severity.WARNING if event.conflict is Conflict.PRESUMED else None,
        )
