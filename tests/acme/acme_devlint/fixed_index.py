"""A device index is written down

At Acme the launcher gives every process its device. Code that names an index puts
all of them on the same one.

    x = torch.ones(2, device="cuda:0")  # ACM101

Ask for it:

    x = torch.ones(2, device=local_device())
"""

from __future__ import annotations

from collections.abc import Iterator

from devlint.rule import (
    NO_ACCELERATOR,
    RUNS,
    Ask,
    Change,
    Claim,
    Literal_,
    Report,
    Rule,
    Severity,
    cst,
    literal,
    role,
    unguarded,
)


class FixedIndex(Rule[Literal_]):
    """An index in the name of a device."""

    code = "ACM101"
    name = "fixed-index"
    severity = Severity.WARNING
    watches = (literal(role("argument", "default", "autocast"), unguarded()),)
    claim = Claim(RUNS, cpu=NO_ACCELERATOR)

    def suspects(self, event: Literal_) -> bool:
        """A name without an index leaves the choice open."""
        return ":" in event.text

    def visit(self, node: cst.CSTNode, event: Literal_, ask: Ask) -> Iterator[Report]:
        """Report the string; the launcher's device takes its place."""
        call = cst.Call(cst.Name("local_device"))
        change = Change("ask the launcher", ((node, call),), safe=False)
        yield Report(f"`{event.text}` is the same device in every process", change=change)
