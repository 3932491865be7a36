"""A batch never reaches the device of the model

A data loader yields tensors on the cpu, and so do tokenizers give them. The model was moved, nothing of the
batch is: the first layer raises `Expected all tensors to be on the same device` on every accelerator.

    model = nn.Linear(2, 2).to(device)
    for inputs, targets in DataLoader(dataset):
        outputs = model(inputs)  # DEV401

Move what the model needs:

    for inputs, targets in DataLoader(dataset):
        outputs = model(inputs.to(device))

What is called with `return_tensors="pt"` is a tokenizer or processor of transformers.

A warning where the batch is only given to a model of which nobody knows the class: it may move it. So is
it where nothing but its use shows that a loader yields it, where a dataset yields rows of what a caller gave,
and where another loop of the file moves what it gives to the same model. A loop in another file is told where
it is given the loader. A loader that an `Accelerator` does not prepare yields on the cpu, and what it
prepares is on its device.

Left alone: loaders of datasets that already live on the device, `collate_fn`s and models that move
their inputs, `DataParallel` and DDP with `device_ids` (which scatter them), frameworks that move
batches themselves, and loaders that may be anything.
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
    comes_from,
    conflict,
    cst,
    how,
    left,
    meeting,
    outside,
    sibling_moved,
    unless,
)


class BatchNotMoved(Rule[Meeting]):
    """A batch of which nothing is moved."""

    code = "DEV401"
    name = "batch-not-moved"
    cause = Cause.BATCH
    watches = (
        meeting(
            conflict(Conflict.CERTAIN, Conflict.PRESUMED),
            comes_from("loader"),
            unless(sibling_moved()),
            outside("probe"),
        ),
        meeting(conflict(Conflict.CALLER), left(Kind.BATCH), unless(sibling_moved())),
        meeting(
            conflict(Conflict.CERTAIN, Conflict.PORTABLE, Conflict.PRESUMED),
            comes_from("encoded"),
            unless(sibling_moved()),
            unless(how("join", "return")),
            outside("probe"),
        ),
    )
    claim = Claim(MIXED_DEVICES, packages=("accelerate", "torch_geometric"))

    def visit(self, node: cst.CSTNode, event: Meeting, ask: Ask) -> Iterator[Report]:
        """Report where the batch meets the device."""
        batch, other = event.left, event.right
        where = f" on `{other.place.name}`" if other.place.name else " on another device"
        if batch.origin is not None and batch.origin.how == "encoded":
            yield from _encoded(event, ask, where)
            return
        if event.conflict is Conflict.CALLER:
            yield Report(
                f"`{batch.label}` is passed to `{other.label}` as it comes, which lives{where}",
                "elsewhere in this file, what is passed there is moved first",
                Severity.WARNING,
            )
            return
        source = f" from `{batch.within}`" if batch.within else ""
        given = f"what `{batch.label}` yields" if batch.label == batch.within else f"`{batch.label}`{source}"
        meets = f"`{other.label}`"
        if batch.label == other.label:  # an object that was given both, at the call of its method
            given, meets = f"a batch of `{batch.label}`", "the model that it has"
        yield Report(
            f"{given} is still on the cpu and meets {meets}{where}",
            "loaders yield cpu tensors: move the batch to the model's device first",
            Severity.WARNING if event.conflict is Conflict.PRESUMED else None,
        )


def _encoded(event: Meeting, ask: Ask, where: str) -> Iterator[Report]:
    """Report where what a tokenizer gives meets the device."""
    if ask.only_constructs(event.at.function):
        return
    yield Report(
        f"`{event.left.label}` is still on the cpu and meets `{event.right.label}`{where}",
        "what tokenizers give, and graphs as they are built, are on the cpu: move them first",
        Severity.WARNING if event.conflict is Conflict.PRESUMED else None,
    )
