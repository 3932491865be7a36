"""A batch never reaches the device of the model

A data loader yields tensors on the cpu. The model was moved, nothing of the batch is: the first
layer raises `Expected all tensors to be on the same device` on every accelerator.

    model = nn.Linear(2, 2).to(device)
    for inputs, targets in DataLoader(dataset):
        outputs = model(inputs)  # DEV401

Move what the model needs:

    for inputs, targets in DataLoader(dataset):
        outputs = model(inputs.to(device))

Left alone: loaders of datasets that already live on the device, `collate_fn`s and models that move
their inputs, `DataParallel` and DDP with `device_ids` (which scatter them), frameworks that move
batches themselves, and loaders that may be anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..claim import MIXED_DEVICES, Claim
from ..finding import Severity
from ..infer.facts import BatchMeeting
from ..rule import Report, Rule

if TYPE_CHECKING:
    from libcst import CSTNode


class BatchNotMoved(Rule[BatchMeeting]):
    """A batch of which nothing is moved."""

    code = "DEV401"
    name = "batch-not-moved"
    fact = BatchMeeting
    claim = Claim(MIXED_DEVICES)

    def suspects(self, fact: BatchMeeting) -> bool:
        """Batches of which some element is moved are DEV402's."""
        return not fact.partly

    def visit(self, node: CSTNode, fact: BatchMeeting) -> Iterator[Report]:
        """Report where the batch meets the device."""
        where = f" on `{fact.device}`" if fact.device else " on another device"
        if not fact.certain:
            yield Report(
                f"`{fact.element}` is passed to `{fact.other}` as it comes, which lives{where}",
                "another method of this class moves what it passes there",
                Severity.WARNING,
            )
            return
        source = f" from `{fact.loader}`" if fact.loader else ""
        yield Report(
            f"`{fact.element}`{source} is still on the cpu and meets `{fact.other}`{where}",
            "loaders yield cpu tensors: move the batch to the model's device first",
        )
