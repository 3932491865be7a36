"""The arguments of a call, and what passing a value on says about it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .values import (
    AS_OPERAND,
    AS_OTHER,
    AS_TENSOR,
    MAY_HOLD_TENSORS,
    Cell,
    Device,
    Form,
    Kind,
    Value,
)

if TYPE_CHECKING:
    from .evaluate import Evaluator

_MAX_PARTIES = 64


class Arguments:
    """The evaluated arguments of a call."""

    __slots__ = ("keywords", "positional", "starred", "unpacked")

    def __init__(self, ev: Evaluator, node: ast.Call) -> None:
        self.positional: list[tuple[ast.expr, Value]] = []
        self.keywords: dict[str, tuple[ast.expr, Value]] = {}
        self.unpacked: list[tuple[ast.expr, Value]] = []
        self.starred = False
        for arg in node.args:
            self.starred |= isinstance(arg, ast.Starred)
            self.positional.append((arg, ev.eval(arg)))
        for keyword in node.keywords:
            value = ev.eval(keyword.value)
            if keyword.arg is None:
                self.unpacked.append((keyword.value, value))
                if value.kind is Kind.UNKNOWN and value.cell is not None:
                    value.cell.note(AS_OTHER)
            else:
                self.keywords[keyword.arg] = (keyword.value, value)

    def get(self, index: int | None, name: str) -> Value | None:
        """The argument at a position or of a name, if given."""
        if name in self.keywords:
            return self.keywords[name][1]
        if index is not None and index < len(self.positional):
            return self.positional[index][1]
        return None

    def spill(self, ev: Evaluator, from_device: bool = False) -> None:
        """What is called is unknown, or takes nothing from a device."""
        if ev.module.keeping:
            for _, value in (*self.all(), *self.unpacked):
                ev.module.spill(value, from_device)

    def spill_beyond_first(self, ev: Evaluator, known: bool) -> None:
        """Of what an unknown model takes beside its input, nobody knows what becomes."""
        if ev.module.keeping and not known:
            for _, value in (*self.positional[1:], *self.keywords.values(), *self.unpacked):
                ev.module.spill(value)

    def all(self) -> Iterator[tuple[ast.expr, Value]]:
        """Every argument that has a position or a name."""
        yield from self.positional
        yield from self.keywords.values()


def unknown_call(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """Call something unknown: what it is given may meet inside, if the result turns out to be a loss."""
    args.spill(ev)
    first = args.get(0, "name")
    if first is not None and isinstance(first.data, str) and _imports(node):
        ev.module.imported(first.data, ev.state.accelerated)
    result = ev.fresh(node)
    if result.cell is not None:
        result.cell.placed |= any(_yields_from_device(value) for _, value in args.all())
    parties = [(at, value) for at, value in args.positional if value.kind in MAY_HOLD_TENSORS]
    if parties and result.cell is not None:
        device = followed(parties[0][1]).device
        result.cell.follows = device if device.form in (Form.SAME, Form.ACCELERATOR) else None
    maybe_loss(ev, result, parties)
    return result


def maybe_loss(ev: Evaluator, result: Value, parties: list[tuple[ast.expr, Value]]) -> None:
    """Remember what may meet inside a call, in case its result turns out to be a loss."""
    distinct: dict[tuple[Device, Cell | None], ast.expr] = {}
    for at, value in parties:
        value = followed(value)
        distinct.setdefault((ev.location(value), value.cell), at)
    if len(distinct) > 1:
        met = [(at, place, cell) for (place, cell), at in distinct.items()]
        ev.module.maybe_loss(ev.function, result.cell, met[:_MAX_PARTIES])


def _yields_from_device(value: Value) -> bool:
    """Whether it is a loader of which some element is known to live on a device."""
    return value.kind is Kind.LOADER and value.cell is not None and value.cell.placed


def followed(value: Value) -> Value:
    """A value that goes into a loss: what an unknown network made of a moved input lives with the input."""
    follows = value.cell.follows if value.kind is Kind.UNKNOWN and value.cell is not None else None
    if follows is None or value.device.form is not Form.UNKNOWN:
        return value
    return value._replace(device=follows)


def _imports(node: ast.Call) -> bool:
    """`importlib.import_module("triton")`, `optional_import("tensorrt")`."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return "import" in name


def note_tensors(args: Arguments) -> None:
    """Note that the first argument of an operator is a tensor, and that no other is a module or a batch."""
    note(args.positional[:1], AS_TENSOR)
    note((*args.positional[1:], *args.keywords.values()), AS_OPERAND)


def note(arguments: Iterable[tuple[ast.expr, Value]], evidence: int) -> None:
    """Note what passing them on says about those arguments of which nothing else is known."""
    for _, value in arguments:
        if value.kind is Kind.UNKNOWN and value.cell is not None:
            value.cell.note(evidence)
