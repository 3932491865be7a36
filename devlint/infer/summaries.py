"""Calls of functions of the project: their summaries, in terms of what the caller passes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from . import moves
from .scope import Function, Summary
from .values import (
    IS_TENSOR,
    TENSORS,
    UNKNOWN_DEVICE,
    Cell,
    Device,
    Form,
    Kind,
    Value,
    container,
)

if TYPE_CHECKING:
    from .arguments import Arguments
    from .evaluate import Evaluator


def function_call(
    ev: Evaluator, node: ast.Call, function: Function, bound: Value | None, args: Arguments
) -> Value:
    """Call a function of this file by its summary, and remember what it was given."""
    given = _bind_arguments(ev, function, bound, args)
    ev.module.site(ev.function, function, {name: value for name, (_, value) in given.items()}, ev.state)
    if bound is not None and bound.kind is Kind.INSTANCE and function.is_hook:
        return ev.fresh(node)
    summary = ev.module.summary(function)
    for name, (_, value) in given.items():
        cell = function.cells.get(name)
        if cell is not None and value.cell is not None and cell is not value.cell:
            ev.module.links.append((value.cell, cell))
    return use_summary(ev, node, function, summary, given)


def use_summary(
    ev: Evaluator,
    node: ast.AST,
    function: Function,
    summary: Summary,
    given: dict[str, tuple[ast.expr | None, Value]],
) -> Value:
    """Apply a summary at a call: substitute the arguments for the parameters."""
    by_cell: dict[Cell, tuple[ast.expr | None, Value]] = {}
    for name, cell in function.cells.items():
        if name in given:
            by_cell[cell] = given[name]
    made = summary.returns
    if made.kind in (Kind.MODULE, Kind.OPTIMIZER) and made.cell is not None and _made_in(function, made):
        # Each call makes an object of its own.
        own_cell = ev.module.cell(node, "made")
        ev.state.forget(own_cell)
        by_cell[made.cell] = (None, made._replace(cell=own_cell))
    if function.owner is not None and function.is_method:
        bound = given.get(function.positional[0])
        if bound is not None:
            by_cell[function.owner.cell] = bound

    def device(d: Device) -> Device:
        return substitute(ev, d, by_cell)

    for cell, (_, value) in by_cell.items():
        if cell in cell.moved and cell.moved_to is not None and value.kind is Kind.BATCH:
            moves.record_move(ev, value, device(cell.moved_to))
    for cell, place in summary.moves:
        found = by_cell.get(cell)
        if found is None or cell is made.cell:
            if cell.via != "parameter":
                ev.state.places[found[1].cell if found and found[1].cell else cell] = device(place)
        elif found is not None and found[1].cell is not None:
            moves.relocate(ev, node, found[1], device(place), "to")
    for optimizer, holding in summary.held:
        modules = frozenset(_passed(ev, cell, by_cell) for cell in holding.modules)
        own = by_cell.get(optimizer)
        ev.state.held[own[1].cell if own and own[1].cell else optimizer] = holding._replace(modules=modules)
    called = node.func if isinstance(node, ast.Call) else node
    for meeting in summary.meetings:
        if _told_inside(meeting.left) or _told_inside(meeting.right):
            continue
        left, right = device(meeting.left), device(meeting.right)
        at = _argument(meeting.left, by_cell)
        other = _argument(meeting.right, by_cell)
        if at is not None:
            ev.meeting(at, left, other or called, right)
        elif other is not None:
            ev.meeting(other, right, called, left)
    ev.state.accelerated |= summary.accelerated
    return _substitute_value(ev, node, summary.returns, by_cell, device)


def _told_inside(device: Device) -> bool:
    """Whether a function moves one part of a parameter and not this one: that shows without any caller."""
    cell = device.key
    if not isinstance(cell, Cell) or cell.batch is None or cell in cell.batch.moved:
        return False
    structural = cell.via == "item" and type(cell.key) is int
    return cell.batch.moved_to is not None and (structural or bool(cell.seen & IS_TENSOR))


def _passed(ev: Evaluator, cell: Cell, by_cell: dict[Cell, tuple[ast.expr | None, Value]]) -> Cell:
    """The caller's object for one of a callee, or of the caller's own parameters."""
    found = by_cell.get(cell)
    if found is not None and found[1].cell is not None:
        return found[1].cell
    return ev.aliases.get(cell, cell)


def _made_in(function: Function, value: Value) -> bool:
    """Whether a function makes what it returns."""
    if value.kind is Kind.OPTIMIZER:
        return True
    if value.origin is None or value.origin.how != "made":
        return False
    node = function.node
    line: int = value.origin.node.lineno
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _argument(device: Device, by_cell: dict[Cell, tuple[ast.expr | None, Value]]) -> ast.expr | None:
    cell = device.key
    while isinstance(cell, Cell):
        if cell in by_cell:
            return by_cell[cell][0]
        cell = cell.parent
    return None


def substitute(ev: Evaluator, device: Device, by_cell: dict[Cell, tuple[ast.expr | None, Value]]) -> Device:
    """A device of a callee in terms of its caller."""
    cell = device.key
    if not isinstance(cell, Cell):
        return device
    found = by_cell.get(cell)
    if found is not None:
        value = found[1]
        if device.form is Form.SAME:
            return moves.denoted(ev, value, UNKNOWN_DEVICE)
        if device.form is Form.CPU:
            return device
        return ev.location(value)
    top = cell
    while top.parent is not None:
        top = top.parent
        if top in by_cell:
            value = by_cell[top][1]
            whole = value.kind is Kind.BATCH or (value.kind is Kind.MODULE and device.form is Form.AT)
            return ev.location(value) if whole else UNKNOWN_DEVICE
    return device if top.via != "parameter" else UNKNOWN_DEVICE


def _substitute_value(
    ev: Evaluator,
    node: ast.AST,
    value: Value,
    by_cell: dict[Cell, tuple[ast.expr | None, Value]],
    device: Callable[[Device], Device],
) -> Value:
    if value.cell in by_cell and value.kind in (Kind.UNKNOWN, Kind.MODULE, Kind.BATCH, Kind.OPTIMIZER):
        given = by_cell[value.cell][1]
        if value.device.form is not Form.UNKNOWN:
            given = given._replace(device=device(value.device), origin=value.origin)
        return given
    items = value.items and tuple(_substitute_value(ev, node, v, by_cell, device) for v in value.items)
    element = value.element and _substitute_value(ev, node, value.element, by_cell, device)
    place: Device = device(value.device) if value.device.key is not None else value.device
    if value.kind is Kind.FLAG or value.kind in (Kind.FUNCTION, Kind.CLASS, Kind.LIBRARY):
        return value
    data = (
        value.data
        if value.kind in (Kind.MODULE, Kind.OPTIMIZER, Kind.LOADER, Kind.NUMBER, Kind.INSTANCE)
        else None
    )
    cell = (
        value.cell
        if value.kind in (Kind.MODULE, Kind.OPTIMIZER, Kind.LOADER, Kind.INSTANCE)
        else ev.module.cell(node)
    )
    if (
        value.kind is Kind.UNKNOWN
        and value.device.key in by_cell
        and by_cell[value.device.key][1].kind in TENSORS
    ):
        return Value(Kind.TENSOR, place, cell)
    if value.kind is Kind.STRING:
        return Value(Kind.STRING, place, origin=value.origin, data=value.data)
    if value.kind is Kind.CONTAINER:
        return container(cell, items, element)._replace(device=place, origin=value.origin)
    return Value(value.kind, place, cell, data, items, element, value.origin)


def _bind_arguments(
    ev: Evaluator, function: Function, bound: Value | None, args: Arguments
) -> dict[str, tuple[ast.expr | None, Value]]:
    given: dict[str, tuple[ast.expr | None, Value]] = {}
    names = list(function.positional)
    if function.is_method and names and bound is not None:
        given[names[0]] = (None, bound)
        names = names[1:]
    for index, (name, argument) in enumerate(zip(names, args.positional, strict=False)):
        if isinstance(argument[0], ast.Starred):
            whole = ev.eval(argument[0].value)
            for item, rest in enumerate(names[index:]):
                given[rest] = (argument[0].value, ev.unpack(whole, len(names) - index, item))
            break
        given[name] = argument
    every = {*function.positional, *(arg.arg for arg in function.node.args.kwonlyargs)}
    given.update({name: argument for name, argument in args.keywords.items() if name in every})
    for at, whole in args.unpacked:
        if whole.kind in (Kind.BATCH, Kind.UNKNOWN):
            for name in names:
                given.setdefault(name, (at, ev.part(whole, name, "item")))
    return given
