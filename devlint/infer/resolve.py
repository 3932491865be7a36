"""From observations to facts, once all evidence is in: what receivers were, and which meetings conflict."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from ..knowledge import api
from ..span import Span
from . import cure
from .facts import AnyFact, BatchMeeting, Discarded, HardcodedCall, HardcodedDevice, StaleOptimizer
from .flow import Path
from .module import MaybeLoss, Module, Seen
from .scope import Met
from .sections import Section, line
from .values import (
    AS_CONTAINER,
    AS_LOADER,
    AS_MODULE,
    AS_OPERAND,
    AS_OTHER,
    AS_SWITCH,
    AS_TENSOR,
    DIFFERENTIATED,
    IS_TENSOR,
    ON_DEVICE,
    TENSORS,
    TO_MODULE,
    Cell,
    Device,
    Form,
    Kind,
    Value,
)

_NODE_TYPES: dict[type, str] = {
    ast.Call: "Call",
    ast.Name: "Name",
    ast.Attribute: "Attribute",
    ast.Subscript: "Subscript",
    ast.BinOp: "BinaryOperation",
    ast.UnaryOp: "UnaryOperation",
    ast.Compare: "Comparison",
    ast.Constant: "SimpleString",
    ast.IfExp: "IfExp",
    ast.List: "List",
    ast.Tuple: "Tuple",
    ast.Dict: "Dict",
    ast.ListComp: "ListComp",
    ast.GeneratorExp: "GeneratorExp",
    ast.DictComp: "DictComp",
    ast.Lambda: "Lambda",
    ast.BoolOp: "BooleanOperation",
    ast.NamedExpr: "NamedExpr",
    ast.Await: "Await",
}
_NOT_A_TENSOR = AS_MODULE | AS_OTHER | AS_LOADER | AS_CONTAINER


class Source:
    """The text of a file, to quote from and to count columns in characters."""

    def __init__(self, text: str) -> None:
        # `ast` counts lines as the tokenizer does: `splitlines` would also split at form feeds and the like.
        self.lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return offset if text.isascii() else len(text.encode()[:offset].decode("utf-8", "ignore"))

    def span(self, node: ast.expr) -> Span:
        """Where a node stands, columns in characters."""
        end_line = node.end_lineno or node.lineno
        return Span(
            node.lineno,
            self._column(node.lineno, node.col_offset),
            end_line,
            self._column(end_line, node.end_col_offset or 0),
        )

    def receiver(self, node: ast.expr) -> str:
        """The source of an expression as it must be spelled before a dot."""
        text = self.quote(node)
        plain = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Tuple, ast.List, ast.Dict, ast.Set)
        comprehensions = (ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
        return text if isinstance(node, (*plain, *comprehensions)) else f"({text})"

    def quote(self, node: ast.AST) -> str:
        """The source of an expression on one line."""
        if not isinstance(node, ast.expr):
            return ""
        span = self.span(node)
        if span.line == span.end_line:
            return self.lines[span.line - 1][span.column : span.end_column]
        return ast.unparse(node)


def facts(module: Module, text: str, sections: Sequence[Section] = ()) -> tuple[AnyFact, ...]:
    """The facts of an analysed module, in source order; lines count as in its `sections`."""
    source = Source(text)
    _spread(module)
    found: list[AnyFact] = []
    found.extend(_discarded(module, source))
    if not module.cuda_by_nature:
        found.extend(_hardcoded(module, source))
    found.extend(_stale(module, source, sections))
    found.extend(_batches(module, source))
    found.sort(key=lambda fact: (fact.span, type(fact).__name__))
    return tuple(found)


def _spread(module: Module) -> None:
    """What a function does with a parameter is evidence about what its callers pass."""
    for loss in module.losses:
        if loss.result is not None and loss.result.seen & DIFFERENTIATED:
            for _, _, cell in loss.parties:
                if cell is not None:
                    cell.note(AS_TENSOR)
    for _ in range(3):
        for argument, parameter in module.links:
            if parameter.seen:
                argument.note(parameter.seen & (IS_TENSOR | AS_OPERAND | AS_MODULE | AS_OTHER))


# Discarded moves


def _discarded(module: Module, source: Source) -> list[AnyFact]:
    found: list[AnyFact] = []
    kinds = {node: kind for node, seen in module.discards.items() if (kind := _tensor_kind(seen)) is not None}
    bound = {node: _bound(module, node, kind) for node, kind in kinds.items()}
    leaves = cure.leaves(module.tree) if any(bound.values()) else frozenset()
    safe = [node for node, can in bound.items() if can and _may_be_safe(module, node, leaves)]
    harm = cure.harm(module, safe)
    for node, kind in kinds.items():
        assert isinstance(node.func, ast.Attribute)
        seen, receiver = module.discards[node], node.func.value
        found.append(
            Discarded(
                source.span(node),
                "Call",
                seen.method,
                seen.casts,
                kind,
                source.receiver(receiver),
                bound[node] is not None and node not in harm.certain,
                source.quote(seen.loop) if seen.loop is not None else None,
                node in safe and node not in harm.possible,
                seen.rebound,
            )
        )
    return found


def _is_certain(value: Value) -> bool:
    """Whether a value is a tensor for sure, and no other object that has a `.to`, which may return None."""
    if value.kind in TENSORS:
        return True
    return value.cell is not None and (
        _used_as_tensor(value.cell, AS_TENSOR)
        or _element_evidence(value.cell)
        or _from_default_collate(value)
    )


def _bound(module: Module, node: ast.Call, kind: Kind) -> bool | None:
    """Whether the receiver can be bound to the result with no effect elsewhere; None if not at all."""
    assert isinstance(node.func, ast.Attribute)
    seen = module.discards[node]
    if kind is Kind.PARAMETER or not seen.statement or not _assignable(node.func.value):
        return None
    return cure.can_be_bound(module, node, seen)


def _may_be_safe(module: Module, node: ast.Call, leaves: Set[str]) -> bool:
    assert isinstance(node.func, ast.Attribute)
    seen = module.discards[node]
    return (
        cure.only_moves(node, seen)
        and node not in module.likened
        and _is_certain(seen.receiver)
        and ast.unparse(node.func.value) not in leaves
    )


def _tensor_kind(seen: Seen) -> Kind | None:
    """The kind of the receiver if it is a tensor, by what it was made from or by how it is used."""
    value = seen.receiver
    if value.cell is not None and value.cell.seen & TO_MODULE and _parameter_of_forward(value.cell, seen):
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
    if value.cell.seen & AS_MODULE and not value.cell.seen & IS_TENSOR:
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


def _used_as_tensor(cell: Cell, evidence: int = IS_TENSOR, depth: int = 4) -> bool:
    """Whether its use shows a tensor, or that of everything it may be."""
    if cell.seen & evidence:
        return True
    return (
        bool(cell.sources)
        and depth > 0
        and all(_used_as_tensor(source, evidence, depth - 1) for source in cell.sources or ())
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


def _parameter_of_forward(cell: Cell, seen: Seen) -> bool:
    function = seen.function
    if (
        function is None
        or function.owner is None
        or function.name != "forward"
        or not function.owner.is_module
    ):
        return False
    return any(cell is own for own in function.cells.values())


def _assignable(node: ast.expr) -> bool:
    """Whether an expression can be assigned to, and evaluated twice with the same meaning."""
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.Attribute):
        return _assignable(node.value)
    if isinstance(node, ast.Subscript):
        index = node.slice.operand if isinstance(node.slice, ast.UnaryOp) else node.slice
        return _assignable(node.value) and isinstance(index, (ast.Name, ast.Constant))
    return False


# Hardcoded devices


def _hardcoded(module: Module, source: Source) -> list[AnyFact]:
    found: list[AnyFact] = []
    known = module.state.env.get("torch") == Value(Kind.LIBRARY, data="torch")
    has_torch = known and "torch" not in module.only_typed
    for node, (_, receiver, given, device) in module.calls.items():
        found.append(HardcodedCall(source.span(node), "Call", source.receiver(receiver), given, device))
    operands = _operands(module.tree) if module.literals else frozenset()
    for literal, (_, role) in module.literals.items():
        assert isinstance(literal, ast.Constant)
        found.append(
            HardcodedDevice(
                source.span(literal),
                "SimpleString",
                str(literal.value),
                role,
                has_torch,
                literal in operands,
            )
        )
    return found


def _operands(tree: ast.Module) -> frozenset[ast.AST]:
    """The parts of expressions that bind tighter than a conditional expression, or as tightly."""
    tight = (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Attribute, ast.comprehension)
    return frozenset(
        child for node in ast.walk(tree) if isinstance(node, tight) for child in ast.iter_child_nodes(node)
    )


# Optimizers


def _stale(module: Module, source: Source, sections: Sequence[Section]) -> list[AnyFact]:
    found: list[AnyFact] = []
    for node, stale in module.stale.items():
        if not isinstance(node, ast.Call):
            continue
        holding = stale.holding
        stage = "replaced" if stale.method in ("to_empty", "FullyShardedDataParallel") else holding.stage
        if stage in ("stepped", "loaded") and holding.stateless:
            stage = "fresh"
        inside = any(
            other.holding == holding and other.function is not stale.function
            for other in module.stale.values()
        )
        if inside and not _is_move(node):
            continue  # the function that is called here is where the move stands
        moved = node.func.value if isinstance(node.func, ast.Attribute) else node
        if stale.method == "FullyShardedDataParallel" and node.args:
            moved = node.args[0]
        found.append(
            StaleOptimizer(
                source.span(node),
                "Call",
                source.quote(moved),
                holding.name,
                line(holding.line, sections),
                stage,
            )
        )
    return found


def _is_move(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr in (*api.MOVE_METHODS, "to_empty")


# Batches


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


def _batches(module: Module, source: Source) -> list[AnyFact]:
    dropped = _dropped(module)
    meetings = list(module.meetings)
    for loss in module.losses:
        meetings.extend(_loss_meetings(loss))
    found: dict[object, BatchMeeting] = {}
    for met in meetings:
        for key, fact in (*_unmoved(met, dropped, source), *_under_other_conditions(met, source)):
            if key not in found or fact.span < found[key].span:
                found[key] = fact
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


def _unmoved(met: Met, dropped: set[object], source: Source) -> Iterator[tuple[object, BatchMeeting]]:
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
                BatchMeeting(
                    source.span(at),
                    _NODE_TYPES.get(type(at), ""),
                    element.cell.label or source.quote(at),
                    _loader_name(element.whole),
                    source.quote(other),
                    _device_name(there),
                    partly,
                    certain=True,
                    conditional=False,
                ),
            )


def _any_of(cells: set[object], cell: Cell | None) -> bool:
    """Whether a cell, or what it is part of, is among some cells."""
    while cell is not None and cell not in cells:
        cell = cell.parent
    return cell is not None


def _under_other_conditions(met: Met, source: Source) -> Iterator[tuple[object, BatchMeeting]]:
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
        BatchMeeting(
            source.span(receiver),
            _NODE_TYPES.get(type(receiver), ""),
            source.quote(receiver),
            "",
            source.quote(met.right),
            _device_name(met.there),
            partly=True,
            certain=True,
            conditional=True,
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


def _fed_unmoved(module: Module, dropped: set[object], source: Source) -> Iterator[AnyFact]:
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
        yield BatchMeeting(
            source.span(feed.at),
            _NODE_TYPES.get(type(feed.at), ""),
            source.quote(feed.at),
            "",
            feed.module.label,
            _device_name(feed.place),
            partly=False,
            certain=False,
            conditional=False,
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
    return cell.via == "device" and cell.parent is not None and bool(cell.parent.seen & IS_TENSOR)


def _sibling_moved(element: _Element, there: Device) -> bool:
    """Whether another element of the same whole was moved to where this one is now needed."""
    moved = element.whole.moved_to
    if moved is None or (isinstance(moved.key, Cell) and _belongs(moved.key, element.whole)):
        return False
    if element.cell in element.whole.moved or not element.whole.moved:
        return False
    structural = element.cell.via == "item" and type(element.cell.key) is int
    return moved == there and (structural or bool(element.cell.seen & IS_TENSOR))


def _moved_elsewhere(element: _Element, there: Device) -> bool:
    """Whether another loop over the same iterable moves what it yields there."""
    iterable = element.whole.parent
    return iterable is not None and element.whole.moved_to is None and iterable.moved_to == there


def _loader_name(whole: Cell) -> str:
    parent = whole.parent
    return parent.label if parent is not None and whole.via == "element" else ""


def _device_name(device: Device) -> str:
    if device.form in (Form.SAME, Form.CPU) and isinstance(device.key, Cell):
        return device.key.label
    return device.name
