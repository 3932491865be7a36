"""Comments that silence findings: `# noqa`, `# devlint: ignore[...]` and their forms for a whole file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from .logical import comments
from .selection import covers
from .text import split_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .finding import Finding
    from .logical import Comment

# As flake8 has it: what follows `noqa:` and is no code is prose, and then everything is silenced.
_CODE = r"(?:[A-Z]+[0-9]+|(?-i:[A-Z]+)(?![A-Z]))"
_CODES = rf"{_CODE}(?:[,\s]+{_CODE})*"
_NOQA = re.compile(rf"#\s*(?P<file>flake8\s*[:=]\s*)?noqa\b(?:\s*:\s*(?P<codes>{_CODES}))?", re.I)
_IGNORE = re.compile(r"#\s*devlint\s*:\s*(?P<file>file-)?ignore\b(?:\s*\[(?P<codes>[^\]]*)\])?", re.I)
_LIST = re.compile(r"[,\s]+")


class Suppression(NamedTuple):
    """The findings on some rows that have one of some codes."""

    rows: range | None
    """`None` for the whole file."""
    selectors: tuple[str, ...]

    def silences(self, finding: Finding) -> bool:
        """Whether it means this finding."""
        return (self.rows is None or finding.start.row in self.rows) and any(
            covers(selector, finding.code) for selector in self.selectors
        )


def unsuppressed(findings: list[Finding], text: str) -> list[Finding]:
    """Return the findings that no comment silences."""
    if not findings or not (_NOQA.search(text) or _IGNORE.search(text)):
        return findings
    found = [item for comment in comments(split_rows(text)) for item in _suppressions(comment)]
    return [finding for finding in findings if not any(item.silences(finding) for item in found)]


def _suppressions(comment: Comment) -> Iterator[Suppression]:
    """Yield what a comment silences.

    A `noqa` on the first or last row of a statement holds for all of it, on a row between for that row:
    a formatter may move it to either end. An `ignore` holds for the statement that it is in or above.
    """
    statement = range(comment.first, comment.last + 1)
    for match in _NOQA.finditer(comment.text):
        if match["file"]:
            yield Suppression(None, _selectors(match["codes"]))
        elif comment.row in (comment.first, comment.last):
            yield Suppression(statement, _selectors(match["codes"]))
        elif not comment.alone:
            yield Suppression(range(comment.row, comment.row + 1), _selectors(match["codes"]))
    for match in _IGNORE.finditer(comment.text):
        yield Suppression(None if match["file"] else statement, _selectors(match["codes"]))


def _selectors(codes: str | None) -> tuple[str, ...]:
    """Return the selectors of a list; without a list, or with an empty one, everything."""
    return tuple(name for name in _LIST.split(codes or "") if name) or ("ALL",)
