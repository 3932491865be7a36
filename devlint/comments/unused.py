"""A suppression silences nothing

A comment that once silenced a finding and no longer does, because the code or the rule has changed, hides the
next real finding on its line.

    x = x.to(device)  # devlint: ignore[DEV101]  # DEV001

The fix takes out the codes that silence nothing, and the whole suppression where none is left. What else the
comment says, such as the reason, stays.

A comment that only tries to be a suppression, such as `# devlint: ignore DEV101` without the brackets or
`# devlint: disable`, silences nothing and is reported too. The fix adds the brackets where codes are named;
what the comment is about is not fixed meanwhile.

Judged are devlint's own forms, and in a `noqa` the codes that begin with `DEV`. A blanket `# noqa` and the
codes of other tools are not, as they may be meant for those. Neither are codes of rules that are off in this
run. To keep a suppression that is needed elsewhere only, name this rule in it, as in
`# devlint: ignore[DEV101, DEV001]`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from ..finding import Edit, Finding, Fix, Position, Severity
from ..source import unreadable
from ..source.text import split_rows
from .suppress import means, suppressions

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from .suppress import Suppression

CODE = "DEV001"
NAME = "unused-suppression"
SEVERITY = Severity.WARNING

_OWN = {CODE, NAME}
_OURS = re.compile(r"DEV[0-9]{0,3}")
_NOBODY = "No rule has the code, prefix or name `{}`."
_LEFT = " \t,;:-\u2013\u2014"
"""What may stand between a suppression and its reason."""


def settle(
    findings: list[Finding],
    text: str,
    path: str,
    known: Mapping[str, str],
    on: Collection[str],
    *,
    noqa: bool = True,
) -> list[Finding]:
    """Return the findings that no comment silences, and one for each comment that silences nothing.

    `known` are the codes of all rules, with their names, `on` the codes of those that were run.
    Without `noqa`, only devlint's own comments count.
    """
    rows = split_rows(text)
    found = [item for item in suppressions(text, rows) if noqa or item.own]
    working = [item for item in found if not item.malformed]
    near = _ByRow(findings)
    silenced = {id(finding) for item in working for finding in near.of(item) if item.silences(finding)}
    # What somebody wanted left alone is told, and not changed.
    malformed = [
        item if _names_rules(item, known) else item._replace(codes=()) for item in found if item.malformed
    ]
    spared = {id(finding) for item in malformed for finding in near.of(item) if item.means(finding)}
    kept = [
        finding._replace(fix=None) if id(finding) in spared else finding
        for finding in findings
        if id(finding) not in silenced
    ]
    if CODE not in on or any(finding.code == unreadable.CODE for finding in findings):
        return kept
    judged = [(item, _judged(item, near.of(item), rows, path, known, on)) for item in found]
    about = {id(finding): item for item, finding in judged if finding is not None}
    idle = [finding for _, finding in judged if finding is not None]
    near = _ByRow(idle)
    silenced = {
        id(finding)
        for item in working
        for finding in near.of(item)
        # A suppression cannot vouch for itself, unless it says so.
        if (about[id(finding)] is not item or _OWN & set(item.codes)) and item.silences(finding)
    }
    kept += [finding for finding in idle if id(finding) not in silenced]
    return sorted(kept, key=lambda finding: finding[:5])


class _ByRow:
    """Findings by the rows they start on, so that not every comment is held against each of them."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = sorted(findings, key=lambda finding: finding.start.row)
        self.rows = [finding.start.row for finding in self.findings]

    def of(self, item: Suppression) -> Sequence[Finding]:
        """Return those on the rows of a suppression."""
        if item.rows is None:
            return self.findings
        return self.findings[bisect_left(self.rows, item.rows.start) : bisect_left(self.rows, item.rows.stop)]


def _judged(
    item: Suppression,
    silenced: Sequence[Finding],
    rows: Sequence[str],
    path: str,
    known: Mapping[str, str],
    on: Collection[str],
) -> Finding | None:
    """Return the finding about a suppression some of whose codes silence none of the `silenced` findings."""
    if item.malformed:
        return _malformed(item, path, known)
    if not item.codes:
        idle = item.own and not any(item.silences(finding) for finding in silenced)
        return _finding(item, ["this suppression"], (), rows, path) if idle else None
    idle_codes = [code for code in item.codes if _idle(code, item, silenced, known, on)]
    if not idle_codes:
        return None
    kept = tuple(code for code in item.codes if code not in idle_codes)
    nobody = [code for code in idle_codes if not _meant(code, known)]
    return _finding(item, [f"`{code}`" for code in idle_codes], kept, rows, path, nobody)


