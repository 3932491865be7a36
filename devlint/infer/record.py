"""A second run of the inference that remembers the value of every expression, for rules that ask."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from ..core.events import Event, Seen
from ..core.kinds import Kind
from ..core.places import UNKNOWN_PLACE
from ..span import Span
from .flow import Flow
from .module import Module
from .scope import Function
from .settle import Settled, events
from .values import Device, Form, Value
from .values import Kind as OldKind


class _Scope(NamedTuple):
    """The variables before a statement."""

    variables: dict[str, Value]
    function: Function | None


class _Recording(Module):
    """A module that keeps what its flows see."""

    def __init__(self, tree: ast.Module, lookup: Callable[[str], Value | None] | None) -> None:
        super().__init__(tree, lookup, flow=_RecordingFlow)
        self.values: dict[ast.expr, tuple[Value, Device, Function | None]] = {}
        self.scopes: dict[ast.stmt, _Scope] = {}


class _RecordingFlow(Flow):
    """Runs statements and remembers, of the last run of each, its variables and the values in it."""

    module: _Recording

    def eval(self, node: ast.expr) -> Value:
        """Evaluate an expression and remember its value."""
        value = super().eval(node)
        self.module.values[node] = (value, self.location(value), self.function)
        return value

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Run statements until control leaves."""
        for statement in body:
            if self.state.alive:
                variables = {name: value for name, value in self.state.env.items() if isinstance(name, str)}
                self.module.scopes[statement] = _Scope(variables, self.function)
            super().run([statement])


class Record:
    """What is known of a file's expressions and variables."""

    def __init__(
        self, text: str, tree: ast.Module, lookup: Callable[[str], Value | None] | None = None
    ) -> None:
        """Run the inference; raises as `infer` does."""
        self._module = _Recording(tree, lookup)
        self._module.analyse()
        self._text = text
        self._settled = Settled(self._module, text)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """All events of the file, whether or not a rule that is on watches them."""
        return events(self._module, self._text)

    @cached_property
    def _by_span(self) -> dict[Span, ast.expr]:
        return {self._settled.source.span(node): node for node in self._module.values}

    @cached_property
    def _statements(self) -> list[tuple[Span, ast.stmt]]:
        return [(self._settled.source.span(node), node) for node in self._module.scopes]

    def value_at(self, span: Span) -> Seen:
        """The value of the expression that stands at a place; of unknown kind where none was evaluated."""
        node = self._by_span.get(span)
        if node is None:
            return Seen(Kind.UNKNOWN, UNKNOWN_PLACE, None, "")
        value, device, function = self._module.values[node]
        _ = self.events  # evidence spreads once all of it is in
        return self._settled.seen(value, device, node, function)

    def device_at_hand(self, span: Span) -> str | None:
        """A variable that holds a device chosen at run time, of the function at hand or of the module."""
        scope = self._scope(span)
        if scope is None:
            return None
        outer = self._module.state.env if scope.function is not None else {}
        for variables in (scope.variables, outer):
            for name, value in variables.items():
                chosen = value.kind is OldKind.DEVICE and value.device.form in (Form.EITHER, Form.SAME)
                if isinstance(name, str) and chosen:
                    return name
        return None

    def bound_to(self, name: str, span: Span) -> str | None:
        """The dotted name of what a variable is, where it is a library's."""
        scope = self._scope(span)
        value = scope.variables.get(name) if scope is not None else None
        function = scope.function if scope is not None else None
        while value is None and function is not None:
            value = function.enclosing.get(name) if function.enclosing is not None else None
            function = function.outer
        if value is None:
            value = self._module.state.env.get(name)
        return value.data if value is not None and value.kind is OldKind.LIBRARY else None

    def _scope(self, span: Span) -> _Scope | None:
        """The variables before the innermost statement around a place."""
        around = [
            (found.end_line - found.line, found.end_column - found.column, statement.lineno, statement)
            for found, statement in self._statements
            if found[:2] <= span[:2] and span[2:] <= found[2:]
        ]
        if not around:
            return None
        return self._module.scopes[min(around, key=lambda item: item[:3])[3]]
