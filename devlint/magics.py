"""Masks what a notebook's cell holds beside Python, so that every row and column stays where it is."""

from __future__ import annotations

import ast
import re
import tokenize

from .text import split_rows

_PYTHON_CELLS = frozenset({"capture", "prun", "pypy", "python", "python3", "time", "timeit"})
"""The cell magics whose cell is Python all the same."""
_CELL_MAGIC = re.compile(r"\s*%%(?P<name>\w*)[^\r\n]*")
_ESCAPED = re.compile(r"[ \t]*[%!?,;/]")
_TIMED = re.compile(r"[ \t]*(?P<magic>%time[ \t]+)(?=\S)")
_ASSIGNED = re.compile(r"(?P<target>[ \t]*[^\s#'\"=][^#'\"=\r\n]*=[ \t]*)[%!]")
_HELP = re.compile(r"[^#'\"\r\n]*\?[ \t]*[\r\n]*\Z")
_COMMAND = re.compile(
    r"[ \t]*(?:cat|cd|conda|cp|head|ls|mamba|mkdir|mv|pip|pip3|rm|rmdir|tail|uv|wget)[ \t]+[\w./~-]"
)
"""What IPython takes for a command without a `%` in front."""
_NOT_NEWLINE = re.compile(r"[^\r\n]")


def mask(source: str) -> str:
    """Return the Python of a cell, of the same length; raises what `ast.parse` raises where it is none.

    A magic is replaced by `0`, which may stand where a statement may; a cell in another language is blanked.
    """
    try:
        ast.parse(source)
    except SyntaxError:
        masked = _masked(source)
        ast.parse(masked)
        return masked
    return source


def blank(text: str) -> str:
    """Return spaces in place of everything but the ends of rows."""
    return _NOT_NEWLINE.sub(" ", text)


def _masked(source: str) -> str:
    whole = _CELL_MAGIC.match(source)
    if whole:
        if whole["name"] not in _PYTHON_CELLS:
            return blank(source)
        source = blank(whole[0]) + source[whole.end() :]
    rows = split_rows(source)
    at = 0
    while at < len(rows):
        row = rows[at]
        assigned = _ASSIGNED.match(row)
        timed = _TIMED.match(row)
        if timed:
            start, end = timed.span("magic")
            rows[at] = row[:start] + "0".ljust(end - start - 1) + ";" + row[end:]
            at = _end(rows, at)
        elif assigned:
            at = _blank_from(rows, at, assigned.end("target"))
        elif _ESCAPED.match(row) or _HELP.fullmatch(row) or (_COMMAND.match(row) and not _is_python(row)):
            at = _blank_from(rows, at, len(row) - len(row.lstrip()))
        else:
            at = _end(rows, at)
    return "".join(rows)


def _blank_from(rows: list[str], at: int, column: int) -> int:
    """Put `0` for what begins at a column and goes on while rows end in a backslash; return the row after."""
    row = rows[at]
    rows[at] = row[:column] + "0" + blank(row[column + 1 :])
    while row.rstrip("\r\n").endswith("\\") and at + 1 < len(rows):
        at += 1
        row = rows[at]
        rows[at] = blank(row)
    return at + 1


def _end(rows: list[str], at: int) -> int:
    """Return the row after the statement, or the blank or comment row, that begins at `at`.

    Inside of brackets and strings a row may well begin with `%` and be Python.
    """
    if not rows[at].split("#")[0].strip():
        return at + 1
    waiting = iter(rows[at:])
    try:
        for token in tokenize.generate_tokens(lambda: next(waiting, "")):
            if token.type == tokenize.NEWLINE:
                return at + token.start[0]
    except (tokenize.TokenError, SyntaxError):
        return at + 1
    return len(rows)


def _is_python(row: str) -> bool:
    try:
        ast.parse(row.strip())
    except SyntaxError:
        return False
    return True