def _malformed(item: Suppression, path: str, known: Mapping[str, str]) -> Finding:
    """Return the finding about what tries to be a suppression; the cure silences only what it names."""
    comment, (start, end) = item.comment, item.at
    first, last = (Position(comment.row, comment.column + at + 1) for at in (start, end))
    cure = item.cure if _names_rules(item, known) else None
    fix = Fix(f"write `{cure}`", (Edit(first, last, cure),), safe=True) if cure else None
    reason = (
        "It reads `# devlint: ignore[CODE]` or `# devlint: file-ignore[CODE]`, or has nothing after the word."
    )
    if item.edge:
        other = f"# devlint: {'disable' if item.edge == 'enable' else 'enable'}[{', '.join(item.codes)}]"
        where = "above" if item.edge == "enable" else "below"
        reason = f"It needs `{other}` {where}, at the same indentation."
    message = f"`{comment.text[start:end]}` is malformed and silences nothing"
    return Finding(path, first, last, CODE, NAME, SEVERITY, message, reason, fix, comment.row)


def _names_rules(item: Suppression, known: Mapping[str, str]) -> bool:
    return all(_meant(code, known) for code in item.codes)


def _meant(word: str, known: Mapping[str, str]) -> list[str]:
    """Return the codes of the rules that a code, prefix or name means."""
    return [code for code, name in known.items() if means(word, code, name)]


def _idle(
    code: str, item: Suppression, silenced: Sequence[Finding], known: Mapping[str, str], on: Collection[str]
) -> bool:
    if code.upper() == CODE or code.lower() == NAME or not (item.own or _OURS.fullmatch(code)):
        return False
    meant = _meant(code, known)
    if meant and not any(rule in on for rule in meant):
        return False
    return not any(item._replace(codes=(code,)).silences(finding) for finding in silenced)


def _finding(
    item: Suppression,
    what: Sequence[str],
    kept: Sequence[str],
    rows: Sequence[str],
    path: str,
    nobody: Sequence[str] = (),
) -> Finding:
    comment, (start, end) = item.comment, item.at
    verb = "silence" if len(what) > 1 else "silences"
    edit = None if item.edge else _edit(item, kept, rows)  # the other end would stay behind
    return Finding(
        path,
        Position(comment.row, comment.column + start + 1),
        Position(comment.row, comment.column + end + 1),
        CODE,
        NAME,
        SEVERITY,
        f"{', '.join(what)} {verb} nothing here",
        _NOBODY.format(nobody[0]) if nobody else "It would hide the next real finding.",
        None if edit is None else Fix("take out what silences nothing", (edit,), safe=True),
        comment.row,
    )


def _edit(item: Suppression, kept: Sequence[str], rows: Sequence[str]) -> Edit | None:
    """Return the edit that leaves the codes `kept`; without any, the suppression goes, its reason stays.

    There is none where a file ends in a backslash but for the comment.
    """
    comment, row = item.comment, item.comment.row

    def edit(start: int, end: int, content: str) -> Edit:
        return Edit(Position(row, start + 1), Position(row, end + 1), content)

    if kept:
        assert item.codes_at is not None
        start, end = item.codes_at
        return edit(comment.column + start, comment.column + end, ", ".join(kept))
    before, after = comment.text[: item.at[0]].rstrip(), comment.text[item.at[1] :].lstrip(_LEFT)
    if after and not after.startswith("#"):
        after = f"# {after}"
    left = "  ".join(part for part in (before, after) if part)
    end = comment.column + len(comment.text)
    if left:
        return edit(comment.column, end, left)
    text = rows[row - 1]
    if comment.alone and rows[row - 2 : row - 1] and rows[row - 2].rstrip("\r\n").endswith("\\"):
        return edit(0, end, "") if text.endswith(("\r", "\n")) else None
    if comment.alone and text.endswith(("\r", "\n")):
        return Edit(Position(row, 1), Position(row + 1, 1), "")
    return edit(len(text[: comment.column].rstrip()), end, "")
