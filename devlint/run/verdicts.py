"""Why each rule that looked at a line spoke or stayed silent.

The reasons are the engine's own: the tests of the watches that failed, and what `suspects` and `visit` of a
rule said to the event as it is and, for what made the difference, to the event as it is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..comments.suppress import suppressions
from ..config.layers import selections_for
from ..errors import FAULTS
from ..finding import Severity
from ..match import registry
from ..match.selection import named
from ..match.watch import Matcher, anything
from ..source import sift
from ..source.files import excluded
from ..visit import visitor
from . import reasons
from .explained import Where
from .lint import excused, lint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..core.events import At, Event
    from ..finding import Finding
    from ..match.watch import Entry
    from ..rule import Rule
    from .explained import Explained, Valued

SPOKE, SUPPRESSED, NOTE, OFF, SILENT = "spoke", "suppressed", "note", "off", "silent"
"""What became of a rule that looked; `note` is that it says no more than a note, which nobody selected."""
BROKEN, APART = "broken", "apart"
"""`apart` is that it is about something else, of which this has not the form."""
_ORDER = (SPOKE, SUPPRESSED, BROKEN, NOTE, OFF, SILENT, APART)
_EXCUSED = (
    "other files of the project make sure of an accelerator: all that call this, or what this file imports"
)


class Verdict(NamedTuple):
    """What became of a rule that looked at something."""

    code: str
    name: str
    outcome: str
    reasons: tuple[str, ...]
    where: Where


class Explanation(NamedTuple):
    """A line explained."""

    values: tuple[Valued, ...]
    guards: tuple[str, ...]
    """What says that an accelerator is there, or is not, and other circumstances."""
    verdicts: tuple[Verdict, ...]
    remarks: tuple[str, ...]
    """What else there is to know, such as that nothing in the file matters to a rule."""


def explanation(
    file: Explained, line: int, column: int | None = None, cell: int | None = None
) -> Explanation:
    """Explain a line, or what stands at a column of it, both from 1.

    Raises DevlintError where the file has no such line.
    """
    row = file.row(line, cell)
    at = file.column(row, column)
    values = file.values(row, at)
    under = file.account.under(row)
    verdicts = tuple(_Verdicts(file, row, at).all())
    remarks = list(_remarks(file, row))
    if not values and not verdicts and not remarks:
        remarks.append("nothing here has a value that devlint follows, and no rule looked")
    guards = tuple(_circumstances(under)) if under is not None and (values or verdicts) else ()
    return Explanation(values, guards, verdicts, tuple(remarks))


def _remarks(file: Explained, row: int) -> Iterator[str]:
    if excluded(file.path, file.settings):
        yield "the file is excluded: it is linted only where it is named outright"
    if not file.account.is_reached(row):
        yield "this is never reached, as far as devlint can tell"
    if not sift.matters(file.text.encode("utf-8", "surrogatepass"), anything()):
        yield "no library whose objects live on devices is in this file"


class _Verdicts:
    """What became of the rules that looked at a row."""

    def __init__(self, explained: Explained, row: int, column: int | None) -> None:
        self.file = explained
        self.row, self.column = row, column
        settings, path = explained.settings, explained.path
        self.selections = selections_for(path, settings)
        self.severities = registry.severities()
        self.on = registry.turned_on(self.selections, settings.preview, settings.explicit_preview_rules)
        self.matcher = Matcher(registry.entries().values(), settings.lint_tests)
        self.broken: list[Any] = []
        found = lint(explained.source, path, settings, self.broken, explained.project)
        self.real = {(each.code, each.cell, each.start): each for each in found}

    def all(self) -> Iterator[Verdict]:
        """Yield the verdicts: of those that speak first, then by code."""
        found: dict[tuple[str, Where, tuple[str, ...]], Verdict] = {}
        for event in self._events() if self._matters() else ():
            for verdict in (*self._matched(event), *self._refused(event)):
                found.setdefault((verdict.code, verdict.where, verdict.reasons), verdict)
        spoken = {(each.code, each.where.cell, each.where.start) for each in found.values()}
        for key, finding in self.real.items():
            if self._is_here(finding) and key not in spoken:  # of comments, and of what cannot be read
                where = Where("", finding.cell, finding.start, finding.end)
                verdict = Verdict(finding.code, finding.name, SPOKE, (finding.message,), where)
                found[finding.code, where, verdict.reasons] = verdict
        yield from sorted(
            found.values(), key=lambda each: (_ORDER.index(each.outcome), each.code, each.where.start)
        )

    def _events(self) -> list[Event]:
        events = self.file.account.events
        if self.column is not None:
            at = (self.row, self.column)
            return [each for each in events if each.at.span[:2] <= at < each.at.span[2:]]
        begin = [each for each in events if each.at.span.line == self.row]
        return begin or [each for each in events if each.at.span.line <= self.row <= each.at.span.end_line]

    def _matters(self) -> bool:
        """Whether the engine would look for events in the file at all, if every rule were on."""
        return sift.matters(self.file.text.encode("utf-8", "surrogatepass"), self.matcher.words)

    def _is_here(self, finding: Finding) -> bool:
        book = self.file.book
        if book is None:
            row: int | None = finding.start.row
        else:
            row = book.row(finding.cell, finding.start.row) if finding.cell is not None else None
        if self.column is not None or row is None:
            return False
        return row == self.row

    def _matched(self, event: Event) -> Iterator[Verdict]:
        """Yield what became of the rules of which a watch matches an event."""
        for entry in self.matcher.matching(event):
            try:
                rule = registry.load(entry)
                if rule.suspects(event) and excused(event, entry, self.file.around):
                    yield self._verdict(entry, event, SILENT, _EXCUSED)
                    continue
                if rule.suspects(event):
                    yield from self._visited(event, entry, rule)
                    continue
            except FAULTS as error:
                yield self._verdict(entry, event, BROKEN, f"{type(error).__name__}: {error}")
                continue
            because = list(self._because(event, rule))
            yield self._verdict(
                entry, event, SILENT, *(because or ["what happens here is not what it is about"])
            )

    def _visited(self, event: Event, entry: Entry, rule: Rule[Any]) -> Iterator[Verdict]:
        found = self._visit(event, rule)
        if not found:
            reported = [each for each in self.broken if each.code == entry.code]
            if reported:
                yield self._verdict(entry, event, BROKEN, str(reported[0]))
                return
            because = list(self._because(event, rule, visiting=True))
            yield self._verdict(
                entry,
                event,
                SILENT,
                *(because or ["it looked at the code around it, and found nothing wrong"]),
            )
        for finding in found:
            yield self._spoken(event, entry, finding)

    def _spoken(self, event: Event, entry: Entry, finding: Finding) -> Verdict:
        """Return what became of a finding of a rule."""
        placed = self.file.book.place([finding])[0] if self.file.book is not None else finding
        if (placed.code, placed.cell, placed.start) in self.real:
            return self._verdict(entry, event, SPOKE, finding.message)
        would = f"it would say: {finding.message}"
        if entry.code not in self.on:
            note = self.severities[entry.code] is Severity.NOTE and not named([entry.code], self.selections)
            why = "a note, off unless selected" if note else "it is off for this file"
            if entry.preview and not self.file.settings.preview:
                why = "it is in preview, and runs with --preview alone"
            elif entry.preview and self.file.settings.explicit_preview_rules:
                why = "it is in preview, and runs if its whole code is selected"
            return self._verdict(entry, event, OFF, why, would)
        if finding.severity is Severity.NOTE and entry.code not in named([entry.code], self.selections):
            return self._verdict(
                entry, event, NOTE, "no more than a note here, and it is not selected", would
            )
        for item in suppressions(self.file.text, self.file.rows):
            if (self.file.settings.noqa or item.own) and item.silences(finding):
                comment = item.comment.text[slice(*item.at)]
                row = self.file.where(
                    event.at.span._replace(line=item.comment.row, end_line=item.comment.row)
                )
                return self._verdict(
                    entry, event, SUPPRESSED, f"`{comment}` at {row} silences it: {finding.message}"
                )
        return self._verdict(entry, event, SILENT, "the same is told in another place")

    def _visit(self, event: Event, rule: Rule[Any]) -> list[Finding]:
        file = self.file
        found = visitor.visit(
            file.text,
            file.tree,
            [(event, rule)],
            file.path,
            self.broken,
            file.settings.target_torch,
            file.around,
        )
        return [each for each in found if each.code == rule.code]

    def _because(self, event: Event, rule: Rule[Any], visiting: bool = False) -> Iterator[str]:
        """Yield what made the rule leave the event alone, as far as one thing alone did."""
        for reason, other in reasons.otherwise(event):
            try:
                if rule.suspects(other) and (not visiting or self._visit(other, rule)):
                    yield reason
            except FAULTS:
                continue

    def _refused(self, event: Event) -> Iterator[Verdict]:
        """Yield the rules that watch for such an event, and not for this one."""
        for entry, tests in self.matcher.refusals(event):
            outcome = APART if any(map(reasons.is_about_another, tests)) else SILENT
            yield self._verdict(entry, event, outcome, *(reasons.failed(test, event) for test in tests))

    def _verdict(self, entry: Entry, event: Event, outcome: str, *why: str) -> Verdict:
        where = self.file.where(event.at.span)
        return Verdict(entry.code, entry.name, outcome, tuple(dict.fromkeys(filter(None, why))), where)


def _circumstances(under: At) -> Iterator[str]:
    yield from reasons.guards(under.guard)
    if shown := under.context - {"method"}:  # that is to be seen
        yield f"it is in {reasons.contexts(shown)}"
    if under.loops:
        yield f"{'a loop is' if under.loops == 1 else f'{under.loops} loops are'} around it"
