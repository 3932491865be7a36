"""All that a rule imports: what it declares, the events it is given, what it may ask, and what it yields.

devlint's own rules write `from ..rule import …`, third parties `from devlint.rule import …`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from .claim import MIXED_DEVICES, NO_ACCELERATOR, RUNS, Cause, Claim, Observes, Raises, Runs, everywhere
from .core.callers import (
    all_on_cpu,
    device_used,
    handed_over,
    is_away,
    on_cpu_beside,
    on_device,
    worker_counts,
)
from .core.events import (
    At,
    Bind,
    Call,
    Compare,
    Conflict,
    Event,
    Given,
    Hidden,
    Holder,
    Literal_,
    Meeting,
    Move,
    Seen,
    Spot,
    Use,
    Why,
)
from .core.kinds import TENSORS, Kind
from .core.places import Form, Place
from .core.summary import Calling, Loading
from .core.watches import (
    Test,
    Watch,
    becomes,
    bind,
    call,
    casts,
    comes_from,
    compare,
    conflict,
    elsewhere,
    gives,
    held_by,
    hides,
    how,
    in_loop,
    inside,
    iterated,
    lacks,
    left,
    literal,
    made_here,
    meeting,
    move,
    named,
    of_leaf,
    outside,
    owner,
    receiver,
    result,
    right,
    role,
    sibling_moved,
    unguarded,
    unless,
    use,
    value,
)
from .finding import Severity
from .span import Span
from .visit import cst
from .visit.cures import (
    Change,
    Imported,
    at_device,
    available_device,
    imported_first,
    imported_instead,
    keep_result,
    move_argument,
    move_to,
    moves_only,
    on_cpu,
    source_of,
    standing,
    type_as,
    without_legacy_type,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


T = TypeVar("T")


class Report(NamedTuple):
    """What a rule says about one node."""

    message: str
    """One lower-case sentence about this code, without a final period."""
    reason: str = ""
    """One line on why it matters."""
    severity: Severity | None = None
    """Where it differs from the rule's own."""
    change: Change | None = None
    because: tuple[tuple[Spot | Span | cst.CSTNode | None, str], ...] | None = None
    """Other places that explain it, each with what happens there: a `Spot` of the event (with no words, those
    for what it is), a span of the file, or a node of the visited tree; None is left out. Where nothing is
    given, of a meeting the spots of both sides, of a move those of the holders, of a call the receiver's."""


class Loop(NamedTuple):
    """A loop around something."""

    span: Span
    always: bool
    """Whether that happens in every round, as far as no `if` or handler in the loop is around it."""


