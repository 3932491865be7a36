"""What the attributes of values are: of tensors, modules, objects, classes and libraries."""

from __future__ import annotations

import ast

from .. import knowledge
from ..core.evidence import Evidence
from ..core.kinds import TENSORS, Kind
from ..core.paths import Attr, Element, Item, Root
from ..core.places import UNKNOWN_PLACE, Form, Place
from ..core.values import (
    DTYPE,
    ENCODING,
    GRAPH,
    MAPPING,
    NUMBER,
    PREPARERS,
    TORCH_DEVICE,
    UNKNOWN,
    Defined,
    Record,
    Truth,
    Value,
    container,
    dotted,
    is_made,
    library_value,
)
from . import unmoved
from .apply import apply as apply_summary
from .machine import Machine, flag
from .substitute import instance_attribute, unknown_attribute
from .transfers import encodings, graphs

_OF_NO_CLASS = (Kind.UNKNOWN, Kind.OTHER)
"""What has attributes of which nothing is known, be it because of a class that is not in sight."""


class Attributes(Machine):
    """Evaluates attributes of values."""

    def attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        """The value of an attribute of `base`."""
        kind = base.kind
        if kind is Kind.LIBRARY:
            return self._library_attribute(base, name)
        ref = self.ref(base)
        if ref is not None:
            stored = self.state.env.get((ref, Attr(name)))
            if stored is not None:
                return stored
            if name in knowledge.MOVES and kind is Kind.MODULE:
                self.state.places[ref] = UNKNOWN_PLACE  # `move = model.to`: whoever has it may call it
        if kind is Kind.CONTAINER and isinstance(base.known, Record) and name in base.known.names:
            return base.items[base.known.names.index(name)] if base.items else base.element or UNKNOWN
        if base.known == ENCODING and kind is Kind.CONTAINER:
            return encodings.attribute(self, base, name, node)
        if base.known == GRAPH and kind is Kind.BATCH:
            return graphs.attribute(self, base, name)
        if name in knowledge.CLASS_OF and kind is Kind.INSTANCE and isinstance(base.known, Defined):
            return Value(Kind.CLASS, known=base.known)
        placement = knowledge.PLACEMENT_ATTRIBUTES.get(name)
        if placement is not None and kind is not Kind.CLASS:
            return self._placement_attribute(base, name, placement)
        if kind in TENSORS:
            if name in knowledge.NUMBER_ATTRIBUTES:
                return Value(Kind.NUMBER, measures=self.whose_size(base))
            if name in knowledge.GRADIENT:
                self.leaf(base, "differentiated")
            elif name in knowledge.TRANSPOSED or name in knowledge.TENSOR_DATA:
                return self.sliced(base, 0)
            elif name in knowledge.PART_OF_RESULT:
                return self.sliced(base, -1)
            return Value(Kind.TENSOR, base.place, base.who)
        if isinstance(base.known, Defined) and (kind is Kind.INSTANCE or kind is Kind.MODULE):
            return self._instance_attribute(base, base.known.dotted, name, node)
        if kind is Kind.MODULE:
            return self._module_attribute(base, name)
        if kind is Kind.ARRAY and name in knowledge.NUMBER_ATTRIBUTES:
            return NUMBER
        if kind is Kind.DEVICE:
            return Value(Kind.STRING, base.place) if name in knowledge.DEVICE_TYPE else NUMBER
        if kind in (Kind.BATCH, Kind.UNKNOWN):
            if name not in knowledge.MODES:
                self.attribute_evidence(base, name)
            if name in knowledge.NUMBER_ATTRIBUTES:
                self.note(base, Evidence.SHAPED)
                return Value(Kind.NUMBER, measures=self.whose_size(base))
            if name in knowledge.COUNTS_OF_BATCHES:
                return NUMBER
            if name in knowledge.TENSOR_DATA and base.place.form is not Form.UNKNOWN:
                return base  # the data of what was moved are where that is
            part = self.part(base, Attr(name))
            there = self.state.places.get(ref) if ref is not None else None
            if there is not None and there.form is not Form.UNKNOWN and part.place.form is Form.UNKNOWN:
                part = part._replace(place=there)  # `data.to(device)`: what has attributes moves in place
            if name in knowledge.GRADIENT or name in knowledge.TRANSPOSED:
                return part._replace(place=self.where(base))  # torch takes none that is elsewhere
            # What has attributes itself, a configuration of a model, need not move with that.
            return Value(who=part.who) if self._hangs_on_another(base) else part
        if kind is Kind.CLASS and isinstance(base.known, Defined):
            return self._class_attribute(base, base.known.dotted, name)
        if kind is Kind.OPTIMIZER and name == knowledge.OPTIMIZER_GROUPS and ref is not None:
            return Value(who=self.objects.part(ref, Attr(name)))
        if kind is Kind.OTHER and ref is not None:
            return Value(who=self.objects.part(ref, Attr(name)))  # of settings, say, as annotated
        return UNKNOWN

    def _hangs_on_another(self, value: Value) -> bool:
        """Whether it is an attribute of another object than `self`: of what was moved, or of settings."""
        ref = self.ref(value)
        if ref is None or not isinstance(self.objects.ways[ref], Attr):
            return False
        way = self.objects.ways[self.objects.parents[ref]]
        return not (isinstance(way, Root) and way.kind == "self")

    def _module_attribute(self, base: Value, name: str) -> Value:
        if name in knowledge.WRAPPED_MODULE:
            return base
        ref = self.ref(base)
        if ref is None:
            return UNKNOWN
        part = self.objects.part(ref, Attr(name))
        if name in knowledge.MODULE_PARAMETERS:
            return unmoved.weight(self, base, Value(Kind.PARAMETER, self.place_of(base), part))
        return Value(who=part)

    def _class_attribute(self, base: Value, cls: str, name: str) -> Value:
        view = self.program.view(cls)
        if view is None:
            return UNKNOWN
        found = view.attribute(name)
        if found is not None:
            return instance_attribute(self, base, found)
        method = view.method(name)
        return Value(Kind.FUNCTION, known=Defined(method)) if method is not None else UNKNOWN

    def _library_attribute(self, base: Value, name: str) -> Value:
        full = f"{dotted(base)}.{name}"
        if full in knowledge.DTYPES:
            return DTYPE
        if full in knowledge.CONSTANTS:
            return NUMBER
        found = self.program.resolve(full)
        return found if found is not None else library_value(full)

    def _placement_attribute(self, base: Value, name: str, what: str) -> Value:
        if what == "dtype" or what == "flag":
            self.note_unknown((base,), Evidence.SHAPED)
        if what == "dtype":
            return DTYPE._replace(measures=self.whose_size(base))
        if what == "flag":
            self.log.follows_devices = True  # who asks where it is knows that it may be elsewhere
            return flag(Truth(True, False))
        if base.kind is Kind.INSTANCE and isinstance(base.known, Defined):
            view = self.program.view(base.known.dotted)
            if view is None or not view.is_module or view.attribute(name) or view.method(name):
                return self._instance_attribute(base, base.known.dotted, name, None)
            if knowledge.SAYS_DEVICE in view.topics and self.here.own_name in knowledge.CONSTRUCTS:
                return Value(Kind.NONE)  # it has yet to be moved: as if no device were told
        if base.kind is Kind.MODULE:
            return Value(Kind.DEVICE, self.place_of(base))
        ref = self.ref(base)
        self.log.follows_devices = True
        if base.known in PREPARERS:
            return Value(Kind.DEVICE, Place(Form.EITHER, knowledge.CUDA), known=TORCH_DEVICE)
        if base.kind in _OF_NO_CLASS and base.place.form is Form.UNKNOWN and ref is not None:
            # `x.device` of a tensor, or `args.device` of a setting: what `x` is shows later.
            return Value(Kind.DEVICE, Place(Form.SAME, "", self.objects.part(ref, Attr(name))))
        known = TORCH_DEVICE if base.kind in TENSORS else None  # a module may call a string so
        return Value(Kind.DEVICE, self.where(base), known=known)

    def _instance_attribute(self, base: Value, cls: str, name: str, node: ast.AST | None) -> Value:
        view = self.program.view(cls)
        if view is None:
            return unknown_attribute(self, base, name)
        method = view.method(name)
        if method is not None:
            summary = self.program.summary(method)
            if summary is not None and summary.binding == "property":
                return apply_summary(self, node or self.here.node, summary, {}, base)
            return Value(Kind.FUNCTION, known=Defined(method))
        term = view.attribute(name)
        self.log.missed[view.name, name] = term
        if term is not None and term.kind is Kind.NONE:
            term = None  # a placeholder that something else fills
        ref = self.ref(base)
        if base.kind is Kind.MODULE and ref is not None:
            part = self.objects.part(ref, Attr(name))
            if term is None:
                return Value(who=part)
            value = _of_attribute(instance_attribute(self, base, term), f"{view.name}.{name}")
            if value.kind is Kind.PARAMETER and value.place.form is Form.CPU:
                return Value(Kind.PARAMETER, self.place_of(base), part)  # wherever it was made, it is there
            return value._replace(who=part) if value.kind in (Kind.MODULE, Kind.UNKNOWN) else value
        if term is not None:
            value = instance_attribute(self, base, term)
            if value.kind in TENSORS and self.program.is_moved_from_outside(name):
                return Value(value.kind, who=None if ref is None else self.objects.part(ref, Attr(name)))
            if value.place.form is Form.EITHER and value.kind in TENSORS and ref is not None:
                value = value._replace(who=self.objects.part(ref, Attr(name)))
                if view.varies(name):
                    self.log.varies.add(self.objects.part(ref, Attr(name)))
            if view.is_module and not view.is_variable(name):
                value = _of_attribute(value, f"{view.name}.{name}")
            if view.is_module and ref is not None and value.element is not None:
                value = self._holding_modules(value, ref, name)
            if view.is_module and ref is not None and value.kind in (Kind.PARAMETER, Kind.MODULE):
                part = self.objects.part(ref, Attr(name))
                if value.kind is Kind.PARAMETER:
                    return Value(Kind.PARAMETER, Place(Form.AT, "", ref), part)
                return value._replace(who=part, origin=None)
            if value.kind is Kind.MODULE and value.origin is not None and view.moves_part(name):
                return value._replace(origin=None)  # it is where a method has put it, perhaps
            if value.kind is Kind.UNKNOWN and value.who is None and ref is not None:
                # One of several values: what use shows of it is still worth keeping.
                return value._replace(who=self.objects.part(ref, Attr(name)))
            return value
        if name in knowledge.MODULE_ONLY or (view.is_module and name in knowledge.TENSOR_TOO):
            return UNKNOWN
        if name in knowledge.GROUPS and ref is not None and "optimizer" in view.topics:
            return self._groups(ref, name)
        if ref is not None:
            weight = unmoved.inherited(self, ref, view.library_base(), name, node or self.here.node)
            if weight is not None:
                return weight
        return unknown_attribute(self, base, name)

    def _groups(self, optimizer: int, name: str) -> Value:
        """What an optimizer has in `param_groups`: dicts, of which one item holds parameters."""
        groups = self.objects.part(optimizer, Attr(name))
        group = self.objects.part(groups, Element())
        held = self.objects.part(group, Item(knowledge.OPTIMIZED))
        each = self.objects.part(held, Element())
        parameter = Value(Kind.PARAMETER, Place(Form.AT, "", each), each)
        self.state.env[group, Item(knowledge.OPTIMIZED)] = container(held, element=parameter)
        return container(groups, element=container(group)._replace(known=MAPPING))

    def _holding_modules(self, value: Value, owner: int, name: str) -> Value:
        """What a module keeps in a list moves with it, if another attribute registers it."""
        element = value.element
        if element is None or element.kind is not Kind.MODULE:
            return value
        part = self.objects.part(self.objects.part(owner, Attr(name)), Element())
        return value._replace(element=element._replace(who=part, origin=None))


def _of_attribute(value: Value, attribute: str, depth: int = 2) -> Value:
    """A tensor that the attribute of a module holds, by itself or in a container: what made it is done."""
    if value.origin is not None and is_made(value):
        return value._replace(origin=value.origin._replace(how="attribute", attribute=attribute))
    if value.kind is not Kind.CONTAINER or not depth:
        return value
    items, element = value.items, value.element
    return value._replace(
        items=tuple(_of_attribute(item, attribute, depth - 1) for item in items) if items else items,
        element=_of_attribute(element, attribute, depth - 1) if element is not None else None,
    )
