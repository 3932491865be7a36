"""What a type annotation says about a value."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ..knowledge import api
from .guards import class_kind
from .torchcalls import batches
from .values import AS_OPERAND, OTHER, UNKNOWN, Cell, Kind, Value, container

if TYPE_CHECKING:
    from .evaluate import Evaluator

_WRAPPERS = frozenset({"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired"})
_SEQUENCES = frozenset(
    {"List", "list", "Sequence", "Iterable", "Iterator", "Set", "set", "Collection", "Deque", "deque"}
)
_MAPPINGS = frozenset(
    {"Dict", "dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict", "DefaultDict"}
)
_IMMOVABLE = frozenset({Kind.ARRAY, Kind.NUMBER, Kind.STRING, Kind.CONTAINER})
"""What has no `.to`."""
_OPAQUE = frozenset({"Any", "object", "T", "TypeVar"})


def annotated(ev: Evaluator, node: ast.expr | None, cell: Cell | None) -> Value | None:
    """The value that an annotation promises, or None where it says nothing useful."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError):
            return None
    if node is None or isinstance(node, ast.Constant):
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union(ev, [node.left, node.right], cell)
    if isinstance(node, ast.Subscript):
        return _generic(ev, node, cell)
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return None
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    value = ev.eval(node)
    kind = class_kind(value)
    if kind is not None:
        return Value(kind, cell=cell)
    if value.kind is Kind.CLASS:
        return Value(Kind.INSTANCE, cell=cell, data=value.data)
    if value.kind is not Kind.LIBRARY or not isinstance(value.data, str):
        if name in ("Tensor", "LongTensor", "FloatTensor", "BoolTensor") and value.kind is Kind.UNKNOWN:
            return Value(Kind.TENSOR, cell=cell)
        return None
    dotted = value.data
    if dotted in api.LOADERS:
        return Value(Kind.LOADER, cell=cell, element=batches(cell)) if cell is not None else None
    if dotted in api.IN_PLACE_CLASSES:
        return Value(Kind.MOVES_IN_PLACE, cell=cell)
    if dotted.startswith("torch.optim.") and name[:1].isupper() and "lr_scheduler" not in dotted:
        return Value(Kind.OPTIMIZER, cell=cell)
    if name in _OPAQUE or name in _SEQUENCES or name in _MAPPINGS or name in ("Tuple", "tuple", "Callable"):
        return None
    if dotted.startswith("torch.") and name[:1].islower():
        return None
    return OTHER._replace(cell=cell) if name[:1].isupper() and not dotted.startswith("typing") else None


def _union(ev: Evaluator, parts: list[ast.expr], cell: Cell | None) -> Value | None:
    flat: list[ast.expr] = []
    for part in parts:
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr):
            flat.extend((part.left, part.right))
        else:
            flat.append(part)
    real = [p for p in flat if not (isinstance(p, ast.Constant) and p.value is None)]
    found = [annotated(ev, part, cell) for part in real]
    if found and found[0] is not None and all(value == found[0] for value in found):
        return found[0]
    kinds = {value.kind if value is not None else None for value in found}
    if cell is not None and Kind.TENSOR in kinds and kinds <= _IMMOVABLE | {Kind.TENSOR}:
        cell.note(AS_OPERAND)
    return None


def _generic(ev: Evaluator, node: ast.Subscript, cell: Cell | None) -> Value | None:
    base = node.value
    name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name in _WRAPPERS and inner:
        return annotated(ev, inner[0], cell)
    if name == "Union":
        return _union(ev, list(inner), cell)
    if name in ("Tuple", "tuple"):
        several = len(inner) == 2 and isinstance(inner[1], ast.Constant) and inner[1].value is ...
        if several or len(inner) == 1:
            element = annotated(ev, inner[0], cell and cell.child("element", "", "element"))
            return container(cell=cell, element=element) if element else None
        items = [annotated(ev, item, cell and cell.child(i, "", "item")) for i, item in enumerate(inner)]
        if any(item is not None for item in items):
            return container(cell=cell, items=tuple(item or UNKNOWN for item in items))
        return None
    if name in _SEQUENCES or name in _MAPPINGS:
        element = annotated(ev, inner[-1], cell and cell.child("element", "", "element"))
        return container(cell=cell, element=element) if element else None
    first = annotated(ev, inner[0], cell)
    if (
        first is not None
        and first.kind is Kind.TENSOR
        and name not in ("Callable", "Type", "type", "Generator")
    ):
        return first
    return annotated(ev, base, cell) if name in ("DataLoader",) else None
