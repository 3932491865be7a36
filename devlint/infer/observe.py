"""From what runs recorded to events, once all evidence is in: the plain data that rules see."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, Protocol, TypeGuard

from .. import knowledge
from ..bind.names import last_name, names_in, statements_in
from ..bind.sections import Section
from ..bind.sections import line as row
from ..bind.text import NODE_TYPES, Text
from ..bind.uses import Uses
from ..core import events as event
from ..core.events import At, Becoming, Conflict, Harmless, Holder, Meets, Seen, Spot, Why
from ..core.evidence import Evidence
from ..core.kinds import TENSORS, Kind
from ..core.paths import Element, Ref
from ..core.places import CPU, ON_DEVICE, UNKNOWN_PLACE, Form, Place
from ..core.state import OPTIMIZER
from ..core.values import ENCODED, MADE, OF_LEAF, Defined, Origin, Value, element_of
from ..span import Span
from .apart import Apart, apart, hosted
from .behind import Behind, Meetings
from .classes import Class
from .demo import Demo, demo_of
from .file import File
from .forgotten import Forgotten, forgotten
from .halves import Half, halves
from .hidden import abroad, hidden, of_parts
from .late import Late, late
from .left import keeping, left
from .log import Log, RawCall, RawCompare, RawMeeting, RawMove, Stale
from .machine import COPIES, REPLACES
from .presumed import Presumed
from .reread import Reread
from .settle import Clash, Settled
from .stays import Stays, staying
from .testcode import is_test_code
from .touched import Touched
from .trace import Tracer
from .workers import in_workers


class Wants(Protocol):
    """Whether anybody wants an event."""

    def __call__(self, event_type: str, name: str, sketch: event.Event | None = None, /) -> bool:
        """Whether anybody wants events of a type and name, and this one.

        `sketch` is the event as far as that is known at little cost: where it happens but for the span; of a
        call what it is given and its receiver's kind, of a comparison the kinds, of an assignment what it
        hides.
        """


_ALL_MOVES = knowledge.MOVES | {"to_empty"}
_TARGETS = (ast.Attribute, ast.Subscript, ast.Call)
_SURE_ABROAD = (Conflict.CERTAIN, Conflict.PORTABLE, Conflict.PRESUMED)
"""How surely what another file makes has to be apart from what it meets here, to be told here."""
_NO_SPAN = Span(0, 0, 0, 0)
_UNSEEN = Seen(Kind.UNKNOWN, UNKNOWN_PLACE, None, "")


def everything(event_type: str, name: str, sketch: event.Event | None = None) -> bool:
    """Want every event."""
    return True


def observed(
    settled: Settled, text: Text, wants: Wants = everything, sections: Sequence[Section] = ()
) -> tuple[event.Event, ...]:
    """The events of an analysed file, in source order; lines count as in its `sections`."""
    observer = Observer(settled, text, sections)
    found: list[event.Event] = [
        *observer.moves(wants),
        *observer.calls(wants),
        *observer.uses(wants),
        *observer.literals(wants),
    ]
    if wants("meeting", ""):
        found += observer.meetings()
    found += observer.binds(wants)
    if wants("compare", ""):
        found += observer.comparisons(wants)
    found.sort(key=lambda each: (each.at.span, type(each).__name__))
    return tuple(found)


class Observer:
    """Turns raw events into finished ones."""

    def __init__(self, settled: Settled, text: Text, sections: Sequence[Section] = ()) -> None:
        self.settled = settled
        self.sections = sections
        self.file: File = settled.file
        self.text = text
        self.tracer = Tracer(settled, text)
        self._nature = tuple(self.file.nature)
        self._contexts: dict[str, frozenset[str]] = {}
        self._uses: dict[str, Uses] = {}
        self._in_tests = is_test_code(settled)
        self.touched = Touched(settled)
        self._in_workers = in_workers(settled)
        self._reread = Reread(settled)

    # Where

    def at(self, node: ast.expr | ast.stmt, function: str, why: Why, loops: int) -> At:
        """Where something happens, and under what."""
        return self._placed(self._around(function, why, loops), node)

    def _around(self, function: str, why: Why, loops: int) -> At:
        """Under what something happens; where is left open."""
        nature = self._nature or self.file.natures.get(function, ())
        guard = why._replace(hints=(*why.hints, *nature)) if nature else why
        return At(_NO_SPAN, "", function, guard, loops, self.context(function))

    def _placed(self, at: At, node: ast.expr | ast.stmt) -> At:
        said = set[str]()
        if self.demo.lines and self.demo.covers(at.function, node.lineno):
            said.add("demo")
        if self.is_probed(node):
            said.add("probe")
        span, kind = self.text.span(node), NODE_TYPES.get(type(node), "")
        return At(span, kind, at.function, at.guard, at.loops, at.context | said if said else at.context)

    def is_probed(self, node: ast.AST) -> bool:
        """Whether something is, or stands in, a statement that is expected to fail, or may."""
        if not self._probed:
            return False
        line = getattr(node, "lineno", 0)
        return any(first <= line <= last for first, last in self._probed)

    @cached_property
    def _probed(self) -> tuple[tuple[int, int], ...]:
        """The lines of what is expected to fail, or may."""
        found = {stmt for log in self.settled.logs.values() for stmt in log.probed}
        return tuple((stmt.lineno, stmt.end_lineno or stmt.lineno) for stmt in found)

    def context(self, function: str) -> frozenset[str]:
        """Where the code of a function runs."""
        found = self._contexts.get(function)
        if found is None:
            found = self._contexts[function] = frozenset(self._find_context(function))
        return found

    def _find_context(self, name: str) -> Iterator[str]:
        if self._in_tests:
            yield "test"
        yield from self._in_workers.get(name, ())
        log = self.settled.logs.get(name)
        if name and log is not None and knowledge.COLLECTIVE in log.reaches:
            yield "processes"
        function = self.file.functions.get(name)
        cls = self.file.view(function.owner) if function is not None and function.owner is not None else None
        if function is None or cls is None:
            return
        if cls.is_module:
            yield "forward" if function.own_name == "forward" else "method"
        if "dataset" in cls.topics:
            yield "dataset"
        if "test-case" in cls.topics or _is_test_case(cls):
            yield "test"

    @cached_property
    def demo(self) -> Demo:
        """Whether the end of the file only tries out what it defines."""
        return demo_of(self.settled)

    def _touched(self, function: str, own: tuple[str, int] | None) -> event.Touched | None:
        """Where CUDA had been initialised, in the function or before it runs."""
        where = own or self.touched.before(function)
        node = self.node(*where) if where is not None else None
        if where is None or not isinstance(node, ast.expr):
            return None
        return event.Touched(self.text.span(node), where[0])

    @cached_property
    def _save_on_cpu(self) -> frozenset[str]:
        """The classes that save what they bring to the cpu as they do."""
        found: set[str] = set()
        for function, log in self.settled.logs.items():
            for node, raw in log.calls.items():
                if "saves" in knowledge.topics_of_call(raw.callee) and (owner := self._owner(function)):
                    names = names_in(node)
                    filled = (
                        part.value
                        for part in statements_in(self.file.functions[function].node)
                        if isinstance(part, ast.Assign) and not names.isdisjoint(map(_base, part.targets))
                    )
                    if any(_brings(log, part) for part in (node, *filled)):
                        found.add(owner)
        return frozenset(found)

    def _is_reread(self, function: str, raw: RawCall) -> bool:
        """Whether the file saves at the path that is loaded from."""
        paths = (at for name, at, _ in raw.args.named() if name == knowledge.SAVED_AT)
        return any(self._reread.is_own(function, path) for path in paths)

    def _is_handed(self, function: str) -> bool:
        """Whether a function loads, in another case, to where a parameter says."""
        known = self.file.functions.get(function)
        args = known.args if known is not None else None
        if args is None:
            return False
        parameters = {each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
        return any(
            name == knowledge.MAPPED and isinstance(at, ast.Name) and at.id in parameters
            for raw in self.settled.logs[function].calls.values()
            if "loads" in knowledge.topics_of_call(raw.callee)
            for name, at, _ in raw.args.named()
        )

    def _is_ignored(self, function: str) -> bool:
        """Whether a function has a parameter that says where to load, and reads it nowhere."""
        known = self.file.functions.get(function)
        args = known.args if known is not None else None
        if known is None or args is None:
            return False
        parameters = {each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
        reads = (knowledge.MAPPED, *knowledge.NAMESPACES)
        return knowledge.MAPPED in parameters and not any(
            isinstance(each, ast.Name) and each.id in reads for each in ast.walk(known.node)
        )

    def _owner(self, function: str) -> str:
        known = self.file.functions.get(function)
        return known.owner or "" if known is not None else ""

    def node(self, function: str, number: int) -> ast.AST | None:
        """The node of a number, if the function is of this file."""
        home = self.file.functions.get(function) if function else self.file.module
        return home.nodes[number] if home is not None and 0 <= number < len(home.nodes) else None

    # What

    def seen(self, value: Value, place: Place, node: ast.AST | None, function: str) -> Seen:
        """A value as rules see it."""
        settled = self._kind(value, function)
        origin = value.origin
        made_here = (
            origin is not None
            and origin.how == "factory"
            and node is not None
            and self.node(origin.function, origin.at) is node
            and (row := knowledge.find(origin.api)) is not None
            and row.by == "factories.factory"
        )
        return Seen(
            settled,
            self.named(place),
            value.who if type(value.who) is int else None,
            self.text.receiver(node) if node is not None else "",
            origin,
            self._is_certain(value, settled),
            self.text.span(node) if isinstance(node, ast.expr) else None,
            "",
            made_here,
            given=self._given(value, place),
            whole=self._is_whole(value, place, function),
            presumed=self._presumed.is_kind(value, settled) or self._presumed.is_place(value, place),
        )

    def _given(self, value: Value, place: Place) -> tuple[str, str]:
        """The function and the parameter of which callers know where a value is."""
        if place.form is Form.UNKNOWN and value.origin is not None and value.origin.how == "moved":
            return "", ""  # on one path, at least: `if torch.is_tensor(x): x = x.cpu()`
        ref = place.of if place.form is Form.AT else value.who if place.form is Form.UNKNOWN else None
        objects = self.settled.objects
        roots = self._judged.roots(ref) if type(ref) is int else []
        if not roots or not all(map(objects.is_parameter, roots)):
            return "", ""
        found = {(objects.functions[root], objects.labels[root]) for root in roots}
        return min(found)

    def _is_whole(self, value: Value, place: Place, function: str) -> bool:
        """Whether a value is, or lies with, a parameter as such, or what iterating that yields.

        Not so where the function brings that to the cpu on some path, or may be given another library's.
        """
        ref = place.of if place.form is Form.AT else value.who
        objects = self.settled.objects
        while type(ref) is int and isinstance(objects.ways[ref], Element):
            ref = objects.parents[ref]
        if type(ref) is not int or not objects.is_parameter(ref) or self._others:
            return False
        return not any(objects.is_part(each, ref) for each in self._brought_to_cpu.get(function, ()))

    @cached_property
    def _brought_to_cpu(self) -> dict[str, list[Ref]]:
        """By function, the objects that it moves to the cpu."""
        return {
            function: [
                raw.receiver.who
                for raw in log.moves.values()
                if raw.target is not None and raw.target.form is Form.CPU and type(raw.receiver.who) is int
            ]
            for function, log in self.settled.logs.items()
        }

    @cached_property
    def _others(self) -> bool:
        """Whether the file imports a library that has tensors of its own."""
        names = (
            f"{getattr(node, 'module', None) or ''}.{alias.name}"
            for node in statements_in(self.file.module.node)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        )
        return any(not knowledge.TENSORS_OF_OTHERS.isdisjoint(name.split(".")) for name in names)

    def _kind(self, value: Value, function: str) -> Kind:
        kind = self.settled.kind_of_moved(value, function)
        return kind if kind is not None else self.settled.in_use(value).kind

    def traced(self, value: Value, place: Place, node: ast.AST | None, function: str) -> Seen:
        """A value as rules see it, with where it was made and moved."""
        spots = self.tracer.of(value, place, function, node)
        return self.seen(value, place, node, function)._replace(spots=spots)

    def _is_certain(self, value: Value, settled: Kind) -> bool:
        if value.kind is Kind.DEVICE:
            return value.known is not None or self.settled.is_device_of_tensor(value)
        return value.kind is settled and settled is not Kind.UNKNOWN

    def named(self, place: Place) -> Place:
        """A place with the name that the program has for it."""
        if type(place.of) is not int:
            return place
        if place.form is Form.AT:
            return place._replace(name=self.settled.module_name(place.of))
        if place.form is Form.SAME and not place.name and self.settled.follows_a_tensor(place.of):
            return Place(Form.AT, "", self.settled.objects.parents[place.of])
        name = self.settled.device_name(place)
        if place.form is Form.SAME and not name:
            return Place(Form.AT, "", place.of)  # what this file has no name for, nobody chose here
        return place._replace(name=name)

    # Moves

    def moves(self, wants: Wants) -> Iterator[event.Move]:
        """Moves and casts, with what holds the parameters of what is moved."""
        for function, log in self.settled.logs.items():
            for node, raw in log.moves.items():
                if not self.settled.is_of_tensors(raw):
                    continue
                if not wants("move", raw.method):
                    continue
                if raw.given is not None:
                    yield self._move(function, log, node, raw.given, raw)
                elif isinstance(node.func, ast.Attribute):
                    yield self._move(function, log, node, node.func.value, raw)
            for call, stale in log.stale.items():
                if isinstance(call, ast.Call) and call not in log.moves:
                    told = tuple(each for each in stale if not self._told(function, call, each))
                    if told:
                        yield self._brought_about(function, call, told)

        if wants("move", "to"):
            yield from self._lost_parameters()

    def _lost_parameters(self) -> Iterator[event.Move]:
        """What functions of other files give for attributes of modules: moved copies of Parameters."""
        for log in self.settled.logs.values():
            for target, raw in log.binds.items():
                origin = raw.value.origin
                if origin is None or origin.api != OF_LEAF or not isinstance(target, ast.Attribute):
                    continue
                if self.node(origin.function, origin.at) is not None or not self.is_module(raw.owner):
                    continue
                call, function = self._brought_by(raw.value)
                if isinstance(call, ast.Call):
                    yield self._lost_parameter(function, call, target, raw.value)

    def _follows_parameter(self, function: str, node: ast.Call) -> bool:
        """Whether a move goes where a parameter is: `x.to(other.device)`."""
        home = self.file.functions.get(function)
        device = node.args[0] if node.args else None
        owner = device.value if isinstance(device, ast.Attribute) and device.attr == "device" else None
        own = home.positional[home.is_method :] if home is not None else []
        return isinstance(owner, ast.Name) and owner.id in own

    def _lost_parameter(
        self, function: str, call: ast.Call, target: ast.Attribute, value: Value
    ) -> event.Move:
        label, method = self.text.quote(call.func), last_name(call)
        spots = self.tracer.of(value, value.place, function, call)
        was = Seen(Kind.PARAMETER, CPU, None, label, certain=True, leaf=True, spots=spots)
        place = self.named(value.place)
        at = self.at(call, function, Why(), 0)
        return event.Move(
            at,
            method,
            was,
            place,
            "other",
            casts=False,
            in_place=False,
            result="kept",
            iterates=None,
            holders=(),
            replaces=False,
            becomes=frozenset(("attribute",)),
            kept_as=ast.unparse(target),
            helper=True,
        )

    def _move(self, function: str, log: Log, node: ast.Call, receiver: ast.expr, raw: RawMove) -> event.Move:
        stale = log.stale.get(node, ())
        holders = tuple(self._holder(each) for each in stale if not self._told(function, node, each))
        at = self.at(node, function, raw.why, raw.loops)
        moved = self.seen(raw.receiver, raw.place, receiver, function)
        target = self.named(raw.target) if raw.target is not None else None
        # A copy is made of what is elsewhere alone; what goes where another tensor is may be there.
        beside = target is not None and target.form is Form.AT
        beside |= target is not None and target.form is Form.UNKNOWN and raw.place.form in ON_DEVICE
        beside |= target is not None and self._follows_parameter(function, node)
        guessed = raw.place.form is not Form.CPU and (raw.leaf or (beside and not raw.in_place))
        moved = moved._replace(leaf=raw.leaf, presumed=moved.presumed or guessed)
        return event.Move(
            at,
            raw.method,
            moved,
            target,
            raw.named,
            raw.casts,
            raw.in_place,
            raw.fate,
            self.text.quote(raw.iterates) if raw.iterates is not None else None,
            holders,
            raw.method in REPLACES,
            *self._taken_for(function, node, raw),
            raw.given is not None,
        )

    def _taken_for(self, function: str, node: ast.Call, raw: RawMove) -> tuple[frozenset[Becoming], str]:
        """What the moved copy of a leaf is taken for, and the attribute that it becomes."""
        home = self.file.functions.get(function, self.file.module)
        found = self._leaves.get((function, home.number(node)), {}) if raw.leaf else {}
        return frozenset(found), found.get("attribute", "")

    @cached_property
    def _leaves(self) -> dict[tuple[str, int], dict[Becoming, str]]:
        """By where a copy was made, what it is taken for: by itself, or copied once more."""
        found: dict[tuple[str, int], dict[Becoming, str]] = {}
        for log in self.settled.logs.values():
            for origin, taken_for in log.leaves:
                self._take(found, origin, taken_for)
            for target, raw in log.binds.items():
                if raw.target == "attribute" and self.is_module(raw.owner) and raw.value.kind in TENSORS:
                    self._take(found, raw.value.origin, "attribute", ast.unparse(target))
        return found

    def _take(
        self,
        found: dict[tuple[str, int], dict[Becoming, str]],
        origin: Origin | None,
        taken_for: Becoming,
        label: str = "",
    ) -> None:
        while origin is not None and origin.how in COPIES:
            where = origin.function, origin.at
            if taken_for in found.get(where, ()):
                return
            found.setdefault(where, {})[taken_for] = label
            node, log = self.node(*where), self.settled.logs.get(origin.function)
            raw = log.moves.get(node) if log is not None and isinstance(node, ast.Call) else None
            origin = raw.receiver.origin if raw is not None else None

    def is_module(self, value: Value) -> bool:
        """Whether a value is a module, or an instance of a class that is one."""
        if value.kind is Kind.INSTANCE and isinstance(value.known, Defined):
            view = self.file.view(value.known.dotted)
            return view is not None and view.is_module
        return value.kind is Kind.MODULE

    def _brought_about(self, function: str, node: ast.Call, stale: tuple[Stale, ...]) -> event.Move:
        """A move that a call brings about: of a helper, or of a wrapper that makes new parameters."""
        ref, method = stale[0].ref, stale[0].method
        moved: ast.expr = node.func.value if isinstance(node.func, ast.Attribute) else node
        if method not in _ALL_MOVES and node.args:
            moved = node.args[0]
        return event.Move(
            self.at(node, function, Why(), 0),
            method,
            Seen(Kind.MODULE, UNKNOWN_PLACE, ref, self.settled.objects.labels[ref] or self.text.quote(moved)),
            UNKNOWN_PLACE,
            "other",
            casts=False,
            in_place=True,
            result="kept",
            iterates=None,
            holders=tuple(map(self._holder, stale)),
            replaces=method in REPLACES,
        )

    def _told(self, function: str, node: ast.AST, stale: Stale) -> bool:
        """Whether the move is told elsewhere, in the function that is called here, or harms nobody."""
        if self._is_done_with(function, node, stale):
            return True
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _ALL_MOVES
        ):
            return False
        return any(
            other.protocol == stale.protocol and other.mark.at == stale.mark.at
            for name, log in self.settled.logs.items()
            if name != function
            for others in log.stale.values()
            for other in others
        )

    def _is_done_with(self, function: str, node: ast.AST, stale: Stale) -> bool:
        """Whether an optimizer is a variable of this very function that nothing steps after the move.

        Its state follows the parameters where it is loaded again, and where the program moves it.
        """
        made = self.node(*stale.mark.at)
        if stale.protocol != OPTIMIZER or stale.mark.at[0] != function or made is None:
            return False
        new = stale.method in REPLACES
        if not new and self.settled.logs[function].notes.get(stale.holder, 0) & Evidence.RENEWED:
            return True
        uses = self._uses.get(function)
        if uses is None:
            uses = Uses(self.file.functions.get(function, self.file.module).node)
            self._uses[function] = uses
        name = uses.bound_to(made)
        read = uses.after(name, node, self._is_scheduler) if name is not None else None
        if read is None or name is None or not (function or uses.attributes(name) & knowledge.STEPS):
            return False  # others have it; of the module's, other files may
        renewed = (index for index, each in enumerate(read) if each in knowledge.RENEWS_STATE and not new)
        return knowledge.STEPS.isdisjoint(read[: next(renewed, len(read))])

    def _is_scheduler(self, node: ast.AST) -> bool:
        calls = (log.calls.get(node) for log in self.settled.logs.values() if isinstance(node, ast.Call))
        return any(raw is not None and "scheduler" in knowledge.topics(raw.callee) for raw in calls)

    def _holder(self, stale: Stale) -> Holder:
        mark = stale.mark
        function, number = mark.at
        node = self.node(function, number)
        line = getattr(node, "lineno", 0)
        where = row(line, self.sections) if node is not None else f"a line of `{function}`"
        spot = self.tracer.spot("built", function, number, UNKNOWN_PLACE)
        return Holder(stale.protocol, mark.counts_as, mark.name, where, spot)

    # Calls and names

    def calls(self, wants: Wants) -> Iterator[event.Call]:
        """Calls of libraries' functions, and of methods of what has a known kind."""
        dropped = self.settled.dropped()

        def place_of(value: Value, at: ast.expr, raw: RawCall) -> Place:
            # Where it is that a discarded move was meant to bring away is told by the move.
            explained = type(value.who) is int and self.settled.any_of(dropped, value.who)
            if explained:
                return UNKNOWN_PLACE
            place = raw.places.get(at, _held_at(value))
            ref = value.who
            if value.kind is Kind.UNKNOWN and place == UNKNOWN_PLACE and type(ref) is int:
                place = Place(Form.AT, "", ref) if self.settled.module_name(ref) else place
            return place

        for function, log in self.settled.logs.items():
            home = self.file.functions.get(function, self.file.module)
            for node, raw in log.calls.items():
                callee, receiver = raw.callee, None
                if raw.receiver is not None:
                    kind = self.settled.kind_of_moved(raw.receiver, function) or raw.receiver.kind
                    prefix = knowledge.METHODS_OF.get(kind)
                    if prefix is None:
                        continue
                    callee = f"{prefix}.{raw.callee.rpartition('.')[2]}"
                if not wants("call", callee):
                    continue
                of = raw.receiver_at
                if raw.receiver is not None and of is not None:
                    receiver = _UNSEEN._replace(kind=self._kind(raw.receiver, function))
                at = self._around(function, raw.why, raw.loops)
                loads = "loads" in knowledge.topics_of_call(callee)
                said = {
                    "pending": raw.pending,
                    "saved": raw.saved or (loads and self._owner(function) in self._save_on_cpu),
                    "reread": loads and self._is_reread(function, raw),
                    "handed": loads and self._is_handed(function),
                    "ignored": loads and self._is_ignored(function),
                    "needing": loads and log.needs_after(home.number(node)),
                }
                if any(said.values()):
                    at = at._replace(context=at.context | {each for each in said if said[each]})
                sketch = event.Call(
                    at,
                    callee,
                    receiver,
                    {name: _UNSEEN for name, _, _ in raw.args.named()},
                    raw.args.starred or bool(raw.args.unpacked),
                    raw.fate,
                    knowledge.topics_of_call(callee),
                    conditional=raw.branches > 0,
                )
                if not wants("call", callee, sketch):
                    continue
                if raw.receiver is not None and of is not None:
                    receiver = self.traced(raw.receiver, place_of(raw.receiver, of, raw), of, function)
                yield sketch._replace(
                    at=self._placed(at, node),
                    receiver=receiver,
                    given={
                        name: self.seen(value, place_of(value, at, raw), at, function)
                        for name, at, value in raw.args.named()
                    },
                    becomes=self._becomes(function, node) if "loads" in sketch.topics else frozenset(),
                    touched=self._touched(function, raw.touched),
                )

    def _becomes(self, function: str, node: ast.Call) -> frozenset[str]:
        home = self.file.functions.get(function, self.file.module)
        ref = self.file.objects.made(function, home.number(node), "")
        return self.settled.becomes(ref)

    def uses(self, wants: Wants) -> Iterator[event.Use]:
        """Names of libraries that are read."""
        for function, log in self.settled.logs.items():
            called = {node.func for node in log.calls}
            for node, raw in log.uses.items():
                if node not in called and wants("use", raw.name):
                    at = self.at(node, function, raw.why, raw.loops)
                    yield event.Use(at, raw.name, knowledge.topics_of_call(raw.name), node in self._tests)

    @cached_property
    def _tests(self) -> set[ast.expr]:
        """The expressions of which the file asks whether they are true."""
        found: set[ast.expr] = set()
        for node in self.file.nodes:
            if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
                found.add(node.test)
            elif isinstance(node, ast.BoolOp):
                found.update(node.values)
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                found.add(node.operand)
        return found

    def literals(self, wants: Wants) -> Iterator[event.Literal_]:
        """Literal names of devices that reach a place where a device goes."""
        harmless: dict[ast.AST, Harmless] = {}
        for log in self.settled.logs.values():
            harmless |= log.harmless
        found: dict[ast.AST, event.Literal_] = {}
        for function, log in self.settled.logs.items():
            for (where, number), raw in log.literals.items():
                node = self.node(where, number)
                if not isinstance(node, ast.Constant) or not wants("literal", str(node.value)):
                    continue
                born = self.settled.logs[where].born.get(number, Why())
                hints = tuple(dict.fromkeys((*raw.why.hints, *born.hints)))
                why = raw.why._replace(
                    certain=raw.why.certain or born.certain,
                    hints=hints,
                    tensor=raw.why.tensor or born.tensor,
                )
                role = harmless.get(node, raw.role)
                told = event.Literal_(self.at(node, function, why, raw.loops), str(node.value), role)
                known = found.get(node)
                if known is None or _weaker(why, known.at.guard):
                    found[node] = told
        for each in left(self.settled):
            if wants("literal", each.text):
                at = self.at(each.at, each.function, each.site.why, 0)
                found[each.at] = event.Literal_(at, each.text, "left")
        for name, told in keeping(self.settled, found.items()):
            found[name] = told._replace(role="kept")
        yield from found.values()

    # Values that come together, or are kept

    def meetings(self) -> Iterator[event.Meeting]:
        """Values that come together though they are apart, or may be."""
        found: dict[object, event.Meeting] = {}
        sure = set()
        for key, clash in self.settled.clashes():
            if clash.partly and not clash.itself and self._presumed.is_of_any_model(clash.own):
                continue
            told = self._clash(clash)
            if told.conflict is Conflict.CERTAIN and clash.itself:
                sure.add(key)
            if key not in found or told.at.span < found[key].at.span:
                found[key] = told
        for key, told in found.items():
            guessed = told.conflict is Conflict.PRESUMED and key in sure
            yield told._replace(conflict=Conflict.CERTAIN) if guessed else told
        for stays in staying(self.settled, self._judged):
            yield from self._staying(stays)
        for left_behind in forgotten(self.settled, self._judged):
            yield self._forgotten(left_behind)
        for found_late in late(self.settled, self._judged):
            yield self._late(found_late)
        for half in halves(self.settled):
            yield self._half(half)
        kept = {id(behind) for _, behind in of_parts(self.settled, self._found_behind)}
        for behind in self._found_behind:
            made = self._behind(behind) if id(behind) not in kept else None
            if made is not None:
                yield made
        for behind in abroad(self.settled, self._found_behind):
            yield self._abroad(behind)
        for parted in apart(self.settled, self._judged):
            yield self._apart(parted)
        for parted, conflict in hosted(self.settled, self._judged):
            told = self._apart(parted)
            yield told if told.conflict is Conflict.PRESUMED else told._replace(conflict=conflict)

    def _clash(self, clash: Clash) -> event.Meeting:
        labels = self.settled.objects.labels
        raw = clash.raw
        why, loops = (raw.why, raw.loops) if raw is not None else (Why(), 0)
        conflict = Conflict.PRESUMED if clash.guessed or self._is_presumed(clash) else Conflict.CERTAIN
        conflict = Conflict.BRANCHES if clash.conditional else conflict
        other = self.text.quote(clash.other)
        if not clash.certain:
            conflict, other = Conflict.CALLER, labels[clash.part]
        looped = clash.whole >= 0 and isinstance(self.settled.objects.ways[clash.whole], Element)
        own = clash.certain and clash.part >= 0
        origin = Origin("loader", clash.function, -1) if looped else None
        left = Seen(
            Kind.BATCH,
            self.named(clash.here),
            clash.part if own else None,
            (labels[clash.part] if own else "") or self.text.quote(clash.at),
            origin,
            span=self.text.span(clash.at),
            within=self.settled.loader_name(clash.whole),
            spots=self._spots_of_batch(clash),
        )
        spots = self.tracer.of(clash.met, clash.there, clash.function, clash.at)
        right = Seen(Kind.UNKNOWN, self.named(clash.there), None, other, spots=spots)
        right = right if raw is None else self._met(right, raw)
        how: Meets = raw.how if raw is not None else "call"
        at = self.at(clash.at, clash.function, why, loops)
        return event.Meeting(at, how, left, right, conflict, clash.partly)

    def _met(self, seen: Seen, raw: RawMeeting) -> Seen:
        """One side of a meeting, with where they meet, if that is in what is called."""
        spot = self.tracer.spot("met", *raw.within, UNKNOWN_PLACE) if raw.within is not None else None
        return seen if spot is None else seen._replace(spots=(*seen.spots, spot))

    def _is_presumed(self, clash: Clash) -> bool:
        """Whether a batch is on the cpu, or what it meets elsewhere, or they meet at all, by a guess."""
        if clash.in_loss or self._presumed.is_place(clash.met, clash.there):
            return True
        if clash.partly or clash.whole < 0:
            return False
        return clash.here.form is not Form.CPU or self.settled.objects.parents[clash.whole] in self._doubted

    @cached_property
    def _doubted(self) -> set[Ref]:
        """Loaders of datasets that callers give."""
        return {ref for log in self.settled.logs.values() for ref in log.doubted}

    def _spots_of_batch(self, clash: Clash) -> tuple[Spot, ...]:
        if clash.conditional:
            return self.tracer.moves(clash.moves)
        return self.tracer.of_batch(clash.part, clash.whole)

    def _staying(self, found: Stays) -> Iterator[event.Meeting]:
        """A module that is never moved; told where it was made, or where another file gives it."""
        origin, raw = found.module.origin, found.raw
        if origin is None:
            return
        made, function = self.node(origin.function, origin.at), origin.function
        left = self.traced(found.module, CPU, found.at, found.function)
        if not isinstance(made, ast.expr):
            made, function = self._brought_by(found.module)
            spot = self.tracer.spot("made", origin.function, origin.at, CPU)
            left = left._replace(spots=(spot,) if spot is not None else ())
        if not isinstance(made, ast.expr):
            return  # of the statements of another file
        right = self.traced(found.value, found.there, found.given, found.function)
        right = self._met(right, raw) if isinstance(raw, RawMeeting) else right
        at = self.at(made, function, raw.why, raw.loops)
        surely = _surely(left, right) if found.conflict is Conflict.CERTAIN else found.conflict
        yield event.Meeting(at, "call", left, right, surely, sibling_moved=False)

    def _forgotten(self, found: Forgotten) -> event.Meeting:
        """A module that an object keeps on the cpu; told where the constructor assigns it."""
        raw = found.raw
        at = self.at(found.target, found.constructor, raw.why, raw.loops)
        left = self.traced(found.bind.value, CPU, found.target, found.function)
        right = self.traced(found.value, found.there, found.given, found.function)
        surely = _surely(left, right) if found.conflict is Conflict.CERTAIN else found.conflict
        return event.Meeting(at, "attribute", left, right, surely, sibling_moved=False)

    def _late(self, found: Late) -> event.Meeting:
        """A part that a module makes when it runs; told where it is assigned."""
        raw = found.raw
        at = self.at(found.at, found.function, raw.why, raw.loops)
        left = self.traced(raw.value, CPU, found.at, found.function)
        right = self.seen(raw.owner, UNKNOWN_PLACE, None, found.function)
        return event.Meeting(at, "attribute", left, right, Conflict.GIVEN, sibling_moved=False)

    def _half(self, found: Half) -> event.Meeting:
        """A module that one of two branches leaves on the cpu; told where that makes it."""
        raw, function = found.raw, found.function
        home = self.file.functions.get(function, self.file.module)
        origin = Origin("made", function, home.number(found.made))
        left = Seen(Kind.MODULE, CPU, None, found.name, origin, span=self.text.span(found.made))
        assert raw.target is not None
        spot = Spot("moved", self.text.span(found.moved), found.name, self.named(raw.target).name)
        right = left._replace(place=self.named(raw.target), origin=None, spots=(spot,))
        at = self.at(found.made, function, raw.why, raw.loops)
        return event.Meeting(at, "join", left, right, Conflict.BRANCHES, sibling_moved=False)

    def _behind(self, found: Behind) -> event.Meeting | None:
        """A tensor that was made on the cpu; told where it was made, of an attribute where it is used."""
        origin, raw = found.origin, found.raw
        at, function, device = found.at, found.function, found.device
        node = self.node(origin.function, origin.at) if origin.how in MADE else None
        partly = False
        if origin.how == ENCODED and node is not None:
            # Told where it meets something, as what loaders yield.
            whole = self.settled.objects.made(origin.function, origin.at)
            partly = whole in self.settled.moved and found.conflict is not Conflict.BRANCHES
        elif isinstance(node, ast.expr):
            at, function = node, origin.function
        elif origin.how in MADE:
            if raw.inside or found.conflict not in _SURE_ABROAD or self.file.outside.default is not None:
                return None  # in another file, which tells it if it can; or on the default device of this one
            at, device = self._given_by(found), ""
        left = self.traced(found.one, found.here, found.at, found.function)
        if found.at in self._called or (isinstance(found.at, ast.Name) and self._is_function(found.at.id)):
            left = left._replace(label="")  # it is made, and meets, in what is called there
        right = self._met(self.traced(found.other, found.there, found.other_at, found.function), raw)
        place = self.at(at, function, raw.why, raw.loops)
        if self.is_probed(found.at):
            place = place._replace(context=place.context | {"probe"})
        return event.Meeting(
            place,
            raw.how,
            left,
            right,
            found.conflict,
            sibling_moved=partly,
            device=device,
        )

    def _brought_by(self, value: Value) -> tuple[ast.AST | None, str]:
        """The call of what another file defines that gave an object, and the function that it stands in."""
        made = self.settled.made_by(value.who) if type(value.who) is int else None
        for function, log in self.settled.logs.items():
            if any(site.at is made for site in log.abroad):
                return made, function
        return None, ""

    def _given_by(self, found: Behind) -> ast.expr:
        """The call of what another file defines that gave a tensor, else where that meets something."""
        made = self.settled.made_by(found.one.who) if type(found.one.who) is int else None
        abroad = self.settled.logs[found.function].abroad
        if isinstance(made, ast.Call) and any(site.at is made for site in abroad):
            return made
        return found.at

    def _abroad(self, found: Behind) -> event.Meeting:
        """A plain tensor of a module whose class another file defines; told where it is used."""
        left = self.traced(found.one, found.here, found.at, found.function)
        origin = found.origin._replace(how="abroad")
        right = self.traced(found.other, found.there, found.other_at, found.function)
        at = self.at(found.at, found.function, found.raw.why, found.raw.loops)
        left = left._replace(origin=origin)
        return event.Meeting(at, found.raw.how, left, right, found.conflict, sibling_moved=False)

    def _apart(self, found: Apart) -> event.Meeting:
        """What the program put in two places; told at the side that is on the cpu, or that stands first."""
        raw = found.raw
        left = self.traced(found.one, found.here, found.at, found.function)
        if left.origin is not None and left.place.form is Form.LITERAL:
            left = left._replace(origin=left.origin._replace(how="literal"))
        elif left.origin is not None and left.origin.how in MADE:
            left = left._replace(origin=left.origin._replace(how="made"))  # and to be moved by its caller
        right = self._met(self.traced(found.other, found.there, found.other_at, found.function), raw)
        if left.label == right.label and type(found.one.who) is int:  # both are parts of what is called there
            left = left._replace(label=self.settled.objects.labels[found.one.who] or left.label)
        at = self.at(found.at, found.function, raw.why, raw.loops)
        surely = _surely(left, right)
        if raw.how == "operator" and not self._has_dimensions(found.one, left.certain):
            surely = Conflict.PRESUMED  # with none it may meet what is anywhere
        return event.Meeting(at, raw.how, left, right, surely, sibling_moved=False)

    def _has_dimensions(self, value: Value, certain: bool) -> bool:
        """Whether anything but a guess says that a tensor has dimensions."""
        if type(value.who) is int and self.settled.seen(value.who) & Evidence.SHAPED:
            return True
        return certain and not self._presumed.is_of_any_model(value)

    @cached_property
    def _called(self) -> set[ast.AST]:
        """What the calls of the file call: what was bound to that before stands there as well."""
        return {node.func for node in self.file.nodes if isinstance(node, ast.Call)}

    def _is_function(self, name: str) -> bool:
        return any(function.own_name == name for function in self.file.functions.values())

    def binds(self, wants: Wants) -> Iterator[event.Bind]:
        """What is assigned to attributes and items."""
        for function, log in self.settled.logs.items():
            for node, raw in log.binds.items():
                if not isinstance(node, _TARGETS) or not wants("bind", raw.name):
                    continue
                owner = node.args[0] if isinstance(node, ast.Call) else node.value
                at, hides = self._around(function, raw.why, raw.loops), self._hidden.get(node)
                sketch = event.Bind(at, raw.target, None, raw.name, _UNSEEN, hides)
                if wants("bind", raw.name, sketch):
                    yield sketch._replace(
                        at=self._placed(at, node),
                        owner=self.seen(raw.owner, raw.owner.place, owner, function),
                        value=self.seen(raw.value, raw.value.place, None, function),
                        touched=self._touched(function, raw.touched),
                    )

    @cached_property
    def _hidden(self) -> dict[ast.AST, event.Hidden]:
        """By the target of an assignment, what a module does not know of."""
        judged = self._judged
        return dict(hidden(self.settled, self._found_behind, judged.kept(), judged.may_follow))

    @cached_property
    def _found_behind(self) -> tuple[Behind, ...]:
        return tuple(self._judged.found())

    @cached_property
    def _judged(self) -> Meetings:
        return Meetings(self.settled, self.text)

    @property
    def _presumed(self) -> Presumed:
        return self._judged.presumed

    @cached_property
    def _before_moves(self) -> set[ast.expr]:
        """The conditions of statements, or of expressions, that do nothing but move."""
        return {
            part
            for node in self.file.nodes
            if _only_moves(node)
            for test in (node.test.values if isinstance(node.test, ast.BoolOp) else (node.test,))
            for part in (test, test.operand if isinstance(test, ast.UnaryOp) else test)
        }

    @cached_property
    def _alternatives(self) -> dict[ast.expr, list[ast.Compare]]:
        """By each comparison that has such, those beside which it is one of several: `a == b or a == c`."""
        found: dict[ast.expr, list[ast.Compare]] = {}
        for node in self.file.nodes:
            parts = node.values if isinstance(node, ast.BoolOp) else []
            compared = [part for part in parts if isinstance(part, ast.Compare)]
            for part in compared if len(compared) > 1 else ():
                same = ast.unparse(part.left)
                found[part] = [
                    each for each in compared if each is not part and ast.unparse(each.left) == same
                ]
        return found

    def _decides(self, log: Log, node: ast.Compare, raw: RawCompare) -> Literal["", "move", "alternative"]:
        """What a comparison with a device decides."""
        kinds = [raw.left[1].kind, raw.right[1].kind]
        if Kind.DEVICE not in kinds:
            return ""
        if node in self._before_moves:
            return "move"
        others = (log.compares[each] for each in self._alternatives.get(node, ()) if each in log.compares)
        return "alternative" if any(each.right[1].kind is not kinds[1] for each in others) else ""

    def comparisons(self, wants: Wants) -> Iterator[event.Compare]:
        """Values that are compared."""
        for function, log in self.settled.logs.items():
            for node, raw in log.compares.items():
                at = self._around(function, raw.why, raw.loops)
                left = _UNSEEN._replace(kind=self._kind(raw.left[1], function))
                right = _UNSEEN._replace(kind=self._kind(raw.right[1], function))
                sketch = event.Compare(at, raw.operator, "", left, right)
                if not wants("compare", "", sketch):
                    continue
                yield sketch._replace(
                    at=self._placed(at, node),
                    decides=self._decides(log, node, raw),
                    left=self.seen(raw.left[1], raw.left[1].place, raw.left[0], function),
                    right=self.seen(raw.right[1], raw.right[1].place, raw.right[0], function),
                )


