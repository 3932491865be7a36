"""Modules that a function leaves on the cpu, while it moves those that it makes and uses beside them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from .. import knowledge
from ..bind.names import last_name
from ..core.places import ON_DEVICE
from .definitions import Function
from .function import CONSTRUCTORS
from .halves import Half, is_heavy_class, is_module, is_told, stripped
from .log import Log, RawMove
from .settle import Settled
from .stays import is_plain

_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_DEEP = 4
"""How many parts a variable is followed into."""
_FEW = 2
"""So many that are kept together are a pair, which says nothing of what is done with the others."""
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)
_NOTHING = ast.Constant(None)
_PLACES = (ast.Name, ast.Attribute, ast.Subscript)


class _Made(NamedTuple):
    slot: str
    """What it is assigned to: `net`, `self.net`, `losses['mel']`."""
    call: ast.Call
    moved: ast.Call | None


def siblings(settled: Settled) -> Iterator[Half]:
    """Each such module that nothing in sight may move, of a class that is not in sight either."""
    for function, log in settled.logs.items():
        home = settled.file.functions.get(function) if function else settled.file.module
        if home is None or not any(map(_goes_to_device, log.moves.values())):
            continue
        made = list(_made_in(home.node, log))
        moved = [each for each in made if each.moved is not None]
        if not moved or len(moved) == len(made):
            continue
        slots, kept = frozenset(each.slot for each in moved), _kept_together(made)
        scopes: dict[ast.AST, _Uses] = {}
        for each in made:
            if each.moved is not None or _is_told(each.call, moved):
                continue
            beside = kept.get(each.slot)
            shown = beside is not None or is_module(settled, function, each.call)
            if not shown or is_heavy_class(settled, each.call) is not None:
                continue
            scope = _scope(settled, home, each.slot)
            if scope is None:
                continue
            if scope not in scopes:
                scopes[scope] = _Uses(scope)
            if scopes[scope].may_move(each.slot, slots):
                continue
            by = (beside or moved[0]).moved
            assert by is not None
            yield Half(function, each.call, each.slot, by, log.moves[by])


def left_out(settled: Settled) -> Iterator[Half]:
    """What an object runs, and leaves on the cpu where it moves that of which this is a copy."""
    for name, cls in settled.file.classes.items():
        movers = [cls.methods[each] for each in sorted(knowledge.MOVES & cls.methods.keys())]
        made = next((cls.methods[each] for each in CONSTRUCTORS if each in cls.methods), "")
        constructor = settled.file.functions.get(made) if movers else None
        if constructor is None or constructor.owner != name or cls.node is None or not is_plain(settled, cls):
            continue
        moved = {
            slot: (mover, node)
            for mover in movers
            if (log := settled.logs.get(mover)) is not None
            for node, raw in log.moves.items()
            if _goes_to_device(raw) and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if (slot := _slot(node.func.value))
        }
        if not moved:
            continue
        kept = {_slot(target): value for target, value in _assigned(constructor.node)}
        named = {slot: {slot, _slot(kept.get(slot, _NOTHING))} for slot in moved}
        uses = _Uses(cls.node)
        for slot, value in kept.items():
            if slot in moved or not isinstance(value, ast.Call) or uses.may_move(slot, frozenset()):
                continue
            if not uses.runs(slot) or uses.assigns(slot) > 1:
                continue
            copied = (
                _slot(value.args[0]) if last_name(value.func) == knowledge.COPIES_ALL and value.args else ""
            )
            beside = next((each for each, names in named.items() if copied in names), "") if copied else ""
            if not beside:
                beside = next((each for each in moved if _is_alike(value, kept.get(each))), "")
            if beside:
                mover, by = moved[beside]
                yield Half(mover, by, slot, by, settled.logs[mover].moves[by])


def _is_alike(call: ast.Call, other: ast.expr | None) -> bool:
    """Whether two calls make objects of the same class."""
    return isinstance(other, ast.Call) and ast.unparse(call.func) == ast.unparse(other.func)


def _goes_to_device(raw: RawMove) -> bool:
    return raw.target is not None and raw.target.form in ON_DEVICE


def _made_in(node: ast.AST, log: Log) -> Iterator[_Made]:
    """What the statements of a function assign once, and calls of classes made."""
    found: list[_Made] = []
    times = Counter[str]()
    for target, value in _assigned(node):
        if not (slot := _slot(target)):
            continue
        times[slot] += 1
        if isinstance(value, ast.Dict):
            entries = zip(value.keys, value.values, strict=True)
            given = [
                (f"{slot}[{key.value!r}]", each) for key, each in entries if isinstance(key, ast.Constant)
            ]
        else:
            given = [(slot, value)]
        for name, each in given:
            call, moved = stripped(each, log)
            if isinstance(call, ast.Call) and last_name(call)[:1].isupper():
                found.append(_Made(name, call, moved))
    return (each for each in found if times[each.slot] <= 1)


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of the assignments of one function, with what is assigned."""
    todo = [node]
    while todo:
        each = todo.pop()
        if isinstance(each, ast.Assign):
            yield from ((target, each.value) for target in each.targets)
        elif isinstance(each, (ast.AnnAssign, ast.AugAssign)) and each.value is not None:
            yield each.target, each.value
        todo += reversed([child for child in ast.iter_child_nodes(each) if _is_block(child)])


