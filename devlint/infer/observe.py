"""From what runs recorded to events, once all evidence is in: the plain data that rules see."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, Protocol, TypeGuard

from .. import knowledge
from ..bind.names import last_name
from ..bind.sections import Section
from ..bind.sections import line as row
from ..bind.text import Text
from ..bind.uses import Uses
from ..core import events as event
from ..core.events import Becoming, Harmless, Holder, Seen, Spot, Why
from ..core.evidence import Evidence
from ..core.kinds import TENSORS, Kind
from ..core.paths import Ref
from ..core.places import CPU, ON_DEVICE, UNKNOWN_PLACE, Form, Place
from ..core.state import LOADED, OPTIMIZER, STEPPED
from ..core.summary import Marked
from ..core.values import OF_LEAF, Defined, Origin, Value, element_of
from .encounters import Encounters
from .fed import fed
from .hidden import hidden
from .left import keeping, left
from .log import Log, RawCall, RawCompare, RawMove, Stale
from .lost import lost
from .machine import COPIES, REPLACES
from .settle import Settled


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
    if wants("meeting", ""):
        found = observer.rehearsed(found)
    if wants("compare", ""):
        found += observer.comparisons(wants)
    found.sort(key=lambda each: (each.at.span, type(each).__name__))
    return tuple(found)


_PLACING: tuple[event.Role, ...] = ("argument", "default", "chosen")
"""What literals are for that something goes to."""


class Observer(Encounters):
    """Turns raw events into finished ones."""

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
                    told = self._told_at(function, call, stale)
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
        stale = self._told_at(function, node, log.stale.get(node, ()))
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
            tuple(map(self._holder, stale)),
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
        if self._is_done_with(function, node, stale) or self._is_mended(stale):
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
        made, notes = self.node(*stale.mark.at), self.settled.logs[function].notes
        if stale.method not in REPLACES and notes.get(stale.holder, 0) & Evidence.MENDED:
            return True  # the function at hand moves the state of what it is given
        if made is None and stale.protocol == OPTIMIZER:
            return self._is_left_alone(stale)
        if stale.protocol != OPTIMIZER or stale.mark.at[0] != function or made is None:
            return False
        new = stale.method in REPLACES
        if not new and notes.get(stale.holder, 0) & Evidence.RENEWED:
            return True
        uses = self._uses.get(function)
        if uses is None:
            uses = Uses(self.file.functions.get(function, self.file.module).node)
            self._uses[function] = uses
        name = uses.bound_to(made)
        if name is not None and not new and knowledge.OPTIMIZER_STATE in uses.attributes(name):
            return True  # by hand, and perhaps before the parameters
        read = uses.after(name, node, self._is_scheduler) if name is not None else None
        if read is None or name is None or not (function or uses.attributes(name) & knowledge.STEPS):
            return False  # others have it; of the module's, other files may
        renewed = (index for index, each in enumerate(read) if each in knowledge.RENEWS_STATE and not new)
        return knowledge.STEPS.isdisjoint(read[: next(renewed, len(read))])

    def _is_mended(self, stale: Stale) -> bool:
        """Whether the function that built an optimizer gives it to one that moves its state by hand."""
        if stale.method in REPLACES or stale.mark.at[0] not in self.settled.logs:
            return False
        built = self.settled.objects.made(*stale.mark.at, "made")
        return bool(self.settled.logs[stale.mark.at[0]].notes.get(built, 0) & Evidence.MENDED)

    def _told_at(self, function: str, node: ast.AST, stale: tuple[Stale, ...]) -> tuple[Stale, ...]:
        """What is told of where a module is moved."""
        return tuple(
            each for each in stale if not self._told(function, node, each) and self._loaded_by(each) is None
        )

    def _loaded_by(self, stale: Stale) -> tuple[str, int] | None:
        """The call of this file that gave an optimizer its state, which is told of there."""
        since, known = stale.mark.since, stale.mark.counts_as == LOADED and stale.method not in REPLACES
        if since is None or not known or since[0] not in self.settled.logs:
            return None
        return since if self.node(*since) in self.settled.logs[since[0]].calls else None

    @cached_property
    def _left(self) -> dict[tuple[str, int], list[event.Left]]:
        """What is moved after the state of its optimizer was loaded, by the call that loaded it."""
        found: dict[tuple[str, int], list[event.Left]] = {}
        for function, log in self.settled.logs.items():
            for node, stale in log.stale.items():
                for each in stale:
                    since = self._loaded_by(each)
                    if since is None or not isinstance(node, ast.Call) or self._told(function, node, each):
                        continue
                    left = self._left_by(function, log, node, each)
                    if left is not None:
                        found.setdefault(since, []).append(left)
        return found

    def _left_by(self, function: str, log: Log, node: ast.Call, stale: Stale) -> event.Left | None:
        """What is moved; None where on one path it may stay where it is."""
        raw, moved = log.moves.get(node), node.func.value if isinstance(node.func, ast.Attribute) else node
        at = raw.given or moved if raw is not None else moved
        told = self._move(function, log, node, at, raw) if raw is not None else None
        move = told or self._brought_about(function, node, (stale,))
        if Form.EITHER in {place.form for place in (move.receiver.place, move.target) if place is not None}:
            return None
        holder = self._holder(stale)
        spot = Spot("moved", move.at.span, move.receiver.label, "")
        spots = (spot, *((holder.spot._replace(label=holder.name),) if holder.spot is not None else ()))
        line = row(node.lineno, self.sections)
        by_name = isinstance(node.func, ast.Attribute) and node.func.attr == move.method
        return event.Left(move.receiver.label, holder.name, line, spots, raw is not None and by_name)

    def _is_left_alone(self, stale: Stale) -> bool:
        """Whether an optimizer of another file's objects is stepped by nothing that this file calls."""
        view = self.file.view(stale.mark.at[0].rpartition(".")[0])
        if view is None:
            return False
        called = {last_name(node) for node in self.file.nodes if isinstance(node, ast.Call)}
        methods = (cls.methods[name] for cls in view.lineage() for name in called & cls.methods.keys())
        return knowledge.STEPS.isdisjoint(called) and not any(map(self._steps, methods))

    def _steps(self, function: str) -> bool:
        """Whether a function steps an optimizer of its object."""
        summary = self.file.summary(function)
        return summary is None or any(
            isinstance(effect, Marked) and (effect.protocol, effect.phase) == (OPTIMIZER, STEPPED)
            for effect in summary.effects
        )

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
                    "needing": loads
                    and (log.needs_after(home.number(node)) or self._owner(function) in self._on_cuda),
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
                    receiver = self._as_answered(self._by_use(receiver, raw.receiver), raw.receiver)
                within = raw.args.within() if "forks" in sketch.topics else ()
                given = {
                    name: self._by_use(self.seen(value, place_of(value, at, raw), at, function), value)
                    for name, at, value in (*raw.args.named(), *within)
                }
                if knowledge.DRAWN_WITH in given:
                    self._hand(given, raw, function)
                yield sketch._replace(
                    at=self._placed(at, node),
                    receiver=receiver,
                    given=given,
                    becomes=self._becomes(function, node, raw) if "loads" in sketch.topics else frozenset(),
                    touched=self._touched(function, raw.touched),
                    leaves=tuple(self._left.get((function, home.number(node)), ())),
                )

    def _by_use(self, seen: event.Seen, value: Value) -> event.Seen:
        """What belongs to a module that an object runs on a device lies with that module."""
        place, of = seen.place, value.place.of
        if place.form is not Form.AT or place.name or type(of) is not int:
            return seen
        return seen._replace(place=place._replace(name=self._fed.get(of, "")))

    def _as_answered(self, seen: event.Seen, value: Value) -> event.Seen:
        """What a call gave of which nobody knows what it does may lie where what it was given was brought."""
        ref = value.place.of if value.place.form is Form.AT else value.who
        if type(ref) is not int or seen.place.form not in (Form.AT, Form.UNKNOWN) or value.origin is not None:
            return seen
        place = self._answered.get(self.settled.made_by(self.settled.objects.top(ref)))
        return seen if place is None else seen._replace(place=self.named(place), answered=True)

    @cached_property
    def _answered(self) -> dict[ast.AST | None, Place]:
        return {node: place for log in self.settled.logs.values() for node, place in log.answers.items()}

    @cached_property
    def _fed(self) -> dict[Ref, str]:
        return fed(self.settled)

    @cached_property
    def _on_cuda(self) -> frozenset[str]:
        """The classes with a method that moves to CUDA whether or not it is there: they run nowhere else."""
        return frozenset(
            self._owner(function)
            for function, log in self.settled.logs.items()
            if any(raw.method == knowledge.CUDA and not raw.why.guarded for raw in log.moves.values())
        ) - {""}

    def _hand(self, given: dict[str, Seen], raw: RawCall, function: str) -> None:
        """Tell of what draws numbers, and of where, whose parameters they are."""
        for name, _, value in raw.args.named():
            if name in knowledge.WHERE_DRAWN:
                handed = self.handed(value, value.place, function, name == knowledge.DRAWN_WITH)
                given[name] = given[name]._replace(given=handed)

    def _becomes(self, function: str, node: ast.Call, raw: RawCall) -> frozenset[str]:
        """What is loaded, by its use, or by that of what the function loads from the same path elsewhere."""
        path = _path(raw)
        return self._loaded(function, node) or (
            self._placed_when_loaded.get((function, path), frozenset()) if path else frozenset()
        )

    def _loaded(self, function: str, node: ast.Call) -> frozenset[str]:
        home = self.file.functions.get(function, self.file.module)
        ref = self.file.objects.made(function, home.number(node), "")
        return self.settled.becomes(ref)

    @cached_property
    def _placed_when_loaded(self) -> dict[tuple[str, str], frozenset[str]]:
        """By function and path, what is loaded where it is said to which device."""
        return {
            (function, _path(raw)): what
            for function, log in self.settled.logs.items()
            for node, raw in log.calls.items()
            if "loads" in knowledge.topics_of_call(raw.callee)
            and any(name == knowledge.MAPPED for name, _, _ in raw.args.named())
            and (what := self._loaded(function, node))
        }

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
                role = "followed" if role == "chosen" and why.tensor else role
                role = "beyond" if role in _PLACING and self._is_beyond(node.value, why) else role
                told = event.Literal_(self.at(node, function, why, raw.loops), str(node.value), role)
                known = found.get(node)
                if known is None or _weaker(why, known.at.guard):
                    found[node] = told
        for each in left(self.settled):
            if wants("literal", each.text):
                at = self.at(each.at, each.function, each.site.why, 0)
                found[each.at] = event.Literal_(at, each.text, "left")
        for function, node, role in lost(self.settled):
            if wants("literal", str(node.value)):
                found[node] = event.Literal_(self.at(node, function, Why(), 0), str(node.value), role)
        for name, told in keeping(self.settled, found.items()):
            found[name] = told._replace(role="kept")
        yield from found.values()

    def _is_beyond(self, name: object, why: Why) -> bool:
        """Whether it names another than the first accelerator where a condition asks for any."""
        index = name.rpartition(":")[2] if isinstance(name, str) else ""
        asked = why.certain and not (why.hints or why.tensor)
        return asked and index.isdigit() and int(index) > 0 and not self._counts

    @cached_property
    def _counts(self) -> bool:
        """Whether the file asks how many accelerators there are."""
        calls = (raw.callee for log in self.settled.logs.values() for raw in log.calls.values())
        return not frozenset(calls).isdisjoint(knowledge.COUNTS_DEVICES)

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


def _path(raw: RawCall) -> str:
    """How a call writes what it loads."""
    return next((ast.unparse(at) for name, at, _ in raw.args.named() if name == knowledge.SAVED_AT), "")
