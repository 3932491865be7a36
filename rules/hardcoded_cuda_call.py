"""`.cuda()` is called whether or not there is a CUDA device

The call raises on every machine without an NVIDIA GPU: on laptops, on CI runners, on Apple, Intel
and AMD accelerators other than ROCm.

    model = nn.Linear(2, 2)
    model.cuda()  # DEV201

Choose the device once, and move to it:

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model.to(device)

Calls under a condition that a CUDA device is there (`if torch.cuda.is_available():`,
`if device.type == "cuda":`, a flag such as `if args.cuda:`, an early exit, a skip decorator, a
`try` that catches the failure) are right, and code that runs on NVIDIA hardware by nature (Triton,
NCCL, CUDA extensions) is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..claim import NO_ACCELERATOR, RUNS, Claim
from ..finding import Severity
from ..infer.facts import HardcodedCall
from ..rule import Change, Report, Rule
from ..visit import cst

if TYPE_CHECKING:
    from libcst import CSTNode


class HardcodedCudaCall(Rule[HardcodedCall]):
    """An unguarded `.cuda()`."""

    code = "DEV201"
    name = "hardcoded-cuda-call"
    severity = Severity.WARNING
    fact = HardcodedCall
    claim = Claim(RUNS, cpu=NO_ACCELERATOR)

    def visit(self, node: CSTNode, fact: HardcodedCall) -> Iterator[Report]:
        """Report the call; where a device is at hand, move to it instead."""
        assert isinstance(node, cst.Call)
        change = None
        chosen = fact.device is not None or fact.given == "device"
        if chosen and fact.given != "index" and isinstance(node.func, cst.Attribute):
            device = [] if fact.given else [cst.Arg(cst.Name(fact.device or ""))]
            moved = node.with_changes(
                func=node.func.with_changes(attr=cst.Name("to")), args=[*device, *node.args]
            )
            change = Change("move to the device chosen at run time", ((node, moved),), safe=False)
        yield Report(
            f"`{fact.receiver}.cuda()` fails on a machine without a CUDA device",
            "choose the device once and use `.to(device)`, or ask `torch.cuda.is_available()` first",
            change=change,
        )
