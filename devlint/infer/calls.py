"""What a call does: which callee it is, where its result lives, what it moves and what it needs together."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ..knowledge import api
from ..knowledge.attributes import TENSOR_ONLY
from . import moves, torchcalls
from .arguments import Arguments, followed, maybe_loss, note, note_tensors, unknown_call
from .evaluate import handles
from .scope import Class, Feed
from .summaries import function_call
from .values import (
    AS_CONTAINER,
    AS_MODULE,
    AS_NAMED,
    AS_OPERAND,
    AS_OTHER,
    CPU,
    DIFFERENTIATED,
    MAY_HOLD_TENSORS,
    NONE,
    NUMBER,
    STRING,
    TENSORS,
    TO_MODULE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Cell,
    Device,
    Form,
    Kind,
    Origin,
    Truth,
    Value,
    container,
    join,
)

if TYPE_CHECKING:
    from .evaluate import Evaluator

_SAME_OBJECT = frozenset(
    [
        "eval",
        "train",
        "requires_grad_",
        "clone",
        "detach",
        "contiguous",
        "pin_memory",
        "share_memory",
        "compile",
        "apply",
    ]
)
_TAKES_CALLABLES = frozenset({"apply_", "map_", "register_hook", "register_post_accumulate_grad_hook"})
_SHAPE_ONLY = frozenset(
    ["view_as", "expand_as", "reshape_as", "copy_", "is_same_size", "resize_as_", "set_", "map_", "numpy"]
)
_REDUCTIONS = frozenset(
    [
        "sum",
        "mean",
        "max",
        "min",
        "prod",
        "std",
        "var",
        "norm",
        "median",
        "all",
        "any",
        "nansum",
        "nanmean",
        "logsumexp",
        "amax",
        "amin",
    ]
)
_NO_LAYER = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "mm", "bmm", "mv"})
"""Methods of tensors that take tensors, and that nobody would name a layer after."""
_AXES = frozenset({"dim", "dims", "dim0", "dim1", "keepdim", "start_dim", "end_dim", "axis"})
"""Keywords of tensors' methods that layers are not called with."""
_RUNS_FORWARD = frozenset({"forward", "generate", "__call__"})


@handles(ast.Call)
def call(ev: Evaluator, node: ast.Call) -> Value:
    """The value of a call; applies its effects to the state."""
    func = node.func
    if isinstance(func, ast.Attribute):
        base = ev.eval(func.value)
        args = Arguments(ev, node)
        dotted = f"{base.data}.{func.attr}" if base.kind is Kind.LIBRARY else ""
        moves.device_keywords(ev, node, args, dotted)
        torchcalls.launched(ev, args)
        return method_call(ev, node, base, func.attr, args)
    callee = ev.eval(func)
    args = Arguments(ev, node)
    moves.device_keywords(ev, node, args, callee.data if callee.kind is Kind.LIBRARY else "")
    torchcalls.launched(ev, args)
    if isinstance(func, ast.Name) and func.id == "reveal_device" and args.positional:
        ev.module.reveal(node.lineno, args.positional[0][1], ev)
        return args.positional[0][1]
    return apply(ev, node, callee, args)


def apply(ev: Evaluator, node: ast.Call, callee: Value, args: Arguments) -> Value:
    """Call a value."""
    kind = callee.kind
    if kind is Kind.LIBRARY:
        return torchcalls.library_call(ev, node, callee.data, args)
    if kind is Kind.FUNCTION:
        return function_call(ev, node, callee.data, None, args)
    if kind is Kind.CLASS:
        return instantiate(ev, node, callee.data, args)
    if kind is Kind.MODULE:
        return module_call(ev, node, callee, args)
    if kind is Kind.INSTANCE:
        cls: Class = callee.data
        method = cls.method("__call__") or (cls.method("forward") if cls.is_module else None)
        if method is not None:
            return function_call(ev, node, method, callee, args)
        return module_call(ev, node, callee, args) if cls.is_module else ev.fresh(node)
    if kind is Kind.UNKNOWN and callee.cell is not None:
        callee.cell.note(AS_OTHER)
        if callee.cell in ev.state.places or callee.cell.seen & AS_MODULE or _owner_is_module(callee.cell):
            result = module_call(ev, node, callee, args)
            parties = [(at, value) for at, value in args.positional if value.kind in MAY_HOLD_TENSORS]
            if parties and _is_computed(parties[0][1].cell):
                maybe_loss(ev, result, parties)
            return result
        return unknown_call(ev, node, args)
    return ev.fresh(node)


