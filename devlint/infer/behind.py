"""What is made on the cpu and meets what is elsewhere, or may be: how surely, and what cures it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import permutations
from typing import NamedTuple

from .. import knowledge
from ..bind.names import last_name
from ..bind.sections import Ran
from ..bind.text import Text
from ..bind.walk import descendants
from ..core.events import Conflict
from ..core.evidence import NO_NUMBER, Evidence
from ..core.kinds import TENSORS, Kind
from ..core.objects import Apart, Or
from ..core.paths import Attr, Element, Item, Ref, Root
from ..core.places import CPU, ON_DEVICE, Form, Place
from ..core.values import MADE, Origin, Value, is_any_model, is_made
from .definitions import Function
from .function import CONSTRUCTORS
from .log import RawBind, RawMeeting
from .presumed import Presumed
from .settle import Settled

_RANK = (
    *(Conflict.CERTAIN, Conflict.PORTABLE, Conflict.PRESUMED),
    *(Conflict.BRANCHES, Conflict.CALLER, Conflict.GIVEN),
)
"""Which of several meetings of one tensor is told."""
_OF_CALLERS = (Conflict.CALLER, Conflict.GIVEN)
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\Z")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_FORWARD = ("forward", "__call__")
_TESTS = "tests"
_CPU = frozenset({"host", _TESTS})
_CHOSEN = (Form.EITHER, Form.SAME)
"""Where a constructor puts what it keeps that chooses between an accelerator and the cpu."""
_LEAVES = ("return", "join")
"""How what is made leaves its function: it meets something in who calls that."""
_MAX_DEPTH = 6
_MAX_OPERANDS = 8
_MAX_PARTIES = 32
_DEEP_CALLS = 3
_DEEP = 2
"""Of so many attributes, `self.layer.scale`, the last may be a tensor of a module of unknown class."""


class Behind(NamedTuple):
    """A tensor that was made on the cpu, and what it meets."""

    function: str
    raw: RawMeeting
    at: ast.expr
    here: Place
    one: Value
    origin: Origin
    other_at: ast.AST
    there: Place
    other: Value
    conflict: Conflict
    device: str
    """An expression, good where the tensor was made, that says where the other is."""
    wholly: Conflict
    """How surely they are apart where it is on the cpu on every path."""


class Kept(NamedTuple):
    """A plain tensor of a module that its constructor did not make on the cpu, and what it meets."""

    attribute: str
    """Its class and name, with a dot between."""
    given: bool
    """Whether a caller gave it; otherwise the constructor put it where it is."""
    other_at: ast.AST


class Meetings:
    """Judges the meetings of what a file makes on the cpu."""

    def __init__(self, settled: Settled, text: Text) -> None:
        self.settled = settled
        self.file = settled.file
        self.objects = settled.objects
        self.presumed = Presumed(settled)
        self._text = text
        self._constructing: dict[str, bool] = {}
        self._forwarded: dict[tuple[str, str], bool] = {}
        self._afterwards: dict[str, dict[tuple[ast.AST, ast.AST], Place]] = {}
        self._flagged: dict[str, frozenset[str]] = {}

    @cached_property
    def portable(self) -> bool:
        """Whether the file's tensors may be elsewhere."""
        return _may_run_anywhere(self.file.module, self._text.lines)

    def found(self) -> Iterator[Behind]:
        """For each tensor made on the cpu, the meeting that says most; for attributes, each meeting."""
        best: dict[object, Behind] = {}
        near: dict[object, Behind] = {}
        dropped = self.settled.dropped()
        for ref in list(dropped):
            dropped.update(self.objects.sources.get(ref, ()))
        lost = {
            (origin.function, origin.at)
            for _, _, move in self.settled.discarded_moves()
            if (origin := move.receiver.origin) is not None
        }
        fed = {clash.function for _, clash in self.settled.fed_unmoved(dropped)}
        fed |= {function for function, _, _ in self.settled.discarded_moves()}
        lost |= {
            (origin.function, origin.at)
            for log in self.settled.logs.values()
            for site in log.sites
            if site.callee in fed
            for value in site.arguments.values()
            for part in _with_parts(value)
            if (origin := part.origin) is not None
        }
        for function, log in self.settled.logs.items():
            for raw in (*log.meetings.values(), *self.settled.in_losses(log)):
                for found in self._sides(function, raw, dropped):
                    key: object = (found.origin.function, found.origin.at)
                    made = self.objects.made(found.origin.function, found.origin.at)
                    if key in lost or made in dropped:  # that it is not moved is told by itself
                        continue
                    if found.origin.how not in MADE:
                        key = (*found.origin, found.at)
                    for told in (best, near) if found.function == found.origin.function else (best,):
                        known = told.get(key)
                        if known is None or _order(found) < _order(known):
                            told[key] = found
        for function, log in self.settled.logs.items():
            for raw in self.settled.in_calls(log):
                for found in self._sides(function, raw, dropped):
                    key = (*found.origin, found.at)
                    if found.origin.attribute and found.conflict in _RANK[:2] and key not in best:
                        best[key] = found._replace(conflict=Conflict.GIVEN)
        for key, found in best.items():
            if not self._follows_another(found, best):
                # What a caller makes sure of is told where the function itself shows the meeting.
                own = near.get(key, found)
                if own.conflict is not Conflict.GIVEN or found.raw.inside:
                    found = own._replace(conflict=found.conflict)
                yield found

    def _follows_another(self, found: Behind, told: Mapping[object, Behind]) -> bool:
        """Whether what is met was computed with what was made on the cpu itself, as is told by itself.

        That operation has failed by then, or what it gave is on the cpu.
        """
        ref = found.other.who
        if type(ref) is not int or not self._joined:
            return False
        todo, done = [ref], set[Ref]()
        while todo:
            ref = todo.pop()
            if ref in done:
                continue
            done.add(ref)
            before = told.get(self._joined.get(ref))
            if before is not None and _comes_before(before, found):
                return True
            todo.extend(each for each, _ in self._derived.get(ref, ()))
            todo.extend(self.objects.sources.get(ref, ()))
        return False

    @cached_property
    def _joined(self) -> dict[Ref, tuple[str, int]]:
        return {ref: key for log in self.settled.logs.values() for ref, key in log.joined.items()}

    @cached_property
    def _derived(self) -> dict[Ref, tuple[tuple[Ref, bool], ...]]:
        return {ref: of for log in self.settled.logs.values() for ref, of in log.derived.items()}

    def _sides(self, function: str, raw: RawMeeting, dropped: set[Ref]) -> Iterator[Behind]:
        for at, here, one, other_at, there, other in (
            (raw.left, raw.here, raw.one, raw.right, raw.there, raw.other),
            (raw.right, raw.there, raw.other, raw.left, raw.here, raw.one),
        ):
            origin = one.origin
            if not is_made(one) or origin is None or is_made(other) or not isinstance(at, ast.expr):
                continue
            if type(one.who) is int and self.settled.any_of(dropped, one.who):
                continue
            if self.among_cpu(function) or self.among_cpu(origin.function):
                continue
            if not origin.dims and other.kind is Kind.MODULE:
                continue  # of no elements, or a number: no module runs on it, whatever the paths
            back = self._goes_back(function, raw, there)
            moved = not back and (raw.left, raw.right) in self.moved_afterwards(function)
            if moved and not self._given_elsewhere(there):
                continue  # nobody would move to where it is already
            conflict = self.apart(function, there, other, one)
            if conflict is None or self._only_later(function, at, origin):
                continue
            if back and conflict in _OF_CALLERS:
                conflict = Conflict.PRESUMED  # else it would not have to go there
            if (
                conflict in _OF_CALLERS
                and raw.how == "index"
                and not self._places(function)
                and not (type(there.of) is int and self._borrows(one, there.of))
            ):
                continue  # a table on the cpu, and what it is read by: nothing says that it is elsewhere
            if raw.how == "container" and conflict is Conflict.GIVEN:
                conflict = Conflict.CALLER  # what else is there in the same container says so
            if raw.how in _LEAVES and conflict is Conflict.PORTABLE and not self._is_of_module(function):
                conflict = Conflict.CALLER
            wholly = conflict
            if conflict in _RANK[:2] and (
                self.presumed.is_place(other, there) or self._is_of_guess(function)
            ):
                wholly = Conflict.PRESUMED
            if here.form is Form.CPU:
                conflict = wholly
            else:
                out = conflict in _RANK[:2] and self._stands_for_none(function, origin)
                known = origin.attribute and conflict in _RANK[:2]
                if origin.function != function and not known and not out:
                    continue
                if conflict not in _OF_CALLERS:
                    home = self.file.functions.get(function)
                    out = out or bool(self._given_there(one, other, there, home))
                    conflict = Conflict.PRESUMED if out else Conflict.BRANCHES
            device = self._device(one, origin, there, other)
            sides = (at, here, one, origin, other_at, there, other)
            yield Behind(function, raw, *sides, conflict, device, wholly)

    def kept(self) -> Iterator[Kept]:
        """Where plain tensors that modules are given, or that constructors place, meet what is elsewhere."""
        stays: dict[tuple[str, str], bool] = {}
        for function, log in self.settled.logs.items():
            home = self.file.functions.get(function)
            if home is None or home.owner is None or home.own_name != CONSTRUCTORS[0]:
                continue
            for target, bind in log.binds.items():
                if isinstance(target, ast.Attribute) and bind.owner.who == self.objects.self_of(home.owner):
                    how = self._how_kept(home, bind)
                    if how is not None:
                        stays.setdefault((home.owner, bind.name), how)
        if not stays or not self.portable or self._tests:
            return
        for function, log in self.settled.logs.items():
            home = self.file.functions.get(function)
            if home is None or home.owner is None or self.constructing(function):
                continue
            if self.among_cpu(function):
                continue
            for raw in log.meetings.values():
                if (raw.left, raw.right) in self.moved_afterwards(function):
                    continue
                for at, here, one, other_at, there, other in (
                    (raw.left, raw.here, raw.one, raw.right, raw.there, raw.other),
                    (raw.right, raw.there, raw.other, raw.left, raw.here, raw.one),
                ):
                    given = self._stays(stays, home.owner, _attribute(at, home))
                    if given is None or here.form not in ((Form.AT,) if given else _CHOSEN):
                        continue
                    if other.kind is Kind.MODULE and other.known is None:
                        continue
                    if other.kind not in (Kind.MODULE, Kind.PARAMETER) and _attribute(other_at, home):
                        continue
                    if self.apart(function, there, other, one) in _RANK[:2]:
                        yield Kept(f"{home.owner}.{_attribute(at, home)}", given, other_at)

    def _stays(self, stays: Mapping[tuple[str, str], bool], owner: str, name: str) -> bool | None:
        view = self.file.classes.get(owner)
        if view is None or not name:
            return None
        return next((stays[cls.name, name] for cls in view.lineage() if (cls.name, name) in stays), None)

    def _how_kept(self, home: Function, bind: RawBind) -> bool | None:
        """Whether a caller gave what a constructor keeps, rather than that it placed it; None if unknown."""
        place = bind.value.place
        if bind.value.kind is not Kind.TENSOR:
            return None
        if place.form in _CHOSEN:
            either = place.form is Form.EITHER and type(place.of) is not int
            named = place.form is Form.EITHER or bool(place.name)
            chosen = named and type(place.of) is int and self.objects.is_made_in(place.of, home.name)
            return False if either or chosen else None
        if place.form is not Form.AT or type(place.of) is not int:
            return None
        roots = self.roots(place.of)
        if roots and all(
            self.objects.functions[root] == home.name and self._promised(root) for root in roots
        ):
            return True
        return None

    def moved_afterwards(self, function: str) -> dict[tuple[ast.AST, ast.AST], Place]:
        """Where the result of operations is moved at once, by operands: `table[index].to(device)`."""
        found = self._afterwards.get(function)
        if found is None:
            found = self._afterwards[function] = {}
            for call, raw in self.settled.logs[function].moves.items():
                moved = call.func.value if isinstance(call.func, ast.Attribute) else None
                if raw.target is None:
                    continue  # a cast leaves it where it is
                if isinstance(moved, ast.Subscript):
                    found[moved.value, moved.slice] = raw.target
                elif isinstance(moved, ast.BinOp):
                    found[moved.left, moved.right] = raw.target
                elif isinstance(moved, ast.Call):
                    found |= dict.fromkeys(permutations(_operands(moved)[:_MAX_OPERANDS], 2), raw.target)
        return found

    def _goes_back(self, function: str, raw: RawMeeting, there: Place) -> bool:
        """Whether a result is moved to where one operand is: that one has to be there for the operation."""
        target = self.moved_afterwards(function).get((raw.left, raw.right))
        if target is None or target.form is not Form.SAME or type(target.of) is not int:
            return False
        if self.objects.ways[target.of] != Attr("device") or type(there.of) is not int:
            return False
        given = self.roots(self.objects.parents[target.of])
        return there.form is Form.AT and bool(given) and given == self.roots(there.of)

    def _only_later(self, name: str, at: ast.expr, origin: Origin) -> bool:
        """Whether a flag keeps what was made from meeting anything: `if first: total = x; first = False`."""
        function = self.file.functions.get(name)
        if function is None or origin.function != name or not 0 <= origin.at < len(function.nodes):
            return False
        made, flags = function.nodes[origin.at], self._flags(function)
        return any(
            isinstance(part, ast.If)
            and isinstance(test := _plain(part.test), ast.Name)
            and test.id in flags
            and _encloses(part, at)
            and not _encloses(part, made)
            for part in ast.walk(function.node)
        )

    def _stands_for_none(self, name: str, origin: Origin) -> bool:
        """Whether a tensor is made where a caller leaves out a parameter: `if mask is None: mask = …`."""
        function = self.file.functions.get(name)
        if function is None or function.args is None:
            return False
        if origin.function == name:
            made = {function.nodes[origin.at]} if 0 <= origin.at < len(function.nodes) else set()
        else:  # or a method that it calls there: `if state is None: state = self.begin(n)`
            sites = self.settled.logs[name].sites
            made = {site.at for site in sites if site.callee == origin.function and site.at is not None}
        optional = left_out(function.args) if made else set()
        return bool(optional) and any(
            isinstance(part, (ast.If, ast.IfExp))
            and asked_for_none(part.test) in optional
            and any(node in made for block in _body(part) for node in ast.walk(block))
            for part in ast.walk(function.node)
        )

    def _flags(self, function: Function) -> frozenset[str]:
        """The variables of a function that are True in some places, and False in others."""
        found = self._flagged.get(function.name)
        if found is None:
            bound: dict[str, set[object]] = {}
            for node in ast.walk(function.node):
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                    for target in node.targets:
                        if isinstance(target, ast.Name):
                            bound.setdefault(target.id, set()).add(node.value.value)
            found = frozenset(name for name, values in bound.items() if values == {True, False})
            self._flagged[function.name] = found
        return found

    # How surely the other side is elsewhere

    def apart(self, function: str, there: Place, other: Value, one: Value) -> Conflict | None:
        """How surely a value that meets one of the cpu is elsewhere; None where nothing says so."""
        if there.form in ON_DEVICE:
            placed = self.placed(there)
            return Conflict.PRESUMED if placed is not None and is_any_model(other) else placed
        ref = there.of
        if there.form is not Form.AT or type(ref) is not int or self._tests:
            return None
        if self.settled.seen(ref) & Evidence.NUMBER:
            return None  # what was computed with a number is nowhere in particular
        if self.constructing(function) or self._only_checks(function):
            return None
        roots = self.roots(ref)
        if any(map(self._fed_cpu, roots)):
            return None
        if any(map(self._is_hosted, (ref, *roots))):
            return None
        if other.kind is Kind.UNKNOWN and self._hangs_on_another(ref):
            return None
        found = None
        if self.portable and self._holds_a_tensor(other):
            found = self._beside(function, ref, roots, other, one)
        return found or (Conflict.GIVEN if self._callers_know(function, ref, roots, other, one) else None)

    def _is_hosted(self, ref: Ref) -> bool:
        """Whether the function reads an object as an array, so that it is on the cpu wherever it goes on."""
        return bool(self.settled.seen(ref) & Evidence.HOSTED)

    def _hangs_on_another(self, ref: Ref) -> bool:
        """Whether it is an attribute of an attribute of a part of `self`: of settings, say, that never move.

        A weight is one of a layer, however deep that is.
        """
        steps = 0
        while isinstance(way := self.objects.ways[ref], (Attr, Item)):
            if not steps and isinstance(way, Attr) and way.name in knowledge.MODULE_PARAMETERS:
                return False
            steps += isinstance(way, Attr)
            ref = self.objects.parents[ref]
        return steps > _DEEP and isinstance(way, Root) and way.kind == "self"

    def _callers_know(self, function: str, ref: Ref, roots: list[Ref], other: Value, one: Value) -> bool:
        """Whether what a function makes meets what it is given, of which nothing else says anything."""
        if one.origin is None or one.origin.attribute or not roots:
            return False
        if (
            other.kind not in (Kind.UNKNOWN, *TENSORS)
            or self._is_attribute(ref)
            or self.settled.contradicted(ref)
        ):
            return False
        given = (
            self.objects.is_parameter(each) and self.objects.functions[each] == function for each in roots
        )
        return all(given) and not self._reads_arrays(function)

    def _beside(self, function: str, ref: Ref, roots: list[Ref], other: Value, one: Value) -> Conflict | None:
        """How surely what a file knows nothing of but where it came from is elsewhere."""
        found = {self.rooted(root) for root in roots}
        if found == {Conflict.PORTABLE}:
            return Conflict.CALLER if is_any_model(other) else Conflict.PORTABLE
        if other.kind in TENSORS and roots and all(map(self._is_optimizer, roots)):
            return Conflict.PORTABLE  # its parameters, and what is computed with those
        if self._reads_arrays(function):
            return None
        if is_any_model(other) or one.origin is None:
            return None
        if one.origin.attribute:
            if self._is_given_to_module(function, ref):
                return Conflict.CALLER
            made = self._is_of_module(function) and roots and all(map(self._is_made_of_inputs, roots))
            return Conflict.PRESUMED if made else None
        borrows = self._borrows(one, ref)
        if one.origin.function != function and not borrows:
            return None
        if found <= {None}:  # nobody knows where it is, but the size of what it meets may be its own
            borrows = borrows or self._borrows_of_parts(one, other)
            return Conflict.CALLER if found and borrows and self._follows(function) else None
        if self._is_attribute(ref):
            return None
        if self._places(function) or borrows:
            return Conflict.CALLER
        return Conflict.CALLER if any(map(self._promised, roots)) else None

    def _is_made_of_inputs(self, root: Ref, depth: int = _DEEP_CALLS) -> bool:
        """Whether it is what a call gave of which nobody knows what it does, and that was given inputs.

        Such are what is where the module is, and what another such call made of them.
        """
        for each in self.settled.forms.get(root, ()) if depth else ():
            roots = self.roots(each)
            if any(self.rooted(one) is Conflict.PORTABLE for one in roots) or any(
                self._is_made_of_inputs(one, depth - 1) for one in roots
            ):
                return not any(map(self._fed_cpu, roots))
        return False

    def _is_optimizer(self, root: Ref) -> bool:
        """Whether it is the `self` of an optimizer, whose parameters are wherever the module is."""
        way = self.objects.ways[root]
        view = self.file.view(way.name) if isinstance(way, Root) and way.kind == "self" else None
        return view is not None and "optimizer" in view.topics

    def _is_given_to_module(self, function: str, ref: Ref) -> bool:
        """Whether a method of a module is given an object, and nobody gives it what is on the cpu."""
        roots = self.roots(ref)
        if not roots or self._is_attribute(ref) or not self._is_of_module(function):
            return False
        for root in roots:
            if not self.objects.is_parameter(root) or self.objects.functions[root] != function:
                return False
        return not any(
            value.place.form is Form.CPU or is_made(value)
            for _, site in self.settled.sites.get(function, ())
            for value in site.arguments.values()
        )

    def _is_of_module(self, name: str) -> bool:
        function = self.file.functions.get(name)
        view = self.file.view(function.owner) if function is not None and function.owner is not None else None
        return view is not None and view.is_module

    def _is_of_guess(self, name: str) -> bool:
        """Whether a function is a method of what only its own code shows to be a module."""
        function = self.file.functions.get(name)
        view = self.file.view(function.owner) if function is not None and function.owner is not None else None
        return view is not None and view.is_guessed

    def _given_elsewhere(self, there: Place) -> bool:
        """Whether a place is on a device, or that of a parameter to which a caller gives what is on one."""
        ref = there.of
        if there.form is not Form.AT or type(ref) is not int:
            return there.form in ON_DEVICE
        return any(
            value.place.form in (Form.LITERAL, Form.SAME) or self._follows_module(value)
            for root in self.roots(ref)
            if isinstance(way := self.objects.ways[root], Root) and way.kind == "parameter"
            for _, site in self.settled.sites.get(self.objects.functions[root], ())
            if (value := site.arguments.get(way.name)) is not None
        )

    def _follows_module(self, value: Value) -> bool:
        """Whether a value was put where the module is whose method passes it."""
        ref = value.place.of
        if value.place.form is not Form.AT or type(ref) is not int or is_made(value):
            return False
        way = self.objects.ways[ref]
        return isinstance(way, Root) and way.kind == "self" and self.rooted(ref) is Conflict.PORTABLE

    def _is_attribute(self, ref: Ref) -> bool:
        """Whether an object is an attribute of something that a function is given: of a record, say."""
        while ref >= 0:
            if isinstance(self.objects.ways[ref], Attr):
                return True
            ref = self.objects.parents[ref]
        return False

    def _promised(self, root: Ref) -> bool:
        """Whether the annotation of a parameter says that it is a tensor, or holds some."""
        way = self.objects.ways[root]
        function = self.file.functions.get(self.objects.functions[root])
        if not isinstance(way, Root) or function is None or function.args is None:
            return False
        args = function.args
        return any(
            arg.arg == way.name and arg.annotation is not None and _speaks_of_tensors(arg.annotation)
            for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)
        )

    def placed(self, there: Place) -> Conflict | None:
        """How surely a place that the program chose is not the cpu."""
        ref = there.of
        if there.form is Form.LITERAL and there.name.startswith(knowledge.NO_DATA):
            return None
        if there.form is Form.EITHER and ref is None:
            return None  # moved on some paths, nobody knows where
        of_another = there.form is Form.SAME and not there.name  # a device that was chosen has a name
        if of_another and type(ref) is int and self.objects.ways[ref] == Attr("device"):
            owner = self.objects.parents[ref]
            if any(map(self._is_hosted, (owner, *self.roots(owner)))):
                return None
            if any(map(self._fed_cpu, self.roots(owner))):
                return None
            if any(map(self._is_given_on_cpu, self.roots(owner))):
                return Conflict.CALLER
            made = any(self._is_made(root) for root in self.roots(owner))
            # What an unknown call gave may be on the cpu, for all that its device is followed.
            return Conflict.CALLER if made and not self.settled.contradicted(owner) else Conflict.PORTABLE
        return Conflict.CERTAIN

    def _is_made(self, root: Ref) -> bool:
        way = self.objects.ways[root]
        return isinstance(way, Root) and way.kind == "made"

    def _holds_a_tensor(self, other: Value) -> bool:
        """Whether a value is a tensor, or holds parameters: a number has no device."""
        if other.kind in TENSORS or other.kind in (Kind.MODULE, Kind.INSTANCE, Kind.BATCH):
            return True
        ref = other.who
        return type(ref) is int and not self.settled.contradicted(ref) and self._is_no_number(ref)

    def _is_no_number(self, ref: Ref, depth: int = _MAX_DEPTH) -> bool:
        if self.settled.seen(ref) & NO_NUMBER:
            return True
        if self.settled.seen(ref) & Evidence.NUMBER:
            return False
        if self._is_input(ref):
            return True
        if depth <= 0:
            return False
        if any(self._is_no_number(each, depth - 1) for each, _ in self._derived.get(ref, ())):
            return True  # `inputs / keep`, where `inputs` has a shape
        sources = self.objects.sources.get(ref, ())
        return bool(sources) and all(self._is_no_number(each, depth - 1) for each in sources)

    def _is_input(self, ref: Ref, depth: int = _DEEP) -> bool:
        """Whether it is, or is in, the first that the `forward` of a module is given: what layers use."""
        while isinstance(self.objects.ways[ref], (Item, Element)):
            ref = self.objects.parents[ref]
        if not self.objects.is_parameter(ref) or self.rooted(ref) is not Conflict.PORTABLE:
            return False
        function = self.file.functions.get(self.objects.functions[ref])
        way = self.objects.ways[ref]
        if function is not None and isinstance(way, Root):
            given = [
                value.who
                for _, site in self.settled.sites.get(function.name, ())
                if (value := site.arguments.get(way.name)) is not None
            ]
            if self._is_given_tensors(function, way.name):
                return True
            if depth and any(type(each) is int and self._is_input(each, depth - 1) for each in given):
                return True  # `self.prepare(images)`
        if function is None or function.own_name not in _FORWARD:
            return False
        return isinstance(way, Root) and function.positional[1:2] == [way.name]

    def roots(self, ref: Ref, depth: int = _MAX_DEPTH) -> list[Ref]:
        """What an object is part of, in the end; of what is one of several, each of those."""
        while depth > 0:
            way = self.objects.ways[ref]
            if isinstance(way, Root):
                return [ref]
            if isinstance(way, Or):
                return [root for each in self.objects.sources[ref] for root in self.roots(each, depth - 1)]
            if not isinstance(way, (Attr, Item, Element, Apart)):
                break
            ref = self.objects.parents[ref]
        return []

    def rooted(self, ref: Ref) -> Conflict | None:
        """How surely something is elsewhere by what it is part of."""
        way = self.objects.ways[ref]
        assert isinstance(way, Root)
        if way.kind == "self":
            view = self.file.view(way.name)
            return Conflict.PORTABLE if view is not None and view.is_module else Conflict.CALLER
        if way.kind != "parameter":
            return None
        function = self.file.functions.get(self.objects.functions[ref])
        view = self.file.view(function.owner) if function is not None and function.owner is not None else None
        if function is None or view is None or not view.is_module:
            return Conflict.CALLER
        forward = function.own_name in _FORWARD or knowledge.runs_like_forward(function.own_name, view.topics)
        return Conflict.PORTABLE if forward or self._is_forwarded(function, way.name) else Conflict.CALLER

    def _is_forwarded(self, function: Function, name: str) -> bool:
        """Whether a method is given what is where its module is, by a method that is."""
        key = (function.name, name)
        known = self._forwarded.get(key)
        if known is None:
            self._forwarded[key] = False
            known = self._forwarded[key] = any(
                self._is_with_module(site.arguments[name])
                for _, site in self.settled.sites.get(function.name, ())
                if name in site.arguments
            )
        return known

    def _is_given_tensors(self, function: Function, name: str) -> bool:
        """Whether callers of a function in this file give it tensors only."""
        given = [
            site.arguments[name].kind
            for _, site in self.settled.sites.get(function.name, ())
            if name in site.arguments
        ]
        return bool(given) and all(kind in TENSORS for kind in given)

    def _is_with_module(self, value: Value) -> bool:
        """Whether a value is where a module is: what that was given, or made of it."""
        ref = value.place.of if value.place.form in (Form.AT, Form.SAME) else value.who
        if type(ref) is not int or is_made(value):
            return False
        return {self.rooted(root) for root in self.roots(ref)} == {Conflict.PORTABLE}

    def _fed_cpu(self, root: Ref, depth: int = _MAX_DEPTH) -> bool:
        """Whether a private method, or a function in a function, is given only what nobody put elsewhere.

        What its calls pass is on the cpu, or nobody knows where. Other files call a module's own functions.
        """
        way = self.objects.ways[root]
        name = self.objects.functions[root]
        function = self.file.functions.get(name)
        if not isinstance(way, Root) or way.kind != "parameter" or function is None or depth <= 0:
            return False
        inner = function.outer is not None and function.outer is not self.file.module
        private = function.own_name.startswith(knowledge.PRIVATE) and function.own_name not in _FORWARD
        if not (private if function.owner is not None else inner):
            return False
        passed = [
            value
            for _, site in self.settled.sites.get(name, ())
            if (value := site.arguments.get(way.name)) is not None and value.kind is not Kind.NONE
        ]
        return bool(passed) and not any(self._may_be_elsewhere(value, depth) for value in passed)

    def _is_given_on_cpu(self, root: Ref) -> bool:
        """Whether the calls of a function, as far as its file has them, give a parameter on the cpu."""
        way, name = self.objects.ways[root], self.objects.functions[root]
        if not isinstance(way, Root) or way.kind != "parameter":
            return False
        sites = self.settled.sites.get(name, ())
        passed = [site.arguments[way.name] for _, site in sites if way.name in site.arguments]
        return bool(passed) and all(value.place == CPU for value in passed)

    def _may_be_elsewhere(self, value: Value, depth: int) -> bool:
        place, ref = value.place, value.who
        if place.form is Form.AT:
            ref = place.of
        elif place.form is not Form.UNKNOWN or value.kind in TENSORS or is_made(value):
            return place.form in ON_DEVICE or place.form is Form.ANYWHERE
        if type(ref) is not int:
            return False
        return any(
            self.rooted(root) is not None and not self._fed_cpu(root, depth - 1) for root in self.roots(ref)
        )

    def _reads_arrays(self, name: str) -> bool:
        """Whether a function makes arrays of its arguments as they are: they are on the cpu."""
        return any(
            raw.callee.rpartition(".")[2] in knowledge.READS_ARRAY
            and raw.receiver is not None
            and type(raw.receiver.who) is int
            and self.objects.is_parameter(raw.receiver.who)
            and raw.receiver.place.form in (Form.UNKNOWN, Form.AT)
            for raw in self.settled.logs[name].calls.values()
        )

    def _follows(self, name: str) -> bool:
        """Whether a function, or its class, places other things where its arguments are."""
        function = self.file.functions.get(name)
        while function is not None:
            if self._places(function.name):
                return True
            view = self.file.view(function.owner) if function.owner is not None else None
            if view is not None and any(map(self._places, view.methods.values())):
                return True
            function = function.outer
        return False

    def _places(self, name: str) -> bool:
        log = self.settled.logs.get(name)
        return log is not None and log.follows_devices

    def _borrows(self, one: Value, ref: Ref) -> bool:
        """Whether the size, dtype or elements of what was made are those of what it meets."""
        measured = one.measures
        return type(measured) is int and bool(set(self.roots(measured)) & set(self.roots(ref)))

    def _borrows_of_parts(self, one: Value, other: Value) -> bool:
        """Whether they are those of what the other side was computed with, which is where that is."""
        todo, done = [other.who], set[object]()
        while todo and len(done) < _MAX_PARTIES:
            ref = todo.pop(0)
            if type(ref) is not int or ref in done:
                continue
            if self._borrows(one, ref):
                return True
            done.add(ref)
            todo.extend(each for each, _ in self._derived.get(ref, ()))
        return False

    # Where everything is on the cpu

    def may_follow(self, function: str) -> bool:
        """Whether what a function is given may be elsewhere: it is no constructor's, test's or dataset's."""
        cpu = self._tests or self.among_cpu(function) or self.constructing(function)
        library = self.portable or all(map(_declares, getattr(self.file.module.node, "body", [])))
        return library and not (cpu or self._only_checks(function) or self._reads_arrays(function))

    def constructing(self, name: str, depth: int = _MAX_DEPTH) -> bool:
        """Whether a function runs while its object is made, when nothing has been moved yet."""
        known = self._constructing.get(name)
        if known is not None:
            return known
        self._constructing[name] = False
        function = self.file.functions.get(name)
        found = False
        if function is not None and depth > 0:
            own = function.own_name
            callers = {caller for caller, _ in self.settled.sites.get(name, ())} - {name}
            found = (
                own in CONSTRUCTORS
                or "constructs" in knowledge.hints("function", own)
                or (own not in _FORWARD and self._adds_layers(name))
                or (function.outer is not None and self.constructing(function.outer.name, depth - 1))
                or (bool(callers) and all(self.constructing(each, depth - 1) for each in callers))
            )
        self._constructing[name] = found
        return found

    def _only_checks(self, name: str) -> bool:
        """Whether a method tries its module out: it asserts or prints, and leaves nothing to its caller."""
        function = self.file.functions.get(name)
        if function is None or function.owner is None or function.own_name in _FORWARD:
            return False
        log = self.settled.logs.get(name)
        nodes = descendants(function.node)
        body = getattr(function.node, "body", [])
        return (
            (any(isinstance(node, ast.Assert) for node in nodes) or all(map(_shows, body)))
            and not any(isinstance(node, ast.Return) and node.value is not None for node in nodes)
            and (log is None or not any(raw.target == "attribute" for raw in log.binds.values()))
        )

    def _adds_layers(self, name: str) -> bool:
        """Whether a function adds to what a module consists of."""
        log = self.settled.logs.get(name)
        return log is not None and any(
            isinstance(call.func, ast.Attribute)
            and raw.receiver is not None
            and raw.receiver.kind is Kind.MODULE
            and call.func.attr in knowledge.ADDS_LAYERS
            for call, raw in log.calls.items()
        )

    @cached_property
    def _tests(self) -> bool:
        """Whether the file tests something: what stands beside tests runs where they do."""
        for function in self.file.functions.values():
            view = self.file.view(function.owner) if function.owner is not None else None
            if view is not None and "test-case" in view.topics:
                return True
            if _TESTS in self._said(function) and function.outer is self.file.module:
                return True
        return False

    def _said(self, function: Function) -> set[str]:
        """What the name of a function says of it; a module's own `test_step` is no test."""
        found = set(knowledge.hints("function", function.own_name))
        view = self.file.view(function.owner) if function.owner is not None else None
        if view is not None and view.is_module and not view.is_guessed:
            found.discard(_TESTS)
        return found

    def among_cpu(self, name: str) -> bool:
        """Whether a function works on the cpu alone: of a dataset, a test, or so its name says."""
        function = self.file.functions.get(name)
        while function is not None:
            view = self.file.view(function.owner) if function.owner is not None else None
            if view is not None and view.topics & {"dataset", "test-case"}:
                return True
            owner = "" if function.owner is None else function.owner.rpartition(".")[2]
            if not _CPU.isdisjoint({*self._said(function), *knowledge.hints("function", owner)}):
                return True
            function = function.outer
        return False

    # The cure

    def _device(self, one: Value, origin: Origin, there: Place, other: Value) -> str:
        """An expression that says where the other side is, and is good where the tensor was made."""
        ref = there.of
        home = self.file.functions.get(origin.function)
        if type(ref) is not int:
            return ""
        label = self.objects.labels[ref]
        if there.form is Form.SAME:
            if _NAME.match(label) and self._bound_before(ref, home, origin):
                return label
            given = self._given_there(one, other, there, home)
            return f"{given}.device" if given else ""
        if there.form is not Form.AT:
            return ""
        measured = one.measures
        if type(measured) is int and not self._is_self(measured) and self._together(measured, ref):
            named = self.objects.labels[measured]
            if _NAME.match(named) and self._bound_before(measured, home, origin):
                return f"{named}.device"
        for root in self.roots(ref):
            known = self.objects.is_parameter(root) and self.objects.functions[root] == origin.function
            if known and self.settled.seen(root) & NO_NUMBER and not self.settled.contradicted(root):
                return f"{self.objects.labels[root]}.device"
        own = self.objects.labels[other.who] if type(other.who) is int else ""
        registered = other.kind is Kind.PARAMETER and _NAME.match(own)
        if registered and self._bound_before(ref, home, origin):
            return f"{own}.device"
        for root in self.roots(ref):
            known = self.objects.is_parameter(root) and self.objects.functions[root] == origin.function
            if known and self._promised(root) and not self.settled.contradicted(root):
                return f"{self.objects.labels[root]}.device"
        given = self._input(home)
        if home is None or not given or not self._together(self.objects.parameter(home.name, given), ref):
            return ""
        return f"{given}.device"

    def _given_there(self, one: Value, other: Value, there: Place, home: Function | None) -> str:
        """A tensor that all callers of a function give it there; best what gave the other its size."""
        if home is None:
            return ""
        sites = self.settled.sites.get(home.name, ())
        given = [
            name
            for name in home.positional
            if sites
            and all(
                (value := site.arguments.get(name)) is not None
                and value.kind in TENSORS
                and value.place == there
                for _, site in sites
            )
        ]
        refs = {self.objects.parameter(home.name, name): name for name in given}
        todo, found = [one.measures, other.who], list[object]()
        while todo and refs:
            ref = todo.pop(0)
            if type(ref) is int and ref not in found and len(found) < _MAX_PARTIES:
                if ref in refs:
                    return refs[ref]
                found.append(ref)
                todo.extend(each for each, _ in self._derived.get(ref, ()))
        return next(iter(given), "")

    def _input(self, home: Function | None) -> str:
        """The tensor that a forward is given first."""
        if home is None or home.own_name not in _FORWARD or home.owner is None or len(home.positional) < 2:
            return ""
        ref = self.objects.parameter(home.name, home.positional[1])
        known = self.settled.seen(ref) & NO_NUMBER or self._promised(ref)
        known = known or self._is_given_tensors(home, home.positional[1])
        return home.positional[1] if known and not self.settled.contradicted(ref) else ""

    def _is_self(self, ref: Ref) -> bool:
        way = self.objects.ways[ref]
        return isinstance(way, Root) and way.kind == "self"

    def _together(self, one: Ref, other: Ref) -> bool:
        """Whether two objects are in one place: parts of one thing, or of a module and what it is given."""
        mine, theirs = set(self.roots(one)), set(self.roots(other))
        if mine == theirs:
            return bool(mine)
        return {self.rooted(root) for root in (*mine, *theirs)} == {Conflict.PORTABLE}

    def _bound_before(self, ref: Ref, home: Function | None, origin: Origin) -> bool:
        """Whether what the program calls an object was bound before a tensor was made."""
        top = self.objects.top(ref)
        way = self.objects.ways[top]
        if not isinstance(way, Root) or home is None:
            return False
        if way.kind == "self":
            return home.owner is not None
        if self.objects.functions[top] != home.name:
            return False
        if way.kind == "parameter":
            return True
        made = home.nodes[way.at] if 0 <= way.at < len(home.nodes) else None
        line = getattr(made, "end_lineno", None)
        return line is not None and line < getattr(home.nodes[origin.at], "lineno", 0)


