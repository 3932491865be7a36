"""A tensor on the device is given to numpy

numpy works on the host's memory: `.numpy()`, every function given the tensor, and an array of which a slice
is assigned raise on an accelerator.

    model(images.to(device)).detach().numpy()  # DEV407

Copy to the cpu first: `model(images.to(device)).detach().cpu().numpy()`. What belongs to the module is
wherever the module is: outside of `forward` that is a note, as a caller may move the whole module to the
cpu first. The fix is unsafe where a function is given a variable, perhaps None or a number on some path.

What a function is given is a warning where a caller, in this file or another, has it on a device, and a note
where nobody knows. Left alone: what may be anywhere, what all callers have on the cpu, branches for the cpu,
and modules in files that never mention a device.
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
    Conflict,
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
)

_RAISES = "on an accelerator it raises: can't convert the tensor to numpy, use Tensor.cpu() first"
_RUNS_ON_CPU = frozenset({"test", "dataset", "collate_fn", "worker"})


class NumpyOnDevice(Rule[Call | Meeting]):
    """A conversion to numpy of what lives on a device."""

    code = "DEV407"
    name = "numpy-on-device"
    cause = Cause.NUMPY
    watches = (
        call("Tensor.numpy", lacks("force"), outside("probe")),
        call("@host-only", outside("probe")),
        meeting(how("array"), outside("probe", "test")),
    )
    claim = Claim(Raises("TypeError", "device type tensor to numpy"), packages=("numpy",))

    def suspects(self, event: Call | Meeting) -> bool:
        """Whether anything that the call reads may be on a device."""
        if isinstance(event, Meeting):
            return True
        return not event.at.guard.absent and "force" not in event.given and any(_behind(event))

    def visit(self, node: cst.CSTNode, event: Call | Meeting, ask: Ask) -> Iterator[Report]:
        """Report the call, or what is stored in an array; copy what it reads to the cpu first."""
        if isinstance(event, Meeting):
            yield from _stored(node, event, ask)
            return
        assert isinstance(node, cst.Call)
        seen = next(iter(_behind(event)))
        there, at = None, seen.place.form is Form.AT
        severity = Severity.NOTE if at and "forward" not in event.at.context else None
        if at and "." in seen.place.name:  # of a part nobody knows the class
            severity = severity or Severity.WARNING
        where = f"on {'the device of ' * at}`{seen.place.name or 'a device'}`"
        if not _is_placed(seen):
            given, tensor = ask.given(seen), seen.certain or seen is event.receiver
            there = on_device(given, tensors=not tensor)
            own = seen is event.receiver and (seen.certain or seen.whole)  # only tensors have a `.numpy()`
            if there is None and (all_on_cpu(given) or not own):
                return
            severity = Severity.NOTE if there is None else Severity.WARNING
            name = there.place.name or "the device of a module" if there is not None else ""
            where = f"on `{name}`, as a caller gives it" if name else "wherever the caller put it"
        elif at and not ask.mentions_devices():
            return
        yield Report(
            f"`{seen.label}` {'holds what is' if seen.kind is Kind.CONTAINER else 'is'} {where}, and "
            f"`{event.callee.rpartition('.')[2]}` reads the host's memory",
            _RAISES,
            *(severity, _copied(node, event)),
            None if there is None else ((there.spot, "it is given here"),),
        )


def _stored(node: cst.CSTNode, event: Meeting, ask: Ask) -> Iterator[Report]:
    """What a part of an array is filled with."""
    seen, there = event.left, None
    at = seen.place.form is Form.AT
    where = f"on {'the device of ' * at}`{seen.place.name or 'a device'}`"
    severity = None if event.conflict in (Conflict.CERTAIN, Conflict.PORTABLE) else Severity.WARNING
    if event.conflict is Conflict.GIVEN:
        there = on_device(ask.given(seen), tensors=True)
        if there is None:
            return
        where = f"on `{there.place.name or 'the device of a module'}`, as a caller gives it"
    elif at and not ask.mentions_devices():
        return
    elif at and "forward" not in event.at.context:
        severity = Severity.NOTE
    assert isinstance(node, cst.BaseExpression)
    change = Change("copy to the cpu", ((node, on_cpu(node, seen.kind is Kind.PARAMETER)),), safe=False)
    yield Report(
        f"`{seen.label}` is {where}, and the array `{event.right.label}` reads the host's memory",
        _RAISES,
        severity,
        change,
        None if there is None else ((there.spot, "it is given here"),),
    )


def _behind(event: Call) -> Iterator[Seen]:
    """What the call reads and may be on a device; what callers give comes last."""
    wanted = {Kind.CONTAINER, *(() if "by-method" in event.topics else TENSORS)}
    counts = ("size", "shape", "axis", "num")  # numpy takes numbers there, which a tensor makes of itself
    read = (event.receiver, *(seen for name, seen in event.given.items() if name not in counts))
    for seen in sorted(filter(None, read), key=_is_placed, reverse=True):
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


def _copied(node: cst.Call, event: Call) -> Change | None:
    """`x.cpu()` for each tensor; what holds several is left to the author."""
    pairs = list(zip((arg.value for arg in node.args), event.given.values(), strict=False))
    pairs = [] if event.open else pairs
    if event.receiver is not None and isinstance(node.func, cst.Attribute):
        pairs = [(node.func.value, event.receiver)]
    # What callers give is told one at a time.
    placed = [seen for seen in _behind(event) if _is_placed(seen)] or [next(_behind(event))]
    behind = [seen for seen in placed if seen.kind in TENSORS]
    found = tuple((part, on_cpu(part, seen.kind is Kind.PARAMETER)) for part, seen in pairs if seen in behind)
    # A method of a tensor was called, which what is no tensor lacks; a function may take anything.
    safe = all(isinstance(part, cst.Call) or part is getattr(node.func, "value", None) for part, _ in found)
    return Change("copy to the cpu", found, safe) if found else None
