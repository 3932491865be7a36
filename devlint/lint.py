"""Finds the problems of one file: the function that the command line, editors and tests share."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any

from . import sift, unreadable
from .errors import FAULTS, BrokenRule, DevlintError
from .finding import order
from .globs import chosen
from .infer import infer
from .selection import choose
from .settings import Selection, Settings
from .text import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .finding import Finding
    from .infer.sections import Section
    from .rule import Fact, Rule

DEFAULTS = Settings()
NOTEBOOK = ".ipynb"


def lint(
    source: bytes | str,
    path: str = "<stdin>",
    settings: Settings = DEFAULTS,
    broken: list[BrokenRule] | None = None,
) -> list[Finding]:
    """Return the findings of one file in order of position, suppressed ones left out.

    `path` names the file in the findings and decides which per-file settings apply; nothing is read
    from it. Whatever the source is, this returns. A rule that raises is added to `broken`, and costs no
    finding of another rule; without such a list, the first is raised as DevlintError.
    """
    failed: list[BrokenRule] = []
    found = _found(source, path, settings, failed)
    if broken is not None:
        broken += failed
    elif failed:
        raise DevlintError(str(failed[0])) from failed[0].error
    return found


def _found(source: bytes | str, path: str, settings: Settings, broken: list[BrokenRule]) -> list[Finding]:
    if not path.endswith(NOTEBOOK):
        return _program(source, path, settings, broken)
    from . import notebook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = notebook.read(source, path)
    found = book.place(_program(book.code, path, settings, broken, book.sections)) if book.code else []
    broken[:] = [rule._replace(row=None) for rule in broken]  # the rows count in no cell
    return sorted([*_reported(list(book.problems), path, settings), *found], key=order)


def _program(
    source: bytes | str,
    path: str,
    settings: Settings,
    broken: list[BrokenRule],
    sections: Sequence[Section] = (),
) -> list[Finding]:
    raw = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the linted code's own, such as invalid escapes
        suppresses, matters = sift.suppresses(raw), sift.matters(raw)
        if not matters:
            found = unreadable.find_unreadable(path, source)
            if found or not suppresses:
                return _reported(found, path, settings)
        try:
            text = source if isinstance(source, str) else decode(source).text
        except unreadable.UNDECODABLE as error:
            return _reported([unreadable.unreadable(path, error, raw)], path, settings)
        findings: list[Finding] = []
        if matters:
            try:
                tree = ast.parse(text)
                facts = infer(text, tree, sections=sections).facts
            except unreadable.UNPARSABLE as error:
                return _reported([unreadable.unreadable(path, error, raw)], path, settings)
            if facts:
                findings = _visited(text, tree, facts, path, settings, broken)
        if not findings and not suppresses:
            return []
        return _settled(findings, text, path, settings)


def selections_for(path: str, settings: Settings) -> tuple[Selection, ...]:
    """Return the layers of rule selection that hold for one file."""
    ignored = tuple(
        selector
        for pattern, selectors in settings.per_file_ignores
        if chosen(path, pattern, settings.root)
        for selector in selectors
    )
    return (*settings.selections, Selection(ignore=ignored)) if ignored else settings.selections


def _visited(
    text: str,
    tree: ast.Module,
    facts: Iterable[Fact],
    path: str,
    settings: Settings,
    broken: list[BrokenRule],
) -> list[Finding]:
    from . import registry

    rules = registry.active(selections_for(path, settings))
    suspects = [(fact, rule) for fact in facts for rule in rules if _suspects(fact, rule, path, broken)]
    if not suspects:
        return []
    from . import visitor

    return visitor.visit(text, tree, suspects, path, broken)


def _settled(findings: list[Finding], text: str, path: str, settings: Settings) -> list[Finding]:
    """Leave out what comments silence, and add what there is to say about those comments."""
    from . import registry, unused

    severities = registry.severities()
    on = choose(severities, selections_for(path, settings))
    return unused.settle(findings, text, path, severities, on, noqa=settings.noqa)


def _suspects(fact: Fact, rule: Rule[Any], path: str, broken: list[BrokenRule]) -> bool:
    try:
        return isinstance(fact, rule.fact) and bool(rule.suspects(fact))
    except FAULTS as error:
        broken.append(BrokenRule(rule.code, path, fact.span.line, error))
        return False


def _reported(findings: list[Finding], path: str, settings: Settings) -> list[Finding]:
    """Drop what cannot be read where that is ignored; selecting some rules does not hide it."""
    if not findings:
        return findings
    layers = [layer._replace(select=None) for layer in selections_for(path, settings)]
    return findings if choose({unreadable.CODE: unreadable.SEVERITY}, layers) else []
