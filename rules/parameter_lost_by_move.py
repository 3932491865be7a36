"""The copy of a Parameter is assigned to a module, which does not know it as a Parameter

A tensor's move returns a copy, and a copy of a Parameter is a plain tensor: the module does not register it.
`parameters()` and `state_dict()` lack it, no optimizer trains it, `model.to(device)` leaves it behind. On the
cpu nothing is copied, and all is well.

    self.scale = nn.Parameter(torch.ones(n)).to(device)  # DEV103

Move first, wrap last, or leave the move to `model.to(device)`:

    self.scale = nn.Parameter(torch.ones(n).to(device))

A cast of a fresh Parameter to the dtype that it has copies nothing and is left alone; so is a move to where
it was made, and what `nn.ParameterList` is given, which wraps tensors anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    Ask,
    Claim,
    Kind,
    Move,
    Observes,
    Report,
    Rule,
    becomes,
    cst,
    elsewhere,
    move,
    move_argument,
    of_leaf,
    outside,
    receiver,
    source_of,
)

_LOST = (receiver(Kind.PARAMETER), of_leaf(), becomes("attribute"), outside("probe"))


class ParameterLostByMove(Rule[Move]):
    """A moved copy of a new Parameter, as an attribute of a module."""

    code = "DEV103"
    name = "parameter-lost-by-move"
    watches = (move(*_LOST, elsewhere()), move("half", "double", "bfloat16", *_LOST))
    claim = Claim(
        Observes("len(list(model.parameters()))", bug=2, fixed=3),
        programs={"spellings": Claim(Observes("len(list(model.parameters()))", bug=2, fixed=5))},
    )

    def visit(self, node: cst.CSTNode, event: Move, ask: Ask) -> Iterator[Report]:
        """Report the move, and put it inside of the Parameter where that stands there too."""
        assert isinstance(node, cst.Call)

        def wraps(call: cst.Call) -> bool:
            return source_of(call.func).endswith("Parameter") and ask.value_of(call).kind is Kind.PARAMETER

        yield Report(
            f"`{event.kept_as}` is no Parameter: `.{event.method}()` gives a plain tensor",
            "a copy of a Parameter is not registered: it is not trained, not saved and not moved",
            change=move_argument(node, wraps, safe=True),
        )
