"""What functions, classes and modules do to their callers: plain data in terms of what the caller passes.

A summary has no node, no line and no object of a run: it is the same in one file, in another, in another
process and from the cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from .events import Why
from .kinds import Kind
from .paths import Path
from .places import UNKNOWN_PLACE, Place
from .values import UNKNOWN, Origin, Value

Term = Value
"""A value in terms of what the caller passes: its objects are paths."""


Answers = str
"""What may be true of a value: `t` that it is true, `f` that it is false, `n` that it is None; empty where
nothing is known."""


class Parameter(NamedTuple):
    """A parameter of a function of the project."""

    name: str
    how: Literal["positional", "either", "keyword", "args", "kwargs"]
    default: bool
    """Whether it has one."""
    means: Answers = ""
    """What is true of the default, where that is a constant."""
    on_cpu: bool = False
    """Whether the default names the cpu."""
    accelerator: str = ""
    """The accelerator that the default names."""


class Moved(NamedTuple):
    """An object was moved in place."""

    path: Path
    place: Place
    replaces: bool
    """Whether its parameters are new objects afterwards."""


class Copied(NamedTuple):
    """A moved copy of an object was kept: what came with it is elsewhere unless it moves too."""

    path: Path
    place: Place


class Bound(NamedTuple):
    """An attribute or item of the caller's was assigned; the last step of the path names it."""

    path: Path
    value: Term
    lasts: bool = False
    """Whether no other method of its class assigns it."""


class Marked(NamedTuple):
    """An object went on in a protocol."""

    path: Path
    protocol: str
    phase: str
    holds: frozenset[Path]
    name: str
    at: tuple[str, int]
    stateless: bool


Effect = Moved | Copied | Bound | Marked


class Need(NamedTuple):
    """A meeting in which something of the caller's takes part: two places, and two objects where known."""

    left: Place
    right: Place
    one: Path | None
    other: Path | None
    origin: Origin | None = None
    """Of the one side that the function itself made on the cpu."""
    called: Literal["", "left", "right"] = ""
    """The side that is a module of which nobody knows the class."""
    indexes: bool = False
    """Whether the other side indexes what was made on the cpu: a number, or an entry of a tensor, may."""
    reads: bool = False
    """Whether the right side indexes the left one, which callers give: that alone may not be on the cpu."""
    tensors: tuple[bool, bool] = (False, False)
    """Of each side, whether the function itself shows that it is a tensor."""
    at: tuple[str, int] = ("", -1)
    """Where they meet: the function, and the node's number in it."""
    runs: Literal["", "left", "right"] = ""
    """The side that is a module, of whatever class, if it is run on the other."""


class Ask(NamedTuple):
    """A call of which only a caller knows what it calls: of what it gives, or of what a subclass defines."""

    of: Path
    """What is called, or whose method is."""
    method: str
    """Empty where it is called itself."""
    positional: tuple[Term, ...]
    keywords: tuple[tuple[str, Term], ...]
    result: Path
    at: tuple[str, int]
    """The call: the function, and the node's number in it."""


class Case(NamedTuple):
    """What a call does that passes what settles conditions of the function: `if use:`, and it passes True."""

    given: tuple[tuple[str, Answers], ...]
    """The parameters, and what is true of each."""
    returns: Term
    effects: tuple[Effect, ...]
    needs: tuple[Need, ...]
    requires: Why
    touches: bool


Binding = Literal["plain", "self", "class", "static", "property"]
"""What a call passes before its arguments: nothing, the object, the class."""


class FunctionSummary(NamedTuple):
    """What a call of a function does."""

    name: str
    """Its dotted name in the project."""
    binding: Binding
    parameters: tuple[Parameter, ...]
    returns: Term
    effects: tuple[Effect, ...]
    needs: tuple[Need, ...]
    evidence: tuple[tuple[Path, int], ...]
    """What its use of parameters, and of their parts, shows; the bits of `Evidence`."""
    requires: Why
    """What is certain about the machine once it has returned."""
    reaches: frozenset[str]
    """Topics of all that it calls."""
    hook: bool
    """Whether its body does nothing, so that a subclass is likely to replace it."""
    yields: bool
    chooses: frozenset[str] = frozenset()
    """Parameters that may name a device that is not there: the function goes on without it."""
    touches: bool = False
    """Whether CUDA is initialised once it has returned."""
    cases: tuple[Case, ...] = ()
    """What it does otherwise, or more surely, where the call settles some of its conditions."""
    asks: tuple[Ask, ...] = ()
    """In the order in which they are made: what is asked may be what another gave."""


