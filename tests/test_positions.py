"""Events find their nodes: LibCST's positions in a slice are those of `ast` in the whole file."""

from __future__ import annotations

import ast
import os
import warnings
from typing import TYPE_CHECKING, Any

import libcst
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesmith import from_node

from devlint.rule import Ask, At, Report, Rule, Use, Why, use
from devlint.source.text import split_rows
from devlint.span import Span
from devlint.visit import visitor

if TYPE_CHECKING:
    from collections.abc import Iterator


class Echo(Rule[Use]):
    """Reports the code of every node it is given."""

    code = "TST001"
    name = "echo"
    watches = (use(),)

    def visit(self, node: libcst.CSTNode, event: Use, ask: Ask) -> Iterator[Report]:
        assert type(node).__name__ == event.at.node
        yield Report(libcst.Module([]).code_for_node(node))


def observed(span: Span, node: str) -> Use:
    """Return an event at any expression or statement of a class that has the same name in both trees."""
    return Use(At(span, node, "", Why(), 0, frozenset()), "", frozenset())


NAMES = {
    kind: kind.__name__.removeprefix("Async")
    for kind in (
        *(ast.Call, ast.Attribute, ast.Subscript, ast.Name, ast.ListComp),
        *(ast.Assign, ast.AugAssign, ast.Expr, ast.Return),
    )
}
"""No compound statements: LibCST counts a `;` behind a body on their line. Events are about expressions."""
FILES = sorted(
    entry.path
    for entry in os.scandir(os.path.dirname(os.__file__))
    if entry.name.endswith(".py") and entry.stat().st_size < 60_000
)


def parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def everything(text: str) -> list[Use]:
    rows = split_rows(text)
    return [
        observed(_span(node, rows), NAMES[type(node)]) for node in _walk(parse(text)) if type(node) in NAMES
    ]


def _span(node: Any, rows: list[str]) -> Span:
    start = len(rows[node.lineno - 1].encode()[: node.col_offset].decode())
    end = len(rows[node.end_lineno - 1].encode()[: node.end_col_offset].decode())
    return Span(node.lineno, start, node.end_lineno, end)


def _walk(tree: ast.AST) -> Iterator[Any]:
    """Walk everything but format strings, whose parts have wrong places before Python 3.12."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, ast.JoinedStr):
            yield from _walk(child)


def check(text: str, events: list[Use]) -> None:
    rule = Echo()
    found = visitor.visit(text, parse(text), [(event, rule) for event in events], "a.py", [])
    assert {finding.code for finding in found} <= {"TST001"}
    places = {(finding.start, finding.end) for finding in found}
    for event in events:
        start, end = (
            (event.at.span.line, event.at.span.column + 1),
            (event.at.span.end_line, event.at.span.end_column + 1),
        )
        assert (start, end) in places, event


@pytest.mark.parametrize("path", FILES[::24], ids=os.path.basename)
def test_the_standard_library(path: str) -> None:
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    check(text, everything(text))


@pytest.mark.parametrize("path", FILES[::24], ids=os.path.basename)
def test_what_is_found_does_not_depend_on_what_else_is_suspected(path: str) -> None:
    """A lone suspect is parsed in the smallest slice, a class with all that it holds."""
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    for event in everything(text)[::40]:
        check(text, [event])


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(from_node())
def test_generated_modules(text: str) -> None:
    try:
        events = everything(text)
    except (SyntaxError, ValueError):  # hypothesmith builds a few that Python does not read
        return
    check(text, events)


@pytest.mark.parametrize(
    "text",
    [
        "a; b.c(d); e\n",
        "if a: b.c(d); e.f(g)\n",
        "if a:\n    pass\nelif b(c):\n    d(e)\nelse:\n    f(g)\n",
        "try:\n    a(b)\nexcept c(d):\n    e(f)\nelse:\n    g(h)\nfinally:\n    i(j)\n",
        "match a(b):\n    case c if d(e):\n        f(g)\n",
        "@a(\n    b\n)\n@c\nclass d(e(f)):\n    @g(h)\n    async def i(j=k(l)): await m(n)\n",
        "def f():\n    return a(b)\n",
        "def f():\n    yield a(b); return\n",
        "for a in b(c):\n    break\nelse: d(e)\n",
        '"""\n"""; a(b)\n',
        "if a: \\\n    b(c)\n",
        "a(b) \\\n\nc(d)\n",
        "\\\na(b)\n",
        "if a:\n\tb(c)\n\tif d:\n\t    e(f)\n",
        "if a:\n    x = '''\n''' + b(c)\n",
        "if a:\n# low\n    b(c)\n  # odd\n    d(e)\n",
        "\x0ca(b)\n\x0cif c(d):\n  e(f)\n",
        "if a:\r\n    b(c)\r\n",
        "a(b)\rif c:\r    d(e)\r",
        "\u5f20.a(\u91cf.b('\U0001f525')[c])\n",
        "a(b)",
        "x = [\n    a(b)\n    for c in d(e)\n]; f(g)\n",
        "lambda: a(b)\n",
        "(a)((b))\n((c(d)))\n",
    ],
)
def test_awkward_statements(text: str) -> None:
    events = everything(text)
    assert events
    check(text, events)
    for event in events:
        check(text, [event])