def _is_computed(cell: Cell | None) -> bool:
    """Whether a value is what some call gave, as a network's output is that a loss takes."""
    return cell is not None and not cell.via and cell.batch is None


def _owner_is_module(cell: Cell) -> bool:
    return cell.via == "attribute" and cell.parent is not None and cell.parent.label == "self"


def method_call(ev: Evaluator, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """Call a method of a value."""
    kind = base.kind
    if kind is Kind.LIBRARY:
        target = ev.attribute(base, name, node.func)  # type: ignore[arg-type]
        return apply(ev, node, target, args)
    if base.cell is not None:
        stored = ev.state.env.get((base.cell, name))
        if stored is not None and kind is not Kind.CONTAINER:
            return apply(ev, node, stored, args)
    if kind in TENSORS:
        return tensor_method(ev, node, base, name, args)
    if kind is Kind.MODULE or kind is Kind.INSTANCE:
        return object_method(ev, node, base, name, args)
    if kind in (Kind.UNKNOWN, Kind.BATCH):
        return unknown_method(ev, node, base, name, args)
    if kind is Kind.OPTIMIZER:
        return torchcalls.optimizer_method(ev, node, base, name, args)
    if kind is Kind.CONTAINER:
        return container_method(ev, node, base, name, args)
    if kind is Kind.MOVES_IN_PLACE:
        return base if name in api.MOVE_METHODS else ev.fresh(node)
    if kind is Kind.CLASS:
        method = base.data.method(name)
        if method is None:
            return ev.fresh(node)
        return function_call(ev, node, method, base if method.of_class else None, args)
    if kind in (Kind.STRING, Kind.DEVICE):
        return _string_method(base, name, args)
    if kind is Kind.ARRAY:
        return Value(Kind.ARRAY, CPU)
    return ev.fresh(node)


def _string_method(base: Value, name: str, args: Arguments) -> Value:
    first = args.get(0, "")
    if name == "startswith" and first is not None and isinstance(first.data, str):
        prefix = first.data
        if prefix.split(":")[0] in api.ACCELERATOR_TYPES:
            return Value(Kind.FLAG, data=Truth(True, False))
        if prefix == "cpu":
            return Value(Kind.FLAG, data=Truth(False, True))
        return NUMBER
    if name in ("format", "lower", "strip", "split", "replace"):
        return Value(Kind.STRING, base.device) if base.device.form is not Form.UNKNOWN else STRING
    return UNKNOWN


# Tensors


def tensor_method(ev: Evaluator, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """Call a method of a tensor."""
    if name in api.MOVE_METHODS:
        return moves.move_tensor(ev, node, base, name, args)
    device = ev.location(base)
    if name in api.CAST_METHODS:
        if ev.discarding is node and (name != "type" or args.positional):
            moves.discarded(ev, node, base, name, casts=True)
        if name == "type":
            return moves.retype(ev, node, base, args)
        return Value(Kind.SCALAR if base.kind is Kind.SCALAR else Kind.TENSOR, device, base.cell)
    if name == "is_pinned":
        return Value(Kind.FLAG, data=Truth(True, False))
    if name in api.NUMBER_METHODS:
        if args.positional:
            args.spill(ev)  # `x.equal(y)`
            ev.module.spill(base)
        return NUMBER
    if name == "numpy":
        ev.module.spill(base, from_device=True)
        return Value(Kind.ARRAY, CPU)
    if name == "backward":
        if base.cell is not None:
            base.cell.note(DIFFERENTIATED)
        return NONE
    if name in ("type_as",):
        other = args.get(0, "other")
        return Value(Kind.TENSOR, ev.location(other) if other else UNKNOWN_DEVICE)
    if name.startswith("new_") or name == "new":
        given = args.get(None, "device")
        return Value(Kind.TENSOR, moves.denoted(ev, given, device) if given else device)
    if name in _SAME_OBJECT:
        kind = Kind.TENSOR if base.kind is Kind.PARAMETER else base.kind
        return Value(kind, device, base.cell)
    if name in _SHAPE_ONLY:
        return Value(Kind.TENSOR, device, base.cell)
    if name in _REDUCTIONS and not args.positional and not args.keywords:
        return Value(Kind.SCALAR, device, ev.module.cell(node, "op"))
    receiver = node.func.value if isinstance(node.func, ast.Attribute) else node
    device = ev.meet(node, [(receiver, base), *_tensors(args)])
    if name not in _TAKES_CALLABLES:
        note_tensors(args)
    return Value(Kind.SCALAR if base.kind is Kind.SCALAR else Kind.TENSOR, device, ev.module.cell(node, "op"))


def _tensors(args: Arguments) -> list[tuple[ast.expr, Value]]:
    return [(at, value) for at, value in args.all() if value.kind in MAY_HOLD_TENSORS]


# Unknown objects


def unknown_method(ev: Evaluator, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """Call a method of an object whose kind is unknown, and learn from the name."""
    cell = base.cell
    if name in api.MOVE_METHODS:
        return moves.move_unknown(ev, node, base, name, args)
    if cell is None:
        return ev.fresh(node) if name not in TENSOR_ONLY else tensor_method(ev, node, base, name, args)
    named = name in TENSOR_ONLY and _is_tensors_own(ev, name, args)
    if named:
        cell.note(AS_NAMED)
    else:
        ev.attribute_evidence(cell, name)
    if name in ("parameters", "named_parameters"):
        return torchcalls.parameters(ev, base, named=name == "named_parameters")
    if name == "register_buffer":
        note(args.positional[1:], AS_OPERAND)
        return NONE
    if name == "size" and args.positional:
        cell.note(AS_OPERAND)
    if name == "backward":
        cell.note(DIFFERENTIATED)
        return NONE
    if name in ("items", "values", "keys"):
        return _mapping_view(ev, node, base, name)
    if name in ("update", "__setitem__", "setdefault"):
        cell.placed = True  # what it holds now is what it was given
        return NONE
    if name in ("get", "pop") and len(args.positional) == 1:
        return ev.part(base, args.positional[0][1].data or ("item", "get"), "item")
    if name in api.CAST_METHODS:
        if ev.discarding is node and not (name == "type" and not args.positional):
            moves.discarded(ev, node, base, name, casts=True)
        if name == "type":
            return moves.retype(ev, node, base, args)
        return Value(Kind.TENSOR, base.device, cell) if base.kind is Kind.BATCH else base
    if name in _SAME_OBJECT:
        return base
    if named or name in (
        "is_pinned",
        "size",
        "dim",
        "split",
        "select",
        "squeeze_",
        "transpose",
    ):
        return tensor_method(ev, node, base, name, args)
    if name in _RUNS_FORWARD and cell in ev.state.places:
        return module_call(ev, node, base, args)
    if name in ("load_state_dict", "state_dict", "zero_grad", "step"):
        return ev.fresh(node)
    return unknown_call(ev, node, args)


def _is_tensors_own(ev: Evaluator, name: str, args: Arguments) -> bool:
    """Whether a call can be that of a tensor's method: not of a class's of this file, nor of a module's part.

    `net.norm(x)` may run a layer: it may be given a tensor, and layers are called by plain words.
    """
    if any(name in cls.methods for cls in ev.module.classes):
        return False
    if name in _NO_LAYER or ("_" in name and name != "log_softmax") or args.keywords.keys() & _AXES:
        return True
    given = args.positional
    return not given or any(value.kind not in MAY_HOLD_TENSORS for _, value in given)


def _mapping_view(ev: Evaluator, node: ast.Call, base: Value, name: str) -> Value:
    assert base.cell is not None
    if base.kind is Kind.UNKNOWN:
        base.cell.note(AS_OTHER | AS_CONTAINER)
    if name == "keys":
        return container(element=UNKNOWN)
    item = base.element or ev.part(base, ("item", "value"), "item")
    element = item if name == "values" else container(items=(UNKNOWN, item))
    return container(cell=None, element=element)


def container_method(ev: Evaluator, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """Call a method of a list, tuple, dict or set."""
    first = args.get(0, "")
    if name in ("append", "add", "insert", "extend", "appendleft") and first is not None:
        value = args.positional[-1][1]
        if name == "extend":
            value = ev.element_of(value, node)
        old = base.element if base.items is None else ev.element_of(base, node) if base.items else None
        element = value if old is None else join(old, value)
        held = base.data
        if isinstance(value.data, frozenset):
            held = value.data | (held or frozenset())
        if isinstance(node.func, ast.Attribute):
            ev._rebind(node.func.value, container(cell=base.cell, element=element, data=held))
        return NONE
    if name in ("items", "values"):
        item = ev.element_of(base, node)
        element = item if name == "values" else container(items=(UNKNOWN, item))
        return container(element=element, data=base.data)
    if name in ("get", "pop", "popitem", "popleft", "setdefault"):
        if first is not None and base.cell is not None and first.data is not None:
            stored = ev.state.env.get((base.cell, first.data))
            if stored is not None:
                return stored
        return ev.element_of(base, node)
    if name == "copy":
        return base
    return UNKNOWN


# Modules and instances


def object_method(ev: Evaluator, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """Call a method of a module, or of an instance of a class of this file."""
    cls: Class | None = base.data if isinstance(base.data, Class) else None
    method = cls.method(name) if cls is not None else None
    is_module = base.kind is Kind.MODULE or (cls is not None and cls.is_module)
    if method is not None and not (is_module and name in ("__call__",)):
        return function_call(ev, node, method, base, args)
    if is_module:
        return module_method(ev, node, base, name, args)
    assert cls is not None
    if name in api.MOVE_METHODS:
        moves.target(ev, node, name, args)
        return base
    value = ev._instance_attribute(base, name)
    return apply(ev, node, value, args) if value.kind is not Kind.UNKNOWN or value.cell else ev.fresh(node)


def module_method(ev: Evaluator, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """Call a method of `nn.Module`."""
    if name in api.MOVE_METHODS or name == "to_empty":
        return moves.move_module(ev, node, base, name, args)
    if name in api.MODULE_CASTS or name in _SAME_OBJECT:
        return base
    if name in ("parameters", "named_parameters", "buffers", "named_buffers"):
        return torchcalls.parameters(ev, base, named=name.startswith("named"))
    if name in ("modules", "children", "values"):
        return container(element=ev.element_of(Value(Kind.MODULE, cell=base.cell), node))
    if name in ("named_modules", "named_children", "items"):
        part = ev.element_of(Value(Kind.MODULE, cell=base.cell), node)
        return container(element=container(items=(STRING, part)))
    if name in ("register_buffer", "register_parameter", "add_module", "register_module"):
        _register(ev, base, name, args)
        return NONE
    if name in _RUNS_FORWARD:
        return module_call(ev, node, base, args)
    if base.kind is Kind.INSTANCE:
        value = ev._instance_attribute(base, name)
        if value.kind is not Kind.UNKNOWN:
            return apply(ev, node, value, args)
        if value.cell is not None:
            if isinstance(base.data, Class) and base.data.framework:
                return ev.fresh(node)
            return apply(ev, node, value, args)
    return ev.fresh(node)


def _register(ev: Evaluator, base: Value, name: str, args: Arguments) -> None:
    label, value = args.get(0, "name"), args.get(1, "tensor" if name == "register_buffer" else "module")
    if label is None or value is None or not isinstance(label.data, str) or base.cell is None:
        return
    if name in ("register_buffer", "register_parameter"):
        kind = Kind.TENSOR if name == "register_buffer" else Kind.PARAMETER
        value = Value(
            kind,
            Device(Form.AT, "", base.cell),
            base.cell.child(label.data, f"self.{label.data}", "attribute"),
        )
    ev.state.env[(base.cell, label.data)] = value
    if base.kind is Kind.INSTANCE:
        ev.module.attribute_assigned(ev, base.data, label.data)


def module_call(ev: Evaluator, node: ast.Call, base: Value, args: Arguments) -> Value:
    """Run a module's forward."""
    for _, value in args.positional:
        if value.kind is Kind.UNKNOWN and value.cell is not None:
            value.cell.note(TO_MODULE)
    if (
        args.positional
        and base.cell is not None
        and ev.function is not None
        and ev.function.owner is not None
    ):
        at, value = args.positional[0]
        was_moved = value.origin is not None and value.origin.how == "moved"
        feed = Feed(ev.function, base.cell, at, ev.location(value), ev.place_of(base), was_moved)
        ev.module.feeds.append(feed)
    if isinstance(base.data, Class):
        method = base.data.method("forward")
        if method is not None:
            return function_call(ev, node, method, base, args)
    library = base.data if isinstance(base.data, str) else ""
    name = library.rsplit(".", 1)[-1]
    place = ev.place_of(base)
    if name in api.LOSSES:
        exempt = api.CPU_ARGUMENTS.get(name, ())
        parties = [(at, followed(v)) for i, (at, v) in enumerate(args.positional) if i not in exempt]
        note_tensors(args)
        parties.extend(party for key, party in args.keywords.items() if key not in exempt)
        device = ev.meet(node, parties)
        return Value(Kind.SCALAR, device, ev.module.cell(node, "op"))
    if library in api.SCATTERING_WRAPPERS:
        return Value(Kind.BATCH, place, ev.module.cell(node))
    known = library.startswith(api.TENSOR_MODELS)
    if library.startswith("torch.nn."):
        note_tensors(args)
    func = (
        node.func.value
        if isinstance(node.func, ast.Attribute) and node.func.attr in _RUNS_FORWARD
        else node.func
    )
    given = [*args.positional, *args.keywords.values(), *args.unpacked]
    unmoved = [
        (at, value) for at, value in given if value.kind in MAY_HOLD_TENSORS or value.kind is Kind.CONTAINER
    ]
    args.spill_beyond_first(ev, known)
    for index, (at, value) in enumerate(unmoved):
        # Of what else an unknown model takes, some may belong on the cpu: lengths, texts, settings.
        if index == 0 or known or ev.location(value).key is ev.location(unmoved[0][1]).key:
            parts = (value,) if value.kind is not Kind.CONTAINER else value.items or (value.element or value,)
            for part in parts:
                ev.meeting(at, ev.location(part), func, place, part.cell)
    owner = ev.function.owner if ev.function is not None else None
    of_self = owner is not None and owner.is_module and place.key is owner.cell
    if place.form is Form.UNKNOWN or (place.form is Form.AT and not of_self):
        moved = ev.combine([value for _, value in unmoved])
        place = moved if moved.form is not Form.UNKNOWN else place
    elif place.form is Form.EITHER and not isinstance(place.key, frozenset):
        moved = ev.combine([value for _, value in unmoved])
        place = moved if moved.form is Form.EITHER else place
    kind = Kind.TENSOR if library.startswith("torch.nn.") else Kind.BATCH
    return Value(kind, place, ev.module.cell(node))


# Classes of this file


def instantiate(ev: Evaluator, node: ast.Call, cls: Class, args: Arguments) -> Value:
    """Make an instance of a class of this file."""
    cell = ev.module.cell(node, "made")
    ev.state.forget(cell)
    kind = Kind.MODULE if cls.is_module else Kind.INSTANCE
    value = Value(kind, cell=cell, data=cls, origin=Origin("made", node))
    base = ev.module.library_base(cls)
    if base in api.LOADERS:
        if cls.method("__iter__") is not None or ev.module.mentions_device(cls.node):
            return ev.fresh(node)
        return torchcalls.loader(ev, node, args)
    if base is not None and base.startswith("torch.optim."):
        return Value(Kind.OPTIMIZER, cell=cell)
    init = cls.method("__init__")
    if init is not None:
        function_call(ev, node, init, value, args)
        if cls.places:
            own = cls.places.get(cls.cell)
            ev.state.places[cell] = own if own is not None and own.key is None else UNKNOWN_DEVICE
    return value
