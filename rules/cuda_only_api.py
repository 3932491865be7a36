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
    Imported,
    Kind,
    Report,
    Rule,
    Severity,
    Span,
    call,
    cst,
    outside,
    source_of,
)

_DOCS = "https://docs.pytorch.org/docs/stable/accelerator.html"
_OTHERS = ("torch.backends.mps.", "torch.mps.", "torch.xpu.", "torch.mtia.", "torch.npu.", "torch.hpu.")
_DECIDE = ("torch.cuda.is_available", "torch.cuda.device_count", "torch.cuda.device")
_NAMES = ("cuda", "mps", "xpu", "npu", "hpu")
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
    function = event.at.function
    if function in ask.once(_asking):
        return True
    return event.at.guard.certain and function in ask.once(_comparing)


def _asking(ask: Ask) -> frozenset[str]:
    """The functions that ask for other accelerators."""
    calls = (each for each in ask.events("call") if isinstance(each, Call))
    return frozenset(each.at.function for each in calls if each.callee.startswith(_OTHERS))


def _comparing(ask: Ask) -> frozenset[str]:
    """The functions that compare something with the name of a kind of device."""
    compares = (each for each in ask.events("compare") if isinstance(each, Compare))
    return frozenset(
        each.at.function
        for each in compares
        if any(side.label[1:-1] in _NAMES for side in (each.left, each.right))
    )


def _cured(node: cst.Call, event: Call, name: str, ask: Ask) -> Change | None:
    """The call of the counterpart, whose parameters have no names; with what it is imported by."""
    literal = any(isinstance(arg.value, cst.SimpleString) for arg in node.args)
    if event.callee in _DECIDE or literal or event.open or len(node.args) > 1:
        return None
    function = node.func
    while isinstance(function, cst.Attribute):
        function = function.value
    named = function.value if isinstance(function, cst.Name) else ""
    imported = next((each for each in ask.imports() if each.local == named), None)
    if imported is not None and function is node.func and imported.plain:
        alike = [
            each for each in ask.events("call") if isinstance(each, Call) and each.callee == event.callee
        ]
        if not any(_speaks_of_others(each, ask) or _names_device(each) for each in alike):
            safe = all(_is_safe(each, ask) for each in alike)
            return Change(f"import `{name}`", (), safe, ((imported.statement, _import(imported, name)),))
    elsewhere: tuple[tuple[Span, str], ...] = ()
    if ask.bound_to("torch", node) != "torch":
        start = ask.once(_first_import)
        if start is None or imported is None or ask.binds("torch"):
            return None
        elsewhere = ((start, "import torch\n"),)
    given = "".join(source_of(arg.value) for arg in node.args)
    called = cst.parse_expression(f"{name}({given})")
    return Change(f"call `{name}`", ((node, called),), _is_safe(event, ask), elsewhere)


def _first_import(ask: Ask) -> Span | None:
    """Before the first statement that imports a part of torch."""
    starts = [each.statement for each in ask.imports() if (each.module or each.name).startswith("torch.")]
    first = min(starts, default=None)
    return None if first is None else Span(first.line, first.column, first.line, first.column)


def _is_safe(event: Call, ask: Ask) -> bool:
    fails = event.callee.rpartition(".")[2] in _FAIL
    return ask.target_torch is not None and (fails or event.at.guard.certain)


def _names_device(event: Call) -> bool:
    return event.open or any(seen.kind is Kind.STRING for seen in event.given.values())


def _import(imported: Imported, name: str) -> str:
    """What imports the counterpart by the name that the program has for it, and what was imported besides."""
    module, _, last = name.rpartition(".")
    alias = last if last == imported.local else f"{last} as {imported.local}"
    left = [f"from {imported.module} import {', '.join(imported.others)}"] if imported.others else []
    return "\n".join([*left, f"from {module} import {alias}"])
