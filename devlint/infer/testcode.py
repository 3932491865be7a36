"""Whether a file is test code, by what test frameworks make of it, not by its name."""

from __future__ import annotations

import ast

from .. import knowledge
from ..bind.names import last_name
from ..core.values import dotted
from .settle import Settled

_MAX_DEPTH = 3


def is_test_code(settled: Settled) -> bool:
    """Whether the functions of a file are what a test framework, which it imports, collects.

    pytest needs no import: a function that it collects, that asserts, by itself or by what it calls, and that
    nothing calls is a test.
    """
    file = settled.file
    tests = [
        function for function in file.functions.values() if function.own_name.startswith(knowledge.COLLECTED)
    ]
    fixtures = any(function.decorators & knowledge.FIXTURES for function in file.functions.values())
    if not tests and not fixtures:
        return False
    if any(dotted(value).startswith(knowledge.TEST_FRAMEWORKS) for value in file.variables().values()):
        return True
    return any(
        function.name not in settled.sites and _asserts(settled, function.name, frozenset())
        for function in tests
    )


def _asserts(settled: Settled, name: str, above: frozenset[str]) -> bool:
    """Whether a function of the file asserts, or one that it calls, of the file or by its name."""
    function = settled.file.functions[name]
    if any(map(_is_assertion, ast.walk(function.node))):
        return True
    called = {site.callee for site in settled.logs[name].sites} - {name} - above
    return len(above) < _MAX_DEPTH and any(
        _asserts(settled, each, above | {name}) for each in sorted(called) if each in settled.file.functions
    )


def _is_assertion(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return "asserts" in knowledge.hints("callable", last_name(node))
    return isinstance(node, ast.Assert)