def _surely(*sides: Seen) -> Conflict:
    """How surely values are apart that the program itself put there, if they are what they seem to be."""
    return Conflict.PRESUMED if any(side.presumed for side in sides) else Conflict.CERTAIN


def _weaker(why: Why, other: Why) -> bool:
    """Whether less speaks for an accelerator in one place than in another."""
    return (why.guarded, why.needed) < (other.guarded, other.needed)


def _only_moves(node: ast.AST) -> TypeGuard[ast.If | ast.IfExp]:
    """Whether a condition decides nothing but whether something moves: `x.to(d) if … else x` too."""
    if isinstance(node, ast.If):
        return not node.orelse and all(map(_is_move, node.body))
    if not isinstance(node, ast.IfExp):
        return False
    return any(
        (moved := _moved(one)) is not None and ast.unparse(moved) == ast.unparse(other)
        for one, other in ((node.body, node.orelse), (node.orelse, node.body))
    )


def _base(target: ast.expr) -> str:
    """The variable that an assignment binds, or of which it binds an item."""
    return last_name(target.value if isinstance(target, ast.Subscript) else target)


def _brings(log: Log, node: ast.AST) -> bool:
    """Whether anything in an expression brings something to the cpu."""
    return any(
        isinstance(part, ast.Call)
        and (moved := log.moves.get(part)) is not None
        and moved.target is not None
        and moved.target.form is Form.CPU
        for part in ast.walk(node)
    )


def _is_move(node: ast.stmt) -> bool:
    """Whether a statement does nothing but move what has a name: what wraps it first does more."""
    return isinstance(node, (ast.Assign, ast.Expr)) and _moved(node.value) is not None


def _moved(call: ast.expr) -> ast.expr | None:
    """What a call moves, if it has a name."""
    if not isinstance(call, ast.Call) or last_name(call) not in knowledge.MOVES:
        return None
    moved = call.func.value if isinstance(call.func, ast.Attribute) else None
    return moved if isinstance(moved, (ast.Name, ast.Attribute, ast.Subscript)) else None


def _held_at(value: Value) -> Place:
    """Where a value is; of a container, where the tensors in it are."""
    element = element_of(value) if value.kind is Kind.CONTAINER else None
    return element.place if element is not None and element.kind in TENSORS else value.place


def _is_test_case(cls: Class) -> bool:
    """Whether a class derives from one that is called a test case."""
    return any(
        "test-case" in knowledge.hints("base", name) for each in cls.lineage() for name in each.library_bases
    )
