"""The default GPU is chosen where a tensor at hand says which one

`y.cuda()` goes to the default GPU, and `x` may be on another; so does a device that is made of its kind.
In a `forward`, `torch.cuda.is_available()` says that there is a GPU, not where the caller's tensors are.

    y = y.cuda() if x.is_cuda else y  # DEV410

The cure is `y = y.to(x.device)`, which follows the tensor.

A stream without a device is one of the current device, and waits for nothing where a caller chose another.
Notes: memory, a device that a constructor chooses, programs that set the device or let nobody choose one.

Left alone: `synchronize`, moves that name a GPU, settings, files and blocks that set the device.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    RUNS,
    Ask,
    Call,
    Change,
    Claim,
    Literal_,
    Report,
    Rule,
    Severity,
    at_device,
    call,
    cst,
    inside,
    lacks,
    literal,
    outside,
    role,
)

_TAKE_DEVICES = ("torch.device", "Tensor.to", "Module.to")
_DOCS = "https://docs.pytorch.org/docs/stable/notes/cuda.html"


class DefaultGpu(Rule[Call | Literal_]):
    """A move to the default GPU, to follow a tensor that may be on another."""

    code = "DEV410"
    name = "default-gpu"
    severity = Severity.WARNING
    watches = (
        call("Tensor.cuda", "Module.cuda", lacks("device"), outside("probe", "test", "current")),
        literal("cuda", role("argument", "followed", "kept"), outside("probe", "test", "current")),
        literal("cuda", role("chosen"), inside("forward"), outside("current")),
        call("@current-device", "@legacy-type", lacks("device"), outside("probe", "test", "current")),
    )
    claim = Claim(
        MIXED_DEVICES,
        needs="cuda x2",
        documentation=_DOCS,
        programs=dict.fromkeys(("available", "kept"), Claim(MIXED_DEVICES))
        | {"current": Claim(RUNS, needs="cuda x2", documentation=_DOCS)},
    )

    def suspects(self, event: Call | Literal_) -> bool:
        """Whether a condition names a tensor to follow, or the code is given some by its caller."""
        guard = event.at.guard
        if isinstance(event, Literal_):
            return bool(guard.tensor) or event.role == "kept" or (event.role == "chosen" and guard.certain)
        if event.receiver is None:
            typed = bool(guard.tensor) and event.callee.startswith("torch.cuda.")
            return typed if "legacy-type" in event.topics else not event.open
        if event.receiver.label == guard.tensor:
            return False
        inside = not event.at.context.isdisjoint(("forward", "method"))
        return bool(guard.tensor) or (guard.certain and event.conditional and inside)

    def visit(self, node: cst.CSTNode, event: Call | Literal_, ask: Ask) -> Iterator[Report]:
        """Report the move or the name; follow the tensor that the condition names."""
        if isinstance(event, Call) and "current-device" in event.topics:
            yield from _of_current(node, event, ask)
            return
        tensor, its = event.at.guard.tensor, event.role if isinstance(event, Literal_) else ""
        if its in ("chosen", "followed") and not ask.is_given_to(node, *_TAKE_DEVICES):
            return  # by itself it may be a type, as autocast wants it
        asked = its == "kept" or ask.calls_of("torch.cuda.is_available")  # and no method of the module's own
        if not (tensor or (ask.asks_machine(node) if "method" in event.at.context else asked)):
            return
        if not tensor or its == "kept":
            yield Report(
                "a GPU is chosen because there is one, wherever the caller's tensors are",
                "a module that was left on the cpu, or is on another GPU, fails: take the device of an input",
                Severity.NOTE if its == "kept" or ask.default_gpu in ("some", "devices") else None,
            )
            return
        device, change = cst.parse_expression(f"{tensor}.device"), None
        if its:
            change = Change(f"follow `{tensor}`", ((node, device),), safe=its == "argument")
        elif isinstance(event, Call) and event.receiver and isinstance(node, cst.Call):
            func = cst.ensure_type(node.func, cst.Attribute).with_changes(attr=cst.Name("to"))
            moved = node.with_changes(func=func, args=[cst.Arg(device), *node.args])
            change = Change(f"follow `{tensor}`", ((node, moved),), safe=True)
        yield Report(
            f"the default GPU is chosen to follow `{tensor}`, which may be on another",
            "`cuda` without an index is the current device, not the one of a tensor",
            Severity.NOTE if ask.default_gpu in ("gpus", "devices", "current") else None,
            change=change,
        )


def _of_current(node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
    """Report what speaks of the current device, where the caller chooses one that need not be current."""
    device = ask.device_given(node)
    hinted = any(hint.startswith("import:") for hint in event.at.guard.hints)
    fine = hinted or ask.default_gpu not in ("", "some")
    if device is not None and isinstance(node, cst.Call):
        yield Report(
            f"`{event.callee}` speaks of the current device, and `{device}` may be another",
            "which device is current is the program's choice: name the one that is meant",
            None if "stream" in event.callee.lower() and not fine else Severity.NOTE,
            Change(f"name `{device}`", ((node, at_device(node, device)),), safe=False),
        )
