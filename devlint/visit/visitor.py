"""Walks the concrete syntax around suspects with LibCST and runs the rules on the nodes they suspect."""

from __future__ import annotations

import ast
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import libcst
from libcst.metadata import MetadataWrapper, PositionProvider

from ..comments.logical import logical_ends
from ..core.events import Spot, is_by_default, is_presumed
from ..errors import FAULTS, BrokenRule
from ..finding import Finding, Position, Related, Severity
from ..rule import Report
from ..source.text import split_rows
from ..source.unreadable import too_deep, unsupported
from ..span import Span
from . import slices
from .ask import File, Questions
from .change import Renderer
from .related import related
from .wording import brief

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..core.events import Event
    from ..infer.file import File as Analysed
    from ..rule import Ask, Change, Rule
    from .around import Around
    from .slices import Slice

    Suspect = tuple[Event, Rule[Any]]
    Nodes = dict[tuple[str, Span], libcst.CSTNode]


def visit(
    text: str,
    tree: ast.Module,
    suspects: Sequence[Suspect],
    path: str,
    broken: list[BrokenRule],
    target_torch: tuple[int, int] | None = None,
    around: Around | None = None,
    analysed: Analysed | None = None,
) -> list[Finding]:
    """Return what the rules say about their suspects, in order of position.

    `analysed` is the analysis that told of them, if it is at hand.
    A rule that raises, or reports what is no report, is added to `broken`.
    """
    rows = split_rows(text)
    file = File(text, tree, target_torch, around, analysed)
    found: dict[Finding, Finding] = {}
    waiting: dict[Span, list[Suspect]] = {}
    for event, rule in suspects:
        waiting.setdefault(event.at.span, []).append((event, rule))
    for part, spans in slices.cut(tree, rows, waiting).items():
        inside = [suspect for span in spans for suspect in waiting[span]]
        try:
            for finding in _in_slice(part, rows, inside, path, file, broken):
                found.setdefault(finding._replace(related=()), finding)
        except libcst.ParserSyntaxError as error:
            unread = unsupported(path, part.first, error.message)
            found[unread] = unread
        except (RecursionError, KeyError) as error:
            if not _too_deep(error):
                raise
            unread = too_deep(path, part.first)
            found[unread] = unread
    file.release()
    return sorted(found.values(), key=lambda finding: finding[:5])


def _too_deep(error: BaseException | None) -> bool:
    """Whether an exception comes of recursion: LibCST raises KeyError while it leaves what was too deep."""
    while error is not None and not isinstance(error, RecursionError):
        error = error.__context__
    return error is not None


def _in_slice(
    part: Slice,
    rows: Sequence[str],
    suspects: Sequence[Suspect],
    path: str,
    file: File,
    broken: list[BrokenRule],
) -> Iterator[Finding]:
    """Run the rules on one slice, or on the whole file where the slice does not parse on its own."""
    try:
        wrapper, nodes = _nodes(part, suspects)
    except libcst.ParserSyntaxError:
        part = slices.whole(rows)
        wrapper, nodes = _nodes(part, suspects)
    positions = wrapper.resolve(PositionProvider)
    ask = Questions(file, part, positions)
    reports = [
        (report, rule, event)
        for event, rule in suspects
        if (node := nodes.get((event.at.node, event.at.span))) is not None
        for report in _reports(rule, node, event, ask, path, broken)
    ]
    if not reports:
        return
    ends = logical_ends(rows, part.first, max(event.at.span.line for _, _, event in reports))
    renderer = Renderer(wrapper.module, positions, part)
    for report, rule, event in reports:
        span, severity = event.at.span, report.severity or rule.severity
        project = file.around.project
        default = project.default_device() if project is not None and is_by_default(event) else ""
        if default == "above":
            continue  # what runs this file has it made elsewhere
        if severity is Severity.ERROR and (is_presumed(event) or default):
            severity = Severity.WARNING
        idle = "demo" in event.at.context or file.is_unused(span.line) or file.is_never_reached(span)
        if idle and severity is not Severity.NOTE:
            severity = Severity.WARNING if severity is Severity.ERROR else Severity.NOTE  # nobody runs it
        if severity is not Severity.NOTE and file.stays_on_cpu(span.line):
            severity = Severity.NOTE
        try:
            fix = renderer.render(_as_safe_as(report.change, event)) if report.change else None
        except Exception as error:  # a change that makes no code
            if _too_deep(error):
                raise
            broken.append(BrokenRule(rule.code, path, span.line, error))
            fix = None
        after = bisect_left(ends, span.line)
        yield Finding(
            path,
            Position(span.line, span.column + 1),
            Position(span.end_line, span.end_column + 1),
            rule.code,
            rule.name,
            severity,
            brief(report.message),
            report.reason,
            fix,
            ends[after] if after < len(ends) else span.line,
            related=_related(report, rule, event, ask, path, file, broken),
        )


