"""What assignments, loops and comprehensions bind: variables, attributes and items."""

from __future__ import annotations

import ast

from .. import knowledge
from ..bind.names import bound_names, is_place, last_name, opened
from ..core.evidence import Evidence
from ..core.kinds import MAY_HOLD_TENSORS, TENSORS, Kind
from ..core.objects import Objects
from ..core.paths import Attr, Element, Item, Root
from ..core.places import CPU, MOVED_TO, UNKNOWN_PLACE, Form, Place
from ..core.state import State
from ..core.values import (
    ENCODING,
    GRAPH,
    UNKNOWN,
    Defined,
    Value,
    Words,
    constant,
    container,
    element_of,
    is_made,
)
from . import recalled
from .attributes import Attributes
from .definitions import Function
from .holdings import give_away
from .lent import lend, unsettle
from .log import RawBind
from .machine import COPIES, GRADIENTS, Program, subscript_step
from .unmoved import assigned

_OF_ANY_CLASS = (Kind.UNKNOWN, Kind.BATCH)
_PARAMETERS = Item(knowledge.PARAMETERS_OF_GROUP)


class Targets(Attributes):
    """Binds values to the targets of assignments."""

    def __init__(self, program: Program, objects: Objects, here: Function, state: State) -> None:
        super().__init__(program, objects, here, state)
        self.class_body: str | None = None
        """The class whose body this is."""
        self.yielded: dict[str, Value] = {}
        """What the loops and comprehensions around the expression at hand bind, by variable."""

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a target."""
        if value.kind in (Kind.DEVICE, Kind.STRING) and value.place.form in (Form.EITHER, Form.CPU):
            value = value._replace(place=self._symbol(target, value.place))
        if isinstance(target, ast.Name):
            ref = self.ref(value)
            if ref is not None and not self.objects.labels[ref]:
                self.objects.labels[ref] = target.id
            self.state.env[target.id] = value
            if value.place.when:
                recalled.note(self, target.id, value.place)
            if target.id == self.state.why.tensor.partition(".")[0]:
                self.state.why = self.state.why._replace(tensor="")  # it is another one now
            self.bound(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._bind_several(target, value)
        elif isinstance(target, ast.Attribute):
            self._bind_attribute(target, value)
        elif isinstance(target, ast.Subscript):
            self._bind_item(target, value)

    def bound(self, name: str, value: Value) -> None:
        """A variable was assigned."""

    def note_yielded(self, target: ast.expr) -> None:
        """Remember what a loop or comprehension has bound to the variables of its target."""
        for name in bound_names(target):
            self.yielded[name] = self.state.env.get(name, UNKNOWN)

    def _made_with(self, ref: int, value: Value) -> bool:
        """Whether the expression that makes a container makes a value for its items: `[zeros(0)] * n`."""
        way, origin = self.objects.ways[ref], value.origin
        if not isinstance(way, Root) or way.kind != "made" or origin is None:
            return False
        if not origin.function == self.objects.functions[ref] == self.here.name:
            return False
        made = self.here.nodes[origin.at]
        return any(node is made for node in ast.walk(self.here.nodes[way.at]))

    def skips(self, target: ast.expr) -> bool:
        """Whether the loop at hand leaves out an assignment in some rounds."""
        return False

    def _bind_several(self, target: ast.Tuple | ast.List, value: Value) -> None:
        stars = [index for index, item in enumerate(target.elts) if isinstance(item, ast.Starred)]
        for index, item in enumerate(target.elts):
            if isinstance(item, ast.Starred):
                self.bind(item.value, container(element=self.element(value, item)))
            elif stars and (index > stars[0] or value.items is not None):
                self.bind(item, self.element(value, item))
            else:
                self.bind(item, self.unpack(value, len(target.elts), index))

    def _symbol(self, target: ast.expr, chosen: Place) -> Place:
        """A device that the program chooses at run time is known by the variable that keeps it."""
        form = Form.SAME if chosen.form is Form.EITHER else chosen.form
        if isinstance(target, ast.Name) and self.class_body is not None:
            cls = self.objects.global_(self.class_body)
            label = f"{self.class_body.rpartition('.')[2]}.{target.id}"
            return Place(form, chosen.name, self.objects.part(cls, Attr(target.id), label))
        if isinstance(target, ast.Name):
            ref = self.objects.made(self.here.name, self.here.number(target), "device")
            self.objects.labels[ref] = target.id
            return Place(form, chosen.name, ref)
        if isinstance(target, ast.Attribute):
            base = self.ref(self.eval(target.value))
            if base is not None:
                ref = self.objects.part(base, Attr(target.attr), ast.unparse(target))
                return Place(form, chosen.name, ref)
        return chosen

    def _bind_attribute(self, target: ast.Attribute, value: Value) -> None:
        base = self.eval(target.value)
        value = assigned(self, base, target.attr, value)
        told = self.state.env.get((value.who, GRADIENTS)) if type(value.who) is int else None
        self.log.binds[target] = RawBind(
            "attribute",
            base,
            target.attr,
            value,
            self.state.why,
            self.loops,
            untrained=told is not None and constant(told) is False,
        )
        self._note_attached(target, base, value)
        self._note_store(base)
        if base.known == ENCODING and target.attr in knowledge.TENSOR_DATA:
            lend(self, (base,))  # all that it holds is replaced
        if base.known == GRAPH and value.place.form is not Form.CPU:
            lend(self, (base,))  # it is brought to a device part by part
        if base.kind is Kind.UNKNOWN or base.who in self.log.likely:
            self.attribute_evidence(base, target.attr)
            if value.kind in MAY_HOLD_TENSORS:
                self.note(base, Evidence.FILLED)
        if target.attr in knowledge.TENSOR_DATA and (base.kind in TENSORS or base.kind in _OF_ANY_CLASS):
            if isinstance(target.value, (ast.Name, ast.Attribute)) and value.kind in (*TENSORS, Kind.BATCH):
                self.bind(target.value, base._replace(place=value.place))
                if type(base.who) is int:
                    self._place_all_like(base.who)
            return
        if target.attr == GRADIENTS.name and base.origin is not None and base.origin.how in COPIES:
            self.rebind(target.value, base._replace(origin=None))  # a detached copy is a leaf from here on
        ref, who = self.ref(base), self.ref(value)
        if ref is None:
            return
        if who is not None and not self.objects.labels[who] and isinstance(target.value, ast.Name):
            self.objects.labels[who] = f"{target.value.id}.{target.attr}"
        if target.attr == knowledge.OPTIMIZER_GROUPS:
            self.held_anew(ref)
        self.state.env[ref, Attr(target.attr)] = value
        if base.kind in (Kind.INSTANCE, Kind.CLASS) and isinstance(base.known, Defined):
            self.assigned.add((base.known.dotted, target.attr))

    def _note_store(self, base: Value) -> None:
        """Something is put into an object, which the function's callers may have as well."""
        ref = self.ref(base)
        if ref is None or not self.objects.is_made_in(self.objects.top(ref), self.here.name):
            self.log.reaches.add(knowledge.STORES)

    def _note_attached(self, target: ast.Attribute | ast.Subscript, base: Value, value: Value) -> None:
        """Remember a module on the cpu that becomes a part of one which has been moved."""
        if value.kind is Kind.MODULE and self.where(value) == CPU:
            there = self.where(base)
            if there.form in MOVED_TO:
                self.log.attached[target] = there

    def _bind_item(self, target: ast.Subscript, value: Value) -> None:
        base = self.eval(target.value)
        index = self.eval(target.slice)
        if isinstance(target.value, ast.Call) and last_name(target.value) == knowledge.VARIABLES:
            self._forget_variables()
        self.store_opened(target.value)
        self._note_store(base)
        ref = self.ref(base)
        step = subscript_step(target.slice)
        name = step.key if isinstance(step.key, str) and not step.variable else ""
        self.log.binds[target] = RawBind(
            "item", base, name, value, self.state.why, self.loops, touched=self.state.touched
        )
        self._note_attached(target, base, value)
        if ref is not None and _PARAMETERS in (step, self.objects.ways[ref]):
            self.held_anew(ref)
        if base.kind in TENSORS:
            self._store(target, base, index, value)
        if isinstance(target.slice, ast.Slice) and base.kind is Kind.BATCH and value.kind is Kind.CONTAINER:
            value = self.element(value, target)  # `batch[:] = [x.to(d) for x in batch]`
        if base.kind is Kind.UNKNOWN and value.kind is Kind.CONTAINER:
            give_away(self, value)
        if ref is None or base.kind in TENSORS:
            return
        if base.kind is Kind.MODULE and ref not in self.state.places:
            part = self.ref(value)
            if value.kind is not Kind.MODULE or part is None or part in self.state.places:
                # `heads[name] = Head(device=device)`: what a ModuleDict holds is where it was made.
                place = self.state.places.get(part, UNKNOWN_PLACE) if part is not None else UNKNOWN_PLACE
                self.state.places[ref] = place
        if isinstance(index.known, Words):
            for key in index.known.values:
                self.state.env[ref, Item(key)] = value
            return
        moved = value.origin is not None and value.origin.how == "moved"
        if moved:
            self._place_element(ref)
            self._place_all_like(ref)
        known = position_of(base, index) if base.kind is Kind.CONTAINER else None
        if base.kind is Kind.CONTAINER:
            self.put(target.value, base, value)
        if known is not None and base.items is not None:
            self.state.env[ref, Item(known)] = value
            items = (*base.items[:known], value, *base.items[known + 1 :])
            self.rebind(target.value, container(ref, items, holds=base.holds))
            return
        self.state.env[ref, step] = value
        self.note_unknown((base,), Evidence.FILLED)
        if moved and step.variable and base.kind is Kind.CONTAINER:
            self.log.note(ref, Evidence.FILLED)  # who gave it does not know what of it has moved
            self._move_any_item(target.value, base, ref, value)
            return
        if base.kind in _OF_ANY_CLASS and not isinstance(target.slice, ast.Constant):
            if moved and value.place.form is not Form.UNKNOWN:
                # `batch[k] = batch[k].to(d)` in a loop over the keys moves the whole batch.
                whole = Value(base.kind, value.place, base.who, origin=value.origin)
                self.rebind(target.value, whole)
                self.log.note(ref, Evidence.PLACED)  # also where the loop may not run even once
        elif base.kind is Kind.CONTAINER:
            before = element_of(base, self.either)
            stand_in = before is not None and is_made(before) and not is_made(value)
            if before is not None and stand_in and self._made_with(ref, before) and self.skips(target):
                self.log.stand_ins[ref] = (before, target, self.where(value), value)
            placeholders = all(item.kind is Kind.NONE for item in base.items or ())
            if stand_in or placeholders:  # `[None, None]` is as good as `[None] * 2`
                element = value if before is None or stand_in else self.join(before, value)
                whole = container(base.who, element=element, holds=base.holds)
                self.rebind(target.value, whole._replace(known=base.known))

    def store_opened(self, node: ast.expr) -> None:
        """`x.__dict__[name] = …`, `vars(x).update(…)`: any attribute may be what is assigned."""
        owner = opened(node)
        value = self.eval(owner) if owner is not None and is_place(owner) else UNKNOWN
        ref = self.ref(value)
        if ref is not None:
            unsettle(self, (value,))
            self.forget_attributes(ref)

    def _forget_variables(self) -> None:
        """`globals()[name] = …`: any variable of the file may be what is assigned."""
        for name, value in list(self.state.env.items()):
            if isinstance(name, str) and value.kind in MAY_HOLD_TENSORS:
                self.state.env[name] = value._replace(place=UNKNOWN_PLACE, origin=None)

    def _store(self, target: ast.Subscript, base: Value, index: Value, value: Value) -> None:
        """`t[i] = v`: a number or slice copies from anywhere; a tensor as index wants `v` beside `t`.

        The index itself is brought to `t`, wherever it is, unlike that of `t[i]`. The graphs of DGL take only
        features that are where they are.
        """
        indices = index.items if isinstance(target.slice, ast.Tuple) and index.items else (index,)
        if any(each.kind in (Kind.TENSOR, Kind.PARAMETER) and not _is_one_number(each) for each in indices):
            self.meet(target, [(target.value, base), (target, value)])
        elif (
            isinstance(target.value, ast.Attribute)
            and target.value.attr in knowledge.FEATURES_OF_GRAPHS
            and is_place(target.value)
        ):
            graph = target.value.value
            self.meet(target, [(graph, self.eval(graph)), (target, value)])
        elif is_made(base) and base.origin is not None and value.kind in MAY_HOLD_TENSORS:
            self.log.filled[base.origin.function, base.origin.at] = target, self.where(value), value

    def _move_any_item(self, at: ast.expr, base: Value, ref: int, value: Value) -> None:
        """`xs[k] = xs[k].to(d)` for some `k`: any item may be the one that is moved."""
        for key, item in list(self.state.env.items()):
            if not isinstance(key, str) and key[0] == ref and isinstance(key[1], Item):
                self.state.env[key] = self.join(item, value)
        element = element_of(base, self.either)
        joined = value if element is None else self.join(element, value)
        self.rebind(at, container(base.who, element=joined, holds=base.holds)._replace(known=base.known))
        if isinstance(at, ast.Attribute):
            owner = self.eval(at.value)
            if owner.kind in (Kind.INSTANCE, Kind.CLASS) and isinstance(owner.known, Defined):
                own = owner.known.dotted, at.attr
                self.assigned |= {own} - self.log.added.keys()

    def _place_all_like(self, ref: int) -> None:
        """A loop over a batch moves what it yields, one after the other, where that is."""
        above, ways = self.objects.parents[ref], self.objects.ways
        if above >= 0 and isinstance(ways[ref], Element) and isinstance(ways[above], Element):
            self.log.note(above, Evidence.PLACED)

    def _place_element(self, ref: int) -> None:
        """A moved value is stored deep in an element of a batch: the loop around it moves that element."""
        whole = self.objects.wholes[ref]
        if whole < 0:
            return
        element = ref
        while self.objects.parents[element] not in (-1, whole):
            element = self.objects.parents[element]
        if element != ref:
            self.log.note(element, Evidence.PLACED)


def _is_one_number(index: Value) -> bool:
    """Whether a tensor that is an index may be 0-dim, which counts as a number: of a loop over a range."""
    return is_made(index) and index.origin is not None and not index.origin.dims


def position_of(base: Value, index: Value) -> int | None:
    """The item of a container that an index selects, counted from its start."""
    length, number = len(base.items) if base.items is not None else 0, constant(index)
    return number % length if type(number) is int and -length <= number < length else None
