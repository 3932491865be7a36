"""What an expression evaluates to: values, places and evidence, in the state at that point."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any, TypeVar

from .. import knowledge
from ..bind.names import last_name
from ..bind.walk import descendants
from ..core.evidence import Evidence
from ..core.kinds import TENSORS, Kind
from ..core.paths import OF_OPERATION, Attr, Item, Root
from ..core.places import CPU, UNKNOWN_PLACE, Form, Place, literal
from ..core.state import join_states
from ..core.values import (
    MAPPING,
    MAX_ITEMS,
    NONE,
    NUMBER,
    OTHER,
    STRING,
    UNKNOWN,
    Api,
    Const,
    Defined,
    Origin,
    Truth,
    Value,
    Words,
    constant,
    container,
    derived,
    dotted,
    is_made,
    library_value,
)
from . import cases, conditions, recalled, renamed
from .calls import call
from .log import RawCompare, RawUse
from .machine import flag, subscript_step, text_of
from .substitute import instance_attribute
from .targets import Targets, position_of
from .transfers.containers import concatenation, held_by
from .transfers.ranks import of_product

_DEVICES = {Kind.DEVICE, Kind.STRING}
_MAY_BE_MASKED = frozenset({Kind.UNKNOWN, Kind.NUMBER})
_ARITHMETIC = (ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.Pow, ast.Add, ast.FloorDiv)
_NO_DIMENSIONS = {Kind.SCALAR, Kind.NUMBER}
_ORDER = (ast.Lt, ast.Gt, ast.LtE, ast.GtE)
_MEMBERSHIP = (ast.In, ast.NotIn, ast.Is, ast.IsNot)
_OPERATORS: dict[type[ast.cmpop], str] = {
    **{ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"},
    **{ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">="},
}
_MAX_DEPTH = 200
"""Expressions nested deeper are unknown: no person reads them."""

Method = TypeVar("Method", bound=Callable[..., Value])
_HANDLERS: dict[type, Callable[[Any, Any], Value]] = {}


def _handles(*types: type) -> Callable[[Method], Method]:
    def register(method: Method) -> Method:
        for node_type in types:
            _HANDLERS[node_type] = method
        return method

    return register


_handles(ast.Call)(call)


def _captured(value: Value) -> Value:
    """What a function finds in a variable of another one, or of the module."""
    return value._replace(place=value.place.of_another()) if value.place.when else value


@lru_cache(maxsize=1024, typed=True)
def _constant(kind: Kind, value: str | int | float) -> Value:
    return Value(kind, known=Const(value))


class Expressions(Targets):
    """Evaluates expressions in `state`."""

    depth = 0
    """How deep the expression at hand is nested."""
    yields = False
    """Whether a `yield` was evaluated: a call of the function gives a generator."""
    element_given: Value | None = None
    """What that yields."""

    def eval(self, node: ast.expr) -> Value:
        """The value of an expression; records evidence and events on the way."""
        handler = _HANDLERS.get(type(node))
        if handler is None:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.eval(child)
            return UNKNOWN
        if self.depth >= _MAX_DEPTH:
            return UNKNOWN
        self.depth += 1
        value = handler(self, node)
        self.depth -= 1
        return value

    # Names and constants

    @_handles(ast.Name)
    def _name(self, node: ast.Name) -> Value:
        value = self.state.env.get(node.id)
        if value is None:
            value = self.lookup(node.id)
        if value.kind is Kind.LIBRARY and isinstance(value.known, Api):
            found = self.program.resolve(value.known.dotted)
            return value if found is None else found
        return value

    def lookup(self, name: str) -> Value:
        """A name that the function at hand does not bind: enclosing functions, the module, builtins."""
        function = self.here
        while function.outer is not None:
            if function.enclosing is not None and name in function.enclosing:
                return _captured(function.enclosing[name])
            function = function.outer
        value = self.program.top(name)
        if value is not None:
            if value.kind is Kind.NONE and name not in self.here.bound and self.program.is_set_later(name):
                return Value(who=self.objects.global_(name))  # None until a function has set it
            return _captured(value) if self.here.outer is not None else value
        if name in knowledge.BUILTINS:
            return library_value(name)
        return Value(who=self.objects.global_(name))

    @_handles(ast.Constant)
    def _constant(self, node: ast.Constant) -> Value:
        value = node.value
        if value is None:
            return NONE
        if isinstance(value, str):
            if knowledge.is_device_name(value):
                origin = None
                if not value.startswith(CPU.name):
                    at = self.here.number(node)
                    origin = Origin("literal", self.here.name, at)
                    self.log.born[at] = self.state.why
                return Value(Kind.STRING, literal(value), None, Const(value), origin=origin)
            return _constant(Kind.STRING, value)
        if isinstance(value, (bool, int, float)):
            return _constant(Kind.NUMBER, value)
        return OTHER

    @_handles(ast.JoinedStr)
    def _joined(self, node: ast.JoinedStr) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.eval(part.value)
        first = node.values[0] if node.values else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            kind = first.value.split(":")[0]
            if kind in knowledge.ACCELERATORS:
                return Value(Kind.STRING, literal(kind))
        return STRING

    # Parts of values

    @_handles(ast.Attribute)
    def _attribute(self, node: ast.Attribute) -> Value:
        base = self.eval(node.value)
        if node.attr in knowledge.RENEWS_STATE:
            self.renews(base, node.attr)
        value = self.attribute(base, node.attr, node)
        if value.kind is Kind.LIBRARY and isinstance(node.ctx, ast.Load):
            self.log.uses.pop(node.value, None)
            self.log.uses[node] = RawUse(dotted(value), self.state.why, self.loops)
        return self.known_by(node, base, Attr(node.attr), value)

    @_handles(ast.Subscript)
    def _subscript(self, node: ast.Subscript) -> Value:
        base = self.eval(node.value)
        index = self.eval(node.slice)
        kind = base.kind
        if index.place != base.place:
            self.spill((index,))  # an index of another device is an error, unless it is on the cpu
        if kind is Kind.SCALAR and type(constant(index)) is int:
            return NUMBER  # `loss.data[0]`: before torch 0.4 it had one element, which was a number
        if kind in TENSORS:
            self.index(node.value, base, node.slice, index)
            return self.sliced(base, self._dimensions_of_index(node.slice, index))
        ref = self.ref(base)
        if kind is Kind.CONTAINER:
            return self.known_by(node, base, subscript_step(node.slice), self._item(node, base, index))
        if kind is Kind.MODULE and ref is not None:
            return Value(
                Kind.MODULE, who=self.objects.part(ref, subscript_step(node.slice)), origin=base.origin
            )
        if kind in (Kind.BATCH, Kind.UNKNOWN) and ref is not None:
            number = constant(index)
            if kind is Kind.BATCH and self.objects.wholes[ref] >= 0 and type(number) is int:
                # One entry of a tensor may be 0-dim, and then it may meet any device.
                place = base.place if base.place.form is not Form.CPU else UNKNOWN_PLACE
                return Value(Kind.BATCH, place, self.objects.part(ref, Item(number)))
            if is_tensor_index(node.slice):
                self.note(base, Evidence.SHAPED)
                if kind is Kind.UNKNOWN and any(map(_is_new_axis, index.items or (index,))):
                    return self.own(node, Kind.ARRAY, CPU)
                if kind is Kind.UNKNOWN:
                    return base  # an array, a frame or a list of boxes is indexed so, too
                self.note(base, Evidence.TENSOR)
                return Value(Kind.TENSOR, self.where(base), base.who)
            if is_made(index) and index.origin is not None and index.origin.dims:
                self.note(base, Evidence.SHAPED)
                return base  # as above
            if index.kind is Kind.STRING and kind is Kind.UNKNOWN:
                self.note(base, Evidence.OTHER)
                if knowledge.is_state_name(constant(index)):
                    self.note(self.part(base, subscript_step(node.slice)), Evidence.RESTORED)
            given = self._is_computed(index) and self.objects.is_parameter(ref)
            if given and not self.is_entry(node.slice):  # only who gives it knows where it is
                there = self.where(index)
                self.meeting("index", node.value, self.where(base), base, node.slice, there, index)
            if isinstance(node.slice, ast.Slice):
                return base
            return self.part(base, subscript_step(node.slice))
        if kind is Kind.NUMBER:
            return base
        if type(constant(index)) is int and self.is_alias(base):
            return self.part(base, subscript_step(node.slice))
        return base if kind is Kind.LIBRARY else UNKNOWN

    def _is_computed(self, index: Value) -> bool:
        """Whether an index is a tensor, or what an operation gave, and was not made on the cpu."""
        if index.kind is Kind.UNKNOWN:
            way = self.objects.ways[index.who] if type(index.who) is int else None
            return isinstance(way, Root) and way.name == OF_OPERATION
        return index.kind is Kind.TENSOR and not is_made(index)

    def index(self, at: ast.expr, base: Value, where: ast.expr, index: Value) -> None:
        """What a tensor is indexed with is on the cpu or where the tensor is, unless it is 0-dim."""
        items = index.items if index.kind is Kind.CONTAINER and index.items is not None else (index,)
        indices = zip(where.elts if isinstance(where, ast.Tuple) else repeat(where), items, strict=False)
        if base.place.form is Form.CPU or is_made(base):
            for part, value in indices:
                batch = value.kind is Kind.BATCH and value.place.form not in (Form.CPU, Form.UNKNOWN)
                known = value.kind in (Kind.TENSOR, Kind.PARAMETER, Kind.UNKNOWN) or batch
                if known and not self.is_entry(part):
                    self.meeting("index", at, self.where(base), base, part, self.where(value), value)

    def is_entry(self, part: ast.expr) -> bool:
        """Whether an index may be one entry of a tensor, which is 0-dim and counts as a number.

        As in `for t, p in zip(labels, found): counts[t.long(), p] += 1`, or `counts[labels[i]]`.
        """
        while isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and not part.args:
            part = part.func.value
        if isinstance(part, ast.Subscript):
            origin = self.eval(part).origin
            numbered = isinstance(part.slice, (ast.Constant, ast.Name))
            is_row = origin is not None and origin.dims > 0  # as of what has two dimensions
            return numbered and not is_row and self.eval(part.slice).kind is Kind.NUMBER
        if isinstance(part, ast.Name) and part.id in self.entries:
            return self.eval(part).who == self.objects.parameter(self.here.name, part.id)
        value = self.yielded.get(part.id) if isinstance(part, ast.Name) else None
        return value is not None and value.kind is not Kind.BATCH and self.eval(part) is value

    def _dimensions_of_index(self, where: ast.expr, index: Value) -> int:
        """How many dimensions indexing adds at least; -1 for each number, or what may be one."""
        parts = where.elts if isinstance(where, ast.Tuple) else [where]
        values = index.items if isinstance(where, ast.Tuple) and index.items is not None else (index,)
        added = 0
        of_tensors = []
        for part, value in zip(parts, values, strict=False):
            if isinstance(part, ast.Constant) and part.value is None:
                added += 1
            elif not isinstance(part, ast.Slice) and value.kind is not Kind.CONTAINER:
                dims = value.origin.dims if value.origin is not None else 0
                if value.kind in TENSORS and dims:
                    of_tensors.append(dims)
                else:
                    added -= 1
        if len(of_tensors) > 1:
            return added + max(of_tensors) - len(of_tensors)  # they select together
        return added - sum(of_tensors) + len(of_tensors)  # a mask of more takes as many and leaves one

    def _item(self, node: ast.Subscript, base: Value, index: Value) -> Value:
        known, ref = position_of(base, index), self.ref(base)
        if known is not None and base.items is not None:
            return (self.state.env.get((ref, Item(known))) if ref is not None else None) or base.items[known]
        stored = self.state.env.get((ref, subscript_step(node.slice))) if ref is not None else None
        if stored is not None:
            return stored
        if isinstance(node.slice, ast.Slice):
            return base._replace(items=None, element=self.element(base, node))
        return self.element(base, node)

    # Operators

    @_handles(ast.BinOp)
    def _binop(self, node: ast.BinOp) -> Value:
        left, right = self.eval(node.left), self.eval(node.right)
        if isinstance(node.op, ast.BitAnd | ast.BitOr) and Kind.FLAG in (left.kind, right.kind):
            said = (conditions.truth(node.left, left), conditions.truth(node.right, right))
            truths = [each or Truth(False, False) for each in said]
            return flag(_combined(truths, isinstance(node.op, ast.BitAnd)))
        return self.operate(node, node.op, (node.left, left), (node.right, right))

    def operate(
        self,
        node: ast.AST,
        op: ast.operator,
        one: tuple[ast.expr, Value],
        other: tuple[ast.expr, Value],
        in_place: bool = False,
    ) -> Value:
        """The value of an operation of two operands, of which the first may be changed `in_place`."""
        left, right = one[1], other[1]
        if isinstance(op, ast.Add) and Kind.STRING in (left.kind, right.kind):
            beside = right if left.kind is Kind.STRING else left
            if beside.kind in (Kind.UNKNOWN, Kind.BATCH):
                self.note(beside, Evidence.TEXT)  # nothing else is joined with a text
            return _continued(left)
        if left.kind is Kind.STRING:
            return _continued(left)
        if left.kind is Kind.MODULE and right.kind is Kind.CONTAINER:
            return left  # `layers += [layer]` of a ModuleList
        if left.kind is Kind.CONTAINER or right.kind is Kind.CONTAINER:
            return concatenation(self, left, right)
        if {left.kind, right.kind} in ({Kind.ARRAY}, {Kind.ARRAY, Kind.UNKNOWN}, {Kind.ARRAY, Kind.NUMBER}):
            return Value(Kind.ARRAY, CPU)  # what is computed with an array is one, as far as nobody knows
        product = isinstance(op, ast.MatMult)
        if isinstance(op, _ARITHMETIC):
            for value, beside in ((left, right), (right, left)):
                if self._hangs_on_another(value) and not product:
                    self.note_unknown((value,), Evidence.OPERAND)  # as likely a number as a tensor
                elif beside.kind is not Kind.STRING:
                    self.note_unknown((value,), Evidence.TENSOR | (Evidence.SHAPED if product else 0))
        if Kind.NUMBER in (left.kind, right.kind):
            beside = right if left.kind is Kind.NUMBER else left
            ref = self.ref(beside)
            if beside.kind is Kind.BATCH and ref is not None and isinstance(self.objects.ways[ref], Attr):
                return beside  # `total + batch.num_graphs`: as likely a number as a tensor
        if left.kind in TENSORS or right.kind in TENSORS or Kind.BATCH in (left.kind, right.kind):
            for value in (left, right):
                if value.kind is Kind.BATCH:
                    self.note(value, Evidence.TENSOR)
            place = self.meet(node, [one, other], exact=product, in_place=in_place)
            for value, beside in ((left, right), (right, left)) if not product else ():
                if value.kind is Kind.UNKNOWN and beside.kind in TENSORS and self._hangs_on_another(value):
                    place = self.where(beside)  # `scores / net.scale` is where the scores are, or fails
            if in_place and left.kind in (Kind.TENSOR, Kind.SCALAR):
                # What is changed stays where it is, whatever it takes.
                return left._replace(origin=derived(left.origin)) if left.origin and is_made(left) else left
            kinds = {left.kind, right.kind}
            scalar = kinds <= _NO_DIMENSIONS or (
                # What is multiplied with a norm or a loss is a number.
                kinds == {Kind.SCALAR, Kind.UNKNOWN} and any(map(self._may_be_number, (left, right)))
            )
            dims = of_product(left, right) if product else None
            return self.computed(node, Kind.SCALAR if scalar else Kind.TENSOR, place, (left, right), dims)
        if left.kind is right.kind is Kind.NUMBER:
            return NUMBER._replace(measures=left.measures if left.measures is not None else right.measures)
        if Kind.UNKNOWN in (left.kind, right.kind) and (left.who is not None or right.who is not None):
            place = self.meet(node, [one, other])
            result = self.own(node, Kind.UNKNOWN, place, OF_OPERATION)
            self.derive(result, (left, right))
            to = self.ref(result)
            for value in (left, right):
                source = self.ref(value)
                if value.kind is Kind.UNKNOWN and source is not None and to is not None:
                    self.log.flow(source, to)
            return result
        return UNKNOWN

    @_handles(ast.UnaryOp)
    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            said = conditions.truth(node.operand, value)
            return flag(said.opposite() if said is not None else None)
        number = constant(value)
        if value.kind is Kind.NUMBER and isinstance(node.op, ast.USub) and isinstance(number, (int, float)):
            return Value(Kind.NUMBER, known=Const(-number))
        if isinstance(node.op, ast.Invert):
            self.note_unknown((value,), Evidence.TENSOR)
        return value

    @_handles(ast.BoolOp)
    def _boolop(self, node: ast.BoolOp) -> Value:
        before = self.state.why
        conjunction = isinstance(node.op, ast.And)
        result: Value | None = None
        truths: list[Truth] = []
        placed = False
        for operand in node.values:
            touched = self.state.touched
            value = self.eval(operand)
            if operand is not node.values[0]:
                self.state.touched = touched  # where what stands before it decides, nobody asks
            settled = cases.outcome(self, operand)
            if settled is not None and operand is not node.values[-1]:
                if settled is conjunction:
                    continue
                return value if result is None else self.join(result, value)
            placed |= value.place.form is not Form.UNKNOWN
            said = conditions.truth(operand, value)
            if said is not None or not conditions.only_asks_kind(operand, node):
                truths.append(said or Truth(False, False))
            if said and (said.if_true if conjunction else said.if_false):
                self.require(said.hint)
            result = value if result is None else self.join(result, value)
        self.state.why = before
        any_true, any_false = any(t.if_true for t in truths), any(t.if_false for t in truths)
        if any_true or any_false or placed:
            self.log.deciding |= cases.asked(self, node)
        if any_true or any_false:
            return flag(_combined(truths, conjunction))
        return result or UNKNOWN

    @_handles(ast.Compare)
    def _compare(self, node: ast.Compare) -> Value:
        operands = [node.left, *node.comparators]
        before = len(self.log.literals)
        values = [self.eval(operand) for operand in operands]
        if len(self.log.literals) > before:
            self.harmless([part for each in operands for part in _compared(each)], "compared")
        if len(values) == 2:
            left, right = values
            self.log.compares[node] = RawCompare(
                _OPERATORS[type(node.ops[0])],
                (operands[0], left),
                (operands[1], right),
                self.state.why,
                self.loops,
            )
            said = conditions.comparison(node, left, right)
            if said is not None:
                return flag(said)
        self._note_texts(node, values)
        if any(isinstance(op, _MEMBERSHIP) for op in node.ops):
            return NUMBER
        if any(isinstance(op, _ORDER) for op in node.ops):
            for value, other in zip(values, reversed(values), strict=True):
                if other.kind in TENSORS:
                    self.note_unknown((value,), Evidence.TENSOR)
        tensorial = any(v.kind in TENSORS or v.kind is Kind.BATCH for v in values)
        if tensorial and any(map(self._is_entry, operands)) and node in self.here.tests:
            return NUMBER  # what is asked for one answer compares single entries, which have no dimensions
        if tensorial and not any(v.kind in (Kind.STRING, Kind.NONE) for v in values):
            self.note_unknown(values, Evidence.TENSOR)
            place = self.meet(node, list(zip(operands, values, strict=True)))
            scalar = {value.kind for value in values} <= _NO_DIMENSIONS
            return self.computed(node, Kind.SCALAR if scalar else Kind.TENSOR, place, values)
        if any(value.kind is Kind.ARRAY for value in values):
            return Value(Kind.ARRAY, CPU)
        if all(value.kind in _MAY_BE_MASKED for value in values) and any(v.who is not None for v in values):
            result = self.own(node, Kind.UNKNOWN, self.combine(values), OF_OPERATION)
            self.derive(result, values)
            return result  # as likely a mask as a truth value
        return NUMBER

    def _is_entry(self, node: ast.expr) -> bool:
        """Whether an expression takes what stands at one number: `labels[j]`."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, (ast.Name, ast.Constant)):
            return False
        return self.eval(node.slice).kind is Kind.NUMBER

    def _note_texts(self, node: ast.Compare, values: Sequence[Value]) -> None:
        """`mode == "train"`, `mode in ("train", "test")`: what is compared with a text is none but a text."""
        for op, value, other in zip(node.ops, values, values[1:], strict=False):
            if isinstance(op, (ast.Eq, ast.NotEq)):
                for one, text in ((value, other), (other, value)):
                    if _is_text(text):
                        self.note(one, Evidence.TEXT)
            elif isinstance(op, _MEMBERSHIP) and other.items and all(map(_is_text, other.items)):
                self.note(value, Evidence.TEXT)

    @_handles(ast.IfExp)
    def _ifexp(self, node: ast.IfExp) -> Value:
        test = self.eval(node.test)
        settled = cases.outcome(self, node.test)
        if settled is not None:
            conditions.narrow(self, node.test, settled)
            return self.eval(node.body if settled else node.orelse)
        asked, met = cases.asked(self, node.test), len(self.log.meetings)
        device = conditions.device_asked(self, node.test)
        conditions.prepare(self, node.test)
        otherwise = self.state.copy()
        conditions.take(self, node.test, test, True)
        self.branches += 1
        unmoved = recalled.narrow(self, node.test, True)
        body = self.eval(node.body)
        recalled.restore(self.state, unmoved)
        then, self.state = self.state, otherwise
        conditions.take(self, node.test, test, False)
        unmoved = recalled.narrow(self, node.test, False)
        orelse = self.eval(node.orelse)
        recalled.restore(self.state, unmoved)
        self.branches -= 1
        if asked and (
            body.place != orelse.place or len(self.log.meetings) > met or cases.parted(then, self.state)
        ):
            self.log.deciding |= asked
        if not (then.alive and self.state.alive):
            value = body if then.alive else orelse
            self.state = join_states(then, self.state, self.either)
            return value
        self.state = join_states(then, self.state, self.either)
        if cases.said_of(test) == cases.FALSE and {body.kind, orelse.kind} <= _DEVICES:
            return orelse  # `"cuda" if use_cuda else "cpu"`, after `use_cuda = False`
        if test.kind is Kind.FLAG and conditions.asks_machine(node.test):
            self.choose(body, orelse)
            self.choose(orelse, body)
            if (named := conditions.drops_given(node)) is not None:
                self.use_literal(self.eval(named), "argument")
                self.harmless([named], "dropped")
        if conditions.truth(node.test, test) is not None and (is_made(body) or is_made(orelse)):
            body, orelse = body._replace(origin=None), orelse._replace(origin=None)
        forms = {body.place.form, orelse.place.form}
        if forms == {Form.CPU, Form.LITERAL} and body.kind in (Kind.STRING, Kind.DEVICE):
            for part, value in ((node.body, body), (node.orelse, orelse)):
                if not isinstance(part, ast.Name):  # a variable's literal is not written here
                    self.use_literal(value, "argument")
            self.harmless((node.body, node.orelse), "chosen")
        both = recalled.parted(self, node, test, body, orelse, self.join(body, orelse))
        if device is not None and body.who == orelse.who:
            moved = body if device[0] else orelse
            both = both._replace(place=device[1]) if self.follows(moved, device[1]) else both
        beside = conditions.tensor_asked(self, node.test) if forms == {Form.CPU, Form.LITERAL} else None
        if beside is not None and {body.kind, orelse.kind} <= _DEVICES:
            return both._replace(place=beside[1])  # `"cuda" if x.is_cuda else "cpu"` is where `x` is
        if both.kind is Kind.STRING and forms == {Form.LITERAL}:
            instead = conditions.instead(test, body, orelse)
            both = both._replace(known=self._unasked(body, orelse), origin=instead or both.origin)
        if both.known is None and (said := conditions.there(node.test, test, body, orelse)) is not None:
            both = both._replace(known=said)
        return both

    def follows(self, value: Value, device: Place) -> bool:
        """Whether a value goes where a variable says, and stays on the cpu if that is None.

        `.cuda(None)` goes to the current device all the same.
        """
        origin = value.origin
        if value.place != device or origin is None or origin.how != "moved":
            return False
        if origin.function != self.here.name:
            return False
        moves = self.here.nodes[origin.at]
        return isinstance(moves, ast.Call) and last_name(moves) in knowledge.FOLLOWS_DEVICE

    def _unasked(self, *names: Value) -> Words | None:
        """Those names of accelerators, of all that a string may be, for which nothing asks the machine.

        `kind = "mps" if x.is_mps else "cuda"` is `cuda` on the cpu as well.
        """
        found = tuple(
            name
            for value in names
            if (origin := value.origin) is not None
            and not self.log.born.get(origin.at, self.state.why).certain
            and isinstance(name := constant(value), str)
        )
        return Words(found) if found else None

    @_handles(ast.NamedExpr)
    def _walrus(self, node: ast.NamedExpr) -> Value:
        value = self.eval(node.value)
        self.bind(node.target, value)
        return value

    @_handles(ast.Await)
    def _await(self, node: ast.Await) -> Value:
        return self.eval(node.value)

    @_handles(ast.Starred)
    def _starred(self, node: ast.Starred) -> Value:
        return self.iterate(self.eval(node.value), node)

    @_handles(ast.Slice)
    def _slice(self, node: ast.Slice) -> Value:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.eval(part)
        return OTHER

    # Displays

    @_handles(ast.Tuple, ast.List, ast.Set)
    def _display(self, node: ast.Tuple | ast.List | ast.Set) -> Value:
        items: Sequence[ast.expr] = node.elts
        whole = len(items) <= MAX_ITEMS
        if not whole:
            items = [item for item in items if not isinstance(item, ast.Constant)]
        values = [self.eval(item) for item in items]
        if {value.place.form for value in values if value.kind is Kind.DEVICE} == {Form.CPU, Form.LITERAL}:
            self.harmless(items, "chosen")  # candidates, of which each is tried
        who = self.objects.made(self.here.name, self.here.number(node), "made")
        holds = held_by(values)
        if any(isinstance(item, ast.Starred) for item in items) or not whole:
            element = self.joined(values[:MAX_ITEMS])
            if element is not None and element.kind is Kind.NUMBER:  # `(*x.shape, 1)`
                sized = (value.measures for value in values if value.measures is not None)
                element = element._replace(measures=next(sized, None))
            return container(who, element=element, holds=holds)
        for position in range(len(values)):
            self.state.env.pop((who, Item(position)), None)  # of a list that was made here before
        return container(who, tuple(values), holds=holds)

    @_handles(ast.Dict)
    def _dict(self, node: ast.Dict) -> Value:
        element: Value | None = None
        display = self.own(node, Kind.CONTAINER, role="made")
        ref = self.ref(display)
        assert ref is not None
        values = []
        for key, item in zip(node.keys, node.values, strict=True):
            if key is not None:
                self.eval(key)
            value = self.eval(item)
            if key is None:
                value = self.element(value, item)
            else:
                self.state.env[ref, subscript_step(key)] = value
            values.append(value)
            element = value if element is None else self.join(element, value)
        self.harmless(filter(None, node.keys), "compared")
        if {value.place.form for value in values if value.kind is Kind.DEVICE} >= {Form.CPU, Form.LITERAL}:
            self.harmless(node.values, "chosen")
        return container(ref, element=element, holds=held_by(values))._replace(known=MAPPING)

    @_handles(ast.ListComp, ast.SetComp, ast.GeneratorExp)
    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        element, said = self._generate(node.generators, [node.elt])
        who = self.own(node, Kind.CONTAINER, role="made").who
        return container(who, element=element, holds=element.holds)._replace(known=said)

    @_handles(ast.DictComp)
    def _dictcomp(self, node: ast.DictComp) -> Value:
        element, _ = self._generate(node.generators, [node.key, node.value])
        first = node.generators[0]
        renamed.note(self, first.target, first.iter, (node.key, *first.ifs))
        who = self.own(node, Kind.CONTAINER, role="made").who
        return container(who, element=element)._replace(known=MAPPING)

    def _generate(
        self, generators: list[ast.comprehension], results: list[ast.expr]
    ) -> tuple[Value, Truth | None]:
        """The value of the last result, and what it says about the machine that there is any."""
        names = {
            name.id
            for generator in generators
            for name in descendants(generator.target)
            if isinstance(name, ast.Name)
        }
        hidden = {name: self.state.env[name] for name in names if name in self.state.env}
        why, counted = self.state.why, None
        self.loops += 1
        for generator in generators:
            iterable = self.eval(generator.iter)
            said = conditions.counts_accelerators(generator.iter, iterable)
            if said is not None:
                self.require(said.hint)
                counted = counted or said
            self.bind(generator.target, self.iterate(iterable, generator.iter))
            self.note_yielded(generator.target)
            for test in generator.ifs:
                conditions.assume(self, test, self.eval(test), True)
        value = UNKNOWN
        for result in results:
            value = self.eval(result)
        self.loops -= 1
        for name in names:
            self.state.env.pop(name, None)
        self.state.env.update(hidden)
        self.state.why = why
        return value, counted

    @_handles(ast.Lambda)
    def _lambda(self, node: ast.Lambda) -> Value:
        return Value(Kind.FUNCTION, known=Defined(self.program.define(self, node).name))

    def iterate(self, value: Value, node: ast.AST) -> Value:
        """What a loop over a value binds; of an object whose class has a generator, what that yields."""
        if value.kind is Kind.INSTANCE and isinstance(value.known, Defined):
            view = self.program.view(value.known.dotted)
            method = view.method("__iter__") if view is not None else None
            summary = self.program.summary(method) if method is not None else None
            if summary is not None and summary.yields and summary.returns.element is not None:
                return instance_attribute(self, value, summary.returns.element)
        return super().iterate(value, node)

    @_handles(ast.Yield, ast.YieldFrom)
    def _yield(self, node: ast.Yield | ast.YieldFrom) -> Value:
        self.yields = True
        value = self.eval(node.value) if node.value is not None else NONE
        if isinstance(node, ast.YieldFrom):
            value = self.iterate(value, node)
        if self.state.without and is_made(value):
            value = value._replace(origin=None)
        mixed = self.log.mixed.copy()
        self.element_given = value if self.element_given is None else self.join(self.element_given, value)
        self.log.mixed = mixed  # one after the other is yielded, and never two at once
        return UNKNOWN


