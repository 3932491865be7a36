"""Writes `# noqa` comments that silence findings."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from ..finding import Edit, Finding, Fix, Position, place
from ..run.fix import apply, write
from ..source import unreadable
from ..source.text import split_rows
from . import unused
from .suppress import suppressions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..problems import Problems
    from .suppress import Suppression

_NOT_SILENCED = frozenset({unreadable.CODE, unused.CODE})


def silence(
    findings: Iterable[Finding],
    raws: Mapping[str, bytes],
    sources: Mapping[str, str],
    reason: str,
    left: Callable[[str, bytes], list[Finding]],
    problems: Problems,
) -> list[Finding]:
    """Write the comments that these findings, sorted by file, need; return the findings that are left.

    `left` says which ones a file has after it was changed. A file that cannot be changed keeps its findings.
    """
    kept: list[Finding] = []
    for name, group in groupby(findings, key=lambda finding: finding.path):
        mine = list(group)
        raw = raws.get(name, b"")
        try:
            after = add(raw, name, mine, sources, reason)
            if after != raw:
                write(name, raw, after)
                mine = left(name, after)
        except Exception as error:  # one file must not keep the others from being done
            problems.caught(error, name)
        kept += mine
    return kept


def add(
    raw: bytes, path: str, findings: Sequence[Finding], sources: Mapping[str, str], reason: str = ""
) -> bytes:
    """Return a file with its findings silenced, each at the end of its statement.

    A `# noqa` with codes that is there already is extended, and what follows its codes stays. What cannot
    be silenced, such as that a file cannot be read, leaves the file as it is.
    """
    wanted = sorted((item for item in findings if item.code not in _NOT_SILENCED), key=_row)
    commented: list[Finding] = []
    for where, inside in groupby(wanted, key=place):
        text = sources.get(where, "")
        rows = split_rows(text)
        there = {
            item.comment.row: item
            for item in reversed(suppressions(text, rows))
            if item.codes_at and item.rows is not None and not item.own
        }
        for (_, row), group in groupby(inside, key=_row):
            commented.append(_commented(list(group), rows[row - 1], there.get(row), reason))
    return apply(raw, path, commented) if commented else raw


def _row(finding: Finding) -> tuple[int, int]:
    return finding.cell or 0, finding.noqa_row


def _commented(findings: Sequence[Finding], row: str, there: Suppression | None, reason: str) -> Finding:
    """Return a finding whose fix is the comment that these findings of one row need."""
    codes = ", ".join(sorted({finding.code for finding in findings}))
    tail = f" - {reason}" if reason else ""
    column, content = len(row.rstrip()), f"  # noqa: {codes}{tail}"
    if there is not None and there.codes_at is not None:
        after = there.comment.text[there.at[1] :].strip()
        column = there.comment.column + there.codes_at[1]
        content = f", {codes}{'' if after else tail}"
    at = Position(findings[0].noqa_row, column + 1)
    return findings[0]._replace(fix=Fix("silence it", (Edit(at, at, content),), safe=True))
