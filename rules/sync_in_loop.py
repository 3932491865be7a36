"""Every step of a training loop waits for the device

`.item()`, `float(loss)`, `.cpu()`, `print(loss)` need the number now: the host waits until the device has
done all that was asked of it, and the device then waits for the host.

    for images, labels in loader:
        loss = criterion(model(images), labels)
        loss.backward()
        total += loss.item()  # DEV504

Add up on the device, and read once:

        total += loss.detach()

A note, once a loop, and only in loops that train: that call `backward`. Left alone is what stands under a
condition (`if step % 100 == 0`), and what is known to be on the cpu.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    TENSORS,
    Ask,
    Call,
    Form,
    Observes,
    Report,
    Rule,
    Seen,
    Severity,
    call,
    cst,
    everywhere,
    in_loop,
    outside,
)

_COUNT = """
import torch
torch.reads = 0
class Counts(torch.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        torch.reads += func is torch.ops.aten._local_scalar_dense.default
        return func(*args, **(kwargs or {}))
torch.counts = Counts().__enter__()  # releases before 2.10 do not keep it themselves
"""
_METHODS = ("Tensor.item", "Tensor.tolist", "Tensor.cpu", "Tensor.numpy", "Tensor.nonzero")
_FUNCTIONS = ("float", "int", "print")
_WAITS = ("torch.cuda.synchronize", "torch.accelerator.synchronize")
_TRAINS = "Tensor.backward"


class SyncInLoop(Rule[Call]):
    """A read of a tensor in each round of a loop that trains."""

    code = "DEV504"
    name = "sync-in-loop"
    severity = Severity.NOTE
    watches = (call(*_METHODS, *_FUNCTIONS, *_WAITS, in_loop(), outside("test", "probe")),)
    claim = everywhere(Observes("torch.reads > 1", bug=True, fixed=False), setup=_COUNT)

    def suspects(self, event: Call) -> bool:
        """What waits for the device, as far as it may be one."""
        return event.callee in _WAITS or any(map(_may_be_on_device, _read(event)))

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Report the first that waits in a loop that trains."""
        if not ask.calls_of(_TRAINS):
            return
        loop = ask.loop_around(node)
        if loop is None or not loop.always:
            return
        trains = False
        for each in ask.events("call"):
            if not isinstance(each, Call) or not each.at.loops or each.at.function != event.at.function:
                continue
            other = ask.loop_around(each.at.span)
            if other is not None and other.span == loop.span:
                trains |= each.callee == _TRAINS
                waits = each.callee in (*_METHODS, *_FUNCTIONS, *_WAITS) and self.suspects(each)
                if waits and other.always and each.at.span < event.at.span:
                    return
        if trains:
            name = event.callee.rpartition(".")[2]
            what = event.receiver.label if event.receiver is not None else ""
            shown = f"{what}.{name}()" if what else f"{name}()"
            yield Report(
                f"`{shown}` waits for the device in every step", "the device waits for the host in turn"
            )


def _read(event: Call) -> Iterator[Seen]:
    if event.receiver is not None:
        yield event.receiver
    elif event.callee in _FUNCTIONS:
        yield from event.given.values()


def _may_be_on_device(value: Seen) -> bool:
    return value.kind in TENSORS and value.place.form is not Form.CPU
