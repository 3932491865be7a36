"""A function of `torch.cuda` that needs a CUDA device is called whether or not there is one

`is_available`, `device_count`, `empty_cache`, `manual_seed_all` and `memory_allocated` work everywhere.
`set_device`, `current_device`, `get_device_name`, `synchronize`, `reset_peak_memory_stats`, `Stream`,
`Event` and most others raise without a CUDA device, `Tensor.pin_memory` without any accelerator, and
`nvtx.range_push` and its like, of which the first in a function is told, where torch was built without CUDA.

    model.to(device)
    torch.cuda.synchronize()  # DEV204

Ask first:

    model.to(device)
    if torch.cuda.is_available():
        torch.cuda.synchronize()

Or use `torch.accelerator`, which speaks of whichever accelerator there is. The first such call on a path is
told, unless something else needed an accelerator before; what follows is reached only where that worked. It
is a note where all that call the function needed one before, and in a program without any choice of a device.
It is told in functions that mean to run elsewhere too: that are given a device, choose one or ask for one, or
are reached from such by calls that nothing guards, in any file; and in defaults, which ask on import. What a
condition decides upon, whatever it asks, is left alone, and so are tests, `set_device` in programs of several
processes, and code that runs on NVIDIA hardware by nature.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    NO_ACCELERATOR,
    RUNS,
    Ask,
    Call,
    Claim,
    Compare,
    Event,
    Form,
    Kind,
    Literal_,
    Move,
    Raises,
    Report,
    Rule,
    Severity,
    call,
    cst,
    outside,
    unguarded,
)

_OF_A_PROCESS = ("torch.cuda.set_device", "torch.cuda.current_device")
"""What each of several processes does that have a device each."""
_BUILT = "needs-build"
_OTHER = ", or use `torch.accelerator`"
_SHOWING = ("call", "literal", "move", "compare")


class UnguardedCudaApi(Rule[Call]):
    """The first call that needs CUDA and that nothing guards."""

    code = "DEV204"
    name = "unguarded-cuda-api"
    severity = Severity.WARNING
    watches = (call("@needs-cuda", "@needs-build", "Tensor.pin_memory", unguarded(), outside("test")),)
    claim = Claim(
        RUNS,
        cpu=NO_ACCELERATOR,
        programs={
            name: Claim(RUNS, cpu=Raises("RuntimeError", "no accelerator|none is available|NVIDIA|CUDA"))
            for name in ("pinned", "pinned_alone", "optional", "settings", "annotated")
        }
        | {"reached": Claim(RUNS, cpu=Raises("AssertionError|RuntimeError|ValueError", "CUDA|cuda|dummy"))},
    )

    def suspects(self, event: Call) -> bool:
        """Whether nothing decides upon it, and it is neither a tensor (DEV203) nor what DataLoader calls."""
        pins = event.at.function.rpartition(".")[2] == "pin_memory"
        later = event.at.guard.needed or "demo" in event.at.context
        return not (event.conditional or pins or later or "legacy-type" in event.topics)

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Report the call where the code means to run elsewhere too."""
        events = [other for kind in _SHOWING for other in ask.events(kind)]
        chooses = event.callee in _OF_A_PROCESS and any(_several(other) for other in events)
        pins = event.callee == "Tensor.pin_memory"
        first = pins or not event.at.function  # what is run on import comes before all that asks
        here = [other for other in events if first or other.at.function == event.at.function]
        chosen = event.callee not in _OF_A_PROCESS and ask.runs_anywhere(event.at.function)
        portable = chosen or any(_portable(other) for other in here)
        portable |= pins and not any(isinstance(each, Move) and each.method == "cuda" for each in events)
        portable |= ask.in_default(node)  # which is asked for on import, by who wants another function too
        lacks, other = f"on a machine without {'an accelerator' if pins else 'a CUDA device'}", _OTHER
        if annotates := _BUILT in event.topics:
            alike = [each for each in here if isinstance(each, Call) and _BUILT in each.topics]
            chooses |= alike[0].at.span < event.at.span
            lacks, other = "where torch was built without CUDA, as on macOS", ""
        if chooses or not (portable or annotates):
            return
        severity = None if portable and not ask.later(event) else Severity.NOTE
        yield Report(
            f"`{event.callee}` fails {lacks}", f"ask `torch.cuda.is_available()` first{other}", severity
        )


def _several(event: Event) -> bool:
    """Whether it starts, or is one of, several processes, each of which has a device."""
    return isinstance(event, Call) and event.callee.startswith("torch.distributed.")


def _portable(event: Event) -> bool:
    """Whether it shows that the code is meant for more than CUDA."""
    if isinstance(event, Call):
        given = event.given.get("device") if "cuda-only" not in event.topics else None
        variable = given is not None and given.kind in (Kind.DEVICE, Kind.UNKNOWN)
        return variable or event.callee == "torch.cuda.is_available"
    if isinstance(event, Move):
        chosen = event.target is not None and event.target.form in (Form.EITHER, Form.SAME, Form.AT)
        return chosen or event.named == "device"
    if isinstance(event, Compare):
        return event.right.kind is Kind.STRING and event.right.place.form is Form.CPU
    return isinstance(event, Literal_) and event.text == "cpu"
