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
    for seen in (event.receiver, *(seen for name, seen in event.given.items() if name not in counts)):
        if seen is not None and seen.kind in wanted:
            place = seen.place
            either = place.form is Form.EITHER and bool(place.name or place.of is not None)
            own = place.form is Form.AT and bool(place.name) and seen.kind is not Kind.CONTAINER
            if either or own or place.form in (Form.LITERAL, Form.SAME, Form.ANYWHERE):
                yield seen


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
    behind = [seen for seen in _behind(event) if seen.kind in TENSORS]
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
