"""What the meaning of a call, a condition or an annotation may see and do of the evaluator."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from .. import knowledge
from ..core.evidence import NO_NUMBER, Evidence
from ..core.kinds import MAY_HOLD_TENSORS, TENSORS, Kind
from ..core.objects import Objects
from ..core.paths import OF_OPERATION, Attr, Element, Item, Ref, Root, Step, Who
from ..core.places import CPU, UNKNOWN_PLACE, Branch, Form, Place, join_places, literal, weight
from ..core.state import BEFORE, LOADED, OPTIMIZER, PHASES, STEPPED, Key, State, later
from ..core.values import (
    BROUGHT,
    CLONED,
    GRAPH,
    MAPPINGS,
    NUMBER,
    UNKNOWN,
    Api,
    Defined,
    How,
    Known,
    Origin,
    Truth,
    Value,
    Words,
    constant,
    derived,
    element_of,
    is_made,
    join,
)
from ..knowledge.row import Row
from .definitions import Function
from .log import Kept, Log, RawLiteral, RawMeeting, Stale
from .several import alternatives

if TYPE_CHECKING:
    from ..core.events import Becoming, Fate, Harmless, Meets, Role
    from ..core.summary import Answers, FunctionSummary, Term


class ClassView(Protocol):
    """What is known of a class of the project, of this file or another."""

    name: str

    @property
    def topics(self) -> frozenset[str]:
        """What knowledge says of the library classes that it derives from."""

    @property
    def is_module(self) -> bool:
        """Whether it is an `nn.Module`."""

    @property
    def is_guessed(self) -> bool:
        """Whether nothing but its own code shows that it is a module: nobody knows what it derives from."""

    @property
    def framework(self) -> bool:
        """Whether a framework moves what this class is given."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The names that its body annotates, in their order, if it is of this file and derives from nothing
        that annotates more."""

    def attribute(self, name: str) -> Term | None:
        """What is assigned to an attribute, here or in a base class, in terms of `self`."""

    def is_variable(self, name: str) -> bool:
        """Whether an attribute is a variable of the class, which no method assigns."""

    def varies(self, name: str) -> bool:
        """Whether several methods assign an attribute, here and in base classes."""

    def moves_part(self, name: str) -> bool:
        """Whether a method that is no constructor moves what an attribute holds."""

    def attributes(self) -> Iterator[Term]:
        """All that is assigned to attributes, here and in base classes."""

    def nearest(self) -> Mapping[str, Term]:
        """By attribute, what is assigned to it in the nearest class that does so."""

    def is_sized(self, name: str | None) -> bool:
        """Whether a buffer has dimensions, or all do that it may be, here or in a base class."""

    def has_buffers(self) -> bool:
        """Whether it registers tensors with dimensions, and moves nothing where it uses them."""

    def is_weightless(self) -> bool:
        """Whether it is a module without weights: a move has nothing to bring anywhere."""

    def method(self, name: str) -> str | None:
        """The dotted name of a method, here or in a base class of the project."""

    def inherited(self, name: str) -> str | None:
        """The dotted name of a method of a base class of the project."""

    def library_base(self) -> str | None:
        """The first library class that it derives from."""

    def moves(self) -> bool:
        """Whether its own code names a device or moves anything."""

    def moved_by_constructor(self) -> bool:
        """Whether its constructor moves anything that it leaves behind."""


class Program(Protocol):
    """What a run may ask of the file, and of the project around it."""

    name: str
    """The dotted name of the module."""

    def summary(self, dotted: str) -> FunctionSummary | None:
        """What a function of the project does."""

    def implemented(self, name: str) -> str:
        """The method that runs where one is left to derived classes; itself where nobody knows."""

    def function(self, dotted: str) -> Function | None:
        """A function of this very file."""

    def view(self, dotted: str) -> ClassView | None:
        """A class of the project."""

    def resolve(self, dotted: str) -> Value | None:
        """What the project defines under a dotted name, if it does."""

    def define(
        self,
        machine: Machine,
        node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef,
        owner: str | None = None,
    ) -> Function:
        """The function that a definition makes; a method of `owner` in the body of that class."""

    def import_for_types(self, name: str, typing: bool) -> None:
        """The module imports a name, for type checkers alone or not."""

    def define_class(self, machine: Machine, node: ast.ClassDef) -> str:
        """The class that a definition makes; runs its body."""

    def variables(self) -> Mapping[Key, Value]:
        """All variables of the module."""

    def set_top(self, machine: Machine, name: str, value: Value) -> None:
        """A function assigns a variable of the module."""

    def top(self, name: str) -> Value | None:
        """A variable of the module."""

    def is_set_later(self, name: str) -> bool:
        """Whether a function assigns a variable of the module."""

    def import_all(self, module: str) -> None:
        """`from module import *`."""

    def mark_module(self, value: Value) -> None:
        """`pytestmark`: what skips all tests of the module."""

    def alias(self, name: str) -> ast.Subscript | None:
        """The type that a name of the module stands for: `Batch = dict[str, torch.Tensor]`."""

    def defines_method(self, name: str) -> bool:
        """Whether a class of this file has a method of that name."""

    def is_moved_from_outside(self, name: str) -> bool:
        """Whether what objects have as an attribute is moved where it is no attribute of `self`."""

    def needs_accelerator(self, hint: str, function: str | None = None) -> None:
        """The whole module runs on an accelerator alone, or one of its functions."""

    def names_cpu(self) -> bool:
        """Whether the file names the cpu."""


class Arguments:
    """The evaluated arguments of a call."""

    __slots__ = ("keywords", "names", "positional", "starred", "unpacked")

    def __init__(self, machine: Machine, node: ast.Call) -> None:
        self.names: tuple[str, ...] = ()
        """The parameters that positions bind, once it is known what is called."""
        self.positional: list[tuple[ast.expr, Value]] = []
        self.keywords: dict[str, tuple[ast.expr, Value]] = {}
        self.unpacked: list[tuple[ast.expr, Value]] = []
        self.starred = False
        for arg in node.args:
            self.starred |= isinstance(arg, ast.Starred)
            self.positional.append((arg, machine.eval(arg)))
        for keyword in node.keywords:
            value = machine.eval(keyword.value)
            if keyword.arg is None:
                self.unpacked.append((keyword.value, value))
                if value.kind is Kind.UNKNOWN:
                    machine.note(value, Evidence.OTHER)
            else:
                self.keywords[keyword.arg] = (keyword.value, value)

    def after(self, at: ast.expr, given: Sequence[Value], names: Sequence[str]) -> Arguments:
        """These arguments after others, of which the last have `names`, and all stand in what is called."""
        new = Arguments.__new__(Arguments)
        new.names, new.unpacked, new.starred = (), self.unpacked, self.starred
        first = len(given) - len(names)
        new.positional = [*((at, value) for value in given[:first]), *self.positional]
        named = {name: (at, value) for name, value in zip(names, given[first:], strict=True)}
        new.keywords = named | self.keywords
        return new

    def rest(self, own: Iterable[str]) -> Arguments:
        """These arguments without the first, and without those of some names."""
        new = Arguments.__new__(Arguments)
        new.names, new.unpacked, new.starred = (), self.unpacked, self.starred
        new.positional = self.positional[1:]
        new.keywords = {name: each for name, each in self.keywords.items() if name not in own}
        return new

    def get(self, name: str) -> Value | None:
        """What is given for a parameter."""
        found = self.at(name)
        return found[1] if found is not None else None

    def at(self, name: str) -> tuple[ast.expr, Value] | None:
        """What is given for a parameter, and where it stands."""
        if name in self.keywords:
            return self.keywords[name]
        if name in self.names:
            index = self.names.index(name)
            if index < len(self.positional):
                return self.positional[index]
        return None

    def first(self) -> Value | None:
        """What is given first."""
        return self.positional[0][1] if self.positional else None

    def all(self) -> Iterator[tuple[ast.expr, Value]]:
        """Every argument that has a position or a name."""
        yield from self.positional
        yield from self.keywords.values()

    def named(self) -> Iterator[tuple[str, ast.expr, Value]]:
        """Every argument with the parameter that it binds; its position where that has no name."""
        for index, (at, value) in enumerate(self.positional):
            if isinstance(at, ast.Starred):
                break  # nobody knows what it, and what follows, binds
            yield (self.names[index] if index < len(self.names) else str(index)), at, value
        for name, (at, value) in self.keywords.items():
            yield name, at, value

    def within(self) -> Iterator[tuple[str, ast.expr, Value]]:
        """What the displays among the arguments hold, called `args[0]` as in `args=(model, device)`."""
        for name, at, value in self.named():
            if isinstance(at, ast.Tuple | ast.List) and value.items and len(value.items) == len(at.elts):
                for index, (part, item) in enumerate(zip(at.elts, value.items, strict=True)):
                    yield f"{name}[{index}]", part, item


class Site(NamedTuple):
    """A call of something that knowledge has a row for."""

    node: ast.Call
    api: str
    """The dotted name, or kind and method."""
    row: Row
    receiver: Value | None
    receiver_at: ast.expr | None
    args: Arguments

    @property
    def name(self) -> str:
        """The last part of the API's name."""
        return self.api.rpartition(".")[2]


