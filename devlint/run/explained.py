"""A file that is explained: what the inference knows of its values, in sentences with places."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, NamedTuple

from ..errors import DevlintError
from ..finding import Position
from ..infer.account import Account
from ..source import notebook, unreadable
from ..source.text import NOTEBOOK, decode, split_rows
from ..visit.around import Around

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..config.settings import Settings
    from ..finding import Finding
    from ..infer.account import Step, Told
    from ..project.index import Project
    from ..span import Span

_DONE = {"made": "made", "put": "put", "moved": "moved", "copied": "cast", "chosen": "chosen"}


_SHORT = 30
"""Characters of an expression that a sentence may quote of what it is not about."""
_LONG = 60
"""Characters of an expression that a sentence may quote at all."""


class Where(NamedTuple):
    """A place, in the terms of whoever reads the file."""

    path: str
    """Empty for the file at hand."""
    cell: int | None
    start: Position
    end: Position

    def __str__(self) -> str:
        """Return what a sentence calls it: `line 3`, `line 3 of cell 2`, `helpers.py:3`."""
        if self.path:
            return f"{self.path}:{self.start.row}"
        return f"line {self.start.row}{'' if self.cell is None else f' of cell {self.cell}'}"


class Said(NamedTuple):
    """Something that happened to a value, or that it meets."""

    message: str
    where: Where | None

    def __str__(self) -> str:
        """Return the sentence with the place."""
        return self.message if self.where is None else f"{self.message} at {self.where}"


class Valued(NamedTuple):
    """One expression."""

    source: str
    where: Where
    what: str
    """Kind and place: `tensor on cpu`."""
    kind: str
    place: str
    certain: bool
    history: tuple[Said, ...]
    """How it came there, the last first."""
    meets: tuple[Said, ...]

    def __str__(self) -> str:
        """Return all in one sentence: `tensor on cpu, made by torch.zeros at line 12; meets …`."""
        parts = [", ".join([self.what, *map(str, self.history)]), *map(str, self.meets)]
        return "; ".join(parts)


class Explained:
    """A file about which questions are answered; the inference is run once."""

    def __init__(
        self, source: bytes | str, path: str, settings: Settings, project: Project | None = None
    ) -> None:
        """Read and analyse a file; raises DevlintError where it cannot be read."""
        self.path, self.settings, self.project = path, settings, project
        self.source = source
        self.book: notebook.Notebook | None = None
        view = project.view(path) if project is not None else None
        around = Around(view, view.name) if view is not None else Around()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if path.endswith(NOTEBOOK):
                self.book = notebook.read(source, path)
                if not self.book.code and self.book.problems:
                    raise _unread(self.book.problems[0])
                self.text = self.book.code
                around = around._replace(sections=self.book.sections)
            try:
                if self.book is None:
                    self.text = source if isinstance(source, str) else decode(source).text
                self.tree = ast.parse(self.text)
                self.account = Account(self.text, ast.parse(self.text), *around)
            except (*unreadable.UNDECODABLE, *unreadable.UNPARSABLE) as error:
                raw = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
                raise _unread(unreadable.unreadable(path, error, raw)) from error
        self.around = around
        self.rows = split_rows(self.text)

    def release(self) -> None:
        """Let go of what refers to itself in a circle; nothing can be asked any more."""
        self.account.release()

    def row(self, line: int, cell: int | None) -> int:
        """Return the row of the program; raises DevlintError where the file has no such line."""
        if self.book is None:
            if cell is not None:
                raise DevlintError(f"{self.path} has no cells: it is no notebook")
            if not 1 <= line <= max(len(self.rows), 1):
                raise DevlintError(f"{self.path} has {len(self.rows)} lines: there is no line {line}")
            return line
        if cell is None:
            raise DevlintError(f"{self.path} is a notebook: name the cell, as in {self.path}:2:{line}")
        if cell not in self.book.sources:
            raise DevlintError(f"{self.path} has no cell of code with the number {cell}")
        row = self.book.row(cell, line)
        if row is None:
            raise DevlintError(f"cell {cell} of {self.path} has no line {line}")
        return row

    def column(self, row: int, column: int | None) -> int | None:
        """Return a column of the program, from 0, for one from 1 in the file or cell."""
        if column is None:
            return None
        return (column if self.book is None else self.book.column(row, column)) - 1

    def values(self, row: int, column: int | None = None) -> tuple[Valued, ...]:
        """Return what is known of the values on a row, or of the expression at a column of it (from 0)."""
        told = self.account.told(row, column)
        if not told and column is None and row <= len(self.rows):
            text = self.rows[row - 1]
            if text.strip() and not text.lstrip().startswith("#"):
                told = self.account.told(row, len(text) - len(text.lstrip()))
        return tuple(self._valued(each) for each in told)

    def devices(self, first: int, last: int) -> Iterator[Valued]:
        """Yield the variables that are bound on some rows to what has a known place."""
        return (self._valued(each) for each in self.account.tensors(first, last))

    def where(self, span: Span, path: str = "") -> Where:
        """Return a place in the terms of whoever reads the file."""
        start, end = Position(span.line, span.column + 1), Position(span.end_line, span.end_column + 1)
        if path or self.book is None:
            return Where(path, None, start, end)
        cell, first = self.book.position(start)
        return Where("", cell, first, self.book.position(end)[1])

    def _valued(self, told: Told) -> Valued:
        return Valued(
            told.source,
            self.where(told.span),
            told.what,
            told.kind.value,
            told.place,
            told.certain,
            tuple(self._said(step, told.source) for step in told.steps),
            tuple(
                Said(f"meets `{_short(met.other)}` ({met.what}){_apart(met.conflict)}", self.where(met.span))
                for met in told.meets
            ),
        )

    def _said(self, step: Step, source: str) -> Said:
        where, place = None, ""
        if step.spot is not None:
            place = f" {'on' if step.how in ('made', 'put') else 'to'} `{step.spot.place}`"
            place = place if step.spot.place else ""
            found = self._find(step)
            where = self.where(found[1], found[0]) if found is not None else None
        if step.how == "yielded":
            return Said(f"yielded by `{_short(step.label)}`" if step.label else "yielded by a loop", where)
        if step.how == "given":
            return Said(
                f"given by the caller as `{step.label}`" if step.label else "given by the caller", None
            )
        if step.how == "kept":
            return Said(f"kept in `{step.label}`", None)
        if step.how == "computed":
            return Said(f"computed by `{_short(step.label)}`", where)
        done = f"{_DONE[step.how]}{f' by `{step.by}`' if step.by else ''}"
        if step.how == "moved" and step.label and step.label != source and not source.startswith(step.label):
            done = f"with `{step.label}` {done}" if len(step.label) <= _SHORT else done
        return Said(f"{done}{place if step.how != 'copied' else ''}", where)

    def _find(self, step: Step) -> tuple[str, Span] | None:
        spot = step.spot
        if spot is None or spot.span is not None:
            return ("", spot.span) if spot is not None and spot.span is not None else None
        if spot.node is None or self.around.project is None:
            return None
        return self.around.project.locate(spot.node)


def _short(source: str) -> str:
    """Quote an expression as far as a sentence may."""
    return source if len(source) <= _LONG else f"{source[: _LONG - 1]}…"


def _unread(finding: Finding) -> DevlintError:
    cell = "" if finding.cell is None else f":cell {finding.cell}"
    row, column = finding.start
    return DevlintError(f"{finding.path}{cell}:{row}:{column}: {finding.message}")


def _apart(conflict: str) -> str:
    return {"": "", "certain": ": they cannot meet", "none": ""}.get(conflict, ": they may be apart")
