"""What one run of a function records: raw events, evidence, and what its callers need to know."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from ..core.events import Becoming, Fate, Harmless, Meets, Named, Part, Role, Why
from ..core.kinds import Kind
from ..core.paths import Path, Ref
from ..core.places import CPU, Place
from ..core.state import Mark
from ..core.summary import Answers
from ..core.values import Origin, Value

NOBODY: Ref = -1
"""No object."""
NOWHERE: Mapping[ast.expr, Place] = MappingProxyType({})


class RawMove(NamedTuple):
    """A move or cast."""

    method: str
    receiver: Value
    place: Place
    """Where the receiver is."""
    target: Place | None
    named: Named
    casts: bool
    in_place: bool
    fate: Fate
    alone: bool
    """Whether the call is a statement of its own."""
    iterates: ast.expr | None
    why: Why
    loops: int
    likens: bool
    """Whether it goes where a tensor is, and takes its dtype as well."""
    leaf: bool
    """Whether it was made here for gradients to accumulate in."""
    vain: bool
    """Whether there is nothing left to change, or nothing but the effect was wanted."""
    parts: tuple[Ref, ...] = ()
    """Of an object whose class makes a moved copy of it: what that moves, if use shows tensors there."""
    given: ast.expr | None = None
    """What is moved, where it is given to a function that does no more than to return it moved."""


class RawMeeting(NamedTuple):
    """Two values come together."""

    how: Meets
    left: ast.expr
    here: Place
    one: Value
    right: ast.AST
    there: Place
    other: Value
    why: Why
    loops: int
    inside: bool = False
    """Whether what is called makes the one side, so that its own file shows the meeting as well."""
    within: tuple[str, int] | None = None
    """Where they meet, if that is in what is called: its function, and the node's number in it."""


class RawLiteral(NamedTuple):
    """A device literal reaches a place where a device goes."""

    role: Role
    why: Why
    loops: int


class Given(Protocol):
    """The arguments of a call, by the parameters that they bind."""

    starred: bool
    unpacked: list[tuple[ast.expr, Value]]

    def all(self) -> Iterator[tuple[ast.expr, Value]]:
        """Every argument that has a position or a name."""

    def named(self) -> Iterator[tuple[str, ast.expr, Value]]:
        """Every argument with the parameter that it binds."""

    def within(self) -> Iterator[tuple[str, ast.expr, Value]]:
        """What the displays among the arguments hold."""


class RawCall(NamedTuple):
    """A call that knowledge, or a name of a library, speaks of."""

    callee: str
    receiver: Value | None
    receiver_at: ast.expr | None
    args: Given
    fate: Fate
    why: Why
    loops: int
    places: Mapping[ast.expr, Place] = NOWHERE
    """Where the modules among its receiver and arguments are, by where they stand."""
    branches: int = 0
    """How many conditions of its function enclose it."""
    pending: bool = False
    """Whether it is given a copy from a device that nothing has waited for."""
    touched: tuple[str, int] | None = None
    """Where its function had initialised CUDA before."""
    saved: bool = False
    """Whether its function, or one that it called, had saved or trained anything before."""


class RawUse(NamedTuple):
    """A name of a library is read."""

    name: str
    why: Why
    loops: int


class RawBind(NamedTuple):
    """An attribute or item is assigned."""

    target: Part
    owner: Value
    name: str
    value: Value
    why: Why
    loops: int
    touched: tuple[str, int] | None = None
    """Where its function had initialised CUDA before."""
    untrained: bool = False
    """Whether the value was told to get no gradients."""
    names: tuple[str, ...] = ()
    """All names, where `setattr` assigns one after the other."""


class RawCompare(NamedTuple):
    """Two values are compared."""

    operator: str
    left: tuple[ast.expr, Value]
    right: tuple[ast.expr, Value]
    why: Why
    loops: int


