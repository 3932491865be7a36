"""What is told of a file already, where its programs show that something goes wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..core import events as event
from ..core.events import Conflict, Seen
from ..core.kinds import Kind
from ..core.met import Met
from ..core.places import ON_DEVICE, Place, literal
from ..span import Span

SURELY_APART = (Conflict.CERTAIN, Conflict.PORTABLE, Conflict.PRESUMED)
"""How surely values have to be apart, to be told where one of them is used."""


class Told:
    """The events of a file, by what they say and where; what programs show makes some of them certain."""

    def __init__(self, told: Iterable[event.Event]) -> None:
        """Look at what is told."""
        self.settled: dict[int, event.Event] = {}
        """By the identity of what was told: what is to be told in its stead."""
        self._said = set[Span | None]()
        """Where something is said to be apart for sure, or not to be registered."""
        self._hidden = set[int]()
        """The lines where objects have what they do not know of."""
        self._modules: dict[int, event.Meeting] = {}
        """By the lines where they are assigned, or made: modules that stay behind, or may."""
        self._batches = set[tuple[str, str]]()
        """In which function what of a batch stays behind."""
        self._passed = set[int]()
        """The lines where it is passed on."""
        self._likely: dict[Span, event.Meeting] = {}
        self._readers: dict[Span, event.Call] = {}
        for each in told:
            if isinstance(each, event.Meeting):
                self._add_meeting(each)
            elif isinstance(each, event.Bind) and each.hidden is not None:
                self._said.add(each.at.span)
                self._hidden.add(each.at.span.line)
            elif isinstance(each, event.Call):
                self._readers.update((span, each) for span in _read(each))

    def _add_meeting(self, told: event.Meeting) -> None:
        sure = told.conflict in SURELY_APART
        if sure:
            self._said.update((told.at.span, told.left.span, told.right.span))
            spots = (*told.left.spots, *told.right.spots)
            self._said.update(spot.span for spot in spots if spot.how == "met" and not spot.path)
        if told.left.kind is Kind.MODULE:
            self._modules.setdefault(told.at.span.line, told)
        if told.left.kind is Kind.BATCH and (sure or told.conflict is Conflict.BRANCHES):
            self._batches.add((told.at.function, told.left.label))
            self._passed.add(told.at.span.line)
        self._likely.update((span, told) for span in _sides(told))

    def covers(self, met: Met, span: Span, function: str) -> bool:
        """Whether what a program shows is told already, if only as what may be: then it is certain by now.

        `span` and `function` are where what is to be changed stands.
        """
        kept = met.kept.at[0] if met.kept is not None and met.kept.path == met.home.path else span.line
        others = (at for at in (met.here, met.via) if at is not None and at.path == met.home.path)
        near = {span, *(Span(*at.at) for at in others)}
        if met.kind == "batch" and ((function, met.label) in self._batches or span.line in self._passed):
            return True
        if {span.line, kept} & self._hidden:
            return True
        if met.kind == "module" and {span.line, kept} & self._modules.keys():
            return self._settle(self._modules.get(span.line) or self._modules[kept], met)
        if self._said & near:
            return True
        if met.how == "array" and span in self._readers:
            told = self._readers[span]
            self.settled[id(told)] = _reading(told, span, literal(met.place), presumed=met.tried)
            return True
        known = next((self._likely[at] for at in sorted(near) if at in self._likely), None)
        if known is None or known.at.span == span:
            return False
        return known.conflict is Conflict.NONE or self._settle(known, met)

    def _settle(self, told: event.Meeting, met: Met) -> bool:
        if told.left.kind is Kind.BATCH and told.left.origin is None:
            return True  # what others pass is moved: that is what is told of it
        right = told.right
        if told.conflict not in SURELY_APART and told.left.kind is Kind.MODULE:  # nobody knew what it meets
            right = right._replace(label=met.other, place=literal(met.there))
        surely = Conflict.PRESUMED if met.presumed or met.tried else Conflict.CERTAIN
        left = told.left._replace(presumed=told.left.presumed or met.presumed)
        self.settled[id(told)] = told._replace(conflict=surely, left=left, right=right)
        return True


def _read(told: event.Call) -> Iterator[Span]:
    """Where what stands that numpy reads in a call."""
    sides = (told.receiver, *told.given.values()) if "host-only" in told.topics else ()
    yield from (side.span for side in sides if side is not None and side.span is not None)


def _reading(told: event.Call, span: Span, place: Place, *, presumed: bool) -> event.Call:
    """A call by which numpy reads what is known to be on a device."""

    def seen(side: Seen) -> Seen:
        if side.span != span:
            return side
        said = side.place if side.place.form in ON_DEVICE else place
        kind = side.kind if side.kind is Kind.CONTAINER else Kind.TENSOR  # a list stays one, of tensors
        return side._replace(kind=kind, place=said, certain=True, presumed=side.presumed or presumed)

    receiver = seen(told.receiver) if told.receiver is not None else None
    return told._replace(receiver=receiver, given={name: seen(side) for name, side in told.given.items()})


def _sides(told: event.Meeting) -> Iterator[Span]:
    """Where a meeting is told, and where its sides stand."""
    yield told.at.span
    yield from (side.span for side in (told.left, told.right) if side.span is not None)