def _with_parts(value: Value, depth: int = 2) -> Iterator[Value]:
    """A value, and what is in it, if it is a container."""
    yield value
    for part in (*(value.items or ()), *((value.element,) if value.element is not None else ())):
        if value.kind is Kind.CONTAINER and depth:
            yield from _with_parts(part, depth - 1)


def _plain(test: ast.expr) -> ast.expr:
    return test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test


def left_out(args: ast.arguments) -> set[str]:
    """The parameters of a function that are None where a call leaves them out."""
    plain = [*args.posonlyargs, *args.args]
    defaults = [*zip(reversed(plain), reversed(args.defaults), strict=False)]
    given = [*defaults, *zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return {arg.arg for arg, default in given if isinstance(default, ast.Constant) and default.value is None}


def asked_for_none(test: ast.expr) -> str:
    """The variable that is None where a condition holds."""
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and len(test.ops) == 1:
        nothing = test.comparators[0]
        if isinstance(test.ops[0], ast.Is) and isinstance(nothing, ast.Constant) and nothing.value is None:
            return test.left.id
    return ""


def _body(node: ast.If | ast.IfExp) -> list[ast.AST]:
    """What is evaluated where a condition holds."""
    return list(node.body) if isinstance(node, ast.If) else [node.body]


def _shows(statement: ast.stmt) -> bool:
    """Whether a statement names something, or prints."""
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Name) for target in statement.targets)
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    shown = isinstance(value, ast.Call) and last_name(value) in knowledge.SHOWS
    return shown or isinstance(value, ast.Constant)


