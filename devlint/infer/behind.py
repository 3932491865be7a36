"""What is made on the cpu and meets what is elsewhere, or may be: how surely, and what cures it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import permutations
from typing import NamedTuple

from ..bind.names import last_name
from ..bind.text import Text
from ..bind.walk import descendants
from ..core.events import Conflict
from ..core.evidence import IS_TENSOR, Evidence
from ..core.kinds import Kind
from ..core.paths import Attr, Element, Ref, Root
from ..core.places import ON_DEVICE, Form, Place
from ..core.values import MADE, Origin, Value, is_any_model, is_made
from .conditions import is_without_elements
from .definitions import Function
from .function import CONSTRUCTORS
from .log import RawBind, RawMeeting
from .naming import Naming
from .presumed import Presumed
from .reaching import reached
from .settle import Settled

_NO_NUMBER = Evidence.SHAPED | Evidence.NAMED
_RANK = (
    *(Conflict.CERTAIN, Conflict.PORTABLE, Conflict.PRESUMED),
    *(Conflict.BRANCHES, Conflict.CALLER, Conflict.GIVEN),
)
"""Which of several meetings of one tensor is told."""
_OF_CALLERS = (Conflict.CALLER, Conflict.GIVEN)
_CHOSEN = (Form.EITHER, Form.SAME)
"""Where a constructor puts what it keeps that chooses between an accelerator and the cpu."""
_LEAVES = ("return", "join", "size", "filled")
"""How what is made leaves its function: it meets something in who calls that."""
_WITH_ELEMENTS = ("index", "operator")
"""What nobody does with a tensor of no elements: it stands for what comes later."""
_MAX_OPERANDS = 8


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
    back: bool = False
    """Whether what they give is moved to where the other is."""

    @property
    def at_use(self) -> bool:
        """Whether it is where they meet that is to be changed: nobody knew the device when it was made."""
        return self.back and self.function != self.origin.function


class Kept(NamedTuple):
    """A plain tensor of a module that its constructor did not make on the cpu, and what it meets."""

    attribute: str
    """Its class and name, with a dot between."""
    given: bool
    """Whether a caller gave it; otherwise the constructor put it where it is."""
    other_at: ast.AST
    shown: bool
    """Whether its use shows that it is a tensor, and no number."""


class Meetings(Naming):
    """Judges the meetings of what a file makes on the cpu."""

    def __init__(self, settled: Settled, text: Text) -> None:
        super().__init__(settled, text)
        self.presumed = Presumed(settled)
        self._afterwards: dict[str, dict[tuple[ast.AST, ast.AST], Place]] = {}
        self._flagged: dict[str, frozenset[str]] = {}
        self._branching: dict[str, list[ast.If | ast.IfExp]] = {}

    @cached_property
    def _reached(self) -> dict[str, set[str]]:
        return reached(self.settled)

    def is_reached(self, cls: str, name: str) -> bool:
        """Whether anything in the file reaches an attribute of a class's objects by which it may be moved."""
        by = self._reached.get(name, ())
        return "" in by or not self.file.akin(cls).isdisjoint(by)

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
            brought = self.settled.brought_back(log)
            for raw in (*log.meetings.values(), *self.settled.in_losses(log), *brought):
                for found in self._sides(function, raw, dropped):
                    key: object = (found.origin.function, found.origin.at)
                    made = self.objects.made(found.origin.function, found.origin.at)
                    if key in lost or made in dropped:  # that it is not moved is told by itself
                        continue
                    if found.origin.how not in MADE or found.at_use:
                        key = (*found.origin, found.at)
                    for told in (best, near) if found.function == found.origin.function else (best,):
                        known = told.get(key)
                        if known is None or self._order(found) < self._order(known):
                            told[key] = found
        for function, log in self.settled.logs.items():
            for raw in self.settled.in_calls(log):
                for found in self._sides(function, raw, dropped):
                    key = (*found.origin, found.at)
                    surely = found.wholly if found.conflict is Conflict.BRANCHES else found.conflict
                    if found.origin.attribute and surely in _RANK[:2] and key not in best:
                        best[key] = found._replace(conflict=Conflict.GIVEN)
        for key, found in best.items():
            if not self._follows_another(found, best):
                # What a caller makes sure of is told where the function itself shows the meeting.
                own = near.get(key, found)
                if own.conflict is not Conflict.GIVEN or found.raw.inside:
                    found = own._replace(conflict=found.conflict)
                yield found

    def _order(self, found: Behind) -> tuple[bool, bool, bool, bool, int, int, int]:
        """Of several meetings of one tensor, the first is told."""
        rank = _RANK.index(found.conflict)
        return (
            found.raw.how in _LEAVES,
            rank > 1,
            found.conflict is Conflict.GIVEN,  # perhaps nobody gives what is elsewhere
            found.function != found.origin.function,
            rank,
            self._position(found) if found.conflict is Conflict.GIVEN else 0,
            getattr(found.at, "lineno", 0),
        )

    def _position(self, found: Behind) -> int:
        """Which parameter it meets: the first ones are tensors, those behind them factors and options."""
        home, ref = self.file.functions.get(found.function), found.other.who
        name = self.objects.labels[ref] if type(ref) is int and self.objects.is_parameter(ref) else ""
        return home.positional.index(name) if home is not None and name in home.positional else 0

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

    def _sides(self, function: str, raw: RawMeeting, dropped: set[Ref]) -> Iterator[Behind]:
        for at, here, one, other_at, there, other in (
            (raw.left, raw.here, raw.one, raw.right, raw.there, raw.other),
            (raw.right, raw.there, raw.other, raw.left, raw.here, raw.one),
        ):
            origin = one.origin
            if not is_made(one) or origin is None or not isinstance(at, ast.expr):
                continue
            parted = here.form is Form.CPU and self._is_parted(function, origin, there)
            if is_made(other) and not (there.is_of_machine or parted):
                continue
            if type(one.who) is int and self.settled.any_of(dropped, one.who):
                continue
            if self.among_cpu(function) or self.among_cpu(origin.function):
                continue
            if raw.how in _WITH_ELEMENTS and is_empty(self.settled, one):
                continue  # it is something else by the time that anything is done with it
            if raw.how == "index" and other.kind is Kind.BATCH and not self._is_of_rows(other):
                continue
            if other.kind is Kind.MODULE and not origin.dims:
                runs = not is_any_model(other) or self.is_moved_by_another(function, other)
                of_data = runs and self._is_of_data(one, origin)
                if not of_data or here.form is not Form.CPU:
                    continue  # of no elements, or a number: no module runs on it, whatever the paths
            back = self._goes_back(function, raw, there)
            target = None if back else self.moved_afterwards(function).get((raw.left, raw.right))
            brought = target is not None and self._is_brought(function, other, target)
            if target is not None and not (brought or self._given_elsewhere(there)):
                continue  # nobody would move to where it is already
            conflict = Conflict.PRESUMED if parted else self.apart(function, there, other, one)
            if brought and target is not None and conflict in _OF_CALLERS:
                conflict = self._reached_by(target) or conflict
            if conflict is None or self._only_later(function, at, origin):
                continue
            if back and conflict in _OF_CALLERS:
                conflict = Conflict.PRESUMED  # else it would not have to go there
            if (
                conflict in _OF_CALLERS
                and raw.how == "index"
                and not self._places(function)
                and not (type(there.of) is int and self._borrows(one, there.of))
                and not self._is_sized_by_input(function, one)
            ):
                continue  # a table on the cpu, and what it is read by: nothing says that it is elsewhere
            if raw.how == "container" and conflict is Conflict.GIVEN:
                conflict = Conflict.CALLER  # what else is there in the same container says so
            if raw.how in _LEAVES and conflict is Conflict.GIVEN and self.is_kept(there.of):
                continue  # and was, perhaps, by who gets this
            if raw.how in _LEAVES and self._is_moved_by_callers(function):
                continue
            if raw.how in _LEAVES and conflict is Conflict.PORTABLE and not self._is_of_module(function):
                conflict = Conflict.CALLER
            if conflict in _RANK[:2] and self.only_measures(origin.function):
                conflict = Conflict.CALLER
            if raw.how == "filled":
                if conflict is not Conflict.PORTABLE or not self._is_of_layers(function, there):
                    continue  # what a program gathers on the cpu may be meant for it
                conflict = Conflict.PRESUMED
            wholly = conflict
            guessed = raw.how == "beside" or self._is_of_guess(function)
            if conflict in _RANK[:2] and (guessed or self.presumed.is_place(other, there)):
                wholly = Conflict.PRESUMED
            if raw.how == "beside" and wholly is not Conflict.PRESUMED:
                continue  # nothing here brings there what the model is given
            if here.form is Form.CPU:
                conflict = wholly
            else:
                out = conflict in _RANK[:2] and (
                    self._stands_for_none(function, origin) or self._is_default(origin)
                )
                known = origin.attribute and conflict in _RANK[:2]
                if origin.function != function and not known and not out:
                    continue
                if conflict not in _OF_CALLERS:
                    home = self.file.functions.get(function)
                    out = out or bool(self._given_there(one, other, there, home))
                    conflict = Conflict.PRESUMED if out else Conflict.BRANCHES
            device = self._device(one, origin, there, other)
            sides = (at, here, one, origin, other_at, there, other)
            yield Behind(function, raw, *sides, conflict, device, wholly, back)

    def _is_sized_by_input(self, function: str, table: Value) -> bool:
        """Whether a table has the size of what its function is given: `eye(scores.shape[1])[labels]`."""
        roots = self.roots(table.measures) if type(table.measures) is int else []
        return bool(roots) and all(
            self.objects.is_parameter(each) and self.objects.functions[each] == function for each in roots
        )

    def _is_of_rows(self, part: Value) -> bool:
        """Whether a part of a batch, or of what a module gave, is a tensor by its use, no entry of one."""
        entry = type(part.who) is int and isinstance(self.objects.ways[part.who], Element)
        return not entry and self.settled.kind(part) is not None

    def _is_of_data(self, value: Value, origin: Origin) -> bool:
        """Whether a tensor is made of data that have a name, or are computed, so that there are some."""
        made = _node(self.settled, origin)
        if value.kind is not Kind.TENSOR or not isinstance(made, ast.Call) or not made.args:
            return False
        return isinstance(made.args[0], (ast.Name, ast.Attribute, ast.Subscript, ast.Call))

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
                        name = _attribute(at, home)
                        kept = self.objects.part(self.objects.self_of(home.owner), Attr(name))
                        yield Kept(f"{home.owner}.{name}", given, other_at, self._is_used_as_tensor(kept))

    def _stays(self, stays: Mapping[tuple[str, str], bool], owner: str, name: str) -> bool | None:
        view = self.file.classes.get(owner)
        if view is None or not name:
            return None
        return next((stays[cls.name, name] for cls in view.lineage() if (cls.name, name) in stays), None)

    def _how_kept(self, home: Function, bind: RawBind) -> bool | None:
        """Whether a caller gave what a constructor keeps, rather than that it placed it; None if unknown."""
        place, ref = bind.value.place, bind.value.who
        if bind.value.kind is Kind.UNKNOWN and type(ref) is int and self.objects.is_parameter(ref):
            return True if self._is_tensor_given(home, bind.name, ref) else None
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

    def _is_tensor_given(self, home: Function, name: str, ref: Ref) -> bool:
        """Whether callers give a constructor a tensor for an attribute: those in sight, else by its use."""
        way = self.objects.ways[ref]
        binds = [raw for raw in self.settled.logs[home.name].binds.values() if raw.name == name]
        if home.owner is None or not isinstance(way, Root) or len(binds) > 1:
            return False
        if self.settled.sites.get(home.name):
            return self._is_given_tensors(home, way.name)
        kept = self.objects.part(self.objects.self_of(home.owner), Attr(name))
        shown = bool(self.settled.seen(kept) & IS_TENSOR) or self._is_used_as_tensor(kept)
        return shown and not self.settled.contradicted(kept)

    def _is_used_as_tensor(self, ref: Ref) -> bool:
        """Whether an object itself, rather than what is computed with it, is used as no number is."""
        return bool(self.settled.notes.get(ref, 0) & _NO_NUMBER)

    def moved_afterwards(self, function: str) -> dict[tuple[ast.AST, ast.AST], Place]:
        """Where the result of operations is moved at once, by operands: `table[index].to(device)`."""
        found = self._afterwards.get(function)
        if found is None:
            found = self._afterwards[function] = {}
            for call, raw in self.settled.logs[function].moves.items():
                if raw.target is None or not isinstance(call.func, ast.Attribute):
                    continue  # a cast leaves it where it is
                moved = call.func.value
                while isinstance(before := self._seen_as(function, moved), ast.expr):
                    moved = before
                if isinstance(moved, ast.Subscript):
                    found[moved.value, moved.slice] = raw.target
                elif isinstance(moved, ast.BinOp):
                    found[moved.left, moved.right] = raw.target
                elif isinstance(moved, ast.Call):
                    found |= dict.fromkeys(permutations(_operands(moved)[:_MAX_OPERANDS], 2), raw.target)
        return found

    def _is_moved_by_callers(self, function: str) -> bool:
        """Whether all calls of a function in its file move at once what it gives: `made(x).to(device)`."""
        calls = [site.at for _, site in self.settled.sites.get(function, ())]
        return bool(calls) and self._moved_at_once.issuperset(calls)

    @cached_property
    def _moved_at_once(self) -> set[ast.AST]:
        """What is moved where it stands."""
        return {
            call.func.value
            for log in self.settled.logs.values()
            for call, raw in log.moves.items()
            if raw.target is not None and isinstance(call.func, ast.Attribute)
        }

    def _seen_as(self, function: str, node: ast.expr) -> ast.expr | None:
        """What a call gives a view or cast of, of which it is told no more than numbers: `rows.view(-1)`."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.keywords:
            return None
        raw = self.settled.logs[function].moves.get(node)
        plain = all(isinstance(each, (ast.Constant, ast.UnaryOp)) for each in node.args)
        return node.func.value if plain and (raw is None or raw.target is None) else None

    def _goes_back(self, function: str, raw: RawMeeting, there: Place) -> bool:
        """Whether a result is moved to where one operand is: that one has to be there for the operation."""
        target = self.moved_afterwards(function).get((raw.left, raw.right))
        if target is None or target.form is not Form.SAME or type(target.of) is not int:
            return False
        if self.objects.ways[target.of] != Attr("device") or type(there.of) is not int:
            return False
        given = self.roots(self.objects.parents[target.of])
        return there.form is Form.AT and bool(given) and given == self.roots(there.of)

    def _is_brought(self, function: str, value: Value, target: Place) -> bool:
        """Whether a caller in sight moves a value to where its callee moves what an operation gives.

        That one is there already where the operation is done.
        """
        if _is_moved(value, target):
            return True
        refs = [value.who] if value.place.form is not Form.AT else [value.who, value.place.of]
        return any(
            _is_moved(given, target)
            for ref in refs
            if type(ref) is int
            for root in self.roots(ref)
            if isinstance(way := self.objects.ways[root], Root) and way.kind == "parameter"
            if self.objects.functions[root] == function
            for _, site in self.settled.sites.get(function, ())
            if (given := site.arguments.get(way.name)) is not None
        )

    def _reached_by(self, target: Place) -> Conflict | None:
        """How surely what is moved to a place is elsewhere than on the cpu."""
        if target.form in ON_DEVICE:
            return self.placed(target)
        of = self.roots(target.of) if target.form is Form.AT and type(target.of) is int else []
        return Conflict.PORTABLE if of and {self.rooted(root) for root in of} == {Conflict.PORTABLE} else None

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
            for part in (self._branches(function) if flags else ())
        )

    def _branches(self, function: Function) -> list[ast.If | ast.IfExp]:
        """What decides in a function: collected once, as that is looked through for each meeting in it."""
        found = self._branching.get(function.name)
        if found is None:
            nodes = descendants(function.node)
            found = [node for node in nodes if isinstance(node, (ast.If, ast.IfExp))]
            self._branching[function.name] = found
        return found

    def _stands_for_none(self, name: str, origin: Origin) -> bool:
        """Whether a tensor is made where a caller leaves out a parameter: `if mask is None: mask = …`."""
        function = self.file.functions.get(name)
        if function is None or function.args is None:
            return False
        if self._fills(function, origin):
            return True
        if origin.function == name:
            made = {function.nodes[origin.at]} if 0 <= origin.at < len(function.nodes) else set()
        else:  # or a method that it calls there: `if state is None: state = self.begin(n)`
            sites = self.settled.logs[name].sites
            made = {site.at for site in sites if site.callee == origin.function and site.at is not None}
        optional = left_out(function.args) if made else set()
        return bool(optional) and any(
            asked_for_none(part.test) in optional
            and any(node in made for block in _body(part) for node in ast.walk(block))
            for part in self._branches(function)
        )

    def _is_parted(self, name: str, origin: Origin, there: Place) -> bool:
        """Whether a function makes one tensor on the cpu, and moves the other where a flag says so.

        Where it asks for that again, the two may meet only where the flag is down.
        """
        function = self.file.functions.get(name)
        if origin.function != name or function is None or there.form is not Form.EITHER or not there.when:
            return False
        if there.is_of_machine or any(branch.test < 0 or not branch.outcome for branch in there.when):
            return False
        tests = {branch.test: function.nodes[branch.test] for branch in there.when}
        told = {read for test in tests.values() if isinstance(test, ast.If) for read in _reads(test.test)}
        return not any(
            not told.isdisjoint(_reads(part.test))
            for part in self._branches(function)
            if part not in tests.values()
        )

    def _fills(self, function: Function, origin: Origin) -> bool:
        """Whether a helper makes it for what a function's callers leave out: `m = self.or_all(x, m)`."""
        helper = self.file.functions.get(origin.function)
        if helper is None or helper is function or function.args is None:
            return False
        optional = {self.objects.parameter(function.name, name) for name in left_out(function.args)}
        given = [site for site in self.settled.logs[function.name].sites if site.callee == helper.name]
        if not optional or not given or not 0 <= origin.at < len(helper.nodes):
            return False
        made = helper.nodes[origin.at]
        return any(
            value.who in optional
            for part in self._branches(helper)
            if (name := asked_for_none(part.test)) and any(made in ast.walk(each) for each in _body(part))
            for site in given
            if (value := site.arguments.get(name)) is not None
        )

    def _is_default(self, origin: Origin) -> bool:
        """Whether a parameter was called that a call may leave out: it is a factory then."""
        made = _node(self.settled, origin) if origin.api else None
        return isinstance(made, ast.Call) and last_name(made) != origin.api.rpartition(".")[2]

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


