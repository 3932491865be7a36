"""What happens in a file: seven kinds of event, recorded guards and all, finished when all evidence is in.

No rule's policy is in an event: a watch picks events, a rule judges them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Literal, NamedTuple

from ..span import Span
from .enums import plain
from .kinds import Kind
from .places import Place
from .values import Origin

Fate = Literal["kept", "discarded", "rebound", "displayed"]
"""What becomes of a call's result: kept; thrown away by a statement; bound to a name that nothing reads
before it is bound anew; shown by a notebook."""


class Why(NamedTuple):
    """What makes an accelerator certain where something happens, or only suggests it."""

    certain: bool = False
    hints: tuple[str, ...] = ()
    """Such as `function:run_gpu`, `import:triton`, `option:use_cuda`."""
    absent: bool = False
    """Whether it is the other side of such a condition: no accelerator is there, or none is wanted."""
    tensor: str = ""
    """The tensor of which a condition asked whether it is on CUDA, as the program calls it: it is."""
    needed: bool = False
    """Whether an accelerator was needed before, whatever the path: without one, that has failed by now."""

    @property
    def guarded(self) -> bool:
        """Whether anything at all speaks for an accelerator."""
        return self.certain or bool(self.hints)


class At(NamedTuple):
    """Where an event happens, and under what."""

    span: Span
    node: str
    """The LibCST class of the node at `span`: spans alone can be ambiguous."""
    function: str
    """The qualified name of the function, empty at the top of the module."""
    guard: Why
    loops: int
    """How many loops enclose it."""
    context: frozenset[str]
    """Where the code runs, by knowledge: `forward`, another `method` of a module, `test`, `dataset`,
    `collate_fn`, `worker`; `called` where calling an object that is no module runs it; `processes` where
    whatever calls it takes part in a collective of several, on the devices of their backend; `probe` where it
    is expected to fail; `demo` where a library's file only tries itself out; `pending` where a call is given
    a copy to the cpu that may be under way; `saved` where its function saved or trained before, or its class
    saves what is on the cpu alone; of what is loaded, `reread` where the file saves at the same path,
    `handed` where its function maps it to a parameter in another case, `needing` where its function needs an
    accelerator by its end, whatever the path."""


Explains = Literal["made", "moved", "put", "yielded", "built", "met"]
"""What happened at a place that explains an event; what a call of something else moves is put where it is."""


class Spot(NamedTuple):
    """A place in the program that explains an event: where a value was made, or moved."""

    how: Explains
    span: Span | None
    """None where it is in another file."""
    label: str
    """What was, as the program calls it; empty where it has no name there."""
    place: str = ""
    """The device, as the program calls it."""
    node: tuple[str, int] | None = None
    """In another file: the function, by its dotted name, and the node's number in it."""
    path: str = ""
    """The file that `span` is in, if that is another."""


class Seen(NamedTuple):
    """A value as rules see it: settled and plain."""

    kind: Kind
    place: Place
    who: int | None
    """The object, the same number for the same object in one file."""
    label: str
    """What the program calls it, or its source."""
    origin: Origin | None = None
    certain: bool = False
    """Whether its kind is: made by torch, annotated or tested, not only shown by use."""
    span: Span | None = None
    """Where it stands."""
    within: str = ""
    """What yields or holds it, as the program calls it: the loader of a batch's element."""
    made_here: bool = False
    """Whether the very expression that stands there makes it."""
    spots: tuple[Spot, ...] = ()
    """Where it was made, and where it was moved, as far as that is known: of the sides of a meeting, and of
    the receivers of calls."""
    leaf: bool = False
    """Whether it was made here for gradients to accumulate in: a Parameter, or `requires_grad=True`."""
    given: tuple[str, str] = ("", "")
    """The function and its parameter that it is, is part of, or is beside: where, its callers know."""
    whole: bool = False
    """Whether it is beside that parameter itself, or what iterating that yields, and not beside a part."""
    presumed: bool = False
    """Whether only a guess says that it is a tensor, or where it is: nothing that rests on it is an error."""
    answered: bool = False
    """Whether it is there only as a call gave it, of which nobody knows more than what that was given."""


class Given(NamedTuple):
    """What one call passes for a parameter."""

    kind: Kind
    place: Place
    """As the caller calls it; unknown where that passes on what nobody is known to give it."""
    spot: Spot
    """The call."""
    test: bool = False
    """Whether a test makes it: such values are small, and on the cpu."""