class Ask(Protocol):
    """Questions about the file at hand. Nodes are those of the tree that `visit` is given a part of.

    The first question about values costs another run of the inference, for this file alone; its answers, and
    those to all later questions, are kept until the file is done.
    """

    target_torch: tuple[int, int] | None
    """The oldest torch that the code must run with, where the configuration says so."""

    def portable(self, name: str) -> tuple[str, str] | None:
        """What `torch.accelerator` has for a name of one kind of device, and since which release of torch.

        None where it has nothing alike, or the oldest torch that the code must run with lacks it.
        """

    def value_of(self, node: cst.CSTNode) -> Seen:
        """What is known of the value of an expression: its kind is `UNKNOWN` where it was never evaluated."""

    def device_at_hand(self, node: cst.CSTNode) -> str | None:
        """What names the device to use there: one chosen at run time, or where a tensor at hand is."""

    def device_given(self, node: cst.CSTNode) -> str | None:
        """What names a device that a caller or an option chooses: it may be any, of any index.

        None where the file says which device is current.
        """

    def asks_machine(self, node: cst.CSTNode) -> bool:
        """Whether the function around a node asks if CUDA is available."""

    def bound_to(self, name: str, node: cst.CSTNode) -> str | None:
        """The dotted name of the library's module or function that `name` means where `node` stands."""

    def binds(self, name: str) -> bool:
        """Whether anything in the file binds a variable of that name, in whatever scope."""

    def imports(self) -> tuple[Imported, ...]:
        """The names that statements at the top of the file import, each on a line of its own."""

    def assignment(self, node: cst.CSTNode) -> cst.Assign | cst.AnnAssign | None:
        """The statement that assigns to this very target, and to no other."""

    def is_statement(self, node: cst.CSTNode) -> bool:
        """Whether an expression is a statement of its own, so that an assignment can keep its result."""

    def is_operand(self, node: cst.CSTNode) -> bool:
        """Whether an expression is part of one that binds at least as tightly as a conditional expression."""

    def is_given_to(self, node: cst.CSTNode, *callees: str) -> bool:
        """Whether an expression is in a call of one of these: what that makes is the choice."""

    def in_default(self, node: cst.CSTNode) -> bool:
        """Whether an expression is, or is part of, the default of a parameter: no choice is made there."""

    def is_offered(self, node: cst.CSTNode) -> bool:
        """Whether an expression is, or is in, a device kept for others: nothing in the file reads it."""

    def default_is_used(self, node: cst.CSTNode) -> bool | None:
        """Whether a call leaves the parameter to the default that an expression is, or is part of.

        Of this file or another of the project, by the name of what is called. None where nothing calls it.
        """

    def is_argument(self, node: cst.CSTNode) -> bool:
        """Whether an expression is an argument of a call by itself."""

    def kept_safely(self, node: cst.CSTNode) -> bool | None:
        """Whether a result that a statement throws away could be kept without harm; None if not at all."""

    def loop_around(self, at: cst.CSTNode | Span) -> Loop | None:
        """The innermost loop around a node or place, of the same function."""

    def calls_between(self, start: Span, end: Span) -> frozenset[Span]:
        """The calls that begin after one place and are done before another, of whatever is called."""

    def subtracted_from(self, node: cst.CSTNode) -> Span | None:
        """The call whose result is subtracted from that of this call, itself or by a variable."""

    def callers(self, function: str) -> tuple[Calling, ...]:
        """The calls of a function, by its dotted name (`At.function`), in this and in other files."""

    def moves_attribute(self, name: str) -> bool:
        """Whether another file of the program moves what objects have as an attribute of that name."""

    def mentioned_beside(self, name: str) -> bool:
        """Whether another file of a program that runs this one has a name."""

    def saved_on_cpu(self, file: str) -> bool:
        """Whether other files of the project save what is called so, in programs without accelerators.

        Any name will do where no file of the project speaks of accelerators.
        """

    def in_each_process(self, node: cst.CSTNode) -> bool:
        """Whether a node is reached by processes that set devices of their own, by no number written there.

        A condition that may be about the rank of a process picks one of them.
        """

    @property
    def default_gpu(self) -> str:
        """What is alone in the programs that import the file: the default GPU.

        Among `gpus`, where they have nothing on another; among `devices`, where all of theirs is there as
        soon as there is CUDA. `current` where they say themselves which one is the default; else empty.
        """

    def imported_touch(self, at: At) -> Span | None:
        """The import of a module of the project by which CUDA is initialised before something runs."""

    def later(self, event: Event) -> bool:
        """Whether an accelerator is needed anyway: before on the same path, whoever calls the function, or
        all over a program that has no choice of a device anywhere. So it is where a file tries itself out.
        """

    def copies_given(self, node: cst.CSTNode) -> bool:
        """Whether a call makes a copy of what all callers give as a tensor: `torch.tensor(x)`."""

    def loaders(self, function: str) -> tuple[Loading, ...]:
        """The loaders, in the whole project, in whose workers a function of the file is known to run."""

    @property
    def default_device_here(self) -> str:
        """The accelerator that the file makes the default device, as it calls it; empty where none is."""

    @property
    def sets_default_device(self) -> bool:
        """Whether the file sets the default device, or what runs it does."""

    def on_default_device(self, function: str) -> bool:
        """Whether all calls of a function are made where another device than the cpu is the default."""

    def only_constructs(self, function: str) -> bool:
        """Whether constructors call a function, and nothing else does but tests."""

    def needed_before(self, function: str) -> bool:
        """Whether an accelerator was needed before each call of a function, those of tests apart.

        Not where nobody is known to call it.
        """

    def runs_anywhere(self, function: str) -> bool:
        """Whether a function is reached where there may be no accelerator, by calls that nothing guards.

        One of the functions that lead to it has to show that, and none may speak for an accelerator.
        """

    def needed_after(self, function: str) -> bool:
        """Whether an accelerator is needed after each call of a function that loads something.

        Not where nobody is known to call it, but for tests.
        """

    def given(self, seen: Seen) -> tuple[Given, ...]:
        """What each call passes for the parameter that a value is, is part of, or is beside (`Seen.given`).

        Nothing where it is no parameter's, or nobody is known to call the function.
        """

    def tells_given(self, call: cst.CSTNode) -> bool:
        """Whether a call is told a device that is a parameter, or an attribute that keeps one."""

    def left_on_cpu(self, call: cst.CSTNode) -> bool:
        """Whether what runs in workers leaves the device that a call is told to a default that is the cpu."""

    def devices_given(self, call: cst.CSTNode) -> tuple[Given, ...]:
        """What is given for those arguments of a call that are parameters, or attributes that keep one."""

    def left_out(self, seen: Seen) -> bool:
        """Whether a value is a parameter that no caller gives, and as which None is handed on then."""

    def devices_given_within(self, node: cst.CSTNode) -> tuple[Given, ...]:
        """What calls give for the device of the last move in a chain: `x.to(device).detach().numpy()`."""

    def given_together(self, one: Seen, other: Seen) -> tuple[tuple[Given, Given | None], ...]:
        """What each call passes for two parameters of one function (`Seen.given`), in the same call.

        None for the other where a call does not give it, or it is a parameter of another function.
        """

    def events(self, kind: str) -> tuple[Event, ...]:
        """All events of one type (`call`, `move`, …) in the file, in source order."""

    def once(self, work: Callable[[Ask], T]) -> T:
        """What a function says of the file, whichever node it is asked about: worked out one time."""

    def mentions_devices(self) -> bool:
        """Whether the file moves anything, or names a device."""

    def calls_of(self, name: str) -> bool:
        """Whether anything in the file calls what has this name, as events have it: `Tensor.backward`."""


