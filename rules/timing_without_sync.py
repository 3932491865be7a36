"""A clock is read before the device has done the work that is measured

A call that works on an accelerator returns when the work is queued. Two reads of a clock around it
measure how long that took, not how long the work takes, which shows in whatever waits next.

    start = time.perf_counter()
    output = model(images)
    elapsed = time.perf_counter() - start  # DEV505

Wait for the device first:

    output = model(images)
    torch.accelerator.synchronize()
    elapsed = time.perf_counter() - start

A note. Left alone is what waits in between (`.item()`, `.cpu()`, `print(loss)`) or calls what may, and whole
training loops.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import RUNS, TENSORS, Ask, Call, Claim, Form, Report, Rule, Severity, call, cst

_WORK = ("Module.__call__", "Module.forward", "Tensor.backward")
_READS = ("float", "int", "bool", "print", "str", "repr", "format")
_TRAINS = ("Tensor.backward", "Optimizer.step")
_DOCS = "https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution"
_ON_DEVICE = (Form.LITERAL, Form.SAME, Form.EITHER)


class TimingWithoutSync(Rule[Call]):
    """The second of two reads of a clock, with work on a device and nothing that waits between."""

    code = "DEV505"
    name = "timing-without-sync"
    severity = Severity.NOTE
    watches = (call("@clock"),)
    claim = Claim(RUNS, needs="cuda", documentation=_DOCS)

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Look at the calls between this read and the one that is subtracted from it."""
        start = ask.subtracted_from(node)
        calls = [each for each in ask.events("call") if isinstance(each, Call)]
        if start is None or not any(each.at.span == start and "clock" in each.topics for each in calls):
            return
        if ask.calls_between(start, event.at.span) - {each.at.span for each in calls}:
            return  # what nobody knows may wait
        work = None
        for each in calls:
            if each.at.function == event.at.function and start < each.at.span < event.at.span:
                if _waits(each) or (each.callee in _TRAINS and each.at.loops > event.at.loops):
                    return
                if each.callee in _WORK and each.receiver is not None:
                    work = each.receiver if each.receiver.place.form in _ON_DEVICE else work
        if work is not None:
            what = f"the clock is read before the device has done what `{work.label}` asked of it"
            yield Report(what, "it measures how long it takes to ask; wait with `synchronize()`")


def _waits(call: Call) -> bool:
    name = call.callee.rpartition(".")[2]
    if call.callee in _READS:
        return any(value.kind in TENSORS for value in call.given.values())
    return "sync" in call.topics or name in ("synchronize", "cpu", "numpy", "item", "tolist", "barrier")