class Holder(NamedTuple):
    """Something that holds what is moved, by a protocol of `knowledge`."""

    protocol: str
    """`optimizer`, `wrapped`."""
    phase: str
    """`fresh`, `stateful` (`perhaps`, where it is one of several classes), `stepped`, `loaded`."""
    name: str
    """Its class."""
    line: object
    """Where it came to hold it: what a message calls the line."""
    spot: Spot | None = None
    """That place."""


class Left(NamedTuple):
    """What is moved after its optimizer was given a state, which stays behind."""

    label: str
    name: str
    """The class of the optimizer."""
    line: object
    """Where the module is moved: what a message calls the line."""
    spots: tuple[Spot, ...]
    """That place, and where the optimizer was built."""
    sure: bool
    """Whether it is the very move, and no call of a function that may move it on one path alone."""


class Touched(NamedTuple):
    """Where CUDA had been initialised before something happens, whatever the path to it."""

    span: Span
    function: str


class Call(NamedTuple):
    """A call of a function that knowledge names, or of a method of a known kind."""

    at: At
    callee: str
    """`torch.load`, or kind and method: `Tensor.numpy`, `Module.to`, `Optimizer.step`."""
    receiver: Seen | None
    given: Mapping[str, Seen]
    """Arguments by the parameter that they bind, positions resolved by the API's signature; of what starts a
    process also what is in displays, `args[0]`, as that is what the process is given."""
    open: bool
    """Whether `*args` or `**kwargs` may give more."""
    result: Fate
    topics: frozenset[str]
    """What knowledge says that the callee is about: `needs-cuda`, `asks-accelerator`."""
    becomes: frozenset[str] = frozenset()
    """What use shows of what it loads: the `state` of a module or optimizer, a `module`."""
    conditional: bool = False
    """Whether a condition of its function, of whatever kind, decides if it is reached."""
    touched: Touched | None = None
    """Where CUDA had been initialised before, if it had."""
    leaves: tuple[Left, ...] = ()
    """Of what loads the state of an optimizer: the modules that are moved later."""


class Use(NamedTuple):
    """A name of a library is read and not called."""

    at: At
    name: str
    topics: frozenset[str]
    decides: bool = False
    """Whether its own truth is asked for: by an `if`, an `assert`, a `not`, an `and`."""


Named = Literal["", "device", "index", "literal", "other"]
"""What a move's device is given as; empty where nothing is given, `other` where it is nothing that a move of
torch takes."""


Becoming = Literal["attribute", "optimized", "differentiated", "retained"]
"""What a moved copy of a tensor is taken for: an attribute of a module; what an optimizer updates; what
`.grad` is read of; what `retain_grad()` was called on, so that it has one all the same."""


class Move(NamedTuple):
    """`.to`, `.cuda`, `.cpu`, a cast: of a tensor a copy, of a module in place."""

    at: At
    method: str
    receiver: Seen
    target: Place | None
    """None where only the dtype changes."""
    named: Named
    casts: bool
    in_place: bool
    result: Fate
    iterates: str | None
    """What is iterated, when the receiver is an element that a loop yields and that nothing reads later."""
    holders: tuple[Holder, ...]
    replaces: bool
    """Whether it makes new parameters, as `to_empty` and FSDP do: who holds the old ones holds dead ones."""
    becomes: frozenset[Becoming] = frozenset()
    """What the copy, or a copy of it, is taken for later."""
    kept_as: str = ""
    """The attribute of a module that it becomes, as the program calls it."""
    helper: bool = False
    """Whether a function of the project, the `method`, returns a moved copy of what it is given."""


@plain
class Conflict(Enum):
    """Whether two places can come together."""

    NONE = "none"
    CERTAIN = "certain"
    """Apart on every accelerator, whatever the caller does."""
    PRESUMED = "presumed"
    """Apart, if something unknown is what it is taken for: a model that takes what it is given as it comes,
    and gives what is where it is, a loss, a loader."""
    BRANCHES = "branches"
    """Both are moved, under conditions that can differ."""
    CALLER = "caller"
    """Apart unless the caller moved one of them."""
    GIVEN = "given"
    """Apart where a caller has on a device what it gives; nothing else speaks for that."""
    PORTABLE = "portable"
    """Apart only where the value that may be anywhere is elsewhere."""


Meets = Literal[
    "operator",
    "index",
    "call",
    "beside",
    "result",
    "join",
    "container",
    "return",
    "size",
    "filled",
    "state",
    "attribute",
    "host",
    "array",
]
"""What two values come together in; `beside` where a model of unknown class is given both, `host` where the
left one has to be on the cpu, `array` where numpy reads it, `result` where it is what a module gave, `size`
where the left one is returned with the size of the right one, `filled` where that is in a part of it, `state`
where a module is given the weights of the right one, or what was loaded to where that is.
"""


