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

from ..rule import (
    TENSORS,
    Ask,
    Cause,
    Move,
    Observes,
    Report,
    Rule,
    casts,
    cst,
    everywhere,
    keep_result,
    move,
    outside,
    receiver,
    result,
)


class DiscardedCast(Rule[Move]):
    """A tensor's cast as a statement, or kept by nobody."""

    code = "DEV105"
    name = "discarded-cast"
    cause = Cause.LOST_CAST
    watches = (
        move(
            result("discarded", "rebound"),
            receiver(*TENSORS),
            casts(),
            outside("probe"),
        ),
    )
    claim = everywhere(
        Observes("str(counts.dtype)", "torch.float32", "torch.float64"),
        programs={
            "places": everywhere(
                Observes(
                    "[str(each).removeprefix('torch.') for each in seen]",
                    ["int64", "int64", "float32", "int32", "float32"],
                    ["float32", "float64", "int32", "int64", "bool"],
                )
            ),
            "spellings": everywhere(Observes("cast.count(torch.uint8)", 11, 0)),
        },
    )

    def visit(self, node: cst.CSTNode, event: Move, ask: Ask) -> Iterator[Report]:
        """Report the call; keep its result where the receiver can be assigned to."""
        assert isinstance(node, cst.Call)
        kept = ask.kept_safely(node) if ask.is_statement(node) else None
        yield Report(
            f"the result of `{event.receiver.label}.{event.method}()` is thrown away, its dtype stays",
            "a tensor's cast returns a copy; only modules cast in place",
            change=keep_result(node, kept) if event.iterates is None else None,
        )
