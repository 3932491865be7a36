"""Writes `# noqa` comments that silence findings."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from . import unreadable, unused
from .finding import Edit, Finding, Fix, Position, place
from .fix import apply
from .suppress import suppressions
from .text import split_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NOT_SILENCED = frozenset({unreadable.CODE, unused.CODE})


def add(
    raw: bytes, path: str, findings: Sequence[Finding], sources: Mapping[str, str], reason: str = ""
) -> bytes:
    """Return a file with its findings silenced, each at the end of its statement.

    A `# noqa` with codes that is there already is extended, and what follows its codes stays.
    """
    wanted = sorted((item for item in findings if item.code not in _NOT_SILENCED), key=_row)
    return apply(
        raw, path, [_commented(list(group), sources, reason) for _, group in groupby(wanted, key=_row)]
    )


def _row(finding: Finding) -> tuple[int, int]:
    return finding.cell or 0, finding.noqa_row


def _commented(findings: Sequence[Finding], sources: Mapping[str, str], reason: str) -> Finding:
    """Return a finding whose fix is the comment that these findings of one row need."""
    text = sources.get(place(findings[0]), "")
    rows = split_rows(text)
    row = findings[0].noqa_row
    codes = ", ".join(sorted({finding.code for finding in findings}))
    tail = f" - {reason}" if reason else ""
    column, content = len(rows[row - 1].rstrip()), f"  # noqa: {codes}{tail}"
    for item in suppressions(text, rows):
        if item.comment.row == row and item.codes_at and item.rows is not None and not item.own:
            after = item.comment.text[item.at[1] :].strip()
            column = item.comment.column + item.codes_at[1]
            content = f", {codes}{'' if after else tail}"
            break
    at = Position(row, column + 1)
    return findings[0]._replace(fix=Fix("silence it", (Edit(at, at, content),), safe=True))
