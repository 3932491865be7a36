"""What methods put into attributes of their object as they were given it, for the methods that use those."""

from __future__ import annotations

import ast

from .. import knowledge
from ..core.kinds import Kind
from ..core.objects import Objects
from ..core.paths import Attr, Ref
from ..core.values import Value
from .classes import Class
from .file import File


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

    def _find(self, ref: Ref) -> tuple[tuple[str, Value], ...]:
        way, parent = self._objects.ways[ref], self._objects.parents[ref]
        if not isinstance(way, Attr) or parent < 0:
            return ()
        cls = self._class_of(parent)
        if cls is None or not all(map(_is_plain, cls.lineage())):
            return ()
        below = (each for each in self._file.classes.values() if cls in each.lineage())
        owners = {self._objects.self_of(each.name) for each in (*cls.lineage(), *below)}
        values: list[tuple[str, Value]] = []
        for function, log in self._file.logs.items():
            if any(raw.in_place and raw.receiver.who == ref for raw in log.moves.values()):
                return ()
            for raw in log.binds.values():
                if way.name not in (raw.name, *raw.names) or raw.target != "attribute":
                    continue
                if raw.owner.who not in owners:
                    if type(raw.owner.who) is int and self._class_of(raw.owner.who) is not None:
                        continue  # another class of this file has one of that name
                    return ()
                if raw.value.kind is not Kind.NONE:
                    values.append((function, raw.value))
        return tuple(values)

    def _class_of(self, ref: Ref) -> Class | None:
        """The class of this file of which an object is the one that its methods speak of."""
        found = (cls for cls in self._file.classes.values() if self._objects.self_of(cls.name) == ref)
        return next(found, None)


def _is_plain(cls: Class) -> bool:
    """Whether a class is of this file, and assigns its attributes by their names alone."""
    if cls.node is None:
        return False
    names = (
        part.attr if isinstance(part, ast.Attribute) else part.id
        for part in ast.walk(cls.node)
        if isinstance(part, (ast.Attribute, ast.Name))
    )
    return not any(name == knowledge.ASSIGNS_BY_NAME or name in knowledge.MODULE_INTERNALS for name in names)
