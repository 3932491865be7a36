"""The expressions of a program: what they give, by Python's own rules."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from .. import knowledge
from .stage import _AGAIN, MAX_DEPTH, Flow, Frame, Running, Stage, Suspended
from .values import (
    NONE,
    NUMBER,
    TEXT,
    Array,
    Bound,
    Class,
    Const,
    Device,
    Function,
    Lib,
    Map,
    Method,
    Number,
    Obj,
    Partial,
    Scope,
    Seq,
    Spot,
    Super,
    Tensor,
    Text,
    Unit,
    Unknown,
    Value,
    element,
    is_number,
    join,
    truth,
)

Argument = tuple[ast.expr, Value]
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
_WEIGHTS = ("weight", "bias")
"""How the names of the parameters of torch's layers begin: `weight_hh_l0`."""
_MAX_TEXT = 200
_MAX_NUMBER = 10**9
_ROOT_MODULE = "torch.nn.Module"


class Performer(Stage):
    """Evaluates expressions; a subclass knows torch."""

    def eval(self, node: ast.expr) -> Value:
        """The value of an expression."""
        self.step()
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        found: Value = method(node) if method is not None else Unknown()
        return found

    def _constant(self, node: ast.Constant) -> Value:
        return Const(node.value)

    def _name(self, node: ast.Name) -> Value:
        return self.lookup(node.id)

    def _attribute(self, node: ast.Attribute) -> Value:
        return self.attribute(self.eval(node.value), node.attr, node)

    def _joinedstr(self, node: ast.JoinedStr) -> Value:
        parts = []
        for each in node.values:
            value = self.eval(each.value if isinstance(each, ast.FormattedValue) else each)
            if not isinstance(value, Const):
                return TEXT
            parts.append(str(value.value))
        return Const("".join(parts))

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
        return Seq(tuple(items), form, open=more)

    def _dict(self, node: ast.Dict) -> Value:
        found = Map()
        for key, value in zip(node.keys, node.values, strict=True):
            each = self.eval(value)
            name = self.eval(key) if key is not None else None
            if isinstance(name, Const) and isinstance(name.value, Hashable):
                found.items[name.value] = each
            elif name is None and isinstance(each, Map):
                found.items.update(each.items)
                found.rest = each.rest if found.rest is None else found.rest
            else:
                found.rest = each if found.rest is None else join(found.rest, each)
        return found

    def _ifexp(self, node: ast.IfExp) -> Value:
        said = truth(self.eval(node.test))
        if said is not None:
            return self.eval(node.body if said else node.orelse)
        return join(self.eval(node.body), self.eval(node.orelse))

    def _boolop(self, node: ast.BoolOp) -> Value:
        stops = isinstance(node.op, ast.Or)
        found: Value | None = None
        for each in node.values:
            value = self.eval(each)
            found = value if found is None else join(found, value)
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
        return value._replace(made=None) if isinstance(value, Tensor) and not value.made else value

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
            return Seq((*one.items, *other.items), one.form, open=one.open or other.open)
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
        frame.yields.append(NONE if node.value is None else self.eval(node.value))
        if frame.stops:
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
        return Seq(tuple(items), form, open=more)

    _setcomp = _generatorexp = _listcomp

    def _dictcomp(self, node: ast.DictComp) -> Value:
        found = Map()

        def keep() -> None:
            key, value = self.eval(node.key), self.eval(node.value)
            if isinstance(key, Const) and isinstance(key.value, Hashable):
                found.items[key.value] = value
            else:
                found.rest = value if found.rest is None else join(found.rest, value)

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

    # Calls

    def _call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return self._super(node)
        callee = self.eval(node.func)
        positional: list[Argument] = []
        keywords: dict[str, Argument] = {}
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                seq = self.iterated(self.eval(arg.value), arg.value)
                positional += [(arg.value, item) for item in seq.items]
            else:
                positional.append((arg, self.eval(arg)))
        for keyword in node.keywords:
            value = self.eval(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = (keyword.value, value)
            elif isinstance(value, Map):
                keywords.update({str(k): (keyword.value, each) for k, each in value.items.items()})
            else:
                keywords["**"] = (keyword.value, value)
        return self.call(callee, positional, keywords, node)

    def _super(self, node: ast.Call) -> Value:
        frame = next((each for each in reversed(self.frames) if each.receiver is not None), None)
        if frame is None or frame.owner is None or not isinstance(frame.receiver, Obj):
            return Unknown()
        return Super(frame.receiver, frame.owner)

    def call(
        self, callee: Value, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        """What a call gives."""
        self.step()
        if isinstance(callee, Function):
            return self.enter(callee, None, positional, keywords, node)
        if isinstance(callee, Bound):
            return self.enter(callee.function, callee.receiver, positional, keywords, node)
        if isinstance(callee, Partial):
            more = {name: (node, value) for name, value in callee.keywords}
            first = [(node, value) for value in callee.positional]
            return self.call(callee.function, [*first, *positional], {**more, **keywords}, node)  # type: ignore[list-item, dict-item]
        if isinstance(callee, Class):
            return self.instance(callee, positional, keywords, node)
        if isinstance(callee, Obj):
            return self.run_object(callee, positional, keywords, node)
        if isinstance(callee, Method):
            return self.method(callee.receiver, callee.name, positional, keywords, node)
        if isinstance(callee, Lib):
            return self.library(callee.dotted, positional, keywords, node)
        self.hand_over([value for _, value in (*positional, *keywords.values())])
        return callee.part(("()", id(node))) if isinstance(callee, Unknown) else Unknown()

    def run_object(
        self, callee: Obj, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        """Call an object: of a module that runs its `forward`."""
        name = "forward" if self.is_module(callee) else "__call__"
        for each in ("__call__", name):
            if self.has_method(callee, each):
                func = node.func if isinstance(node, ast.Call) else node
                self.running.append(Running(callee, self.spot(func), ast.unparse(func)[:60]))
                try:
                    given = self.call(self.attribute(callee, each, None), positional, keywords, node)
                finally:
                    self.running.pop()
                return self.hooked(callee, positional, given, node)
        return self.hooked(
            callee, positional, self.run_library_object(callee, positional, keywords, node), node
        )

    def hooked(self, callee: Obj, positional: Sequence[Argument], given: Value, node: ast.AST) -> Value:
        """Call the hooks of a module with what it was given, and what it gives."""
        for hook in callee.hooks:
            values: list[Value] = [callee, Seq(tuple(value for _, value in positional), "tuple"), given]
            self.call(hook, [(node, value) for value in values], {}, node)  # type: ignore[misc]
        return given

    def enter(
        self,
        function: Function,
        receiver: Value | None,
        positional: Sequence[Argument],
        keywords: dict[str, Argument],
        node: ast.AST,
    ) -> Value:
        """Call a function of the program."""
        depth = sum(frame.node is function.node for frame in self.frames)
        if len(self.frames) > MAX_DEPTH or depth > _AGAIN:
            return Unknown()
        frame = Frame(self.hold(Scope(function.scope.unit, function.scope)), function.node)
        frame.receiver, frame.owner = receiver, function.owner
        frame.given = [*positional, *keywords.values()]
        frame.stops = function.binding == "context"
        self._bind_arguments(function, frame, receiver, positional, keywords, node)
        self.frames.append(frame)
        try:
            if isinstance(function.node, ast.Lambda):
                return self.eval(function.node.body)
            flow = self._to_its_end(frame, function.node.body)
        finally:
            self.frames.pop()
        for left in frame.left:
            self.redo(left.values(), joined=True)
        given = self._given_back(function, frame, flow)
        if self.frames and function.scope.unit is not self.scope.unit:
            given = self.crossed(given, self.spot(node))
        return given

    def _to_its_end(self, frame: Frame, body: Sequence[ast.stmt]) -> Flow:
        """Go through a function; a context manager only as far as the block that it manages."""
        depth, default, tried, unsure = len(self.frames), self.default, self.tried, self.unsure
        try:
            return self.block(body)
        except Suspended as at:
            if at.frame is not frame:
                raise
            del self.frames[depth:]
            self.default, self.tried, self.unsure = default, tried, unsure
            return ""

    def _given_back(self, function: Function, frame: Frame, flow: str) -> Value:
        if function.yields:
            return Seq(tuple(frame.yields), function.binding or "iter", open=True)
        if not frame.returns:
            return NONE
        returns = frame.returns if flow == "return" else [*frame.returns, *([NONE] if not flow else [])]
        found = returns[0]
        for each in returns[1:]:
            found = join(found, each)
        return found

    def crossed(self, value: Value, spot: Spot) -> Value:
        """What a call of another file's function gives."""
        return value

    def _bind_arguments(
        self,
        function: Function,
        frame: Frame,
        receiver: Value | None,
        positional: Sequence[Argument],
        keywords: dict[str, Argument],
        node: ast.AST,
    ) -> None:
        args, names = function.node.args, frame.scope.names
        named = [arg.arg for arg in (*args.posonlyargs, *args.args)]
        values = [value for _, value in positional]
        if receiver is not None:
            values = [receiver, *values]
        for name, value in zip(named, values, strict=False):
            names[name] = value
        if args.vararg is not None:
            names[args.vararg.arg] = Seq(tuple(values[len(named) :]), "tuple")
        taken = {*named, *(arg.arg for arg in args.kwonlyargs)}
        rest = Map()
        for name, (_, value) in keywords.items():
            if name in taken:
                names[name] = value
            elif name == "**":
                rest.rest = Unknown()
            else:
                rest.items[name] = value
        if args.kwarg is not None:
            names[args.kwarg.arg] = rest
        for name in taken:
            if name not in names:
                default = function.defaults.get(name)
                if default is None or "**" in keywords:
                    default = Unknown()
                elif (
                    isinstance(default, Const)
                    and isinstance(default.value, (str, type(None)))
                    and self.frames
                ):
                    default = Const(default.value, self.spot(node))
                names[name] = default

    def instance(
        self, cls: Class, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        """Make an object of a class of the program."""
        made = self.hold(Obj(cls, self.library_base(cls), self.spot(node)))
        found = self.find_in(cls, "__init__")
        if isinstance(found, Function):
            self.enter(found, made, positional, keywords, node)
            return made
        if cls.record:
            self._fill(made, cls, positional, keywords)
        else:
            self.begin(made, positional, keywords, node)
        return made

    def _fill(
        self, made: Obj, cls: Class, positional: Sequence[Argument], keywords: dict[str, Argument]
    ) -> None:
        given = dict(zip(cls.fields, (value for _, value in positional), strict=False))
        given.update({name: value for name, (_, value) in keywords.items()})
        for name in cls.fields:
            value = given.get(name)
            if value is None:
                default = self.find_in(cls, name)
                value = Unknown() if default is None or "**" in keywords else self.fresh(default)
            made.attrs[name] = value
        after = self.find_in(cls, "__post_init__")
        if isinstance(after, Function):
            self.enter(after, made, [], {}, cls.node)

    def fresh(self, default: Value) -> Value:
        """The default of a field; what a factory makes of it is made anew."""
        if isinstance(default, Partial) and default.function == Lib("dataclasses.field"):
            for name, value in default.keywords:
                if name == "default":
                    return value  # type: ignore[no-any-return]
                if name == "default_factory":
                    return self.call(value, [], {}, self.frames[-1].node or ast.Pass())
            return Unknown()
        return default

    def begin(
        self, made: Obj, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> None:
        """What the constructor of a library's class does to an object."""

    # Objects

    def lineage(self, cls: Class) -> list[Class]:
        """A class and its bases, each before its own bases."""
        found: list[Class] = []
        for base in cls.bases:
            for each in self.lineage(base) if isinstance(base, Class) else ():
                if each in found:
                    found.remove(each)
                found.append(each)
        return [cls, *found]

    def find_in(self, cls: Class, name: str, after: Class | None = None) -> Value | None:
        """What a class, or one of its bases, has under a name."""
        line = self.lineage(cls)
        if after is not None and after in line:
            line = line[line.index(after) + 1 :]
        for each in line:
            found = each.names.get(name)
            if found is not None:
                return found
        return None

    def library_base(self, cls: Class) -> str:
        """The class of a library that a class derives from, in the end."""
        for each in self.lineage(cls):
            for base in each.bases:
                if isinstance(base, Lib) and "module" in knowledge.topics_of_base(base.dotted):
                    return base.dotted
        for each in self.lineage(cls):
            for base in each.bases:
                if isinstance(base, Lib):
                    return base.dotted
                if isinstance(base, Unknown):
                    return "?"
        return ""

    def is_module(self, value: Value) -> bool:
        """Whether an object is a module of torch's."""
        return isinstance(value, Obj) and bool(value.lib) and "module" in knowledge.topics_of_base(value.lib)

    def has_method(self, obj: Obj, name: str) -> bool:
        """Whether the program defines a method for an object."""
        return obj.cls is not None and isinstance(self.find_in(obj.cls, name), Function)

    def bound(self, found: Value, receiver: Value, node: ast.expr | None) -> Value:
        """What a class has, as an object or the class itself gives it."""
        if not isinstance(found, Function):
            return found
        if found.binding == "property" and isinstance(receiver, Obj):
            return self.enter(found, receiver, [], {}, node or found.node)
        if found.binding == "static":
            return found
        if found.binding == "class" and isinstance(receiver, Obj) and receiver.cls is not None:
            return Bound(found, receiver.cls)
        return Bound(found, receiver) if isinstance(receiver, Obj) or found.binding == "class" else found

    def attribute(self, value: Value, name: str, node: ast.expr | None) -> Value:
        """What an attribute is."""
        if isinstance(value, Obj):
            return self._of_object(value, name, node)
        if isinstance(value, Lib):
            return self.of_library(value, name)
        if isinstance(value, Unit):
            found = value.scope.names.get(name)
            if found is not None:
                return self.kept_promise(found, value.scope.names, name)
            inner = self.load(f"{value.name}.{name}", value.path)
            return self.module(inner, name) if inner is not None and not inner[1] else Unknown()
        if isinstance(value, Class):
            got = self.find_in(value, name)
            return Unknown() if got is None else self.bound(got, value, node)
        if isinstance(value, Super):
            cls = value.receiver.cls
            got = self.find_in(cls, name, value.after) if cls is not None else None
            if got is None:
                return Method(value, name)
            return self.bound(got, value.receiver, node)
        if isinstance(value, Tensor):
            return self.of_tensor(value, name)
        if isinstance(value, Device):
            kind, _, index = value.place.partition(":")
            known = {"type": Const(kind), "index": Const(int(index)) if index.isdigit() else NONE}
            return known.get(name, Unknown())
        if isinstance(value, Unknown):
            return value.part(name)
        if isinstance(value, (Seq, Map, Array, Const, Text, Number)):
            return Method(value, name)
        return Unknown()

    def _of_object(self, value: Obj, name: str, node: ast.expr | None) -> Value:
        found = value.attrs.get(name)
        if found is not None:
            return self.read(value, name, found)
        if value.cls is not None:
            got = self.find_in(value.cls, name)
            if got is not None:
                return self.bound(got, value, node)
        if value.cls is None and name.startswith(_WEIGHTS) and "weight" in value.attrs:
            return self.read(value, "weight", value.attrs["weight"])
        if name == "__class__" and value.cls is not None:
            return value.cls
        if name == "__dict__":
            return Map({**value.attrs}, Unknown())
        return Method(value, name)

    def read(self, owner: Obj, name: str, value: Value) -> Value:
        """A value as it is read of an object that has it."""
        return value

    def of_library(self, value: Lib, name: str) -> Value:
        """An attribute of something of a library."""
        return Lib(f"{value.dotted}.{name}")

    def set_attribute(self, owner: Value, name: str, value: Value, node: ast.expr) -> None:
        """Assign an attribute."""
        if isinstance(owner, Obj):
            setter = self.find_in(owner.cls, name) if owner.cls is not None else None
            if isinstance(setter, Function) and setter.binding == "property":
                return
            self.put(owner.attrs, name, self.kept(owner, name, value, node))
        elif isinstance(owner, Unit):
            self.put(owner.scope.names, name, value)
        elif isinstance(owner, Class):
            self.put(owner.names, name, value)

    def kept(self, owner: Obj, name: str, value: Value, node: ast.expr) -> Value:
        """A value as an object has it in an attribute."""
        return value

    # Items

    def item(self, value: Value, key: Value, node: ast.Subscript) -> Value:
        """What stands at a key or index."""
        if isinstance(value, Map):
            if isinstance(key, Const) and isinstance(key.value, Hashable):
                found = value.items.get(key.value, value.rest)
                if found is None and value.makes is not None:
                    found = self.call(value.makes, [], {}, node)
                    self.put(value.items, key.value, found)
                return found if found is not None else Unknown()
            every = [*value.items.values(), *([value.rest] if value.rest is not None else [])]
            return element(Seq(tuple(every)))
        if isinstance(value, Seq):
            if isinstance(key, Const) and isinstance(key.value, int) and not value.open:
                inside = -len(value.items) <= key.value < len(value.items)
                return value.items[key.value] if inside else Unknown()
            if is_slice(key):
                if isinstance(key, Const) and not value.open:
                    return Seq(tuple(value.items[key.value]), value.form)
                return Seq(value.items, value.form, open=True)
            return element(value)
        if isinstance(value, Array):
            keys = key.items if isinstance(key, Seq) else (key,)
            fewer = sum(is_number(each) or isinstance(each, Unknown) for each in keys)
            return Array(max(value.dims - fewer, 0)) if value.dims > fewer else Array(0)
        if isinstance(value, Tensor):
            return self.of_index(value, key, node)
        if isinstance(value, Obj):
            if value.parts is not None:
                return self.item(value.parts, key, node)
            if self.has_method(value, "__getitem__"):
                return self.call(self.attribute(value, "__getitem__", None), [(node.slice, key)], {}, node)
            return Unknown()
        if isinstance(value, Unknown):
            return value.part(
                ("[]", key.value if isinstance(key, Const) and isinstance(key.value, Hashable) else id(node))
            )
        return value if isinstance(value, (Lib, Class)) else Unknown()

    def set_item(self, node: ast.Subscript, owner: Value, key: Value, value: Value) -> None:
        """Assign an item."""
        if isinstance(owner, Map):
            if isinstance(key, Const) and isinstance(key.value, Hashable):
                self.put(owner.items, key.value, value)
            else:
                rest = value if owner.rest is None else join(owner.rest, value)
                self.alter(owner, "rest", rest)
                for name in list(owner.items):
                    self.put(owner.items, name, join(owner.items[name], value))
        elif isinstance(owner, Seq):
            if (
                isinstance(key, Const)
                and isinstance(key.value, int)
                and -len(owner.items) <= key.value < len(owner.items)
            ):
                items = list(owner.items)
                items[key.value] = value
                self.alter(owner, "items", tuple(items))
            elif not is_slice(key):
                self.alter(owner, "items", tuple(join(each, value) for each in owner.items))
        elif isinstance(owner, Tensor):
            self.set_index(node, owner, key, value)
        elif isinstance(owner, Obj) and isinstance(owner.parts, (Map, Seq)):
            self.set_item(node, owner.parts, key, value)
        elif isinstance(owner, Obj) and self.has_method(owner, "__setitem__"):
            given: list[Argument] = [(node.slice, key), (node, value)]
            self.call(self.attribute(owner, "__setitem__", None), given, {}, node)

    # Loops

    def iterated(self, value: Value, node: ast.expr) -> Seq:
        """What iterating something yields."""
        if isinstance(value, Seq):
            return value
        if isinstance(value, Map):
            keys = tuple(Const(key) for key in value.items)
            return Seq(keys or (TEXT,), "iter", open=value.rest is not None)
        if isinstance(value, Tensor):
            part = value if value.loose else value._replace(dims=max(value.dims - 1, 0))
            return Seq((part._replace(registered=False),), "iter", open=True)
        if isinstance(value, Array):
            return Seq((Array(max(value.dims - 1, 0)),), "iter", open=True)
        if isinstance(value, Obj):
            return self._iterated_object(value, node)
        if isinstance(value, Const) and isinstance(value.value, str):
            return Seq(tuple(Const(each) for each in value.value[:8]), "iter", open=len(value.value) > 8)
        if isinstance(value, Unknown):
            return Seq((value.part(("for", id(node))),), "iter", open=True)
        if isinstance(value, Class):  # an Enum
            return Seq(tuple(value.names.values()), "iter", open=True)
        return Seq((Unknown(),), "iter", open=True)

    def _iterated_object(self, value: Obj, node: ast.expr) -> Seq:
        if self.has_method(value, "__iter__"):
            return self.iterated(self.call(self.attribute(value, "__iter__", None), [], {}, node), node)
        if value.cls is not None and value.cls.record and _is_tuple(value.cls):
            return Seq(tuple(value.attrs.get(name, Unknown()) for name in value.cls.fields), "iter")
        if isinstance(value.parts, Seq):
            return value.parts
        if isinstance(value.parts, Map):
            return self.iterated(value.parts, node)
        if self.has_method(value, "__getitem__"):
            each = self.call(self.attribute(value, "__getitem__", None), [(node, NUMBER)], {}, node)
            return Seq((each,), "iter", open=True)
        return self.iterated_library(value, node)

    def iterated_library(self, value: Obj, node: ast.expr) -> Seq:
        """What iterating an object of a library yields."""
        return Seq((Unknown(),), "iter", open=True)

    def unpacked(self, value: Value, target: ast.Tuple | ast.List) -> Sequence[Value]:
        """The parts of a value that is bound to several targets."""
        count = len(target.elts)
        starred = next((i for i, each in enumerate(target.elts) if isinstance(each, ast.Starred)), None)
        if isinstance(value, Obj) and value.cls is not None and value.cls.record:
            return [value.attrs.get(name, Unknown()) for name in value.cls.fields][:count]
        if isinstance(value, Unknown):
            return [value.part(("[]", index)) for index in range(count)]
        seq = self.iterated(value, target)
        if starred is not None:
            return [Seq(seq.items, "list", open=True) if i == starred else element(seq) for i in range(count)]
        if not seq.open and len(seq.items) == count:
            return seq.items
        if len(seq.items) == count:
            return seq.items
        return [element(seq)] * count

    def entered(self, manager: Value) -> Value:
        """What `with` binds."""
        if isinstance(manager, Obj) and self.has_method(manager, "__enter__"):
            return self.call(
                self.attribute(manager, "__enter__", None), [], {}, self.frames[-1].node or ast.Pass()
            )
        if isinstance(manager, Seq) and manager.form == "context":
            return element(manager) if manager.items else NONE
        if isinstance(manager, Device):
            self.default = manager.place
        return manager

    # What a subclass knows

    def combined(self, node: ast.AST, how: str, parties: Sequence[Argument]) -> Value:
        """What an operation gives of tensors, which have to be together."""
        raise NotImplementedError

    def of_index(self, value: Tensor, key: Value, node: ast.Subscript) -> Value:
        """What a tensor has at an index."""
        raise NotImplementedError

    def set_index(self, node: ast.Subscript, owner: Tensor, key: Value, value: Value) -> None:
        """Assign to a part of a tensor."""
        raise NotImplementedError

    def of_tensor(self, value: Tensor, name: str) -> Value:
        """An attribute of a tensor."""
        raise NotImplementedError

    def method(
        self,
        receiver: Any,
        name: str,
        positional: Sequence[Argument],
        keywords: dict[str, Argument],
        node: ast.AST,
    ) -> Value:
        """What a method of a library gives."""
        raise NotImplementedError

    def library(
        self, dotted: str, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        """What a function or class of a library gives."""
        raise NotImplementedError

    def run_library_object(
        self, callee: Obj, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        """Call an object of a library."""
        raise NotImplementedError

    def hand_over(self, values: Sequence[Value]) -> None:
        """Something unknown is given objects: it may move them, and what they have."""
        raise NotImplementedError


def _is_tuple(cls: Class) -> bool:
    """Whether a record is a tuple with names."""
    return any(
        base == Lib("typing.NamedTuple") or (isinstance(base, Class) and _is_tuple(base))
        for base in cls.bases
    )


def is_slice(key: Value) -> bool:
    """Whether what stands in brackets is a slice."""
    return key == Lib("builtins.slice") or (isinstance(key, Const) and isinstance(key.value, slice))


_SPECIAL = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.MatMult: "__matmul__",
    ast.BitOr: "__or__",
}


def _folded(op: ast.operator, one: Any, other: Any) -> Value:
    work = _OPERATORS.get(type(op))
    if work is None:
        return NUMBER
    try:
        found = work(one, other)
    except Exception:
        return NUMBER
    if isinstance(found, str):
        return Const(found) if len(found) <= _MAX_TEXT else TEXT
    if isinstance(found, (int, float)) and abs(found) < _MAX_NUMBER:
        return Const(found)
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
