"""What a rule watches for, as plain data: a type of event, its names, and tests from a closed list.

    call("torch.load", lacks("map_location"), unguarded())

Type checkers refuse a test that the event does not have. A name may end or begin in `*` (`torch.cuda.*`,
`*.cuda`), and `@topic` stands for all that knowledge says to be about something (`@needs-cuda`).
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

from .events import Bind, Call, Compare, Conflict, Event, Literal_, Meeting, Move, Use
from .kinds import Kind

E = TypeVar("E", bound=Event)
E_contra = TypeVar("E_contra", bound=Event, contravariant=True)


class _Test(NamedTuple):
    name: str
    wanted: tuple[str, ...] = ()
    negated: bool = False


class Test(_Test, Generic[E_contra]):
    """One question about an event: a name from the closed list, and the answers that are wanted."""

    __slots__ = ()
    __test__ = False  # no class of tests, to pytest


class Watch(NamedTuple):
    """What a rule wants to be told of; matched without importing the rule."""

    event: str
    """`call`, `use`, `move`, `meeting`, `bind`, `literal` or `compare`."""
    names: tuple[str, ...]
    """Any of these; none for all. Of a call the callee, of a move the method, of a literal its text."""
    tests: tuple[Test[Any], ...]
    """All of these hold."""


EVENTS: dict[str, type[Event]] = {
    "call": Call,
    "use": Use,
    "move": Move,
    "meeting": Meeting,
    "bind": Bind,
    "literal": Literal_,
    "compare": Compare,
}
"""The events by the names that watches call them."""


def _watch(event: str, items: tuple[str | Test[Any], ...]) -> Watch:
    names = tuple(item for item in items if isinstance(item, str))
    return Watch(event, names, tuple(item for item in items if isinstance(item, Test)))


def call(*items: str | Test[Call]) -> Watch:
    """Watch calls of what has one of these names."""
    return _watch("call", items)


def use(*items: str | Test[Use]) -> Watch:
    """Watch names of libraries that are read and not called."""
    return _watch("use", items)


def move(*items: str | Test[Move]) -> Watch:
    """Watch moves and casts by one of these methods."""
    return _watch("move", items)


def meeting(*items: Test[Meeting]) -> Watch:
    """Watch values that come together."""
    return _watch("meeting", items)


def bind(*items: str | Test[Bind]) -> Watch:
    """Watch what is assigned to attributes and items of one of these names."""
    return _watch("bind", items)


def literal(*items: str | Test[Literal_]) -> Watch:
    """Watch literal names of devices."""
    return _watch("literal", items)


def compare(*items: Test[Compare]) -> Watch:
    """Watch comparisons."""
    return _watch("compare", items)


# Tests of any event


def unless(test: Test[E]) -> Test[E]:
    """The opposite of a test."""
    return Test(test.name, test.wanted, not test.negated)


def unguarded() -> Test[Event]:
    """Nothing makes an accelerator certain there, and nothing suggests one."""
    return Test("guarded", (), negated=True)


def inside(*contexts: str) -> Test[Event]:
    """The code runs in one of these contexts."""
    return Test("context", contexts)


def outside(*contexts: str) -> Test[Event]:
    """The code runs in none of these contexts."""
    return Test("context", contexts, negated=True)


def in_loop() -> Test[Event]:
    """A loop is around it."""
    return Test("in_loop")


# Tests of calls and moves


def lacks(*parameters: str) -> Test[Call]:
    """None of these parameters is given, and no `*args` or `**kwargs` could give it."""
    return Test("lacks", parameters)


def gives(*parameters: str) -> Test[Call]:
    """One of these parameters is given."""
    return Test("gives", parameters)


def result(*fates: str) -> Test[Call | Move]:
    """What becomes of the result: `kept`, `discarded`, `rebound`, `displayed`."""
    return Test("result", fates)


def receiver(*kinds: Kind) -> Test[Call | Move]:
    """The object whose method it is has one of these kinds."""
    return Test("receiver", tuple(sorted(kind.value for kind in kinds)))


def casts() -> Test[Move]:
    """It changes the dtype alone."""
    return Test("casts")


def elsewhere() -> Test[Move]:
    """It names a device, and not the one where the object is known to be."""
    return Test("elsewhere")


def made_here() -> Test[Move]:
    """The object is made by the expression that is moved: `torch.empty(0).cuda()`."""
    return Test("made_here")


def iterated() -> Test[Move]:
    """The object is an element that a loop yields, and nothing reads it afterwards."""
    return Test("iterated")


def named(*forms: str) -> Test[Move]:
    """What the device is given as: ``, `device`, `index`, `literal`."""
    return Test("named", forms)


def of_leaf() -> Test[Move]:
    """What is moved was made here for gradients to accumulate in."""
    return Test("of_leaf")


def becomes(*whats: str) -> Test[Call | Move]:
    """What a moved copy is taken for: `attribute`, `optimized`, `differentiated`, `retained`.

    Of what a call loads: `state`, `module`.
    """
    return Test("becomes", whats)


def held_by(*protocols: str) -> Test[Move]:
    """Something holds what is moved: `optimizer`, `wrapped`."""
    return Test("held_by", protocols)


# Tests of the others


def conflict(*conflicts: Conflict) -> Test[Meeting]:
    """Whether, and how surely, the two are apart."""
    return Test("conflict", tuple(each.value for each in conflicts))


def comes_from(*hows: str) -> Test[Meeting]:
    """How the side that is behind came to be: `loader`, `factory`, …"""
    return Test("comes_from", hows)


def how(*ways: str) -> Test[Meeting]:
    """What they come together in: `operator`, `call`, …"""
    return Test("how", ways)


def sibling_moved() -> Test[Meeting]:
    """Another part of what the side that is behind came with was moved."""
    return Test("sibling_moved")


def role(*roles: str) -> Test[Literal_]:
    """Where the literal goes: `argument`, `default`, `autocast`, `compared`, `chosen`, `recorded`."""
    return Test("role", roles)


def left(*kinds: Kind) -> Test[Compare | Meeting]:
    """The kind of the left side."""
    return Test("left", tuple(kind.value for kind in kinds))


def right(*kinds: Kind) -> Test[Compare | Meeting]:
    """The kind of the right side."""
    return Test("right", tuple(kind.value for kind in kinds))


def hides(*kinds: Kind) -> Test[Bind]:
    """The attribute is a module's, which does not know of what it has there: of one of these kinds."""
    return Test("hides", tuple(kind.value for kind in kinds))


def owner(*kinds: Kind) -> Test[Bind]:
    """The kind of the object that is assigned to."""
    return Test("owner", tuple(kind.value for kind in kinds))


def value(*kinds: Kind) -> Test[Bind]:
    """The kind of what is assigned."""
    return Test("value", tuple(kind.value for kind in kinds))
