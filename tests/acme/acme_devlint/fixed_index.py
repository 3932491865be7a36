"""A device index is written down

At Acme the launcher gives every process its device. Code that names an index puts
all of them on the same one.

    x = torch.ones(2, device="cuda:0")  # ACM101

Ask for it:

    x = torch.ones(2, device=local_device())
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devlint.claim import NO_ACCELERATOR, RUNS, Claim
from devlint.finding import Severity
from devlint.infer.facts import HardcodedDevice
from devlint.rule import Change, Report, Rule
from devlint.visit import cst

if TYPE_CHECKING:
    from libcst import CSTNode


class FixedIndex(Rule[HardcodedDevice]):
    """An index in the name of a device."""

    code = "ACM101"
    name = "fixed-index"
    severity = Severity.WARNING
    fact = HardcodedDevice
    claim = Claim(RUNS, cpu=NO_ACCELERATOR)

    def suspects(self, fact: HardcodedDevice) -> bool:
        """A name without an index leaves the choice open."""
        return ":" in fact.literal

    def visit(self, node: CSTNode, fact: HardcodedDevice) -> Iterator[Report]:
        """Report the string; the launcher's device takes its place."""
        call = cst.Call(cst.Name("local_device"))
        change = Change("ask the launcher", ((node, call),), safe=False)
        yield Report(f"`{fact.literal}` is the same device in every process", change=change)
