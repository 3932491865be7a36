"""When all evidence is in: what each object was, which places conflict, and one cause for each conflict."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from .. import knowledge
from ..bind.names import statements_in
from ..core.evidence import IS_TENSOR, NO_NUMBER, NOT_A_TENSOR, Evidence, solve
from ..core.kinds import MAY_HOLD_TENSORS, TENSORS, Kind
from ..core.objects import Objects
from ..core.paths import Attr, Element, Item, Path, Ref, Root
from ..core.places import CPU, ON_DEVICE, Branch, Form, Place
from ..core.values import UNKNOWN, Defined, Value, is_any_model, is_made
from .file import File
from .graphs import is_of_graph
from .log import Feed, Kept, Log, MaybeLoss, RawBind, RawMeeting, RawMove, Site
from .stored import Stored
from .transfers import optimizers

_MAX_CHAIN = 4
"""Methods called on what methods gave, followed back so far."""
_SHOWN = IS_TENSOR | Evidence.SHAPED | Evidence.OPERAND


class Part(NamedTuple):
    """An element of a batch that nothing has moved."""

    ref: Ref
    whole: Ref
    on_cpu: bool
    at: Ref
    """What it goes by where it is used: itself, or the attribute that a method put it into."""


class Clash(NamedTuple):
    """Values that cannot come together."""

    function: str
    at: ast.expr
    here: Place
    part: Ref
    whole: Ref
    """-1 where it is no element of a batch."""
    other: ast.AST
    there: Place
    partly: bool
    """Whether another element of the same batch is moved."""
    certain: bool
    """Whether it fails whatever the caller does."""
    conditional: bool
    """Whether both are moved, but under conditions that can differ."""
    raw: RawMeeting | None
    met: Value = UNKNOWN
    """What is met."""
    moves: tuple[ast.Call, ...] = ()
    """Where both are moved under conditions, those moves."""

    itself: bool = False
    """Whether it is the element that meets, and not what something gave that was given it."""
    own: Value = UNKNOWN
    """What meets."""
    by: Ref = -1
    """What the element goes by where it meets."""
    in_loss: bool = False
    """Whether they only meet in something unknown, that is taken for a loss."""

    @property
    def guessed(self) -> bool:
        """Whether it is a model that is met, which may bring what it is given to where it is."""
        return is_any_model(self.met)


class Settled:
    """What is known of a file's objects in the end."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.objects: Objects = file.objects
        self.logs = file.logs
        self.evidence = self._solve()
        self._stored = Stored(file)
        self._asked_for: set[Ref] = set()
        self._used_of: dict[Ref, tuple[Ref, ...]] = {}
        self.kept: dict[Ref, set[Ref]] = {}
        """By whole, the elements of which a moved copy was kept, wherever it went."""
        self.moved: dict[Ref, set[Ref]] = {}
        """By whole, those that were moved to a device."""
        self.moved_to: dict[Ref, Place] = {}
        for log in self.logs.values():
            for kept in log.kept:
                self._keep(kept)

    # Evidence

    @cached_property
    def notes(self) -> dict[Ref, int]:
        """What the use of each object itself shows, without that of what comes of it."""
        found: dict[Ref, int] = {}
        for log in self.logs.values():
            for ref, bits in log.notes.items():
                found[ref] = found.get(ref, 0) | bits
        return found

    def _solve(self) -> dict[Ref, int]:
        notes = self.notes
        flows: list[tuple[Ref, Ref]] = []
        for log in self.logs.values():
            flows += log.flows
        for ref, sources in self.objects.sources.items():
            flows += ((source, ref) for source in sources)
        found = solve(notes, flows)
        losses = [
            party.who
            for log in self.logs.values()
            for loss in log.losses
            if found.get(loss.result, 0) & Evidence.DIFFERENTIATED
            and not any(found.get(ref, 0) & Evidence.MODULE for ref in (*loss.beside, loss.network))
            for _, _, party in loss.parties
            if type(party.who) is int
        ]
        if not losses:
            return found
        for who in losses:
            found[who] = found.get(who, 0) | Evidence.TENSOR
        return solve(found, flows)

    def becomes(self, ref: Ref) -> frozenset[str]:
        """What the use of an object, or of its parts, shows that it is."""
        return frozenset(name for name, refs in self._wholes_of.items() if ref in refs)

    @cached_property
    def sites(self) -> dict[str, list[tuple[str, Site]]]:
        """The calls of each function of this file, with the function that each stands in."""
        found: dict[str, list[tuple[str, Site]]] = {}
        for caller, log in self.logs.items():
            for site in log.sites:
                found.setdefault(site.callee, []).append((caller, site))
        for method, above in self.file.overrides():
            if method not in found and above in found:
                found[method] = [each for each in found[above] if self.file.are_of_one_class(each[0], above)]
        return found

    @cached_property
    def _wholes_of(self) -> dict[str, set[Ref]]:
        """What is the state of something, and what is a module, with all that it may be a part of."""
        found: dict[str, set[Ref]] = {}
        for name, bit in (("state", Evidence.RESTORED), ("module", Evidence.MODULE)):
            whole = found[name] = set()
            todo = [ref for ref, bits in self.evidence.items() if bits & bit]
            while todo:
                ref = todo.pop()
                if ref >= 0 and ref not in whole:
                    whole.add(ref)
                    todo += (self.objects.parents[ref], *self._sources(ref), *self._given_back.get(ref, ()))
                    if bit == Evidence.RESTORED:
                        todo += self.forms.get(ref, ())
        return found

    @cached_property
    def _given_back(self) -> dict[Ref, list[Ref]]:
        """By the results of calls of functions of this file, what those made and return, or a part of it."""
        found: dict[Ref, list[Ref]] = {}
        for callee, sites in self.sites.items():
            summary = self.file.summary(callee)
            whole = summary.returns.who if summary is not None else None
            if not isinstance(whole, Path) or whole.root.kind != "made":
                continue
            made = self.objects.made(callee, whole.root.at, whole.root.name)
            for caller, site in sites:
                home = self.file.functions.get(caller, self.file.module)
                if site.at is not None:
                    found.setdefault(self.objects.made(caller, home.number(site.at)), []).append(made)
        return found

    def bound(self, cls: str, name: str) -> list[tuple[str, ast.AST, RawBind]]:
        """Where an attribute that may be one of a class's objects is assigned, and in which function."""
        by_class = self._bound.get(name, {})
        found = [each for akin in (*self.file.akin(cls), "") for each in by_class.get(akin, ())]
        return [bind for _, bind in sorted(found, key=itemgetter(0))]

    @cached_property
    def _bound(self) -> dict[str, dict[str, list[tuple[int, tuple[str, ast.AST, RawBind]]]]]:
        """What is assigned under each name, by the class of its owner; numbered as the file has it."""
        found: dict[str, dict[str, list[tuple[int, tuple[str, ast.AST, RawBind]]]]] = {}
        binds = ((method, at, raw) for method, log in self.logs.items() for at, raw in log.binds.items())
        for number, bind in enumerate(binds):
            owners = found.setdefault(bind[2].name, {})
            owners.setdefault(self._class_of(bind[2].owner), []).append((number, bind))
        return found

    def _class_of(self, owner: Value) -> str:
        """The class of this file of which an object is the `self`, or was made; else empty."""
        way = self.objects.ways[owner.who] if type(owner.who) is int else None
        name = way.name if isinstance(way, Root) and way.kind == "self" else ""
        if owner.kind is Kind.INSTANCE and isinstance(owner.known, Defined):
            name = owner.known.dotted
        return name if name in self.file.classes else ""

    @cached_property
    def known_elsewhere(self) -> set[Ref]:
        """What any function hands on, or moves, with all that has it as a part."""
        found: set[Ref] = set()
        for log in self.logs.values():
            receivers = (raw.receiver.who for raw in log.moves.values() if raw.target is not None)
            for ref in (*log.handed, *receivers):
                while type(ref) is int and ref >= 0 and ref not in found:
                    found.add(ref)
                    ref = self.objects.owner(ref)
        return found

    @cached_property
    def optimized(self) -> frozenset[Ref]:
        """The modules of which an optimizer has all parameters, and no others: it refuses to have none."""
        calls = (raw for log in self.logs.values() for raw in log.calls.values())
        held = [
            optimizers.holds(value)
            for raw in calls
            if (row := knowledge.find(raw.callee)) is not None and row.gives == Kind.OPTIMIZER.value
            for _, _, value in raw.args.named()
        ]
        return frozenset(ref for refs in held if len(refs) == 1 for ref in refs)

    @cached_property
    def called(self) -> set[Ref]:
        """What is called of which nobody knows what it is, and what holds such an item."""
        refs = {ref for log in self.logs.values() for ref in log.guesses.values() if ref >= 0}
        items = (ref for ref in refs if isinstance(self.objects.ways[ref], (Item, Element)))
        return refs.union([self.objects.parents[ref] for ref in items])

    def seen(self, ref: Ref) -> int:
        """What is known of an object."""
        return self.evidence.get(ref, 0)

    def _whole(self, ref: Ref) -> Ref:
        """The whole that an object is an element of: what a loader gave at once, not all that it gives."""
        whole = self.objects.wholes[ref]
        if whole < 0:
            return self.objects.parents[ref] if is_of_graph(self.objects, ref) else whole
        if not self.seen(whole) & Evidence.LOADER:
            return whole
        while self.objects.parents[ref] not in (-1, whole):
            ref = self.objects.parents[ref]
        return ref if isinstance(self.objects.ways[ref], Element) else whole

    def _keep(self, kept: Kept) -> None:
        ref, place = kept
        whole = self._whole(ref)
        whole = whole if whole >= 0 else ref
        self.kept.setdefault(whole, set()).add(ref)
        if place.form in (Form.CPU, Form.UNKNOWN):
            return
        self.moved.setdefault(whole, set()).add(ref)
        self.moved_to[whole] = place
        if isinstance(self.objects.ways[whole], Element):
            self.moved_to[self.objects.parents[whole]] = place

    @cached_property
    def copied(self) -> set[Ref]:
        """What is moved as it stands, while it may be used itself, too: a copy of it is elsewhere.

        What a tensor yields may be a number, which meets what it likes; `y.to(x)` may be meant for the dtype.
        """
        found = set[Ref]()
        for log in self.logs.values():
            for node, raw in log.moves.items():
                ref, func = raw.receiver.who, node.func if isinstance(node, ast.Call) else None
                if raw.target is None or raw.target.form is Form.CPU or type(ref) is not int:
                    continue
                if raw.likens or self._is_tensor(raw.target):
                    continue
                if isinstance(func, ast.Attribute) and ast.unparse(func.value) == self.objects.labels[ref]:
                    found.add(ref)
        return {ref for ref in found if not isinstance(self.objects.ways[ref], Element)}

    def _is_tensor(self, place: Place) -> bool:
        """Whether a move is told a tensor: use shows that, for all that is known where it is told."""
        of = place.of if place.form is Form.SAME else None
        return type(of) is int and self.kind(Value(Kind.UNKNOWN, who=of)) in TENSORS

    def made_by(self, ref: Ref) -> ast.AST | None:
        """The node of this file that makes an object."""
        way = self.objects.ways[ref]
        if not isinstance(way, Root) or way.kind != "made":
            return None
        function = self.objects.functions[ref]
        home = self.file.functions.get(function) if function else self.file.module
        return home.nodes[way.at] if home is not None and way.at < len(home.nodes) else None

    # Kinds

    def kind(self, value: Value) -> Kind | None:
        """Whether a value is a tensor, by what it was made from or by how it is used."""
        ref = value.who
        if value.kind in TENSORS:
            return None if self._is_another(value) else value.kind
        if value.kind not in (Kind.UNKNOWN, Kind.BATCH) or type(ref) is not int:
            return None
        if self.contradicted(ref):
            return None
        shown = (
            self._used_as_tensor(ref)
            or self._element_evidence(ref)
            or self._from_default_collate(value, ref)
            or self._half_fixed(ref)
        )
        return Kind.TENSOR if shown else None

    def kind_of_moved(self, value: Value, function: str) -> Kind | None:
        """The kind of what is moved, if it is a tensor."""
        ref = value.who
        if type(ref) is int and self.seen(ref) & Evidence.TO_MODULE and self._given_to_forward(ref, function):
            return None if self.contradicted(ref) else Kind.TENSOR
        kind = self.kind(value)
        if kind is None and value.kind is Kind.UNKNOWN and type(ref) is int:
            operand = self.seen(ref) & Evidence.OPERAND and not self.contradicted(ref)
            kind = Kind.TENSOR if operand else None
        if kind is None and value.kind in (Kind.UNKNOWN, Kind.BATCH) and type(ref) is int:
            return Kind.TENSOR if self._is_among_tensors(ref) or self._is_kept_tensor(ref) else None
        return kind

    def _is_kept_tensor(self, ref: Ref) -> bool:
        """Whether methods keep tensors alone in what it is."""
        found = [self.kind(value) for _, value in self.put_into(ref)]
        return bool(found) and all(kind is Kind.TENSOR for kind in found)

    def _is_among_tensors(self, ref: Ref) -> bool:
        """Whether it is any item of a batch, of which others are used as tensors, or given to a module.

        As in `for name in batch: batch[name].to(device)`, and then `model(batch["x"])`.
        """
        way, whole = self.objects.ways[ref], self.objects.parents[ref]
        if not (isinstance(way, Element) or (isinstance(way, Item) and way.variable)):
            return False
        return not self.contradicted(ref) and any(each != ref for each in self._among(whole))

    def _among(self, whole: Ref) -> tuple[Ref, ...]:
        """Two items of a batch that are used as tensors, or given to a module; or as many as there are."""
        found = self._used_of.get(whole)
        if found is None:
            shown = (
                each
                for each in self.objects.parts(whole)
                if self.objects.parents[each] == whole
                and self.seen(each) & (_SHOWN | Evidence.TO_MODULE)
                and not self.contradicted(each)
            )
            found = self._used_of[whole] = tuple(islice(shown, 2))
        return found

    def in_use(self, value: Value) -> Value:
        """A value of unknown kind, with the kind that its use shows."""
        ref = value.who
        if self._is_another(value):
            return value._replace(kind=Kind.UNKNOWN)
        if value.kind is not Kind.UNKNOWN or type(ref) is not int:
            return value
        if self.seen(ref) & Evidence.MODULE and not self.seen(ref) & IS_TENSOR:
            return value._replace(kind=Kind.MODULE)
        return value._replace(kind=self.kind(value) or Kind.UNKNOWN)

    @cached_property
    def likely(self) -> dict[Ref, Ref]:
        """By what is a tensor if what gave it is, that: a method was called that others have as well."""
        found: dict[Ref, Ref] = {}
        for log in self.logs.values():
            for ref, base in log.likely.items():
                for _ in range(_MAX_CHAIN):
                    base = log.likely.get(base, base)
                found[ref] = base
        return found

    def _is_another(self, value: Value) -> bool:
        """Whether what shares its methods with tensors is none, as it, or what it came of, shows."""
        ref = value.who
        if value.kind not in TENSORS or type(ref) is not int or ref not in self.likely:
            return False
        return self.contradicted(ref) or self.contradicted(self.likely[ref])

    def may_hold_tensors(self, value: Value) -> bool:
        """Whether nothing says that what was moved is something else."""
        contradicted = type(value.who) is int and self.contradicted(value.who)
        return value.kind in MAY_HOLD_TENSORS and not contradicted

    def may_be_number(self, value: Value) -> bool:
        """Whether it is an attribute of which nothing is known but that something is computed with it."""
        ref = value.who
        if value.kind is not Kind.UNKNOWN or value.origin is not None or type(ref) is not int:
            return False
        return isinstance(self.objects.ways[ref], Attr) and not self.seen(ref) & (IS_TENSOR | NO_NUMBER)

    def contradicted(self, ref: Ref) -> bool:
        """Whether anything says that the object is no tensor."""
        todo, done = [ref], set()
        while todo:
            each = todo.pop()
            if each not in done:
                done.add(each)
                if self.seen(each) & NOT_A_TENSOR:
                    return True
                todo.extend(self._sources(each))
        return False

    def _sources(self, ref: Ref) -> list[Ref]:
        return [*self.objects.sources.get(ref, ()), *self._flows.get(ref, ())]

    @cached_property
    def forms(self) -> dict[Ref, list[Ref]]:
        """By the results of calls, what those were given."""
        return {result: given for log in self.logs.values() for result, given in log.forms.items()}

    @cached_property
    def _flows(self) -> dict[Ref, list[Ref]]:
        found: dict[Ref, list[Ref]] = {}
        for log in self.logs.values():
            for source, to in log.flows:
                found.setdefault(to, []).append(source)
        return found

    def _used_as_tensor(self, ref: Ref, evidence: int = IS_TENSOR, depth: int = 4) -> bool:
        """Whether its use shows a tensor, or that of everything it may be."""
        if self.seen(ref) & evidence:
            return True
        sources = self._sources(ref)
        return (
            bool(sources)
            and depth > 0
            and all(self._used_as_tensor(each, evidence, depth - 1) for each in sources)
        )

    def is_certain(self, value: Value) -> bool:
        """Whether a value is a tensor for sure, not another object with a `.to`, which may return None."""
        if value.kind in TENSORS:
            return True
        ref = value.who
        return type(ref) is int and (
            self._used_as_tensor(ref, Evidence.TENSOR)
            or self._element_evidence(ref)
            or self._from_default_collate(value, ref)
        )

    def is_device_of_tensor(self, device: Value) -> bool:
        """Whether a device was read off what is a tensor for sure: `args.device` may as well be a string."""
        ref = device.place.of
        if type(ref) is not int or self.objects.ways[ref] != Attr("device"):
            return False
        parent = self.objects.parents[ref]
        return parent >= 0 and not self.contradicted(parent) and self._used_as_tensor(parent, Evidence.TENSOR)

    def _half_fixed(self, ref: Ref) -> bool:
        """Whether it is one of several that were unpacked together, of which another is moved and kept."""
        whole = self.objects.wholes[ref]
        way = self.objects.ways[ref]
        if not isinstance(way, Item) or whole < 0:
            return False
        named = (
            isinstance(way.key, str)
            and not way.variable
            and self.objects.parents[ref] == whole
            and isinstance(self.objects.ways[whole], Element)
        )
        return (named or self.objects.is_structural(ref)) and bool(self.kept.get(whole, set()) - {ref})

    def _element_evidence(self, ref: Ref) -> bool:
        """Whether an annotation says that what holds the object holds tensors."""
        if not isinstance(self.objects.ways[ref], Element):
            return False
        return bool(self.seen(self.objects.part(self.objects.parents[ref], Element())) & Evidence.TENSOR)

    def _from_default_collate(self, value: Value, ref: Ref) -> bool:
        """Whether the object was unpacked from a batch of a loader that is known to be torch's own."""
        item = isinstance(self.objects.ways[ref], Item)
        return value.kind is Kind.BATCH and value.place.form is Form.CPU and item

    def _given_to_forward(self, ref: Ref, function: str) -> bool:
        known = self.file.functions.get(function)
        if known is None or known.owner is None or known.own_name != "forward":
            return False
        view = self.file.view(known.owner)
        return (
            view is not None
            and view.is_module
            and self.objects.is_parameter(ref)
            and self.objects.functions[ref] == function
        )

    # Batches

    def part(self, place: Place) -> Part | None:
        """The element of a batch that a place stands for, if nothing has moved it."""
        ref = place.of
        if type(ref) is not int or place.form not in (Form.CPU, Form.AT):
            return None
        whole = self._whole(ref)
        if whole < 0 and isinstance(self.objects.ways[ref], Element):
            whole = ref
        if self._placed(ref) or self._is_text(ref) or self._is_given_to_make(whole) or self._is_answer(whole):
            return None
        if whole < 0 and self.objects.is_parameter(ref) and ref in self.copied:
            return Part(ref, ref, False, ref)  # as it was given, while a copy was moved
        if whole < 0:
            return self._stored_part(ref)
        loader = self.objects.parents[whole]
        by_use = loader >= 0 and bool(self.seen(loader) & Evidence.LOADER) and not self.has_others
        known = place.form is Form.CPU or by_use
        return Part(ref, whole, known, ref)

    def _is_answer(self, ref: Ref) -> bool:
        """Whether an object is what all callers got of a model: it is where the model has put it."""
        way = self.objects.ways[ref] if ref >= 0 else None
        if not isinstance(way, Root) or not self.objects.is_parameter(ref):
            return False
        sites = self.sites.get(self.objects.functions[ref], ())
        given = [value.who for _, site in sites if (value := site.arguments.get(way.name)) is not None]
        answers = self._answers if len(given) == len(sites) else ()
        return bool(given) and all(type(who) is int and self.made_by(who) in answers for who in given)

    @cached_property
    def _answers(self) -> set[ast.AST]:
        """The calls of what may be a module of any class, with what was brought to a device."""
        return {node for log in self.logs.values() for node in log.answers}

    def _is_given_to_make(self, ref: Ref) -> bool:
        """Whether an object is what a constructor is given: options, numbers and tensors, and no batch."""
        if ref < 0 or not self.objects.is_parameter(ref):
            return False
        function = self.file.functions.get(self.objects.functions[ref])
        return (
            function is not None and function.owner is not None and function.own_name in knowledge.CONSTRUCTS
        )

    @cached_property
    def has_others(self) -> bool:
        """Whether the file imports a library that has tensors of its own."""
        names = (
            f"{getattr(node, 'module', None) or ''}.{alias.name}"
            for node in statements_in(self.file.module.node)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        )
        return any(not knowledge.TENSORS_OF_OTHERS.isdisjoint(name.split(".")) for name in names)

    def stored(self, ref: Ref) -> tuple[tuple[str, Value], ...]:
        """What methods put into an attribute of `self`, if every assignment is known."""
        return self._stored.values(ref)

    def put_into(self, ref: Ref) -> tuple[tuple[str, Value], ...]:
        """What methods put into an attribute, or into the containers that it is, if all are known."""
        return self._stored.given(ref)

    def _stored_part(self, ref: Ref) -> Part | None:
        """The element of a batch that a method put into an attribute, whichever of them did."""
        if ref in self._asked_for:
            return None  # a method is given what it puts there
        self._asked_for.add(ref)
        try:
            found: list[Part] = []
            for function, value in self._stored.values(ref):
                parts = self._given_parts(value, function)
                if not parts:
                    return None
                found += parts
        finally:
            self._asked_for.remove(ref)
        if not found:
            return None
        return found[0]._replace(on_cpu=all(part.on_cpu for part in found), at=ref)

    def kept_in(self, ref: Ref) -> list[Ref]:
        """The objects that methods put into an attribute, if all are known."""
        return [value.who for _, value in self._stored.values(ref) if type(value.who) is int]

    def _given_parts(self, value: Value, function: str, depth: int = _MAX_CHAIN) -> list[Part]:
        """The elements of batches that a value may be, in a function or its callers; none if not all are."""
        ref = value.who
        if type(ref) is not int or value.place.form not in (Form.CPU, Form.AT, Form.UNKNOWN):
            return []
        if value.origin is not None or ref in self.objects.sources:
            return []
        part = self.part(value.place if value.place.form is Form.CPU else Place(Form.AT, "", ref))
        if part is not None and (part.on_cpu or part.whole in self.moved_to):
            return [part]
        top = self.objects.top(ref)
        if depth <= 0 or not self.objects.is_parameter(top) or self.objects.functions[top] != function:
            return [] if part is None else [part]
        found: list[Part] = []
        for caller, site in self.sites.get(function, ()):
            given = site.arguments.get(self.objects.labels[top])
            parts = self._given_parts(given, caller, depth - 1) if given is not None else []
            if not parts:
                return []
            found += parts
        return found

    def _shown(self, ref: Ref) -> bool:
        """Whether any use shows that an element of a batch is a tensor."""
        return any(self.seen(each) & _SHOWN for each in (ref, *self._sources(ref)))

    def _is_text(self, ref: Ref) -> bool:
        return any(self.seen(each) & Evidence.TEXT for each in (ref, *self._sources(ref)))

    def _placed(self, ref: Ref) -> bool:
        while ref >= 0:
            if any(self.seen(each) & Evidence.PLACED for each in (ref, *self.kept_in(ref))):
                return True
            ref = self.objects.parents[ref]
        return False

    def clashes(self) -> Iterator[tuple[object, Clash]]:
        """Values that cannot come together, with what tells one cause from another."""
        dropped = self.dropped()
        for function, log in self.logs.items():
            for raw in log.meetings.values():
                yield from self._unmoved(function, raw, dropped)
                yield from self._under_other_conditions(function, raw)
            for loss, raw in self._in_losses(log):
                for key, clash in self._unmoved(function, raw, dropped):
                    if not self._is_network(loss) or self._shown(clash.part):
                        yield key, clash._replace(in_loss=True)
                yield from self._under_other_conditions(function, raw)
        yield from self.fed_unmoved(dropped)

    def in_losses(self, log: Log) -> Iterator[RawMeeting]:
        """What unknown callees were given, where `.backward()` shows that they computed a loss."""
        return (raw for _, raw in self._in_losses(log))

    def _in_losses(self, log: Log) -> Iterator[tuple[MaybeLoss, RawMeeting]]:
        for loss in log.losses:
            if not self.seen(loss.result) & Evidence.DIFFERENTIATED:
                continue
            if any(self.seen(ref) & Evidence.MODULE for ref in loss.beside):
                continue
            for index, (left, here, one) in enumerate(loss.parties):
                for right, there, other in loss.parties[index + 1 :]:
                    raw = RawMeeting("call", left, here, one, right, there, other, loss.why, loss.loops)
                    yield loss, raw

    def _is_network(self, loss: MaybeLoss) -> bool:
        """Whether what is called is trained itself, and computes its loss besides."""
        return loss.network >= 0 and bool(self.seen(loss.network) & Evidence.MODULE)

    def in_calls(self, log: Log) -> Iterator[RawMeeting]:
        """What unknown callees were given together, whatever they do with it."""
        for loss in log.losses:
            for index, (left, here, one) in enumerate(loss.parties):
                for right, there, other in loss.parties[index + 1 :]:
                    if is_made(one) is not is_made(other):
                        yield RawMeeting("call", left, here, one, right, there, other, loss.why, loss.loops)

    def brought_back(self, log: Log) -> Iterator[RawMeeting]:
        """What unknown callees were given, where what they gave is brought to the cpu: they may be elsewhere.

        So may be those that gave the first what it was given: `norm(encoder(zeros)).cpu()`.
        """
        todo = [raw.receiver.who for raw in log.moves.values() if raw.target == CPU] if log.tried else []
        done = set[Ref]()
        while todo:
            ref = todo.pop()
            if type(ref) is not int or ref in done:
                continue
            done.add(ref)
            if ref in log.tried:
                yield log.tried[ref]
            todo += log.forms.get(ref, ())
            todo += (each for each, _ in log.derived.get(ref, ()))
            todo += [log.likely[ref]] if ref in log.likely else []

    def dropped(self) -> set[Ref]:
        """What discarded moves were meant for, and what of a batch holds it: one cause, one finding."""
        dropped: set[Ref] = set()
        for _, _, raw in self.discarded_moves():
            for ref in (raw.receiver.who, raw.receiver.place.of):
                while type(ref) is int and ref >= 0 and ref not in dropped:
                    dropped.add(ref)
                    whole, parent = self.objects.wholes[ref], self.objects.parents[ref]
                    ref = parent if whole >= 0 and parent != whole else -1
        return dropped

    def discarded_moves(self) -> Iterator[tuple[str, ast.Call, RawMove]]:
        """Moves and casts whose result nobody has, in whatever they may have changed."""
        for function, log in self.logs.items():
            for node, raw in log.moves.items():
                nobodys = raw.fate in ("discarded", "rebound") and not raw.in_place
                if nobodys and not raw.vain and self.is_of_tensors(raw):
                    yield function, node, raw

    def is_of_tensors(self, raw: RawMove) -> bool:
        """Whether what an object's own move moves are tensors, as far as its parts are not known."""
        shown = [self.seen(part) & (IS_TENSOR | Evidence.SHAPED) for part in raw.parts]
        return not raw.parts or (any(shown) and not any(map(self.contradicted, raw.parts)))

    def _unmoved(self, function: str, raw: RawMeeting, dropped: set[Ref]) -> Iterator[tuple[object, Clash]]:
        """Elements of batches that meet a value on a device."""
        for at, here, own, other, there, met in (
            (raw.left, raw.here, raw.one, raw.right, raw.there, raw.other),
            (raw.right, raw.there, raw.other, raw.left, raw.here, raw.one),
        ):
            part = self.part(here)
            if part is None or not isinstance(at, ast.expr) or self.any_of(dropped, part.ref):
                continue
            if self._conflict(part, there):
                itself = own.who in (part.ref, part.at)
                if not (itself or part.on_cpu or self._shown(part.ref)):
                    continue  # whatever gave what meets was given it beside others: it may be a text
                if raw.how == "operator" and own.kind is Kind.UNKNOWN and not (itself or part.on_cpu):
                    continue  # what is computed with it may be a number, as it may be itself
                if raw.how == "operator" and self.may_be_number(met):
                    continue
                partly = part.whole in self.moved_to
                key = (part.ref if partly else part.whole, function)
                clash = Clash(
                    function, at, here, part.ref, part.whole, other, there, partly, True, False, raw, met
                )
                yield key, clash._replace(itself=itself, own=own, by=part.at)

    def any_of(self, refs: set[Ref], ref: Ref) -> bool:
        """Whether an object, or what it is part of, is among some objects."""
        while ref >= 0 and ref not in refs:
            ref = self.objects.parents[ref]
        return ref >= 0

    def _under_other_conditions(self, function: str, raw: RawMeeting) -> Iterator[tuple[object, Clash]]:
        """Elements of one batch that meet, each moved under a condition of its own."""
        here, there = raw.here.when, raw.there.when
        if not here or not there or not _differ(here, there):
            return
        if _asks_both(here, there) and self._scatters:
            return  # without an option that names one device, several share what a loader yields
        known = self.file.functions.get(function, self.file.module)
        own = (branch for branch in here | there if branch.test >= 0)
        paths = sorted(own, key=lambda branch: (_line(known.nodes[branch.test]), branch.move))
        moves = [known.nodes[branch.move] for branch in paths if branch.move >= 0]
        calls = [node for node in moves if isinstance(node, ast.Call)]
        if not calls or not isinstance(calls[0].func, ast.Attribute):
            return
        receiver = calls[0].func.value
        key = ("paths", function, paths[0].test)
        clash = Clash(function, receiver, raw.here, -1, -1, raw.right, raw.there, True, True, True, raw)
        yield key, clash._replace(moves=tuple(calls[1:]))

    @cached_property
    def _scatters(self) -> bool:
        """Whether all wrappers of the file bring what they are given to where the replicas are.

        DistributedDataParallel that is told no `device_ids` takes it as it comes.
        """
        calls = (raw for log in self.logs.values() for raw in log.calls.values())
        found = {knowledge.scatters(raw.callee, [name for name, _, _ in raw.args.named()]) for raw in calls}
        return found - {None} == {True}

    def fed_unmoved(self, dropped: set[Ref]) -> Iterator[tuple[object, Clash]]:
        """Arguments that one method passes to a module as they are, and another moves first."""
        movers: dict[tuple[Ref, Place], str] = {}
        made: dict[tuple[Ref, Place], str] = {}
        for name, log in self.logs.items():
            for feed in log.feeds:
                if feed.moved and feed.device == feed.place:
                    (made if self._is_made_there(feed) else movers)[feed.module, feed.device] = name
        for name, log in self.logs.items():
            for feed in log.feeds:
                key = feed.module, feed.place
                mover = movers.get(key)
                if mover is None and (knowledge.TRAINS not in log.reaches or self.sites.get(name)):
                    mover = made.get(key)  # what learns may be given tensors of a store of them
                if mover is not None and self._fed(name, feed, mover, dropped):
                    yield (
                        ("fed", feed.at),
                        Clash(
                            name,
                            feed.at,
                            feed.device,
                            feed.module,
                            -1,
                            feed.at,
                            feed.place,
                            False,
                            False,
                            False,
                            None,
                        ),
                    )

    def _is_made_there(self, feed: Feed) -> bool:
        """Whether what is moved was made of an array or a list there: others may be given tensors."""
        origin = feed.value.origin
        home = self.file.functions.get(origin.function) if origin is not None else None
        if home is None or origin is None:
            return False
        node = home.nodes[origin.at]
        raw = self.logs[home.name].moves.get(node) if isinstance(node, ast.Call) else None
        return raw is not None and is_made(raw.receiver)

    def _fed(self, name: str, feed: Feed, mover: str, dropped: set[Ref]) -> bool:
        ref = feed.device.of
        function, other = self.file.functions.get(name), self.file.functions.get(mover)
        if function is None or other is None or function.owner is None or mover == name:
            return False
        if feed.device.form is not Form.AT or type(ref) is not int or not self.objects.is_parameter(ref):
            return False
        view = self.file.view(function.owner)
        if ref in dropped or view is None or view.is_module or feed.place.form not in ON_DEVICE:
            return False
        if other.owner != function.owner or not isinstance(feed.at, ast.Name):
            return False
        if self.objects.parameter(name, feed.at.id) != ref:
            return False
        passed = [site.arguments.get(feed.at.id) for _, site in self.sites.get(name, ())]
        return all(value is not None and value.place.form is Form.CPU for value in passed)

    def _conflict(self, part: Part, there: Place) -> bool:
        """Whether an element that nobody moved cannot meet a value at `there`."""
        of = there.of
        if type(of) is int and (self.objects.belongs(of, part.whole) or self.follows_a_tensor(of)):
            return False
        switch = there.form is Form.CPU and type(of) is int and bool(self.seen(of) & Evidence.SWITCH)
        if (there.form not in ON_DEVICE and not switch) or there.is_anywhere:
            return False
        if isinstance(self.objects.ways[part.ref], Attr) and part.whole in self.moved.get(part.whole, ()):
            return False  # it moved as a whole: what has attributes is no tensor, and may move in place
        if part.ref == part.whole and self._moved_by_name(part.whole):
            return False  # of what else is in a mapping, only who is given it knows whether it is read
        if part.on_cpu:
            return True
        return self._sibling_moved(part, there) or self._moved_elsewhere(part, there)

    def _moved_by_name(self, whole: Ref) -> bool:
        """Whether items of a mapping were moved by their names: `batch["x"] = batch["x"].to(device)`."""
        for ref in self.moved.get(whole, ()):
            while ref >= 0 and self.objects.parents[ref] != whole:
                ref = self.objects.parents[ref]
            way = self.objects.ways[ref] if ref >= 0 else None
            if isinstance(way, Item) and isinstance(way.key, str) and not way.variable:
                return True
        return False

    def follows_a_tensor(self, ref: Ref) -> bool:
        """Whether a device is that of a tensor (`x.device`), which is wherever the caller put it.

        So may be what a call gave, unless its use shows that it has settings.
        """
        parent = self.objects.parents[ref]
        if self.objects.ways[ref] != Attr("device") or parent < 0:
            return False
        way = self.objects.ways[parent]
        given = isinstance(way, Root) and way.kind == "made" and not self.contradicted(parent)
        if given or self.seen(parent) & IS_TENSOR:
            return True
        # What a module runs on, and what has a shape, is no configuration.
        return bool(self.seen(parent) & NO_NUMBER) and not self.contradicted(parent)

    def _sibling_moved(self, part: Part, there: Place) -> bool:
        """Whether another element of the same whole was moved to where this one is now needed."""
        place, moved = self.moved_to.get(part.whole), self.moved.get(part.whole)
        if place is None or not moved:
            return False
        if part.whole in moved and is_of_graph(self.objects, part.ref):
            return False  # it moved as a whole
        if all(self.objects.belongs(each, part.ref) for each in moved) and part.ref not in self.copied:
            return False  # what was moved was made from it: `mask = parameter.data.gt(0).cuda()`
        if type(place.of) is int and self.objects.belongs(place.of, part.whole):
            return False
        if there.form is Form.EITHER and not there.is_anywhere:
            there = there._replace(form=place.form, when=place.when)  # where both are moved, if they are
        if place != there and not self._names(there, place):
            return False
        if self.objects.is_structural(part.ref) or is_of_graph(self.objects, part.ref):
            return True
        return bool((self.seen(part.ref) | self.seen(part.at)) & IS_TENSOR) and self._holds_tensors(
            part, moved
        )

    def _names(self, there: Place, place: Place) -> bool:
        """Whether a place is that of the device which an attribute was given: `self.device = device`."""
        values = self._stored.values(there.of) if type(there.of) is int and there.form is place.form else ()
        return bool(values) and all(value.place.of == place.of is not None for _, value in values)

    def _holds_tensors(self, part: Part, moved: set[Ref]) -> bool:
        """Whether a mapping is of tensors: of what a caller passes, networks and numbers may be parts."""
        shown = self.seen(part.ref) | self.seen(part.at)
        if isinstance(self.objects.ways[part.whole], Element) or shown & NO_NUMBER:
            return True
        return any(
            self.seen(ref) & (IS_TENSOR | NO_NUMBER | Evidence.OPERAND) and not self.contradicted(ref)
            for ref in moved
        )

    def _moved_elsewhere(self, part: Part, there: Place) -> bool:
        """Whether another loop over the same iterable moves what it yields there."""
        iterable = self.objects.parents[part.whole]
        return iterable >= 0 and part.whole not in self.moved_to and self.moved_to.get(iterable) == there

    # Names

    def device_name(self, place: Place) -> str:
        """What the program calls a place."""
        if place.form in (Form.SAME, Form.CPU, Form.EITHER) and type(place.of) is int:
            return self.objects.labels[place.of] or place.name
        return place.name

    def module_name(self, ref: Ref) -> str:
        """What methods call the module where an object is: `self`, or a part of it that they run."""
        way, parent = self.objects.ways[ref], self.objects.parents[ref]
        if isinstance(way, Attr) and parent in self._run and isinstance(self.objects.ways[parent], Attr):
            ref = self.objects.parents[parent]
            return self.objects.labels[parent] if self.module_name(ref) else ""
        view = self.file.view(way.name) if isinstance(way, Root) and way.kind == "self" else None
        return self.objects.labels[ref] if view is not None and view.is_module else ""

    @cached_property
    def _run(self) -> set[Ref]:
        """What is called as modules are."""
        return {ref for log in self.logs.values() for ref in log.runs.values()}

    def loader_name(self, whole: Ref) -> str:
        """What the program calls what yields a batch."""
        parent = self.objects.parents[whole] if whole >= 0 else -1
        return (
            self.objects.labels[parent]
            if parent >= 0 and isinstance(self.objects.ways[whole], Element)
            else ""
        )


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _differ(here: frozenset[Branch], there: frozenset[Branch]) -> bool:
    """Whether there is a path on which one is moved and the other is not."""
    if {(branch.test, branch.outcome) for branch in here} == {(b.test, b.outcome) for b in there}:
        return False
    if len({branch.chain for branch in here | there}) == 1:
        return True
    return _asks_both(here, there)


def _asks_both(here: frozenset[Branch], there: frozenset[Branch]) -> bool:
    """Whether one is moved where the machine has a device, and the other where an option names one."""
    asked = {branch.asks for branch in here}, {branch.asks for branch in there}
    return asked in (({"machine"}, {"option"}), ({"option"}, {"machine"}))
