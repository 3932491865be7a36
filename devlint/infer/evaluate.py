"""What an expression evaluates to: values, devices and evidence, in the state at that point."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..knowledge import api
from ..knowledge.attributes import MODULE_ONLY, TENSOR_ONLY, TENSOR_TOO
from . import guards
from .scope import Class, Function, Met, State, join_states, subscript_key
from .values import (
    AS_LOADER,
    AS_MODULE,
    AS_OTHER,
    AS_TENSOR,
    CPU,
    DTYPE,
    MAX_ITEMS,
    MAY_HOLD_TENSORS,
    NONE,
    NUMBER,
    OTHER,
    STRING,
    TENSORS,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Cell,
    Device,
    Form,
    Kind,
    Origin,
    Truth,
    Value,
    accelerator,
    container,
    join,
)

if TYPE_CHECKING:
    from .module import Module

DEVICE_NAME = re.compile(r"(cpu|cuda|mps|xpu|hpu|npu|mtia|xla|musa|ipu)(:\d+)?\Z")
_LOADER_ATTRIBUTES = frozenset({"dataset", "batch_sampler", "collate_fn", "num_workers"})
_MODULE_PARTS = frozenset({"weight", "bias", "in_proj_weight", "in_proj_bias"})
_MAX_NESTING = 400
"""Expressions nested deeper are unknown."""
_MAX_PARTIES = 64
"""Of more values that come together in one operation, the rest is left out: every two are a pair."""
_BUILTINS = frozenset(
    [
        "list",
        "tuple",
        "iter",
        "enumerate",
        "zip",
        "map",
        "filter",
        "next",
        "reversed",
        "sorted",
        "len",
        "isinstance",
        "max",
        "min",
        "sum",
        "dict",
        "set",
        "getattr",
        "setattr",
        "hasattr",
        "super",
        "int",
        "float",
        "str",
        "bool",
        "range",
        "print",
        "type",
        "id",
        "any",
        "all",
        "abs",
        "round",
        "open",
        "vars",
    ]
)
_ARITHMETIC = (ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.Pow, ast.Add, ast.FloorDiv)

Method = TypeVar("Method", bound=Callable[..., Value])
_HANDLERS: dict[type, Callable[[Any, Any], Value]] = {}


def handles(*types: type) -> Callable[[Method], Method]:
    """Register what evaluates expressions of some types; `calls` registers itself."""

    def register(method: Method) -> Method:
        for node_type in types:
            _HANDLERS[node_type] = method
        return method

    return register


class Evaluator:
    """Evaluates expressions in `state`; `flow.Flow` adds statements, `calls` the meaning of calls."""

    def __init__(self, module: Module, function: Function | None, state: State) -> None:
        self.module = module
        self.function = function
        self.state = state
        self.discarding: ast.expr | None = None
        """The call whose result the statement at hand throws away."""
        self.aliases: dict[Cell, Cell] = {}
        """The objects that callers pass, by the cells of the parameters."""
        self.lost: ast.expr | None = None
        """The move whose result is kept, but by nobody."""
        self.yields = False
        """Whether a `yield` was evaluated: a call of the function gives a generator."""
        self.comparing = False
        """Inside a comparison, where a device literal places nothing."""

    def eval(self, node: ast.expr) -> Value:
        """The value of an expression; notes evidence and facts on the way."""
        module = self.module
        if module.nesting > _MAX_NESTING:
            return UNKNOWN
        module.nesting += 1
        value = self._evaluated(node)
        module.nesting -= 1
        return value

    def _evaluated(self, node: ast.expr) -> Value:
        handler = _HANDLERS.get(type(node))
        if handler is not None:
            return handler(self, node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.eval(child)
        return UNKNOWN

    def fresh(self, node: ast.AST, role: str = "") -> Value:
        """An unknown value with an identity of its own, the same each time this node is evaluated."""
        return Value(cell=self.module.cell(node, role))

    # Names and constants

    @handles(ast.Name)
    def _name(self, node: ast.Name) -> Value:
        value = self.state.env.get(node.id)
        return value if value is not None else self.lookup(node.id)

    def lookup(self, name: str) -> Value:
        """A name that the function at hand does not bind: enclosing functions, the module, builtins."""
        function = self.function
        while function is not None:
            if function.enclosing is not None and name in function.enclosing:
                return function.enclosing[name]
            function = function.outer
        value = self.module.state.env.get(name)
        if value is not None:
            return value
        if name in _BUILTINS:
            return Value(Kind.LIBRARY, data=name)
        return Value(cell=self.module.cell(name, "global", name))

    @handles(ast.Constant)
    def _constant(self, node: ast.Constant) -> Value:
        value = node.value
        if value is None:
            return NONE
        if isinstance(value, str):
            if DEVICE_NAME.match(value):
                guarded = self.state.accelerated or value.startswith("cpu")
                origin = None if guarded else Origin("literal", node)
                return Value(Kind.STRING, accelerator(value), None, value, origin=origin)
            return Value(Kind.STRING, data=value)
        if isinstance(value, (bool, int, float)):
            return Value(Kind.NUMBER, data=value)
        return OTHER

    @handles(ast.JoinedStr)
    def _joined(self, node: ast.JoinedStr) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.eval(part.value)
        first = node.values[0] if node.values else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            kind = first.value.split(":")[0]
            if kind in api.ACCELERATOR_TYPES:
                return Value(Kind.STRING, accelerator(kind))
        return STRING

    # Parts of values

    def part(self, value: Value, key: object, via: str) -> Value:
        """An element, item or attribute of a value whose structure is unknown."""
        if value.cell is None:
            if value.kind is Kind.BATCH:
                return value
            return UNKNOWN
        stored = self.state.env.get((value.cell, key))
        if stored is not None:
            return stored
        cell = value.cell.child(key, "", via)
        if cell.batch is None and (value.kind is Kind.BATCH or via != "attribute"):
            cell.batch = value.cell.batch or (value.cell if _is_whole(value.cell) else None)
        elif cell.batch is None:
            cell.batch = value.cell.batch
        if not cell.label and value.cell.label and isinstance(key, str):
            cell.label = f"{value.cell.label}.{key}" if via == "attribute" else f'{value.cell.label}["{key}"]'
        device = value.device
        if device.key is value.cell:
            device = device._replace(key=cell)
        kind = Kind.BATCH if value.kind is Kind.BATCH else Kind.UNKNOWN
        return Value(kind, device, cell)

    def element_of(self, value: Value, node: ast.AST) -> Value:
        """What iterating over a value yields."""
        if value.kind is Kind.LOADER and value.cell is not None and value.element is not None:
            element = value.element
            if element.kind is not Kind.BATCH:
                return element
            cell = value.cell.child(("element", node), "", "element")
            key = cell if element.device.key is not None else None
            return Value(Kind.BATCH, element.device._replace(key=key), cell)
        if value.element is not None:
            return value.element
        if value.items:
            if all(item.kind is Kind.STRING and isinstance(item.data, str) for item in value.items):
                return Value(Kind.STRING, data=tuple(item.data for item in value.items))
            element = value.items[0]
            for item in value.items[1:]:
                element = join(element, item)
            return element
        if value.kind in TENSORS:
            return Value(Kind.TENSOR, value.device, value.cell)
        if value.kind is Kind.MODULE and value.cell is not None:
            return Value(Kind.MODULE, cell=value.cell.child("element", "", "element"), origin=value.origin)
        if value.kind in (Kind.BATCH, Kind.UNKNOWN) and value.cell is not None:
            return self.part(value, ("element", node), "element")
        return UNKNOWN

    def unpack(self, value: Value, count: int, index: int) -> Value:
        """The element at `index` when a value is unpacked into `count` targets."""
        if value.items is not None:
            if len(value.items) == count:
                return value.items[index]
            return UNKNOWN
        if value.element is not None and value.kind is Kind.CONTAINER:
            return value.element
        if value.kind in TENSORS:
            return Value(Kind.TENSOR, value.device, value.cell)
        if value.kind in (Kind.BATCH, Kind.UNKNOWN):
            return self.part(value, index, "item")
        return UNKNOWN

    @handles(ast.Attribute)
    def _attribute(self, node: ast.Attribute) -> Value:
        return self.attribute(self.eval(node.value), node.attr, node)

    def attribute(self, base: Value, name: str, node: ast.Attribute) -> Value:
        """The value of an attribute of `base`."""
        kind = base.kind
        if kind is Kind.LIBRARY:
            return self._library_attribute(base, name)
        if base.cell is not None:
            stored = self.state.env.get((base.cell, name))
            if stored is not None:
                return stored
        if name in ("device", "is_cuda", "dtype") and kind is not Kind.CLASS:
            return self._placement_attribute(base, name)
        if kind in TENSORS:
            if name in api.NUMBER_ATTRIBUTES:
                return NUMBER
            if base.cell is not None:
                return Value(Kind.TENSOR, base.device, base.cell)
            return Value(Kind.TENSOR, base.device)
        if kind is Kind.INSTANCE or (kind is Kind.MODULE and isinstance(base.data, Class)):
            return self._instance_attribute(base, name)
        if kind is Kind.MODULE:
            if name == "module":
                return base
            if base.cell is None:
                return UNKNOWN
            part = base.cell.child(name, "", "attribute")
            if name in _MODULE_PARTS:
                return Value(Kind.PARAMETER, self.place_of(base), part)
            return Value(cell=part)
        if kind is Kind.DEVICE:
            return Value(Kind.STRING, base.device) if name == "type" else NUMBER
        if kind in (Kind.BATCH, Kind.UNKNOWN):
            if base.cell is not None:
                self.attribute_evidence(base.cell, name)
            if name in api.NUMBER_ATTRIBUTES:
                return NUMBER
            return self.part(base, name, "attribute")
        if kind is Kind.CLASS:
            found: Value | None = base.data.attribute(name)
            if found is None and base.data.method(name) is not None:
                return Value(Kind.FUNCTION, data=base.data.method(name))
            return found or UNKNOWN
        return UNKNOWN

    def _library_attribute(self, base: Value, name: str) -> Value:
        dotted = f"{base.data}.{name}"
        if base.data == "torch" and name in api.DTYPES:
            return DTYPE
        found = self.module.resolve(dotted)
        return found if found is not None else Value(Kind.LIBRARY, data=dotted)

    def _placement_attribute(self, base: Value, name: str) -> Value:
        if name == "dtype":
            return DTYPE
        if name == "is_cuda":
            return Value(Kind.FLAG, data=Truth(True, False))
        if base.kind is Kind.INSTANCE and isinstance(base.data, Class) and not base.data.is_module:
            return self._instance_attribute(base, name)
        if base.kind is Kind.INSTANCE and (base.data.attribute(name) or base.data.method(name)):
            return self._instance_attribute(base, name)
        if base.kind is Kind.MODULE:
            return Value(Kind.DEVICE, self.place_of(base))
        if base.kind is Kind.UNKNOWN and base.device.form is Form.UNKNOWN and base.cell is not None:
            # `x.device` of a tensor, or `args.device` of a setting: what `x` is shows later.
            device = base.cell.child("device", f"{base.cell.label}.device", "device")
            return Value(Kind.DEVICE, Device(Form.SAME, "", device))
        return Value(Kind.DEVICE, self.location(base), cell=None)

    def _instance_attribute(self, base: Value, name: str) -> Value:
        cls: Class = base.data
        method = cls.method(name)
        if method is not None:
            if method.prop:
                return self.module.property_value(self, method, base)
            return Value(Kind.FUNCTION, data=method)
        value = cls.attribute(name)
        if value is not None and value.kind is Kind.NONE:
            value = None  # a placeholder that something else fills
        if base.kind is Kind.MODULE and base.cell is not None:
            part = base.cell.child(name, "", "attribute")
            if value is None:
                return Value(cell=part)
            return value._replace(cell=part) if value.kind in (Kind.MODULE, Kind.UNKNOWN) else value
        if value is not None:
            if cls.is_module and value.kind is Kind.PARAMETER:
                part = cls.cell.child(name, f"self.{name}", "attribute")
                return Value(Kind.PARAMETER, Device(Form.AT, "", cls.cell), part)
            if cls.is_module and value.kind is Kind.MODULE:
                return value._replace(cell=cls.cell.child(name, f"self.{name}", "attribute"), origin=None)
            return value
        cell = cls.cell.child(name, "", "attribute")
        cell.label = f"self.{name}"
        self.module.attribute_missed(self.function, cls, name)
        if name in MODULE_ONLY or (cls.is_module and name in TENSOR_TOO):
            return UNKNOWN
        return Value(cell=cell)

    def attribute_evidence(self, cell: Cell, name: str) -> None:
        """Learn from an attribute's name what the object is.

        That a method of tensors is read, and not called, says nothing: a part of a module may be called so.
        """
        if name in TENSOR_ONLY:
            if name in ("mT", "mH"):
                cell.note(AS_TENSOR)
        elif name in MODULE_ONLY:
            cell.note(AS_MODULE)
        elif name in _LOADER_ATTRIBUTES:
            cell.note(AS_LOADER | AS_OTHER)
        elif name not in TENSOR_TOO:
            cell.note(AS_OTHER)

    @handles(ast.Subscript)
    def _subscript(self, node: ast.Subscript) -> Value:
        base = self.eval(node.value)
        index = self.eval(node.slice)
        kind = base.kind
        if self.module.keeping and index.device != base.device:
            self.module.spill(index)  # an index of another device is an error, unless it is on the cpu
        if kind in TENSORS:
            return Value(Kind.TENSOR, base.device, base.cell)
        if kind is Kind.CONTAINER:
            known = _position(base, index)
            if known is not None and base.items is not None:
                return (self.state.env.get((base.cell, known)) if base.cell else None) or base.items[known]
            stored = self.state.env.get((base.cell, subscript_key(node.slice))) if base.cell else None
            if stored is not None:
                return stored
            if isinstance(node.slice, ast.Slice):
                return base._replace(items=None, element=self.element_of(base, node))
            return self.element_of(base, node)
        if kind is Kind.MODULE and base.cell is not None:
            part = base.cell.child(subscript_key(node.slice), "", "item")
            return Value(Kind.MODULE, cell=part, origin=base.origin)
        if kind in (Kind.BATCH, Kind.UNKNOWN) and base.cell is not None:
            if kind is Kind.BATCH and base.cell.batch is not None and type(index.data) is int:
                # One entry of a tensor may be 0-dim, and then it may meet any device.
                place = base.device if base.device.form is not Form.CPU else UNKNOWN_DEVICE
                return Value(Kind.BATCH, place, base.cell.child(index.data, "", "item"))
            if is_tensor_index(node.slice):
                if kind is Kind.UNKNOWN:
                    return base  # an array, a frame or a list of boxes is indexed so, too
                base.cell.note(AS_TENSOR)
                return Value(Kind.TENSOR, self.location(base), base.cell)
            if index.kind is Kind.STRING and kind is Kind.UNKNOWN:
                base.cell.note(AS_OTHER)
            if isinstance(node.slice, ast.Slice):
                return base
            return self.part(base, subscript_key(node.slice), "item")
        if kind is Kind.NUMBER:
            return NUMBER
        return UNKNOWN if kind is not Kind.LIBRARY else base

    # Places

    def place_of(self, module: Value) -> Device:
        """Where a module is: where it was moved, or wherever its owner is, or the cpu if it was made here."""
        cell = module.cell
        while cell is not None:
            place = self.state.places.get(cell)
            if place is not None:
                return place
            cell = cell.parent if cell.via else None
        if module.cell is None:
            return UNKNOWN_DEVICE
        if module.origin is not None and module.origin.how == "made":
            return CPU
        top = module.cell
        while top.via and top.parent is not None:
            top = top.parent
        return Device(Form.AT, "", top)

    def location(self, value: Value) -> Device:
        """Where a value is; an unknown object is at a place of its own."""
        if value.kind in (Kind.MODULE, Kind.INSTANCE):
            return self.place_of(value)
        if (
            value.device.form is Form.UNKNOWN
            and value.cell is not None
            and value.kind in (Kind.UNKNOWN, Kind.BATCH)
        ):
            return Device(Form.AT, "", value.cell)
        return value.device

    def combine(self, parties: Sequence[Value]) -> Device:
        """Where the result of an operation lives: with its tensors, of which 0-dim ones do not count."""
        best = UNKNOWN_DEVICE
        for value in parties:
            if value.kind in MAY_HOLD_TENSORS:
                device = self.location(value)
                if value.kind is Kind.SCALAR and len(parties) > 1:
                    continue
                if best.form is Form.UNKNOWN or (
                    device.form is not Form.UNKNOWN and _weight(device) > _weight(best)
                ):
                    best = device
        return best

    def meet(self, node: ast.AST, parties: Sequence[tuple[ast.expr, Value]]) -> Device:
        """Record that values come together in one operation; returns where the result lives."""
        distinct: dict[object, tuple[ast.expr, Device, Value]] = {}
        for at, value in parties:
            if value.kind in MAY_HOLD_TENSORS:
                place = self.location(value)
                distinct.setdefault((place, value.cell, value.kind), (at, place, value))
        if len(distinct) > 1:
            places = list(distinct.values())[:_MAX_PARTIES]
            for i, (left, here, one) in enumerate(places):
                for right, there, other in places[i + 1 :]:
                    if not (_excused(one, here) or _excused(other, there)):
                        self.meeting(left, here, right, there, one.cell, other.cell)
        return self.combine([value for _, value in parties])

    def meeting(
        self,
        left: ast.expr,
        here: Device,
        right: ast.AST,
        there: Device,
        one: Cell | None = None,
        other: Cell | None = None,
    ) -> None:
        """Record that values on two devices come together; `one` and `other` are their cells, where known."""
        if here == there:
            return
        if Form.UNKNOWN in (here.form, there.form) and not self.module.keeping:
            return
        self.module.met(Met(self.function, left, here, right, there, one, other))

    # Operators

    @handles(ast.BinOp)
    def _binop(self, node: ast.BinOp) -> Value:
        left, right = self.eval(node.left), self.eval(node.right)
        if left.kind is Kind.STRING:
            return STRING
        if left.kind is Kind.CONTAINER or right.kind is Kind.CONTAINER:
            return concatenation(left, right)
        if isinstance(node.op, _ARITHMETIC):
            for value, other in ((left, right), (right, left)):
                if value.cell is not None and value.kind is Kind.UNKNOWN and other.kind is not Kind.STRING:
                    value.cell.note(AS_TENSOR)
        if Kind.NUMBER in (left.kind, right.kind):
            other = right if left.kind is Kind.NUMBER else left
            if other.kind is Kind.BATCH and other.cell is not None and other.cell.via == "attribute":
                return other  # `total + batch.num_graphs`: as likely a number as a tensor
        if left.kind in TENSORS or right.kind in TENSORS or Kind.BATCH in (left.kind, right.kind):
            for value in (left, right):
                if value.kind is Kind.BATCH and value.cell is not None:
                    value.cell.note(AS_TENSOR)
            device = self.meet(node, [(node.left, left), (node.right, right)])
            kind = Kind.SCALAR if left.kind is right.kind is Kind.SCALAR else Kind.TENSOR
            return Value(kind, device, self.module.cell(node, "op"))
        if left.kind is right.kind is Kind.NUMBER:
            return NUMBER
        if Kind.UNKNOWN in (left.kind, right.kind) and (left.cell or right.cell):
            device = self.meet(node, [(node.left, left), (node.right, right)])
            cell = self.module.cell(node, "op")
            for value in (left, right):
                if value.kind is Kind.UNKNOWN and value.cell is not None:
                    cell.flows_from(value.cell)
            return Value(Kind.UNKNOWN, device, cell)
        return UNKNOWN

    @handles(ast.UnaryOp)
    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            truth = guards.truth(node.operand, value)
            return (
                Value(Kind.FLAG, data=truth._replace(if_true=truth.if_false, if_false=truth.if_true))
                if truth
                else NUMBER
            )
        if (
            value.kind is Kind.NUMBER
            and isinstance(node.op, ast.USub)
            and isinstance(value.data, (int, float))
        ):
            return Value(Kind.NUMBER, data=-value.data)
        if isinstance(node.op, ast.Invert) and value.cell is not None and value.kind is Kind.UNKNOWN:
            value.cell.note(AS_TENSOR)
        return value

    @handles(ast.BoolOp)
    def _boolop(self, node: ast.BoolOp) -> Value:
        before = self.state.accelerated
        conjunction = isinstance(node.op, ast.And)
        result: Value | None = None
        truths: list[Truth] = []
        for operand in node.values:
            value = self.eval(operand)
            truth = guards.truth(operand, value)
            truths.append(truth or Truth(False, False))
            if truth and (truth.if_true if conjunction else truth.if_false):
                self.state.accelerated = True
            result = value if result is None else join(result, value)
        self.state.accelerated = before
        any_true, any_false = any(t.if_true for t in truths), any(t.if_false for t in truths)
        if any_true or any_false:
            all_true, all_false = all(t.if_true for t in truths), all(t.if_false for t in truths)
            machine = all(t.machine for t in truths)
            truth = (
                Truth(any_true, all_false, machine) if conjunction else Truth(all_true, any_false, machine)
            )
            return Value(Kind.FLAG, data=truth)
        return result or UNKNOWN

    @handles(ast.Compare)
    def _compare(self, node: ast.Compare) -> Value:
        comparing, self.comparing = self.comparing, True
        operands = [node.left, *node.comparators]
        values = [self.eval(operand) for operand in operands]
        self.comparing = comparing
        if len(values) == 2:
            truth = guards.comparison(node, values[0], values[1])
            if truth is not None:
                return Value(Kind.FLAG, data=truth)
        if any(isinstance(op, (ast.In, ast.NotIn, ast.Is, ast.IsNot)) for op in node.ops):
            return NUMBER
        if any(isinstance(op, (ast.Lt, ast.Gt, ast.LtE, ast.GtE)) for op in node.ops):
            for value, other in zip(values, reversed(values), strict=True):
                if value.kind is Kind.UNKNOWN and value.cell is not None and other.kind in TENSORS:
                    value.cell.note(AS_TENSOR)
        tensorial = any(v.kind in TENSORS or v.kind is Kind.BATCH for v in values)
        if tensorial and not any(v.kind in (Kind.STRING, Kind.NONE) for v in values):
            for value in values:
                if value.kind is Kind.UNKNOWN and value.cell is not None:
                    value.cell.note(AS_TENSOR)
            device = self.meet(node, list(zip(operands, values, strict=True)))
            return Value(Kind.TENSOR, device, self.module.cell(node, "op"))
        return NUMBER

    @handles(ast.IfExp)
    def _ifexp(self, node: ast.IfExp) -> Value:
        test = self.eval(node.test)
        guards.prepare(self, node.test)
        otherwise = self.state.copy()
        guards.assume(self, node.test, test, True)
        body = self.eval(node.body)
        then, self.state = self.state, otherwise
        guards.assume(self, node.test, test, False)
        orelse = self.eval(node.orelse)
        accelerated = otherwise.accelerated and then.accelerated
        self.state = join_states(then, otherwise)
        self.state.accelerated = accelerated
        forms = {body.device.form, orelse.device.form}
        if forms == {Form.CPU, Form.ACCELERATOR} and body.kind in (Kind.STRING, Kind.DEVICE):
            self.module.harmless((node.body, node.orelse))
        return join(body, orelse)

    @handles(ast.NamedExpr)
    def _walrus(self, node: ast.NamedExpr) -> Value:
        value = self.eval(node.value)
        self.bind(node.target, value)
        return value

    @handles(ast.Await)
    def _await(self, node: ast.Await) -> Value:
        return self.eval(node.value)

    @handles(ast.Starred)
    def _starred(self, node: ast.Starred) -> Value:
        return self.element_of(self.eval(node.value), node)

    @handles(ast.Slice)
    def _slice(self, node: ast.Slice) -> Value:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.eval(part)
        return OTHER

    # Displays

    @handles(ast.Tuple, ast.List, ast.Set)
    def _display(self, node: ast.Tuple | ast.List | ast.Set) -> Value:
        items = node.elts
        long = len(items) > MAX_ITEMS
        if long:  # a table of numbers, as a rule
            items = [item for item in items if not isinstance(item, ast.Constant)]
        values = [self.eval(item) for item in items][:MAX_ITEMS]
        if long or any(isinstance(item, ast.Starred) for item in items):
            element: Value | None = None
            for value in values:
                element = value if element is None else join(element, value)
            return container(cell=self.module.cell(node, "made"), element=element, data=held_by(values))
        if not values:
            return container(cell=self.module.cell(node, "made"), items=())
        cell = self.module.cell(node, "made")
        for position in range(len(values)):
            self.state.env.pop((cell, position), None)  # of a list that was made here before
        return container(cell=cell, items=tuple(values), data=held_by(values))

    @handles(ast.Dict)
    def _dict(self, node: ast.Dict) -> Value:
        element: Value | None = None
        cell = self.module.cell(node, "made")
        values = []
        for key, item in zip(node.keys, node.values, strict=True):
            if key is not None:
                self.eval(key)
            value = self.eval(item)
            if key is None:
                value = self.element_of(value, item)
            else:
                self.state.env[(cell, subscript_key(key))] = value
            values.append(value)
            element = value if element is None else join(element, value)
        return container(cell=cell, element=element, data=held_by(values))

    @handles(ast.ListComp, ast.SetComp, ast.GeneratorExp)
    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        element = self._generate(node.generators, [node.elt])
        return container(cell=self.module.cell(node, "made"), element=element, data=held_by([element]))

    @handles(ast.DictComp)
    def _dictcomp(self, node: ast.DictComp) -> Value:
        element = self._generate(node.generators, [node.key, node.value])
        return container(cell=self.module.cell(node, "made"), element=element)

    def _generate(self, generators: list[ast.comprehension], results: list[ast.expr]) -> Value:
        names = {
            name.id
            for generator in generators
            for name in ast.walk(generator.target)
            if isinstance(name, ast.Name)
        }
        hidden = {name: self.state.env[name] for name in names if name in self.state.env}
        accelerated = self.state.accelerated
        for generator in generators:
            iterable = self.eval(generator.iter)
            self.state.accelerated |= guards.counts_accelerators(self, generator.iter)
            self.bind(generator.target, self.element_of(iterable, generator.iter))
            for test in generator.ifs:
                guards.assume(self, test, self.eval(test), True)
        value = UNKNOWN
        for result in results:
            value = self.eval(result)
        for name in names:
            self.state.env.pop(name, None)
        self.state.env.update(hidden)
        self.state.accelerated = accelerated
        return value

    @handles(ast.Lambda)
    def _lambda(self, node: ast.Lambda) -> Value:
        return Value(Kind.FUNCTION, data=self.module.function(node, self))

    @handles(ast.Yield, ast.YieldFrom)
    def _yield(self, node: ast.Yield | ast.YieldFrom) -> Value:
        self.yields = True
        if node.value is not None:
            self.eval(node.value)
        return UNKNOWN

    # Binding

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a target."""
        if value.kind in (Kind.DEVICE, Kind.STRING) and value.device.form in (Form.EITHER, Form.CPU):
            value = value._replace(device=self._symbol(target, value.device))
        if isinstance(target, ast.Name):
            if value.cell is not None and not value.cell.label:
                value.cell.label = target.id
            self.state.env[target.id] = value
            self.module.bound(self, target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            stars = [index for index, item in enumerate(target.elts) if isinstance(item, ast.Starred)]
            for index, item in enumerate(target.elts):
                if isinstance(item, ast.Starred):
                    self.bind(item.value, container(element=self.element_of(value, item)))
                elif stars and (index > stars[0] or value.items is not None):
                    self.bind(item, self.element_of(value, item))
                else:
                    self.bind(item, self.unpack(value, len(target.elts), index))
        elif isinstance(target, ast.Attribute):
            self._bind_attribute(target, value)
        elif isinstance(target, ast.Subscript):
            self._bind_item(target, value)

    def _symbol(self, target: ast.expr, chosen: Device) -> Device:
        """A device that the program chooses at run time is known by the variable that keeps it."""
        if not isinstance(target, (ast.Name, ast.Attribute)):
            return chosen
        label = target.id if isinstance(target, ast.Name) else ast.unparse(target)
        form = Form.SAME if chosen.form is Form.EITHER else chosen.form
        return Device(form, chosen.name, self.module.cell(target, "device", label))

    def _bind_attribute(self, target: ast.Attribute, value: Value) -> None:
        base = self.eval(target.value)
        if target.attr == "data" and (base.kind in TENSORS or base.kind is Kind.UNKNOWN):
            if isinstance(target.value, (ast.Name, ast.Attribute)) and value.kind in TENSORS:
                self.bind(target.value, base._replace(device=value.device))
            return
        if base.cell is None:
            return
        if value.cell is not None and not value.cell.label and isinstance(target.value, ast.Name):
            value.cell.label = f"{target.value.id}.{target.attr}"
        self.state.env[(base.cell, target.attr)] = value
        if base.kind in (Kind.INSTANCE, Kind.CLASS):
            self.module.attribute_assigned(self, base.data, target.attr)

    def _bind_item(self, target: ast.Subscript, value: Value) -> None:
        base = self.eval(target.value)
        index = self.eval(target.slice)
        if base.cell is None or base.kind in TENSORS:
            return
        if index.kind is Kind.STRING and isinstance(index.data, tuple):
            for key in index.data:
                self.state.env[(base.cell, key)] = value
            return
        if value.origin is not None and value.origin.how == "moved":
            _place_element(base.cell)
        known = _position(base, index) if base.kind is Kind.CONTAINER else None
        if known is not None and base.items is not None:
            items = (*base.items[:known], value, *base.items[known + 1 :])
            self.state.env[(base.cell, known)] = value
            self._rebind(target.value, container(base.cell, items, data=base.data))
            return
        key = subscript_key(target.slice)
        self.state.env[(base.cell, key)] = value
        if base.kind in (Kind.BATCH, Kind.UNKNOWN) and not isinstance(target.slice, ast.Constant):
            self._rebind_whole(target.value, base, value)
        elif base.kind is Kind.CONTAINER and base.items is None:
            element = value if base.element is None else join(base.element, value)
            self._rebind(target.value, container(base.cell, element=element, data=base.data))

    def _rebind_whole(self, target: ast.expr, base: Value, value: Value) -> None:
        """`batch[k] = batch[k].to(d)` in a loop over the keys moves the whole batch."""
        if value.device.form is Form.UNKNOWN or value.origin is None or value.origin.how != "moved":
            return
        self._rebind(target, Value(base.kind, value.device, base.cell, origin=value.origin))

    def _rebind(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.state.env[target.id] = value
        elif isinstance(target, ast.Attribute):
            base = self.eval(target.value)
            if base.cell is not None:
                self.state.env[(base.cell, target.attr)] = value


def _position(base: Value, index: Value) -> int | None:
    """The item of a container that an index selects, counted from its start."""
    length = len(base.items) if base.items is not None else 0
    known = type(index.data) is int and -length <= index.data < length
    return index.data % length if known else None


def _weight(device: Device) -> int:
    """How much a device says about where a mixed operation was meant to run."""
    return {Form.UNKNOWN: 0, Form.AT: 1, Form.CPU: 2}.get(device.form, 3)


def _excused(value: Value, device: Device) -> bool:
    """Whether a value may meet any device: torch accepts 0-dim tensors of the cpu."""
    return value.kind is Kind.SCALAR and device.form in (Form.CPU, Form.AT)


def _place_element(cell: Cell) -> None:
    """A moved value is stored deep inside an element of a batch: the loop around it moves that element."""
    if cell.batch is None:
        return
    element = cell
    while element.parent is not None and element.parent is not cell.batch:
        element = element.parent
    element.placed |= element is not cell


def _is_whole(cell: Cell) -> bool:
    """Whether the parts of an object share its fate: what a loop yields, and what a caller passes."""
    return cell.via in ("element", "parameter")


def is_tensor_index(node: ast.expr) -> bool:
    """Whether only a tensor or array is indexed so: several axes, an ellipsis, or a new axis."""
    if isinstance(node, ast.Tuple):
        return any(
            isinstance(item, ast.Slice) or (isinstance(item, ast.Constant) and item.value in (None, ...))
            for item in node.elts
        )
    return isinstance(node, ast.Constant) and node.value is ...


def held_by(values: Sequence[Value]) -> frozenset[Cell] | None:
    """The modules whose parameters are among the values, or inside them."""
    found: set[Cell] = set()
    for value in values:
        if isinstance(value.data, frozenset):
            found |= value.data
    return frozenset(found) or None


def concatenation(left: Value, right: Value) -> Value:
    """`list + list`, or a list repeated."""
    if left.kind is not Kind.CONTAINER:
        left, right = right, left
    if right.kind is not Kind.CONTAINER:
        return container(left.cell, element=left.items[0], data=left.data) if left.items else left
    held = held_by([left, right])
    if left.items is not None and right.items is not None:
        return container(cell=left.cell, items=left.items + right.items, data=held)
    elements = [v.element or (v.items[0] if v.items else None) for v in (left, right)]
    known = [element for element in elements if element is not None]
    element = join(known[0], known[-1]) if known else None
    return container(cell=left.cell, element=element, data=held)