def _encloses(outer: ast.If, inner: ast.AST) -> bool:
    start, end = getattr(inner, "lineno", 0), getattr(inner, "end_lineno", 0)
    return outer.lineno <= start and end <= (outer.end_lineno or 0)


def _attribute(node: ast.AST, home: Function) -> str:
    """The attribute of `self` that an expression is, or is a view of."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name):
                return node.attr if home.positional[:1] == [node.value.id] else ""
            node = node.value
        else:
            return ""


def _operands(call: ast.Call) -> list[ast.AST]:
    """What a call combines: its arguments, those of a display by themselves, and what its method is of."""
    found: list[ast.AST] = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    for argument in call.args:
        found.append(argument)
        found.extend(argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else ())
    return found


def _speaks_of_tensors(annotation: ast.expr) -> bool:
    if isinstance(annotation, ast.Constant):
        return any(name in str(annotation.value) for name in knowledge.TENSOR_TYPES)
    names = (part for part in ast.walk(annotation) if isinstance(part, (ast.Name, ast.Attribute)))
    return any(last_name(name) in knowledge.TENSOR_TYPES for name in names)


def _order(found: Behind) -> tuple[bool, bool, bool, bool, int, int]:
    rank = _RANK.index(found.conflict)
    return (
        found.raw.how in _LEAVES,
        rank > 1,
        found.conflict is Conflict.GIVEN,  # perhaps nobody gives what is elsewhere
        found.function != found.origin.function,
        rank,
        getattr(found.at, "lineno", 0),
    )


def _comes_before(one: Behind, other: Behind) -> bool:
    """Whether a meeting is as surely told as another, and stands before it in one function."""
    sure = _RANK.index(one.conflict) <= _RANK.index(other.conflict)
    earlier = getattr(one.at, "lineno", 0) < getattr(other.at, "lineno", 0)
    return sure and earlier and one.function == other.function


def _may_run_anywhere(module: Function, lines: Sequence[str]) -> bool:
    """Whether a file's tensors may be elsewhere: a script that speaks of no device runs on the cpu."""
    said = filter(knowledge.speaks_of_devices, lines)
    if any(knowledge.speaks_of_devices(_COMMENT.sub("", line)) for line in said):
        return True
    body = getattr(module.node, "body", [])
    return not any(isinstance(statement, (ast.For, ast.While, ast.If, ast.With, Ran)) for statement in body)


def _declares(statement: ast.stmt) -> bool:
    """Whether a statement at the top of a file is one that a library has, too: names that versions decide."""
    if isinstance(statement, ast.If):
        parts = (*statement.body, *statement.orelse)
        return all(_declares(part) and not isinstance(part, ast.Expr) for part in parts)
    return not isinstance(statement, (ast.For, ast.While, ast.With, Ran))
