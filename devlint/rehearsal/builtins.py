"""What Python's own functions, containers and texts do."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from .expressions import bounded
from .parts import class_of
from .perform import Performer
from .values import (
    NONE,
    NUMBER,
    TEXT,
    Argument,
    Array,
    Class,
    Const,
    Device,
    Lib,
    Map,
    Method,
    Number,
    Obj,
    Seq,
    Tensor,
    Text,
    Unknown,
    Value,
    is_number,
)

_APPENDED = 6
"""Of more that is appended, one by one, the last stands for all."""
_MOST = 12


class Builtins(Performer):
    """Knows what is built in."""

    def built_in(
        self, name: str, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        """What a function or class that is built in gives."""
        values = [value for _, value in positional]
        at = positional[0][0] if positional else None
        work: Callable[..., Value] | None = getattr(self, f"_builtin_{name}", None)
        if work is not None and at is not None:
            return work(positional, keywords, node)
        if name in ("list", "tuple", "set", "sorted", "reversed", "iter", "frozenset"):
            if at is None:
                return Seq((), name)
            seq = self.iterated(values[0], at)
            form = name if name in ("list", "tuple", "set") else "list" if name == "sorted" else "iter"
            return Seq(seq.items[::-1] if name == "reversed" else seq.items, form, open=seq.open)
        if name == "dict":
            return self._dict_of(values, {key: value for key, (_, value) in keywords.items()})
        if name == "type" and len(values) == 1:
            return class_of(values[0])
        if name == "globals":
            return Map(self.scope.unit.scope.names)
        if name == "vars":
            own = values[0] if values else None
            return Map(own.attrs) if isinstance(own, Obj) else Unknown()
        if name in ("int", "float", "abs", "round", "bool"):
            first = values[0] if values else Const(0)
            if (
                isinstance(first, Const)
                and isinstance(first.value, (str, int, float))
                and name in ("int", "float", "bool")
            ):
                try:
                    return bounded({"int": int, "float": float, "bool": bool}[name](first.value))
                except (ValueError, OverflowError):
                    return NUMBER
            return first if name in ("abs", "round") and isinstance(first, (Tensor, Array)) else NUMBER
        if name in ("str", "repr", "format", "chr", "hex"):
            first = values[0] if values else Const("")
            if isinstance(first, Device):
                return Const(first.place)
            return bounded(str(first.value)) if isinstance(first, Const) else TEXT
        if name in ("print", "delattr"):
            return NONE
        if name == "input":
            return TEXT
        if name in ("any", "all", "hash", "id", "ord", "callable", "issubclass", "pow", "divmod"):
            return NUMBER
        if name == "range":
            return self._range(values)
        if name == "object":
            return self.hold(Obj(None, "", None))
        if name in ("__name__", "__file__"):
            return TEXT
        return Unknown()

    def _dict_of(self, values: Sequence[Value], more: dict[Any, Value]) -> Map:
        """What `dict` makes of a mapping, or of pairs."""
        first = values[0] if values else None
        if isinstance(first, Map):
            return self.mapping({**first.items, **more}, first.rest)
        if not isinstance(first, Seq):
            return Map(more, None if first is None else Unknown())
        found = Map()
        for each in first.items:
            pair = each.items if isinstance(each, Seq) and len(each.items) == 2 else (Unknown(), Unknown())
            if isinstance(pair[0], Const) and isinstance(pair[0].value, Hashable):
                found.items[pair[0].value] = pair[1]
            else:
                found.rest = pair[1] if found.rest is None else self.join(found.rest, pair[1])
        found.items.update(more)
        return found

    def _range(self, values: Sequence[Value]) -> Value:
        known = [each.value for each in values if isinstance(each, Const) and isinstance(each.value, int)]
        if len(known) == len(values) and known:
            try:
                turns = range(*known[:3])
            except ValueError:  # steps of nothing
                return Seq((), "iter")
            first = tuple(Const(each) for each in turns[:3])
            return Seq(first if len(turns) <= 3 else (*first[:2], NUMBER), "iter", open=False)
        return Seq((Const(0), NUMBER), "iter", open=True)

    def _builtin_len(
        self, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        value = positional[0][1]
        if isinstance(value, Seq) and not value.open:
            return Const(len(value.items)) if len(value.items) < 3 else NUMBER
        if isinstance(value, Map) and value.rest is None:
            return Const(len(value.items))
        return NUMBER

    def _builtin_zip(
        self, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        seqs = [self.iterated(value, at) for at, value in positional]
        closed = [len(each.items) for each in seqs if not each.open]
        if closed and len(closed) == len(seqs):
            items = tuple(Seq(parts, "tuple") for parts in zip(*(each.items for each in seqs), strict=False))
            return Seq(items, "iter")
        return Seq((Seq(tuple(self.element(each) for each in seqs), "tuple"),), "iter", open=True)

    def _builtin_enumerate(
        self, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        seq = self.iterated(positional[0][1], positional[0][0])
        known = not seq.open
        items = tuple(
            Seq((Const(index) if known or index == 0 else NUMBER, each), "tuple")
            for index, each in enumerate(seq.items)
        )
        if seq.open and seq.items:
            items = (*items, Seq((NUMBER, self.element(seq)), "tuple"))
        return Seq(items, "iter", open=seq.open)

    def _builtin_map(
        self, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        if len(positional) < 2:
            return Unknown()
        seq = self.iterated(positional[1][1], positional[1][0])
        items = tuple(
            self.call(positional[0][1], [(positional[1][0], each)], {}, node) for each in seq.items[:8]
        )
        return Seq(items, "iter", open=seq.open)

    def _builtin_next(
        self, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        seq = self.iterated(positional[0][1], positional[0][0])
        return seq.items[0] if seq.items else Unknown()

    def _builtin_sum(
        self, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        seq = self.iterated(positional[0][1], positional[0][0])
        tensors = [(positional[0][0], each) for each in seq.items if isinstance(each, Tensor)]
        return self.combined(node, "call", tensors) if tensors else NUMBER

    def _builtin_max(
        self, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        known = [value.value for _, value in positional if isinstance(value, Const) and is_number(value)]
        if len(known) == len(positional) > 1:
            return Const(max(known))
        return positional[0][1] if isinstance(positional[0][1], Tensor) and len(positional) > 1 else NUMBER

    _builtin_min = _builtin_max

    def _builtin_getattr(
        self, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        values = [value for _, value in positional]
        key = values[1] if len(values) > 1 else None
        if not isinstance(key, Const) or not isinstance(key.value, str):
            return Unknown()
        found = self.attribute(values[0], key.value, None)
        absent = isinstance(found, Unknown) or (
            isinstance(found, Method) and isinstance(values[0], Obj) and not values[0].lib
        )
        return values[2] if absent and len(values) > 2 else found

    def _builtin_setattr(
        self, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        values = [value for _, value in positional]
        if len(values) > 2 and isinstance(values[1], Const) and isinstance(values[1].value, str):
            self.set_attribute(values[0], values[1].value, values[2], positional[2][0])
        elif values:
            self.hand_over(values[:1])
        return NONE

    def _builtin_hasattr(
        self, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        values = [value for _, value in positional]
        if (
            len(values) > 1
            and isinstance(values[0], Obj)
            and isinstance(values[1], Const)
            and values[0].lib != "?"
        ):
            obj, name = values[0], values[1].value
            own = name in obj.attrs or (obj.cls is not None and self.find_in(obj.cls, name) is not None)
            return Const(True) if own else NUMBER if obj.lib else Const(False)
        return NUMBER

    def _builtin_isinstance(
        self, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        values = [value for _, value in positional]
        if len(values) < 2:
            return NUMBER
        said = [
            self._is_a(values[0], each)
            for each in (values[1].items if isinstance(values[1], Seq) else values[1:2])
        ]
        if True in said:
            return Const(True)
        return NUMBER if None in said else Const(False)

    def _is_a(self, value: Value, cls: Value) -> bool | None:
        if isinstance(value, Unknown):
            return None
        name = cls.dotted.rpartition(".")[2] if isinstance(cls, Lib) else ""
        if isinstance(value, Tensor):
            if value.loose:
                return None
            return (
                name in ("Tensor", "Parameter") and (name == "Tensor" or value.registered) if name else False
            )
        if isinstance(value, Obj):
            if isinstance(cls, Class):
                return value.cls is not None and cls in self.lineage(value.cls)
            if name == "Module":
                return self.is_module(value)
            return None if value.lib else False
        forms = {
            Seq: ("list", "tuple", "set"),
            Map: ("dict", "Mapping"),
            Array: ("ndarray",),
            Device: ("device",),
        }
        for kind, names in forms.items():
            if isinstance(value, kind):
                if isinstance(value, Seq):
                    return name == value.form or (name in ("Sequence", "Iterable"))
                return name in names
        if isinstance(value, Const):
            return type(value.value).__name__ == name
        if isinstance(value, Number):
            return None if name in ("int", "float", "bool") else False
        if isinstance(value, Text):
            return name == "str"
        return None

    def _of_seq(self, seq: Seq, name: str, positional: Sequence[Argument], node: ast.AST) -> Value:
        values = [value for _, value in positional]
        if name in ("append", "add", "appendleft") and values:
            new = self.added(seq, values[0])
            if len(seq.items) < _APPENDED:
                self.alter(seq, "items", (*seq.items, new))
            else:
                self.alter(seq, "items", (*seq.items[: _APPENDED - 1], self.join(seq.items[-1], new)))
            return NONE
        if name in ("extend", "update") and values:
            more = self.iterated(values[0], positional[0][0])
            self.alter(seq, "items", (*seq.items, *(self.added(seq, each) for each in more.items))[:_MOST])
            self.alter(seq, "open", seq.open or more.open)
            return NONE
        if name == "insert" and len(values) > 1:
            self.alter(seq, "items", (*seq.items, self.added(seq, values[1]))[:_MOST])
            return NONE
        if name in ("pop", "popleft"):
            return self.element(seq)
        if name == "clear":
            self.alter(seq, "items", ())
            return NONE
        if name == "copy":
            return Seq(seq.items, seq.form, open=seq.open)
        return NUMBER if name in ("index", "count") else NONE

    def added(self, seq: Seq, value: Value) -> Value:
        """What is added to a sequence, as that has it."""
        return value

    def _of_map(
        self,
        found: Map,
        name: str,
        positional: Sequence[Argument],
        keywords: dict[str, Argument],
        node: ast.AST,
    ) -> Value:
        values = [value for _, value in positional]
        every = [*found.items.values(), *([found.rest] if found.rest is not None else [])]
        if name == "items":
            pairs = [Seq((Const(key), value), "tuple") for key, value in found.items.items()]
            if found.rest is not None:
                pairs.append(Seq((TEXT, found.rest), "tuple"))
            return self.sequence(tuple(pairs), "iter", open=found.rest is not None)
        if name == "values":
            return self.sequence(tuple(every), "iter", open=found.rest is not None)
        if name == "keys":
            return self.iterated(found, node)  # type: ignore[arg-type]
        if name in ("get", "pop", "setdefault") and values:
            key = values[0].value if isinstance(values[0], Const) else None
            if isinstance(values[0], Const) and isinstance(key, Hashable) and key in found.items:
                return found.items[key]
            if not isinstance(values[0], Const) and every:
                return Unknown()  # of a cache by devices, another entry, or none yet
            if found.rest is not None:
                return found.rest
            return values[1] if len(values) > 1 else NONE
        if name == "update":
            for value in values:
                more = self._dict_of([value], {})
                for key, each in more.items.items():
                    self.put(found.items, key, each)
                if more.rest is not None:
                    self.alter(
                        found, "rest", more.rest if found.rest is None else self.join(found.rest, more.rest)
                    )
            for key, (_, each) in keywords.items():
                self.put(found.items, key, each)
            return NONE
        if name == "copy":
            return self.mapping(found.items, found.rest)
        if name == "clear":
            self.alter(found, "items", {})
            return NONE
        return Unknown()

    def _of_text(self, value: Const | Text, name: str, positional: Sequence[Argument]) -> Value:
        values = [each for _, each in positional]
        if isinstance(value, Const) and isinstance(value.value, str):
            if name in ("startswith", "endswith") and values and isinstance(values[0], Const):
                part = values[0].value
                return Const(getattr(value.value, name)(part)) if isinstance(part, str) else NUMBER
            if name in ("lower", "upper", "strip") and not values:
                return Const(getattr(value.value, name)())
        if name in ("startswith", "endswith", "isdigit", "isalpha", "count", "find", "index"):
            return NUMBER
        return Seq((TEXT,), "list", open=True) if name in ("split", "splitlines") else TEXT
