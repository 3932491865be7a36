"""The default GPU is chosen where a tensor at hand says which one

`y.cuda()` goes to the default GPU, and `x` may be on another. And in a `forward` `torch.cuda.is_available()`
says that there is a GPU, not that the caller's tensors are on it.

    y = y.cuda() if x.is_cuda else y  # DEV410

Follow the tensor:

    y = y.to(x.device)

Left alone: moves that name a GPU, guards that are settings, and what is chosen outside of `forward`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    Ask,
    Call,
    Change,
    Claim,
    Literal_,
    Report,
    Rule,
    Severity,
    call,
    cst,
    inside,
    lacks,
    literal,
    outside,
    role,
)

_DOCS = "https://docs.pytorch.org/docs/stable/notes/cuda.html"


class DefaultGpu(Rule[Call | Literal_]):
    """A move to the default GPU, to follow a tensor that may be on another."""

    code = "DEV410"
    name = "default-gpu"
    severity = Severity.WARNING
    watches = (
        call("Tensor.cuda", "Module.cuda", lacks("device"), outside("probe", "test")),
        literal("cuda", role("argument"), outside("probe", "test")),
        literal("cuda", role("chosen"), inside("forward")),
    )
    claim = Claim(
        MIXED_DEVICES, needs="cuda x2", documentation=_DOCS, programs={"available": Claim(MIXED_DEVICES)}
    )

    def suspects(self, event: Call | Literal_) -> bool:
        """Whether a condition names a tensor to follow, or the code is given some by its caller."""
        guard = event.at.guard
        if isinstance(event, Literal_):
            return bool(guard.tensor) or (event.role == "chosen" and guard.certain)
        if event.receiver is None or event.receiver.label == guard.tensor:
            return False
        return bool(guard.tensor) or (guard.certain and event.conditional and "forward" in event.at.context)

    def visit(self, node: cst.CSTNode, event: Call | Literal_, ask: Ask) -> Iterator[Report]:
        """Report the move or the name; follow the tensor that the condition names."""
        tensor = event.at.guard.tensor
        if isinstance(event, Literal_) and event.role == "chosen" and not _in_device(event, ask):
            return
        if not tensor:
            yield Report(
                "a GPU is chosen because there is one, wherever the caller's tensors are",
                "a module that was left on the cpu, or is on another GPU, fails: take the device of an input",
            )
            return
        device = cst.parse_expression(f"{tensor}.device")
        change = None
        if isinstance(event, Literal_):
            change = Change(f"follow `{tensor}`", ((node, device),), safe=event.role != "chosen")
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            func = node.func.with_changes(attr=cst.Name("to"))
            moved = node.with_changes(func=func, args=[cst.Arg(device), *node.args])
            change = Change(f"follow `{tensor}`", ((node, moved),), safe=True)
        yield Report(
            f"the default GPU is chosen to follow `{tensor}`, which may be on another",
            "`cuda` without an index is the current device, not the one of a tensor",
            change=change,
        )


def _in_device(event: Literal_, ask: Ask) -> bool:
    """Whether a device is made of the name there: by itself it may be a type, as autocast wants it."""
    start, end = event.at.span[:2], event.at.span[2:]
    return any(
        isinstance(each, Call)
        and each.callee == "torch.device"
        and each.at.span[:2] < start <= end <= each.at.span[2:]
        for each in ask.events("call")
    )
