"""The result of casting a tensor is thrown away

`.to(dtype)`, `.float()`, `.half()`, `.long()` and their like return a copy of a tensor in another
dtype and leave the tensor as it is (modules cast in place). As a statement of its own the call does
nothing, and the computation goes on in the old precision or fails far away from here.

    mask = torch.ones(4)
    mask.bool()  # DEV105

Keep the result:

    mask = mask.bool()

Modules are left alone, and so is everything whose kind neither its definition nor its use gives away.

In a notebook the last expression of a cell is shown, unless a `;` ends it, and so not thrown away; what
`%%timeit` and its like run is thrown away on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import cst
from ..claim import Observes, everywhere
from ..cures import keep_result
from ..infer.facts import Discarded
from ..rule import Report, Rule

if TYPE_CHECKING:
    from libcst import CSTNode


class DiscardedCast(Rule[Discarded]):
    """A tensor's cast as a statement, or kept by nobody."""

    code = "DEV105"
    name = "discarded-cast"
    fact = Discarded
    claim = everywhere(
        Observes("str(counts.dtype)", "torch.float32", "torch.float64"),
        programs={
            "places": everywhere(Observes("str(batch['ids'].dtype)", "torch.int32", "torch.int64")),
            "spellings": everywhere(Observes("str(pixels.dtype)", "torch.uint8", "torch.float32")),
        },
    )

    def suspects(self, fact: Discarded) -> bool:
        """Casts alone; a move that also casts is a discarded move."""
        return fact.casts

    def visit(self, node: CSTNode, fact: Discarded) -> Iterator[Report]:
        """Report the call; keep its result where the receiver can be assigned to."""
        assert isinstance(node, cst.Call)
        yield Report(
            f"the result of `{fact.receiver}.{fact.method}()` is thrown away, its dtype stays",
            "a tensor's cast returns a copy; only modules cast in place",
            change=keep_result(node, fact.safe) if fact.assignable and fact.loop is None else None,
        )