E = TypeVar("E", bound=Event)


class Rule(Generic[E]):
    """A kind of bug, found by events of type `E`. One subclass a file, whose docstring is its page."""

    code: ClassVar[str]
    """One to three capitals and three digits."""
    name: ClassVar[str]
    """In kebab-case; it says what is bad."""
    severity: ClassVar[Severity] = Severity.ERROR
    preview: ClassVar[bool] = False
    """Whether it is not settled yet: it runs with `--preview` alone, and may change in any release."""
    cause: ClassVar[Cause | None] = None
    """For which cause `devlint run` reports the rule, where it sees a GPU stopped."""
    watches: ClassVar[tuple[Watch, ...]]
    """The events it is told of: those that match any of these."""

    def suspects(self, event: E) -> bool:
        """Whether an event could be a finding: what watches cannot say. Must not touch LibCST."""
        return True

    def visit(self, node: cst.CSTNode, event: E, ask: Ask) -> Iterator[Report]:
        """Look at the concrete syntax of a suspect and report what is wrong with it."""
        raise NotImplementedError


__all__ = [
    "MIXED_DEVICES",
    "NO_ACCELERATOR",
    "RUNS",
    "TENSORS",
    "Ask",
    "At",
    "Bind",
    "Call",
    "Calling",
    "Cause",
    "Change",
    "Claim",
    "Compare",
    "Conflict",
    "Event",
    "Form",
    "Given",
    "Hidden",
    "Holder",
    "Imported",
    "Kind",
    "Literal_",
    "Loading",
    "Loop",
    "Meeting",
    "Move",
    "Observes",
    "Place",
    "Raises",
    "Report",
    "Rule",
    "Runs",
    "Seen",
    "Severity",
    "Span",
    "Spot",
    "Test",
    "Use",
    "Watch",
    "Why",
    "all_on_cpu",
    "at_device",
    "available_device",
    "becomes",
    "bind",
    "call",
    "casts",
    "comes_from",
    "compare",
    "conflict",
    "cst",
    "device_used",
    "elsewhere",
    "everywhere",
    "gives",
    "handed_over",
    "held_by",
    "hides",
    "how",
    "imported_first",
    "imported_instead",
    "in_loop",
    "inside",
    "is_away",
    "iterated",
    "keep_result",
    "lacks",
    "left",
    "literal",
    "made_here",
    "meeting",
    "move",
    "move_argument",
    "move_to",
    "moves_only",
    "named",
    "of_leaf",
    "on_cpu",
    "on_cpu_beside",
    "on_device",
    "outside",
    "owner",
    "receiver",
    "result",
    "right",
    "role",
    "sibling_moved",
    "source_of",
    "standing",
    "type_as",
    "unguarded",
    "unless",
    "use",
    "value",
    "without_legacy_type",
    "worker_counts",
]
