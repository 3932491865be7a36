"""What values turn out to be once all evidence is in, and which of those that meet are apart."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ..core.events import Conflict
from .flow import Path
from .module import MaybeLoss, Module
from .scope import Function, Here, Met
from .source import Source
from .values import (
    AS_CONTAINER,
    AS_LOADER,
    AS_MODULE,
    AS_OPERAND,
    AS_OTHER,
    AS_SWITCH,
    AS_TENSOR,
    DIFFERENTIATED,
    ON_DEVICE,
    TENSORS,
    TO_MODULE,
    Cell,
    Device,
    Form,
    Kind,
    Value,
    devices_conflict,
)

_NOT_A_TENSOR = AS_MODULE | AS_OTHER | AS_LOADER | AS_CONTAINER


def spread(module: Module) -> None:
    """What a function does with a parameter is evidence about what its callers pass."""
    for loss in module.losses:
        if loss.result is not None and loss.result.seen & DIFFERENTIATED:
            for _, _, cell in loss.parties:
                if cell is not None:
                    cell.note(AS_TENSOR)
    for _ in range(3):
        for argument, parameter in module.links:
            if parameter.seen:
                argument.note(parameter.seen & (AS_TENSOR | AS_OPERAND | AS_MODULE | AS_OTHER))


# Kinds


def tensor_kind(value: Value, function: Function | None) -> Kind | None:
    """The kind of what is moved if it is a tensor, by what it was made from or by how it is used."""
    if value.cell is not None and value.cell.seen & TO_MODULE and _parameter_of_forward(value.cell, function):
        return None if _contradicted(value.cell) else Kind.TENSOR
    kind = kind_by_use(value)
    if kind is None and value.kind is Kind.UNKNOWN and value.cell is not None:
        operand = value.cell.seen & AS_OPERAND and not _contradicted(value.cell)
        return Kind.TENSOR if operand else None
    return kind


def kind_by_use(value: Value) -> Kind | None:
    """Whether a value is a tensor, by what it was made from or by how it is used."""
    if value.kind in TENSORS:
        return value.kind
    if value.kind not in (Kind.UNKNOWN, Kind.BATCH) or value.cell is None:
        return None
    cell = value.cell
    if _contradicted(cell):
        return None
    if _used_as_tensor(cell) or _element_evidence(cell) or _from_default_collate(value) or _half_fixed(cell):
        return Kind.TENSOR
    return None


def in_use(value: Value) -> Value:
    """A value of unknown kind, with the kind that its use shows."""
    if value.kind is not Kind.UNKNOWN or value.cell is None:
        return value
    if value.cell.seen & AS_MODULE and not value.cell.seen & AS_TENSOR:
        return value._replace(kind=Kind.MODULE)
    return value._replace(kind=kind_by_use(value) or Kind.UNKNOWN)


def _contradicted(cell: Cell) -> bool:
    """Whether anything says that the object is no tensor."""
    todo, done = [cell], set()
    while todo:
        each = todo.pop()
        if each in done:
            continue
        done.add(each)
        if each.seen & _NOT_A_TENSOR:
            return True
        todo.extend(each.sources or ())
    return False


def _used_as_tensor(cell: Cell, depth: int = 4) -> bool:
    """Whether its use shows a tensor, or that of everything it may be."""
    if cell.seen & AS_TENSOR:
        return True
    return (
        bool(cell.sources)
        and depth > 0
        and all(_used_as_tensor(source, depth - 1) for source in cell.sources or ())
    )


def _half_fixed(cell: Cell) -> bool:
    """Whether it is one of several that were unpacked together, of which another is moved and kept."""
    whole = cell.batch
    if cell.via != "item" or whole is None:
        return False
    named = isinstance(cell.key, str) and cell.parent is whole and whole.via == "element"
    return (named or type(cell.key) is int) and bool(whole.kept - {cell})


def _element_evidence(cell: Cell) -> bool:
    """Whether an annotation says that what holds the object holds tensors."""
    return cell.via == "element" and cell.parent is not None and bool(cell.parent.elements_are & AS_TENSOR)


def _from_default_collate(value: Value) -> bool:
    """Whether the object was unpacked from a batch of a loader that is known to be torch's own."""
    cell = value.cell
    assert cell is not None
    return value.kind is Kind.BATCH and value.device.form is Form.CPU and cell.via == "item"


def _parameter_of_forward(cell: Cell, function: Function | None) -> bool:
    if (
        function is None
        or function.owner is None
        or function.name != "forward"
        or not function.owner.is_module
    ):
        return False
    return any(cell is own for own in function.cells.values())


# Batches


