"""Which discarded moves could be kept without harm: the file is analysed again as if all of them were.

A tensor that is kept where it was moved may meet what was where it was before. Each kept copy is at a
place of its own in that analysis, so that every meeting tells which moves brought it about.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

from .. import knowledge
from ..core.kinds import Kind
from ..core.objects import Objects
from ..core.paths import Attr
from ..core.places import MIXED, ON_DEVICE, Branch, Form, Place
from ..core.state import State
from ..core.values import Origin, Value
from .definitions import Function
from .file import File, Index
from .log import RawMove
from .machine import Program
from .settle import Settled
from .statements import Statements

_DISPLAYS = (ast.List, ast.Dict, ast.ListComp, ast.DictComp)


class Keeping(NamedTuple):
    """What keeping a discarded result would do."""

    possible: bool
    """Whether the receiver can be assigned to, and nothing fails for certain."""
    safe: bool
    """Whether nothing that works can break."""


_NEVER = Keeping(False, False)


Blocks = tuple[tuple[ast.AST, str], ...]
"""The blocks that a call stands in, from outside: each as the statement that has it, and which it is."""


class _Kept:
    """A discarded move that is kept in the second analysis."""

    def __init__(
        self, index: int, node: ast.Call, function: str, moved: Value, alone: bool, blocks: Blocks
    ) -> None:
        self.index = index
        self.node = node
        self.blocks = blocks
        self.function = function
        self.before = moved.place
        self.has_dimensions = _has_dimensions(moved)
        self.alone = alone
        """Whether what it moves bears no other name."""
        self.target: Place | None = None
        self.spilled = False
        self.links: set[int] = set()
        """Others that stand or fall with it."""

    @property
    def place(self) -> Place:
        """Where the kept copy is."""
        return Place(Form.KEPT, "", None, frozenset({_branch(self.index)}))


def keepings(
    tree: ast.Module, settled: Settled, index: Index | None, name: str
) -> Mapping[ast.Call, Keeping]:
    """For each discarded move or cast of the file, whether its result could be kept."""
    found: dict[ast.Call, Keeping] = {}
    leaves: frozenset[str] | None = None
    candidates: list[tuple[str, ast.Call, RawMove]] = []
    for function, node, raw in settled.discarded_moves():
        kind = settled.kind_of_moved(raw.receiver, function)
        assignable = raw.alone and kind is not None and kind is not Kind.PARAMETER and raw.given is None
        bound = _can_be_bound(settled, function, node) if assignable else None
        if bound is None:
            found[node] = _NEVER
            continue
        own = raw.receiver.kind is Kind.INSTANCE  # of what its class does, nothing is known in the second run
        likely = bool(bound) and settled.is_certain(raw.receiver) and _only_moves(node, raw) and not own
        if likely and leaves is None:
            leaves = _leaves(tree)
        assert isinstance(node.func, ast.Attribute)
        found[node] = Keeping(True, likely and ast.unparse(node.func.value) not in (leaves or ()))
        if found[node].safe:
            candidates.append((function, node, raw))
    if not candidates:
        return found
    yielded = _yielded(tree)
    blocks = _blocks(tree, {node for _, node, _ in candidates})
    kept = [
        _Kept(number, node, function, raw.receiver, _has_one_name(node, yielded), blocks[node])
        for number, (function, node, raw) in enumerate(candidates)
    ]
    harmful, certain = _harm(tree, kept, index, name)
    for each in kept:
        found[each.node] = Keeping(each.index not in certain, each.index not in harmful)
    return found


def _blocks(tree: ast.Module, wanted: set[ast.Call]) -> dict[ast.AST, Blocks]:
    """The blocks that each of some calls stands in."""
    found: dict[ast.AST, Blocks] = {}
    todo: list[tuple[ast.AST, Blocks]] = [(tree, ())]
    while todo and len(found) < len(wanted):
        node, around = todo.pop()
        if node in wanted:
            found[node] = around
        for name, part in ast.iter_fields(node):
            inner = (
                (*around, (node, name)) if isinstance(node, ast.stmt) and isinstance(part, list) else around
            )
            each = part if isinstance(part, list) else (part,)
            todo += [(child, inner) for child in each if isinstance(child, ast.AST)]
    return found


def _yielded(tree: ast.Module) -> set[str]:
    """The names that loops bind."""
    loops = (node.target for node in ast.walk(tree) if isinstance(node, (ast.For, ast.AsyncFor)))
    return {part.id for target in loops for part in ast.walk(target) if isinstance(part, ast.Name)}


def _has_one_name(node: ast.Call, yielded: set[str]) -> bool:
    """Whether nothing else is sure to bear the name of what is moved: an item of a container has others."""
    assert isinstance(node.func, ast.Attribute)
    receiver = node.func.value
    return not isinstance(receiver, ast.Subscript) and ast.unparse(receiver) not in yielded


class _Cured(Statements):
    """Runs a function with the results of discarded moves kept."""

    def __init__(
        self,
        kept: list[_Kept],
        by_node: Mapping[ast.AST, _Kept],
        program: Program,
        objects: Objects,
        here: Function,
        state: State,
    ) -> None:
        super().__init__(program, objects, here, state)
        self.kept = kept
        self.by_node = by_node

    def keep(self, node: ast.Call, base: Value, place: Place | None) -> Value | None:
        mine = self.by_node.get(node)
        if mine is None:
            return None
        mine.target = place if place is not None and place.form is not Form.KEPT else None
        for other in _moves_of(base.place):  # where it is without this move depends on that one
            self.kept[other].links.add(mine.index)
            if not mine.alone:
                mine.links.add(other)  # without this one, what it meets is met as that one left it
            mine.links.add(other)
        kind = base.kind if base.kind is Kind.SCALAR else Kind.TENSOR
        origin = Origin("moved", self.here.name, self.here.number(node))
        return Value(kind, mine.place, base.who, base.known, origin=origin)

    def spill(self, values: Iterable[Value], from_device: bool = False) -> None:
        _spill(self.kept, values, from_device)

    def attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        if name in knowledge.ASKS_CUDA:
            self.spill((base,))  # what is done where the answer is another is another program
        return super().attribute(base, name, node)

    def after(self, expression: ast.expr, value: Value) -> None:
        if expression in self.by_node and isinstance(expression, ast.Call):
            assert isinstance(expression.func, ast.Attribute)
            self.bind(expression.func.value, value)


def _harm(tree: ast.Module, kept: list[_Kept], index: Index | None, name: str) -> tuple[set[int], set[int]]:
    """The moves whose kept result may meet a value elsewhere, if all may be well now; those where it will."""
    by_node: dict[ast.AST, _Kept] = {each.node: each for each in kept}
    file = File(tree, name, index, machine=partial(_Cured, kept, by_node))
    file.analyse()
    sites = [site for log in file.logs.values() for site in log.sites]
    called = {site.callee for site in sites}
    for each in kept:  # what a function leaves as it was is where its caller's move has left it
        given = (value for site in sites if site.callee == each.function for value in site.arguments.values())
        each.links.update(number for value in given for number in _moves_of(value.place))
    for function in file.functions:
        if function not in called:  # its callers are not known
            summary = file.summary(function)
            if summary is not None:
                _spill(kept, (summary.returns,), from_device=False)
    bad = {each.index for each in kept if each.spilled or each.target is None}
    certain: set[int] = set()
    met = [
        (
            _side(kept, raw.here, raw.one),
            _side(kept, raw.there, raw.other),
            Kind.SCALAR in (raw.one.kind, raw.other.kind),
        )
        for log in file.logs.values()
        for raw in log.meetings.values()
        if Form.KEPT in (raw.here.form, raw.there.form)
    ]

    def settle(certain: set[int]) -> None:
        """Blame what keeps apart what met, as long as that leaves others where they were."""
        while True:
            size = len(bad)
            for one, two, scalar in met:
                here, there = one.place, two.place
                blamed = _moves_of(here) | _moves_of(there)
                now, other = _real(kept, here, bad), _real(kept, there, bad)
                if now is not None and other is not None:
                    if not _on_other_paths(kept, here, there) and (
                        _same_place(now, other) or _is_device_of(file, now, other)
                    ):
                        continue
                    if not scalar and _apart_now(one, two):
                        continue
                    fails_now = not scalar and _conflict(one.before, two.before)  # on some paths
                    if _conflict(now, other) and not fails_now and not blamed & bad:
                        certain |= blamed
                bad.update(blamed)
            bad.update({link for number in bad for link in kept[number].links})
            if len(bad) == size:
                break

    settle(certain)
    waiting = [each.index for each in kept if not each.alone]
    while waiting:
        number = waiting.pop()
        waiting += kept[number].links - bad - {number}
        bad.add(number)
    settle(set())  # what is not moved, for it bears other names, stays apart from what is
    file.release()
    return bad, certain


def _branch(move: int) -> Branch:
    """What stands for a move in a place; a place also has the branches of the program on which it holds."""
    return Branch(move, -1, True, "", -1)


def _moves_of(place: Place) -> set[int]:
    if place.form is not Form.KEPT:
        return set()
    return {branch.chain for branch in place.when if branch != MIXED and branch == _branch(branch.chain)}


def _spill(kept: list[_Kept], values: Iterable[Value], from_device: bool) -> None:
    todo = list(values)
    while todo:
        value = todo.pop()
        for number in _moves_of(value.place):
            target = kept[number].target
            on_cpu = target is not None and target.form is Form.CPU
            kept[number].spilled |= not (from_device and on_cpu)
        todo.extend(value.items or ())
        if value.element is not None:
            todo.append(value.element)


def _real(kept: list[_Kept], place: Place, bad: set[int]) -> Place | None:
    """Where a value is if all moves are kept but the bad ones; None where that is not one place."""
    if place.form is not Form.KEPT:
        return place
    moves = _moves_of(place)
    number = next(iter(moves), -1)
    if len(moves) != 1:
        return None
    target = kept[number].target
    if number in bad or target is None:
        return kept[number].before
    return Place(Form.EITHER, target.name) if MIXED in place.when else target


def _has_dimensions(value: Value) -> bool:
    """Whether a tensor is sure to have dimensions: without them, one of the cpu meets any device."""
    return value.origin is not None and value.origin.dims > 0


class _Side(NamedTuple):
    """One of two values that meet in the second analysis."""

    place: Place
    before: Place
    """Where it is as it is."""
    has_dimensions: bool
    """Whether that is sure, of what it is as it is."""


def _side(kept: list[_Kept], place: Place, value: Value) -> _Side:
    number = next(iter(_moves_of(place)), -1)
    if number < 0:
        return _Side(place, place, _has_dimensions(value))
    return _Side(place, kept[number].before, kept[number].has_dimensions)


def _on_other_paths(kept: list[_Kept], one: Place, other: Place) -> bool:
    """Whether two values are each moved on some paths, and not by moves that stand side by side."""
    if MIXED not in one.when or MIXED not in other.when:
        return False
    return len({kept[number].blocks for number in _moves_of(one) | _moves_of(other)}) > 1


def _conflict(one: Place, other: Place) -> bool:
    """Whether values at two places cannot meet wherever the program finds an accelerator."""
    for here, there in ((one, other), (other, one)):
        if here.form is Form.CPU:
            return there.form in ON_DEVICE
    both = one.form is other.form is Form.LITERAL
    return both and ":" in one.name and ":" in other.name and one.name != other.name


def _apart_now(one: _Side, other: _Side) -> bool:
    """Whether two values cannot meet as it is: of one that is moved on some paths, those are all that run
    where there is an accelerator, and none of the cpu may be without dimensions."""
    sides = one, other
    always = all(
        side.before.when and all(branch.asks == "machine" for branch in side.before.when)
        for side in sides
        if side.before.form is Form.EITHER
    )
    sure = all(side.has_dimensions for side in sides if side.before.form is Form.CPU)
    return always and sure and _conflict(one.before, other.before)


def _same_place(one: Place, other: Place) -> bool:
    if Form.UNKNOWN in (one.form, other.form):
        return False
    return one == other or one.form is other.form is Form.CPU


def _is_device_of(file: File, one: Place, other: Place) -> bool:
    """Whether one is `x.device` and the other is where `x` is."""
    for symbol, place in ((one, other), (other, one)):
        if symbol.form is Form.SAME and place.form is Form.AT and type(symbol.of) is int:
            way, parent = file.objects.ways[symbol.of], file.objects.parents[symbol.of]
            if way == Attr("device") and parent == place.of:
                return True
    return False


# What the text says by itself


def _only_moves(node: ast.Call, raw: RawMove) -> bool:
    """Whether a call changes nothing but the device: neither the dtype nor who shares the memory."""
    if raw.casts or raw.likens or any(keyword.arg not in knowledge.ONLY_MOVES for keyword in node.keywords):
        return False
    return len(node.args) < 2


def _can_be_bound(settled: Settled, function: str, node: ast.Call) -> bool | None:
    """Whether the receiver can be assigned to in its scope without an effect elsewhere; None if it cannot."""
    assert isinstance(node.func, ast.Attribute)
    receiver = node.func.value
    if isinstance(receiver, ast.Name):
        home = settled.file.functions.get(function)
        return True if home is None or receiver.id in home.bound else None
    if not evaluated_again(receiver) or not isinstance(receiver, (ast.Attribute, ast.Subscript)):
        return None
    owner = settled.logs[function].owners.get(node)
    if isinstance(receiver, ast.Subscript):
        made = _made_by(settled, owner)
        if isinstance(made, ast.Tuple):
            return None
        return owner is not None and owner.kind is Kind.CONTAINER and isinstance(made, _DISPLAYS)
    return owner is not None and owner.kind in (Kind.INSTANCE, Kind.CLASS, Kind.MODULE)


def _made_by(settled: Settled, owner: Value | None) -> ast.AST | None:
    """The display that made a container."""
    if owner is None or type(owner.who) is not int:
        return None
    return settled.made_by(owner.who)


def evaluated_again(node: ast.expr) -> bool:
    """Whether a place can be evaluated twice with the same meaning."""
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.Attribute):
        return evaluated_again(node.value)
    if isinstance(node, ast.Subscript):
        index = node.slice.operand if isinstance(node.slice, ast.UnaryOp) else node.slice
        return evaluated_again(node.value) and isinstance(index, (ast.Name, ast.Constant))
    return False


def _leaves(tree: ast.Module) -> frozenset[str]:
    """The expressions of which the program wants gradients: a moved copy is no leaf and has none."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in knowledge.LEAF:
            found.add(ast.unparse(node.value))
        elif isinstance(node, ast.Assign) and any(map(_asks_for_gradients, ast.walk(node.value))):
            found.update(ast.unparse(target) for target in node.targets)
    return frozenset(found)


def _asks_for_gradients(node: ast.AST) -> bool:
    name = node.arg if isinstance(node, ast.keyword) else getattr(node, "attr", None)
    return name in knowledge.LEAF
