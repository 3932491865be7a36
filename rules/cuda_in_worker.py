"""A loader's worker uses a device

Workers of a DataLoader are forked, and CUDA cannot be initialised again in a forked process: what
`__getitem__` or `collate_fn` moves to a GPU raises "Cannot re-initialize CUDA in forked subprocess" as
soon as the parent has used one. So nobody can give the loader workers.

    def collate(samples):
        return torch.stack(samples).to(device)  # DEV501

    loader = DataLoader(data, collate_fn=collate, num_workers=4)

Make batches on the cpu, let the loader pin them, and move them where they are used:

    def collate(samples):
        return torch.stack(samples)

    for batch in DataLoader(data, collate_fn=collate, num_workers=4):
        batch = batch.to(device)

An error where a loader of the file has workers and the device is CUDA by name; a warning where it is a
variable, or the loader is made elsewhere. Loaders without workers, or with ones that are spawned, are
left alone, and so are tests.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    RUNS,
    Ask,
    Call,
    Cause,
    Claim,
    Event,
    Form,
    Move,
    Report,
    Rule,
    Severity,
    call,
    cst,
    inside,
    move,
    outside,
)

_DEVICES = (Form.LITERAL, Form.EITHER, Form.SAME)


class CudaInWorker(Rule[Call | Move]):
    """A move, or a call that needs CUDA, in what workers run."""

    code = "DEV501"
    name = "cuda-in-worker"
    watches = (
        move(inside("worker", "collate_fn"), outside("test")),
        call("@needs-cuda", inside("worker", "collate_fn"), outside("test")),
    )
    cause = Cause.WORKER
    claim = Claim(
        RUNS,
        needs="cuda",
        documentation="https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#cuda-in-multiprocessing",
    )

    def suspects(self, event: Call | Move) -> bool:
        """Whether it uses a device that is not the cpu for sure."""
        if isinstance(event, Call):
            return True
        form = event.target.form if event.target is not None else Form.CPU
        return form in _DEVICES or (form is Form.UNKNOWN and event.named == "device")

    def visit(self, node: cst.CSTNode, event: Call | Move, ask: Ask) -> Iterator[Report]:
        """Report what needs the device, unless no loader of the file has workers that are forked."""
        calls = [other for other in ask.events("call") if isinstance(other, Call)]
        loaders = [other for other in calls if "loader" in other.topics]
        counts = [loader.given["num_workers"].label for loader in loaders if "num_workers" in loader.given]
        spawned = any(_spawns(other) for other in calls)
        if spawned or (loaders and all(count == "0" for count in counts)):
            return
        if "collate_fn" not in event.at.context and not counts:
            return
        named = isinstance(event, Call) or (event.target is not None and event.target.form is Form.LITERAL)
        certain = named and any(count.isdecimal() and count != "0" for count in counts)
        yield Report(
            "a loader's worker uses a device",
            "CUDA cannot be initialised again in a forked process: move the batch where it is used",
            None if certain else Severity.WARNING,
        )


def _spawns(event: Event) -> bool:
    """Whether processes are started anew instead of forked."""
    return isinstance(event, Call) and (
        "start-method" in event.topics or "multiprocessing_context" in event.given
    )