class Apart(NamedTuple):
    """Two values that come together though they are apart, or may be."""

    at: ast.expr
    """The side that is behind."""
    label: str
    device: Device
    cell: Cell | None
    value: Value | None
    within: str
    """The loader, where one yields it."""
    looped: bool
    """Whether a loop yields it, or what it is part of."""
    other: str
    there: Device
    conflict: Conflict
    sibling_moved: bool
    here: Here | None


class _Element(NamedTuple):
    cell: Cell
    whole: Cell
    on_cpu: bool


def _element(device: Device) -> _Element | None:
    """The element of a batch that a device stands for, if nothing has moved it."""
    cell = device.key
    if not isinstance(cell, Cell) or device.form not in (Form.CPU, Form.AT):
        return None
    whole = cell.batch or (cell if cell.via == "element" else None)
    if whole is None or _placed(cell):
        return None
    loader = whole.parent
    known = device.form is Form.CPU or (loader is not None and bool(loader.seen & AS_LOADER))
    return _Element(cell, whole, known)


def _placed(cell: Cell | None) -> bool:
    while cell is not None and not cell.placed:
        cell = cell.parent
    return cell is not None


def apart(module: Module, source: Source) -> list[Apart]:
    """The meetings of values that are apart, one for each cause."""
    dropped = _dropped(module)
    meetings = list(module.meetings)
    for loss in module.losses:
        meetings.extend(_loss_meetings(loss))
    found: dict[object, Apart] = {}
    for met in meetings:
        for key, each in (
            *_unmoved(met, dropped, source),
            *_under_other_conditions(met, source),
            *_made_behind(met, dropped, source),
        ):
            if key not in found or source.span(each.at) < source.span(found[key].at):
                found[key] = each
    return [*found.values(), *_fed_unmoved(module, dropped, source)]


def _dropped(module: Module) -> set[object]:
    """What discarded moves were meant for, and what of a batch holds it: one cause, one finding."""
    dropped: set[object] = set()
    for seen in module.discards.values():
        for cell in (seen.receiver.cell, seen.receiver.device.key):
            while isinstance(cell, Cell) and cell not in dropped:
                dropped.add(cell)
                cell = cell.parent if cell.batch is not None and cell.parent is not cell.batch else None
    return dropped


def _unmoved(met: Met, dropped: set[object], source: Source) -> Iterator[tuple[object, Apart]]:
    """Elements of batches that meet a value on a device."""
    for at, here, other, there in (
        (met.left, met.here, met.right, met.there),
        (met.right, met.there, met.left, met.here),
    ):
        element = _element(here)
        if element is None or _any_of(dropped, element.cell) or not isinstance(at, ast.expr):
            continue
        if _conflict(element, there):
            partly = element.whole.moved_to is not None
            yield (
                (element.cell if partly else element.whole, met.function),
                Apart(
                    at,
                    element.cell.label or source.quote(at),
                    here,
                    element.cell,
                    None,
                    _loader_name(element.whole),
                    element.on_cpu or element.whole.via == "element",
                    source.quote(other),
                    there,
                    Conflict.CERTAIN,
                    partly,
                    met.here_at,
                ),
            )


def _made_behind(met: Met, dropped: set[object], source: Source) -> Iterator[tuple[object, Apart]]:
    """What the file itself makes on the cpu, and that meets a value on a device."""
    if met.values is None:
        return
    one, other = met.values
    for at, here, value, right, there in (
        (met.left, met.here, one, met.right, met.there),
        (met.right, met.there, other, met.left, met.here),
    ):
        made = value.origin is not None and value.origin.how in ("factory", "array")
        behind = here.form is Form.CPU and here.key is None and made and not _any_of(dropped, value.cell)
        if behind and isinstance(at, ast.expr) and devices_conflict(here, there):
            yield (
                (at, right),
                Apart(
                    at,
                    source.quote(at),
                    here,
                    value.cell,
                    value,
                    "",
                    False,
                    source.quote(right),
                    there,
                    Conflict.CERTAIN,
                    False,
                    met.here_at,
                ),
            )


def _any_of(cells: set[object], cell: Cell | None) -> bool:
    """Whether a cell, or what it is part of, is among some cells."""
    while cell is not None and cell not in cells:
        cell = cell.parent
    return cell is not None


def _under_other_conditions(met: Met, source: Source) -> Iterator[tuple[object, Apart]]:
    """Elements of one batch that meet, each moved under a condition of its own."""
    here, there = met.here.key, met.there.key
    if not isinstance(here, frozenset) or not isinstance(there, frozenset) or not _differ(here, there):
        return
    paths = sorted(here | there, key=lambda path: path.node.lineno)
    moves = [
        path.origin.node
        for path in paths
        if path.origin is not None and isinstance(path.origin.node, ast.Call)
    ]
    if not moves or not isinstance(moves[0].func, ast.Attribute):
        return
    receiver = moves[0].func.value
    yield (
        ("paths", paths[0].node),
        Apart(
            receiver,
            source.quote(receiver),
            met.here,
            met.one,
            None,
            "",
            False,
            source.quote(met.right),
            met.there,
            Conflict.BRANCHES,
            True,
            met.here_at,
        ),
    )


