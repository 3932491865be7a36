"""The objects of one run, as far as the program text tells objects apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .paths import MAX_STEPS, Attr, Element, Item, Path, Ref, Root, Step

OR_ANOTHER = "?"
"""Ends the name that other files have for what a caller gives, where it is that on some paths only."""


class Apart(NamedTuple):
    """The same object under an assumption: what is learned of it there does not flow back."""

    at: int
    function: str
    beside: bool = False
    """Whether the assumption is of something else: callers who give tensors may never come there."""


class Or(NamedTuple):
    """Either of two objects."""

    other: Ref


_Way = Step | Apart | Or | Root


def foreign_name(function: str, root: Root) -> str:
    """What other functions call what one is given, or makes."""
    return f"{function}<{root.kind} {root.name} {root.at}>"


class Objects:
    """Objects by number, with how each is reached: from a root, or as a part of another.

    The same root or part is the same number each time it is asked for, in whatever order.
    """

    def __init__(self) -> None:
        self.parents: list[Ref] = []
        """-1 for a root."""
        self.ways: list[_Way] = []
        self.functions: list[str] = []
        """The function in which a root stands; empty for the module's."""
        self.labels: list[str] = []
        """What the program calls each; empty where it has no name yet."""
        self.wholes: list[Ref] = []
        """The whole that an object is an element of, where siblings share a fate; -1 for none."""
        self.sources: dict[Ref, tuple[Ref, ...]] = {}
        """What an object that is one of several may be."""
        self._numbers: dict[tuple[Ref | str, _Way], Ref] = {}
        self._made: dict[tuple[str, int, str], Ref] = {}
        """What `made` gave before: it is asked at each expression, and a root takes longer to make."""
        self._foreign: dict[str, Ref] = {}
        self._parts: dict[Ref, list[Ref]] = {}

    def _add(self, key: tuple[Ref | str, _Way], parent: Ref, function: str, label: str, whole: Ref) -> Ref:
        ref = len(self.parents)
        self._numbers[key] = ref
        self.parents.append(parent)
        self.ways.append(key[1])
        self.functions.append(function)
        self.labels.append(label)
        self.wholes.append(whole)
        return ref

    def root(self, function: str, root: Root, label: str = "") -> Ref:
        """The object at a root in a function."""
        key = (function, root)
        found = self._numbers.get(key)
        return found if found is not None else self._add(key, -1, function, label, -1)

    def parameter(self, function: str, name: str) -> Ref:
        """What a function's parameter is given."""
        return self.root(function, Root("parameter", name), name)

    def made(self, function: str, at: int, role: str = "") -> Ref:
        """What a node makes, the same each time it is evaluated."""
        key = (function, at, role)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self.root(function, Root("made", role, at))
        return found

    def global_(self, name: str) -> Ref:
        """What a name stands for that nothing in the file binds."""
        return self.root("", Root("global", name), name)

    def self_of(self, cls: str) -> Ref:
        """The instance that the methods of a class speak of."""
        return self.root("", Root("self", cls), "self")

    def part(self, ref: Ref, step: Step, label: str = "") -> Ref:
        """A part of an object."""
        key = (ref, step)
        found = self._numbers.get(key)
        if found is None:
            found = self._add(key, ref, self.functions[ref], label or self._label_of(ref, step), -1)
            self._parts.setdefault(ref, []).append(found)
            return found
        if not self.labels[found]:
            self.labels[found] = label or self._label_of(ref, step)
        return found

    def has(self, ref: Ref, step: Step) -> bool:
        """Whether a part of an object is known by now."""
        return (ref, step) in self._numbers

    def parts(self, ref: Ref) -> Iterator[Ref]:
        """All parts of an object that are known by now, and their parts."""
        todo = [ref]
        while todo:
            found = self._parts.get(todo.pop())
            if found is not None:
                yield from found
                todo += found

    def _label_of(self, ref: Ref, step: Step) -> str:
        label = self.labels[ref]
        if not label:
            return ""
        if isinstance(step, Attr):
            return f"{label}.{step.name}"
        if isinstance(step, Item) and isinstance(step.key, str) and not step.variable:
            return f'{label}["{step.key}"]'
        return ""

    def share(self, ref: Ref, batch: bool) -> Ref:
        """Tell that a part shares the fate of its siblings, if what it is part of came as one whole."""
        if self.wholes[ref] < 0:
            parent = self.parents[ref]
            if batch or not isinstance(self.ways[ref], Attr):
                whole = self.wholes[parent]
                self.wholes[ref] = whole if whole >= 0 else parent if self.is_whole(parent) else -1
            else:
                self.wholes[ref] = self.wholes[parent]
        return ref

    def is_whole(self, ref: Ref) -> bool:
        """Whether the parts of an object share its fate: what a loop yields, and what a caller passes."""
        way = self.ways[ref]
        return isinstance(way, Element) or (isinstance(way, Root) and way.kind == "parameter")

    def apart(self, ref: Ref, function: str, at: int, beside: bool = False) -> Ref:
        """The same object under an assumption made at a node."""
        key = (ref, Apart(at, function, beside))
        found = self._numbers.get(key)
        if found is not None:
            return found
        whole = self.wholes[ref]
        if whole < 0 and isinstance(self.ways[ref], Element):
            whole = ref
        return self._add(key, ref, self.functions[ref], self.labels[ref], whole)

    def either(self, a: Ref | None, b: Ref | None) -> Ref | None:
        """The object that is one of two, or one and something unknown."""
        if a == b:
            return a
        if a is None or b is None:
            known = b if a is None else a
            assert known is not None
            return self._either(known, -1, (known,), self.wholes[known])
        if a in self.sources.get(b, ()):
            return b
        if b in self.sources.get(a, ()):
            return a
        whole = self.wholes[a] if self.wholes[a] == self.wholes[b] else -1
        return self._either(a, b, (a, b), whole)

    def _either(self, a: Ref, b: Ref, sources: tuple[Ref, ...], whole: Ref) -> Ref:
        key = (a, Or(b))
        ref = self._numbers.get(key)
        if ref is None:
            ref = self._add(key, a, self.functions[a], self.labels[a], whole)
            self.sources[ref] = sources
        return ref

    # Questions

    def owner(self, ref: Ref) -> Ref:
        """What an object is a part of, as something that lives where its owner lives; -1 for none."""
        return self.parents[ref] if isinstance(self.ways[ref], (Attr, Item, Element)) else -1

    def is_parameter(self, ref: Ref) -> bool:
        """Whether the object is what a caller passed."""
        way = self.ways[ref]
        return isinstance(way, Root) and way.kind == "parameter"

    def is_given(self, ref: Ref) -> bool:
        """Whether the object is what a caller passed, or a part of that."""
        while ref >= 0:
            if self.is_parameter(ref):
                return True
            ref = self.owner(ref)
        return False

    def may_be(self, ref: Ref) -> Iterator[Ref]:
        """An object, and all that it may be."""
        todo, done = [ref], set()
        while todo:
            each = todo.pop()
            if each not in done:
                done.add(each)
                yield each
                todo.extend(self.sources.get(each, ()))

    def is_made_in(self, ref: Ref, function: str) -> bool:
        """Whether a function makes the object."""
        way = self.ways[ref]
        return isinstance(way, Root) and way.kind == "made" and self.functions[ref] == function

    def is_part(self, ref: Ref, whole: Ref) -> bool:
        """Whether an object is another, or a part of it."""
        while ref >= 0:
            if ref == whole:
                return True
            ref = self.owner(ref)
        return False

    def belongs(self, ref: Ref, whole: Ref) -> bool:
        """Whether an object is a whole or something inside it, under whatever assumption."""
        while ref >= 0:
            if whole in (ref, self.wholes[ref]):
                return True
            ref = self.parents[ref]
        return False

    def is_structural(self, ref: Ref) -> bool:
        """Whether the object is one of several that were unpacked, or taken by their position."""
        way = self.ways[ref]
        return isinstance(way, Item) and type(way.key) is int and not way.variable

    def is_one_of(self, ref: Ref) -> bool:
        """Whether an object is one of several, or a part of one."""
        while ref >= 0:
            if isinstance(self.ways[ref], Or):
                return True
            ref = self.parents[ref]
        return False

    def top(self, ref: Ref) -> Ref:
        """The root, or the object under an assumption, that an object is a part of."""
        while (owner := self.owner(ref)) >= 0:
            ref = owner
        return ref

    @property
    def known_abroad(self) -> int:
        """How many objects other functions of this file know by a name that `path` made."""
        return len(self._foreign)

    def foreign(self, name: str) -> Ref | None:
        """The object that another function of this file knows by a name that `path` made."""
        return self._foreign.get(name)

    def or_another(self, path: Path, ref: Ref) -> Path:
        """The name of what is, on some paths only, what a caller gave another function: it does not tell."""
        name = path.root.name
        if path.root.kind != "global" or name.endswith(OR_ANOTHER) or not self.is_one_of(ref):
            return path
        self._foreign[f"{name}{OR_ANOTHER}"] = ref
        return path._replace(root=path.root._replace(name=f"{name}{OR_ANOTHER}"))

    def path(self, ref: Ref, function: str) -> Path | None:
        """The way to an object as a function sees it; None for what is one of several, or lies too deep."""
        steps: list[Step] = []
        while True:
            way = self.ways[ref]
            if isinstance(way, Root):
                if len(steps) > MAX_STEPS:
                    return None
                if way.kind in ("parameter", "made") and self.functions[ref] != function:
                    # An enclosing function's, or the module's: to this function it is global.
                    name = foreign_name(self.functions[ref], way)
                    self._foreign[name] = ref
                    way = Root("global", name)
                return Path(way, tuple(reversed(steps)))
            if isinstance(way, Or):
                if way.other >= 0:
                    return None
            elif not isinstance(way, Apart):
                steps.append(way)
            ref = self.parents[ref]
