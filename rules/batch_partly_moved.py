"""Part of a batch is moved, and another part is not

The inputs go to the device; labels, masks or weights stay where the loader left them. The loss, or
whatever combines them, raises `Expected all tensors to be on the same device` on every accelerator.

    model = nn.Linear(2, 2).to(device)
    for inputs, targets in DataLoader(dataset):
        loss = criterion(model(inputs.to(device)), targets)  # DEV402

Move every element that meets the model's output:

    for inputs, targets in DataLoader(dataset):
        loss = criterion(model(inputs.to(device)), targets.to(device))

Left alone: elements that are only measured, printed, indexed with or turned into numbers, lengths
for `pack_padded_sequence` (which must stay on the cpu), and labels that meet outputs moved back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..claim import MIXED_DEVICES, Claim
from ..infer.facts import BatchMeeting
from ..rule import Report, Rule

if TYPE_CHECKING:
    from libcst import CSTNode


class BatchPartlyMoved(Rule[BatchMeeting]):
    """An element that stays behind while its siblings are moved."""

    code = "DEV402"
    name = "batch-partly-moved"
    fact = BatchMeeting
    claim = Claim(MIXED_DEVICES, packages=("numpy",))

    def suspects(self, fact: BatchMeeting) -> bool:
        """Batches of which something is moved."""
        return fact.partly

    def visit(self, node: CSTNode, fact: BatchMeeting) -> Iterator[Report]:
        """Report where the element meets the device."""
        where = f" on `{fact.device}`" if fact.device else " on another device"
        if fact.conditional:
            yield Report(
                f"`{fact.element}` is moved under another condition than the rest of its batch",
                "on a path where one of them is moved and the other is not, their devices differ",
            )
            return
        yield Report(
            f"`{fact.element}` was not moved with the rest of its batch and meets `{fact.other}`{where}",
            "every element of a batch that meets a value on the device must be moved there",
        )
