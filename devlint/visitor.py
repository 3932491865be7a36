"""Walks the concrete syntax around suspects with LibCST and runs the rules on the nodes they suspect."""

from __future__ import annotations

import ast
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import libcst
from libcst.metadata import MetadataWrapper, PositionProvider

from . import slices
from .change import Renderer
from .errors import broken_rule
from .finding import Finding, Position
from .logical import logical_ends
from .span import Span
from .text import split_rows
from .unreadable import too_deep, unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .rule import Fact, Report, Rule
    from .slices import Slice

    Suspect = tuple[Fact, Rule[Any]]
    Nodes = dict[tuple[str, Span], libcst.CSTNode]


def visit(text: str, tree: ast.Module, suspects: Sequence[Suspect], path: str) -> list[Finding]:
    """Return what the rules say about their suspects, in order of position."""
    rows = split_rows(text)
    found: set[Finding] = set()  # a fact may be observed twice, as when a loop body is inferred again
    waiting: dict[Span, list[Suspect]] = {}
    for fact, rule in suspects:
        waiting.setdefault(fact.span, []).append((fact, rule))
    for part, spans in slices.cut(tree, rows, waiting).items():
        inside = [suspect for span in spans for suspect in waiting[span]]
        try:
            found.update(_in_slice(part, rows, inside, path))
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


def _in_slice(part: Slice, rows: Sequence[str], suspects: Sequence[Suspect], path: str) -> Iterator[Finding]:
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
        for report in _reports(rule, node, fact, path)
    ]
    if not reports:
        return
    ends = logical_ends(rows, part.first, max(span.line for _, _, span in reports))
    renderer = Renderer(wrapper.module, wrapper.resolve(PositionProvider), part)
    for report, rule, span in reports:
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
            renderer.render(report.change) if report.change else None,
            ends[after] if after < len(ends) else span.line,
        )


def _nodes(part: Slice, suspects: Sequence[Suspect]) -> tuple[MetadataWrapper, Nodes]:
    """Parse a slice and find the nodes of the suspects in it."""
    wrapper = MetadataWrapper(libcst.parse_module(part.text), unsafe_skip_copy=True)
    finder = _Finder(part, {(fact.node_type, fact.span) for fact, _ in suspects})
    wrapper.visit(finder)
    return wrapper, finder.found


def _reports(rule: Rule[Any], node: libcst.CSTNode, fact: Fact, path: str) -> list[Report]:
    try:
        return list(rule.visit(node, fact))
    except Exception as error:
        raise broken_rule(rule.code, path, fact.span.line, error) from error


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