class ClassSummary(NamedTuple):
    """What is known of a class and its instances."""

    name: str
    bases: tuple[str, ...]
    """Dotted names, of the project or of a library."""
    topics: frozenset[str]
    """`module`, `framework:lightning`, `dataset`, …, inherited ones included."""
    attributes: Mapping[str, Term]
    """What methods and the class body assign, in terms of `self`; inherited ones not."""
    methods: Mapping[str, str]
    """The dotted names of its own methods."""
    after_init: tuple[Effect, ...]
    requires: Why
    registered: frozenset[str] = frozenset()
    """The names under which it registers buffers and parameters; `*` for one that is not known."""
    reaches: frozenset[str] = frozenset()
    """Topics of all that its own methods call."""
    sized: frozenset[str] = frozenset()
    """The names of the buffers that have dimensions: what is 0-dim may stay on the cpu."""
    begins: frozenset[str] = frozenset()
    """The names of the methods that its constructor runs, which subclasses may define anew."""


class Passed(NamedTuple):
    """What a call passes for one parameter."""

    name: str
    kind: Kind
    place: Place = UNKNOWN_PLACE
    """What it speaks of has a name, and is no object."""
    own: str = ""
    """The parameter of the caller that it is, is a part of, or is beside: nobody knows more there."""
    means: Answers = ""
    """What is true of it, where it is a constant."""


class Calling(NamedTuple):
    """A call of a function of the project, with what it passes."""

    callee: str
    caller: str
    """The dotted name of the function in which it stands; empty for the statements of a module."""
    at: tuple[str, int]
    """The call, as the function by the name that other files have for it, and the node's number in it."""
    passed: tuple[Passed, ...] = ()
    open: bool = False
    """Whether `*args` or `**kwargs` may pass more."""
    test: bool = False
    """Whether it stands in what a test framework collects."""
    guarded: bool = False
    """Whether something speaks for an accelerator there."""
    needed: bool = False
    """Whether an accelerator was needed before, whatever the path."""
    needing: bool = False
    """Whether one is needed after what it loads, whatever the path."""
    conditional: bool = False
    """Whether a condition of its function decides if it is reached, whatever that asks."""
    anywhere: bool = False
    """Whether its function, or the module around it, shows that it runs where there is none, too."""
    default: bool = False
    """Whether another device than the cpu is the default there."""


class Loading(NamedTuple):
    """A loader whose workers, if it has any, run a function of the project."""

    function: str
    workers: str
    """How many it has: a number, or something else where that is chosen at run time; empty where not told."""
    bound: tuple[str, ...] | None = None
    """The parameters that `partial(…)` gives it by name, or none that an object was made with; else None."""


class ModuleSummary(NamedTuple):
    """What a file defines at its top level."""

    name: str
    values: Mapping[str, Term]
    functions: Mapping[str, FunctionSummary]
    """By dotted name, methods and nested functions included."""
    classes: Mapping[str, ClassSummary]
    requires: Why
    stars: tuple[str, ...] = ()
    """Modules of which it imports all names, as it calls them."""
    calls: tuple[Calling, ...] = ()
    """The calls of the project's functions: for what it calls, not for who imports it."""
    loaders: tuple[Loading, ...] = ()
    """What loaders run, in the same way."""


NOTHING = FunctionSummary("", "plain", (), UNKNOWN, (), (), (), Why(), frozenset(), False, False)
"""What is known of a function that has not been looked at."""


def within(module: str, name: str) -> str:
    """The dotted name of what a module defines; `..` and `..package` are relative."""
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"
