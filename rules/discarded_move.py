"""The result of moving a tensor is thrown away

`Tensor.to`, `.cuda` and `.cpu` return a copy on the other device and leave the tensor where it is
(`Module.to` works in place, which is why the mistake is so easy to make). As a statement of its own
the call does nothing: on the cpu nobody notices, on an accelerator the next operation raises
`Expected all tensors to be on the same device`.

    mask = torch.ones(4)
    mask.to(device)  # DEV101

Keep the result:

    mask = mask.to(device)

Modules, transformers' `BatchEncoding`, PyG's `Data` and other objects that move in place are left
alone, and so is everything whose kind neither its definition nor its use gives away.

In a notebook the last expression of a cell is shown, unless a `;` ends it, and so not thrown away; what
`%%timeit` and its like run is thrown away on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import cst
from ..claim import MIXED_DEVICES, Claim, Raises
from ..cures import keep_result
from ..infer.facts import Discarded
from ..rule import Report, Rule

if TYPE_CHECKING:
    from libcst import CSTNode


class DiscardedMove(Rule[Discarded]):
    """A tensor's move as a statement."""

    code = "DEV101"
    name = "discarded-move"
    fact = Discarded
    claim = Claim(
        MIXED_DEVICES,
        packages=("numpy",),
        programs={
            "to_host": Claim(
                Raises("TypeError", "can't convert .* device type tensor to numpy"), packages=("numpy",)
            )
        },
    )

    def suspects(self, fact: Discarded) -> bool:
        """Moves outside of loops over the tensors; casts are DEV105's."""
        return not fact.casts and fact.loop is None

    def visit(self, node: CSTNode, fact: Discarded) -> Iterator[Report]:
        """Report the call; keep its result where the receiver can be assigned to."""
        assert isinstance(node, cst.Call)
        change = keep_result(node, fact.safe) if fact.assignable else None
        yield Report(
            f"the result of `{fact.receiver}.{fact.method}()` is thrown away, `{fact.receiver}` stays put",
            "a tensor's move returns a copy; only modules move in place",
            change=change,
        )