class RawAsk(NamedTuple):
    """A call of which only a caller knows what it calls."""

    of: Ref
    method: str
    """Empty where the object is called itself."""
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    result: Ref
    placed: bool = False
    """Whether it is given an object of which it is known what that was made with."""
    within: tuple[str, int] | None = None
    """Where it stands, if that is in what is called: its function, and the node's number in it."""


class MaybeLoss(NamedTuple):
    """A call of something unknown, whose arguments must agree if its result turns out to be a loss."""

    result: Ref
    parties: tuple[tuple[ast.expr, Place, Value], ...]
    why: Why
    loops: int
    network: Ref = NOBODY
    """What is called, if that may be a module: one that is trained is no loss, and takes texts as well."""
    beside: tuple[Ref, ...] = ()
    """What else it is given: with a module among it, where things go is its own affair."""


class Feed(NamedTuple):
    """A value that a method passes to a module which the class moved."""

    module: Ref
    at: ast.expr
    value: Value
    device: Place
    place: Place
    moved: bool
    """Whether the method moved the value before."""


class Kept(NamedTuple):
    """A moved copy of an object was kept."""

    ref: Ref
    place: Place


class Holding(NamedTuple):
    """What an attribute of a module that is a container holds when a method ends."""

    what: Kind
    refs: frozenset[Ref]
    """The container, and all that is in it."""
    known: bool
    """Whether the module, or something that was given it, knows what it holds by another way."""
    moved: bool
    """Whether the method moves what it holds."""
    given: bool
    """Whether a caller made any of it."""
    weights: bool
    """Whether there is something to move or to train."""
    single: bool
    """Whether it holds one thing: a list of one is the way to hide a module on purpose."""
    nested: bool


class Site(NamedTuple):
    """A call of a function of this file, as the caller sees it."""

    callee: str
    arguments: dict[str, Value]
    places: dict[Ref, Place]
    marks: dict[tuple[str, Ref], Mark]
    why: Why
    touched: tuple[str, int] | None = None
    """Where the caller had initialised CUDA before."""
    at: ast.AST | None = None
    """The call."""
    open: bool = False
    """Whether `*args` or `**kwargs` may pass more."""
    entries: frozenset[str] = frozenset()
    """The parameters that are given what may be one entry of a tensor, which is 0-dim."""
    default: bool = False
    """Whether another device is the default there."""
    conditional: bool = False
    """Whether a condition of its function, of whatever kind, decides if it is reached."""


class Stale(NamedTuple):
    """A module is moved, and something that was built on it before is not."""

    ref: Ref
    """The module."""
    holder: Ref
    protocol: str
    mark: Mark
    method: str
    stepped: bool = False
    """Whether it was stepped since."""


