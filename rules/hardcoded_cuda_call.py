"""`.cuda()` is called whether or not there is a CUDA device

The call raises on every machine without an NVIDIA GPU: on laptops, on CI runners, on Apple, Intel
and AMD accelerators other than ROCm.

    model = nn.Linear(2, 2)
    model.cuda()  # DEV201, as `model.to(0)` and `y.to(x.get_device())` are

Choose the device once, and move to it:

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model.to(device)

The first such call on a path is a warning; what follows is reached only where that one worked, and is a
note, in a function that is called from there alone too, as is what tries out a module under
`if __name__ == "__main__":` in the file that defines it. All calls are notes in a program that runs on CUDA
alone, in which nothing chooses or asks for a device and CUDA is named three times or more, and in a project
that hardly ever chooses: nothing there breaks that would run elsewhere. So is what nothing in a program uses,
and one that names folders of its machine (`/home/somebody/data`) and no choice. Select DEV201 to see them.

Calls under a condition that a CUDA device is there (`if torch.cuda.is_available():`,
`if device.type == "cuda":`, a flag such as `if args.cuda:`, an early exit, a skip decorator, a
`try` that catches the failure) are right. Code that runs on NVIDIA hardware by nature (Triton, NCCL, CUDA
extensions) is left alone, and so are tests.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    NO_ACCELERATOR,
    RUNS,
    Ask,
    Claim,
    Move,
    Raises,
    Report,
    Rule,
    Severity,
    cst,
    move,
    move_to,
    named,
    outside,
    source_of,
    unguarded,
)


class HardcodedCudaCall(Rule[Move]):
    """An unguarded `.cuda()`."""

    code = "DEV201"
    name = "hardcoded-cuda-call"
    severity = Severity.WARNING
    watches = (
        move("cuda", unguarded(), named("", "device", "index", "literal"), outside("test")),
        move("to", unguarded(), named("index"), outside("test")),
    )
    claim = Claim(
        RUNS,
        cpu=NO_ACCELERATOR,
        programs={"index_of_another": Claim(RUNS, cpu=Raises("RuntimeError", "index must not be negative"))},
    )

    def visit(self, node: cst.CSTNode, event: Move, ask: Ask) -> Iterator[Report]:
        """Report the call; where a device is at hand, move to it instead."""
        assert isinstance(node, cst.Call)
        change = None
        if event.named == "device":
            change = move_to(node, None)
        elif not event.named and (device := ask.device_at_hand(node)):
            change = move_to(node, device)
        call, lacks = "cuda()", "a CUDA device"
        if event.method != "cuda":
            call, lacks = f"to({source_of(node.args[0])})", "an accelerator"
        yield Report(
            f"`{event.receiver.label}.{call}` fails on a machine without {lacks}",
            "choose the device once and use `.to(device)`, or ask `torch.cuda.is_available()` first",
            Severity.NOTE if ask.later(event) else None,
            change,
        )
