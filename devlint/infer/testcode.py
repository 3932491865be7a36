"""Whether a file is test code, by what test frameworks make of it, not by its name."""

from __future__ import annotations

import ast

from .. import knowledge
from ..core.values import dotted
from .settle import Settled


def is_test_code(settled: Settled) -> bool:
    """Whether the functions of a file are what a test framework, which it imports, collects.

    pytest needs no import: a function that it collects, that asserts and that nothing calls is a test.
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
        function.name not in settled.sites
        and any(isinstance(node, ast.Assert) for node in ast.walk(function.node))
        for function in tests
    )
