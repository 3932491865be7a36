"""A loader's worker, or a forked process, uses a device

Workers of a DataLoader are forked, and CUDA cannot be initialised again in a forked process: what
`__getitem__` or `collate_fn` moves to a GPU raises "Cannot re-initialize CUDA in forked subprocess" as
soon as the parent has used one. So nobody can give the loader workers. Nor can a `Process` use what is on a
device: it is forked as well, on Linux before Python 3.14, unless `set_start_method("spawn")` is called.

    def collate(samples):
        return torch.stack(samples).to(device)  # DEV501

    loader = DataLoader(data, collate_fn=collate, num_workers=4)

Make batches on the cpu, let the loader pin them, and move them where they are used:

    def collate(samples):
        return torch.stack(samples)

    for batch in DataLoader(data, collate_fn=collate, num_workers=4):
        batch = batch.to(device)

An error where a loader has workers, or a process is given something, and the device is CUDA by name; a
warning where it is a variable, or nobody knows the loader. Left alone is what only loaders without workers
run, or with ones that are spawned, what all callers have on the cpu, what workers leave to a default that is
that or None, and tests.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    RUNS,
    TENSORS,
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
    all_on_cpu,
    call,
    cst,
    device_used,
    gives,
    handed_over,
    inside,
    move,
    outside,
    worker_counts,
)

_RUN_BY_LOADERS = ("worker", "collate_fn", "called")
_DEVICES = (Form.LITERAL, Form.EITHER, Form.SAME)


class CudaInWorker(Rule[Call | Move]):
    """A move, or a call that needs CUDA, in what workers run."""

    code = "DEV501"
    name = "cuda-in-worker"
    watches = (
        move(inside(*_RUN_BY_LOADERS), outside("test")),
        call("@needs-cuda", inside(*_RUN_BY_LOADERS), outside("test")),
        call("torch.*", gives("device"), inside(*_RUN_BY_LOADERS), outside("test")),
        call("@forks", outside("test")),
    )
    cause = Cause.WORKER
    claim = Claim(
        RUNS,
        needs="cuda",
        documentation="https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#cuda-in-multiprocessing",
    )

    def suspects(self, event: Call | Move) -> bool:
        """Whether it uses a device that is not the cpu for sure."""
        place = device_used(event)
        told = isinstance(event, Call) or event.named == "device"
        return place is not None and (place.form in _DEVICES or (place.form is Form.UNKNOWN and told))

    def visit(self, node: cst.CSTNode, event: Call | Move, ask: Ask) -> Iterator[Report]:
        """Report what needs the device, unless no loader that runs it has workers that are forked."""
        calls = [other for other in ask.events("call") if isinstance(other, Call)]
        place, loaded = device_used(event), ask.loaders(event.at.function)
        assert place is not None
        on_cpu = all_on_cpu(ask.devices_given(node)) or ask.left_on_cpu(node)
        if on_cpu or any(map(_spawns, calls)):
            return
        if isinstance(event, Call) and (handed := handed_over(event)):
            where = f"`{place.name}`" if place.name else "a device"
            if not ask.mentioned_beside("set_start_method"):
                yield Report(
                    f"`{handed.label}` is on {where}, and handed to a process that is forked",
                    'CUDA cannot be initialised again there: call `set_start_method("spawn")` first',
                    None if place.form is Form.LITERAL else Severity.WARNING,
                )
            return
        needs = isinstance(event, Move) or "needs-cuda" in event.topics
        if not needs and ask.value_of(node).kind not in TENSORS:
            return  # `torch.device(name)` makes nothing there
        told, own = place.name if place.form is Form.SAME else "", place.form in (Form.LITERAL, Form.EITHER)
        own |= told != "" and not ask.tells_given(node)  # a variable of the module, whoever is given what
        run = [x for x in loaded if x.bound is None or own or (told in x.bound if told else x.bound)]
        counts = [each.workers for each in run] if loaded else worker_counts(event.at.context, calls)
        if all(count == "0" for count in counts):
            return
        certain = place.form is Form.LITERAL and any(count.isdecimal() and count != "0" for count in counts)
        yield Report(
            "a loader's worker uses a device",
            "CUDA cannot be initialised again in a forked process: move the batch where it is used",
            None if certain else Severity.WARNING,
        )


def _spawns(event: Event) -> bool:
    """Whether processes are started anew instead of forked."""
    starts = {"start-method", "multiprocessing_context"}
    return isinstance(event, Call) and bool(starts & (event.topics | event.given.keys()))
