"""Comments that silence findings: `# noqa`, `# devlint: ignore[...]` and their forms for a whole file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ..match.selection import covers
from .logical import comments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..finding import Finding
    from .logical import Comment

# As flake8 has it: what follows `noqa:` and is no code is prose, and then everything is silenced.
_CODE = r"(?:[A-Z]+[0-9]+|(?-i:[A-Z]+)(?![A-Z]))"
_CODES = rf"{_CODE}(?:[,\s]+{_CODE})*"
_NOQA = re.compile(rf"#\s*(?P<file>flake8\s*[:=]\s*)?noqa\b(?:\s*:\s*(?P<codes>{_CODES}))?", re.I)

# Whatever follows `# devlint:` and is a word; not where the comment quotes it.
_OURS = re.compile(r"(?<![\"'`])#\s*devlint\s*:\s*(?P<word>[a-z][\w-]*)(?P<rest>[^#]*)", re.I)
_IGNORE = re.compile(r"\s*(?:\[(?P<codes>[^\[\]]*)\]|$)")
"""What may follow `ignore`: codes in brackets, or nothing."""
_WORDS = ("ignore", "file-ignore")
_EDGES = ("disable", "enable")
_SAME = {"ignore-file": "file-ignore"}
_FILE_NOQA = re.compile(rf"\s*(?::\s*(?P<codes>{_CODES})\b.*)?$", re.I)
"""What follows `# devlint: noqa`, as ruff has it: for the whole file, on a row of its own."""
_TRIED = re.compile(
    r"allow|disable|enable|exclude|expect|mute|no-?lint|nocheck|noqa|off|on|pass|silence|skip|suppress"
    r"|(?:disable|ignore|skip)-(?:file|line|next|next-line)"
)
"""What other linters have for it; these words count where they stand alone or with codes, not in prose."""
_NAMED = r"(?:[A-Z]{1,3}[0-9]{1,3}|(?-i:DEV|ALL))(?!\w)"
_ATTEMPT = re.compile(
    rf"\s*(?P<open>[\[(:=-]?)\s*(?P<codes>{_NAMED}(?:[,\s]+{_NAMED})*)(?:[,\s]*[\])])?", re.I
)
_LIST = re.compile(r"[,\s]+")


class Suppression(NamedTuple):
    """The findings on some rows that have one of some codes."""

    rows: range | None
    """`None` for the whole file; empty where the comment stands where it means nothing."""
    codes: tuple[str, ...]
    """Codes, prefixes or names as they were written; none for every finding."""
    own: bool
    """Whether it is devlint's own form, not one that other tools read too."""
    comment: Comment
    at: tuple[int, int]
    """Where in the comment it stands."""
    codes_at: tuple[int, int] | None
    malformed: bool = False
    """Whether it only tries to be a suppression: then it silences nothing."""
    cure: str | None = None
    """How a malformed one ought to be written, where that is clear."""
    edge: str = ""
    """For one that begins or ends a range, `disable` or `enable`; malformed where the other is missing."""

    def silences(self, finding: Finding) -> bool:
        """Whether it silences this finding."""
        return not self.malformed and self.means(finding)

    def means(self, finding: Finding) -> bool:
        """Whether it is about this finding."""
        return (self.rows is None or finding.start.row in self.rows) and any(
            means(code, finding.code, finding.name) for code in self.codes or ("ALL",)
        )


def means(word: str, code: str, name: str) -> bool:
    """Whether what stands in a suppression (a code, a prefix, `ALL` or a name) means a rule."""
    return covers(word, code) or word.lower() == name


def suppressions(text: str, rows: Sequence[str]) -> list[Suppression]:
    """Return the suppressions of a file, malformed ones included, in order."""
    if not (_NOQA.search(text) or _OURS.search(text)):
        return []
    return _paired([item for comment in comments(rows) for item in _suppressions(comment)])


def _paired(found: list[Suppression]) -> list[Suppression]:
    """Have each `disable` reach down to the next `enable` of the same codes, at the same indentation."""
    waiting: dict[tuple[frozenset[str], int], int] = {}
    done = list[Suppression]()
    for item in found:
        key = frozenset(item.codes), item.comment.column
        if item.edge == "enable" and key in waiting:
            start = waiting.pop(key)
            reach = range(done[start].comment.row, item.comment.row)
            done[start] = done[start]._replace(rows=reach, malformed=False)
            continue
        if item.edge == "disable":
            waiting.setdefault(key, len(done))
        done.append(item)
    return done