class Machine:
    """The state of one run of a function, with the verbs that the meaning of calls is written in."""

    def __init__(self, program: Program, objects: Objects, here: Function, state: State) -> None:
        self.program = program
        self.objects = objects
        self.here = here
        self.state = state
        self.log = Log()
        self.probing = 0
        """How many contexts enclose the statement at hand that expect it to fail."""
        self.tests: dict[Branch, ast.expr] = {}
        """The conditions of this function's own branches in which something is moved."""
        self.parted: dict[str, set[str]] = {}
        """By the condition, the variables that are elsewhere only if it comes out in one way."""
        self.branches = 0
        """How many conditions of the function enclose the expression at hand, `__name__` not counted."""
        self.loops = 0
        """How many loops enclose the statement at hand."""
        self.asking = 0
        """How many calls enclose the one at hand that a callee asks of what it is given."""
        self.fates: dict[ast.expr, tuple[Fate, bool]] = {}
        """What becomes of calls' results, where they are not kept; and whether the call is a statement."""
        self.assigned: set[tuple[str, str]] = set()
        """Attributes of classes that this function assigns through `self`."""
        self._updating: set[ast.expr] = set()
        """What of them is only changed, and was there before."""
        self.loaded_from: dict[Ref, Ref] = {}
        """The datasets of the loaders that are made here."""
        self.aliases: dict[Ref, Ref] = {}
        """The objects that callers pass, by those of the parameters."""
        self.parameters: dict[int, tuple[str, Value]] = {}
        """By identity, the values that parameters begin with, each with the name of its parameter."""
        self.entries: frozenset[str] = frozenset()
        """Parameters that may be given one entry of a tensor."""
        self.settled: Mapping[str, Answers] = {}
        """What is true of some of them in this run."""

    def release(self) -> None:
        """Let go of what was recorded, and of the syntax tree in it."""
        self.state, self.log = State(), Log()
        self.fates.clear()

    def eval(self, node: ast.expr) -> Value:
        """The value of an expression."""
        raise NotImplementedError

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a target."""
        raise NotImplementedError

    def rebind(self, target: ast.expr, value: Value) -> None:
        """Give a variable or attribute its changed value, without it counting as an assignment."""
        if isinstance(target, ast.Name):
            self.state.env[target.id] = value
        elif isinstance(target, ast.Attribute):
            base = self.ref(self.eval(target.value))
            if base is not None:
                self.state.env[base, Attr(target.attr)] = value
        elif isinstance(target, ast.Subscript):
            whole = self.eval(target.value)
            if whole.kind is Kind.CONTAINER and type(whole.who) is int:
                self.state.env[whole.who, subscript_step(target.slice)] = value

    def put(self, target: ast.expr, base: Value, value: Value) -> None:
        """A container holds one more: where it is an attribute, any method may find it there."""
        if not isinstance(target, ast.Attribute) or not _may_be_tensors(value):
            return
        owner = self.eval(target.value)
        if owner.kind is Kind.INSTANCE and isinstance(owner.known, Defined):
            key = owner.known.dotted, target.attr
            if self._updates(element_of(base, self.either), value):
                self._updating.add(target)  # in later rounds of a loop that is what was there before
            elif target not in self._updating:
                known = self.log.added.get(key)
                self.log.added[key] = value if known is None else self.join(known, value)

    def _updates(self, old: Value | None, value: Value) -> bool:
        """Whether a value is computed of what was there before, where that has met what is elsewhere.

        `average[name] = decay * average[name] + weight` puts nothing on a device that was not there.
        """
        if old is None or type(value.who) is not int:
            return False
        todo, chain = [value.who], dict[Ref, None]()
        while todo and len(chain) < _MAX_CHAIN:
            ref = todo.pop()
            if ref not in chain:
                chain[ref] = None
                todo += (each for each, _ in self.log.derived.get(ref, ()) if type(each) is int)
        place = self.where(old)
        return old.who in chain and any(
            (raw.one.who in chain and raw.here == place) or (raw.other.who in chain and raw.there == place)
            for raw in self.log.meetings.values()
        )

    def attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        """The value of an attribute of a value."""
        raise NotImplementedError

    def enter(self, context: Value, node: ast.expr) -> None:
        """What is made from here on is made within a context."""
        raise NotImplementedError

    def index(self, at: ast.expr, base: Value, where: ast.expr, index: Value) -> None:
        """A tensor is indexed with what has to be where it is, or on the cpu."""
        raise NotImplementedError

    def is_entry(self, part: ast.expr) -> bool:
        """Whether an index may be one entry of a tensor, which is 0-dim and counts as a number."""
        raise NotImplementedError

    def attribute_evidence(self, value: Value, name: str) -> None:
        """Learn from an attribute's name what an object is."""
        if name in knowledge.TENSOR_ONLY:
            # That a method is read and not called says nothing: a part of a module may be called so.
            if name in knowledge.TENSOR_VIEWS:
                self.note(value, Evidence.TENSOR)
        elif name in knowledge.MODULE_ONLY:
            self.note(value, Evidence.MODULE)
        elif name in knowledge.LOADER_ATTRIBUTES:
            self.note(value, Evidence.LOADER | Evidence.OTHER)
        elif name not in knowledge.TENSOR_TOO:
            self.note(value, Evidence.OTHER)

    def renews(self, value: Value, name: str) -> None:
        """What reads the state of what it is given, or loads another, may move it."""
        ref = self.ref(value)
        if ref is not None and (
            self.objects.is_parameter(ref) or self.objects.functions[ref] != self.here.name
        ):
            mended = Evidence.MENDED if name == knowledge.OPTIMIZER_STATE else 0
            self.log.note(ref, Evidence.RENEWED | mended)

    def iterated(self, receiver: ast.expr, statement: ast.expr) -> ast.expr | None:
        """What is iterated, when an expression is a loop variable that nothing reads after the statement."""
        raise NotImplementedError

    def is_discarded(self, node: ast.expr) -> bool:
        """Whether nothing keeps what a call gives: it is made for what it does alone."""
        return self.fates.get(node, ("kept", False))[0] == "discarded"

    # What a second run, with discarded moves kept, does otherwise

    def keep(self, node: ast.Call, base: Value, place: Place | None) -> Value | None:
        """The result of a discarded move, where it is kept all the same."""
        return None

    def store_opened(self, node: ast.expr) -> None:
        """Something is put into the mapping of an object's attributes, if it is that."""

    def spill(self, values: Iterable[Value], from_device: bool = False) -> None:
        """Values go where nobody knows what is done with them, or where nothing of a device may go."""

    def touch(self, node: ast.AST) -> None:
        """CUDA is initialised here, if it was not before."""
        if self.state.touched is None:
            self.state.touched = self.here.name, self.here.number(node)

    # Objects

    def ref(self, value: Value) -> Ref | None:
        """The object that a value is, in this run."""
        who = value.who
        assert who is None or type(who) is int
        return who

    def of(self, place: Place) -> Ref | None:
        """The object that a place speaks of, in this run."""
        assert place.of is None or type(place.of) is int
        return place.of

    def made(
        self,
        node: ast.AST,
        kind: Kind,
        place: Place = UNKNOWN_PLACE,
        how: How = "made",
        api: str = "",
        role: str = "",
        known: Known | None = None,
    ) -> Value:
        """A value of its own, the same each time the node is evaluated."""
        at = self.here.number(node)
        origin = Origin(how, self.here.name, at, api)
        return Value(kind, place, self.objects.made(self.here.name, at, role), known, origin=origin)

    def making(self, value: Value) -> ast.Call | None:
        """The call that made a value, where that is in this function."""
        origin = value.origin
        if origin is None or origin.function != self.here.name or not 0 <= origin.at < len(self.here.nodes):
            return None
        node = self.here.nodes[origin.at]
        return node if isinstance(node, ast.Call) else None

    def own(self, node: ast.AST, kind: Kind, place: Place = UNKNOWN_PLACE, role: str = "") -> Value:
        """A value of its own without a history worth telling."""
        return Value(kind, place, self.objects.made(self.here.name, self.here.number(node), role))

    def unknown(self, node: ast.AST, role: str = "") -> Value:
        """An unknown value with an identity of its own."""
        return Value(who=self.objects.made(self.here.name, self.here.number(node), role))

    def note(self, value: Value, evidence: int) -> None:
        """Record what use shows of a value."""
        if type(value.who) is int:
            self.log.note(value.who, evidence)

    def forget_attributes(self, ref: Ref) -> None:
        """Attributes were assigned by names that are not told: what held tensors may hold others by now."""
        self.log.note(ref, Evidence.FILLED)
        self.unset_attributes(ref)

    def unset_attributes(self, ref: Ref) -> None:
        """Nobody knows any more what an object has that holds tensors."""
        for key, value in self.state.env.items():
            own = type(key) is tuple and key[0] == ref and isinstance(key[1], Attr)
            if own and value.kind in MAY_HOLD_TENSORS:
                self.state.env[key] = UNKNOWN

    def note_unknown(self, values: Iterable[Value], evidence: int) -> None:
        """Record what use shows of those values of which nothing else is known."""
        for value in values:
            if value.kind is Kind.UNKNOWN:
                self.note(value, evidence)

    def note_tensor(self, value: Value) -> None:
        """Record that a value goes where only tensors go: an unknown one, or part of what a module gave."""
        given = value.kind is Kind.BATCH and value.place.form is Form.AT
        if value.kind is Kind.UNKNOWN or given:
            self.note(value, Evidence.TENSOR)

    def seen(self, value: Value) -> int:
        """What this run has seen of a value so far."""
        return self.log.notes.get(value.who, 0) if type(value.who) is int else 0

    def join(self, a: Value, b: Value) -> Value:
        """The value of what is `a` on one path and `b` on another."""
        return join(a, b, self.either)

    def either(self, a: Value, b: Value) -> Ref | None:
        """The object that is that of one value or of another; what is known of either counts for it."""
        if a.kind is not b.kind:
            for value in (a, b):
                if value.kind in TENSORS:
                    self.note(value, Evidence.TENSOR)
        for value, other in ((a, b), (b, a)):
            if value.origin is None or not is_made(value):
                continue
            key = value.origin.function, value.origin.at
            if not is_made(other):
                place, on_cpu = self.where(other), value.place.form is Form.CPU or key in self.log.mixed
                of_tensors = other.kind in TENSORS or other.kind is Kind.BATCH
                if on_cpu and of_tensors and place.form not in _NOWHERE:
                    self.log.mixed[key] = (place, other)
            elif other.origin is not None and other.place.form is not Form.CPU:
                known = self.log.mixed.get((other.origin.function, other.origin.at))
                if known is not None:  # what is made in several branches stands in for one and the same
                    self.log.mixed.setdefault(key, known)
        ours, theirs = self.ref(a), self.ref(b)
        if a.kind is b.kind is Kind.MODULE and ours is not None and theirs is not None and ours != theirs:
            self.log.alternatives.update({ours: a, theirs: b})
        return self.objects.either(ours, theirs)

    def joined(self, values: Iterable[Value]) -> Value | None:
        """The value that is any one of several."""
        found: Value | None = None
        for value in values:
            found = value if found is None else self.join(found, value)
        return found

    # Parts

    def part(self, value: Value, step: Step) -> Value:
        """An element, item or attribute of a value whose structure is unknown."""
        ref = self.ref(value)
        if ref is None:
            return value if value.kind is Kind.BATCH else UNKNOWN
        stored = self.state.env.get((ref, step))
        if stored is not None:
            return stored
        part = self.objects.share(self.objects.part(ref, step), value.kind is Kind.BATCH)
        place = value.place
        if place.of == ref:
            place = place._replace(of=part)
        if value.kind is Kind.BATCH:
            return Value(Kind.BATCH, place, part)
        origin = value.origin if value.origin is not None and value.origin.how == "moved" else None
        # What one has as an attribute may be anything; an entry is where the whole is.
        return Value(Kind.UNKNOWN, place, part, origin=None if isinstance(step, Attr) else origin)

    def keeps_moved(self, whole: Ref) -> bool:
        """Whether an object, or a part of it, was given what may be on a device to keep."""
        return any(
            type(key[0]) is int and self.objects.is_part(key[0], whole) and is_elsewhere(value)
            for key, value in self.state.env.items()
            if isinstance(key, tuple)
        )

    def element(self, value: Value, node: ast.AST) -> Value:
        """What iterating over a value yields."""
        ref = self.ref(value)
        if value.kind is Kind.LOADER and ref is not None and value.element is not None:
            element = value.element
            if element.kind is not Kind.BATCH:
                return element
            part = self.objects.part(ref, Element(self.here.number(node), self.here.name))
            of = part if element.place.of is not None else None
            place = element.place._replace(of=of)
            if ref in self.loaded_from and self.keeps_moved(self.loaded_from[ref]):
                self.log.note(ref, Evidence.PLACED)  # it was moved since the loader was made
                place = UNKNOWN_PLACE
            return element._replace(place=place, who=part)
        if value.element is not None and value.element.known == GRAPH and ref is not None:
            graph = self.objects.part(ref, Element(self.here.number(node), self.here.name))
            place = value.element.place  # each is an object of its own, which moves by itself
            place = place._replace(of=graph) if place.form is Form.CPU else place
            return value.element._replace(place=place, who=graph)
        if value.element is not None:
            return value.element
        if value.items:
            texts = [constant(item) for item in value.items]
            if all(isinstance(text, str) for text in texts):
                return Value(Kind.STRING, known=Words(tuple(map(str, texts))))
            mixed = self.log.mixed.copy()
            found = element_of(value, self.either) or UNKNOWN
            self.log.mixed = mixed  # one after the other is yielded, and never two at once
            return found
        if value.kind in TENSORS:
            return self.sliced(value, -1)
        if value.kind is Kind.NUMBER and value.measures is not None:
            return NUMBER._replace(measures=value.measures)  # of a size, which is a tuple
        if value.kind is Kind.MODULE and ref is not None:
            part = self.objects.part(ref, Element())
            return Value(Kind.MODULE, who=part, origin=value.origin)
        if value.kind in (Kind.BATCH, Kind.UNKNOWN) and ref is not None:
            return self.part(value, Element(self.here.number(node), self.here.name))
        return UNKNOWN

    def iterate(self, value: Value, node: ast.AST) -> Value:
        """What a loop over a value binds: of a mapping, its keys."""
        keys = value.kind is Kind.CONTAINER and value.known in MAPPINGS
        return UNKNOWN if keys else self.element(value, node)

    def is_alias(self, value: Value) -> bool:
        """Whether a type that is imported promises it, and may be an alias: of a tuple, if it has items."""
        ref = value.who if value.kind is Kind.OTHER else None
        return type(ref) is int and self.objects.is_parameter(ref)

    def unpack(self, value: Value, count: int, index: int) -> Value:
        """The element at `index` when a value is unpacked into `count` targets."""
        if value.items is not None:
            return value.items[index] if len(value.items) == count else UNKNOWN
        if value.element is not None and value.kind is Kind.CONTAINER:
            return value.element
        if value.kind in TENSORS:
            return self.sliced(value, -1)
        if value.kind in (Kind.BATCH, Kind.UNKNOWN) or self.is_alias(value):
            return self.part(value, Item(index))
        if value.kind is Kind.NUMBER and value.measures is not None:
            return NUMBER._replace(measures=value.measures)  # `rows, columns = x.shape`
        return UNKNOWN

    def sliced(self, value: Value, dims: int) -> Value:
        """A part of a tensor, with so many dimensions more than the whole."""
        origin = value.origin
        if origin is None or not is_made(value):
            whole = value.kind is Kind.SCALAR and not dims
            return Value(Kind.SCALAR if whole else Kind.TENSOR, value.place, value.who)
        left = max(origin.dims + dims, 0)
        return Value(
            Kind.TENSOR,
            value.place,
            value.who,
            origin=derived(origin, left),
            measures=value.measures,
        )

    def is_weight(self, value: Value) -> bool:
        """Whether a tensor is, or is made of, a parameter that a module gave."""
        ref = self.ref(value)
        return ref is not None and self.objects.ways[ref] == PARAMETERS

    # Places

    def place_of(self, module: Value) -> Place:
        """Where a module is: where it was moved, or wherever its owner is, or the cpu if it was made here."""
        ref = self.ref(module)
        if ref is None:
            return UNKNOWN_PLACE
        place = self.place_at(ref)
        if place is not None:
            return place
        if module.origin is not None and module.origin.how == "made":
            # What a callee has filled a record with may be anywhere.
            filled = module.kind is Kind.INSTANCE and module.origin.function != self.here.name
            return UNKNOWN_PLACE if filled or self._is_outside(module.origin) else CPU
        if module.origin is None and self._is_made_on_cpu(module):
            return CPU
        return Place(Form.AT, "", self.objects.top(ref))

    def _is_made_on_cpu(self, module: Value) -> bool:
        """Whether a module is one of several that were made, of which none was moved."""
        several = alternatives(self.objects, self.log.alternatives, module)
        return (
            bool(several)
            and all(
                self.place_at(ref) in (None, CPU)
                for ref in (self.objects.may_be(module.who) if type(module.who) is int else ())
            )
            and all(each.origin is not None and not self._is_outside(each.origin) for each in several)
        )

    def _is_outside(self, origin: Origin) -> bool:
        """Whether the function around this one made something, and may have moved it when this is called."""
        return origin.function != self.program.name and self.here.name.startswith(f"{origin.function}.")

    def may_be_placed(self, ref: Ref) -> bool:
        """Whether an object, or one that it may be, was moved, by itself or with what it is part of."""
        while ref >= 0:
            if any(each in self.state.places for each in self.objects.may_be(ref)):
                return True
            ref = self.objects.owner(ref)
        return False

    def place_at(self, ref: Ref) -> Place | None:
        """Where an object was moved, by itself or with what it is part of."""
        while True:
            place = self.state.places.get(ref)
            if place is not None:
                return place
            owner = self.objects.owner(ref)
            if owner < 0:
                break
            ref = owner
        sources = self.objects.sources.get(ref, ())
        if len(sources) < 2:  # of one that may be something unknown as well, nobody knows
            return None
        places = [self.place_at(source) for source in sources]
        found: Place | None = None
        for place in places:
            if place is None:
                return None
            found = place if found is None else join_places(found, place)
        return found

    def whose_size(self, value: Value) -> Who | None:
        """The object whose size or dtype a value has: of a result, what it was computed from."""
        place = self.where(value)
        return place.of if place.form is Form.AT else value.who

    def where(self, value: Value) -> Place:
        """Where a value is; an unknown object is at a place of its own, until something moves it."""
        if value.kind in (Kind.MODULE, Kind.INSTANCE):
            return self.place_of(value)
        if (
            value.place.form is Form.UNKNOWN
            and value.who is not None
            and value.kind in (Kind.UNKNOWN, Kind.BATCH)
            and (value.origin is None or value.origin.how != "moved")
        ):
            return Place(Form.AT, "", value.who)
        return value.place

    def combine(self, parties: Sequence[Value]) -> Place:
        """Where the result of an operation lives: with its tensors, of which 0-dim ones do not count."""
        best = UNKNOWN_PLACE
        made: Place | None = None
        others = 0
        numbers = True
        scalars: set[Place] = set()
        # Of a tensor and of what may be a number, the tensor is sure to say where they meet.
        for value in sorted(parties, key=self._may_be_number):
            if value.kind in MAY_HOLD_TENSORS:
                place = self.where(value)
                if value.kind is Kind.SCALAR and len(parties) > 1:
                    scalars.add(place)
                    continue
                if is_made(value):
                    made = place if made is None else join_places(made, place)
                    continue
                others += value.kind is not Kind.UNKNOWN
                numbers = numbers and self._may_be_number(value)
                if best.form is Form.UNKNOWN or (
                    place.form is not Form.UNKNOWN and weight(place) > weight(best)
                ):
                    best = place
        if made is None and best.form is Form.UNKNOWN and not others:
            if len(scalars) > 1:
                scalars = {place for place in scalars if place.form is not Form.CPU}  # it follows the others
            return scalars.pop() if len(scalars) == 1 else UNKNOWN_PLACE
        if made is None and not others and len(scalars) == 1 and not scalars <= _ANY_DEVICE and numbers:
            return scalars.pop()  # what is multiplied with a loss is a number
        if made is None or (others and best.form is not Form.UNKNOWN):
            return best  # with what was made on the cpu meanwhile, it was meant to run there
        if others:
            return UNKNOWN_PLACE
        return made if weight(made) >= weight(best) else best

    def _may_be_number(self, value: Value) -> bool:
        """Whether nothing seen so far says that a value is none."""
        return value.kind is Kind.UNKNOWN and not self.seen(value) & NO_NUMBER

    def computed(
        self, node: ast.AST, kind: Kind, place: Place, parties: Iterable[Value], dims: int | None = None
    ) -> Value:
        """The result of an operation; of what was made on the cpu alone, it is as good as made there."""
        parties = list(parties)
        result = self.own(node, kind, place, OF_OPERATION)
        origin: Origin | None = None
        measures: Who | None = None
        self.derive(result, parties)
        brought = self._brought(place, parties)
        if brought is not None:
            return result._replace(origin=brought)
        for value in parties:
            if value.origin is not None and value.origin.dims and is_made(value) and result.who is not None:
                assert type(result.who) is int
                self.log.joined[result.who] = value.origin.function, value.origin.at
        # What is made where nothing was given: `mask.unsqueeze(1)` is on the cpu where the mask is.
        halves = [value for value in parties if value.kind is Kind.UNKNOWN and is_made(value)]
        for value in parties:
            if value.kind in TENSORS or value.kind is Kind.BATCH or value in halves:
                if not is_made(value):
                    cloned = value.origin is not None and value.origin.how == CLONED and place == CPU
                    return result._replace(origin=value.origin) if cloned else result
                found = value.origin
                assert found is not None
                measures = measures if measures is not None else value.measures
                if origin is None:
                    origin = found
                elif origin.dims < found.dims:
                    origin = origin._replace(dims=found.dims)
        if origin is not None and any(place == self.where(value) for value in halves):
            result = result._replace(place=UNKNOWN_PLACE)
        elif origin is None or place.form in (Form.AT, Form.LITERAL, Form.SAME):
            return result
        if not origin.dims and any(value.kind is Kind.UNKNOWN for value in parties):
            return result  # if that is a tensor, a 0-dim one goes where it is
        return result._replace(origin=derived(origin, dims), measures=measures)

    def _brought(self, place: Place, parties: Iterable[Value]) -> Origin | None:
        """What is computed of what was moved to the cpu is as good as moved there."""
        tensors = [value for value in parties if value.kind in MAY_HOLD_TENSORS] if place == CPU else []
        origins = [value.origin for value in tensors if value.origin is not None and not is_made(value)]
        moved = next((origin for origin in origins if origin.how in (COPIES[0], BROUGHT)), None)
        if moved is None or any(self.where(value) != CPU for value in tensors):
            return None
        return Origin(BROUGHT, moved.function, moved.at)

    def derive(self, result: Value, parties: Iterable[Value]) -> None:
        """Record what a tensor is computed from, what was made on the cpu meanwhile left out."""
        of = [
            (value.who, value.kind is not Kind.UNKNOWN)
            for value in parties
            if type(value.who) is int and value.kind in MAY_HOLD_TENSORS and not is_made(value)
        ]
        if of and type(result.who) is int:
            self.log.derived[result.who] = tuple(of)

    def meet(
        self,
        node: ast.AST,
        parties: Sequence[tuple[ast.expr, Value]],
        how: Meets = "operator",
        exact: bool = False,
        in_place: bool = False,
    ) -> Place:
        """Record that values come together in one operation; returns where the result lives.

        An `exact` one takes no 0-dim tensor of the cpu either, and none changes such a one `in_place`.
        """
        places = [(at, self.where(value), value) for at, value in parties if value.kind in MAY_HOLD_TENSORS]
        if len(places) > 1:
            kept = distinct(places)
            for i, (left, here, one) in enumerate(kept):
                for right, there, other in kept[i + 1 :]:
                    changed = in_place and not i and one.kind is Kind.SCALAR
                    if exact or not (
                        (_excused(one, here, other) and not changed) or _excused(other, there, one)
                    ):
                        self.meeting(how, left, here, one, right, there, other)
        return self.combine([value for _, value in parties])

    def meeting(
        self,
        how: Meets,
        left: ast.expr,
        here: Place,
        one: Value,
        right: ast.AST,
        there: Place,
        other: Value,
        inside: bool = False,
        within: tuple[str, int] | None = None,
    ) -> None:
        """Record that values at two places come together."""
        if here == there:
            return
        if self.state.without and (is_made(one) or is_made(other)):
            return
        if Form.UNKNOWN in (here.form, there.form) and Form.KEPT not in (here.form, there.form):
            # Unknown alone is where what was made on the cpu is on one path, and something else on another.
            if there.form is Form.UNKNOWN and (here.form is Form.UNKNOWN or not is_made(other)):
                return
            if here.form is Form.UNKNOWN and not is_made(one):
                return
        key = (left, right, here, there)
        known = self.log.meetings.get(key)
        told = known is not None and (is_made(known.one) or is_made(known.other))
        if told and not (is_made(one) or is_made(other)):
            return  # what says where it was made says more
        self.log.meetings[key] = RawMeeting(
            how, left, here, one, right, there, other, self.state.why, self.loops, inside, within
        )

    def denoted(
        self, value: Value | None, default: Place, role: Role = "argument", *, chosen: bool = False
    ) -> Place:
        """The place that a device argument names, or with `chosen` only prefers; `default` for None."""
        if value is None or value.kind is Kind.NONE:
            return default
        self.name_device(value, chosen=chosen)
        if value.kind in (Kind.DEVICE, Kind.STRING):
            if not chosen:
                self.use_literal(value, role)
            place = value.place
            if place.form is Form.EITHER and place.of is None and place.name:
                return self.chosen(place)
            if place.form is not Form.UNKNOWN:
                self.log.follows_devices |= place.form in (Form.SAME, Form.AT)
                return place
            return Place(Form.SAME, "", value.who) if value.who is not None else UNKNOWN_PLACE
        if value.kind is Kind.NUMBER:
            if value.place.form is not Form.UNKNOWN:
                self.log.follows_devices = True
                return value.place  # `x.get_device()`
            index = constant(value)
            return literal(f"cuda:{index}" if type(index) is int else "cuda")
        if value.kind in TENSORS:
            self.log.follows_devices = True
            return self.where(value)
        if value.kind in (Kind.UNKNOWN, Kind.BATCH) and value.who is not None:
            self.log.follows_devices = True
            if value.origin is not None and value.origin.how == "moved":
                return value.place  # what was moved is no device, and it may not be where the original is
            return Place(Form.SAME, "", value.who)
        name = class_name(value) if value.kind is Kind.LIBRARY else ""
        said = knowledge.hints("variable", name.rpartition(".")[2])
        if "device" in said and not name.startswith(knowledge.OF_TORCH):
            self.log.follows_devices = True  # `settings.device`, of a module that nobody can read
            return Place(Form.SAME, "", self.objects.global_(name))
        return UNKNOWN_PLACE

    def chosen(self, place: Place) -> Place:
        """Where something is that was moved to a device which the machine chooses, and no variable has."""
        return place._replace(form=Form.SAME, of=self.objects.root("", _CHOSEN))

    def is_chosen(self, place: Place) -> bool:
        """Whether something was moved to a device that the machine chooses, and no variable has."""
        return place.form is Form.SAME and place.of == self.objects.root("", _CHOSEN)

    def known_by(self, node: ast.AST, base: Value, step: Step, value: Value) -> Value:
        """A device that the program chooses at run time is known by the attribute, or item, that has it."""
        place = value.place
        chosen = place.form is Form.EITHER and place.of is None
        if not chosen or value.kind not in (Kind.DEVICE, Kind.STRING):
            return value
        ref = self.ref(base)
        if ref is None and isinstance(base.known, Defined):
            ref = self.objects.global_(base.known.dotted)
        if ref is None:
            return value
        label = "" if self.objects.labels[ref] or not isinstance(node, ast.expr) else ast.unparse(node)
        return value._replace(place=Place(Form.SAME, place.name, self.objects.part(ref, step, label)))

    def name_device(self, value: Value, *, chosen: bool = False) -> None:
        """What may be a parameter names a device; `chosen` where the device is used only if it is there."""
        if type(value.who) is int:
            sure = chosen or self.state.why.guarded
            self.log.named[value.who] = sure and self.log.named.get(value.who, True)

    def choose(self, one: Value, other: Value) -> None:
        """What the machine has decides between two values: a device may give way to the cpu."""
        if one.place.form is Form.CPU and type(other.who) is int and one.who != other.who:
            self.log.chosen.add(other.who)

    def use_literal(self, value: Value, role: Role) -> None:
        """A device literal reaches a place where a device goes."""
        origin = value.origin
        if origin is None or origin.how not in ("literal", "default"):
            return
        role = "default" if origin.how == "default" else role
        key = (origin.function, origin.at)
        known = self.log.literals.get(key)
        # Where nothing makes sure that the device is there counts, and of those places the first.
        if known is None or known.why.guarded:
            self.log.literals[key] = RawLiteral(role, self.state.why, self.loops)

    def harmless(self, expressions: Iterable[ast.expr], role: Harmless) -> None:
        """The device literals in these place nothing by themselves."""
        for expression in expressions:
            self.log.harmless.update(dict.fromkeys(ast.walk(expression), role))

    def relocate(
        self, node: ast.AST, module: Value, place: Place, method: str, parameters: bool = True
    ) -> None:
        """A module, or what may be one, is now elsewhere: what holds its parameters may be stale."""
        ref = self.ref(module)
        if ref is None:
            return
        if parameters and (place.form is not Form.CPU or method == "to_empty"):
            found: dict[str, Stale] = {}
            moved = frozenset(self.objects.may_be(ref))  # one of which it is, by the path taken
            for (protocol, holder), mark in self.state.marks.items():
                replaces = protocol == OPTIMIZER and method in REPLACES
                if any(
                    any(self.objects.is_part(held, each) for each in moved)
                    and (replaces or not self.may_be_placed(held))
                    for held in mark.holds
                ):
                    worse = protocol not in found or later(mark, found[protocol].mark)
                    if worse:
                        found[protocol] = Stale(ref, holder, protocol, mark, method)
            if found:
                self.log.stale[node] = tuple(found.values())
        self.settle_at(ref, place, node)
        for other in self.objects.parts(ref):
            if other in self.state.places:
                self.state.places[other] = place
        known = module.known
        view = self.program.view(known.dotted) if isinstance(known, Defined) else None
        if view is not None and view.method(knowledge.APPLIES) is not None:
            self._forget_tensors(ref)

    def _forget_tensors(self, ref: Ref) -> None:
        """A module moves in its own way what it has besides parameters and buffers."""
        for key, value in list(self.state.env.items()):
            if not isinstance(key, str) and key[0] == ref and value.kind in TENSORS:
                self.state.env[key] = value._replace(place=UNKNOWN_PLACE, origin=None)

    def advance(self, ref: Ref, phase: str, by: ast.AST | None = None) -> None:
        """An optimizer, if it is one, comes to a phase; whoever gave it is told, too."""
        way = self.objects.ways[self.objects.top(ref)]
        if isinstance(way, Root) and way.kind in ("parameter", "self"):
            known = self.log.advanced.get(ref)
            if known is None or PHASES.index(known) < PHASES.index(phase):
                self.log.advanced[ref] = phase
        each_of = frozenset(self.objects.may_be(ref))  # one of which it is, by the path taken
        for each in each_of:
            mark = self.state.marks.get((OPTIMIZER, each))
            if mark is not None and mark.phase in BEFORE[phase]:
                since = (self.here.name, self.here.number(by)) if by is not None else None
                self.state.marks[OPTIMIZER, each] = mark._replace(phase=phase, since=since)
        for node, stale in self.log.stale.items():
            if phase == STEPPED:
                self.log.stale[node] = tuple(
                    each._replace(stepped=True) if each.holder in each_of else each for each in stale
                )
            elif phase == LOADED:  # what is loaded before the next step goes where the parameters are by now
                self.log.stale[node] = tuple(
                    each
                    for each in stale
                    if each.holder not in each_of or each.stepped or each.method in REPLACES
                )

    def held_anew(self, ref: Ref) -> None:
        """What an object, or a part of it, holds is replaced: what it held before is stale no more."""
        for node, stale in self.log.stale.items():
            self.log.stale[node] = tuple(each for each in stale if not self.objects.is_part(ref, each.holder))

    def settle_at(self, ref: Ref, place: Place, node: ast.AST) -> None:
        """An object is at a place from here on, by what `node` does."""
        if self.log.notes.get(ref, 0) & Evidence.PULLS:
            place = UNKNOWN_PLACE  # wherever what it is given may be
        self.state.places[ref] = place
        self.log.moved_at[ref, place] = node

    def keep_copy(self, value: Value, place: Place, node: ast.AST) -> None:
        """A moved copy of a value was kept: what came with it is elsewhere unless it moves too."""
        ref = self.of(value.place)
        if ref is None:
            ref = self.ref(value)
        if ref is not None:
            self.log.kept.append(Kept(ref, place))
            self.log.moved_at[ref, place] = node

    def leaf(self, value: Value, taken_for: Becoming) -> None:
        """A value is used as only a leaf can be: that it is a copy of one is a bug."""
        origin = value.origin
        if origin is not None and origin.how in COPIES:
            self.log.leaves[origin, taken_for] = None

    def require(self, hint: str = "") -> None:
        """Control goes on only where an accelerator is there; with a hint, a name says so."""
        self.state.certain(hint)

    def loads(self, node: ast.AST) -> None:
        """A call loads something, or reaches one that does."""
        number = self.here.number(node)
        self.log.loading.add(number)
        self.state.loads |= {number}

    def need(self, place: Place) -> None:
        """What is done at a place fails where that is missing: from here on it is there."""
        if place.form is Form.LITERAL and not place.name.startswith(knowledge.NO_DATA):
            self.state.need()


