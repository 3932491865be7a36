"""The copy of a Parameter is assigned to a module, which does not know it as a Parameter

A tensor's move returns a copy, and a copy of a Parameter is a plain tensor: the module does not register it.
`parameters()` and `state_dict()` lack it, no optimizer trains it, `model.to(device)` leaves it behind. On the
cpu nothing is copied, and all is well.

    self.scale = nn.Parameter(torch.ones(n)).to(device)  # DEV103

Move first, wrap last, or leave the move to `model.to(device)`:

    self.scale = nn.Parameter(torch.ones(n).to(device))

A cast of a fresh Parameter to the dtype that it has copies nothing and is left alone; so is a move to where
it was made, and what `nn.ParameterList` is given, which wraps tensors anew. The fix of a cast is unsafe, as
it copies on the cpu too, and so is one after which something else may be assigned to the attribute, or it is
changed in place: a registered Parameter refuses both. Where that is a tensor for sure, there is none.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    TENSORS,
    Ask,
    Bind,
    Call,
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
    moves_only,
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

        if event.helper:
            yield Report(
                f"`{event.kept_as}` is no Parameter: `{event.method}()` gives a moved copy of one",
                "a copy of a Parameter is not registered: it is not trained, not saved and not moved",
                because=tuple((spot, "") for spot in event.receiver.spots),
            )
            return
        others = frozenset(_assigned(event, ask))
        yield Report(
            f"`{event.kept_as}` is no Parameter: `.{event.method}()` gives a plain tensor",
            "a copy of a Parameter is not registered: it is not trained, not saved and not moved",
            change=None if others & TENSORS else move_argument(node, wraps, not others and moves_only(node)),
        )


def _assigned(event: Move, ask: Ask) -> Iterator[Kind]:
    """The kinds of what else is assigned to the attribute, wherever; unknown for a change in place."""
    lost = {each.at.span.line for each in ask.events("move") if isinstance(each, Move) and each.kept_as}
    name = event.kept_as.rpartition(".")[2]
    for each in (*ask.events("bind"), *ask.events("call")):
        if isinstance(each, Bind) and each.target == "attribute":
            fits = each.value.kind in (Kind.PARAMETER, Kind.NONE) or each.at.span.line in lost
            if each.name == name and not fits:
                yield each.value.kind
            continue
        changed = each.owner if isinstance(each, Bind) else None
        if isinstance(each, Call) and each.callee.endswith("_"):
            changed = each.receiver
        if changed is not None and changed.label == event.kept_as:
            yield Kind.UNKNOWN
