"""Finds the problems of one file: the function that the command line, editors and tests share."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from ..config.layers import selections_for
from ..config.settings import Fixing, Selection, Settings
from ..errors import FAULTS, BrokenRule, DevlintError
from ..finding import Severity, order
from ..match import registry
from ..match.selection import choose, named
from ..source import sift, unreadable
from ..source.text import NOTEBOOK, decode
from ..visit.around import Around

if TYPE_CHECKING:
    from ..core.events import Event
    from ..finding import Finding
    from ..infer.file import File
    from ..match.watch import Entry, Matcher
    from ..project.index import Project, View
    from ..rule import Rule

DEFAULTS = Settings()


class _Run(NamedTuple):
    """What one file is linted with."""

    path: str
    settings: Settings
    around: Around
    broken: list[BrokenRule]


def lint(
    source: bytes | str,
    path: str = "<stdin>",
    settings: Settings = DEFAULTS,
    broken: list[BrokenRule] | None = None,
    project: Project | None = None,
) -> list[Finding]:
    """Return the findings of one file in order of position, suppressed ones left out.

    `path` names the file in the findings and decides which per-file settings apply; nothing is read
    from it. `project` tells what the files around it define. Whatever the source is, this returns. A rule
    that raises is added to `broken`, and costs no finding of another rule; without such a list, the first is
    raised as DevlintError.
    """
    raised: list[BrokenRule] = []
    found = examine(source, path, settings, raised, project.view(path) if project is not None else None)
    if broken is not None:
        broken += raised
    elif raised:
        raise DevlintError(str(raised[0])) from raised[0].error
    return found


def examine(
    source: bytes | str, path: str, settings: Settings, broken: list[BrokenRule], view: View | None
) -> list[Finding]:
    """Lint one file with the project as it sees it."""
    around = Around(view, view.name) if view is not None else Around()
    run = _Run(path, settings, around, [])
    found = _notebook(source, run) if path.endswith(NOTEBOOK) else _program(source, run)
    broken += run.broken
    return found if settings.fixing is None else _cured(found, settings.fixing)


def _notebook(source: bytes | str, run: _Run) -> list[Finding]:
    from ..source import notebook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = notebook.read(source, run.path)
    found: list[Finding] = []
    if book.code:
        cells = run._replace(around=run.around._replace(sections=book.sections))
        found = book.place(_program(book.code, cells))
    run.broken[:] = [rule._replace(row=None) for rule in run.broken]  # the rows count in no cell
    return sorted([*_reported(list(book.problems), run), *found], key=order)


def _program(source: bytes | str, run: _Run) -> list[Finding]:
    raw = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    path = run.path
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the linted code's own, such as invalid escapes
        rules = rules_for(path, run.settings)
        suppresses, matters = sift.suppresses(raw), sift.matters(raw, rules.words)
        if not matters:
            found = unreadable.find_unreadable(path, source)
            if found or not suppresses:
                return _reported(found, run)
        try:
            text = source if isinstance(source, str) else decode(source).text
        except unreadable.UNDECODABLE as error:
            return _reported([unreadable.unreadable(path, error, raw)], run)
        findings: list[Finding] = []
        if matters:
            try:
                events, analysed = _observed(text, rules, run)
            except unreadable.UNPARSABLE as error:
                return _reported([unreadable.unreadable(path, error, raw)], run)
            try:
                findings = _visited(text, events, analysed, rules, run)
            finally:
                if analysed is not None:
                    analysed.release()
        if not findings and not suppresses:
            return []
        return _settled(findings, text, run)


def rules_for(path: str, settings: Settings) -> Matcher:
    """Return the rules that are on for one file."""
    selections = selections_for(path, settings)
    return registry.active(selections, settings.lint_tests, settings.preview, settings.explicit_preview_rules)


def _observed(text: str, rules: Matcher, run: _Run) -> tuple[tuple[Event, ...], File | None]:
    """Return what happens in a file, and its analysis if that is at hand, to be released."""
    project, name, cells = run.around
    if project is not None and not cells:
        seen = project.events(text, rules)
        if seen is not None:
            return seen
    from ..infer import infer_and_keep  # most files take no analysis

    tree = ast.parse(text)
    found, file = infer_and_keep(text, tree, wants=rules.wants, index=project, name=name, sections=cells)
    if project is not None and not cells:
        project.keep(text, rules, file)
    return found.events, file


def watching(path: str, text: str, settings: Settings) -> Matcher | None:
    """Return the rules with which a file is linted, if it has anything that they watch."""
    rules = rules_for(path, settings)
    return rules if sift.matters(text.encode("utf-8", "surrogatepass"), rules.words) else None


def _visited(
    text: str, events: tuple[Event, ...], analysed: File | None, rules: Matcher, run: _Run
) -> list[Finding]:
    matched = [(event, entry) for event in events for entry in rules.matching(event)]
    suspects = [
        (event, rule)
        for event, entry in matched
        if (rule := _suspecting(event, entry, run)) and not excused(event, entry, run.around)
    ]
    if not suspects:
        return []
    from ..visit import visitor

    tree = ast.parse(text) if analysed is None or run.around.sections else analysed.tree
    target, around = run.settings.target_torch, run.around
    found = visitor.visit(text, tree, suspects, run.path, run.broken, target, around, analysed)
    return _without_notes(found, run)


def _without_notes(findings: list[Finding], run: _Run) -> list[Finding]:
    """Leave out what is no more than a note, where nobody asked for its rule."""
    notes = {finding.code for finding in findings if finding.severity is Severity.NOTE}
    if not notes:
        return findings
    wanted = named(notes, selections_for(run.path, run.settings))
    return [each for each in findings if each.severity is not Severity.NOTE or each.code in wanted]


def _cured(findings: list[Finding], fixing: Fixing) -> list[Finding]:
    """Leave out the fixes that the settings do not want, and call safe and unsafe what they call so."""
    codes = {each.code: each.severity for each in findings}
    wanted = choose(codes, [Selection(fixing.fixable, fixing.extend_fixable, fixing.unfixable)])
    safe = choose(codes, [Selection(fixing.safe, (), fixing.unsafe)])
    unsafe = choose(codes, [Selection(fixing.unsafe, (), fixing.safe)])
    found = []
    for each in findings:
        fix = each.fix if each.code in wanted else None
        if fix is not None and each.code in safe | unsafe:
            fix = fix._replace(safe=each.code not in unsafe)
        found.append(each._replace(fix=fix))
    return found


def _settled(findings: list[Finding], text: str, run: _Run) -> list[Finding]:
    """Leave out what comments silence, and add what there is to say about those comments."""
    if run.settings.ignore_noqa:
        return findings
    from ..comments import unused

    settings = run.settings
    selections = selections_for(run.path, settings)
    on = registry.turned_on(selections, settings.preview, settings.explicit_preview_rules)
    return unused.settle(findings, text, run.path, registry.names(), on, noqa=settings.noqa)


def _suspecting(event: Event, entry: Entry, run: _Run) -> Rule[Any] | None:
    """Return the rule of which a watch matched, imported by now, if it suspects the event."""
    try:
        rule = registry.load(entry)
        return rule if rule.suspects(event) else None
    except FAULTS as error:
        run.broken.append(BrokenRule(entry.code, run.path, event.at.span.line, error))
        return None


def excused(event: Event, entry: Entry, around: Around) -> bool:
    """Return whether the project makes sure of an accelerator, where a rule wants nothing to do so."""
    project = around.project
    if project is None or event.at.guard.guarded or not entry.wants_unguarded(event):
        return False
    return project.needs_accelerator(event.at.function)


def _reported(findings: list[Finding], run: _Run) -> list[Finding]:
    """Drop what cannot be read where that is ignored; selecting some rules does not hide it."""
    if not findings:
        return findings
    layers = [layer._replace(select=None) for layer in selections_for(run.path, run.settings)]
    return findings if choose({unreadable.CODE: unreadable.SEVERITY}, layers) else []
