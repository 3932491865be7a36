"""A module computes with a tensor that is a plain attribute, and stays on the cpu when the module moves

`nn.Module` moves and saves its parameters and buffers. A tensor that is merely assigned to an attribute is
neither: `model.to(device)` leaves it on the cpu, and `forward` fails where it meets its input.

    self.window = torch.hann_window(512)  # DEV404

    def forward(self, x):
        return x * self.window

Register it as a buffer, with `persistent=False` where checkpoints should not have it; what is to be trained
is a Parameter, and a list of Parameters a `nn.ParameterList`.

    self.window: torch.Tensor
    self.register_buffer("window", torch.hann_window(512))

An error where what it meets can be seen; a warning where it is a Parameter in another case, and so was meant
to move. Left alone: 0-dim tensors and indices, which may stay on the cpu; what is moved where it is used, or
by the class's own `to` or `_apply`; caches that methods fill; tensors that a caller gives.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    Ask,
    Bind,
    Change,
    Claim,
    Kind,
    Report,
    Rule,
    Severity,
    bind,
    cst,
    hides,
    outside,
)

_ELSE = "under another condition it is a Parameter, which moves"


class UnregisteredTensor(Rule[Bind]):
    """A tensor, or a container of Parameters, that the module does not know."""

    code = "DEV404"
    name = "unregistered-tensor"
    watches = (bind(hides(Kind.TENSOR, Kind.PARAMETER), outside("test", "dataset")),)
    claim = Claim(MIXED_DEVICES)

    def visit(self, node: cst.CSTNode, event: Bind, ask: Ask) -> Iterator[Report]:
        """Report the attribute where it is first assigned."""
        hidden = event.hidden
        assert isinstance(node, cst.Attribute)
        assert hidden is not None
        if hidden.what is Kind.PARAMETER:
            yield Report(
                f"the Parameters of `self.{event.name}` are in a plain container, and not registered",
                "they stay behind when the module moves, nothing trains them, and `state_dict()` lacks them",
            )
            return
        why = f"it meets `{hidden.meets}`, which is wherever the module runs" if hidden.meets else _ELSE
        yield Report(
            f"`self.{event.name}` is a plain tensor, which stays on the cpu when the module moves",
            why,
            None if hidden.meets else Severity.WARNING,
            _registered(node, event, ask),
        )


def _registered(node: cst.Attribute, event: Bind, ask: Ask) -> Change | None:
    assigned = ask.assignment(node)
    assert event.hidden is not None
    if not isinstance(assigned, cst.Assign) or not event.hidden.replaceable:
        return None
    name = cst.Arg(cst.SimpleString(f'"{event.name}"'))
    called = cst.Attribute(node.value, cst.Name("register_buffer"))
    buffer = cst.Expr(cst.Call(called, [name, cst.Arg(assigned.value)]))
    return Change("register a buffer", ((assigned, buffer),), safe=False)
