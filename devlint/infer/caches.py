"""What a method of a module makes where its input is, and keeps: it stays there when the module moves."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .. import knowledge
from ..bind.names import last_name
from ..bind.walk import descendants
from ..core.kinds import Kind
from ..core.objects import Apart, Objects
from ..core.paths import Attr, Element, Item, Ref, Root
from ..core.places import Form
from ..core.values import is_made
from .assigning import making
from .classes import Class
from .log import RawBind
from .settle import Settled

_GIVEN = ("parameter", "self")
_MAX_NAMES = 32
_MAX_DEPTH = 6


class Cached(NamedTuple):
    """A tensor that is kept for the next call."""

    method: str
    at: ast.AST
    """The target that the method assigns."""
    beside: str
    """What it is made where that is."""
    condition: str
    """When it is made anew."""


class _Function:
    """The statements of one method, each with what is around it."""

    def __init__(self, node: ast.AST, first: str) -> None:
        self.node = node
        self.first = first
        """What the method calls its own object."""
        self.parents = {child: each for each in descendants(node) for child in ast.iter_child_nodes(each)}

    def around(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """What encloses a node, innermost first, each with the part of it that does."""
        while node is not self.node and node in self.parents:
            yield self.parents[node], node
            node = self.parents[node]

    def own(self, node: ast.AST) -> str:
        """The attribute of its own object that an expression is."""
        known = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        return node.attr if known and node.value.id == self.first else ""  # type: ignore[attr-defined]

    def reads(self, node: ast.AST) -> set[str]:
        """The attributes of its own object that are in an expression."""
        return {name for part in descendants(node) if (name := self.own(part))}

    def compared(self, test: ast.expr) -> set[str]:
        """The variables in an expression that stand there themselves, and not for their size."""
        names = (part for part in descendants(test) if isinstance(part, ast.Name))
        return {name.id for name in names if not self._is_measured(name)}

    def computed(self, test: ast.expr) -> Iterator[ast.expr]:
        """What the method computed of the variables that a condition compares: the key of a cache."""
        names = self.compared(test)
        for part in descendants(self.node) if names else ():
            if isinstance(part, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id in names for target in part.targets
            ):
                yield part.value

    def _is_measured(self, name: ast.Name) -> bool:
        """Whether a variable is that of a tensor of which only the size is asked, or of an object."""
        whole = self.parents.get(name)
        return isinstance(whole, (ast.Attribute, ast.Subscript)) and whole.value is name


def cached(settled: Settled, cls: Class) -> Mapping[str, Cached]:
    """By attribute, the tensors that methods make where their input is, unless something else is the same."""
    made = making(settled, cls)
    later = [method for method in cls.methods.values() if method in settled.logs and method not in made]
    above = [each for each in cls.lineage() if each is not cls]
    constructor = set(made[:1])
    binds = {
        method: [
            (node, raw)
            for node, raw in settled.logs[method].binds.items()
            if isinstance(node, (ast.Attribute, ast.Subscript))
        ]
        for method in later
    }
    if not any(_given_beside(settled.objects, raw) is not None for each in binds.values() for _, raw in each):
        return {}
    functions = {method: _of(settled, method) for method in later}
    found: dict[str, Cached | None] = {}
    for method in later:
        for node, raw in binds[method]:
            name = functions[method].own(node.value if isinstance(node, ast.Subscript) else node)
            if name:
                each = _kept(settled, functions, method, node, raw, name)
                known = found.setdefault(name, each)
                if each is None or known is None or known.condition != each.condition:
                    found[name] = None  # another way than that, it is brought elsewhere
    return {
        name: each
        for name, each in found.items()
        if each is not None
        and constructor.issuperset(set(cls.assigning(name)).intersection(made))  # no `reset()` that it calls
        and all(base.own_attribute(name) is None for base in above)
        and not any(_asks(function, name) for function in functions.values())
        and any(_uses(function, name) for function in functions.values())
    }


def _of(settled: Settled, method: str) -> _Function:
    function = settled.file.functions[method]
    return _Function(function.node, function.positional[0] if function.positional else "")


def _kept(
    settled: Settled, functions: Mapping[str, _Function], method: str, node: ast.AST, raw: RawBind, name: str
) -> Cached | None:
    beside = _given_beside(settled.objects, raw)
    if beside is None:
        return None
    function, label = functions[method], settled.objects.labels[beside]
    if raw.value.who == beside or _carries_on(function, node, name):
        return None
    if isinstance(node, ast.Subscript) and label in function.compared(node.slice):
        return None  # one for each device
    test = _memo(function, node, name)
    sites = settled.sites.get(method, ())
    if test is None and all(caller in functions and site.at is not None for caller, site in sites):
        asked = [
            _memo(functions[caller], site.at, name, functions[method])
            for caller, site in sites
            if site.at is not None
        ]
        test = asked[0] if asked and all(asked) else None
    if test is None:
        return None
    return Cached(method, node, label, ast.unparse(test))


def _given_beside(objects: Objects, raw: RawBind) -> Ref | None:
    """Beside what that a caller gave a tensor is that is assigned, or on whose device; or beside `self`."""
    value, ref = raw.value, raw.value.place.of
    if value.kind is not Kind.TENSOR or is_made(value):
        return None
    if type(ref) is not int or value.place.form not in (Form.AT, Form.SAME):
        return None
    if value.place.form is Form.SAME and isinstance(objects.ways[ref], Attr):
        ref = objects.parents[ref]
    return ref if any(_is_given(objects, root) for root in _roots(objects, ref)) else None


def _roots(objects: Objects, ref: Ref, depth: int = _MAX_DEPTH) -> Iterator[Ref]:
    while isinstance(objects.ways[ref], (Attr, Item, Element, Apart)):
        ref = objects.parents[ref]
    yield ref
    for each in objects.sources.get(ref, ()) if depth > 0 else ():
        yield from _roots(objects, each, depth - 1)


def _is_given(objects: Objects, root: Ref) -> bool:
    way = objects.ways[root]
    return isinstance(way, Root) and way.kind in _GIVEN


def _memo(function: _Function, node: ast.AST, name: str, helper: _Function | None = None) -> ast.expr | None:
    """The condition under which an attribute is made anew, if it asks for anything but where it is."""
    tests: list[ast.expr] = []
    memo: ast.expr | None = None
    for around, part in function.around(node):
        for test in _deciding(around, part):
            tests.append(test)
            asked = function.reads(test) | {
                str(part.value) for part in descendants(test) if isinstance(part, ast.Constant)
            }  # `hasattr(self, "mask")`
            if memo is None and (name in asked or asked & _assigns(function, around, helper)):
                memo = test
    if memo is None or any(_asks_place(test) or _calls_others(test) for test in tests):
        return None
    if any(_asks_place(key) for test in tests for key in function.computed(test)):
        return None
    return memo


def _carries_on(function: _Function, target: ast.AST, name: str) -> bool:
    """Whether what is assigned is computed from what was there: a state, which each call changes."""
    around = next(function.around(target))[0]
    value = getattr(around, "value", None)
    return isinstance(around, ast.AugAssign) or (isinstance(value, ast.AST) and name in function.reads(value))


def _deciding(around: ast.AST, part: ast.AST) -> Iterator[ast.expr]:
    """The conditions that decide whether a statement of a block is reached."""
    if isinstance(around, ast.If) and part is not around.test:
        yield around.test
    for block in (getattr(around, "body", None), getattr(around, "orelse", None)):
        if isinstance(block, list) and part in block:
            for before in block[: block.index(part)]:
                if isinstance(before, ast.If) and isinstance(before.body[-1], (ast.Return, ast.Raise)):
                    yield before.test


def _assigns(function: _Function, block: ast.AST, helper: _Function | None) -> set[str]:
    """The attributes that a block assigns, or a method that it calls."""
    found = {
        function.own(part) for part in descendants(block) if isinstance(getattr(part, "ctx", None), ast.Store)
    }
    if helper is not None:
        found |= _assigns(helper, helper.node, None)
    return found - {""}


def _asks_place(node: ast.AST) -> bool:
    """Whether an expression asks where something is."""
    names = (last_name(part) for part in descendants(node) if isinstance(part, (ast.Attribute, ast.Name)))
    return any(name in knowledge.ASKS_PLACE for name in names)


def _calls_others(test: ast.expr) -> bool:
    """Whether a condition asks something of which nobody knows what it asks."""
    calls = (part for part in descendants(test) if isinstance(part, ast.Call))
    return any(last_name(call) not in knowledge.LOOKS_AT for call in calls)


def _asks(function: _Function, name: str) -> bool:
    """Whether a method asks where an attribute is, moves it, or lets go of it."""
    for part in descendants(function.node):
        if function.own(part) != name:
            continue
        for around, _ in function.around(part):
            if isinstance(around, ast.Attribute) and around.attr in knowledge.ASKS_PLACE:
                return True
            if isinstance(around, ast.Delete):
                return True
            if not isinstance(around, (ast.Attribute, ast.Subscript, ast.Call)):
                break
    return False


def _uses(function: _Function, name: str) -> bool:
    """Whether a method computes with an attribute, or gives it back."""
    for part in descendants(function.node):
        if function.own(part) != name or not isinstance(part.ctx, ast.Load):  # type: ignore[attr-defined]
            continue
        for around, inner in function.around(part):
            if isinstance(around, ast.Attribute) and around.attr in knowledge.NUMBER_ATTRIBUTES:
                break
            if isinstance(around, (ast.If, ast.IfExp)) and inner is around.test:
                break
            if isinstance(around, ast.stmt):
                return not isinstance(around, ast.Expr) or isinstance(around.value, ast.Call)
    return False
