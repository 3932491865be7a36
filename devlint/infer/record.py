"""The values of a file's expressions, for rules that ask: what they ask about is run again and remembered."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import NamedTuple

from .. import knowledge
from ..bind.names import last_name
from ..bind.sections import Section, arranged
from ..bind.text import Text
from ..bind.walk import descendants
from ..core.events import Call, Event, Move, Seen, Why
from ..core.evidence import NO_NUMBER
from ..core.kinds import Kind
from ..core.objects import Objects
from ..core.paths import Attr
from ..core.places import CPU, UNKNOWN_PLACE, Form, Place
from ..core.state import Key, State
from ..core.summary import Calling, Loading
from ..core.values import Api, Value
from ..span import Span
from .abroad import name_of
from .classes import Class
from .cure import Keeping, keepings
from .definitions import Function
from .file import File, Index
from .function import CONSTRUCTORS
from .loaders import loaders_in
from .machine import Program
from .observe import Observer, observed
from .room import with_room
from .settle import Settled
from .sites import calls_in
from .statements import Statements

Machines = Callable[[Program, Objects, Function, State], Statements]
"""Makes a machine for each run of a function."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class _Scope(NamedTuple):
    """The variables before a statement."""

    variables: dict[Key, Value]
    function: str
    why: Why
    loops: int


class _Book:
    """What recording runs saw, of the last run of each statement."""

    def __init__(self) -> None:
        self.values: dict[ast.expr, tuple[Value, Place, str]] = {}
        self.targets: dict[ast.expr, tuple[Value, Place, str]] = {}
        """What variables and attributes are bound to, by where they stand."""
        self.scopes: dict[ast.stmt, _Scope] = {}
        self.new_values: list[ast.expr] = []
        """What was evaluated for the first time since somebody looked."""
        self.new_scopes: list[ast.stmt] = []


