"""The other places that explain a finding: words for what the inference knows, and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..console import shown
from ..core.events import Call, Meeting, Move, Spot
from ..finding import Position, Related
from ..span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..core.events import Event, Seen
    from ..rule import Report
    from .around import Project
    from .ask import Questions

_MOST = 4
"""More places do not explain more."""
_SHORT = 30
"""Characters of an expression that a sentence may quote."""


def related(
    report: Report, event: Event, ask: Questions, path: str, project: Project | None
) -> tuple[Related, ...]:
    """Return the places that a report names, or those that its event has."""
    because = report.because if report.because is not None else tuple((spot, "") for spot in _spots(event))
    found: dict[Related, None] = {}
    for at, said in because:
        if at is None:
            continue
        message = said or (_words(at) if isinstance(at, Spot) else "")
        where = _where(at, ask, project)
        if where is None or (not where[0] and where[1] == event.at.span):
            continue
        file, span = where
        start, end = Position(span.line, span.column + 1), Position(span.end_line, span.end_column + 1)
        found[Related(shown(file) if file else path, start, end, message)] = None
    return tuple(found)[:_MOST]


def _spots(event: Event) -> Iterator[Spot]:
    """Yield the places that explain an event of its own."""
    sides: tuple[Seen | None, ...] = ()
    if isinstance(event, Meeting):
        sides = event.left, event.right
    elif isinstance(event, Call):
        sides = (event.receiver,)
    elif isinstance(event, Move):
        for holder in event.holders:
            if holder.spot is not None:
                yield holder.spot._replace(label=holder.name)
    for side in sides:
        for spot in side.spots if side is not None else ():
            yield spot._replace(label=spot.label or side.label) if side is not None and side.label else spot


def _words(spot: Spot) -> str:
    """Say what happens at a place."""
    what = f"`{spot.label}`" if spot.label else "it"
    device = "" if not spot.place else "the cpu" if spot.place == "cpu" else f"`{spot.place}`"
    if spot.how == "yielded":
        return f"it comes from {what}" if len(spot.label) <= _SHORT else "it comes from here"
    if spot.how == "built":
        return f"{what} is built here"
    if spot.how == "met":
        return "they meet here"
    if spot.how == "moved":
        return f"{what} is moved to {device} here" if device else f"{what} is moved here"
    if spot.how == "put":
        return f"{what} is put on {device} here" if device else f"{what} is moved here"
    return f"{what} is made on {device} here" if device else f"{what} is made here"


def _where(at: object, ask: Questions, project: Project | None) -> tuple[str, Span] | None:
    """Return the file, empty for this one, and the span."""
    if isinstance(at, Spot):
        if at.span is not None:
            return at.path, at.span
        return project.locate(at.node) if project is not None and at.node is not None else None
    if isinstance(at, Span):
        return "", at
    return "", ask.span(at)  # type: ignore[arg-type]