PARAMETERS = Attr("parameters()")
"""The step from a module to what it gives when it is asked for its parameters."""
GRADIENTS = Attr("requires_grad")
"""Where the state keeps whether gradients were asked for when a tensor was made, or since."""
ELEMENTS = Attr("dtype")
"""Where the state keeps the dtype that a tensor was made with, where that is another tensor's."""
COPIES = ("moved", "copied")
"""How a value came to be that is a copy of another."""
REPLACES = ("to_empty", "FullyShardedDataParallel")
"""Methods and wrappers after which a module's parameters are new objects."""
_CHOSEN = Root("global", "<chosen>")
"""Stands for the device that a program chooses without giving it a name; all such choices are alike."""
_ANY_DEVICE = frozenset({CPU, UNKNOWN_PLACE})
"""Where a 0-dim tensor says nothing of what it is computed with."""
_NOWHERE = (Form.CPU, Form.UNKNOWN)
_MAX_CHAIN = 32
_MAX_PARTIES = 12
"""Operations of more values are tables of data: some of them tell where it lives."""


def _may_be_tensors(value: Value, depth: int = 2) -> bool:
    """Whether a value may be a tensor that moves with nothing, or holds such ones alone."""
    if value.kind is Kind.CONTAINER and depth:
        parts = (*(value.items or ()), *((value.element,) if value.element is not None else ()))
        return all(_may_be_tensors(part, depth - 1) for part in parts)
    return value.kind not in (Kind.MODULE, Kind.PARAMETER, Kind.OPTIMIZER, Kind.CONTAINER)


