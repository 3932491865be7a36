"""Comments that silence findings: `# noqa`, `# devlint: ignore[...]` and their forms for a whole file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from .logical import comments
from .match.selection import covers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    """`None` for the whole file; empty where the comment stands where it means nothing."""
    codes: tuple[str, ...]
    """Codes or prefixes as they were written; none for every finding."""
    own: bool
    """Whether it is devlint's own form, not one that other tools read too."""
    comment: Comment
    at: tuple[int, int]
    """Where in the comment it stands."""
    codes_at: tuple[int, int] | None

    def silences(self, finding: Finding) -> bool:
        """Whether it means this finding."""
        return (self.rows is None or finding.start.row in self.rows) and any(
            covers(code, finding.code) for code in self.codes or ("ALL",)
        )


def suppressions(text: str, rows: Sequence[str]) -> list[Suppression]:
    """Return the suppressions of a file, in order."""
    if not (_NOQA.search(text) or _IGNORE.search(text)):
        return []
    return [item for comment in comments(rows) for item in _suppressions(comment)]


def _suppressions(comment: Comment) -> Iterator[Suppression]:
    """Yield what a comment silences.

    A `noqa` on the first or last row of a statement holds for all of it, on a row between for that row:
    a formatter may move it to either end. An `ignore` holds for the statement that it is in or above.
    """
    statement = range(comment.first, comment.last + 1)
    for match in _NOQA.finditer(comment.text):
        if match["file"]:
            yield _suppression(match, None, comment)
        elif comment.row in (comment.first, comment.last):
            yield _suppression(match, statement, comment)
        else:
            own_row = range(comment.row, comment.row + (not comment.alone))
            yield _suppression(match, own_row, comment)
    for match in _IGNORE.finditer(comment.text):
        yield _suppression(match, None if match["file"] else statement, comment)


def _suppression(match: re.Match[str], rows: range | None, comment: Comment) -> Suppression:
    codes = tuple(name for name in _LIST.split(match["codes"] or "") if name)
    codes_at = match.span("codes") if codes else None
    return Suppression(rows, codes, match.re is _IGNORE, comment, match.span(), codes_at)
