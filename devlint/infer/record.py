"""A second run of the inference that remembers the value of every expression, for rules that ask."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import NamedTuple

from ..bind.sections import Section, arranged
from ..bind.text import Text
from ..core.events import Event, Seen
from ..core.kinds import Kind
from ..core.objects import Objects
from ..core.places import UNKNOWN_PLACE, Form, Place
from ..core.state import Key, State
from ..core.values import Api, Value
from ..span import Span
from .cure import Keeping, keepings
from .definitions import Function
from .file import File, Index
from .function import CONSTRUCTORS
from .machine import Program
from .observe import Observer, observed
from .room import with_room
from .settle import Settled
from .statements import Statements


class _Scope(NamedTuple):
    """The variables before a statement."""

    variables: dict[Key, Value]
    function: str


class _Book:
    """What recording runs saw, of the last run of each statement."""

    def __init__(self) -> None:
        self.values: dict[ast.expr, tuple[Value, Place, str]] = {}
        self.scopes: dict[ast.stmt, _Scope] = {}


class _Recording(Statements):
    """Runs statements and remembers variables and values."""

    def __init__(self, book: _Book, program: Program, objects: Objects, here: Function, state: State) -> None:
        super().__init__(program, objects, here, state)
        self.book = book

    def eval(self, node: ast.expr) -> Value:
        value = super().eval(node)
        self.book.values[node] = (value, self.where(value), self.here.name)
        return value

    def run(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if self.state.alive:
                self.book.scopes[statement] = _Scope(self.state.env.copy(), self.here.name)
            super().run([statement])


class Record:
    """What is known of a file's expressions and variables."""

    def __init__(
        self,
        text: str,
        tree: ast.Module,
        index: Index | None = None,
        name: str = "",
        sections: Sequence[Section] = (),
    ) -> None:
        """Run the inference; raises as `infer` does."""
        self._tree = tree = arranged(tree, text, sections)
        self._index, self._name, self._sections = index, name, sections
        book = self._book = _Book()
        self._file = File(tree, name, index=index, machine=partial(_Recording, book))
        with_room(self._file.analyse)
        self._observer = Observer(Settled(self._file), Text(text), sections)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """All events of the file, whether or not a rule that is on watches them."""
        return observed(self._observer.settled, self._observer.text, sections=self._sections)

    @cached_property
    def _keepings(self) -> dict[Span, Keeping]:
        found = keepings(self._tree, self._observer.settled, self._index, self._name)
        return {self._observer.text.span(node): keeping for node, keeping in found.items()}

    def release(self) -> None:
        """Let go of what refers to itself in a circle; nothing can be asked any more."""
        self._file.release()

    def kept_safely(self, span: Span) -> bool | None:
        """Whether a result that a statement throws away could be kept without harm; None if not at all."""
        keeping = self._keepings.get(span)
        return keeping.safe if keeping is not None and keeping.possible else None

    @cached_property
    def _by_span(self) -> dict[Span, ast.expr]:
        return {self._observer.text.span(node): node for node in self._book.values}

    @cached_property
    def _statements(self) -> list[tuple[Span, ast.stmt]]:
        return [(self._observer.text.span(node), node) for node in self._book.scopes]

    def value_at(self, span: Span) -> Seen:
        """The value of the expression that stands at a place; of unknown kind where none was evaluated."""
        node = self._by_span.get(span)
        if node is None:
            return Seen(Kind.UNKNOWN, UNKNOWN_PLACE, None, "")
        value, place, function = self._book.values[node]
        return self._observer.traced(value, place, node, function)

    def device_at_hand(self, span: Span) -> str | None:
        """What holds a device chosen at run time: a variable, an attribute of `self`, one of the module."""
        scope = self._scope(span)
        if scope is None:
            return None
        around = self._file.variables() if scope.function else {}
        return (
            _device_among(scope.variables.items())
            or _device_among(self._attributes_of_self(scope.function))
            or _device_among(around.items())
        )

    def _attributes_of_self(self, name: str) -> Iterator[tuple[str, Value]]:
        """What is known of the attributes that a method can read: its constructor sets them."""
        function = self._file.functions.get(name)
        cls = self._file.classes.get(function.owner or "") if function is not None else None
        if function is None or cls is None or not function.is_method or function.of_class:
            return
        if function.own_name in CONSTRUCTORS:
            return
        for attribute in cls.assigned():
            value = cls.attribute(attribute)
            if value is not None:
                yield f"{function.positional[0]}.{attribute}", value

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
        around = [
            (found.end_line - found.line, found.end_column - found.column, statement.lineno, statement)
            for found, statement in self._statements
            if found[:2] <= span[:2] and span[2:] <= found[2:]
        ]
        if not around:
            return None
        return self._book.scopes[min(around, key=lambda item: item[:3])[3]]


def _device_among(variables: Iterable[tuple[Key, Value]]) -> str | None:
    """The first name of a device that is chosen at run time."""
    for name, value in variables:
        chosen = value.kind is Kind.DEVICE and value.place.form in (Form.EITHER, Form.SAME)
        if isinstance(name, str) and chosen:
            return name
    return None
