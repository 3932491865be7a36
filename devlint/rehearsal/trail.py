"""What a program changes, kept so that it can be taken back, and what holds when either of two may."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeVar

from .values import (
    NOWHERE,
    NUMBER,
    Const,
    Device,
    Held,
    Map,
    Number,
    Obj,
    Partial,
    Seq,
    Tensor,
    Unknown,
    Value,
    is_number,
)

MAX_STEPS = 12_000
"""Expressions and statements of one program, and of all that it imports; the rest is left out."""
_MAX_WORK = 300_000
"""Values that one program is asked about, copied and compared, so that no program can take for ever."""
_MAX_ITEMS = 64
"""Of a longer sequence, any element is known."""
_MISSING = object()
H = TypeVar("H", bound=Held)
Change = tuple[Any, Any, Any]
"""Whose slot, which one, and what it held."""


class Exhausted(Exception):
    """The rehearsal has taken enough steps."""


class Trail:
    """Remembers what is changed, and counts what is done."""

    def __init__(self) -> None:
        """Nothing has been changed."""
        self.entered_in: set[tuple[str, str]] = set()
        """The functions that were gone through, by file and name."""
        self.made: list[Held] = []
        """What may refer to itself in a circle, and is to be released."""
        self.steps = 0
        self._work = 0
        self._trail: list[Change] = []

    def step(self) -> None:
        """Count what was done."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Exhausted

    def spend(self, units: int = 1) -> None:
        """Count what is done with values besides: there is an end to those that hold themselves."""
        self._work += units
        if self._work > _MAX_WORK:
            raise Exhausted

    def hold(self, made: H) -> H:
        """Remember what is to be released when the program has ended."""
        self.made.append(made)
        return made

    def put(self, table: dict[Any, Value], key: Hashable, value: Value) -> None:
        """Bind a name, attribute or item."""
        self._trail.append((table, key, table.get(key, _MISSING)))
        table[key] = value

    def alter(self, thing: Seq | Obj | Map, name: str, value: Any) -> None:
        """Change a sequence or object itself."""
        self._trail.append((thing, name, getattr(thing, name)))
        setattr(thing, name, value)

    def _now(self, table: Any, key: Any) -> Any:
        return table.get(key, _MISSING) if type(table) is dict else getattr(table, key)

    def _restore(self, table: Any, key: Any, value: Any) -> None:
        if type(table) is not dict:
            setattr(table, key, value)
        elif value is _MISSING:
            table.pop(key, None)
        else:
            table[key] = value

    def undo(self, mark: int) -> dict[tuple[int, Any], Change]:
        """Take back what was changed; what had been made of it, by whose it is."""
        self.spend(len(self._trail) - mark)
        done = {(id(table), key): (table, key, self._now(table, key)) for table, key, _ in self._trail[mark:]}
        while len(self._trail) > mark:
            table, key, old = self._trail.pop()
            self._restore(table, key, old)
        return done

    def redo(self, done: Iterable[Change], joined: bool) -> None:
        """Make changes that were taken back, or make that either may hold."""
        for table, key, value in done:
            now = self._now(table, key)
            self._trail.append((table, key, now))
            self._restore(table, key, self._joined(now, value) if joined else value)

    def merge(self, done: dict[tuple[int, Any], Change], after: dict[tuple[int, Any], Change]) -> None:
        """Make that either of two sets of changes, which were taken back, may hold."""
        self.spend(len(done) + len(after))
        for slot in done.keys() | after.keys():
            table, key, _ = done.get(slot) or after[slot]
            now = self._now(table, key)
            left = done[slot][2] if slot in done else now
            right = after[slot][2] if slot in after else now
            self._trail.append((table, key, now))
            self._restore(table, key, self._joined(left, right))

    def join(self, a: Value, b: Value) -> Value:
        """What is one value on one path and another on another."""
        self.spend()
        if a is b or (type(a) is type(b) and isinstance(a, tuple) and not isinstance(a, Partial) and a == b):
            return a
        if isinstance(a, Tensor) and isinstance(b, Tensor):
            same = a.place == b.place
            made = a.made if a.made == b.made else None
            registered, loose = a.registered and b.registered, a.loose or b.loose
            place = a.place if same else NOWHERE
            return Tensor(place, min(a.dims, b.dims), made if same else None, registered, loose=loose)
        if (
            isinstance(a, Const)
            and isinstance(b, Const)
            and type(a.value) is type(b.value)
            and a.value == b.value
        ):
            return Const(a.value)
        if isinstance(a, Device) and isinstance(b, Device) and a.place == b.place:
            return Device(a.place)
        if isinstance(a, (Number, Const)) and isinstance(b, (Number, Const)):
            return NUMBER if is_number(a) and is_number(b) else Unknown()
        if isinstance(a, Seq) and isinstance(b, Seq):
            return Seq((self.join(self.element(a), self.element(b)),), a.form, open=True)
        return Unknown()

    def element(self, seq: Seq) -> Value:
        """Any element of a sequence."""
        if not seq.items:
            return Unknown()
        found = seq.items[0]
        for each in seq.items[1:]:
            if not (isinstance(found, Obj) and isinstance(each, Obj) and self._are_alike(found, each)):
                found = self.join(found, each)
        return found

    def _are_alike(self, one: Obj, other: Obj) -> bool:
        """Whether one plain object of a class may stand for another: they have their tensors in one place."""
        self.spend(len(one.attrs))
        return (
            one.cls is other.cls is not None
            and not (one.lib or other.lib or one.unsettled or other.unsettled)
            and all(_place(value) == _place(other.attrs.get(name)) for name, value in one.attrs.items())
        )

    def sequence(self, items: tuple[Value, ...], form: str = "list", *, open: bool = False) -> Seq:
        """A sequence of what may be many."""
        self.spend(len(items))
        if len(items) > _MAX_ITEMS:
            return Seq((self.element(Seq(items)),), form, open=True)
        return Seq(items, form, open=open)

    def mapping(self, items: dict[Any, Value], rest: Value | None = None) -> Map:
        """A dictionary with the items of another."""
        self.spend(len(items))
        return Map(dict(items), rest)

    def _joined(self, a: Any, b: Any) -> Any:
        if a is b:
            return a
        if a is _MISSING or b is _MISSING:
            return b if a is _MISSING else a  # where it is used, it is bound
        if isinstance(a, frozenset) and isinstance(b, frozenset):
            return a | b  # the buffers of a module: where there is none, nothing has its name
        if type(a) is dict and type(b) is dict:  # the items of a dictionary that was emptied
            return {key: self._joined(a.get(key, _MISSING), b.get(key, _MISSING)) for key in (*a, *b)}
        if isinstance(a, bool) and isinstance(b, bool):
            return a or b
        if type(a) is tuple and type(b) is tuple:  # the items of a sequence
            return a if len(a) >= len(b) else b
        if isinstance(a, str) or isinstance(b, str) or a is None or b is None:
            return a if a == b else (a or b)
        return self.join(a, b)


def _place(value: Value | None) -> str | None:
    return value.place if isinstance(value, Tensor) else None
