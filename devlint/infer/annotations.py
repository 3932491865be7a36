"""What a type annotation says about a value."""

from __future__ import annotations

import ast

from .. import knowledge
from ..bind.names import last_name
from ..core.evidence import Evidence
from ..core.kinds import TENSORS, Kind
from ..core.paths import Element, Item, Ref
from ..core.places import CPU, Place
from ..core.values import GRAPH, MAPPING, OTHER, UNKNOWN, Api, Value, container, dotted
from .conditions import kind_of_class
from .machine import Machine

_IMMOVABLE = frozenset({Kind.ARRAY, Kind.NUMBER, Kind.STRING, Kind.CONTAINER})
"""What has no `.to`."""
_OWN_SHAPE = frozenset({Kind.LOADER, Kind.OPTIMIZER, Kind.MOVES_IN_PLACE})
"""Kinds whose values need more than the kind."""


def annotated(machine: Machine, node: ast.expr | None, ref: Ref | None) -> Value | None:
    """The value that an annotation promises for an object, or None where it says nothing useful."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            return None
    if node is None or isinstance(node, ast.Constant):
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union(machine, [node.left, node.right], ref)
    if isinstance(node, ast.Subscript):
        return _generic(machine, node, ref)
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return None
    alias = machine.program.alias(node.id) if isinstance(node, ast.Name) else None
    if alias is not None:
        return annotated(machine, alias, ref)
    value = machine.eval(node)
    kind = kind_of_class(machine, value)
    if kind in _OWN_SHAPE:
        return _of_library(machine, dotted(value), last_name(node), ref)
    if kind is not None:
        known = value.known if kind is Kind.MODULE and value.kind is Kind.CLASS else None
        return Value(kind, who=ref, known=known)
    if value.kind is Kind.CLASS:
        return Value(Kind.INSTANCE, who=ref, known=value.known)
    name = last_name(node)
    if value.kind is not Kind.LIBRARY:
        tensor = value.kind is Kind.UNKNOWN and name in knowledge.TENSOR_TYPES
        return Value(Kind.TENSOR, who=ref) if tensor else None
    full = dotted(value)
    if name == knowledge.TENSOR_TYPE and full.partition(".")[0] not in knowledge.OTHER_TENSORS:
        return Value(Kind.TENSOR, who=ref)  # torch's own, which many a package exports again
    return _of_library(machine, full, name, ref)


def _of_library(machine: Machine, full: str, name: str, ref: Ref | None) -> Value | None:
    topics = knowledge.topics_of_class(full)
    if "loader" in topics:
        return Value(Kind.LOADER, who=ref, element=batches(machine, ref)) if ref is not None else None
    if knowledge.GRAPHS in topics:
        return Value(Kind.BATCH, who=ref, known=GRAPH)
    if "in-place" in topics:
        return Value(Kind.MOVES_IN_PLACE, who=ref)
    if "optimizer" in topics:
        return Value(Kind.OPTIMIZER, who=ref, known=Api(full))
    opaque = name in knowledge.OPAQUE_TYPES or full.startswith("typing")
    return OTHER._replace(who=ref) if name[:1].isupper() and not opaque else None


def batches(machine: Machine, loader: Ref) -> Value:
    """What a loader yields: a batch on the cpu, of unknown structure."""
    batch = machine.objects.part(loader, Element())
    return Value(Kind.BATCH, Place(CPU.form, CPU.name, batch), batch)


def _union(machine: Machine, parts: list[ast.expr], ref: Ref | None) -> Value | None:
    flat: list[ast.expr] = []
    while parts:
        part = parts.pop(0)
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr):
            parts[:0] = (part.left, part.right)
        elif not (isinstance(part, ast.Constant) and part.value is None):
            flat.append(part)
    found = [annotated(machine, part, ref) for part in flat]
    if found and found[0] is not None and all(value == found[0] for value in found):
        return found[0]
    kinds = {value.kind if value is not None else None for value in found}
    if kinds == {Kind.MODULE}:
        return Value(Kind.MODULE, who=ref)
    if ref is not None and Kind.TENSOR in kinds and kinds <= _IMMOVABLE | {Kind.TENSOR}:
        machine.log.note(ref, Evidence.OPERAND)
    return None


def _generic(machine: Machine, node: ast.Subscript, ref: Ref | None) -> Value | None:
    name = last_name(node.value)
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not inner:
        return None
    shape = knowledge.GENERICS.get(name, "")
    if shape == "wrapper" and inner:
        return annotated(machine, inner[0], ref)
    if shape == "union":
        return _union(machine, list(inner), ref)
    if shape == "tuple":
        several = len(inner) == 2 and isinstance(inner[1], ast.Constant) and inner[1].value is ...
        if not several and len(inner) > 1:
            items = [
                annotated(machine, item, _part(machine, ref, Item(index))) for index, item in enumerate(inner)
            ]
            if not any(items):
                return None
            return container(who=ref, items=tuple(item or UNKNOWN for item in items))
        inner = inner[:1]
    if shape in ("tuple", "sequence", "mapping"):
        element = annotated(machine, inner[-1], _part(machine, ref, Element()))
        if element is None:
            return None
        return container(who=ref, element=element)._replace(known=MAPPING if shape == "mapping" else None)
    if shape == "loader":
        return annotated(machine, node.value, ref)
    first = annotated(machine, inner[0], ref) if not shape else None
    return first if first is not None and first.kind in TENSORS else None


def _part(machine: Machine, ref: Ref | None, step: Element | Item) -> Ref | None:
    return machine.objects.part(ref, step) if ref is not None else None