def _is_block(node: ast.AST) -> bool:
    """Whether a piece of syntax is, or has, statements of the same function."""
    return isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)) and not isinstance(node, _DEFINES)


def _slot(node: ast.AST) -> str:
    """What a variable, or a part of one, is written as; empty for anything else."""
    inner = node
    for _ in range(_DEEP):
        if isinstance(inner, ast.Subscript) and not isinstance(inner.slice, (ast.Constant, ast.Name)):
            return ""
        if isinstance(inner, (ast.Attribute, ast.Subscript)):
            inner = inner.value
    return ast.unparse(node) if isinstance(inner, ast.Name) else ""


def _is_told(call: ast.Call, moved: list[_Made]) -> bool:
    """Whether a call may be told a device, be it by settings that tell none to what is moved."""
    settings = [each for each in call.keywords if each.arg is None]
    if settings and not any(each.arg is None for other in moved for each in other.call.keywords):
        return True
    given = [each for each in call.keywords if each.arg is not None]
    if any(
        isinstance(each, ast.Call) and is_told(each)
        for part in (*call.args, *given)
        for each in ast.walk(part)
    ):
        return True
    slots = {each.slot for each in moved}
    if any(
        isinstance(each, ast.expr) and _slot(each) in slots
        for part in (*call.args, *given)
        for each in ast.walk(part)
    ):
        return True  # it has what was moved
    return is_told(ast.Call(call.func, call.args, given))


def _kept_together(made: list[_Made]) -> dict[str, _Made]:
    """By the one that is not moved, another of several that are kept together, all of which are but that."""
    groups: dict[str, list[_Made]] = {}
    for each in made:
        whole, _, key = each.slot.partition("[")
        if key:
            groups.setdefault(whole, []).append(each)
    found: dict[str, _Made] = {}
    for group in groups.values():
        left = [each for each in group if each.moved is None]
        if len(left) == 1 and len(group) > _FEW:
            found[left[0].slot] = next(each for each in group if each.moved is not None)
    return found


def _scope(settled: Settled, home: Function, slot: str) -> ast.AST | None:
    """Where all uses of what something is assigned to stand, if that can be told."""
    if not home.name:
        return home.node
    if slot.partition(".")[0] != (home.positional or ("",))[0] or home.owner is None:
        return home.node
    cls = settled.file.classes.get(home.owner)
    return cls.node if cls is not None and is_plain(settled, cls) else None


class _Uses:
    """How variables, and parts of them, are used in a piece of syntax, which is gone through once."""

    def __init__(self, scope: ast.AST) -> None:
        parents = {child: node for node in ast.walk(scope) for child in ast.iter_child_nodes(node)}
        self._uses: dict[str, list[tuple[ast.AST, ast.expr]]] = {}
        """By what is read, what that is a part of, and the expression itself."""
        self._bound = Counter[str]()
        self._spread: set[str] = set()
        """What other functions assign, and what loops go through."""
        for node, parent in parents.items():
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                self._spread.update(node.names)
            elif isinstance(node, _LOOPS):
                self._spread.update(map(_slot, ast.walk(node.iter)))
            elif isinstance(node, _PLACES) and isinstance(node.ctx, ast.Store):
                self._bound[_slot(node)] += 1
            elif isinstance(node, _PLACES) and isinstance(node.ctx, ast.Load) and (slot := _slot(node)):
                around = parents[parent] if isinstance(parent, ast.keyword) else parent
                self._uses.setdefault(slot, []).append((around, node))

    def assigns(self, slot: str) -> int:
        """How many times it is assigned."""
        return self._bound[slot]

    def runs(self, slot: str) -> bool:
        """Whether it is called as a module is."""
        return any(
            (isinstance(around, ast.Call) and around.func is use)
            or (isinstance(around, ast.Attribute) and around.attr in knowledge.RUNS_FORWARD)
            for around, use in self._uses.get(slot, ())
        )

    def may_move(self, slot: str, moved: frozenset[str]) -> bool:
        """Whether a use of it may move it, unless it is given away with what was moved already."""
        whole = slot.partition("[")[0]
        if whole in self._spread:
            return True
        if not all(_is_harmless(around, use, moved) for around, use in self._uses.get(slot, ())):
            return True
        held = self._uses.get(whole, ()) if whole != slot else ()
        return not all(isinstance(around, (ast.Subscript, ast.Call, ast.Return)) for around, _ in held)


def _is_harmless(parent: ast.AST, use: ast.expr, moved: frozenset[str]) -> bool:
    """Whether a use runs it, asks it for something, or gives it away together with what was moved."""
    if isinstance(parent, ast.Attribute):
        if parent.attr in knowledge.MOVES or parent.attr in knowledge.RUNS_ON_PARTS:
            return False
        return not knowledge.speaks_of_devices(parent.attr)
    if isinstance(parent, ast.Call):
        given = [*parent.args, *(each.value for each in parent.keywords)]
        return parent.func is use or any(_slot(each) in moved for each in given)
    return isinstance(parent, ast.Tuple) and any(_slot(each) in moved for each in parent.elts)
