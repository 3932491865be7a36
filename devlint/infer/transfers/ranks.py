"""How many dimensions the result of an operation has at least: a 0-dim tensor of the cpu meets any device."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ... import knowledge
from ...core.kinds import MAY_HOLD_TENSORS, TENSORS, Kind
from ...core.values import Value, constant
from ..machine import Arguments, Site

_HAVE_DIMENSIONS = knowledge.GIVES_DIMENSIONS | knowledge.ADDS_DIMENSION | knowledge.OF_SECOND
"""Operations whose results may have dimensions though no operand has."""
_DIMENSIONS = ("dim", "axis", "dim0", "dim1", "start_dim", "end_dim")
"""What an operation is told which of the first operand's dimensions it is about."""
_NOT_ALL = ("dim", "axis", "keepdim", "other")
"""What is told an operation that may leave dimensions."""


def dimensions(site: Site, values: Sequence[Value]) -> int | None:
    """How many dimensions the result has at least; None for as many as the operand that has most.

    `values` are the operands that meet, a method's receiver first. What gives several tensors counts as one
    that has a dimension more: unpacking, or the name of a part, takes it apart.
    """
    ranks = [value.origin.dims if value.origin is not None else 0 for value in values]
    ranks[:1] = [max(each, _implied(site)) for each in ranks[:1]]
    if site.name in knowledge.GRIDS:
        return max([sum(value.kind in MAY_HOLD_TENSORS for value in values), *ranks]) + 1
    each = _of_each(site, ranks)
    if not _gives_several(site):
        return each
    return (max(ranks, default=0) if each is None else each) + 1


def _implied(site: Site) -> int:
    """How many dimensions the first operand has to have, as one of them is told: `x.max(1)`."""
    if site.name in knowledge.ADDS_DIMENSION:
        return 0
    told = (value for name in _DIMENSIONS if (value := site.args.get(name)) is not None)
    return max(map(knowledge.implied, map(constant, told)), default=0)


def _gives_several(site: Site) -> bool:
    """Whether the result is a tuple of tensors."""
    if site.name in knowledge.GIVES_INDICES_TOO:
        told = site.args.get("dim")
        return told is not None and told.kind is Kind.NUMBER
    return knowledge.SEVERAL in site.row.topics


def _of_each(site: Site, ranks: Sequence[int]) -> int | None:
    name, most = site.name, max(ranks, default=0)
    if name in knowledge.ADDS_DIMENSION:
        return most + 1
    if name in knowledge.GIVES_TWO:
        return 2
    if name in knowledge.GIVES_DIMENSIONS:
        told = _sizes(site) if name in knowledge.TELLS_DIMENSIONS else 1
        return 0 if _is_told_none(site.args) else max(told, 1)
    if name in knowledge.KEEPS_ONE:
        return max(most - 1, 1)
    if name in knowledge.LOSES_TOLD and _reduced(site) == 1:
        return max(most - 1, 0)
    if name in knowledge.MAY_LOSE_ALL:
        return 0
    if name in knowledge.OF_FIRST:
        return ranks[0] if ranks else 0
    if name in knowledge.OF_SECOND:
        return max((*(ranks[:1] if name in knowledge.EXPANDS else ()), *ranks[1:2]), default=0)
    if name in knowledge.LOSES_DIMENSION:
        return max(most - 1, 0)
    if site.row.gives == "reduced" or name in knowledge.REDUCES:
        lost = _reduced(site)
        return max(most - lost, 0) if lost is not None else 0
    return None


def _sizes(site: Site) -> int:
    """How many sizes an operation is told, of which each is a dimension: `x.view(1, -1)`."""
    told = site.args.positional[site.receiver is None :]
    if len(told) == 1:
        return len(told[0][1].items or ())
    return sum(not isinstance(at, ast.Starred) for at, _ in told)


def of_product(*values: Value) -> int:
    """How many dimensions `x @ y` has at least: of two vectors it is 0-dim."""
    return max(max(value.origin.dims if value.origin is not None else 0 for value in values) - 1, 0)


def is_scalar(site: Site, values: Sequence[Value]) -> bool:
    """Whether the result is 0-dim: by its row, since all is reduced, or as all operands are."""
    if site.row.gives == Kind.SCALAR.value:
        return True
    if site.row.gives == "reduced" and _reduces_all(site.args):
        return True
    if site.name in _HAVE_DIMENSIONS:
        return False
    kinds = {value.kind for value in values}
    return Kind.SCALAR in kinds and kinds <= {Kind.SCALAR, Kind.NUMBER}


def _reduces_all(args: Arguments) -> bool:
    """Whether no dimension is told, nor to keep them, nor a tensor to compare with."""
    return not (_is_open(args) or any(args.at(name) for name in _NOT_ALL))


def _reduced(site: Site) -> int | None:
    """How many dimensions are reduced; None where that may be all."""
    args = site.args
    keeps, dim = args.get("keepdim"), args.get("dim") or args.get("axis")
    if args.get("other") is not None or (keeps is not None and constant(keeps)):
        return 0
    if _is_open(args):
        return None
    if dim is None:
        return 1 if site.name in knowledge.REDUCES_ONE else None
    if dim.kind in TENSORS:
        return 0  # `torch.max(x, y)`
    if dim.kind is Kind.CONTAINER:
        return len(dim.items) if dim.items else None
    return 1 if dim.kind is Kind.NUMBER and not isinstance(constant(dim), bool) else None


def _is_open(args: Arguments) -> bool:
    return args.starred or bool(args.unpacked)


def _is_told_none(args: Arguments) -> bool:
    """Whether the sizes that are told are none: `x.view(())`."""
    return any(value.items == () for _, value in args.all())