def _suppressions(comment: Comment) -> Iterator[Suppression]:
    """Yield what a comment silences.

    A `noqa` on the first or last row of a statement holds for all of it, on a row between for that row:
    a formatter may move it to either end. An `ignore` holds for the statement that it is in or above.
    """
    statement = range(comment.first, comment.last + 1)
    for match in _NOQA.finditer(comment.text):
        if match["file"]:
            rows = None
        elif comment.row in (comment.first, comment.last):
            rows = statement
        else:
            rows = range(comment.row, comment.row + (not comment.alone))
        codes_at = match.span("codes") if match["codes"] else None
        yield Suppression(rows, _listed(match["codes"]), False, comment, match.span(), codes_at)
    for match in _OURS.finditer(comment.text):
        own = _own(match, comment, statement)
        if own is not None:
            yield own


def _own(match: re.Match[str], comment: Comment, statement: range) -> Suppression | None:
    """Return what follows `# devlint:`, if it is a suppression or tries to be one."""
    word, start, end = match["word"].lower().replace("_", "-"), match.start(), match.end("word")
    word = _SAME.get(word, word)
    if word == "noqa" and comment.alone and (meant := _FILE_NOQA.match(match["rest"])):
        left, right = meant.span("codes")
        codes_at = (end + left, end + right) if meant["codes"] else None
        at = start, codes_at[1] if codes_at else end
        return Suppression(None, _listed(meant["codes"]), True, comment, at, codes_at)
    if (
        word in _EDGES
        and comment.alone
        and (listed := _IGNORE.match(match["rest"]))
        and _listed(listed["codes"])
    ):
        left, right = listed.span("codes")
        at, codes_at = (start, end + listed.end()), (end + left, end + right)
        codes = _listed(listed["codes"])
        return Suppression(statement, codes, True, comment, at, codes_at, malformed=True, edge=word)
    if word not in _WORDS or "_" in match["word"]:
        return _attempt(match, word, comment, statement)
    rows = None if word == "file-ignore" else statement
    wellformed = _IGNORE.match(match["rest"])
    if wellformed is None:
        return _malformed(match, word, comment, rows)
    if wellformed["codes"] is None:
        return Suppression(rows, (), True, comment, (start, end), None)
    codes = _listed(wellformed["codes"])
    at = start, end + wellformed.end()
    if not codes:
        return Suppression(rows, (), True, comment, at, None, malformed=True)
    left, right = wellformed.span("codes")
    return Suppression(rows, codes, True, comment, at, (end + left, end + right))


def _attempt(match: re.Match[str], word: str, comment: Comment, statement: range) -> Suppression | None:
    """Return a word that devlint does not know, where it does not begin a sentence."""
    codes = _ATTEMPT.match(match["rest"])
    alone = not match["rest"].strip() or (codes is not None and not match["rest"][codes.end() :].strip())
    bracketed = codes is not None and codes["open"].startswith(("[", "("))
    if not (alone or bracketed):
        return None
    meant = _meant(word)
    if not (meant or _TRIED.fullmatch(word) or bracketed):
        return None
    return _malformed(match, meant, comment, None if meant == "file-ignore" else statement)


def _meant(word: str) -> str | None:
    """Return the word that a misspelt one stands for."""
    if word == "fileignore":
        return "file-ignore"
    if word == "noqa":  # at the end of a row, it is meant for that
        return "ignore"
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, _WORDS, 1, 0.8)), None)


def _malformed(match: re.Match[str], word: str | None, comment: Comment, rows: range | None) -> Suppression:
    """Return a suppression that silences nothing; the cure never silences more than it names."""
    codes = _ATTEMPT.match(match["rest"])
    if codes is None:
        at = match.start(), match.start() + len(match[0].rstrip())
        return Suppression(rows, (), True, comment, at, None, malformed=True)
    listed = _listed(codes["codes"])
    cure = f"# devlint: {word}[{', '.join(listed)}]" if word else None
    at = match.start(), match.end("word") + len(codes[0].rstrip())
    return Suppression(rows, listed, True, comment, at, None, malformed=True, cure=cure)


def _listed(codes: str | None) -> tuple[str, ...]:
    return tuple(name for name in _LIST.split(codes or "") if name)
