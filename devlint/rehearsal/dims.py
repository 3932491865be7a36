"""How many dimensions results have at least: torch lets a 0-dim tensor of the cpu meet any device."""

from __future__ import annotations

from collections.abc import Sequence

from .. import knowledge
from ..knowledge.row import Row
from .values import (
    Argument,
    Array,
    Const,
    Seq,
    Tensor,
    Value,
    is_number,
    truth,
)

_SEVERAL = frozenset({"LSTM", "GRU", "RNN", "LSTMCell", "MultiheadAttention"})
"""Modules that give a tuple."""
_MOST = 8
"""A sequence that holds itself has no dimensions."""

_SIZE = ", size,"
"""In a signature: the sizes are one sequence, and not what comes first."""


def dims_of_data(value: Value | None) -> int:
    """How many dimensions what is made of data has at least."""
    dims = 0
    while isinstance(value, Seq) and value.items and dims < _MOST:
        value, dims = value.items[0], dims + 1
    return dims + value.dims if isinstance(value, (Tensor, Array)) else dims


def sizes(row: Row, positional: Sequence[Argument]) -> int:
    """How many dimensions what is made of sizes has at least.

    What has no elements counts as if it had none: it stands for what comes later.
    """
    first = positional[0][1] if positional else None
    if not row.signature.startswith(("*size", "size")):
        later = [value for _, value in positional if isinstance(value, Seq)] if _SIZE in row.signature else []
        return max((len(value.items) for value in later), default=1) or 1  # `torch.randint(0, n, (2, 3))`
    if first == Const(0):
        return 0
    if isinstance(first, Seq):
        return len(first.items) if not first.open or len(first.items) > 1 else 1
    return max(len(positional), 1)


def _told_sizes(positional: Sequence[Argument]) -> int:
    """How many sizes an operation is told, as one sequence or one by one: each is a dimension."""
    told = [value for _, value in positional if not isinstance(value, Tensor)]
    if len(told) == 1 and isinstance(told[0], Seq):
        return max(len(told[0].items), 1)
    return max(len(told), 1)


def dims_of(
    name: str,
    row: Row,
    values: Sequence[Value],
    positional: Sequence[Argument],
    keywords: dict[str, Argument],
) -> int:
    """How many dimensions the result of an operation has at least."""
    each = [value.dims for value in values if isinstance(value, Tensor)]
    told = keywords["dim"][1] if "dim" in keywords and name not in knowledge.ADDS_DIMENSION else None
    each[:1] = [max(one, _implied(told)) for one in each[:1]]
    most = max(each, default=0)
    first = each[0] if each else 0
    if row.gives == "0-dim tensor":
        return 0
    if name in knowledge.GIVES_TWO:
        return 2
    if name in knowledge.GIVES_DIMENSIONS:
        return _told_sizes(positional) if name in knowledge.TELLS_DIMENSIONS else 1
    if name in knowledge.ADDS_DIMENSION:
        return most + 1
    if name in knowledge.JOINS:
        return max(most, 1)  # they take none without
    if name in knowledge.LOSES_DIMENSION:
        return max(most - 1, 0)
    if name in knowledge.LOSES_TOLD and any(is_number(value) for _, value in positional):
        return max(most - 1, 0)
    if name in knowledge.MAY_LOSE_ALL:
        return 0
    if name in knowledge.OF_FIRST:
        return first
    if row.gives == "reduced" or name in knowledge.REDUCES:
        if name in knowledge.GIVES_INDICES_TOO and len(each) > 1:
            return most  # `torch.max(x, y)`
        values_given = [value for _, value in positional if not isinstance(value, Tensor)]
        if not values_given and "dim" not in keywords:
            return 0
        most = max(most, _implied(values_given[0] if values_given else None))
        keep = keywords.get("keepdim")
        if keep is not None and truth(keep[1]):
            return most
        return max(most - 1, 0)
    return most


def _implied(told: Value | None) -> int:
    """How many dimensions an operand has at least of which this is told to be one."""
    return knowledge.implied(told.value if isinstance(told, Const) else None)


def is_several(name: str, row: Row, given: dict[str, Argument]) -> bool:
    """Whether an operation gives several tensors."""
    if "several" in row.topics:
        return True
    return name in knowledge.GIVES_INDICES_TOO and any(
        key.startswith("dim") and not isinstance(value, Tensor) for key, (_, value) in given.items()
    )


def gives_several(lib: str) -> bool:
    """Whether a module gives several tensors."""
    return lib.rpartition(".")[2] in _SEVERAL
