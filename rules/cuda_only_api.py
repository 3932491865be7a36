"""A function of `torch.cuda` has a counterpart that speaks of whichever accelerator there is

`torch.accelerator` does for CUDA, ROCm, XPU, MPS and MTIA what `torch.cuda` does for the first two.

    if torch.cuda.is_available():  # DEV207
        torch.cuda.synchronize()  # DEV207

On other accelerators nothing waits here; this does:

    if torch.accelerator.is_available():
        torch.accelerator.synchronize()

`target-torch` is the oldest release that the code must run with: names that its `torch.accelerator`
lacks are left alone. Without it, any release is taken to be recent, and no fix is safe. What merely
looks alike is left alone too: `get_device_capability` gives something else, streams are of another
class. So is what stands in a function that asks for other accelerators too, or that decides by the name of
a device. There is no fix for `is_available` and `device_count`: what they decide names CUDA mostly, and
has to change with them. Off unless selected.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    RUNS,
    Ask,
    Call,
    Change,
    Claim,
    Compare,
    Report,
    Rule,
    Severity,
    call,
    cst,
    outside,
    source_of,
)

_DOCS = "https://docs.pytorch.org/docs/stable/accelerator.html"
_OTHERS = ("torch.backends.mps.", "torch.mps.", "torch.xpu.", "torch.mtia.", "torch.npu.", "torch.hpu.")
_DECIDE = ("torch.cuda.is_available", "torch.cuda.device_count", "torch.cuda.device")
_FAIL = ("synchronize", "set_device", "current_device", "mem_get_info", "reset_peak_memory_stats")
"""What fails without an accelerator either way; the others do nothing then, and their counterparts fail."""


class CudaOnlyApi(Rule[Call]):
    """A call of `torch.cuda` that `torch.accelerator` has."""

    code = "DEV207"
    name = "cuda-only-api"
    severity = Severity.NOTE
    watches = (call("torch.cuda.*", outside("test")),)
    claim = Claim(RUNS, needs="xpu", documentation=_DOCS)

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Report the call where the oldest release has a counterpart; call that instead."""
        assert isinstance(node, cst.Call)
        found = ask.portable(event.callee)
        if found is None or _speaks_of_others(event, ask):
            return
        name, release = found
        yield Report(
            f"`{event.callee}` speaks of CUDA alone",
            f"`{name}` (torch {release} and newer) speaks of whichever accelerator there is",
            change=_cured(node, event, name, ask),
        )


def _speaks_of_others(event: Call, ask: Ask) -> bool:
    """Whether the function asks for other accelerators too, or decides by the name of a device."""
    for each in (*ask.events("call"), *ask.events("compare")):
        if each.at.function != event.at.function:
            continue
        if isinstance(each, Call) and each.callee.startswith(_OTHERS):
            return True
        sides = (each.left, each.right) if isinstance(each, Compare) and event.at.guard.certain else ()
        if any(side.label[1:-1] in ("cuda", "mps", "xpu", "npu", "hpu") for side in sides):
            return True
    return False


def _cured(node: cst.Call, event: Call, name: str, ask: Ask) -> Change | None:
    """The call of the counterpart, whose parameters have no names."""
    literal = any(isinstance(arg.value, cst.SimpleString) for arg in node.args)
    if event.callee in _DECIDE or literal or event.open or len(node.args) > 1:
        return None
    if ask.bound_to("torch", node) != "torch":
        return None
    given = "".join(source_of(arg.value) for arg in node.args)
    fails = event.callee.rpartition(".")[2] in _FAIL
    safe = ask.target_torch is not None and (fails or event.at.guard.certain)
    return Change(f"call `{name}`", ((node, cst.parse_expression(f"{name}({given})")),), safe)
