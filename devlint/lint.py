"""Finds the problems of one file: the function that the command line, editors and tests share."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any

from . import sift, unreadable
from .errors import broken_rule
from .finding import order
from .globs import chosen
from .infer import infer
from .match import registry
from .match.selection import choose
from .settings import Selection, Settings
from .text import decode
from .visit.around import Around

if TYPE_CHECKING:
    from .core.events import Event
    from .finding import Finding
    from .match.watch import Entry, Matcher
    from .project.index import Project
    from .rule import Rule

DEFAULTS = Settings()
NOTEBOOK = ".ipynb"


def lint(
    source: bytes | str,
    path: str = "<stdin>",
    settings: Settings = DEFAULTS,
    project: Project | None = None,
) -> list[Finding]:
    """Return the findings of one file in order of position, suppressed ones left out.

    `path` names the file in the findings and decides which per-file settings apply; nothing is read
    from it. `project` tells what the files around it define. Whatever the source is, this returns;
    DevlintError means that a rule is broken.
    """
    view = project.view(path) if project is not None else None
    around = Around(view, view.name) if view is not None else Around()
    if not path.endswith(NOTEBOOK):
        return _program(source, path, settings, around)
    from . import notebook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = notebook.read(source, path)
    found = []
    if book.code:
        found = book.place(_program(book.code, path, settings, around._replace(sections=book.sections)))
    return sorted([*_reported(list(book.problems), path, settings), *found], key=order)


def _program(source: bytes | str, path: str, settings: Settings, around: Around) -> list[Finding]:
    raw = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the linted code's own, such as invalid escapes
        rules = registry.active(selections_for(path, settings))
        suppresses, matters = sift.suppresses(raw), sift.matters(raw, rules.words)
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
                events = infer(text, tree, wants=rules.wants, **around._asdict()).events
            except unreadable.UNPARSABLE as error:
                return _reported([unreadable.unreadable(path, error, raw)], path, settings)
            findings = _visited(text, tree, events, rules, path, settings, around)
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
    events: tuple[Event, ...],
    rules: Matcher,
    path: str,
    settings: Settings,
    around: Around,
) -> list[Finding]:
    matched = [(event, entry) for event in events for entry in rules.matching(event)]
    suspects = [(event, rule) for event, entry in matched if (rule := _suspecting(event, entry, path))]
    if not suspects:
        return []
    from .visit import visitor

    return visitor.visit(text, tree, suspects, path, settings.target_torch, around)


def _settled(findings: list[Finding], text: str, path: str, settings: Settings) -> list[Finding]:
    """Leave out what comments silence, and add what there is to say about those comments."""
    from . import unused

    severities = registry.severities()
    on = choose(severities, selections_for(path, settings))
    return unused.settle(findings, text, path, severities, on, noqa=settings.noqa)


def _suspecting(event: Event, entry: Entry, path: str) -> Rule[Any] | None:
    """Return the rule of which a watch matched, imported by now, if it suspects the event."""
    rule = registry.load(entry)
    try:
        return rule if rule.suspects(event) else None
    except Exception as error:
        raise broken_rule(entry.code, path, event.at.span.line, error) from error


def _reported(findings: list[Finding], path: str, settings: Settings) -> list[Finding]:
    """Drop what cannot be read where that is ignored; selecting some rules does not hide it."""
    if not findings:
        return findings
    layers = [layer._replace(select=None) for layer in selections_for(path, settings)]
    return findings if choose({unreadable.CODE: unreadable.SEVERITY}, layers) else []
