"""How surely what a function meets is elsewhere than on the cpu: by where it came from, and who gives it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

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
from ..core.values import Value, is_any_model, is_made
from .definitions import Function
from .function import CONSTRUCTORS
from .handed import FORWARD, handed_down
from .holdings import has_weights
from .log import RawBind
from .settle import Settled

_COMMENT = re.compile(r"(?:^|\s)#.*")
_IS_THE_CPU = re.compile(r"""(\w+) *= *(?:torch\.device\()?["']cpu["']\)?\s*$""")
_TESTS = "tests"
_CPU = frozenset({"host", _TESTS})
_MAX_DEPTH = 6
MAX_PARTIES = 32
_DEEP_CALLS = 3
_DEEP = 2
"""Of so many attributes, `self.layer.scale`, the last may be a tensor of a module of unknown class."""


class Elsewhere:
    """Judges where the values of a file may be of which nothing says where they are."""

    def __init__(self, settled: Settled, text: Text) -> None:
        self.settled = settled
        self.file = settled.file
        self.objects = settled.objects
        self._text = text
        self._constructing: dict[str, bool] = {}
        self._checking: dict[str, bool] = {}
        self._given_away: dict[str, frozenset[str]] = {}
        self._arrays: dict[str, bool] = {}
        self._forwarded: dict[tuple[str, str], bool] = {}
        self._handed_down: dict[str, frozenset[str]] = {}

    @cached_property
    def portable(self) -> bool:
        """Whether the file's tensors may be elsewhere."""
        return _may_run_anywhere(self.file.module, self._text.lines)

    @cached_property
    def _derived(self) -> dict[Ref, tuple[tuple[Ref, bool], ...]]:
        return {ref: of for log in self.settled.logs.values() for ref, of in log.derived.items()}

    @cached_property
    def _fetched(self) -> frozenset[Ref]:
        """What functions are given and move, on one of its uses, to the device of something else.

        Who moves the lengths of a batch to where the batch is has them on the host.
        """
        return frozenset(
            who
            for log in self.settled.logs.values()
            for raw in log.moves.values()
            if type(who := raw.receiver.who) is int
            and self.objects.is_parameter(who)
            and raw.target is not None
            and raw.target.form in (Form.AT, Form.SAME)
            and type(raw.target.of) is int
            and who not in self.roots(raw.target.of)
        )

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
        if any(map(self._fed_cpu, roots)) or any(map(self._passed_decorator, roots)):
            return None
        if any(map(self._is_hosted, (ref, *roots))) or not self._fetched.isdisjoint((ref, *roots)):
            return None
        if other.kind is Kind.UNKNOWN and self._hangs_on_another(ref):
            return None
        found = None
        if self.portable and (self._holds_a_tensor(other) or self._accumulates(function, one, ref)):
            found = self._beside(function, ref, roots, other, one)
        return found or (Conflict.GIVEN if self._callers_know(function, ref, roots, other, one) else None)

    def _passed_decorator(self, root: Ref) -> bool:
        """Whether a decorator moves what a function is given."""
        log = self.settled.logs.get(self.objects.functions[root])
        return log is not None and knowledge.MOVED_BEFORE in log.reaches and self.objects.is_parameter(root)

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
        if self._reads_arrays(function):
            return False
        if one.measures == ref and self._is_attribute(ref) and other.kind in (Kind.UNKNOWN, *TENSORS):
            return True  # `ones(len(data.x))` and `data.x`
        return self.is_given(function, Place(Form.AT, "", ref), other)

    def is_kept(self, ref: object) -> bool:
        """Whether an object is, or is in, what methods keep in an attribute of their object."""
        return type(ref) is int and not any(map(self.objects.is_parameter, self.roots(ref)))

    def is_given(self, function: str, there: Place, other: Value) -> bool:
        """Whether a value is where callers have what they give a function, or its object before.

        What they give is that by itself, and not what has it as an attribute.
        """
        ref = there.of
        if there.form is not Form.AT or type(ref) is not int or other.kind not in (Kind.UNKNOWN, *TENSORS):
            return False
        given = {name for name, _ in self.given_as(ref)}
        kept = self.is_kept(ref)
        if not given or not (kept or given == {function}) or self.settled.contradicted(ref):
            return False
        return kept or not self._is_attribute(ref)

    def given_as(self, ref: Ref) -> set[tuple[str, str]]:
        """The functions and parameters by which callers give an object, or what methods keep as that."""
        roots = self.roots(ref)
        if roots and all(map(self.objects.is_parameter, roots)):
            return {(self.objects.functions[root], self.objects.labels[root]) for root in roots}
        found = set[tuple[str, str]]()
        for function, value in self.settled.put_into(ref):
            of = value.place.of if value.place.form is Form.AT else value.who
            unknown = value.place.form in (Form.AT, Form.UNKNOWN) and value.origin is None
            roots = self.roots(of) if type(of) is int and unknown else []
            if not roots or not all(map(self.objects.is_parameter, roots)):
                return set()
            found |= {(function, self.objects.labels[root]) for root in roots}
        return found

    def _beside(self, function: str, ref: Ref, roots: list[Ref], other: Value, one: Value) -> Conflict | None:
        """How surely what a file knows nothing of but where it came from is elsewhere."""
        found = {self.rooted(root) for root in roots}
        if found == {Conflict.PORTABLE}:
            return Conflict.CALLER if is_any_model(other) else Conflict.PORTABLE
        if other.kind in TENSORS and roots and all(map(self._is_optimizer, roots)):
            return Conflict.PORTABLE  # its parameters, and what is computed with those
        if self._reads_arrays(function):
            return None
        if one.origin is None:
            return None
        if one.origin.function == function and self.is_moved_by_another(function, other):
            return Conflict.PRESUMED
        if is_any_model(other):
            own = one.origin.function == function and not one.origin.attribute
            return Conflict.CALLER if own and self._is_given(function, other) else None
        if one.origin.attribute:
            if self._is_given_to_module(function, ref):
                return Conflict.CALLER
            made = self._is_of_module(function) and roots and all(map(self._is_made_of_inputs, roots))
            return Conflict.PRESUMED if made else None
        borrows = self._borrows(one, ref)
        if one.origin.function != function and not borrows:
            return None
        if found <= {None}:  # nobody knows where it is, but the size of what it meets may be its own
            added = self._accumulates(function, one, ref)
            if added is not None:
                return added
            return Conflict.CALLER if found and (borrows or self._borrows_of_parts(one, other)) else None
        if self._is_attribute(ref):
            return None
        if self._places(function) or borrows or self._borrows_of_parts(one, other):
            return Conflict.CALLER
        return Conflict.CALLER if any(map(self._promised, roots)) else None

    def is_moved_by_another(self, function: str, model: Value) -> bool:
        """Whether it is what an object keeps, and another method of its class moves to a device."""
        ref = model.who
        if model.kind is not Kind.MODULE or type(ref) is not int:
            return False
        top = self.objects.top(ref)
        owner = self.objects.ways[top]
        view = self.file.view(owner.name) if isinstance(owner, Root) and owner.kind == "self" else None
        return view is not None and any(
            raw.target is not None
            and raw.target.form in ON_DEVICE
            and type(moved := raw.receiver.who) is int
            and moved != top
            and self.objects.is_part(ref, moved)
            for method in view.methods.values()
            if method != function and not self.constructing(method)
            for raw in self.settled.logs[method].moves.values()
        )

    def _is_given(self, function: str, model: Value) -> bool:
        """Whether a model is what a function is given, or its object was made with: where callers have it."""
        ref = model.who
        if type(ref) is not int:
            return False
        if self.objects.is_parameter(ref):
            return self.objects.functions[ref] == function
        way, owner = self.objects.ways[ref], self.objects.ways[self.objects.parents[ref]]
        if not (isinstance(way, Attr) and isinstance(owner, Root) and owner.kind == "self"):
            return False
        view = self.file.view(owner.name)
        own = [
            raw.value.who
            for method in (view.assigning(way.name) if view is not None else ())
            for raw in self.settled.logs[method].binds.values()
            if raw.name == way.name and raw.owner.who == self.objects.self_of(owner.name)
        ]
        return bool(own) and all(type(each) is int and self.objects.is_parameter(each) for each in own)

    def _accumulates(self, function: str, one: Value, ref: Ref) -> Conflict | None:
        """How surely what unknown functions of the inputs give beside another is added up elsewhere.

        `total = zeros(len(x))`, and `x, part = layer(x)` with `total += part`.
        """
        size, roots = one.measures, self.roots(ref)
        if type(size) is not int or not self.objects.is_structural(ref) or not roots:
            return None
        sized = {self.rooted(root) for root in self.roots(size)}
        if len(sized) != 1 or not sized <= {Conflict.PORTABLE, Conflict.CALLER}:
            return None
        if not all(self._is_made_of_inputs(root, sized) for root in roots):
            return None
        if sized == {Conflict.PORTABLE}:
            return Conflict.PRESUMED
        return Conflict.CALLER if self._is_of_module(function) else None

    def _is_made_of_inputs(
        self, root: Ref, inputs: Collection[Conflict | None] = (Conflict.PORTABLE,), depth: int = _DEEP_CALLS
    ) -> bool:
        """Whether it is what a call gave of which nobody knows what it does, and that was given inputs.

        Such are what is where the module is, and what another such call made of them.
        """
        for each in self.settled.forms.get(root, ()) if depth else ():
            roots = self.roots(each)
            if any(self.rooted(one) in inputs for one in roots) or any(
                self._is_made_of_inputs(one, inputs, depth - 1) for one in roots
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

    def _is_of_layers(self, name: str, place: Place) -> bool:
        """Whether a place in a `forward` is that of the module: of what its layers give, and no input."""
        function = self.file.functions.get(name)
        way = self.objects.ways[place.of] if type(place.of) is int else None
        own = isinstance(way, Root) and way.kind == "self"
        return own and function is not None and function.own_name in FORWARD

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
        if there.form is Form.EITHER and ref is None and not there.is_of_machine:
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
            if way.name in self._handed(function):
                return True
        if function is None or function.own_name not in FORWARD:
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
            if not isinstance(way, (Attr, Item, Element, Apart)) or (isinstance(way, Apart) and way.beside):
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
        if function is None or view is None:
            return Conflict.CALLER
        if knowledge.runs_like_forward(function.own_name, view.topics):
            return Conflict.PORTABLE
        forward = function.own_name in FORWARD or self._is_forwarded(function, way.name)
        return Conflict.PORTABLE if view.is_module and forward else Conflict.CALLER

    def _is_forwarded(self, function: Function, name: str) -> bool:
        """Whether a method is given what is where its module is, by a method that is."""
        key = (function.name, name)
        known = self._forwarded.get(key)
        if known is None:
            self._forwarded[key] = False
            known = self._forwarded[key] = name in self._handed(function) or any(
                self._is_with_module(site.arguments[name])
                for _, site in self.settled.sites.get(function.name, ())
                if name in site.arguments
            )
        return known

    def _handed(self, function: Function) -> frozenset[str]:
        """The parameters of a method that a base class of another file hands what its `forward` is given."""
        if function.name not in self._handed_down:
            self._handed_down[function.name] = handed_down(self.file, function)
        return self._handed_down[function.name]

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
        if value.place.form is Form.SAME and value.origin is None and type(value.who) is int:
            ref = value.who  # a caller in sight gave it, and says where it is
        return {self.rooted(root) for root in self.roots(ref)} == {Conflict.PORTABLE}

    def _fed_cpu(self, root: Ref, depth: int = _MAX_DEPTH) -> bool:
        """Whether a private method, or a function in a function, is given only what nobody put elsewhere.

        So is what other modules of the file alone run, as they run, and give what is on the cpu.

        What its calls pass is on the cpu, or nobody knows where. Other files call a module's own functions.
        """
        way = self.objects.ways[root]
        name = self.objects.functions[root]
        function = self.file.functions.get(name)
        if not isinstance(way, Root) or way.kind != "parameter" or function is None or depth <= 0:
            return False
        if function.own_name in FORWARD:
            return self._is_given_on_cpu(root) and self._is_part_alone(name)
        inner = function.outer is not None and function.outer is not self.file.module
        private = function.own_name.startswith(knowledge.PRIVATE)
        if not (private if function.owner is not None else inner):
            return False
        passed = [
            value
            for _, site in self.settled.sites.get(name, ())
            if (value := site.arguments.get(way.name)) is not None and value.kind is not Kind.NONE
        ]
        return bool(passed) and not any(self._may_be_elsewhere(value, depth) for value in passed)

    def _is_part_alone(self, name: str) -> bool:
        """Whether it is other modules alone that run one, as they run: what they give is no example."""
        callers = (self.file.functions.get(caller) for caller, _ in self.settled.sites.get(name, ()))
        return all(caller is not None and caller.own_name in FORWARD for caller in callers)

    def follows_cpu(self, there: Place) -> bool:
        """Whether what was moved went to the device of what callers give on the cpu."""
        roots = self.roots(there.of) if there.form is Form.SAME and type(there.of) is int else []
        return bool(roots) and all(map(self._is_given_on_cpu, roots))

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
        found = self._arrays.get(name)
        if found is None:  # asked for each meeting in a function, of which all calls are looked at
            found = self._arrays[name] = self._finds_arrays(name)
        return found

    def _finds_arrays(self, name: str) -> bool:
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
        """Whether they are those of what the other side was computed with, which is where that is.

        So is, mostly, what a call gave of which nobody knows what it does, where what it was given is.
        """
        todo, done = [other.who], set[object]()
        while todo and len(done) < MAX_PARTIES:
            ref = todo.pop(0)
            if type(ref) is not int or ref in done:
                continue
            if self._borrows(one, ref):
                return True
            done.add(ref)
            todo.extend(each for each, _ in self._derived.get(ref, ()))
            todo.extend(each for root in self.roots(ref) for each in self.settled.forms.get(root, ()))
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
                or (own not in FORWARD and self._adds_layers(name))
                or (own not in FORWARD and self._gives_layers(function, callers))
                or (
                    function.outer is not None
                    and self.constructing(function.outer.name, depth - 1)
                    and own not in self._handed_out(function.outer)
                )
                or (bool(callers) and all(self.constructing(each, depth - 1) for each in callers))
            )
        self._constructing[name] = found
        return found

    def _handed_out(self, outer: Function) -> frozenset[str]:
        """The names of what a function does more with than to call it: that may run when it has ended."""
        found = self._given_away.get(outer.name)
        if found is None:  # asked for each function that another defines
            nodes = descendants(outer.node)
            called = {node.func for node in nodes if isinstance(node, ast.Call)}
            names = (node for node in nodes if isinstance(node, ast.Name) and node not in called)
            found = frozenset(node.id for node in names if isinstance(node.ctx, ast.Load))
            self._given_away[outer.name] = found
        return found

    def only_measures(self, name: str) -> bool:
        """Whether a method runs its module to tell a size: then it may run before that moves."""
        function = self.file.functions.get(name)
        if function is None or function.own_name in FORWARD or not self._is_of_module(name):
            return False
        returns = (node.value for node in descendants(function.node) if isinstance(node, ast.Return))
        told = [value for value in returns if value is not None]
        return bool(told) and all(map(_tells_size, told))

    def _only_checks(self, name: str) -> bool:
        """Whether a method tries its module out: it asserts or prints, and leaves nothing to its caller."""
        found = self._checking.get(name)
        if found is None:  # asked for each meeting in a method, of which all is looked through
            found = self._checking[name] = self._finds_only_checks(name)
        return found

    def _finds_only_checks(self, name: str) -> bool:
        function = self.file.functions.get(name)
        if function is None or function.owner is None or function.own_name in FORWARD:
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

    def _gives_layers(self, function: Function, callers: Iterable[str]) -> bool:
        """Whether a method gives its module a layer, which would have to be moved if that had moved before.

        What other methods of the class call may run at any time.
        """
        around = (self.file.functions.get(each) for each in callers)
        if any(each is not None and each.owner == function.owner for each in around):
            return False
        log = self.settled.logs.get(function.name)
        given = log.binds.values() if log is not None and self._is_of_module(function.name) else ()
        return any(map(self._is_layer, given))

    def _is_layer(self, raw: RawBind) -> bool:
        """Whether an attribute of `self` is assigned a layer that is made here."""
        way = self.objects.ways[raw.owner.who] if type(raw.owner.who) is int else None
        own = isinstance(way, Root) and way.kind == "self"
        origin = raw.value.origin
        made = raw.value.kind is Kind.MODULE and origin is not None and origin.how == "made"
        return own and made and has_weights(raw.value, self.file)

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
        """What the name of a function says of it; what a program calls, as a `test_epoch`, is no test."""
        found = set(knowledge.hints("function", function.own_name))
        if _TESTS in found and not self._is_collected(function):
            found.discard(_TESTS)
        return found

    def _is_collected(self, function: Function) -> bool:
        """Whether a test framework may look for tests where a function is, as in a class of them.

        It gives none to them, where a program does: `test_epoch(model, loader)`.
        """
        if function.owner is None:
            calls = self.settled.sites.get(function.name, ())
            return not any(site.arguments or site.open for _, site in calls)
        view = self.file.view(function.owner)
        if view is None or (view.is_module and not view.is_guessed):
            return False
        if view.is_test_case():
            return True
        derived = (each for each in self.file.classes.values() if view in each.lineage())
        return any(each.name.rpartition(".")[2].startswith("Test") for each in derived)

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


def _speaks_of_tensors(annotation: ast.expr) -> bool:
    if isinstance(annotation, ast.Constant):
        return any(name in str(annotation.value) for name in knowledge.TENSOR_TYPES)
    names = (part for part in ast.walk(annotation) if isinstance(part, (ast.Name, ast.Attribute)))
    return any(last_name(name) in knowledge.TENSOR_TYPES for name in names)


def _tells_size(node: ast.expr) -> bool:
    return any(
        isinstance(part, ast.Attribute) and part.attr in knowledge.ALL_SIZES for part in ast.walk(node)
    )


def _shows(statement: ast.stmt) -> bool:
    """Whether a statement names something, or prints."""
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Name) for target in statement.targets)
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    shown = isinstance(value, ast.Call) and last_name(value) in knowledge.SHOWS
    return shown or isinstance(value, ast.Constant)


def _may_run_anywhere(module: Function, lines: Sequence[str]) -> bool:
    """Whether a file's tensors may be elsewhere: a script that speaks of none but the cpu runs there."""
    said = [_COMMENT.sub("", line) for line in knowledge.speaking_of_devices(lines)]
    names = [found[1] for line in said if (found := _IS_THE_CPU.match(line)) is not None]
    cpu = re.compile(rf"(?:\.to\(|(?<!\.)\b)(?:device *= *)?\b(?:{'|'.join(names)})\b") if names else _COMMENT
    if any(knowledge.speaks_of_devices(cpu.sub("", _IS_THE_CPU.sub("", line))) for line in said):
        return True
    body = getattr(module.node, "body", [])
    if names and any(isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) for each in body):
        return False
    return not any(isinstance(statement, (ast.For, ast.While, ast.If, ast.With, Ran)) for statement in body)


def _declares(statement: ast.stmt) -> bool:
    """Whether a statement at the top of a file is one that a library has, too: names that versions decide."""
    if isinstance(statement, ast.If):
        parts = (*statement.body, *statement.orelse)
        return all(_declares(part) and not isinstance(part, ast.Expr) for part in parts)
    return not isinstance(statement, (ast.For, ast.While, ast.With, Ran))