class Log:
    """What was recorded; a run that is superseded goes with its whole log."""

    __slots__ = (
        "abroad",
        "added",
        "advanced",
        "alternatives",
        "answers",
        "asks",
        "attached",
        "binds",
        "born",
        "calls",
        "chosen",
        "compares",
        "current",
        "deciding",
        "derived",
        "doubted",
        "feeds",
        "filled",
        "flows",
        "follows",
        "follows_devices",
        "forms",
        "guesses",
        "handed",
        "harmless",
        "holdings",
        "hosted",
        "hosts",
        "joined",
        "kept",
        "lasting",
        "leaves",
        "left",
        "likely",
        "literals",
        "loading",
        "losses",
        "meetings",
        "missed",
        "mixed",
        "moved_at",
        "moves",
        "named",
        "notes",
        "owners",
        "passed",
        "probed",
        "reaches",
        "registered",
        "reveals",
        "runs",
        "sites",
        "sized",
        "stale",
        "stand_ins",
        "trained",
        "tried",
        "uses",
        "varies",
    )

    def __init__(self) -> None:
        self.moves: dict[ast.Call, RawMove] = {}
        self.added: dict[tuple[str, str], Value] = {}
        """By class and name, what is put into the containers that attributes are, as any one of them."""
        self.calls: dict[ast.Call, RawCall] = {}
        self.literals: dict[tuple[str, int], RawLiteral] = {}
        """By where the literal stands: a function, and the node's number in it."""
        self.born: dict[int, Why] = {}
        """What holds where a literal of this function stands."""
        self.meetings: dict[tuple[object, ...], RawMeeting] = {}
        self.hosted: dict[ast.expr, RawMeeting] = {}
        """What an operation wants on the cpu, and the tensor beside it that may be anywhere."""
        self.hosts: set[Ref] = set()
        """The objects whose device is the cpu when the function ends."""
        self.uses: dict[ast.expr, RawUse] = {}
        self.binds: dict[ast.AST, RawBind] = {}
        self.attached: dict[ast.Attribute | ast.Subscript, Place] = {}
        """Modules on the cpu that become parts of others, with the place to which those have been moved."""
        self.compares: dict[ast.Compare, RawCompare] = {}
        self.losses: list[MaybeLoss] = []
        self.feeds: list[Feed] = []
        self.kept: list[Kept] = []
        self.moved_at: dict[tuple[Ref, Place], ast.AST] = {}
        """The node that brought an object to a place."""
        self.left: dict[Path, ast.AST] = {}
        """The node that brought what a constructor leaves in `self` to where that is."""
        self.runs: dict[ast.AST, Ref] = {}
        """The module that a call runs."""
        self.trained: set[Ref] = set()
        """What is in the containers that optimizers are given."""
        self.handed: set[Ref] = set()
        """Modules, parameters and containers of those that were given to something that may keep them."""
        self.passed: set[Ref] = set()
        """Modules that were given to something of which nobody knows what it does to them."""
        self.current: list[ast.stmt] = []
        """Statements for which the program says which GPU is the current one."""
        self.probed: list[ast.stmt] = []
        """Statements that are expected to fail, or may."""
        self.holdings: dict[str, Holding] = {}
        """By attribute, what a method of a module leaves in containers of `self`."""
        self.leaves: dict[tuple[Origin, Becoming], None] = {}
        """Copies, by how they came to be, that are used as only the leaf itself can be."""
        self.sites: list[Site] = []
        self.abroad: list[Site] = []
        """Calls of functions of other files."""
        self.asks: dict[Ref, RawAsk] = {}
        """By what they give, calls of what a caller gives, or of methods that subclasses define."""
        self.advanced: dict[Ref, str] = {}
        """What callers gave, and came to a phase of an optimizer, if it is one."""
        self.stale: dict[ast.AST, tuple[Stale, ...]] = {}
        """By the node that moves a module which something holds."""
        self.notes: dict[Ref, int] = {}
        self.flows: list[tuple[Ref, Ref]] = []
        self.forms: dict[Ref, list[Ref]] = {}
        """By the results of calls, what was given: they may be that in another form."""
        self.guesses: dict[ast.AST, Ref] = {}
        """By the calls of what may be a module, of whatever class, what is called."""
        self.answers: dict[ast.AST, Place] = {}
        """Those that are given what was brought to a device."""
        self.tried: dict[Ref, RawMeeting] = {}
        """By what calls gave of which nobody knows what they do, what was made on the cpu and given to those,
        as if a module were called."""
        self.doubted: set[Ref] = set()
        """Loaders of what a caller gives: its dataset may yield what is on a device."""
        self.varies: set[Ref] = set()
        """Attributes that one method leaves on the cpu and another elsewhere: who knows which came last.

        And models that may be on several devices, as those bring what they are given to where it belongs."""
        self.likely: dict[Ref, Ref] = {}
        """By what a method gave that tensors have, of what is of unknown kind, that."""
        self.derived: dict[Ref, tuple[tuple[Ref, bool], ...]] = {}
        """By the results of operations, what they were computed from; whether that is a tensor for sure."""
        self.joined: dict[Ref, tuple[str, int]] = {}
        """By the results of operations, what made a tensor on the cpu that was joined there with others."""
        self.follows: dict[Ref, Place] = {}
        """Where the argument of an unknown callee was moved, by its result."""
        self.mixed: dict[tuple[str, int], tuple[Place, Value]] = {}
        """What came into one variable or container with what was made on the cpu, by what made it."""
        self.alternatives: dict[Ref, Value] = {}
        """The modules that came into one variable with others, as they were made."""
        self.stand_ins: dict[Ref, tuple[Value, ast.expr, Place, Value]] = {}
        """By the container, what was made on the cpu for all items, and what some are bound to later."""
        self.filled: dict[tuple[str, int], tuple[ast.expr, Place, Value]] = {}
        """By what made a tensor on the cpu, what was computed elsewhere and is stored in a part of it."""
        self.follows_devices = False
        """Whether the function places anything where something else is, or a variable says."""
        self.missed: dict[tuple[str, str], Value | None] = {}
        """Attributes of classes that were read, with what they were known to be."""
        self.owners: dict[ast.Call, Value] = {}
        """What the receiver of a discarded move is an attribute or item of."""
        self.loading: set[int] = set()
        """Calls that load something, or reach one that does, by their numbers."""
        self.lasting: frozenset[int] | None = None
        """Those of them that nothing which needs an accelerator follows on some path to the end; None where
        there is no end."""
        self.reaches: set[str] = set()
        self.registered: set[str] = set()
        """The names under which buffers and parameters of `self` are registered; `*` for one not known."""
        self.sized: set[str] = set()
        """The names of the buffers among them that have dimensions."""
        self.reveals: dict[int, tuple[Value, Place]] = {}
        self.named: dict[Ref, bool] = {}
        """What was named where a device goes, and whether an accelerator is certain wherever it was."""
        self.chosen: set[Ref] = set()
        """What was named as a device, and gives way to the cpu where no accelerator is there."""
        self.deciding: set[tuple[str, Answers]] = set()
        """Parameters that decide what is done where, with the answers that part the paths."""
        self.harmless: dict[ast.AST, Harmless] = {}
        """Device literals that place nothing by themselves."""

    def says_the_same(self, other: Log) -> bool:
        """Whether another run of the same syntax recorded the same."""
        if self.calls.keys() != other.calls.keys():
            return False
        if any(_plain(call) != _plain(other.calls[node]) for node, call in self.calls.items()):
            return False
        return all(getattr(self, name) == getattr(other, name) for name in {*self.__slots__} - {"calls"})

    def note(self, ref: Ref, evidence: int) -> None:
        """Record how an object was used."""
        self.notes[ref] = self.notes.get(ref, 0) | evidence

    def flow(self, source: Ref, to: Ref) -> None:
        """Record that an object may be another."""
        if source != to:
            self.flows.append((source, to))

    def remade(self, result: Ref, given: Iterable[Value]) -> None:
        """Record what a call of nobody knows what was given: its result may be that in another form."""
        # Of what was brought to the cpu, the result is there as well.
        refs = [value.who for value in given if type(value.who) is int and value.place != CPU]
        if refs:
            self.forms[result] = refs

    def merged(self, whole: Ref, given: Iterable[Value]) -> None:
        """Record what was put into an object, whatever that is: it is a part of it from then on."""
        refs = [value.who for value in given if type(value.who) is int and value.who != whole]
        if refs:
            self.forms.setdefault(whole, []).extend(refs)

    def needs_after(self, number: int) -> bool:
        """Whether an accelerator is needed after a call that loads something, whatever the path."""
        return number in self.loading and self.lasting is not None and number not in self.lasting

    def calls_itself(self, name: str) -> bool:
        """Whether the function is called in its own body."""
        return any(site.callee == name for site in self.sites)


def _plain(call: RawCall) -> tuple[object, ...]:
    """A call with its arguments as they compare."""
    args = call.args
    return (*call[:3], *call[4:], tuple(args.named()), tuple(args.unpacked), args.starred)