def _differ(here: frozenset[Path], there: frozenset[Path]) -> bool:
    """Whether there is a path on which one is moved and the other is not."""
    if {(path.node, path.outcome) for path in here} == {(path.node, path.outcome) for path in there}:
        return False
    chains = {path.chain for path in here | there}
    if len(chains) == 1:
        return True
    asked = {path.asks for path in here}, {path.asks for path in there}
    return asked in (({"machine"}, {"option"}), ({"option"}, {"machine"}))


def _fed_unmoved(module: Module, dropped: set[object], source: Source) -> Iterator[Apart]:
    """Arguments that one method passes to a module as they are, and another moves first."""
    moved = {
        (feed.module, feed.device): feed.function
        for feed in module.feeds
        if feed.moved and feed.device == feed.place
    }
    for feed in module.feeds:
        owner = feed.function.owner
        cell = feed.device.key
        if feed.device.form is not Form.AT or not isinstance(cell, Cell) or cell.via != "parameter":
            continue
        if cell in dropped:
            continue
        if owner is None or owner.is_module or feed.place.form not in ON_DEVICE:
            continue
        mover = moved.get((feed.module, feed.place))
        if (
            mover is None
            or mover is feed.function
            or mover.owner is not owner
            or not isinstance(feed.at, ast.Name)
            or feed.function.cells.get(feed.at.id) is not cell
        ):
            continue
        passed = [site.arguments.get(feed.at.id) for site in feed.function.sites]
        if any(value is None or value.device.form is not Form.CPU for value in passed):
            continue
        yield Apart(
            feed.at,
            source.quote(feed.at),
            feed.device,
            cell,
            None,
            "",
            False,
            feed.module.label,
            feed.place,
            Conflict.CALLER,
            False,
            None,
        )


def _loss_meetings(loss: MaybeLoss) -> list[Met]:
    """What an unknown callee was given, if `.backward()` shows that it computed a loss."""
    if loss.result is None or not loss.result.seen & DIFFERENTIATED:
        return []
    return [
        Met(loss.function, left, here, right, there, one, other)
        for i, (left, here, one) in enumerate(loss.parties)
        for right, there, other in loss.parties[i + 1 :]
    ]


def _conflict(element: _Element, there: Device) -> bool:
    """Whether an element that nobody moved cannot meet a value at `there`."""
    other = there.key
    if isinstance(other, Cell) and (_belongs(other, element.whole) or _follows_a_tensor(other)):
        return False
    switch = there.form is Form.CPU and isinstance(other, Cell) and bool(other.seen & AS_SWITCH)
    if there.form not in ON_DEVICE and not switch:
        return False
    if element.on_cpu:
        return True
    return _sibling_moved(element, there) or _moved_elsewhere(element, there)


def _belongs(cell: Cell | None, whole: Cell) -> bool:
    """Whether a cell is a whole or something inside it."""
    while cell is not None:
        if cell is whole or cell.batch is whole:
            return True
        cell = cell.parent
    return False


def _follows_a_tensor(cell: Cell) -> bool:
    """Whether a device is that of a tensor (`x.device`), which is wherever the caller put it."""
    return cell.via == "device" and cell.parent is not None and bool(cell.parent.seen & AS_TENSOR)


def _sibling_moved(element: _Element, there: Device) -> bool:
    """Whether another element of the same whole was moved to where this one is now needed."""
    moved = element.whole.moved_to
    if moved is None or (isinstance(moved.key, Cell) and _belongs(moved.key, element.whole)):
        return False
    if element.cell in element.whole.moved or not element.whole.moved:
        return False
    structural = element.cell.via == "item" and type(element.cell.key) is int
    return moved == there and (structural or bool(element.cell.seen & AS_TENSOR))


def _moved_elsewhere(element: _Element, there: Device) -> bool:
    """Whether another loop over the same iterable moves what it yields there."""
    iterable = element.whole.parent
    return iterable is not None and element.whole.moved_to is None and iterable.moved_to == there


def _loader_name(whole: Cell) -> str:
    parent = whole.parent
    return parent.label if parent is not None and whole.via == "element" else ""


def device_name(device: Device) -> str:
    """What the program calls a device."""
    if device.form in (Form.SAME, Form.CPU) and isinstance(device.key, Cell):
        return device.key.label
    return device.name
