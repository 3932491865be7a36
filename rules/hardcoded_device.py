"""The name of an accelerator is written where a device goes

A literal such as `"cuda"` or `"cuda:0"` that reaches `.to`, `device=`, `torch.device` or
`map_location`, directly or through a variable or a parameter's default, makes the code fail wherever
that accelerator is missing, and pins it to one where there are several.

    model = nn.Linear(2, 2)
    model.to("cuda")  # DEV202

Choose the device at run time:

    model.to("cuda" if torch.cuda.is_available() else "cpu")

Names under a condition that the device is there, names that are only compared, printed or used as
keys, and defaults of command-line options are left alone, and so are tests, and code that runs on
NVIDIA hardware by nature.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    NO_ACCELERATOR,
    RUNS,
    Ask,
    Change,
    Claim,
    Literal_,
    Report,
    Rule,
    Severity,
    available_device,
    cst,
    literal,
    outside,
    role,
    unguarded,
)

_SAID = {
    "argument": "`{}` is fixed here, whatever the machine has",
    "default": "the default device is `{}`, whatever the machine has",
    "autocast": "autocast is pinned to `{}` and does nothing on other devices",
}


class HardcodedDeviceName(Rule[Literal_]):
    """An unguarded device literal."""

    code = "DEV202"
    name = "hardcoded-device"
    severity = Severity.WARNING
    watches = (literal(role(*_SAID), unguarded(), outside("test")),)
    claim = Claim(RUNS, cpu=NO_ACCELERATOR)

    def visit(self, node: cst.CSTNode, event: Literal_, ask: Ask) -> Iterator[Report]:
        """Report the literal; choose between it and the cpu at run time."""
        assert isinstance(node, cst.SimpleString)
        change = None
        curable = event.role != "autocast" and event.text.startswith("cuda")
        if curable and ask.bound_to("torch", node) == "torch":
            chosen = available_device(node.value, ask.is_operand(node))
            change = Change("fall back to the cpu", ((node, chosen),), safe=False)
        yield Report(
            _SAID[event.role].format(event.text),
            "take the device from a tensor or argument at hand, or ask torch which one is available",
            change=change,
        )
