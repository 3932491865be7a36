"""What editors offer to do about findings: fix one, fix all that is safe, silence one with a comment."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..comments.noqa import add
from ..run.fix import apply, fix
from ..source.sources import texts
from ..source.text import NOTEBOOK, decode
from ..source.unreadable import UNDECODABLE
from .positions import Replacement, difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..config.settings import Settings
    from ..finding import Finding
    from ..project.index import Project
    from .documents import Document

Edits = dict[int | None, list[Replacement]]
"""By the number of the cell, None for a file."""


class Offer(NamedTuple):
    """Something that can be done."""

    title: str
    edits: Edits
    finding: Finding
    fixes: bool
    """Whether it cures the finding, not only hides it."""
    preferred: bool = False


def offers(document: Document, findings: Sequence[Finding], reason: str) -> Iterator[Offer]:
    """Yield what can be done about some findings of a document."""
    raw = _raw(document)
    if raw is None:
        return
    sources = texts(document.path, raw)
    for finding in findings:
        if finding.fix is not None:
            safe = finding.fix.safe
            edits = _edits(document, apply(raw, document.path, [finding]))
            title = (
                f"{finding.code}: {finding.fix.message}{'' if safe else ' (unsafe: may change behaviour)'}"
            )
            if edits:
                yield Offer(title, edits, finding, fixes=True, preferred=safe)
    for finding in {each.code: each for each in reversed(findings)}.values():
        for title, why in (
            (f"{finding.code}: silence it with a comment", ""),
            (f"{finding.code}: silence it and say why", reason),
        ):
            edits = _edits(document, add(raw, document.path, [finding], sources, why))
            if edits:
                yield Offer(title, edits, finding, fixes=False)


def all_fixed(document: Document, settings: Settings, project: Project | None) -> Edits:
    """Return the edits that cure all that can be cured safely."""
    raw = _raw(document)
    if raw is None:
        return {}
    return _edits(document, fix(raw, document.path, settings, broken=[], project=project).raw)


def _raw(document: Document) -> bytes | None:
    """Return a document as a file would have it; None where its text says that it is encoded otherwise."""
    raw = document.text.encode("utf-8", "surrogatepass")
    try:
        return raw if decode(raw).text == document.text else None
    except UNDECODABLE:
        return None


def _edits(document: Document, after: bytes) -> Edits:
    before = document.text
    if not document.path.endswith(NOTEBOOK):
        found = list(difference(before, decode(after).text))
        return {None: found} if found else {}
    from ..source.notebook import read

    old: Mapping[int, str] = read(before, document.path).sources
    new = read(after, document.path).sources
    return {
        number: list(difference(text, new[number])) for number, text in old.items() if new[number] != text
    }
