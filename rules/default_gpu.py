"""The default GPU is chosen where a tensor at hand says which one

`y.cuda()` goes to the default GPU, and `x` may be on another; so does a device that is made of its kind.
In a `forward`, `torch.cuda.is_available()` says that there is a GPU, not where the caller's tensors are.

    y = y.cuda() if x.is_cuda else y  # DEV410

The cure is `y = y.to(x.device)`, which follows the tensor. Told too is what names `cuda:0` in processes that
have set devices of their own. A stream without a device is of the current one: a caller may choose another.
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
    move_to,
    outside,
    role,
)

_TAKE_DEVICES = ("torch.device", "Tensor.to", "Module.to")
_FIRST, _ONE_FOR_ALL = "cuda:0", "`cuda:0` is the same in all processes, which have devices of their own"
_BECAUSE = "a GPU is chosen because there is one, wherever the caller's tensors are"
_FAILS = "a module that was left on the cpu, or is on another GPU, fails: take the device of an input"
_OWN = "name the one of the process, as the rest of it does, or leave out the index"
_DOCS = "https://docs.pytorch.org/docs/stable/notes/cuda.html"
_PROGRAMS = dict.fromkeys(("available", "kept"), Claim(MIXED_DEVICES))
_PROGRAMS |= dict.fromkeys(("current", "ranks"), Claim(RUNS, needs="cuda x2", documentation=_DOCS))


class DefaultGpu(Rule[Call | Literal_]):
    """A move to the default GPU, to follow a tensor that may be on another."""

    code = "DEV410"
    name = "default-gpu"
    severity = Severity.WARNING
    watches = (
        call("Tensor.cuda", "Module.cuda", lacks("device"), outside("probe", "test", "current")),
        literal("cuda", role("argument", "followed", "kept"), outside("probe", "test", "current")),
        literal("cuda", role("chosen"), inside("forward"), outside("current")),
        literal("cuda:0", role("argument"), outside("probe", "test")),
        call("@current-device", "@legacy-type", lacks("device"), outside("probe", "test", "current")),
    )
    claim = Claim(MIXED_DEVICES, needs="cuda x2", documentation=_DOCS, programs=_PROGRAMS)

    def suspects(self, event: Call | Literal_) -> bool:
        """Whether a condition names a tensor to follow, or the code is given some by its caller."""
        guard = event.at.guard
        if isinstance(event, Literal_):
            if event.text == _FIRST:
                return guard.certain
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
        if isinstance(event, Literal_) and event.text == _FIRST:
            if ask.in_each_process(node):
                yield Report(_ONE_FOR_ALL, _OWN)
            return
        tensor, its = event.at.guard.tensor, event.role if isinstance(event, Literal_) else ""
        if its in ("chosen", "followed") and not ask.is_given_to(node, *_TAKE_DEVICES):
            return  # by itself it may be a type, as autocast wants it
        asked = its == "kept" or ask.calls_of("torch.cuda.is_available")  # and no method of the module's own
        if not (tensor or (ask.asks_machine(node) if "method" in event.at.context else asked)):
            return
        if not tensor or its == "kept":
            note = its == "kept" or ask.default_gpu in ("some", "devices")
            yield Report(_BECAUSE, _FAILS, Severity.NOTE if note else None)
            return
        device = cst.parse_expression(f"{tensor}.device")
        change = Change(f"follow `{tensor}`", ((node, device),), safe=its == "argument") if its else None
        of = node if isinstance(event, Call) and event.receiver else None
        if isinstance(of, cst.Call) and (moved := move_to(of, f"{tensor}.device")):
            change = moved._replace(message=f"follow `{tensor}`", safe=True)
        yield Report(
            f"the default GPU is chosen to follow `{tensor}`, which may be on another",
            "`cuda` without an index is the current device, not the one of a tensor",
            Severity.NOTE if ask.default_gpu in ("gpus", "devices", "current") else None,
            change=change,
        )


def _of_current(node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
    """Report what speaks of the current device, where the caller chooses one that need not be current."""
    device, alone = ask.device_given(node), ask.default_gpu not in ("", "some")
    alone |= any(hint.startswith("import:") for hint in event.at.guard.hints)
    if device is not None and isinstance(node, cst.Call):
        yield Report(
            f"`{event.callee}` speaks of the current device, and `{device}` may be another",
            "which device is current is the program's choice: name the one that is meant",
            None if "stream" in event.callee.lower() and not alone else Severity.NOTE,
            Change(f"name `{device}`", ((node, at_device(node, device)),), safe=False),
        )
