"""Statements: how values flow through assignments, branches, loops and exits of one function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from .. import knowledge
from ..bind.names import bound_names, is_place, last_name, names_in
from ..bind.reads import Reads
from ..bind.sections import Measured, Ran, Shown
from ..core.events import Why
from ..core.evidence import Evidence
from ..core.kinds import MAY_HOLD_TENSORS, TENSORS, Kind
from ..core.objects import Apart, Objects
from ..core.paths import Element, Root
from ..core.places import CPU, MOVED_TO, UNKNOWN_PLACE, Branch, Form, Place
from ..core.state import Key, State, changed, join_states
from ..core.summary import Answers
from ..core.values import (
    DTYPE,
    NONE,
    NUMBER,
    TORCH_DEVICE,
    UNKNOWN,
    Defined,
    Value,
    brought_back,
    dotted,
    element_of,
    is_made,
    library_value,
    truth_of,
)
from . import cases, conditions, lazily, recalled, renamed
from .annotations import annotated
from .definitions import Function
from .expressions import Expressions
from .log import RawMeeting
from .machine import Program
from .timed import Timed
from .transfers.builtins import imported

_MAX_NESTING = 5
"""Loops nested deeper are run once: each level doubles the work."""
_MAX_SPOKEN_TO = 8
"""Of so many modules, a loop that only calls methods of each is gone through for each."""

Handler = TypeVar("Handler", bound=Callable[..., None])
_STATEMENTS: dict[type, Callable[[Any, Any], None]] = {}


def _on(*types: type) -> Callable[[Handler], Handler]:
    def register(method: Handler) -> Handler:
        for node_type in types:
            _STATEMENTS[node_type] = method
        return method

    return register


class Loop(NamedTuple):
    """A loop being run: what it iterates, and the variables it binds."""

    node: ast.For | ast.AsyncFor
    bound: dict[str, Value]


class _Test(NamedTuple):
    """The condition of an `if`."""

    node: ast.expr
    value: Value
    device: tuple[bool, Place] | None
    """How it comes out where a device is named, if that is what it asks, and the place that is named."""


class Answer(NamedTuple):
    """One `return`."""

    node: ast.expr | None
    value: Value
    why: Why
    missing: bool = False
    """Whether a parameter is known to be None there."""


class Statements(Expressions):
    """Runs the statements of one function, or of the module, over abstract values."""

    def __init__(self, program: Program, objects: Objects, here: Function, state: State) -> None:
        super().__init__(program, objects, here, state)
        self.looping: list[Loop] = []
        self.breaks: list[State] = []
        self.continues: list[State] = []
        self.exits: list[State] = []
        self.returned: Value | None = None
        self.answers: list[Answer] = []
        self.globals: set[str] = set()
        self.trying = 0
        """How many `try` bodies enclose the statement at hand whose failure does not end the program."""
        self.typing = False
        """Inside `if TYPE_CHECKING:`."""
        self.measured: Measured | None = None
        """What the statement at hand is part of that is run for its duration."""
        self._reads: Reads | None = None
        self._timed: Timed | None = None

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Run statements until control leaves."""
        for statement in body:
            if not self.state.alive:
                return
            handler = _STATEMENTS.get(type(statement))
            if handler is not None:
                context = (self.trying, self.probing, self.loops, self.depth, self.typing, self.branches)
                outer = (self.breaks, self.continues, len(self.looping))
                try:
                    handler(self, statement)
                except RecursionError:  # before Python 3.11 nobody knows how deep one may go
                    self.trying, self.probing, self.loops, self.depth, self.typing, self.branches = context
                    self.breaks, self.continues, loops = outer
                    del self.looping[loops:]

    # Simple statements

    @_on(ast.Expr)
    def _expr(self, node: ast.Expr) -> None:
        value = node.value
        if isinstance(value, ast.Constant):
            return
        if isinstance(value, ast.IfExp):
            self._conditional(value)
            return
        self._mark_discarded(value)
        self.after(value, self.eval(value))
        if isinstance(value, ast.ListComp) and value.elt in self.log.moves:
            call = value.elt
            assert isinstance(call, ast.Call)
            self.log.moves[call] = self.log.moves[call]._replace(iterates=value.generators[-1].iter)
        if isinstance(value, ast.Call) and last_name(value) in knowledge.EXITS:
            self.state.alive = False

    def after(self, expression: ast.expr, value: Value) -> None:
        """A statement has evaluated an expression."""

    def _mark_discarded(self, value: ast.expr) -> None:
        if isinstance(value, ast.Call):
            self._discard(value, alone=True)
        elif isinstance(value, ast.ListComp) and isinstance(value.elt, ast.Call):
            self._discard(value.elt)
        elif isinstance(value, ast.Tuple):  # `x, y.to(device)`
            for item in value.elts:
                self._discard(item)

    def _discard(self, node: ast.expr, alone: bool = False) -> None:
        """A statement evaluates this and throws it away, unless that is what it is there for."""
        if self.probing:
            return
        measured = self.measured is not None and isinstance(node, ast.Call) and self.measured.on_purpose(node)
        if last_name(node) in knowledge.MOVES and not measured:
            self._timed = self._timed or Timed(self)
            measured = self._timed.has(node)
        self.fates[node] = ("displayed", False) if measured else ("discarded", alone)

    @_on(Ran)
    def _ran(self, node: Ran) -> None:
        env: dict[Key, Value] = {
            name: value for name, value in self.state.env.items() if isinstance(name, str)
        }
        self.run(node.body)
        if node.apart:
            env |= {part: value for part, value in self.state.env.items() if not isinstance(part, str)}
            self.state.env = env
        self.state.alive = True

    @_on(Shown)
    def _shown(self, node: Shown) -> None:
        self.fates[node.value] = ("displayed", False)
        self.eval(node.value)

    @_on(Measured)
    def _measure(self, node: Measured) -> None:
        around, self.measured = self.measured, node
        self.run(node.body)
        self.measured = around

    def _conditional(self, value: ast.IfExp) -> None:
        """`x.to(d) if a else y`, as a statement: a branch."""
        test = self.eval(value.test)
        conditions.prepare(self, value.test)
        otherwise = self.state.copy()
        conditions.assume(self, value.test, test, True)
        self._part_of_statement(value.body)
        then, self.state = self.state, otherwise
        conditions.assume(self, value.test, test, False)
        self._part_of_statement(value.orelse)
        self.state = join_states(then, self.state, self.either)

    def _part_of_statement(self, value: ast.expr) -> None:
        if isinstance(value, ast.IfExp):
            self._conditional(value)
            return
        if isinstance(value, ast.Call):
            self._discard(value)
        self.eval(value)

    @_on(ast.Assign)
    def _assign(self, node: ast.Assign) -> None:
        if self.looping and len(node.targets) == 1 and self.measured is None:
            self._rebinding(node)
        value = conditions.kept_flag(node.value, self.eval(node.value))
        for target in node.targets:
            self.bind(target, value)
            if isinstance(target, ast.Subscript) and value.kind in MAY_HOLD_TENSORS:
                self._read_by_array(target, node.value, value)

    def _read_by_array(self, target: ast.Subscript, at: ast.expr, value: Value) -> None:
        """`scores[i:j] = x`: an array reads what is stored in a part of it from the host's memory."""
        indices = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        if not is_place(target.value) or not any(isinstance(each, ast.Slice) for each in indices):
            return
        array = self.eval(target.value)
        if array.kind is Kind.ARRAY:
            here = self.where(value)
            self.log.hosted[at] = RawMeeting(
                "array", at, here, value, target.value, CPU, array, self.state.why, self.loops
            )

    def _rebinding(self, node: ast.Assign) -> None:
        """`for x in xs: x = x.to(d)`, where nothing reads `x` afterwards: the container keeps its tensors."""
        target, call = node.targets[0], node.value
        if not (
            isinstance(target, ast.Name)
            and isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == target.id
        ):
            return
        if call.func.attr not in knowledge.MOVES and call.func.attr not in knowledge.CASTS:
            return
        loop = self._loop_binding(target.id)
        if loop is None or self._from_loader(loop.bound[target.id], loop):
            self.fates.pop(call, None)
            return
        if self.reads.after(target.id, node, loop.node):
            return
        if self._uses_up(target.id, loop):
            self.fates.pop(call, None)
            return
        self.fates[call] = ("rebound", False)

    @property
    def reads(self) -> Reads:
        """What the function reads, and where."""
        if self._reads is None:
            self._reads = Reads(self.here.node)
        return self._reads

    def _loop_binding(self, name: str) -> Loop | None:
        """The innermost loop that binds a name, if nothing has bound it anew since."""
        for loop in reversed(self.looping):
            if name in loop.bound:
                return loop if self._is_still(self.state.env.get(name), loop.bound[name]) else None
        return None

    def _is_still(self, now: Value | None, bound: Value) -> bool:
        """Whether a variable is what it was bound to, about which conditions may have told more since."""
        if now == bound:
            return True
        ref, objects = now.who if now is not None else None, self.objects
        while type(ref) is int and isinstance(objects.ways[ref], Apart):
            ref = objects.parents[ref]
            if ref == bound.who:
                return True
        return False

    def iterated(self, receiver: ast.expr, statement: ast.expr) -> ast.expr | None:
        """What is iterated, when an expression is a loop variable that nothing reads after the statement."""
        if not isinstance(receiver, ast.Name):
            return None
        loop = self._loop_binding(receiver.id)
        if loop is None or self._from_loader(loop.bound[receiver.id], loop):
            return None
        rebound = statement in self.fates and self.fates[statement][0] == "rebound"
        if not rebound and self.reads.after(receiver.id, statement, loop.node):
            return None
        return None if self._uses_up(receiver.id, loop) else loop.node.iter

    def skips(self, target: ast.expr) -> bool:
        """Whether the loop at hand leaves out an assignment in some rounds."""
        if not self.looping:
            return False
        return any(
            node.lineno < target.lineno and (isinstance(node, ast.Continue) or _is_in(target, node))
            for node in ast.walk(self.looping[-1].node)
            if isinstance(node, (ast.Continue, ast.If))
        )

    def _uses_up(self, name: str, loop: Loop) -> bool:
        """Whether a loop changes, and goes on to use, another part of what it yields: it keeps nothing."""
        return any(
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(other := node.targets[0], ast.Name)
            and other.id != name
            and other.id in loop.bound
            and other.id in names_in(node.value)
            and self.reads.after(other.id, node, loop.node)
            for node in ast.walk(loop.node)
        )

    def _from_loader(self, value: Value, loop: Loop) -> bool:
        """Whether the loop is over a loader, which makes new batches every round and keeps none."""
        ref = self.ref(value)
        if value.kind is not Kind.BATCH or value.place.form is not Form.CPU or ref is None:
            return False
        whole = self.objects.wholes[ref]
        way = self.objects.ways[whole if whole >= 0 else ref]
        if not isinstance(way, Element) or way.at < 0:
            return False
        made_at = self.here.nodes[way.at]
        return any(node is made_at for node in ast.walk(loop.node.iter))

    @_on(ast.AnnAssign)
    def _annassign(self, node: ast.AnnAssign) -> None:
        ref = self.objects.made(self.here.name, self.here.number(node), "annotated")
        promised = annotated(self, node.annotation, ref)
        if node.value is None:
            if promised is not None and not self.here.name and isinstance(node.target, ast.Name):
                self.bind(node.target, promised)
            return
        value = conditions.kept_flag(node.value, self.eval(node.value))
        if value.kind is Kind.UNKNOWN and promised is not None:
            flag = value.known
            value = promised._replace(who=value.who if value.who is not None else ref)
            if value.kind is Kind.NUMBER and value.known is None:
                value = value._replace(known=flag)
        if self.class_body and value.known == TORCH_DEVICE and (promised or NONE).kind is not Kind.DEVICE:
            value = value._replace(known=None)  # a field, of what may be given a string as well
        self.bind(node.target, value)

    @_on(ast.AugAssign)
    def _augassign(self, node: ast.AugAssign) -> None:
        before = self.eval(node.target)
        given = self.eval(node.value)
        value = self.operate(node, node.op, (node.target, before), (node.value, given), in_place=True)
        if before.kind is Kind.PARAMETER:
            value = before  # what is added to it in place is added to what it holds
        elif isinstance(node.target, ast.Attribute) and before.kind is Kind.UNKNOWN and is_made(value):
            value = UNKNOWN  # and so it is where it was
        self.bind(node.target, value)

    @_on(ast.Return)
    def _return(self, node: ast.Return) -> None:
        value = NONE if node.value is None else self.eval(node.value)
        if (self.state.without and is_made(value)) or self._is_part_of_moved(value):
            value = value._replace(origin=None)
        returns = getattr(self.here.node, "returns", None)
        if returns is not None:
            self._evidence_of_annotation(returns, value)
        self.returned = value if self.returned is None else self.join(self.returned, value)
        missing = any(
            (given := self.state.env.get(name)) is not None and given.kind is Kind.NONE
            for name in self.here.positional
        )
        self.answers.append(Answer(node.value, value, self.state.why, missing))
        self.exits.append(self.state)
        self.state = self.state.copy()
        self.state.alive = False

    def _is_part_of_moved(self, value: Value) -> bool:
        """Whether a value is a module that was made on the cpu as part of another, and moved with that."""
        ref = self.ref(value) if value.kind is Kind.MODULE and value.origin is not None else None
        if ref is None or isinstance(self.objects.ways[ref], Root):
            return False
        return self.place_at(ref) not in (None, CPU)

    def _evidence_of_annotation(self, annotation: ast.expr, value: Value) -> None:
        promised = annotated(self, annotation, None)
        ref = self.ref(value)
        if promised is None or ref is None or value.kind is not Kind.UNKNOWN:
            return
        if promised.kind in TENSORS:
            self.log.note(ref, Evidence.TENSOR)
        elif promised.element is not None and promised.element.kind in TENSORS:
            self.log.note(self.objects.part(ref, Element()), Evidence.TENSOR)

    @_on(ast.Raise)
    def _raise(self, node: ast.Raise) -> None:
        if node.exc is not None:
            self.eval(node.exc)
        self.state.alive = False

    @_on(ast.Break)
    def _break(self, node: ast.Break) -> None:
        self.breaks.append(self.state.copy())
        self.state.alive = False

    @_on(ast.Continue)
    def _continue(self, node: ast.Continue) -> None:
        self.continues.append(self.state.copy())
        self.state.alive = False

    @_on(ast.Assert)
    def _assert(self, node: ast.Assert) -> None:
        conditions.assume(self, node.test, self.eval(node.test), True)

    @_on(ast.Delete)
    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.state.env.pop(target.id, None)

    @_on(ast.Global, ast.Nonlocal)
    def _global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.globals.update(node.names)

    @_on(ast.Import)
    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            imported(self, alias.name, bool(self.trying))
            name = alias.asname or alias.name.split(".")[0]
            if not self.here.name:
                self.program.import_for_types(name, self.typing)
            self.state.env[name] = library_value(alias.name if alias.asname else name)

    @_on(ast.ImportFrom)
    def _importfrom(self, node: ast.ImportFrom) -> None:
        source = "." * node.level + (node.module or "")
        imported(self, source, bool(self.trying))
        for alias in node.names:
            if alias.name == "*":
                self.program.import_all(source)
                continue
            full = f"{source}{alias.name}" if source.endswith(".") else f"{source}.{alias.name}"
            found = DTYPE if full in knowledge.DTYPES else library_value(full)
            found = NUMBER if full in knowledge.CONSTANTS else found
            self.state.env[alias.asname or alias.name] = found

    # Branches

    @_on(ast.If)
    def _if(self, node: ast.If) -> None:
        chain = node
        waiting: list[tuple[ast.If, _Test, State, frozenset[tuple[str, Answers]]]] = []
        before, met = len(self.log.kept), len(self.log.meetings)
        rest: list[ast.stmt] = []
        apart: recalled.Narrowed = {}
        while True:
            test = self.eval(node.test)
            settled = cases.outcome(self, node.test)
            if settled is None and cases.said_of(test) == cases.FALSE and _names_device(node.body):
                settled = False  # `if use_cuda: device = "cuda"`, after `use_cuda = False`
            if settled is not None:
                conditions.narrow(self, node.test, settled)
                rest = node.body if settled else node.orelse
                if settled or len(rest) != 1 or not isinstance(rest[0], ast.If):
                    break
                node = rest[0]
                continue
            parts = cases.asked(self, node.test)
            device = conditions.device_asked(self, node.test)
            conditions.prepare(self, node.test)
            otherwise = self.state.copy()
            conditions.take(self, node.test, test, True)
            typing, self.typing = self.typing, self.typing or last_name(node.test) in knowledge.TYPING_ONLY
            asked = not conditions.asks_for_main(node.test)
            left = self._ways_out()
            self.branches += asked
            unmoved = recalled.narrow(self, node.test, True)
            self.run(node.body)
            recalled.restore(self.state, unmoved)
            self.branches -= asked
            self.typing = typing
            parts = frozenset() if self._fails(left) else parts
            waiting.append((node, _Test(node.test, test, device), self.state, parts))
            goes_on = self.state.alive
            self.state = otherwise
            conditions.take(self, node.test, test, False)
            unmoved = recalled.narrow(self, node.test, False)
            apart |= unmoved if goes_on else {}
            rest = node.orelse
            if len(rest) != 1 or not isinstance(rest[0], ast.If):
                break
            node = rest[0]  # an `elif`: in a loop, as there may be hundreds
        left = self._ways_out()
        self.branches += 1
        self.run(rest)
        recalled.restore(self.state, apart)
        self.branches -= 1
        fails = self._fails(left)
        moved, meets = len(self.log.kept) > before, len(self.log.meetings) > met
        for each, asked_for, then, parts in reversed(waiting):
            test = asked_for.value
            if parts and not fails and (moved or meets or cases.parted(then, self.state)):
                self.log.deciding |= parts
            fails = False
            conditional: dict[Key, Place] = {}
            if moved:
                conditional = self._moved_on_one_path(chain, each, asked_for, then, self.state)
            if test.kind is Kind.FLAG and conditions.asks_machine(each.test):
                self._note_choices(then, self.state)
            chooses = conditions.truth(each.test, test) is not None
            chosen = _chosen(then, self.state) if chooses else ()
            filled = lazily.filled(self, each.test, then, self.state)
            conditions.convert_alike(each.test, then, self.state)
            there = self._there(asked_for, then, self.state)
            self.state = join_states(then, self.state, self.either)
            if there is not None:
                self._choose_places(*there)
            self.state.env.update(filled)
            for key in chosen:
                if is_made(self.state.env[key]):
                    self.state.env[key] = self.state.env[key]._replace(origin=None)
            for name, place in conditional.items():
                self.state.env[name] = self.state.env[name]._replace(place=place)

    def _ways_out(self) -> tuple[int, int, int]:
        """How often control has left, other than by an exception."""
        return len(self.exits), len(self.breaks), len(self.continues)

    def _fails(self, left: tuple[int, int, int]) -> bool:
        """Whether control never comes back from a branch, so that a call does not choose it."""
        return not self.state.alive and not self.trying and self._ways_out() == left

    def _note_choices(self, then: State, orelse: State) -> None:
        """Variables that one branch sets to the cpu, and the other leaves as they were."""
        if not (then.alive and orelse.alive):
            return
        for here, there in ((then, orelse), (orelse, then)):
            for name, value in here.env.items():
                given = there.env.get(name)
                if value.place.form is Form.CPU and isinstance(name, str) and given is not None:
                    self.choose(value, given)

    def _moved_on_one_path(
        self, chain: ast.If, node: ast.If, test: _Test, then: State, orelse: State
    ) -> dict[Key, Place]:
        """Variables that one branch moves, with the paths on which they are moved."""
        found: dict[Key, Place] = {}
        if not (then.alive and orelse.alive):
            return found
        asks: Any = conditions.asks(node.test, test.value)
        absent = conditions.without_accelerator(test.value)
        numbers = self.here.number(chain), self.here.number(node)
        beside = conditions.tensor_asked(self, node.test)
        for name, value in changed(orelse.env, then.env):
            other = orelse.env.get(name)
            if (
                beside is not None
                and beside[0]
                and other is not None
                and other.who == value.who
                and other.place.form is Form.CPU
                and self._is_moved_in(node.body, value)
            ):
                found[name] = beside[1]  # `if x.is_cuda: y = y.cuda()`: it is where `x` is
                continue
            if other is None and not isinstance(name, str) and self._is_optional(node, test, value):
                branch = Branch(*numbers, True, asks, recalled.moved_at(self, value))
                found[name] = value.place._replace(form=Form.EITHER, when=frozenset({branch}))
            if other is None or not isinstance(name, str) or other.who != value.who:
                continue
            forms = {value.place.form, other.place.form}
            if value.kind in (Kind.DEVICE, Kind.STRING) or Form.KEPT in forms:
                continue
            if test.device is not None:
                outcome, named = test.device
                if self.follows(value if outcome else other, named):
                    found[name] = named
                    continue
            there, nowhere = (other, value) if absent else (value, other)
            if absent is not None and nowhere.place.form is Form.SAME and Form.CPU in forms:
                found[name] = there.place  # where there is no accelerator, the device is the cpu
                continue
            mine, theirs = (
                _paths(each, Branch(*numbers, side, asks, recalled.moved_at(self, each)))
                for each, side in ((value, True), (other, False))
            )
            if mine is None or theirs is None or not (mine or theirs):
                continue
            both = self._is_moved_in(node.body, value) and self._is_moved_in(node.orelse, other)
            if not both and (brought_back(value) or brought_back(other)):
                continue
            ref = self.ref(value)
            element = ref is not None and self.objects.wholes[ref] >= 0
            if element or Form.CPU in forms or Form.EITHER in forms:
                place = value.place if mine else other.place
                of = place.of if place.form in (Form.SAME, Form.EITHER) else None
                found[name] = Place(Form.EITHER, place.name, of, mine | theirs)
                self.tests.update((each, node.test) for each in mine | theirs if each.test == numbers[1])
                recalled.note(self, name, found[name])
        return found

    def _is_optional(self, node: ast.If, test: _Test, value: Value) -> bool:
        """Whether an attribute is moved in a branch that is not the one for all accelerators."""
        if value.place.form not in MOVED_TO or not self._is_moved_in(node.body, value):
            return False
        if test.device is not None:
            return not self.follows(value, test.device[1])
        said = truth_of(test.value)
        return said is None or not said.machine

    def _there(self, test: _Test, then: State, orelse: State) -> tuple[State, Place | None] | None:
        """The branch that runs only where an accelerator is, by its name or by what the machine says."""
        if not (then.alive and orelse.alive):
            return None
        if test.device is not None:
            outcome, named = test.device
            way = self.objects.ways[named.of] if type(named.of) is int else None
            given = isinstance(way, Root) and way.kind == "parameter"
            if given and not conditions.asks_for_cpu(test.node):
                return None  # callers may leave it out, and then nothing is moved
            return then if outcome else orelse, named
        said = truth_of(test.value)
        if said is None or said.hint or said.if_true is said.if_false:
            return None
        return then if said.if_true else orelse, None

    def _choose_places(self, there: State, named: Place | None) -> None:
        """What is moved where there is an accelerator alone is on the device that is chosen."""
        for ref, place in changed(there.places, self.state.places):
            moved = there.places.get(ref)
            if named is not None and moved == named:
                self.state.places[ref] = named
            elif named is None and place.form is Form.EITHER and place.name and moved is not None:
                self.state.places[ref] = self.chosen(place) if moved.form is Form.LITERAL else place

    def _is_moved_in(self, branch: list[ast.stmt], value: Value) -> bool:
        """Whether a branch itself moves what a variable has there."""
        at = recalled.moved_at(self, value)
        line = getattr(self.here.nodes[at], "lineno", 0) if at >= 0 else 0
        return bool(branch) and branch[0].lineno <= line <= (branch[-1].end_lineno or 0)

    @_on(ast.Match)
    def _match(self, node: ast.Match) -> None:
        self.eval(node.subject)
        result = self.state.copy()
        for case in node.cases:
            before = self.state.copy()
            for part in ast.walk(case.pattern):
                bound = getattr(part, "name", None)
                if isinstance(bound, str):
                    self.state.env[bound] = UNKNOWN
            if conditions.names_accelerator(case.pattern):
                self.require()
            if case.guard is not None:
                self.eval(case.guard)
            self.branches += 1
            self.run(case.body)
            self.branches -= 1
            result = join_states(result, self.state, self.either)
            self.state = before
        self.state = result

    @_on(ast.Try, *([ast.TryStar] if hasattr(ast, "TryStar") else []))
    def _try(self, node: ast.Try) -> None:
        before = self.state.copy()
        why = self.state.why
        if any(_catches_cuda_errors(handler) for handler in node.handlers) and not _loads_again(node):
            self.require("try")
        probe = len(node.body) == 1 and (isinstance(node.body[0], ast.Expr) or _falls_back(node))
        tolerant = any(not isinstance(handler.body[-1], ast.Raise) for handler in node.handlers)
        self.trying += tolerant
        self.probing += probe
        self.log.probed += node.body[:probe]
        self.run(node.body)
        self.probing -= probe
        self.trying -= tolerant
        self.run(node.orelse)
        after = self.state
        if after.alive:
            after.why = why
        result = after
        for handler in node.handlers:
            self.state = join_states(before, after, self.either).copy()
            self.state.why = why
            if handler.name:
                self.state.env[handler.name] = UNKNOWN
            self.run(handler.body)
            result = join_states(result, self.state, self.either)
        self.state = result
        if node.finalbody:
            alive = self.state.alive
            self.state.alive = True
            self.run(node.finalbody)
            self.state.alive = self.state.alive and alive

    @_on(ast.With, ast.AsyncWith)
    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        why, default = self.state.why, self.state.default
        for item in node.items:
            value = self.eval(item.context_expr)
            call = item.context_expr
            callee = self.eval(call.func) if isinstance(call, ast.Call) else UNKNOWN
            if dotted(callee) in knowledge.SETS_CURRENT:
                self.log.current += node.body
            if dotted(callee) in knowledge.CUDA_CONTEXTS:
                self.require()  # which GPU it is: what is made without a device is on the cpu all the same
            else:
                self.enter(value, item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        expects = any(
            isinstance(item.context_expr, ast.Call)
            and last_name(item.context_expr) in knowledge.EXPECTS_FAILURE
            for item in node.items
        )
        marks = self.state.marks.copy() if expects else None
        self.probing += expects
        if expects:
            self.require("try")
            self.log.probed += node.body
        self.run(node.body)
        self.probing -= expects
        if marks is not None:
            self.state.marks = marks  # what fails holds nothing
        if self.state.alive:
            self.state.why = why._replace(needed=self.state.why.needed)
            self.state.default = default

    def enter(self, context: Value, node: ast.expr) -> None:
        """What is made from here on is made within a context."""
        if context.kind is Kind.DEVICE:
            self.state.default = context.place
        elif self._intercepts(context):
            self.state.default = UNKNOWN_PLACE  # what factories are told, it may change
        elif "device" in knowledge.hints("option", last_name(node)):
            self.state.default = UNKNOWN_PLACE  # such as `with parallel_state.device_context():`

    def _intercepts(self, value: Value) -> bool:
        """Whether a context of the project sees each call of torch before it is made."""
        view = self.program.view(value.known.dotted) if isinstance(value.known, Defined) else None
        return view is not None and any(view.method(name) is not None for name in knowledge.INTERCEPTS)

    # Loops

    @_on(ast.For, ast.AsyncFor)
    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        iterable = self.eval(node.iter)
        items = iterable.items or ()
        modules = 0 < len(items) <= _MAX_SPOKEN_TO and all(item.kind is Kind.MODULE for item in items)
        if modules and _speaks_to_each(node):
            self.loops += 1
            for item in items:
                self.bind(node.target, item)
                self.run(node.body)
            self.loops -= 1
            self.run(node.orelse)
            return
        element = self.iterate(iterable, node.iter)
        renamed.note(self, node.target, node.iter, node.body)

        def enter() -> None:
            self.bind(node.target, element)
            self.note_yielded(node.target)
            bound = {name: self.state.env.get(name, UNKNOWN) for name in bound_names(node.target)}
            self.looping.append(Loop(node, bound))
            said = conditions.counts_accelerators(node.iter, iterable)
            if said is not None:
                self.require(said.hint)

        self._loop(node, enter, self.looping.pop)

    @_on(ast.While)
    def _while(self, node: ast.While) -> None:
        def enter() -> None:
            conditions.assume(self, node.test, self.eval(node.test), True)

        self._loop(node, enter, lambda: None)

    def _loop(
        self, node: ast.For | ast.AsyncFor | ast.While, enter: Callable[[], None], leave: Callable[[], object]
    ) -> None:
        """Run a body until what holds at its start no longer changes: twice is enough for nearly all code."""
        outer = self.breaks, self.continues
        self.breaks = []
        start = self.state
        self.loops += 1
        for _ in range(2 if self.loops <= _MAX_NESTING else 1):
            before = start
            self.state = start.copy()
            self.continues = []
            enter()
            self.run(node.body)
            leave()
            for state in self.continues:
                self.state = join_states(self.state, state, self.either)
            end = self.state
            start = join_states(start, end, self.either)
            if start.same(before):
                break
        self.loops -= 1
        self._without_stand_ins(start, end)
        for state in self.breaks:
            start = join_states(start, state, self.either)
        self.state = start.copy()
        self.breaks, self.continues = outer
        self.run(node.orelse)

    def _without_stand_ins(self, left: State, end: State) -> None:
        """What a body replaces each time is no longer what it was before: few loops run not even once."""
        if not end.alive:
            return
        left.loads = end.loads
        if end.why.needed and not left.why.needed:
            left.need()
        for key, now in changed(left.env, end.env):
            if _holds_made(left.env[key]) and not _holds_made(now):
                left.env[key] = now

    # Definitions

    @_on(ast.FunctionDef, ast.AsyncFunctionDef)
    def _def(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.defaults(node.args)
        function = self.program.define(self, node, self.class_body)
        self.state.env[node.name] = Value(Kind.FUNCTION, known=Defined(function.name))

    def defaults(self, args: ast.arguments) -> None:
        """Evaluate the defaults of parameters, as a definition does."""
        for default in (*args.defaults, *args.kw_defaults):
            # What a plain constant means, the function itself will see.
            if default is not None and not isinstance(default, ast.Constant):
                value = self.eval(default)
                if isinstance(default, ast.IfExp):
                    self.use_literal(value, "default")
                self._as_default(default)

    def _as_default(self, default: ast.expr) -> None:
        """A device literal in the default of a parameter, such as `torch.device("cuda")`."""
        for part in default.args if isinstance(default, ast.Call) else ():
            key = (self.here.name, self.here.number(part))
            raw = self.log.literals.get(key)
            if raw is not None:
                self.log.literals[key] = raw._replace(role="default")

    @_on(ast.ClassDef)
    def _class(self, node: ast.ClassDef) -> None:
        name = self.program.define_class(self, node)
        self.state.env[node.name] = Value(Kind.CLASS, known=Defined(name))

    def bound(self, name: str, value: Value) -> None:
        """A variable was assigned; `global` ones are the module's."""
        if name in self.globals:
            self.program.set_top(self, name, value)
        elif not self.here.name and name in knowledge.MODULE_MARKS:
            self.program.mark_module(value)


def _is_in(node: ast.expr, statement: ast.stmt) -> bool:
    return node.lineno <= (statement.end_lineno or 0) and not isinstance(statement, ast.Continue)


def _holds_made(value: Value) -> bool:
    """Whether a factory made a value, or, of a container, what is in it."""
    held = element_of(value) if value.kind is Kind.CONTAINER else value
    return held is not None and is_made(held)


def _chosen(then: State, orelse: State) -> tuple[Key, ...]:
    """What is made on the cpu where there is no accelerator, and elsewhere where there is one."""
    if not (then.alive and orelse.alive):
        return ()
    return tuple(
        key
        for key, value in then.env.items()
        if (other := orelse.env.get(key)) is not None
        and other is not value
        and (is_made(value) or is_made(other))
    )


def _paths(value: Value, branch: Branch) -> frozenset[Branch] | None:
    """The paths on which a value is on an accelerator; None where that is not known."""
    place = value.place
    untouched = value.origin is None and value.who is not None
    if place.form is Form.CPU or (place.form in (Form.AT, Form.UNKNOWN) and untouched):
        return frozenset()
    if place.form in (Form.LITERAL, Form.SAME):
        return frozenset({branch})
    return place.when or None


def _falls_back(node: ast.Try) -> bool:
    """Whether a call is tried, and another one gives the result where that fails."""
    ends = [block[-1] for block in (node.body, *(handler.body for handler in node.handlers))]
    given = [each.value for each in ends if isinstance(each, ast.Return)]
    return len(ends) == len(given) > 1 and all(isinstance(each, ast.Call) for each in given)


def _loads_again(node: ast.Try) -> bool:
    """Whether a handler loads just what was tried to be loaded: it copes with names, not with devices."""
    tried, again = (
        {ast.unparse(call) for part in body for call in _loads(part)} for body in (node.body, node.handlers)
    )
    return not tried.isdisjoint(again)


def _loads(body: ast.AST) -> Iterator[ast.Call]:
    return (
        each
        for each in ast.walk(body)
        if isinstance(each, ast.Call) and each.args and last_name(each) in knowledge.LOADS
    )


def _catches_cuda_errors(handler: ast.ExceptHandler) -> bool:
    if any(isinstance(node, ast.Raise) for statement in handler.body for node in ast.walk(statement)):
        return False
    if handler.type is None:
        return True
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(last_name(name) in knowledge.CUDA_ERRORS for name in names)


def _names_device(body: list[ast.stmt]) -> bool:
    """Whether a branch does nothing but give a device a name."""
    values = [each.value for each in body if isinstance(each, ast.Assign)]
    return len(values) == len(body) and all(
        isinstance(value, ast.Constant) or last_name(value) == knowledge.MAKES_DEVICE for value in values
    )


def _speaks_to_each(node: ast.For | ast.AsyncFor) -> bool:
    """Whether a loop only calls methods of each item: `for net in (actor, critic): net.to(device)`."""
    target = node.target
    return isinstance(target, ast.Name) and all(
        isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) and _receiver(each.value) == target.id
        for each in node.body
    )


def _receiver(call: ast.expr) -> str:
    """The name of what the first of a chain of methods is called of."""
    while isinstance(call, (ast.Call, ast.Attribute)):
        call = call.func if isinstance(call, ast.Call) else call.value
    return call.id if isinstance(call, ast.Name) else ""