class _Recording(Statements):
    """Runs statements and remembers variables and values, unless they hold under an assumption alone."""

    def __init__(self, book: _Book, program: Program, objects: Objects, here: Function, state: State) -> None:
        super().__init__(program, objects, here, state)
        self.book = book

    def eval(self, node: ast.expr) -> Value:
        value = super().eval(node)
        if not self.settled:
            if node not in self.book.values:
                self.book.new_values.append(node)
            self.book.values[node] = (value, self.where(value), self.here.name)
        return value

    def run(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if self.state.alive and not self.settled:
                if statement not in self.book.scopes:
                    self.book.new_scopes.append(statement)
                self.book.scopes[statement] = _Scope(
                    self.state.env.copy(), self.here.name, self.state.why, self.loops
                )
            super().run([statement])

    def bind(self, target: ast.expr, value: Value) -> None:
        super().bind(target, value)
        if isinstance(target, (ast.Name, ast.Attribute)) and not self.settled:
            bound = self.state.env.get(target.id, value) if isinstance(target, ast.Name) else value
            self.book.targets[target] = (bound, self.where(bound), self.here.name)


class Record:
    """What is known of a file's expressions and variables."""

    whole = False
    """Whether all values will be asked for."""

    def __init__(
        self,
        text: str,
        tree: ast.Module,
        index: Index | None = None,
        name: str = "",
        sections: Sequence[Section] = (),
        analysed: File | None = None,
    ) -> None:
        """Run the inference, unless the file was `analysed` before; raises as `infer` does."""
        self._text = Text(text)
        self._tree = arranged(tree, text, sections) if analysed is None else analysed.tree
        self._index, self._name, self._sections = index, name, sections
        self._own = analysed is None
        """Whether nobody else lets go of the analysis."""
        self._told: dict[str, str | None] = {}
        """By class, the attribute in which its objects keep the device that they are told."""
        if self.whole:
            self._start_whole()
        else:
            self._start(analysed or self._analysed(Statements), _Book())

    def _analysed(self, machine: Machines) -> File:
        file = File(self._tree, self._name, self._index, machine)
        with_room(file.analyse)
        return file

    def _start(self, file: File, book: _Book, *recorded: ast.AST) -> None:
        self._file, self._book = file, book
        self._by_line: dict[int, list[ast.expr]] = {}
        """The expressions that begin on each line: of few of them anybody asks where exactly."""
        self._on_line: dict[int, dict[Span, ast.expr]] = {}
        self._statements: dict[int, list[tuple[Span, ast.stmt]]] = {}
        """The statements that a line is part of."""
        self._recorded = set(recorded)
        """The functions that were run again; the tree itself, if everything was."""
        self._observer = Observer(Settled(file), self._text, self._sections)

    def _start_whole(self) -> None:
        book = _Book()
        self._start(self._analysed(partial(_Recording, book)), book, self._tree)

    def _record(self, span: Span) -> None:
        """Remember the values of the functions around a place; all of the file where there are none."""
        if self._tree in self._recorded:
            return
        homes = self._homes_of(span)
        if not homes:
            self._record_all()
            return
        new = [self._file.function_of(node) for node in homes if node not in self._recorded]
        if new:
            self._recorded.update(homes)
            recording = partial(_Recording, self._book)
            for function in filter(None, new):
                with_room(partial(self._file.run_again, function, recording))

    def _record_all(self) -> None:
        """Analyse the file anew, and remember all values."""
        if self._own:
            self._file.release()
        self._own = True
        for stale in [name for name, each in vars(Record).items() if isinstance(each, cached_property)]:
            self.__dict__.pop(stale, None)
        self._start_whole()

    @cached_property
    def _homes(self) -> dict[int, list[tuple[Span, Span, ast.AST]]]:
        """By line, the functions and classes that it is part of: all of each, its body, and the node; the
        outer before the inner."""
        found: list[tuple[Span, Span, ast.AST]] = []
        for node in self._file.nodes:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                begin, whole = self._text.span(node.body[0]), self._text.span(node)
                first = min([whole, *map(self._text.span, node.decorator_list)])
                body = whole._replace(line=begin.line, column=begin.column)
                found.append((whole._replace(line=first.line, column=first.column), body, node))
            elif isinstance(node, ast.Lambda):
                found.append((self._text.span(node), self._text.span(node.body), node))
        on: dict[int, list[tuple[Span, Span, ast.AST]]] = {}
        for each in found:
            for line in range(each[0].line, each[0].end_line + 1):
                on.setdefault(line, []).append(each)
        return on

    def _homes_of(self, span: Span) -> list[ast.AST]:
        """The functions around a place, the outer first; none where a class or the module runs it itself."""
        around = [each for each in self._homes.get(span.line, ()) if _is_in(span, each[0])]
        bodies = [node for _, body, node in around if _is_in(span, body) and not isinstance(node, ast.Lambda)]
        if not bodies or isinstance(bodies[-1], ast.ClassDef):
            return []
        return [node for *_, node in around if not isinstance(node, ast.ClassDef)]

    @cached_property
    def calls(self) -> tuple[Calling, ...]:
        """The calls of the file's own functions, and of the project's."""
        return calls_in(self._file)

    def loaders(self, function: str) -> tuple[Loading, ...]:
        """The loaders of the file that run a function in their workers."""
        return tuple(each for each in loaders_in(self._file) if each.function == function)

    def begun_by(self, function: str) -> tuple[str, ...]:
        """The functions that loaders run by which this one runs in their workers."""
        return self._observer.workers.begun_by(function)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """All events of the file, whether or not a rule that is on watches them."""
        return observed(self._observer.settled, self._observer.text, sections=self._sections)

    @cached_property
    def _keepings(self) -> dict[Span, Keeping]:
        found = keepings(self._tree, self._observer.settled, self._index, self._name)
        return {self._observer.text.span(node): keeping for node, keeping in found.items()}

    @property
    def functions(self) -> Mapping[str, Function]:
        """The functions of the file, by their dotted names."""
        return self._file.functions

    def calls_of(self, function: str) -> Iterator[Calling]:
        """The calls of a function in this file."""
        return (each for each in calls_in(self._file) if each.callee == function)

    def tries_out(self, call: Calling) -> bool:
        """Whether a call stands where the file, a library's, only tries itself out."""
        own = call.caller in self._file.functions or call.at[0] == name_of(self._file.name)
        node = self._observer.node(call.caller, call.at[1]) if own else None
        return node is not None and self._observer.demo.covers(call.caller, getattr(node, "lineno", 0))

    def release(self) -> None:
        """Let go of what refers to itself in a circle; nothing can be asked any more."""
        if self._own:
            self._file.release()

    def kept_safely(self, span: Span) -> bool | None:
        """Whether a result that a statement throws away could be kept without harm; None if not at all."""
        keeping = self._keepings.get(span)
        return keeping.safe if keeping is not None and keeping.possible else None

    def _expression(self, span: Span) -> ast.expr | None:
        """The expression that was evaluated at a place, the last one if there are several."""
        self._record(span)
        new, self._book.new_values = self._book.new_values, []
        for node in new:
            self._by_line.setdefault(node.lineno, []).append(node)
            self._on_line.pop(node.lineno, None)
        found = self._on_line.get(span.line)
        if found is None:
            nodes = self._by_line.get(span.line, [])
            found = self._on_line[span.line] = {self._text.span(node): node for node in nodes}
        return found.get(span)

    def value_at(self, span: Span) -> Seen:
        """The value of the expression that stands at a place; of unknown kind where none was evaluated."""
        node = self._expression(span)
        if node is None:
            return Seen(Kind.UNKNOWN, UNKNOWN_PLACE, None, "")
        value, place, function = self._book.values[node]
        return self._observer.traced(value, place, node, function)

    def handed_at(self, span: Span) -> tuple[str, str]:
        """The function and the parameter that a device which stands at a place is, perhaps kept meanwhile."""
        node = self._expression(span)
        return self._observer.handed(*self._book.values[node], False) if node is not None else ("", "")

    def is_on_cpu_by_default(self, function: str, parameter: str) -> bool:
        """Whether a parameter is the cpu where the caller says nothing."""
        known = self._file.functions.get(function)
        return known is not None and parameter in _by_default(known, CPU.name)

    def hands_on_none(self, function: str, parameter: str) -> bool:
        """Whether a parameter is None where the caller says nothing, and is read once, to be handed on."""
        known = self._file.functions.get(function)
        default = known.default(parameter) if known is not None else None
        if known is None or not (isinstance(default, ast.Constant) and default.value is None):
            return False
        names = [each.id for each in descendants(known.node) if isinstance(each, ast.Name)]
        return names.count(parameter) == 1

    def device_at_hand(self, span: Span) -> str | None:
        """What names the device to use: one chosen at run time, or where a tensor at hand is.

        A variable, an attribute of `self`, a tensor that the caller gives, a parameter of the module, or a
        variable of the file.
        """
        scope = self._scope(span)
        if scope is None:
            return None
        own = tuple(self._attributes_of_self(scope.function))
        return (
            _device_among(scope.variables.items())
            or self._used_as_device(scope.variables.items(), scope.function)
            or _device_among(own)
            or self._used_as_device(own, scope.function)
            or self._told_to_its_object(scope.function)
            or self._tensor_given(scope)
            or next((f"{name}.device" for name, value in own if value.kind is Kind.PARAMETER), None)
            or (self._device_of_the_file if scope.function else None)
        )

    @cached_property
    def _device_of_the_file(self) -> str | None:
        """The first variable of the file that is a device chosen at run time."""
        return _device_among(self._file.variables().items())

    def function_at(self, span: Span) -> str:
        """The function around a place; empty for the statements of the file."""
        scope = self._scope(span)
        return scope.function if scope is not None else ""

    def device_given(self, span: Span) -> str | None:
        """What names a device that somebody else chooses, which may be any: a caller, or an option."""
        scope = self._scope(span)
        if scope is None:
            return None
        function = self._file.functions.get(scope.function)
        optional = _by_default(function, None) if function is not None else ()
        around = self._file.variables().items() if scope.function else ()
        own = self._attributes_of_self(scope.function)
        for name, value in (*scope.variables.items(), *own, *around):
            if isinstance(name, str) and name.rpartition(".")[2] in self._on_host_unless_told:
                continue
            chosen = value.kind is Kind.DEVICE and value.place.form is Form.SAME and not value.place.name
            if isinstance(name, str) and chosen:
                return name
            unknown = value.kind is Kind.UNKNOWN and value.who in self._devices
            if isinstance(name, str) and unknown and name not in optional:
                return name
        return self._option(scope)

    def _option(self, scope: _Scope) -> str | None:
        """What is used as a device, and is an attribute of a variable: `args.device`."""
        objects = self._file.objects
        for ref in sorted(self._devices):
            owner, way = objects.parents[ref], objects.ways[ref]
            if not isinstance(way, Attr):
                continue
            for name, value in scope.variables.items():
                opaque = value.who == owner and value.kind is Kind.UNKNOWN
                if isinstance(name, str) and opaque and not self._is_tensor(value, scope.function):
                    return f"{name}.{way.name}"
        return None

    @cached_property
    def _on_host_unless_told(self) -> frozenset[str]:
        """The names of devices that are the cpu by default: `self.store or torch.device("cpu")`."""
        either = (each for each in self._file.nodes if isinstance(each, ast.BoolOp))
        found = {
            last_name(each.values[0])
            for each in either
            if isinstance(each.op, ast.Or)
            and any(
                isinstance(part, ast.Constant) and part.value == CPU.name
                for value in each.values[1:]
                for part in ast.walk(value)
            )
        }
        assigned = (each for each in self._file.nodes if found and isinstance(each, ast.Assign))
        kept = {last_name(each.value) for each in assigned if last_name(each.targets[0]) in found}
        return frozenset(found | kept) - {""}

    @cached_property
    def _moves(self) -> tuple[Move, ...]:
        return tuple(each for each in self.events if isinstance(each, Move))

    @cached_property
    def _devices(self) -> frozenset[int]:
        """The objects that something is moved to, or made on."""
        found = {
            each.target.of
            for each in self._moves
            if each.method != knowledge.CUDA and each.target is not None
        }
        given = [
            seen for each in self.events if isinstance(each, Call) for seen in [each.given.get("device")]
        ]
        found |= {seen.who for seen in given if seen is not None and seen.kind is Kind.UNKNOWN}
        return frozenset(ref for ref in found if type(ref) is int)

    def _used_as_device(self, variables: Iterable[tuple[Key, Value]], name: str) -> str | None:
        """The first of unknown kind that the file uses as a device; what is None by default is no device."""
        function = self._file.functions.get(name)
        optional = _by_default(function, None) if function is not None else ()
        for variable, value in variables:
            known = value.kind is not Kind.UNKNOWN or value.who not in self._devices
            if isinstance(variable, str) and not known and variable not in optional:
                return variable
        return None

    def _told_to_its_object(self, name: str) -> str | None:
        """The first attribute that is used as a device, and that who makes the object of a method chooses."""
        itself, cls = self._object_of(name)
        if cls is None:
            return None
        if cls.name not in self._told:
            self._told[cls.name] = next(self._told_and_used(cls), None)
        told = self._told[cls.name]
        return f"{itself}.{told}" if told is not None else None

    def _told_and_used(self, cls: Class) -> Iterator[str]:
        objects = self._file.objects
        for attribute in cls.assigned():
            values = [raw.value for _, _, raw in self._observer.settled.bound(cls.name, attribute)]
            bound = [each.who if type(each.who) is int else each.place.of for each in values]
            told = all(type(who) is int and objects.is_parameter(who) for who in bound)
            if bound and told and objects.part(objects.self_of(cls.name), Attr(attribute)) in self._devices:
                yield attribute

    def _tensor_given(self, scope: _Scope) -> str | None:
        """The device of the first tensor that the caller gives, and that the function leaves where it is."""
        function = self._file.functions.get(scope.function)
        moved = {each.receiver.who for each in self._moves}
        for name in function.positional if function is not None else ():
            value = scope.variables.get(name)
            if value is None or value.who in moved or value.origin is not None:
                continue
            if value.who != self._file.objects.parameter(scope.function, name):
                continue
            if self._is_tensor(value, scope.function):
                return f"{name}.device"
        return None

    def _is_tensor(self, value: Value, function: str) -> bool:
        """Whether it is a tensor, and no number: what is only calculated with may be either."""
        settled = self._observer.settled
        used = type(value.who) is int and bool(settled.seen(value.who) & NO_NUMBER)
        return value.kind is Kind.TENSOR or (used and settled.kind_of_moved(value, function) is Kind.TENSOR)

    def _attributes_of_self(self, name: str) -> Iterator[tuple[str, Value]]:
        """What is known of the attributes that a method can read: its constructor sets them."""
        itself, cls = self._object_of(name)
        for attribute in cls.assigned() if cls is not None else ():
            value = cls.attribute(attribute) if cls is not None else None
            if value is not None:
                yield f"{itself}.{attribute}", value

    def _object_of(self, name: str) -> tuple[str, Class | None]:
        """What a method calls its object, and the class of that; no class where there is none, or not yet."""
        function = self._file.functions.get(name)
        if function is None or not function.is_method or function.of_class:
            return "", None
        made = function.own_name not in CONSTRUCTORS
        return function.positional[0], self._file.classes.get(function.owner or "") if made else None

    def bound_to(self, name: str, span: Span) -> str | None:
        """The dotted name of what a variable is, where it is a library's."""
        scope = self._scope(span)
        value = scope.variables.get(name) if scope is not None else None
        function = self._file.functions.get(scope.function) if scope is not None else None
        while value is None and function is not None:
            value = function.enclosing.get(name) if function.enclosing is not None else None
            function = function.outer
        if value is None:
            value = self._file.top(name)
        if name in self._file.only_typed and value is self._file.top(name):
            return None
        known = value.known if value is not None and value.kind is Kind.LIBRARY else None
        return known.dotted if isinstance(known, Api) else None

    def _scope(self, span: Span) -> _Scope | None:
        """The variables before the innermost statement around a place."""
        self._record(span)
        new, self._book.new_scopes = self._book.new_scopes, []
        for each in new:
            whole = self._text.span(each)
            for line in range(whole.line, whole.end_line + 1):
                self._statements.setdefault(line, []).append((whole, each))
        around = [
            (found.end_line - found.line, found.end_column - found.column, statement.lineno, statement)
            for found, statement in self._statements.get(span.line, ())
            if _is_in(span, found)
        ]
        if not around:
            return None
        return self._book.scopes[min(around, key=lambda item: item[:3])[3]]


def _is_in(span: Span, around: Span) -> bool:
    return around[:2] <= span[:2] and span[2:] <= around[2:]


def _by_default(function: Function, constant: object) -> frozenset[str]:
    """The parameters that are a constant where the caller says nothing."""
    arguments = function.node.args if isinstance(function.node, _FUNCTIONS) else None
    if arguments is None:
        return frozenset()
    plain = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return frozenset(
        each.arg for each, default in pairs if isinstance(default, ast.Constant) and default.value == constant
    )


def _device_among(variables: Iterable[tuple[Key, Value]]) -> str | None:
    """The first name of a device that is chosen at run time."""
    for name, value in variables:
        chosen = value.kind is Kind.DEVICE and value.place.form in (Form.EITHER, Form.SAME, Form.AT)
        if isinstance(name, str) and chosen:
            return name
    return None
