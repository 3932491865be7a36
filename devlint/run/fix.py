"""Applies fixes to a file's text, in rounds until none is left, and writes files."""

from __future__ import annotations

import ast
import os
import stat
import warnings
from bisect import bisect_left, insort
from typing import TYPE_CHECKING, NamedTuple

from ..console import quoted
from ..errors import DevlintError
from ..source.text import NOTEBOOK, Rows, decode, split_rows
from . import output
from .lint import lint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..config.settings import Settings
    from ..errors import BrokenRule
    from ..finding import Finding
    from ..project.index import Project

_ROUNDS = 10
"""A fix may make room for another, or two may overlap; more rounds mean that two fixes fight."""


class Fixed(NamedTuple):
    """A file after its fixes."""

    raw: bytes
    applied: tuple[Finding, ...]
    remaining: list[Finding]


class _Splice(NamedTuple):
    """Put `content` in place of `text[start:end]`."""

    start: int
    end: int
    content: str


def fix(
    raw: bytes,
    path: str,
    settings: Settings,
    unsafe: bool = False,
    only: Callable[[list[Finding], bytes], list[Finding]] | None = None,
    broken: list[BrokenRule] | None = None,
    project: Project | None = None,
    known: list[Finding] | None = None,
) -> Fixed:
    """Return a file with its safe fixes applied, the unsafe ones too where `unsafe`.

    `only` picks the findings to fix, from those in a state of the file. Bytes outside the edits are kept.
    A fix whose result is no Python is left out. `broken` is for rules that raise, and `project` for other
    files, as in `lint`. `known` are the findings in the file as it is, where somebody has linted it already.
    """
    applied: list[Finding] = []
    findings = lint(raw, path, settings, broken, project) if known is None else known
    for _ in range(_ROUNDS):
        chosen = findings if only is None else only(findings, raw)
        wanted = [item for item in chosen if item.fix is not None and (item.fix.safe or unsafe)]
        if not wanted:
            break
        after, done = _applied(raw, path, wanted)
        if after == raw:
            break
        raw = after
        applied += done
        findings = lint(raw, path, settings, broken, project)
    return Fixed(raw, tuple(applied), findings)


def apply(raw: bytes, path: str, findings: Sequence[Finding]) -> bytes:
    """Return a file with the fixes of these findings applied, as many as do not overlap."""
    return _applied(raw, path, findings)[0]


def write(path: str, before: bytes, after: bytes) -> None:
    """Replace a file that still holds `before`, whole or not at all, keeping its mode."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise DevlintError(f"cannot fix {path}: it is no regular file")
        if not (os.access(path, os.W_OK) and status.st_mode & 0o222):
            raise DevlintError(f"cannot fix {path}: the file is read-only")
        with open(path, "rb") as file:
            if file.read() != before:
                raise DevlintError(f"cannot fix {path}: it was changed by somebody else meanwhile")
        output.replace(path, after)
    except OSError as error:
        raise DevlintError(f"cannot fix {path}: {error.strerror}") from error


def _applied(raw: bytes, path: str, findings: Sequence[Finding]) -> tuple[bytes, list[Finding]]:
    return (_in_cells if path.endswith(NOTEBOOK) else _in_program)(raw, path, findings)


def _in_program(raw: bytes, path: str, findings: Sequence[Finding]) -> tuple[bytes, list[Finding]]:
    """Return a program with fixes applied, and those that were."""
    source = decode(raw)
    if source.encode(source.text) != raw:  # a codec that has several spellings of one text
        return raw, []
    text, done = _apply(source.text, findings, ast.parse)
    try:
        return source.encode(text), done
    except UnicodeEncodeError:  # the cure cannot be written in the file's encoding
        return raw, []


def _in_cells(raw: bytes, path: str, findings: Sequence[Finding]) -> tuple[bytes, list[Finding]]:
    """Return a notebook with fixes applied in the cells of the findings, and those that were."""
    from ..source.magics import parse
    from ..source.notebook import read, replaced

    sources = read(raw, path).sources
    fixed: dict[int, str] = {}
    done: list[Finding] = []
    for cell in sorted({finding.cell for finding in findings if finding.cell is not None}):
        mine = [finding for finding in findings if finding.cell == cell]
        fixed[cell], applied = _apply(sources[cell], mine, parse)
        done += applied
    return replaced(raw, fixed), done


def _apply(
    text: str, findings: Sequence[Finding], parse: Callable[[str], object]
) -> tuple[str, list[Finding]]:
    """Apply the fixes that overlap no earlier one; if that spoils the text, the first that does not."""
    rows = Rows(text)
    splices: list[_Splice] = []  # sorted, none overlapping
    done: list[Finding] = []
    for finding in findings:
        mine = _splices(finding, rows)
        if not any(_overlaps(splice, splices) for splice in mine):
            for splice in mine:
                insort(splices, splice)
            done.append(finding)
    result = _spliced(text, splices)
    if _parses(result, parse):
        return result, done
    for finding in findings:
        result = _spliced(text, _splices(finding, rows))
        if _parses(result, parse):
            return result, [finding]
    return text, []


def _splices(finding: Finding, rows: Rows) -> list[_Splice]:
    edits = finding.fix.edits if finding.fix else ()
    return [
        _Splice(
            rows.offset(edit.start.row, edit.start.column - 1),
            rows.offset(edit.end.row, edit.end.column - 1),
            edit.content,
        )
        for edit in edits
    ]


def _overlaps(one: _Splice, others: Sequence[_Splice]) -> bool:
    """Whether an edit touches one of the others; meeting counts, as their order would be arbitrary."""
    at = bisect_left(others, one)
    return any(other.start <= one.end and one.start <= other.end for other in others[max(at - 1, 0) : at + 1])


def _spliced(text: str, splices: Iterable[_Splice]) -> str:
    parts, at = [], 0
    for start, end, content in sorted(splices):
        parts += [text[at:start], content]
        at = end
    return "".join([*parts, text[at:]])


def _parses(text: str, parse: Callable[[str], object]) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def diff(path: str, before: bytes, after: bytes) -> str:
    """Return a unified diff of a file and its fixed form; its rows keep their ends."""
    from difflib import unified_diff

    old, new = (split_rows(decode(raw).text) for raw in (before, after))
    lines = unified_diff(old, new, quoted(path), quoted(path))
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
