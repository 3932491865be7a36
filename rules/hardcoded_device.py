"""The name of an accelerator is written where a device goes

A literal such as `"cuda"` or `"cuda:0"` that reaches `.to`, `device=`, `torch.device` or
`map_location`, directly or through a variable or a parameter's default, makes the code fail wherever
that accelerator is missing, and pins it to one where there are several.

    model = nn.Linear(2, 2)
    model.to("cuda")  # DEV202

Choose the device at run time:

    model.to("cuda" if torch.cuda.is_available() else "cpu")

Names under a condition that the device is there, names that are only compared, printed or used as
keys, and defaults of command-line options are left alone, and so is code that runs on NVIDIA
hardware by nature.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import cst
from ..claim import NO_ACCELERATOR, RUNS, Claim
from ..cures import available_device
from ..finding import Severity
from ..infer.facts import HardcodedDevice
from ..rule import Change, Report, Rule

if TYPE_CHECKING:
    from libcst import CSTNode

_SAID = {
    "argument": "`{}` is fixed here, whatever the machine has",
    "default": "the default device is `{}`, whatever the machine has",
    "autocast": "autocast is pinned to `{}` and does nothing on other devices",
}


class HardcodedDeviceName(Rule[HardcodedDevice]):
    """An unguarded device literal."""

    code = "DEV202"
    name = "hardcoded-device"
    severity = Severity.WARNING
    fact = HardcodedDevice
    claim = Claim(RUNS, cpu=NO_ACCELERATOR)

    def visit(self, node: CSTNode, fact: HardcodedDevice) -> Iterator[Report]:
        """Report the literal; choose between it and the cpu at run time."""
        assert isinstance(node, cst.SimpleString)
        change = None
        if fact.has_torch and fact.role != "autocast" and fact.literal.startswith("cuda"):
            change = Change(
                "fall back to the cpu", ((node, available_device(node.value, fact.operand)),), safe=False
            )
        yield Report(
            _SAID[fact.role].format(fact.literal),
            "take the device from a tensor or argument at hand, or ask torch which one is available",
            change=change,
        )
