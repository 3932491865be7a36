"""The result of moving a tensor is thrown away

`Tensor.to`, `.cuda` and `.cpu` return a copy on the other device and leave the tensor where it is
(`Module.to` works in place, which is why the mistake is so easy to make). As a statement of its own
the call does nothing: on the cpu nobody notices, on an accelerator the next operation raises
`Expected all tensors to be on the same device`.

    mask = torch.ones(4)
    mask.to(device)  # DEV101

Keep the result:

    mask = mask.to(device)

So is an object whose class has a `to` of its own that makes a moved copy, and what a function of the project
gives that does nothing but to return what it is given on the device.

A parameter or buffer of the module at hand is a warning, as it follows when the module is moved; a note,
where the statement fills it in place (`self.weight.data.normal_().cuda()`) and has its effect all the same.

Modules, transformers' `BatchEncoding`, PyG's `Data` and other objects that move in place are left
alone, and so is everything whose kind neither its definition nor its use gives away.

In a notebook the last expression of a cell is shown, unless a `;` ends it, and so not thrown away; what
`%%timeit` and its like run is thrown away on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    TENSORS,
    Ask,
    Cause,
    Claim,
    Form,
    Kind,
    Move,
    Raises,
    Report,
    Rule,
    Severity,
    cst,
    elsewhere,
    iterated,
    keep_result,
    made_here,
    move,
    outside,
    receiver,
    result,
    unless,
)


class DiscardedMove(Rule[Move]):
    """A tensor's move as a statement."""

    code = "DEV101"
    name = "discarded-move"
    cause = Cause.LOST_MOVE
    watches = (
        move(
            result("discarded"),
            receiver(*TENSORS, Kind.INSTANCE),
            elsewhere(),
            unless(iterated()),  # DEV102
            unless(made_here()),  # `torch.empty(0).cuda()` wakes the device up
            outside("probe"),
        ),
    )
    claim = Claim(
        MIXED_DEVICES,
        packages=("numpy",),
        programs={
            "to_host": Claim(
                Raises("TypeError", "can't convert .* device type tensor to numpy"), packages=("numpy",)
            )
        },
    )

    def suspects(self, event: Move) -> bool:
        """Whether it is a tensor, or an object whose class makes a moved copy of it."""
        return event.receiver.kind is not Kind.INSTANCE or not event.in_place

    def visit(self, node: cst.CSTNode, event: Move, ask: Ask) -> Iterator[Report]:
        """Report the call; keep its result where the receiver can be assigned to."""
        assert isinstance(node, cst.Call)
        kept = ask.kept_safely(node) if ask.is_statement(node) else None
        what = event.receiver.label
        copies = "a tensor's move returns a copy; only modules move in place"
        place = event.receiver.place
        follows = Severity.WARNING if place.form is Form.AT and place.name == "self" else None
        if event.helper:
            yield Report(
                f"the result of `{event.method}({what})` is thrown away, `{what}` stays put",
                "it gives a moved copy of what it is given, and leaves that where it is",
            )
            return
        if event.receiver.kind is Kind.INSTANCE:
            copies = f"`{event.method}` of its class makes a moved copy, and leaves it where it is"
        yield Report(
            f"the result of `{what}.{event.method}()` is thrown away, `{what}` stays put",
            copies,
            Severity.NOTE if _fills(node, ask) else follows,
            keep_result(node, kept),
        )


def _fills(node: cst.BaseExpression, ask: Ask) -> bool:
    """Whether what is moved is a parameter that the same statement fills in place."""
    filled = False
    while isinstance(node, (cst.Call, cst.Attribute)) and ask.value_of(node).kind is not Kind.PARAMETER:
        filled |= isinstance(node, cst.Attribute) and node.attr.value.endswith("_")
        node = node.func if isinstance(node, cst.Call) else node.value
    return filled and ask.value_of(node).kind is Kind.PARAMETER
