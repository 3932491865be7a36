"""What holds at one point of a program: variables, where objects are, what was done to them, and guards."""

from __future__ import annotations

from itertools import compress, islice
from operator import is_, is_not
from typing import NamedTuple, TypeVar

from .events import Why
from .paths import Ref, Step
from .places import UNKNOWN_PLACE, Form, Place, join_places
from .values import Either, Value, join

Key = str | tuple[Ref, Step]
"""A variable's name, or an object and the step to a part of it."""

NEVER = Why()
K = TypeVar("K")
V = TypeVar("V")


OPTIMIZER, WRAPPED = "optimizer", "wrapped"
"""The protocols."""


class Mark(NamedTuple):
    """How far an object has come in a protocol: an optimizer is fresh, then stepped, or loaded."""

    phase: str
    holds: frozenset[Ref]
    name: str
    """The class of the object."""
    at: tuple[str, int]
    """Where the protocol began: the function, and the node's number in it."""
    stateless: bool = False
    """Whether its steps leave nothing on a device."""
    since: tuple[str, int] | None = None
    """Likewise, where it came to this phase, if a call did that by itself."""

    @property
    def counts_as(self) -> str:
        """The phase, as far as it leaves anything on a device."""
        return "fresh" if self.stateless and self.phase in ("stepped", "loaded") else self.phase


class State:
    """What holds at one point; copied where control parts, joined where it meets."""

    __slots__ = (
        "alive",
        "born",
        "copies",
        "default",
        "env",
        "loads",
        "marks",
        "places",
        "touched",
        "why",
        "without",
    )

    def __init__(self) -> None:
        self.env: dict[Key, Value] = {}
        self.places: dict[Ref, Place] = {}
        """Where modules and other objects that move in place are."""
        self.marks: dict[tuple[str, Ref], Mark] = {}
        """By protocol and object."""
        self.why: Why = NEVER
        """What says that an accelerator is there."""
        self.born: frozenset[Ref] = frozenset()
        """The objects that were made on the way here."""
        self.alive = True
        """Whether control can reach this point."""
        self.default: Place | None = None
        """The default device, where one was set."""
        self.copies: frozenset[tuple[str, int]] = frozenset()
        """Moves to the cpu that may be under way, by their functions, and their nodes' numbers in them."""
        self.loads: frozenset[int] = frozenset()
        """The calls that load something, by their numbers, that nothing which needs an accelerator follows on
        some path."""
        self.touched: tuple[str, int] | None = None
        """Where CUDA was initialised, whatever the path: the function, and the node's number in it."""
        self.without = False
        """Whether no accelerator is in use: a condition asked for one, and this is where there is none."""

    def copy(self) -> State:
        """An independent state that starts from this one."""
        new = State.__new__(State)
        new.env = self.env.copy()
        new.places = self.places.copy()
        new.marks = self.marks.copy()
        new.why = self.why
        new.born = self.born
        new.alive = self.alive
        new.default = self.default
        new.touched = self.touched
        new.without = self.without
        new.copies = self.copies
        new.loads = self.loads
        return new

    def forget(self, ref: Ref) -> None:
        """A new object is made at a place in the program that made another one before, in a loop."""
        self.places.pop(ref, None)
        self.born |= {ref}
        for key in [key for key, mark in self.marks.items() if ref in mark.holds or key[1] == ref]:
            del self.marks[key]

    def same(self, other: State) -> bool:
        """Whether both states say the same, so that a loop has come to rest."""
        return self.env == other.env and self.places == other.places and self.marks == other.marks

    def certain(self, hint: str = "") -> None:
        """An accelerator is there from here on; with a hint, only a name says so."""
        if not hint:
            self.why = self.why._replace(certain=True, absent=False)
        elif hint not in self.why.hints:
            self.why = self.why._replace(hints=(*self.why.hints, hint), absent=False)

    def more(self, why: Why) -> None:
        """What a caller, a callee or a definition makes sure of holds from here on."""
        if why.certain:
            self.certain()
        for hint in why.hints:
            self.certain(hint)
        if why.needed:
            self.need()

    def need(self) -> None:
        """An accelerator was needed: whatever comes after this is reached only where one is there."""
        self.loads = frozenset()
        if not self.why.needed:
            self.why = self.why._replace(needed=True)


def both(a: Why, b: Why) -> Why:
    """What is known of the machine where two paths meet."""
    if a == b:
        return a
    needed = a.needed and b.needed
    if a.certain and b.certain:
        return Why(True, tuple(hint for hint in a.hints if hint in b.hints), needed=needed)
    if not (a.guarded and b.guarded):
        return Why(needed=True) if needed else NEVER
    hints = dict.fromkeys((*a.hints, *b.hints))
    return Why(False, tuple(hints) or ("branches",), needed=needed)


STEPPED, LOADED = "stepped", "loaded"
PHASES = ("fresh", "perhaps", "stateful", STEPPED, LOADED)
"""The phases of protocols, in order: where paths meet, the later one counts."""
BEFORE = {STEPPED: PHASES[:2], LOADED: PHASES[:4]}
"""By the phase that an optimizer comes to, those that it comes from."""


def later(a: Mark, b: Mark) -> bool:
    """Whether an object is further on in its protocol than another."""
    return PHASES.index(a.counts_as) > PHASES.index(b.counts_as)


def changed(a: dict[K, V], b: dict[K, V]) -> list[tuple[K, V]]:
    """The items of `b` that are not the very ones of `a`.

    Both are mostly copies of a third, with a few values changed and some more items at the end: then no
    Python is run for all the others.
    """
    if all(map(is_, a, b)):
        differ = map(is_not, a.values(), b.values())
        return [*compress(b.items(), differ), *islice(b.items(), len(a), None)]
    return [item for item in b.items() if a.get(item[0]) is not item[1]]


def _on_one_path(place: Place) -> Place:
    """Where an object is that was moved there on one path, and not on another."""
    if place.form is Form.CPU:
        return UNKNOWN_PLACE  # there is no device that it may be on instead
    return place if place.form is Form.UNKNOWN else Place(Form.EITHER, place.name)


def join_states(a: State, b: State, either: Either) -> State:
    """The state after two paths meet; neither argument is changed."""
    if not a.alive:
        return b
    if not b.alive:
        return a
    joined = a.copy()
    env = joined.env
    for key, value in changed(a.env, b.env):
        mine = env.get(key)
        env[key] = value if mine is None else join(mine, value, either)
    places = joined.places
    for ref, place in changed(a.places, b.places):
        before = a.places.get(ref)
        if before is not None:
            places[ref] = join_places(before, place)
        else:  # where only this path makes it, the other has no such object
            places[ref] = place if ref in b.born and ref not in a.born else _on_one_path(place)
    for ref, place in changed(b.places, a.places):
        if ref not in b.places and (ref not in a.born or ref in b.born):
            places[ref] = _on_one_path(place)
    joined.born = a.born | b.born
    for mark, theirs in b.marks.items():
        ours = joined.marks.get(mark)
        if ours is None or later(theirs, ours):
            joined.marks[mark] = theirs
    joined.why = both(a.why, b.why)
    joined.without = a.without and b.without
    joined.copies = a.copies & b.copies
    joined.loads = a.loads | b.loads
    if a.default != b.default:
        joined.default = UNKNOWN_PLACE
    if b.touched is None:
        joined.touched = None
    return joined
