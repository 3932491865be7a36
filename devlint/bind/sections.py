"""The cells of a notebook as parts of one program: what each shows, measures and keeps to itself.

A call's result has one of three fates: something uses it, it is shown to whoever runs the cell, or it is
thrown away. What is measured is run for its duration, and throws its results away on purpose.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import knowledge
from ..source.text import split_rows

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    Place = tuple[int, int]

_SILENCED = re.compile(r"[\s\\]*;")
_EMPTIED = knowledge.MOVES | knowledge.CASTS


class Section(NamedTuple):
    """A cell."""

    number: int
    """What people call it, from 1."""
    rows: range
    """Its rows in the program."""
    measured: bool = False
    """Whether it is run to be measured."""
    apart: bool = False
    """Whether it is compiled as a function of its own, so that what it binds does not leave it."""
    timed: frozenset[int] = frozenset()
    """The rows of the program on which a statement is run to be measured, for itself."""


class Line(NamedTuple):
    """A line of the program, in the words of whoever reads the file."""

    number: int
    """From 1, in the cell where there is one."""
    cell: int | None = None

    def __str__(self) -> str:
        """Return what a message calls it."""
        return f"line {self.number}" if self.cell is None else f"line {self.number} of cell {self.cell}"


class Ran(ast.stmt):
    """The statements of a cell: an exception, or an exit, ends it and not the next one."""

    body: list[ast.stmt]
    _fields = ("body",)

    def __init__(self, body: list[ast.stmt], apart: bool) -> None:
        super().__init__(**_fields(body[0], body[-1], body=body))
        self.apart = apart
        """Whether what they bind stays among them."""


class Shown(ast.stmt):
    """The last expression of a cell: its value is shown, so it is not thrown away."""

    value: ast.expr
    _fields = ("value",)

    def __init__(self, last: ast.Expr) -> None:
        super().__init__(**_fields(last, last, value=last.value))


class Measured(ast.stmt):
    """Statements that are run for their duration."""

    body: list[ast.stmt]
    _fields = ("body",)

    def __init__(self, body: list[ast.stmt], reads: Mapping[str, Place]) -> None:
        super().__init__(**_fields(body[0], body[-1], body=body))
        self.reads = reads
        """Where each variable is last read, other than by a move or cast that is thrown away itself."""

    def on_purpose(self, call: ast.Call) -> bool:
        """Whether the call alone counts, as nothing goes on with what it is called on."""
        root = _root(call)
        last = self.reads.get(root.id) if isinstance(root, ast.Name) else None
        return last is None or last < (call.end_lineno or call.lineno, call.end_col_offset or 0)


def arranged(tree: ast.Module, text: str, sections: Sequence[Section]) -> ast.Module:
    """Return the program with the statements of each cell in a statement of its own."""
    rows = split_rows(text)
    body: list[ast.stmt] = []
    rest = iter(tree.body)
    statement = next(rest, None)
    for section in sections:
        mine: list[ast.stmt] = []
        while statement is not None and statement.lineno in section.rows:
            mine.append(statement)
            statement = next(rest, None)
        if mine:
            body.append(_ran(mine, rows, section))
    return ast.Module(body, tree.type_ignores) if sections else tree


def line(row: int, sections: Sequence[Section]) -> Line:
    """Return what people call a row of the program."""
    for section in sections:
        if row in section.rows:
            return Line(row - section.rows.start + 1, section.number)
    return Line(row)


def _ran(body: list[ast.stmt], rows: Sequence[str], section: Section) -> Ran:
    last = body[-1]
    if section.timed:
        _measure_rows(body, section.timed)
    if isinstance(last, ast.Expr) and not section.apart and not _silenced(last, rows, section):
        body[-1] = Shown(last)
    if section.measured:
        body = [Measured(body, {} if section.apart else _reads(body))]
    return Ran(body, section.apart)


def _silenced(last: ast.Expr, rows: Sequence[str], section: Section) -> bool:
    """Whether a `;` keeps the value of the last expression from being shown."""
    row = last.end_lineno or last.lineno
    after = rows[row - 1].encode()[last.end_col_offset :].decode()
    return _SILENCED.match("".join([after, *rows[row : section.rows.stop - 1]])) is not None


def _measure_rows(body: list[ast.stmt], timed: Container[int]) -> None:
    """Wrap the statements that begin on some rows, wherever they are nested."""
    for node in [node for statement in body for node in ast.walk(statement)]:
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                statements[:] = _wrapped(statements, timed)
    body[:] = _wrapped(body, timed)


def _wrapped(body: list[Any], timed: Container[int]) -> list[Any]:
    return [Measured([item], {}) if item.lineno in timed else item for item in body]


def _reads(body: list[ast.stmt]) -> dict[str, Place]:
    """Return where each variable is last read by what goes on with its value."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    idle = set(_receivers(nodes))
    last: dict[str, Place] = {}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in idle:
            last[node.id] = max(last.get(node.id, (0, 0)), (node.lineno, node.col_offset))
    return last


def _receivers(nodes: Sequence[ast.AST]) -> Iterator[ast.expr]:
    """Yield what is moved or cast by a call whose result is thrown away."""
    for node in nodes:
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _EMPTIED:
            yield _root(call)


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def _fields(first: ast.stmt, last: ast.stmt, **fields: object) -> dict[str, Any]:
    """Return what makes a node that reaches from one statement to another."""
    return {
        **fields,
        "lineno": first.lineno,
        "col_offset": first.col_offset,
        "end_lineno": last.end_lineno,
        "end_col_offset": last.end_col_offset,
    }
