"""The expressions of a program: what they give, by Python's own rules."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from .stage import Stage, Suspended
from .values import (
    NONE,
    NUMBER,
    TEXT,
    Argument,
    Array,
    Const,
    Device,
    Lib,
    Map,
    Number,
    Obj,
    Scope,
    Seq,
    Tensor,
    Text,
    Unit,
    Unknown,
    Value,
    is_number,
    truth,
)

_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.AST], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_MAX_TEXT = 200
_MAX_NUMBER = 10**9
_SIZED = re.compile(r"%[^%A-Za-z]")
"""A format of which the values say how long the text gets."""


class Expressions(Stage):
    """Evaluates expressions; subclasses know what calls, objects and tensors do."""

    def eval(self, node: ast.expr) -> Value:
        """The value of an expression."""
        self.step()
        method = self.methods.get(type(node))
        found: Value = method(self, node) if method is not None else Unknown()
        return found

    def _constant(self, node: ast.Constant) -> Value:
        return bounded(node.value)

    def _name(self, node: ast.Name) -> Value:
        return self.lookup(node.id)

    def _attribute(self, node: ast.Attribute) -> Value:
        return self.attribute(self.eval(node.value), node.attr, node)

    def _joinedstr(self, node: ast.JoinedStr) -> Value:
        text: str | None = ""
        for each in node.values:
            plain = isinstance(each, ast.FormattedValue) and each.format_spec is None and each.conversion < 0
            value = self.eval(each.value if isinstance(each, ast.FormattedValue) else each)
            known = isinstance(value, Const) and (plain or isinstance(each, ast.Constant))
            text = f"{text}{value.value}" if text is not None and known else None  # type: ignore[union-attr]
            text = None if text is not None and len(text) > _MAX_TEXT else text
        return TEXT if text is None else Const(text)

    def _tuple(self, node: ast.Tuple) -> Value:
        return self._display(node.elts, "tuple")

    def _list(self, node: ast.List) -> Value:
        return self._display(node.elts, "list")

    def _set(self, node: ast.Set) -> Value:
        return self._display(node.elts, "set")

    def _display(self, elts: Sequence[ast.expr], form: str) -> Seq:
        items: list[Value] = []
        more = False
        for each in elts:
            if isinstance(each, ast.Starred):
                rest = self.iterated(self.eval(each.value), each.value)
                items += rest.items
                more |= rest.open
            else:
                items.append(self.eval(each))
        return self.sequence(tuple(items), form, open=more)

    def _dict(self, node: ast.Dict) -> Value:
        found = Map()
        for key, value in zip(node.keys, node.values, strict=True):
            each = self.eval(value)
            name = self.eval(key) if key is not None else None
            if isinstance(name, Const) and isinstance(name.value, Hashable):
                found.items[name.value] = each
            elif name is None and isinstance(each, Map):
                self.spend(len(each.items))
                found.items.update(each.items)
                found.rest = each.rest if found.rest is None else found.rest
            else:
                found.rest = each if found.rest is None else self.join(found.rest, each)
        return found

    def _ifexp(self, node: ast.IfExp) -> Value:
        said = self.said(node.test)
        if said is not None:
            return self.eval(node.body if said else node.orelse)
        return self.join(self.eval(node.body), self.eval(node.orelse))

    def _boolop(self, node: ast.BoolOp) -> Value:
        stops = isinstance(node.op, ast.Or)
        found: Value | None = None
        for each in node.values:
            value = self.eval(each)
            found = value if found is None else self.join(found, value)
            said = truth(value)
            if said is stops:
                return value if found is value else found
            if said is (not stops) and each is not node.values[-1]:
                found = None  # the next one decides
        return found if found is not None else Unknown()

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        value = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            said = truth(value)
            return NUMBER if said is None else Const(not said)
        if isinstance(value, Const) and isinstance(node.op, ast.USub) and is_number(value):
            return Const(-value.value)
        return value._replace(registered=False) if isinstance(value, Tensor) else value

    def _binop(self, node: ast.BinOp) -> Value:
        left, right = self.eval(node.left), self.eval(node.right)
        return self.operator(node, node.op, (node.left, left), (node.right, right))

    def operator(self, node: ast.AST, op: ast.operator, left: Argument, right: Argument) -> Value:
        """What an operator gives."""
        one, other = left[1], right[1]
        if isinstance(one, Const) and isinstance(other, Const):
            return _folded(op, one.value, other.value)
        if isinstance(one, Tensor) or isinstance(other, Tensor):
            return self.combined(node, "operator", [left, right])
        if isinstance(one, Array) or isinstance(other, Array):
            return Array(max(each.dims for each in (one, other) if isinstance(each, Array)))
        if isinstance(one, Seq) and isinstance(other, Seq) and isinstance(op, ast.Add):
            return self.sequence((*one.items, *other.items), one.form, open=one.open or other.open)
        if isinstance(one, Seq) and isinstance(op, ast.Mult):
            times = other.value if isinstance(other, Const) and isinstance(other.value, int) else None
            if times is not None and len(one.items) * times <= 16:
                return Seq(one.items * times, one.form, open=one.open)
            return Seq(one.items, one.form, open=True)
        if (
            isinstance(one, Text)
            or isinstance(other, Text)
            or (isinstance(one, Const) and isinstance(one.value, str))
        ):
            return TEXT
        if isinstance(one, Unit | Unknown) or isinstance(other, Unknown):
            return Unknown()
        special = _SPECIAL.get(type(op))
        if isinstance(one, Obj) and special is not None and self.has_method(one, special):
            return self.call(self.attribute(one, special, None), [right], {}, node)
        return NUMBER

    def _compare(self, node: ast.Compare) -> Value:
        left, at = self.eval(node.left), node.left
        found: Value = Const(True)
        for op, each in zip(node.ops, node.comparators, strict=True):
            right = self.eval(each)
            found = self._compared(node, op, (at, left), (each, right))
            left, at = right, each
        return found if len(node.ops) == 1 else NUMBER

    def _compared(self, node: ast.Compare, op: ast.cmpop, left: Argument, right: Argument) -> Value:
        one, other = left[1], right[1]
        if isinstance(op, (ast.Is, ast.IsNot)):
            said = _is(one, other)
            return NUMBER if said is None else Const(said is isinstance(op, ast.Is))
        if isinstance(op, (ast.In, ast.NotIn)):
            said = _contains(other, one)
            return NUMBER if said is None else Const(said is isinstance(op, ast.In))
        if isinstance(one, Device) and isinstance(other, Device):
            one, other = Const(one.place), Const(other.place)
        compare = _COMPARISONS.get(type(op))
        if isinstance(one, Const) and isinstance(other, Const) and compare is not None:
            try:
                return Const(compare(one.value, other.value))
            except TypeError:
                return NUMBER
        if isinstance(one, Tensor) or isinstance(other, Tensor):
            return self.combined(node, "operator", [left, right])
        if isinstance(one, Array) or isinstance(other, Array):
            return Array(max(each.dims for each in (one, other) if isinstance(each, Array)))
        return NUMBER

    def _namedexpr(self, node: ast.NamedExpr) -> Value:
        value = self.eval(node.value)
        self.bind(node.target, value)
        return value

    def _starred(self, node: ast.Starred) -> Value:
        return self.eval(node.value)

    def _await(self, node: ast.Await) -> Value:
        return self.eval(node.value)

    def _lambda(self, node: ast.Lambda) -> Value:
        return self.function(node)

    def _yield(self, node: ast.Yield) -> Value:
        frame = self.frames[-1]
        value = NONE if node.value is None else self.eval(node.value)
        frame.yields.append(value)
        if frame.stops and not self.manage(value):
            raise Suspended(frame)
        return Unknown()

    def _yieldfrom(self, node: ast.YieldFrom) -> Value:
        self.frames[-1].yields += self.iterated(self.eval(node.value), node.value).items
        return Unknown()

    def _slice(self, node: ast.Slice) -> Value:
        found = [NONE if each is None else self.eval(each) for each in (node.lower, node.upper, node.step)]
        if all(isinstance(each, Const) and isinstance(each.value, (int, type(None))) for each in found):
            return Const(slice(*(each.value for each in found if isinstance(each, Const))))
        return Lib("builtins.slice")

    def _subscript(self, node: ast.Subscript) -> Value:
        return self.item(self.eval(node.value), self.eval(node.slice), node)

    # Comprehensions

    def _listcomp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        items: list[Value] = []
        more = self._comprehended(node.generators, lambda: items.append(self.eval(node.elt)))
        form = {"ListComp": "list", "SetComp": "set"}.get(type(node).__name__, "iter")
        return self.sequence(tuple(items), form, open=more)

    _setcomp = _generatorexp = _listcomp

    def _dictcomp(self, node: ast.DictComp) -> Value:
        found = Map()

        def keep() -> None:
            key, value = self.eval(node.key), self.eval(node.value)
            if isinstance(key, Const) and isinstance(key.value, Hashable):
                found.items[key.value] = value
            else:
                found.rest = value if found.rest is None else self.join(found.rest, value)

        self._comprehended(node.generators, keep)
        return found

    def _comprehended(self, generators: Sequence[ast.comprehension], keep: Callable[[], None]) -> bool:
        """Go through the loops of a comprehension; whether there may be more or fewer turns."""
        inner = self.hold(Scope(self.scope.unit, self.scope))
        frame = self.frames[-1]
        outer, frame.scope = frame.scope, inner
        inner.shared = outer.shared
        try:
            return self._turned(generators, keep)
        finally:
            frame.scope = outer

    def _turned(self, generators: Sequence[ast.comprehension], keep: Callable[[], None]) -> bool:
        first, *others = generators
        whole = self.eval(first.iter)
        more = self.iterated(whole, first.iter).open
        for value in self.turns(whole, first.iter):
            self.bind(first.target, value)
            said = [truth(self.eval(test)) for test in first.ifs]
            if False in said:
                continue
            more |= None in said
            if others:
                more |= self._turned(others, keep)
            else:
                keep()
        return more

    # What subclasses know

    def item(self, value: Value, key: Value, node: ast.Subscript) -> Value:
        """What stands at a key or index."""
        raise NotImplementedError

    def has_method(self, obj: Obj, name: str) -> bool:
        """Whether the program defines a method for an object."""
        raise NotImplementedError

    def combined(self, node: ast.AST, how: str, parties: Sequence[Argument], *, exact: bool = False) -> Value:
        """What an operation gives of tensors, which have to be together."""
        raise NotImplementedError


_SPECIAL = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.MatMult: "__matmul__",
    ast.BitOr: "__or__",
}


def bounded(value: Any) -> Value:
    """A constant, if it is small; what is large says nothing of devices, and would only grow."""
    if isinstance(value, str):
        return Const(value) if len(value) <= _MAX_TEXT else TEXT
    if isinstance(value, (int, float)):
        return Const(value) if abs(value) < _MAX_NUMBER else NUMBER
    return Const(value) if value is None or value is Ellipsis else Unknown()


def _folded(op: ast.operator, one: Any, other: Any) -> Value:
    work = _OPERATORS.get(type(op))
    texts = isinstance(one, str), isinstance(other, str)
    if any(texts) and not (all(texts) and isinstance(op, ast.Add)):
        if isinstance(op, ast.Mod) and texts[0] and not _SIZED.search(one):
            work = operator.mod
        else:
            return TEXT  # repeated, or filled up to a size
    if work is None:
        return NUMBER
    try:
        return bounded(work(one, other))
    except (TypeError, ValueError, ArithmeticError):
        return NUMBER


def _is(one: Value, other: Value) -> bool | None:
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return True if one is other else None
    if isinstance(one, Const) and isinstance(other, Const):
        return one.value is other.value or (one.value == other.value and type(one.value) is type(other.value))
    if isinstance(one, Const) or isinstance(other, Const):
        numbers = (Number, Text)
        return None if isinstance(one, numbers) or isinstance(other, numbers) else False
    return True if one is other else None


def _contains(whole: Value, part: Value) -> bool | None:
    if not isinstance(part, Const):
        return None
    if whole == Lib("os.environ"):
        return False
    if isinstance(whole, Map):
        return True if part.value in whole.items else None if whole.rest is not None else False
    if isinstance(whole, Seq) and all(isinstance(each, Const) for each in whole.items) and not whole.open:
        return any(each.value == part.value for each in whole.items if isinstance(each, Const))
    if isinstance(whole, Const) and isinstance(whole.value, str) and isinstance(part.value, str):
        return part.value in whole.value
    return None
