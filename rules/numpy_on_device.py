"""A tensor on the device is given to numpy

numpy works on the host's memory: `.numpy()` and every function given the tensor raise on an accelerator.

    model(images.to(device)).detach().numpy()  # DEV407

Copy to the cpu first:

    model(images.to(device)).detach().cpu().numpy()

What belongs to the module is wherever the module is: outside of `forward` that is a note, as a caller may
move the whole module to the cpu first. The fix is unsafe where a function is given a variable, which may be
None or a number on some path.

Left alone: what may be anywhere, branches for the cpu, and modules in files that never mention a device.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    TENSORS,
    Ask,
    Call,
    Change,
    Claim,
    Form,
    Kind,
    Move,
    Raises,
    Report,
    Rule,
    Seen,
    Severity,
    call,
    cst,
    lacks,
    outside,
)

_ELSEWHERE = (Form.LITERAL, Form.SAME, Form.EITHER, Form.ANYWHERE)
_RUNS_ON_CPU = frozenset({"test", "dataset", "collate_fn", "worker"})


class NumpyOnDevice(Rule[Call]):
    """A conversion to numpy of what lives on a device."""

    code = "DEV407"
    name = "numpy-on-device"
    watches = (call("Tensor.numpy", lacks("force"), outside("probe")), call("@host-only", outside("probe")))
    claim = Claim(Raises("TypeError", "device type tensor to numpy"), packages=("numpy",))

    def suspects(self, event: Call) -> bool:
        """Whether anything that the call reads may be on a device."""
        return not event.at.guard.absent and "force" not in event.given and any(_behind(event))

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Report the call; copy what it reads to the cpu first."""
        assert isinstance(node, cst.Call)
        seen = next(iter(_behind(event)))
        if seen.given[1] and not _is_placed(seen):
            yield from _given(node, event, ask, seen)
            return
        if seen.place.form is Form.AT and not _mentions_devices(ask):
            return
        where = f"{'the device of ' * (seen.place.form is Form.AT)}`{seen.place.name or 'a device'}`"
        yield Report(
            f"`{seen.label}` {'holds what is' if seen.kind is Kind.CONTAINER else 'is'} on {where}, and "
            f"`{event.callee.rpartition('.')[2]}` reads the host's memory",
            "on an accelerator it raises: can't convert the tensor to numpy, use Tensor.cpu() first",
            None if seen.place.form is not Form.AT or "forward" in event.at.context else Severity.NOTE,
            change=_copied(node, event),
        )


def _behind(event: Call) -> Iterator[Seen]:
    """What the call reads and may be on a device."""
    wanted = {Kind.CONTAINER} if "by-method" in event.topics else {*TENSORS, Kind.CONTAINER}
    counts = ("size", "shape", "axis", "num")  # numpy takes numbers there, which a tensor makes of itself
    read = (event.receiver, *(seen for name, seen in event.given.items() if name not in counts))
    for seen in sorted(filter(None, read), key=_is_placed, reverse=True):
        if seen.kind in wanted:
            given = seen.given[1] and seen.kind in TENSORS and not _RUNS_ON_CPU & event.at.context
            if given or _is_placed(seen):
                yield seen


def _is_placed(seen: Seen) -> bool:
    """Whether the file itself shows that it may be on a device."""
    place = seen.place
    either = place.form is Form.EITHER and bool(place.name or place.of is not None)
    own = place.form is Form.AT and bool(place.name) and seen.kind is not Kind.CONTAINER
    return either or own or place.form in (Form.LITERAL, Form.SAME, Form.ANYWHERE)


def _given(node: cst.Call, event: Call, ask: Ask, seen: Seen) -> Iterator[Report]:
    """What callers give: a warning where one gives what is on a device, a note where nobody knows."""
    given = ask.given(seen)
    tensor = seen.certain or seen is event.receiver
    there = next(
        (each for each in given if each.place.form in _ELSEWHERE and (tensor or each.kind in TENSORS)), None
    )
    outside = [each.place.form for each in given if not each.test]
    on_cpu = bool(outside) and all(form is Form.CPU for form in outside)
    if there is None and (on_cpu or not seen.certain or seen is not event.receiver):
        return
    where = "wherever the caller put it"
    if there is not None:
        where = f"on `{there.place.name}`" if there.place.name else "wherever the module runs"
        where += ", as a caller gives it"
    yield Report(
        f"`{seen.label}` is {where}, and `{event.callee.rpartition('.')[2]}` reads the host's memory",
        "on an accelerator it raises: can't convert the tensor to numpy, use Tensor.cpu() first",
        Severity.WARNING if there is not None else Severity.NOTE,
        _copied(node, event),
        ((there.spot, "it is given here"),) if there is not None else None,
    )


def _mentions_devices(ask: Ask) -> bool:
    """Whether the file moves anything, or names a device."""
    moves = (each for each in ask.events("move") if isinstance(each, Move))
    return bool(ask.events("literal")) or any(each.target is not None for each in moves)


def _copied(node: cst.Call, event: Call) -> Change | None:
    """`x.cpu()` for each tensor; what holds several is left to the author."""
    given = zip((arg.value for arg in node.args), event.given.values(), strict=False)
    pairs = [] if event.open else list(given)
    if event.receiver is not None and isinstance(node.func, cst.Attribute):
        pairs = [(node.func.value, event.receiver)]
    first = next(iter(_behind(event)))
    behind = [seen for seen in _behind(event) if _is_placed(seen) or seen == first]
    behind = [seen for seen in behind if seen.kind in TENSORS]
    found = tuple((part, _on_cpu(part, seen.kind)) for part, seen in pairs if seen in behind)
    # A method of a tensor was called, which what is no tensor lacks; a function may take anything.
    safe = all(isinstance(part, cst.Call) or part is getattr(node.func, "value", None) for part, _ in found)
    return Change("copy to the cpu", found, safe) if found else None


def _on_cpu(node: cst.BaseExpression, kind: Kind) -> cst.BaseExpression:
    """The copy of a tensor on the cpu; of a parameter, without its gradient."""
    if not node.lpar and not isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
        node = node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    node = cst.Call(cst.Attribute(node, cst.Name("detach"))) if kind is Kind.PARAMETER else node
    return cst.Call(cst.Attribute(node, cst.Name("cpu")))
