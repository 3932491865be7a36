"""Cures that several rules offer, as LibCST changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import cst
from .rule import Change

if TYPE_CHECKING:
    import libcst


def keep_result(call: libcst.Call, safe: bool) -> Change | None:
    """`x.to(d)` as a statement becomes `x = x.to(d)`."""
    receiver = call.func.value if isinstance(call.func, cst.Attribute) else None
    if not isinstance(receiver, (cst.Name, cst.Attribute, cst.Subscript)):
        return None
    kept = cst.Assign(targets=[cst.AssignTarget(target=receiver)], value=call)
    return Change("assign the result", ((call, kept),), safe)


def available_device(literal: str, operand: bool) -> libcst.BaseExpression:
    """The expression that falls back to the cpu where there is no CUDA device."""
    quote = literal[-1]  # the literal may stand inside an f-string, which ends at the other quote
    choice = f"{literal} if torch.cuda.is_available() else {quote}cpu{quote}"
    return cst.parse_expression(f"({choice})" if operand else choice)
