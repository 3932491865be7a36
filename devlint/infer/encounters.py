"""What comes together though it is apart, as events."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from ..bind.position import encloses, position
from ..core import events as event
from ..core.events import Conflict, Meets, Seen, Spot, Why
from ..core.evidence import Evidence
from ..core.kinds import TENSORS, Kind
from ..core.met import Met
from ..core.paths import Element, Ref
from ..core.places import CPU, UNKNOWN_PLACE, Form, Place, literal
from ..core.values import ENCODED, MADE, Origin, Value
from ..span import Span
from .apart import Apart, apart, given, hosted
from .attached import Attached, attached
from .behind import Behind
from .definitions import Function
from .foreign import foreign
from .forgotten import Forgotten, forgotten
from .halves import Half, halves
from .hidden import abroad, of_parts
from .late import Late, late
from .log import RawMeeting
from .refilled import Refilled, refilled
from .replaced import Replaced, replaced
from .results import results
from .settle import Clash
from .shown import SURELY_APART, Told
from .siblings import left_out, siblings
from .sight import Sight
from .stays import Stays, staying
from .unlike import unlike


class Encounters(Sight):
    """Turns what comes together into meetings."""

    def meetings(self) -> Iterator[event.Meeting]:
        """Values that come together though they are apart, or may be."""
        found: dict[object, event.Meeting] = {}
        sure = set()
        clashes = list(self.settled.clashes())
        copies = {spot: key for key, clash in clashes if (spot := self._in_callee(clash)) is not None}
        for key, clash in clashes:
            if clash.partly and not clash.itself and self._presumed.is_of_any_model(clash.own):
                continue
            told = self._clash(clash)
            own = copies.get(self._met_at(clash.raw), key) if clash.raw is not None else key
            if own != key:  # the function that it is given to moves a copy: that is where to cure it
                if told.conflict is Conflict.CERTAIN:
                    sure.add(own)
                continue
            if told.conflict is Conflict.CERTAIN and clash.itself:
                sure.add(key)
            if key not in found or told.at.span < found[key].at.span:
                found[key] = told
        for clash in unlike(self.settled, self._judged):
            if found.keys().isdisjoint(((clash.part, clash.function), (clash.whole, clash.function))):
                found[clash.whole, clash.function] = self._clash(clash)
        copied = [(each, copies.get(self._met_at(each.raw))) for each in self._found_behind]
        sure.update(key for each, key in copied if key is not None and each.conflict is Conflict.CERTAIN)
        for key, told in found.items():
            guessed = told.conflict is Conflict.PRESUMED and key in sure
            yield told._replace(conflict=Conflict.CERTAIN) if guessed else told
        gave = list(results(self.settled, self._judged))
        for stays in staying(self.settled, self._judged, gave):
            yield from self._staying(stays)
        for stays in foreign(self.settled, self._judged):
            for told in self._staying(stays):
                yield told._replace(left=told.left._replace(kind=Kind.MODULE, presumed=True))
        for found_filled in refilled(self.settled):
            yield self._refilled(found_filled)
        for half in (*siblings(self.settled), *left_out(self.settled)):
            told = self._half(half)
            yield told._replace(how="beside", left=told.left._replace(presumed=True))
        for left_behind in forgotten(self.settled, self._judged, gave):
            yield self._forgotten(left_behind)
        for found_late in late(self.settled, self._judged):
            yield self._late(found_late)
        for half in halves(self.settled):
            yield self._half(half)
        for put in attached(self.settled, self._judged):
            yield self._attached(put)
        elsewhere = {id(behind) for _, behind in of_parts(self.settled, self._found_behind)}
        elsewhere.update(id(each) for each, key in copied if key is not None)
        for behind in self._found_behind:
            made = self._behind(behind) if id(behind) not in elsewhere else None
            if made is not None:
                yield made
        told_at = {
            (each.origin.function, each.origin.at) for each in self._found_behind if not each.origin.attribute
        }
        for anew in replaced(self.settled, self._judged):
            origin = anew.raw.value.origin
            if origin is not None and (origin.function, origin.at) not in told_at:
                yield self._replaced(anew, origin)
        for behind in abroad(self.settled, self._found_behind):
            yield self._abroad(behind)
        for parted in apart(self.settled, self._judged):
            yield self._apart(parted)
        for parted in given(self.settled, self._judged):
            yield self._apart(parted)._replace(conflict=Conflict.GIVEN)
        for parted, conflict in hosted(self.settled, self._judged):
            told = self._apart(parted)
            presumed = told.conflict is Conflict.PRESUMED and conflict is not Conflict.GIVEN
            yield told if presumed else told._replace(conflict=conflict)

    def rehearsed(self, told: list[event.Event]) -> list[event.Event]:
        """All that is to be told, with what the programs that run this file show to go wrong besides."""
        index = self.file.index if not self.sections else None
        met = index.rehearsed(self.file.tree) if index is not None else ()
        if not met:
            return told
        nodes = {
            (*position(node), type(node).__name__): node
            for node in self.file.nodes
            if hasattr(node, "lineno")
        }
        known = Told(told)
        found: dict[Span, event.Event] = {}
        for each in met:
            node = nodes.get((*each.home.at, each.home.node))
            if isinstance(node, ast.expr):
                span = self.text.span(node)
                if not known.covers(each, span, self._enclosing(node).name):
                    found[span] = self._rehearsed(each, node)
        kept = (each for each in told if not isinstance(each, event.Meeting) or each.at.span not in found)
        return [*(known.settled.get(id(each), each) for each in kept), *found.values()]

    def _rehearsed(self, met: Met, node: ast.expr) -> event.Meeting | event.Bind:
        function = self._enclosing(node)
        span = self.text.span(node)
        origin = Origin(met.origin, function.name, function.number(node), dims=met.dims)
        made = met.made
        if met.kind == "hidden" and isinstance(node, ast.Attribute):
            held = Seen(Kind.CONTAINER, UNKNOWN_PLACE, None, met.label)
            hidden = event.Hidden(Kind.MODULE, "list", given=False, replaceable=False)
            where = self.at(node, function.name, Why(), 0)
            return event.Bind(where, "attribute", None, node.attr, held, hidden)
        kind = {"tensor": Kind.TENSOR, "batch": Kind.BATCH}.get(met.kind, Kind.MODULE)
        left = Seen(
            kind,
            literal(met.place),
            None,
            met.label,
            origin if met.how != "array" else None,
            certain=True,
            span=span,
            made_here=met.origin == "factory" and met.made is None,
            spots=() if made is None else (Spot("made", Span(*made.at), "", CPU.name, path=made.path),),
        )
        here = met.here.path if met.here.path != met.home.path else ""
        spot = Spot("met", Span(*met.here.at), "", "", path=here)
        right = Seen(Kind.TENSOR, literal(met.there), None, met.other, certain=True, spots=(spot,))
        at = self.at(node, function.name, Why(), 0)
        left = left._replace(presumed=met.presumed)
        surely = Conflict.PRESUMED if met.presumed or met.tried else Conflict.CERTAIN
        return event.Meeting(at, met.how, left, right, surely, met.partly)

    def _enclosing(self, node: ast.expr) -> Function:
        """The function that a node stands in."""
        around = [each for each in self.file.functions.values() if encloses(each.node, node)]
        return max(around, key=lambda each: getattr(each.node, "lineno", 0), default=self.file.module)

    def _in_callee(self, clash: Clash) -> object:
        """Where a function has moved a copy of a parameter, and that itself meets something."""
        copied = clash.part in self.settled.copied and self.settled.objects.is_parameter(clash.part)
        return self._met_at(clash.raw) if copied and clash.raw is not None else None

    def _met_at(self, raw: RawMeeting) -> object:
        """What stands where values come together, in what is called or else in the function itself."""
        if raw.within is None:
            return raw.left
        name, number = raw.within
        home = self.file.functions.get(name)
        return home.nodes[number] if home is not None and number < len(home.nodes) else raw.within

    def _clash(self, clash: Clash) -> event.Meeting:
        labels = self.settled.objects.labels
        raw = clash.raw
        why, loops = (raw.why, raw.loops) if raw is not None else (Why(), 0)
        conflict = Conflict.PRESUMED if clash.guessed or self._is_presumed(clash) else Conflict.CERTAIN
        conflict = Conflict.BRANCHES if clash.conditional else conflict
        other = self.text.quote(clash.other)
        if not clash.certain:
            conflict, other = Conflict.CALLER, labels[clash.by if clash.by >= 0 else clash.part]
        looped = clash.whole >= 0 and isinstance(self.settled.objects.ways[clash.whole], Element)
        own = clash.certain and clash.part >= 0
        origin = Origin("loader", clash.function, -1) if looped else None
        left = Seen(
            Kind.BATCH,
            self.named(clash.here),
            clash.part if own else None,
            (labels[clash.by] if own else "") or self.text.quote(clash.at),
            origin,
            span=self.text.span(clash.at),
            within=self.settled.loader_name(clash.whole),
            spots=self._spots_of_batch(clash),
        )
        spots = self.tracer.of(clash.met, clash.there, clash.function, clash.at)
        right = Seen(Kind.UNKNOWN, self.named(clash.there), None, other, spots=spots)
        right = right if raw is None else self._met(right, raw)
        how: Meets = raw.how if raw is not None else "call"
        at = self.at(clash.at, clash.function, why, loops)
        copied = clash.part in self.settled.copied
        return event.Meeting(at, how, left, right, conflict, clash.partly, copied=copied)

    def _met(self, seen: Seen, raw: RawMeeting) -> Seen:
        """One side of a meeting, with where they meet, if that is in what is called."""
        spot = self.tracer.spot("met", *raw.within, UNKNOWN_PLACE) if raw.within is not None else None
        if spot is None:
            return seen
        name = self.settled.objects.labels[seen.who] if seen.who is not None else ""
        part = name.startswith(f"{seen.label}.")  # of the object whose method is called here
        return seen._replace(label=name if part else seen.label, spots=(*seen.spots, spot))

    def _is_presumed(self, clash: Clash) -> bool:
        """Whether a batch is on the cpu, or what it meets elsewhere, or they meet at all, by a guess."""
        if clash.in_loss or self._presumed.is_place(clash.met, clash.there):
            return True
        if clash.whole >= 0 and self._is_deep(clash.part, clash.whole):
            return True  # it may have it from elsewhere
        if clash.partly and self._is_moved_by_callees(clash):
            return True  # which may be used to bring what is there already
        if clash.partly or clash.whole < 0:
            return clash.part == clash.whole and self.settled.objects.is_parameter(clash.part)
        return clash.here.form is not Form.CPU or self.settled.objects.parents[clash.whole] in self._doubted

    def _is_moved_by_callees(self, clash: Clash) -> bool:
        """Whether it is only functions that were called which move the rest of what a caller gives."""
        log, objects = self.settled.logs[clash.function], self.settled.objects
        moves = [node for (ref, _), node in log.moved_at.items() if objects.wholes[ref] == clash.whole]
        given = clash.whole >= 0 and objects.is_parameter(objects.top(clash.whole))
        return given and bool(moves) and not any(node in log.moves for node in moves)

    def _is_deep(self, part: Ref, whole: Ref) -> bool:
        """Whether a caller gave something that has a value some layers down: `results["mask"]["disp"]`."""
        objects, depth = self.settled.objects, 0
        while part >= 0 and part != whole:
            if isinstance(objects.ways[part], Element):
                return False
            part, depth = objects.owner(part), depth + 1
        return depth > 1 and objects.is_parameter(whole)

    @cached_property
    def _doubted(self) -> set[Ref]:
        """Loaders of datasets that callers give."""
        return {ref for log in self.settled.logs.values() for ref in log.doubted}

    def _spots_of_batch(self, clash: Clash) -> tuple[Spot, ...]:
        if clash.conditional:
            return self.tracer.moves(clash.moves)
        return self.tracer.of_batch(clash.part, clash.whole)

    def _staying(self, found: Stays) -> Iterator[event.Meeting]:
        """A module that is never moved; told where it was made, or where another file gives it."""
        origin, raw = found.module.origin, found.raw
        if origin is None:
            return
        made, function = self.node(origin.function, origin.at), origin.function
        left = self.traced(found.module, CPU, found.at, found.function)
        if not isinstance(made, ast.expr):
            made, function = self._brought_by(found.module)
            spot = self.tracer.spot("made", origin.function, origin.at, CPU)
            left = left._replace(spots=(spot,) if spot is not None else ())
        if not isinstance(made, ast.expr):
            return  # of the statements of another file
        right = self.traced(found.value, found.there, found.given, found.function)
        right = self._met(right, raw) if isinstance(raw, RawMeeting) else right
        at = self.at(made, function, raw.why, raw.loops)
        surely = _surely(left, right) if found.conflict is Conflict.CERTAIN else found.conflict
        yield event.Meeting(at, found.how, left, right, surely, sibling_moved=False)

    def _forgotten(self, found: Forgotten) -> event.Meeting:
        """A module that an object keeps on the cpu; told where the constructor assigns it."""
        raw = found.raw
        at = self.at(found.target, found.constructor, raw.why, raw.loops)
        left = self.traced(found.bind.value, CPU, found.target, found.function)
        right = self.traced(found.value, found.there, found.given, found.function)
        surely = _surely(left, right) if found.conflict is Conflict.CERTAIN else found.conflict
        return event.Meeting(at, found.how, left, right, surely, sibling_moved=False)

    def _late(self, found: Late) -> event.Meeting:
        """A part that a module makes when it runs; told where it is assigned."""
        raw = found.raw
        at = self.at(found.at, found.function, raw.why, raw.loops)
        left = self.traced(raw.value, CPU, found.at, found.function)
        right = self.seen(raw.owner, UNKNOWN_PLACE, None, found.function)
        return event.Meeting(at, "attribute", left, right, Conflict.GIVEN, sibling_moved=False)

    def _attached(self, found: Attached) -> event.Meeting:
        """A part that is made for a model which has been moved; told where it is assigned."""
        raw, there = found.raw, self.named(found.there)
        at = self.at(found.at, found.function, raw.why, raw.loops)
        left = self.traced(raw.value, CPU, found.at, found.function)
        right = self.seen(raw.owner, there, found.at.value, found.function)
        return event.Meeting(at, "attribute", left, right, Conflict.BRANCHES, sibling_moved=False)

    def _replaced(self, found: Replaced, origin: Origin) -> event.Meeting:
        """A buffer that another tensor is put for; told where that is made."""
        raw = found.raw
        made = self.node(origin.function, origin.at)
        left = self.traced(raw.value, CPU, found.at, found.function)
        name = ast.unparse(found.at)
        right = Seen(Kind.TENSOR, UNKNOWN_PLACE, None, name, span=self.text.span(found.at))
        at = self.at(made if isinstance(made, ast.expr) else found.at, origin.function, raw.why, raw.loops)
        told = event.Meeting(at, "attribute", left, right, Conflict.PRESUMED, sibling_moved=False)
        return told._replace(device=f"{name}.device" if origin.function == found.function else "")

    def _half(self, found: Half) -> event.Meeting:
        """A module that one of two branches leaves on the cpu; told where that makes it."""
        raw, function = found.raw, found.function
        home = self.file.functions.get(function, self.file.module)
        origin = Origin("made", function, home.number(found.made))
        left = Seen(Kind.MODULE, CPU, None, found.name, origin, span=self.text.span(found.made))
        assert raw.target is not None
        spot = Spot("moved", self.text.span(found.moved), found.name, self.named(raw.target).name)
        right = left._replace(place=self.named(raw.target), origin=None, spots=(spot,))
        at = self.at(found.made, function, raw.why, raw.loops)
        return event.Meeting(at, "join", left, right, Conflict.BRANCHES, sibling_moved=False)

    def _refilled(self, found: Refilled) -> event.Meeting:
        """A module that is left on the cpu with what came from elsewhere; told where it is filled."""
        home = self.file.functions.get(found.function, self.file.module)
        origin = Origin("made", found.function, home.number(found.made))
        spot = Spot("made", self.text.span(found.made), found.name, CPU.name)
        left = Seen(Kind.MODULE, CPU, None, found.name, origin, spots=(spot,), presumed=True)
        place = Place(Form.SAME, found.source) if found.loaded else UNKNOWN_PLACE
        right = Seen(Kind.MODULE, place, None, found.source)
        at = self.at(found.at, found.function, Why(), 0)
        return event.Meeting(at, "state", left, right, Conflict.PRESUMED, sibling_moved=False)

    def _behind(self, found: Behind) -> event.Meeting | None:
        """A tensor that was made on the cpu; told where it was made, of an attribute where it is used."""
        origin, raw = found.origin, found.raw
        at, function, device = found.at, found.function, found.device
        node = self.node(origin.function, origin.at) if origin.how in MADE else None
        partly = False
        if origin.how == ENCODED and node is not None:
            # Told where it meets something, as what loaders yield.
            whole = self.settled.objects.made(origin.function, origin.at)
            partly = whole in self.settled.moved and found.conflict is not Conflict.BRANCHES
        elif isinstance(node, ast.expr):
            if not found.at_use:
                at, function = node, origin.function
        elif origin.how in MADE:
            if raw.inside or found.conflict not in SURELY_APART or self.file.outside.default is not None:
                return None  # in another file, which tells it if it can; or on the default device of this one
            at, device = self._given_by(found), ""
        left = self.traced(found.one, found.here, found.at, found.function)
        if found.at in self._called or (isinstance(found.at, ast.Name) and self._is_function(found.at.id)):
            left = left._replace(label="")  # it is made, and meets, in what is called there
        right = self._met(self.traced(found.other, found.there, found.other_at, found.function), raw)
        if right.kind in TENSORS and self.is_shown(found.other):
            right = right._replace(certain=True)
        if raw.how == "size" and type(found.other.who) is int:
            right = right._replace(label=self.settled.objects.labels[found.other.who], span=None)
        place = self.at(at, function, raw.why, raw.loops)
        if self.is_probed(found.at):
            place = place._replace(context=place.context | {"probe"})
        return event.Meeting(
            place,
            raw.how,
            left,
            right,
            found.conflict,
            sibling_moved=partly,
            device=device,
        )

    def _brought_by(self, value: Value) -> tuple[ast.AST | None, str]:
        """The call of what another file defines that gave an object, and the function that it stands in."""
        made = self.settled.made_by(value.who) if type(value.who) is int else None
        for function, log in self.settled.logs.items():
            if any(site.at is made for site in log.abroad):
                return made, function
        return None, ""

    def _given_by(self, found: Behind) -> ast.expr:
        """The call of what another file defines that gave a tensor, else where that meets something."""
        made = self.settled.made_by(found.one.who) if type(found.one.who) is int else None
        abroad = self.settled.logs[found.function].abroad
        if isinstance(made, ast.Call) and any(site.at is made for site in abroad):
            return made
        return found.at

    def _abroad(self, found: Behind) -> event.Meeting:
        """A plain tensor of a module whose class another file defines; told where it is used."""
        left = self.traced(found.one, found.here, found.at, found.function)
        origin = found.origin._replace(how="abroad")
        right = self.traced(found.other, found.there, found.other_at, found.function)
        at = self.at(found.at, found.function, found.raw.why, found.raw.loops)
        left = left._replace(origin=origin)
        return event.Meeting(at, found.raw.how, left, right, found.conflict, sibling_moved=False)

    def _apart(self, found: Apart) -> event.Meeting:
        """What the program put in two places; told at the side that is on the cpu, or that stands first."""
        raw = found.raw
        left = self.traced(found.one, found.here, found.at, found.function)
        if found.perhaps or (left.origin is None and left.place.form is Form.LITERAL):
            left = left._replace(kind=Kind.TENSOR, origin=Origin("moved", found.function, -1))
        elif left.origin is not None and left.place.form is Form.LITERAL:
            left = left._replace(origin=left.origin._replace(how="literal"))
        elif left.origin is not None and left.origin.how in MADE:
            left = left._replace(origin=left.origin._replace(how="made"))  # and to be moved by its caller
        right = self._met(self.traced(found.other, found.there, found.other_at, found.function), raw)
        if left.label == right.label and type(found.one.who) is int:  # both are parts of what is called there
            left = left._replace(label=self.settled.objects.labels[found.one.who] or left.label)
        at = self.at(found.at, found.function, raw.why, raw.loops)
        surely = Conflict.PRESUMED if found.perhaps else _surely(left, right)
        if raw.how == "operator" and not self._has_dimensions(found.one, left.certain):
            surely = Conflict.PRESUMED  # with none it may meet what is anywhere
        return event.Meeting(at, raw.how, left, right, surely, sibling_moved=False)

    def _has_dimensions(self, value: Value, certain: bool) -> bool:
        """Whether anything but a guess says that a tensor has dimensions."""
        if type(value.who) is int and self.settled.seen(value.who) & Evidence.SHAPED:
            return True
        return certain and not self._presumed.is_of_any_model(value)

    @cached_property
    def _called(self) -> set[ast.AST]:
        """What the calls of the file call: what was bound to that before stands there as well."""
        return {node.func for node in self.file.nodes if isinstance(node, ast.Call)}

    def _is_function(self, name: str) -> bool:
        return any(function.own_name == name for function in self.file.functions.values())


def _surely(*sides: Seen) -> Conflict:
    """How surely values are apart that the program itself put there, if they are what they seem to be."""
    return Conflict.PRESUMED if any(side.presumed for side in sides) else Conflict.CERTAIN
