"""Walks the concrete syntax around suspects with LibCST and runs the rules on the nodes they suspect."""

from __future__ import annotations

import ast
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import libcst
from libcst.metadata import MetadataWrapper, PositionProvider

from . import slices
from .change import Renderer
from .errors import FAULTS, BrokenRule
from .finding import Finding, Position, Severity
from .logical import logical_ends
from .rule import Report
from .span import Span
from .text import split_rows
from .unreadable import too_deep, unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .rule import Fact, Rule
    from .slices import Slice

    Suspect = tuple[Fact, Rule[Any]]
    Nodes = dict[tuple[str, Span], libcst.CSTNode]


def visit(
    text: str, tree: ast.Module, suspects: Sequence[Suspect], path: str, broken: list[BrokenRule]
) -> list[Finding]:
    """Return what the rules say about their suspects, in order of position.

    A rule that raises, or reports what is no report, is added to `broken`.
    """
    rows = split_rows(text)
    found: set[Finding] = set()  # a fact may be observed twice, as when a loop body is inferred again
    waiting: dict[Span, list[Suspect]] = {}
    for fact, rule in suspects:
        waiting.setdefault(fact.span, []).append((fact, rule))
    for part, spans in slices.cut(tree, rows, waiting).items():
        inside = [suspect for span in spans for suspect in waiting[span]]
        try:
            found.update(_in_slice(part, rows, inside, path, broken))
        except libcst.ParserSyntaxError as error:
            found.add(unsupported(path, part.first, error.message))
        except (RecursionError, KeyError) as error:
            if not _too_deep(error):
                raise
            found.add(too_deep(path, part.first))
    return sorted(found, key=lambda finding: finding[:5])


def _too_deep(error: BaseException | None) -> bool:
    """Whether an exception comes of recursion: LibCST raises KeyError while it leaves what was too deep."""
    while error is not None and not isinstance(error, RecursionError):
        error = error.__context__
    return error is not None


def _in_slice(
    part: Slice, rows: Sequence[str], suspects: Sequence[Suspect], path: str, broken: list[BrokenRule]
) -> Iterator[Finding]:
    """Run the rules on one slice, or on the whole file where the slice does not parse on its own."""
    try:
        wrapper, nodes = _nodes(part, suspects)
    except libcst.ParserSyntaxError:
        part = slices.whole(rows)
        wrapper, nodes = _nodes(part, suspects)
    reports = [
        (report, rule, fact.span)
        for fact, rule in suspects
        if (node := nodes.get((fact.node_type, fact.span))) is not None
        for report in _reports(rule, node, fact, path, broken)
    ]
    if not reports:
        return
    ends = logical_ends(rows, part.first, max(span.line for _, _, span in reports))
    renderer = Renderer(wrapper.module, wrapper.resolve(PositionProvider), part)
    for report, rule, span in reports:
        try:
            fix = renderer.render(report.change) if report.change else None
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
            report.severity or rule.severity,
            report.message,
            report.reason,
            fix,
            ends[after] if after < len(ends) else span.line,
        )


def _nodes(part: Slice, suspects: Sequence[Suspect]) -> tuple[MetadataWrapper, Nodes]:
    """Parse a slice and find the nodes of the suspects in it."""
    wrapper = MetadataWrapper(libcst.parse_module(part.text), unsafe_skip_copy=True)
    finder = _Finder(part, {(fact.node_type, fact.span) for fact, _ in suspects})
    wrapper.visit(finder)
    return wrapper, finder.found


def _reports(
    rule: Rule[Any], node: libcst.CSTNode, fact: Fact, path: str, broken: list[BrokenRule]
) -> list[Report]:
    """Return what a rule reports, up to where it raises."""
    found: list[Report] = []
    try:
        found.extend(_sound(report) for report in rule.visit(node, fact))
    except FAULTS as error:
        broken.append(BrokenRule(rule.code, path, fact.span.line, error))
    return found


def _sound(report: object) -> Report:
    """Return what a rule yields if the formats can print it."""
    if (
        isinstance(report, Report)
        and isinstance(report.message, str)
        and isinstance(report.reason, str)
        and isinstance(report.severity, Severity | None)
    ):
        return report
    raise TypeError(f"`visit` yields a Report, not {report!r}")


class _Finder(libcst.CSTVisitor):
    """Collects the nodes of the classes and places that the facts name."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, part: Slice, wanted: set[tuple[str, Span]]) -> None:
        super().__init__()
        self.part = part
        self.wanted = wanted
        self.types = {node_type for node_type, _ in wanted}
        self.found: Nodes = {}

    def on_visit(self, node: libcst.CSTNode) -> bool:
        """Remember a wanted node; go on below it, as facts nest."""
        name = type(node).__name__
        if name in self.types:
            place = self.get_metadata(PositionProvider, node)
            start = self.part.to_file(place.start.line, place.start.column)
            key = name, Span(*start, *self.part.to_file(place.end.line, place.end.column))
            if key in self.wanted:
                self.found[key] = node
        return True