class Meeting(NamedTuple):
    """Two values come together in an operation."""

    at: At
    how: Meets
    left: Seen
    """The side that is behind: on the cpu, or unmoved."""
    right: Seen
    conflict: Conflict
    sibling_moved: bool
    """Whether another part of what `left` came with was moved."""
    device: str = ""
    """An expression, good where `left` was made, that says where `right` is; empty where none is known."""
    copied: bool = False
    """Whether a copy of `left` itself was moved there."""


Part = Literal["attribute", "item"]
Harmless = Literal["compared", "chosen", "followed", "recorded", "dropped"]
"""Why a device literal places nothing by itself: it is compared, one of a choice, or only kept; `followed`
where a tensor decides that, `dropped` where it stands for a device that is given, and is dropped.
"""
Role = (
    Literal["argument", "default", "autocast", "left", "kept", "beyond", "lost", "forced", "usurps"]
    | Harmless
)
"""What the literal name of a device is for: `left` where a call leaves a parameter to that default, `kept`
where a module's constructor chooses it, and its methods bring things there, `beyond` where it is not the
first and a condition asks for any, `lost` where the next choice takes its place before it is used, `forced`
where that is no choice, `usurps` where it takes the place of what a caller gives, before that is read."""


Container = Literal["list", "dict", "other", ""]
"""What keeps it: a display or comprehension of a list or tuple, one of a dict, something else; or nothing."""


class Hidden(NamedTuple):
    """What a module has and does not know of: it is not moved with the module, trained or saved."""

    what: Kind
    """`module`, `parameter`, `tensor`."""
    form: Container
    given: bool
    """Whether a caller made it, who may have moved it."""
    replaceable: bool
    """Whether what torch.nn has for it could stand in its place, as far as its uses in the class show."""
    meets: str = ""
    """Of a tensor, the expression that it meets where the module runs."""
    sure: bool = True
    """Of a tensor, whether what it meets is certainly where the module is, and of one that was given, whether
    its use shows that it is one; of modules, that they are some."""
    placed: bool = False
    """Of a tensor, whether the constructor moved it to what was there."""
    called: bool = False
    """Of modules, whether only that they are called, and what made them, shows that they are some."""
    path: bool = False
    """Of a tensor, whether the constructor makes it on one path, and keeps what it is given on another."""
    beside: bool = False
    """Of a tensor, whether it is only given to something unknown together with what it might meet there."""
    cached: str = ""
    """Of a tensor that a method makes where `meets` is, the condition under which it makes it anew."""
    of_part: bool = False
    """Of a tensor, whether an object that a module keeps, and that is none itself, has it."""


class Bind(NamedTuple):
    """A value is assigned to an attribute or item."""

    at: At
    target: Part
    owner: Seen | None
    name: str
    value: Seen
    hidden: Hidden | None = None
    """What of it, in the end, the module that owns the attribute does not know of."""
    touched: Touched | None = None
    """Where CUDA had been initialised before, if it had."""


class Literal_(NamedTuple):
    """The literal name of a device reaches a place where a device goes."""

    at: At
    text: str
    role: Role


class Compare(NamedTuple):
    """Two values are compared."""

    at: At
    operator: str
    """As it is written: `==`, `is not`."""
    decides: Literal["", "move", "alternative"]
    """`move` where it is the condition of what does nothing but move; `alternative` where beside it the same
    is compared with something of another kind: it may be either."""
    left: Seen
    right: Seen


Event = Call | Use | Move | Meeting | Bind | Literal_ | Compare


def is_presumed(event: Event) -> bool:
    """Whether only a guess says that what is moved, read or wrapped is a tensor, or where it is.

    Of a meeting, `Conflict` says it.
    """
    if isinstance(event, Move):
        return event.receiver.presumed
    if isinstance(event, Call):
        sides = (event.receiver, *event.given.values())
        return any(side is not None and side.presumed for side in sides)
    return False


_BY_DEFAULT = ("factory", "attribute", "abroad")


def is_by_default(event: Event) -> bool:
    """Whether an event rests on a factory that is told no device, and makes its tensor on the default one."""
    made = event.left if isinstance(event, Meeting) else event.value if isinstance(event, Bind) else None
    return made is not None and made.origin is not None and made.origin.how in _BY_DEFAULT
