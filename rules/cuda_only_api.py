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
a device. Where a function is imported by its name, and only called, the fix changes the import, and with it
all calls. There is no fix for `is_available` and `device_count`: what they decide names CUDA mostly, and
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
    Kind,
    Report,
    Rule,
    Severity,
    call,
    cst,
    imported_first,
    imported_instead,
    outside,
    source_of,
)

_DOCS = "https://docs.pytorch.org/docs/stable/accelerator.html"
_OTHERS = ("torch.backends.mps.", "torch.mps.", "torch.xpu.", "torch.mtia.", "torch.npu.", "torch.hpu.")
_DECIDE = ("torch.cuda.is_available", "torch.cuda.device_count", "torch.cuda.device")
_NAMES = frozenset({"cuda", "mps", "xpu", "npu", "hpu"})
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
    function, certain = event.at.function, event.at.guard.certain
    return not ask.once(_others).isdisjoint({(function, False), (function, certain)})


def _others(ask: Ask) -> set[tuple[str, bool]]:
    """The functions that ask for other accelerators; with True, that compare with the name of a device."""
    compares = (each for each in ask.events("compare") if isinstance(each, Compare))
    named = {e.at.function for e in compares if {e.left.label[1:-1], e.right.label[1:-1]} & _NAMES}
    return {(e.at.function, False) for e in _calls(ask, _OTHERS)} | {(name, True) for name in named}


def _calls(ask: Ask, names: str | tuple[str, ...]) -> list[Call]:
    return [e for e in ask.events("call") if isinstance(e, Call) and e.callee.startswith(names)]


def _cured(node: cst.Call, event: Call, name: str, ask: Ask) -> Change | None:
    """The call of the counterpart, whose parameters have no names; with what it is imported by."""
    if event.callee in _DECIDE or len(node.args) > 1 or not _is_plain(event):
        return None
    by_name = isinstance(node.func, cst.Name)
    alike = [each for each in _calls(ask, event.callee) if each.callee == event.callee] if by_name else []
    if alike and all(_is_plain(e) and not _speaks_of_others(e, ask) for e in alike):
        edit = imported_instead(ask.imports(), source_of(node.func), name)
        if edit is not None:
            return Change(f"import `{name}`", (), all(_is_safe(each, ask) for each in alike), (edit,))
    at_hand = ask.bound_to("torch", node) == "torch"
    first = None if at_hand or ask.binds("torch") else imported_first(ask.imports(), "torch")
    if not at_hand and first is None:
        return None
    given = "".join(source_of(arg.value) for arg in node.args)
    called = cst.parse_expression(f"{name}({given})")
    return Change(f"call `{name}`", ((node, called),), _is_safe(event, ask), (first,) if first else ())


def _is_safe(event: Call, ask: Ask) -> bool:
    fails = event.callee.rpartition(".")[2] in _FAIL
    return ask.target_torch is not None and (fails or event.at.guard.certain)


def _is_plain(event: Call) -> bool:
    """Whether a call names no kind of device, and nothing that is not seen could."""
    return not event.open and all(seen.kind is not Kind.STRING for seen in event.given.values())
