"""Reads a notebook's cell as IPython does: what is Python in it, on which columns, and what it is run for."""

from __future__ import annotations

import ast
import re
import tokenize
from enum import IntEnum
from typing import NamedTuple

from .text import split_rows


class Runs(IntEnum):
    """How the Python of a cell is run."""

    HERE = 0
    """As part of the program."""
    MEASURED = 1
    """As part of the program, to be measured."""
    APART = 2
    """To be measured, compiled as a function of its own: what it binds stays in it."""


_CELLS = {
    **dict.fromkeys(("capture", "debug", "devlint_run", "ipytest", "notify", "wandb"), Runs.HERE),
    **dict.fromkeys(
        ("lprun_all", "memit", "prun", "pyinstrument", "scalene", "snakeviz", "time", "viztracer"),
        Runs.MEASURED,
    ),
    "timeit": Runs.APART,
}
"""The cell magics that run their cell in the notebook's own process and variables.

The others take it for text, for another language, or for the program of another process (`python3`).
"""
_CELL_MAGIC = re.compile(r"%%(?P<name>[^ \r\n]*)[^\r\n]*")
_HELP_ON_MAGIC = re.compile(r"%%\w+\?")
_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.)[ \t]?")
_ESCAPED = re.compile(r"[ \t]*[%!?,;/]")
_TIMED = re.compile(r"[ \t]*(?P<magic>%time[ \t]+)(?=\S)")
_TARGET = r"(?:[^#'\"=\r\n]|'[^'\r\n]*'|\"[^\"\r\n]*\")"
_ASSIGNED = re.compile(rf"(?P<target>[ \t]*(?!\s){_TARGET}+(?<![-+*/%&|^<>!@:~])=[ \t]*)[%!]")
_HELP = re.compile(r"[^#'\"\r\n]*[\w*\]]\?\??[ \t]*[\r\n]*\Z")
_COMMAND = re.compile(
    r"[ \t]*(?:cat|cd|conda|cp|head|ls|mamba|mkdir|mv|pip|pip3|rm|rmdir|tail|uv|wget)[ \t]+[\w./~-]"
)
"""What IPython takes for a command without a `%` in front."""
_NOT_NEWLINE = re.compile(r"[^\r\n]")


class Cell(NamedTuple):
    """A cell as Python, row for row."""

    code: str
    """The Python; `0` stands for a magic, and nothing for what is not run here."""
    leads: tuple[int, ...]
    """How many characters IPython takes away in front of each row: the whole cell's indentation, a `>>> `."""
    runs: Runs
    timed: frozenset[int]
    """The rows, from 1, on which a `%time` measures a statement."""
    error: SyntaxError | None = None
    """Why the code is no Python."""

    def blank(self) -> Cell:
        """Return the cell without its code."""
        return self._replace(code=blank(self.code), runs=Runs.HERE, timed=frozenset())


def parse(source: str) -> None:
    """Raise what `ast.parse` raises where a cell is no Python."""
    error = read(source).error
    if error is not None:
        raise error


def blank(text: str) -> str:
    """Return spaces in place of everything but the ends of rows."""
    return _NOT_NEWLINE.sub(" ", text)


def read(source: str) -> Cell:
    """Return the Python of a cell.

    Raises ValueError (a NUL byte), RecursionError or MemoryError where it cannot even be tried.
    """
    rows = split_rows(source)
    leads = [0] * len(rows)
    runs = Runs.HERE
    at = _begin(rows, 0, leads)
    while at < len(rows) and rows[at].startswith("%%") and not _HELP_ON_MAGIC.match(rows[at]):
        magic = _CELL_MAGIC.match(rows[at])
        name = magic["name"].strip() if magic else ""
        if name not in _CELLS:
            return Cell("".join(rows), tuple(leads), Runs.HERE, frozenset()).blank()
        runs = max(runs, _CELLS[name])
        rows[at] = blank(rows[at])
        at = _begin(rows, at + 1, leads)
    code = "".join(rows)
    if _error(code) is None:
        return Cell(code, tuple(leads), runs, frozenset())
    timed = _mask(rows, at)
    code = "".join(rows)
    return Cell(code, tuple(leads), runs, timed, _error(code))


def _begin(rows: list[str], at: int, leads: list[int]) -> int:
    """Take away what stands before the code from a row on; return the first row that holds any."""
    at = _dedent(rows, at, leads)
    if at == len(rows) or not rows[at].lstrip().startswith(">>>"):
        return at
    for number, row in enumerate(rows[at:], at):
        prompt = _PROMPT.match(row)
        if prompt:
            leads[number] += prompt.end()
            rows[number] = row[prompt.end() :]
    return _dedent(rows, at, leads)


def _dedent(rows: list[str], at: int, leads: list[int]) -> int:
    """Take away the indentation that all rows from one on share; return the first that holds anything."""
    while at < len(rows) and not rows[at].strip():
        at += 1
    if at < len(rows) and rows[at][0] in " \t":
        from textwrap import dedent  # IPython's own means

        rest = "".join(rows[at:])
        for number, row in enumerate(split_rows(dedent(rest)), at):
            taken = len(rows[number]) - len(row)
            leads[number] += taken
            rows[number] = row
    return at


def _mask(rows: list[str], at: int) -> frozenset[int]:
    """Put `0` for each magic; return the rows whose statement a `%time` measures."""
    timed = set()
    while at < len(rows):
        row = rows[at]
        assigned = _ASSIGNED.match(row)
        magic = _TIMED.match(row)
        if magic and _is_python("".join(rows[at : _continued(rows, at)])[magic.end() :]):
            start, end = magic.span("magic")
            rows[at] = row[:start] + "0".ljust(end - start - 1) + ";" + row[end:]
            timed.add(at + 1)
            at = _continued(rows, at)
        elif assigned:
            at = _blank_from(rows, at, assigned.end("target"))
        elif _ESCAPED.match(row) or _HELP.fullmatch(row) or (_COMMAND.match(row) and not _is_python(row)):
            at = _blank_from(rows, at, len(row) - len(row.lstrip()))
        else:
            at = _end(rows, at)
    return frozenset(timed)


def _continued(rows: list[str], at: int) -> int:
    """Return the row after those that a backslash joins to the one at hand."""
    while rows[at].rstrip("\r\n").endswith("\\") and at + 1 < len(rows):
        at += 1
    return at + 1


def _blank_from(rows: list[str], at: int, column: int) -> int:
    """Put `0` for what begins at a column and goes on while rows end in a backslash; return the row after."""
    end = _continued(rows, at)
    row = rows[at]
    rows[at] = row[:column] + "0" + blank(row[column + 1 :])
    rows[at + 1 : end] = [blank(row) for row in rows[at + 1 : end]]
    return end


def _end(rows: list[str], at: int) -> int:
    """Return the row after the statement, or the blank or comment row, that begins at `at`.

    Inside of brackets and strings a row may well begin with `%` and be Python. A statement that does not
    end is the last one: no magic after it makes the cell valid.
    """
    if not rows[at].split("#")[0].strip():
        return at + 1
    number = at

    def following() -> str:
        nonlocal number
        number += 1
        return rows[number - 1] if number <= len(rows) else ""

    try:
        for token in tokenize.generate_tokens(following):
            if token.type == tokenize.NEWLINE:
                return at + token.start[0]
    except (tokenize.TokenError, SyntaxError):
        pass
    return len(rows)


def _is_python(text: str) -> bool:
    return _error(text.strip()) is None


def _error(text: str) -> SyntaxError | None:
    try:
        ast.parse(text)
    except SyntaxError as error:
        return error
    return None
