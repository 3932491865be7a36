"""The calls, objects and containers of a program: what they do, by Python's own rules."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Sequence
from typing import Any

from .. import knowledge
from .expressions import Expressions
from .shells import body
from .stage import MAX_AGAIN, MAX_DEPTH, Flow, Frame, Running, Suspended, is_generator
from .values import (
    NONE,
    NOWHERE,
    NUMBER,
    TEXT,
    Argument,
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
    is_number,
)

_WEIGHTS = ("weight", "bias")
"""How the names of the parameters of torch's layers begin: `weight_hh_l0`."""


class Performer(Expressions):
    """Calls functions, makes objects, and looks into containers; a subclass knows torch."""

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
                self.spend(len(value.items))
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
        found = callee.part(("()", id(node))) if isinstance(callee, Unknown) else Unknown()
        func = node.func if isinstance(node, ast.Call) else None
        found.moved |= isinstance(func, ast.Attribute) and func.attr in knowledge.MOVES
        return found

    def run_object(
        self, callee: Obj, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        """Call an object: of a module that runs its `forward`."""
        if callee.pulls:
            positional = [(at, self.brought_to(value, NOWHERE)) for at, value in positional]
            keywords = {name: (at, self.brought_to(value, NOWHERE)) for name, (at, value) in keywords.items()}
        name = "forward" if self.is_module(callee) else "__call__"
        for each in ("__call__", name):
            if self.has_method(callee, each):
                func = node.func if isinstance(node, ast.Call) else node
                self.running.append(
                    Running(callee, self.spot(func), ast.unparse(func)[:60], len(self.frames))
                )
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
        depth = [frame.node for frame in self.frames].count(function.node)
        if len(self.frames) > MAX_DEPTH or depth > MAX_AGAIN:
            return Unknown()
        self.entered_in.add((function.scope.unit.path, getattr(function.node, "name", "")))
        frame = Frame(self.hold(Scope(function.scope.unit, function.scope)), function.node)
        frame.receiver, frame.owner = receiver, function.owner
        frame.given = [*positional, *keywords.values()]
        frame.stops = function.binding == "context"
        self._bind_arguments(function, frame, receiver, positional, keywords, node)
        self.frames.append(frame)
        try:
            if isinstance(function.node, ast.Lambda):
                return self.eval(function.node.body)
            flow = self._to_its_end(frame, body(function.node))
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
        if is_generator(function):
            return self.sequence(tuple(frame.yields), function.binding or "iter", open=True)
        if not frame.returns:
            return NONE
        returns = frame.returns if flow == "return" else [*frame.returns, *([NONE] if not flow else [])]
        found = returns[0]
        for each in returns[1:]:
            found = self.join(found, each)
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
            names[args.vararg.arg] = self.sequence(tuple(values[len(named) :]), "tuple")
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
        elif cls.record:
            self._fill(made, cls, positional, keywords)
        else:
            self.begin(made, positional, keywords, node)
        return made if cls.unit is self.scope.unit else self.crossed(made, self.spot(node))

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
                    return self.call(value, [], {}, self.frames[-1].node)
            return Unknown()
        return default

    def begin(
        self, made: Obj, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> None:
        """What the constructor of a library's class does to an object."""

    # Objects

    def lineage(self, cls: Class) -> list[Class]:
        """A class and its bases, each before its own bases."""
        if cls.line is None:
            found: dict[Class, None] = {}
            for base in cls.bases:
                for each in self.lineage(base) if isinstance(base, Class) else ():
                    found.pop(each, None)
                    found[each] = None
            self.spend(len(found))
            cls.line = [cls, *found]
        return cls.line

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
            found = self.of_unit(value, name)
            if found is not None:
                return found
            inner = self.load(f"{value.name}.{name}", value.path)
            return self.module(inner, name) if inner is not None and not inner[1] else Unknown()
        if isinstance(value, Class):
            got = self.find_in(value, name)
            if got is None and name == "apply":
                return self._applied(value, node)
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

    def _applied(self, cls: Class, node: ast.expr | None) -> Value:
        """`Function.apply` of autograd: it calls `forward` with a context of its own."""
        if "autograd-function" not in knowledge.topics_of_class(self.library_base(cls)):
            return Unknown()
        forward = self.attribute(cls, "forward", node)
        return Bound(forward, Unknown()) if isinstance(forward, Function) else Unknown()

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
            return Map(value.attrs, Unknown())
        return Method(value, name)

    def held(self, value: Value, node: ast.expr) -> None:
        """An object has a value in an item."""

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
            return self.element(self.sequence(tuple(every)))
        if isinstance(value, Seq):
            if isinstance(key, Const) and isinstance(key.value, int) and not value.open:
                inside = -len(value.items) <= key.value < len(value.items)
                return value.items[key.value] if inside else Unknown()
            if is_slice(key):
                if isinstance(key, Const) and not value.open:
                    return Seq(value.items[key.value] if key.value.step != 0 else (), value.form)
                return Seq(value.items, value.form, open=True)
            return self.element(value)
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
                rest = value if owner.rest is None else self.join(owner.rest, value)
                self.alter(owner, "rest", rest)
                for name in list(owner.items):
                    self.put(owner.items, name, self.join(owner.items[name], value))
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
                self.alter(owner, "items", tuple(self.join(each, value) for each in owner.items))
        elif isinstance(owner, Tensor):
            self.set_index(node, owner, key, value)
        elif isinstance(owner, Obj) and isinstance(owner.parts, (Map, Seq)):
            self.set_item(node, owner.parts, key, value)
            self.held(value, node)
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
            return self.sequence(keys or (TEXT,), "iter", open=value.rest is not None)
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
            return self.sequence(tuple(value.names.values()), "iter", open=True)
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
            return [
                Seq(seq.items, "list", open=True) if i == starred else self.element(seq) for i in range(count)
            ]
        if len(seq.items) == count:
            return seq.items
        return [self.element(seq)] * count

    def entered(self, manager: Value) -> Value:
        """What `with` binds."""
        if isinstance(manager, Obj) and any(self.has_method(manager, each) for each in knowledge.INTERCEPTS):
            self.default = NOWHERE
        if isinstance(manager, Obj) and self.has_method(manager, "__enter__"):
            return self.call(self.attribute(manager, "__enter__", None), [], {}, self.frames[-1].node)
        if isinstance(manager, Seq) and manager.form == "context":
            return self.element(manager) if manager.items else NONE
        if isinstance(manager, Device):
            self.default = manager.place
        return manager

    # What a subclass knows

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

    def brought_to(self, value: Value, place: str) -> Value:
        """A tensor, or those in a container, elsewhere."""
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