def distinct(places: list[tuple[ast.expr, Place, Value]]) -> list[tuple[ast.expr, Place, Value]]:
    """Leave out what is where another party is, and has nothing else to tell."""
    found: dict[tuple[object, ...], tuple[ast.expr, Place, Value]] = {}
    for at, place, value in places:
        found.setdefault((place, value.who, value.kind), (at, place, value))
        if len(found) >= _MAX_PARTIES:
            break
    return list(found.values())


def _excused(value: Value, place: Place, beside: Value) -> bool:
    """Whether a value may meet any device: torch accepts 0-dim tensors of the cpu.

    One that is wherever its source is, of which nobody knows more, may be there; what was made on the cpu
    cannot meet it elsewhere all the same.
    """
    if value.kind is Kind.SCALAR:
        return place.form is Form.CPU or is_made(value) or (place.form is Form.AT and not is_made(beside))
    return is_bare(value)


def is_bare(value: Value) -> bool:
    """Whether a value was made without dimensions, as far as that is known."""
    return is_made(value) and value.origin is not None and not value.origin.dims


def flag(truth: Truth | None) -> Value:
    """The value of a condition that says something about the machine, or nothing."""
    return Value(Kind.FLAG, known=truth) if truth is not None else NUMBER


def subscript_step(node: ast.expr) -> Item:
    """What tells one item of an object from another: the constant, or the variable, in the brackets."""
    if isinstance(node, ast.Constant):
        value = node.value
        return Item(value if isinstance(value, (str, int, float, bytes)) or value is None else str(value))
    if isinstance(node, ast.Name):
        return Item(node.id, variable=True)
    return Item(type(node).__name__, variable=True)


def text_of(value: Value) -> str:
    """The text of a string constant; empty for anything else."""
    text = constant(value)
    return text if isinstance(text, str) else ""


def class_name(value: Value) -> str:
    """The dotted name of the library class that a module, loader or optimizer was made from."""
    return value.known.dotted if isinstance(value.known, Api) else ""


def says(on: str, name: str, what: str) -> bool:
    """Whether a name that a user chose suggests something."""
    return what in knowledge.hints(on, name)


def is_elsewhere(value: Value) -> bool:
    """Whether a tensor may be on a device, or a value was moved there."""
    moved = value.origin is not None and value.origin.how == "moved"
    return (value.kind in TENSORS or moved) and value.place.form not in (Form.CPU, Form.UNKNOWN)
