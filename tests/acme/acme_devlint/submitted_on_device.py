"""An image is submitted where it is

The press reads images on the cpu, and `submit` raises TypeError for others.

    acme.submit(acme.render("a", on=device))  # ACM103

Move it first:

    acme.submit(acme.render("a", on=device).cpu())
"""

from __future__ import annotations

from collections.abc import Iterator

from devlint.rule import (
    TENSORS,
    Ask,
    Call,
    Change,
    Claim,
    Form,
    Raises,
    Report,
    Rule,
    call,
    cst,
    source_of,
)


class SubmittedOnDevice(Rule[Call]):
    """A call of what Acme's own knowledge says to send."""

    code = "ACM103"
    name = "submitted-on-device"
    watches = (call("@acme-sends"),)
    claim = Claim(Raises("TypeError", "can't convert .* device type tensor to numpy"))

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Ask where the image is that was rendered, blended or moved before."""
        assert isinstance(node, cst.Call)
        image = node.args[0].value
        value = ask.value_of(image)
        if value.kind not in TENSORS or value.place.form in (Form.CPU, Form.UNKNOWN):
            return
        copy = cst.Call(cst.Attribute(image, cst.Name("cpu")))
        yield Report(
            f"`{source_of(image)}` is submitted on `{value.place.name}`",
            change=Change("send a copy on the cpu", ((image, copy),), safe=True),
            because=tuple((spot, "") for spot in value.spots),
        )
