"""A tensor on the device is given to numpy

numpy reads the host's memory: `.numpy()`, its functions, stores in arrays, and `torch.FloatTensor(x)` raise.

    model(images.to(device)).detach().numpy()  # DEV407

Copy to the cpu first: `model(images.to(device)).detach().cpu().numpy()`. What belongs to the module is where
that is: unless `forward` or a trainer runs, it is a note, as a caller may move it first, or a warning
where its class moves itself. The fix is unsafe where a function is given a variable. What it is given is a
warning where a caller, or a trainer, has it on a device, and a note where nobody knows, as is what an unknown
call gives of what is on one. Left alone: what all callers have on the cpu, or where no device is named.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    TENSORS,
    Ask,
    Call,
    Cause,
    Change,
    Claim,
    Form,
    Kind,
    Meeting,
    Raises,
    Report,
    Rule,
    Seen,
    Severity,
    all_on_cpu,
    call,
    cst,
    how,
    lacks,
    meeting,
    on_cpu,
    on_device,
    outside,
    standing,
)

_COUNTS = ("size", "shape", "axis", "num", "vmin", "vmax", "label")  # no arrays; a tensor is a number there
_RUNS_ON_CPU = frozenset({"test", "dataset", "collate_fn", "worker"})


class NumpyOnDevice(Rule[Call | Meeting]):
    """A conversion to numpy of what lives on a device."""

    code = "DEV407"
    name = "numpy-on-device"
    cause = Cause.NUMPY
    watches = (
        call("Tensor.numpy", lacks("force"), outside("probe")),
        call("@host-only", lacks("force"), outside("probe")),
        meeting(how("array"), outside("probe", "test")),
    )
    claim = Claim(Raises("TypeError", "tensor to numpy|expected TensorOptions"), packages=("numpy",))

    def suspects(self, event: Call | Meeting) -> bool:
        """Whether anything that numpy reads may be on a device."""
        return not event.at.guard.absent and any(_behind(event))

    def visit(self, node: cst.CSTNode, event: Call | Meeting, ask: Ask) -> Iterator[Report]:
        """Report the call, or what an array reads; copy it to the cpu first."""
        seen = next(iter(_behind(event)))
        there, at = None, seen.place.form is Form.AT
        own = isinstance(event, Call) and seen is event.receiver
        runs, moved, hook = (each in event.at.context for each in ("forward", "moved", "hook"))
        severity = Severity.NOTE if seen.answered or (at and not (runs or moved or hook)) else None
        if at and ("." in seen.place.name or moved):  # nobody knows its class
            severity = severity or Severity.WARNING
        where = f"on {'the device of ' * at}`{seen.place.name or 'a device'}`"
        if not _is_placed(seen):
            there = on_device(given := ask.given(seen), tensors=not (seen.certain or own))
            if there is None and (all_on_cpu(given) or not (own and (seen.certain or seen.whole or hook))):
                return  # only tensors have a `.numpy()`
            severity = Severity.WARNING if hook else Severity.NOTE
            where = "where the trainer puts it" if hook else "wherever the caller put it"
            if there is not None:
                name = there.place.name or "the device of a module"
                severity, where = Severity.WARNING, f"on `{name}`, as a caller gives it"
        elif all_on_cpu(ask.devices_given_within(node)) or (at and not (hook or ask.mentions_devices())):
            return
        reader = event.callee.rpartition(".")[2] if isinstance(event, Call) else event.right.label
        holds = "holds what is" if seen.kind is Kind.CONTAINER else "may be" if seen.answered else "is"
        told = f"`{seen.label}` {holds} {where}, and `{reader}` reads the host's memory"
        why = "on an accelerator it raises TypeError: copy the tensor with Tensor.cpu() first"
        given_at = None if there is None else ((there.spot, "it is given here"),)
        yield Report(told, why, severity, _copied(node, event), given_at)


def _behind(event: Call | Meeting) -> Iterator[Seen]:
    """What numpy reads and may be on a device; what callers give comes last."""
    topics, others = (event.topics, event.given.items()) if isinstance(event, Call) else ((), ())
    lists = () if "keeps-items" in topics else (Kind.CONTAINER,)
    wanted = {*lists, *(() if "by-method" in topics else TENSORS)}
    first = event.receiver if isinstance(event, Call) else event.left
    read = filter(None, (first, *(seen for name, seen in others if name not in _COUNTS)))
    for seen in sorted(read, key=_is_placed, reverse=True):
        given = seen.given[1] and not _RUNS_ON_CPU & event.at.context
        if seen.kind in wanted and ((given and seen.kind in TENSORS) or _is_placed(seen)):
            yield seen
        elif given and seen.kind is Kind.UNKNOWN and wanted & TENSORS:
            yield seen  # a tensor, if its callers say so


def _is_placed(seen: Seen) -> bool:
    """Whether the file itself shows that it may be on a device."""
    form, named = seen.place.form, bool(seen.place.name)
    if form is Form.AT:
        return named and seen.kind is not Kind.CONTAINER
    either = form is Form.EITHER and (named or seen.place.of is not None)
    return either or form in (Form.LITERAL, Form.SAME, Form.ANYWHERE)


def _copied(node: cst.CSTNode, event: Call | Meeting) -> Change | None:
    """`x.cpu()` for each tensor; what holds several is left to the author."""
    pairs = standing(node, event)
    # What callers give is told one at a time.
    placed = [seen for seen in _behind(event) if _is_placed(seen)] or [next(_behind(event))]
    behind = [seen for seen in placed if seen.kind in TENSORS]
    found = tuple((part, on_cpu(part, seen.kind is Kind.PARAMETER)) for part, seen in pairs if seen in behind)
    own = isinstance(event, Call) and event.receiver is not None  # what is no tensor lacks the method
    safe = own or all(isinstance(part, cst.Call) for part, _ in found)
    return Change("copy to the cpu", found, safe) if found else None