def _as_safe_as(change: Change, event: Event) -> Change:
    """Return a change that is safe only if the event is as it seems."""
    return change._replace(safe=False) if is_presumed(event) else change


def _related(
    report: Report,
    rule: Rule[Any],
    event: Event,
    ask: Questions,
    path: str,
    file: File,
    broken: list[BrokenRule],
) -> tuple[Related, ...]:
    try:
        return related(report, event, ask, path, file.around.project)
    except FAULTS as error:  # places that are none
        if _too_deep(error):
            raise
        broken.append(BrokenRule(rule.code, path, event.at.span.line, error))
        return ()


def _nodes(part: Slice, suspects: Sequence[Suspect]) -> tuple[MetadataWrapper, Nodes]:
    """Parse a slice and find the nodes of the suspects in it."""
    wrapper = MetadataWrapper(libcst.parse_module(part.text), unsafe_skip_copy=True)
    finder = _Finder(part, {(event.at.node, event.at.span) for event, _ in suspects})
    wrapper.visit(finder)
    return wrapper, finder.found


def _reports(
    rule: Rule[Any], node: libcst.CSTNode, event: Event, ask: Ask, path: str, broken: list[BrokenRule]
) -> list[Report]:
    """Return what a rule reports, up to where it raises."""
    found: list[Report] = []
    try:
        found.extend(_sound(report) for report in rule.visit(node, event, ask))
    except FAULTS as error:
        broken.append(BrokenRule(rule.code, path, event.at.span.line, error))
    return found


def _sound(report: object) -> Report:
    """Return what a rule yields if the formats can print it."""
    if (
        isinstance(report, Report)
        and isinstance(report.message, str)
        and isinstance(report.reason, str)
        and isinstance(report.severity, Severity | None)
        and _is_because(report.because)
    ):
        return report
    raise TypeError(f"`visit` yields a Report, not {report!r}")


def _is_because(because: object) -> bool:
    return because is None or (
        isinstance(because, tuple)
        and all(
            isinstance(pair, tuple)
            and len(pair) == 2
            and isinstance(pair[0], Spot | Span | libcst.CSTNode | None)
            and isinstance(pair[1], str)
            for pair in because
        )
    )


class _Finder(libcst.CSTVisitor):
    """Collects the nodes of the classes and places that the events name."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, part: Slice, wanted: set[tuple[str, Span]]) -> None:
        super().__init__()
        self.part = part
        self.wanted = wanted
        self.types = {node_type for node_type, _ in wanted}
        self.found: Nodes = {}

    def on_visit(self, node: libcst.CSTNode) -> bool:
        """Remember a wanted node; go on below it, as events nest."""
        name = type(node).__name__
        if name in self.types:
            place = self.get_metadata(PositionProvider, node)
            start = self.part.to_file(place.start.line, place.start.column)
            key = name, Span(*start, *self.part.to_file(place.end.line, place.end.column))
            if key in self.wanted:
                self.found[key] = node
        return True
