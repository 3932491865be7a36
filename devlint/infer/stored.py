"""What methods put into attributes of their object as they were given it, for the methods that use those."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from .. import knowledge
from ..core.kinds import Kind
from ..core.objects import Objects
from ..core.paths import Attr, Element, Item, Ref
from ..core.values import UNKNOWN, Value
from .classes import Class
from .file import File
from .log import RawBind


class Stored:
    """What the attributes of a file's classes hold, where every assignment is known."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._objects: Objects = file.objects
        self._known: dict[Ref, tuple[tuple[str, Value], ...]] = {}

    def values(self, ref: Ref) -> tuple[tuple[str, Value], ...]:
        """What is assigned to an attribute of `self`, with the methods that do it; empty if not all is known.

        None, which only keeps the place, is left out.
        """
        found = self._known.get(ref)
        if found is None:
            found = self._known[ref] = self._find(ref)
        return found

    def given(self, ref: Ref) -> tuple[tuple[str, Value], ...]:
        """What an attribute of `self` that is no module, or a part of one, is as methods were given it.

        Each with its method, those of subclasses left out; empty if not all is known.
        """
        steps: list[Item | Element] = []
        while isinstance(way := self._objects.ways[ref], (Item, Element)):
            steps.insert(0, way)
            ref = self._objects.parents[ref]
        cls = self._class_of(self._objects.parents[ref])
        if cls is None or cls.is_module or not isinstance(way, Attr):
            return ()
        whole = self.values(ref)
        found = [(name, value) for name, each in whole for value in _within(each, steps)]
        for each in cls.lineage() if whole and steps else ():
            for name, value in self._added.get((each.name, way.name), ()):
                found += [(name, part) for part in _within(value, steps[1:])]
        return tuple(found)

    def _find(self, ref: Ref) -> tuple[tuple[str, Value], ...]:
        way, parent = self._objects.ways[ref], self._objects.parents[ref]
        if not isinstance(way, Attr) or parent < 0:
            return ()
        cls = self._class_of(parent)
        if cls is None or not all(map(_is_plain, cls.lineage())):
            return ()
        owners = {
            self._objects.self_of(each.name) for each in (*cls.lineage(), *self._below.get(cls.name, ()))
        }
        if ref in self._moved_in_place:
            return ()
        values: list[tuple[str, Value]] = []
        for function, raw in self._bound.get(way.name, ()):
            if raw.owner.who not in owners:
                if type(raw.owner.who) is int and self._class_of(raw.owner.who) is not None:
                    continue  # another class of this file has one of that name
                return ()
            if raw.value.kind is not Kind.NONE:
                values.append((function, raw.value))
        return tuple(values)

    def _class_of(self, ref: Ref) -> Class | None:
        """The class of this file of which an object is the one that its methods speak of."""
        return self._classes.get(ref)

    @cached_property
    def _classes(self) -> dict[Ref, Class]:
        """The classes of this file, by the objects that their methods speak of."""
        return {self._objects.self_of(cls.name): cls for cls in self._file.classes.values()}

    @cached_property
    def _below(self) -> dict[str, list[Class]]:
        """By class, itself and those that derive from it."""
        found: dict[str, list[Class]] = {}
        for cls in self._file.classes.values():
            for above in cls.lineage():
                found.setdefault(above.name, []).append(cls)
        return found

    @cached_property
    def _bound(self) -> dict[str, list[tuple[str, RawBind]]]:
        """By name, the assignments of attributes, with the functions that they stand in."""
        found: dict[str, list[tuple[str, RawBind]]] = {}
        for function, log in self._file.logs.items():
            for raw in log.binds.values() if log.binds else ():
                for name in {raw.name, *raw.names} if raw.target == "attribute" else ():
                    found.setdefault(name, []).append((function, raw))
        return found

    @cached_property
    def _moved_in_place(self) -> set[object]:
        logs = self._file.logs.values()
        return {raw.receiver.who for log in logs for raw in log.moves.values() if raw.in_place}

    @cached_property
    def _added(self) -> dict[tuple[str, str], list[tuple[str, Value]]]:
        """By class and name, what functions put into the containers that attributes are."""
        found: dict[tuple[str, str], list[tuple[str, Value]]] = {}
        for function, log in self._file.logs.items():
            for key, value in log.added.items():
                found.setdefault(key, []).append((function, value))
        return found


def _within(value: Value, steps: Sequence[Item | Element]) -> Iterator[Value]:
    """What a value, or what is in the containers that it is, leads to; nothing for an empty one."""
    if value.kind is Kind.CONTAINER and steps:
        key = steps[0].key if isinstance(steps[0], Item) else None
        items = value.items or ()
        chosen = items[key : key + 1] if type(key) is int and key >= 0 else items
        for each in (*chosen, *((value.element,) if value.element is not None else ())):
            yield from _within(each, steps[1:])
    elif value.kind is not Kind.NONE:
        yield value if not steps else UNKNOWN


def _is_plain(cls: Class) -> bool:
    """Whether a class is of this file, and assigns its attributes by their names alone."""
    by_name = knowledge.ASSIGNS_BY_NAME | knowledge.MODULE_INTERNALS
    return cls.node is not None and cls.names.isdisjoint(by_name)