def _is_new_axis(value: Value) -> bool:
    return isinstance(value.known, Api) and value.known.dotted == knowledge.NEW_AXIS


def _is_text(value: Value) -> bool:
    return value.kind is Kind.STRING and isinstance(constant(value), str)


def _compared(node: ast.expr) -> Iterator[ast.expr]:
    """The constants that a comparison compares, not those that what it compares is computed with."""
    if isinstance(node, ast.Constant):
        yield node
    elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        for item in node.elts:
            yield from _compared(item)
    elif isinstance(node, ast.Attribute):
        yield from _compared(node.value)  # `torch.device("cuda").type`
    elif isinstance(node, ast.Call) and not (node.keywords or last_name(node.func) in knowledge.MOVES):
        for item in node.args:  # `torch.device("cuda")`, `str("cuda")`
            yield from _compared(item)


def _continued(text: Value) -> Value:
    """A text that begins with another, or is made by it: `"cuda:" + str(index)` names a device still."""
    kind = text_of(text).partition(":")[0] if text.kind is Kind.STRING else ""
    if kind in knowledge.ACCELERATORS:
        return Value(Kind.STRING, literal(kind))
    known = text.kind is Kind.STRING and text.place.form is Form.LITERAL and not text_of(text)
    return Value(Kind.STRING, text.place) if known else STRING


def _combined(truths: list[Truth], conjunction: bool) -> Truth:
    any_true, any_false = any(t.if_true for t in truths), any(t.if_false for t in truths)
    all_true, all_false = all(t.if_true for t in truths), all(t.if_false for t in truths)
    machine = all(t.machine for t in truths)
    if_true, if_false = (any_true, all_false) if conjunction else (all_true, any_false)
    speaking = [t for t in truths if t.if_true or t.if_false]
    certain = any(not t.hint for t in speaking) if conjunction else all(not t.hint for t in speaking)
    hint = "" if certain else next(t.hint for t in speaking if t.hint)
    return Truth(if_true, if_false, machine, hint)


def is_tensor_index(node: ast.expr) -> bool:
    """Whether only a tensor or array is indexed so: several axes, an ellipsis, or a new axis."""
    if isinstance(node, ast.Tuple):
        return any(
            isinstance(item, ast.Slice) or (isinstance(item, ast.Constant) and item.value in (None, ...))
            for item in node.elts
        )
    return isinstance(node, ast.Constant) and node.value is ...