def _reads(test: ast.expr) -> set[str]:
    """The variables and attributes that a condition reads, as the program writes them."""
    owners = {node.value for node in ast.walk(test) if isinstance(node, ast.Attribute)}
    read = (node for node in ast.walk(test) if isinstance(node, (ast.Name, ast.Attribute)))
    return {ast.unparse(node) for node in read if node not in owners}


def _is_moved(value: Value, target: Place) -> bool:
    return value.origin is not None and value.origin.how == "moved" and value.place == target


def _with_parts(value: Value, depth: int = 2) -> Iterator[Value]:
    """A value, and what is in it, if it is a container."""
    yield value
    for part in (*(value.items or ()), *((value.element,) if value.element is not None else ())):
        if value.kind is Kind.CONTAINER and depth:
            yield from _with_parts(part, depth - 1)


def _plain(test: ast.expr) -> ast.expr:
    return test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test


def _node(settled: Settled, origin: Origin) -> ast.AST | None:
    """What made a value, where that is in a function of the file."""
    home = settled.file.functions.get(origin.function)
    return home.nodes[origin.at] if home is not None and 0 <= origin.at < len(home.nodes) else None


def is_empty(settled: Settled, value: Value) -> bool:
    """Whether a tensor was made of no elements, or comes of one: `torch.empty(0)`, `torch.tensor([])`."""
    origin = value.origin
    made = _node(settled, origin) if origin is not None else None
    return origin is not None and isinstance(made, ast.Call) and is_without_elements(made, origin.api)


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


def _comes_before(one: Behind, other: Behind) -> bool:
    """Whether a meeting is as surely told as another, and stands before it in one function."""
    sure = _RANK.index(one.conflict) <= _RANK.index(other.conflict)
    earlier = getattr(one.at, "lineno", 0) < getattr(other.at, "lineno", 0)
    return sure and earlier and one.function == other.function
