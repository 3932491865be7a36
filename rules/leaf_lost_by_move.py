"""A copy of a tensor with `requires_grad` is optimized, or its `.grad` is read: the copy is no leaf

Gradients accumulate in leaves, the tensors that nothing was computed from. What `.to(device)` gives is
computed from the leaf. An optimizer refuses the copy ("can't optimize a non-leaf Tensor"), and its `.grad`
stays None. On the cpu nothing is copied, and all is well.

    z = torch.randn(1, 64, requires_grad=True).to(device)  # DEV104
    optimizer = torch.optim.Adam([z])

Make it where it lives, or ask for gradients after the move:

    z = torch.randn(1, 64, requires_grad=True, device=device)
    z = torch.randn(1, 64).to(device).requires_grad_()

A fix is unsafe where the leaf has a name of its own, by which its gradient may be read, and where the move
casts as well; what draws with a generator, or says a device already, is left to the author.

A warning where the data of a Parameter are somebody else's: the move of what is there already copies nothing.

Copies that call `retain_grad()`, or of which `torch.autograd.grad` is taken, are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    Ask,
    Change,
    Claim,
    Kind,
    Move,
    Observes,
    Raises,
    Report,
    Rule,
    becomes,
    cst,
    elsewhere,
    move,
    move_argument,
    moves_only,
    of_leaf,
    outside,
    source_of,
    unless,
)

_REFUSED = Raises("ValueError", "can't optimize a non-leaf Tensor")
_LEFT_ALONE = frozenset({"device", "out", "generator", "pin_memory", "layout"})
_WHY = {
    "optimized": "gradients accumulate in what was moved, not in its copy: the optimizer refuses it",
    "differentiated": "gradients accumulate in what was moved, not in its copy: its `.grad` is None",
}


class LeafLostByMove(Rule[Move]):
    """A moved copy of a leaf, used as only the leaf can be."""

    code = "DEV104"
    name = "leaf-lost-by-move"
    watches = (
        move(
            of_leaf(),
            becomes(*_WHY),
            unless(becomes("attribute", "retained")),
            elsewhere(),
            outside("probe"),
        ),
    )
    claim = Claim(
        Observes("gradient is None", bug=True, fixed=False),
        programs=dict.fromkeys(("optimized", "by_name", "given_data", "computed"), Claim(_REFUSED)),
    )

    def visit(self, node: cst.CSTNode, event: Move, ask: Ask) -> Iterator[Report]:
        """Report the move, and offer to make the tensor where it goes."""
        assert isinstance(node, cst.Call)
        use = "optimized" if "optimized" in event.becomes else "differentiated"
        yield Report(
            f"`.{event.method}()` gives a copy of a leaf, which is no leaf",
            _WHY[use],
            change=_cure(node, event, ask),
        )


def _cure(node: cst.Call, event: Move, ask: Ask) -> Change | None:
    inner = node.func.value if isinstance(node.func, cst.Attribute) else None
    if not isinstance(inner, cst.Call):
        return None
    if event.receiver.kind is Kind.PARAMETER:
        wraps = moves_only(node)
        return move_argument(node, lambda call: source_of(call.func).endswith("Parameter"), wraps)
    if isinstance(inner.func, cst.Attribute) and inner.func.attr.value == "requires_grad_":
        moved = node.with_changes(func=cst.Attribute(inner.func.value, cst.Name(event.method)))
        asked = inner.with_changes(func=inner.func.with_changes(value=moved))
        unnamed = isinstance(inner.func.value, cst.Call) and moves_only(node)
        return Change("ask for gradients after the move", ((node, asked),), safe=unnamed)
    if event.method != "to" or not event.receiver.made_here or len(node.args) != 1:
        return None
    given = node.args[0]
    said = {arg.keyword.value for arg in inner.args if arg.keyword is not None}
    if said & _LEFT_ALONE or any(arg.star for arg in inner.args):
        return None
    if given.star or ask.value_of(given).kind not in (Kind.DEVICE, Kind.STRING):
        return None
    device = cst.parse_expression(f"f(device={source_of(given.value)})")
    assert isinstance(device, cst.Call)
    made = inner.with_changes(args=[*inner.args, *device.args])
    return Change("make it there", ((node, made),), safe=True)
