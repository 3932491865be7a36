"""Two devices that a program tells apart: a class, or a function, has both, and puts modules on each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..core.kinds import Kind
from ..core.paths import Attr, Item, Ref, Root
from ..core.places import Form, Place
from ..core.values import Defined, Value
from .function import CONSTRUCTORS
from .settle import Settled

_Key = str | int | float | bytes | None


class _Told(NamedTuple):
    """What says which device it is: a parameter, what some call gave, or an item of one."""

    function: str
    """Where modules are put there: the constructor, where an attribute keeps it."""
    source: Ref
    keys: tuple[_Key, ...]


class Devices:
    """Which devices of a file are two."""

    def __init__(self, settled: Settled) -> None:
        self._settled = settled

    def differ(self, function: str, here: Place, there: Place) -> bool:
        """Whether two places go by two names, and one function makes modules for each of them."""
        if not here.form is there.form is Form.SAME or here.of == there.of:
            return False
        if type(here.of) is not int or type(there.of) is not int:
            return False
        one, other = self._told(function, here.of), self._told(function, there.of)
        if one is None or other is None or one == other or one.function != other.function:
            return False
        if not {one, other} <= set(self._filled(one.function)) or self._are_one(one, other):
            return False
        return not self._moves_later(one.function)

    def _are_one(self, one: _Told, other: _Told) -> bool:
        """Whether a caller gives the same for both."""
        ways = [self._settled.objects.ways[each.source] for each in (one, other)]
        names = [way.name for way in ways if isinstance(way, Root) and way.kind == "parameter"]
        if one.source == other.source or len(names) < len(ways):
            return False
        sites = self._settled.sites.get(one.function, ())
        given = ([site.arguments.get(name) for name in names] for _, site in sites)
        return any(_is_same(mine, theirs) for mine, theirs in given)

    def _told(self, function: str, ref: Ref) -> _Told | None:
        """What says which device it is that an attribute keeps, or that a function has."""
        objects = self._settled.objects
        keys: list[_Key] = []
        while isinstance(way := objects.ways[ref], Item) and not way.variable:
            keys.append(way.key)
            ref = objects.parents[ref]
        if isinstance(way, Root):
            return _Told(function, ref, tuple(reversed(keys))) if way.kind != "self" else None
        owner = objects.ways[objects.parents[ref]] if isinstance(way, Attr) else None
        if not isinstance(way, Attr) or not isinstance(owner, Root) or owner.kind != "self":
            return None
        constructor, kept = self._kept(owner.name, way.name)
        whole = self._told(constructor, kept) if kept is not None else None
        return whole._replace(keys=(*whole.keys, *reversed(keys))) if whole is not None else None

    def _kept(self, cls: str, name: str) -> tuple[str, Ref | None]:
        """What the constructor keeps in an attribute that nothing else assigns."""
        settled, owner = self._settled, self._settled.objects.self_of(cls)
        found = [
            (function, raw.value)
            for function, log in settled.logs.items()
            for raw in log.binds.values()
            if raw.name == name and raw.owner.who == owner
        ]
        home = settled.file.functions.get(found[0][0]) if len(found) == 1 else None
        if home is None or home.own_name != CONSTRUCTORS[0]:
            return "", None
        function, value = found[0]
        ref = value.place.of if value.kind is Kind.DEVICE else value.who
        return function, ref if type(ref) is int and isinstance(settled.objects.ways[ref], Root) else None

    def _filled(self, function: str) -> Iterator[_Told]:
        """The devices to which a function moves what it makes, and gives to nobody else."""
        log, objects = self._settled.logs[function], self._settled.objects
        for raw in log.moves.values():
            ref = raw.receiver.who
            made = raw.receiver.kind is Kind.MODULE and type(ref) is int and objects.is_made_in(ref, function)
            if made and ref not in log.passed and raw.target is not None and raw.target.form is Form.SAME:
                told = self._told(function, raw.target.of) if type(raw.target.of) is int else None
                if told is not None:
                    yield told

    def _moves_later(self, function: str) -> bool:
        """Whether the file moves an object of a class, or what such an object has, once it is made."""
        settled = self._settled
        home = settled.file.functions.get(function)
        if home is None or home.owner is None:
            return False
        for name, log in settled.logs.items():
            other = settled.file.functions.get(name)
            own = other is not None and other.owner == home.owner
            for raw in log.moves.values():
                if raw.receiver.known == Defined(home.owner):
                    return True
                if own and name != function and raw.receiver.kind in (Kind.MODULE, Kind.INSTANCE):
                    return True
        return False


def _is_same(one: Value | None, other: Value | None) -> bool:
    """Whether what is given for two devices goes by one name."""
    if one is None or other is None:
        return False
    ours = one.place.of if one.who is None else one.who
    theirs = other.place.of if other.who is None else other.who
    return ours == theirs and ours is not None
