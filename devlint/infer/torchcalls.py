"""Calls of library functions, by the knowledge tables: factories, modules, optimizers, loaders, builtins."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ..knowledge import api
from . import guards, moves
from .arguments import followed, note, note_tensors, unknown_call
from .evaluate import held_by
from .scope import Class, Holding
from .summaries import use_summary
from .values import (
    AS_TENSOR,
    CPU,
    NONE,
    NUMBER,
    ON_DEVICE,
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
    from .arguments import Arguments
    from .evaluate import Evaluator

_KINDS = {kind.value: kind for kind in Kind}
_TOKENIZERS = ("Tokenizer", "TokenizerFast", "Processor", "FeatureExtractor")


def library_call(ev: Evaluator, node: ast.Call, dotted: str, args: Arguments) -> Value:
    """Call a function or class of a library by its dotted name."""
    head, _, name = dotted.rpartition(".")
    if not head:
        return _builtin(ev, node, name, args)
    if dotted in api.CUDA_QUERIES or (dotted == "torch.is_autocast_enabled" and not args.positional):
        return Value(Kind.FLAG, data=Truth(True, False, machine=True))
    if dotted == "torch.accelerator.current_accelerator":
        return Value(Kind.DEVICE, accelerator("accelerator"))
    if dotted in api.CUDA_NEEDED:
        ev.state.accelerated = True
        return OTHER
    if dotted in api.PASS_THROUGH:
        return _pass_through(ev, node, dotted, args)
    if dotted in api.LOADERS:
        return loader(ev, node, args)
    if dotted.startswith(api.IN_PLACE_LOADERS):
        return Value(Kind.LOADER, cell=ev.module.cell(node, "made"), element=Value(Kind.MOVES_IN_PLACE))
    if dotted in api.IN_PLACE_CLASSES:
        return Value(Kind.MOVES_IN_PLACE, cell=ev.module.cell(node))
    if dotted in api.MODULE_WRAPPERS or dotted in api.REPLACING_WRAPPERS:
        return _wrap(ev, node, dotted, args)
    if head == "torch.optim" or dotted in api.OPTIMIZER_CLASSES:
        return _optimizer(ev, node, name, args)
    if head == "torch":
        return _torch(ev, node, name, args)
    if head in ("torch.nn", "torch.nn.parameter") and name in ("Parameter", "Buffer"):
        return _parameter(ev, node, name, args)
    if (head == "torch.nn" or head.startswith("torch.nn.modules")) and name[:1].isupper():
        return _new_module(ev, node, f"torch.nn.{name}", args)
    if dotted.startswith(api.TENSOR_MODULES) and name[:1].islower():
        return _operation(ev, node, name, args)
    if head == "torch.nn.utils.rnn":
        return _sequence(ev, node, name, args)
    if name in ("skipif", "skipIf", "skipUnless"):
        return _skip(ev, name, args)
    if dotted.startswith(("torch.autocast", "torch.amp.autocast")):
        _autocast(ev, args)
        return OTHER
    if name == "init_process_group":
        _through(ev, args.get(0, "backend"))
        return OTHER
    if dotted in api.TENSOR_DATASETS:
        values = [value for _, value in args.positional]
        note(args.positional, AS_TENSOR)
        return container(
            cell=ev.module.cell(node, "made"),
            element=container(items=tuple(values)),
        )
    if dotted.startswith("torch.utils.data.") and name in ("random_split", "Subset", "ConcatDataset"):
        return _subset(ev, name, args)
    if head.startswith("numpy"):
        args.spill(ev, from_device=True)
        return Value(Kind.ARRAY, CPU)
    if dotted in api.TENSOR_SOURCES:
        return Value(Kind.TENSOR, CPU, ev.module.cell(node), origin=Origin("factory", node))
    if dotted.startswith(api.MODULE_FACTORIES) and not name.endswith(("_Weights", "Weights")):
        return _new_module(ev, node, dotted, args)
    if name in api.HF_CALLS:
        return _from_pretrained(ev, node, head.rsplit(".", 1)[-1], args)
    if dotted in ("torch.cuda.device", "torch.cuda.amp.autocast"):
        return OTHER
    if dotted == "copy.deepcopy" or dotted == "copy.copy":
        return _pass_through(ev, node, dotted, args)
    if head.endswith("backends.cudnn") or dotted.startswith("torch.cuda."):
        return OTHER
    return unknown_call(ev, node, args)


def launched(ev: Evaluator, args: Arguments) -> None:
    """What a launcher or trainer is told to use has to be there, whatever it is called."""
    _through(ev, args.get(None, "backend"))
    trains_on = args.get(None, "accelerator")
    if trains_on is not None and trains_on.data in ("gpu", "cuda"):
        ev.state.accelerated = True


def _through(ev: Evaluator, backend: Value | None) -> None:
    """Processes that talk through NCCL need a CUDA device each."""
    if backend is not None and backend.data == "nccl" and not ev.state.accelerated:
        ev.module.cuda_by_nature = True


def _skip(ev: Evaluator, name: str, args: Arguments) -> Value:
    """A mark or decorator that skips: true where the code runs."""
    condition = args.positional[0] if args.positional else args.keywords.get("condition")
    said = guards.truth(*condition) if condition is not None else None
    needed = said is not None and (said.if_true if name == "skipUnless" else said.if_false)
    reason = args.get(1, "reason")
    if said is None and reason is not None and isinstance(reason.data, str):
        needed = guards.demands_accelerator(reason.data)
    return Value(Kind.FLAG, data=Truth(needed, False))


# torch.*


def _torch(ev: Evaluator, node: ast.Call, name: str, args: Arguments) -> Value:
    if name == "device":
        first = args.get(0, "type")
        return Value(Kind.DEVICE, moves.denoted(ev, first, UNKNOWN_DEVICE) if first else UNKNOWN_DEVICE)
    if name in api.FACTORIES:
        return _factory(ev, node, name, args)
    if name in api.LEGACY_TYPES:
        return Value(Kind.TENSOR, CPU, ev.module.cell(node), origin=Origin("factory", node))
    if name in ("from_numpy", "from_file"):
        return Value(Kind.TENSOR, CPU, ev.module.cell(node), origin=Origin("array", node))
    if name == "autocast":
        _autocast(ev, args)
        return OTHER
    if name == "set_default_device":
        ev.state.default = moves.denoted(ev, args.get(0, "device"), CPU)
        return NONE
    if name == "set_default_tensor_type":
        ev.state.default = UNKNOWN_DEVICE
        return NONE
    if name == "load":
        given = args.get(1, "map_location")
        if given is not None and given.kind is Kind.STRING:
            moves.use_literal(ev, given, "argument")
        return ev.fresh(node)
    if name == "compile":
        return args.positional[0][1] if args.positional else ev.fresh(node)
    known = api.TORCH_NOT_TENSOR.get(name)
    if known is not None:
        if len(args.positional) > 1:
            args.spill(ev)  # `torch.equal(x, y)`
        kind = _KINDS[known]
        return ev.fresh(node) if kind is Kind.UNKNOWN else Value(kind)
    if name[:1].isupper():
        return ev.fresh(node)
    return _operation(ev, node, name, args)


def _factory(ev: Evaluator, node: ast.Call, name: str, args: Arguments) -> Value:
    given = args.get(None, "device")
    cell = ev.module.cell(node)
    if args.unpacked and given is None:
        return Value(Kind.TENSOR, UNKNOWN_DEVICE, cell)
    default = ev.state.default or CPU
    kind = Kind.SCALAR if _is_scalar(name, args) else Kind.TENSOR
    if given is not None and given.kind is not Kind.NONE:
        return Value(kind, moves.denoted(ev, given, CPU), cell, origin=Origin("factory", node))
    if name in api.FROM_DATA and args.positional:
        data = args.positional[0][1]
        if name in ("as_tensor", "asarray", "normal", "complex", "polar"):
            places = [ev.location(v) for _, v in args.positional if v.kind in TENSORS or v.kind is Kind.BATCH]
            if places:
                return Value(Kind.TENSOR, places[0], cell)
            if data.kind is Kind.UNKNOWN:
                return Value(Kind.TENSOR, UNKNOWN_DEVICE, cell)
        if name == "tensor" and data.kind in TENSORS:
            return Value(Kind.TENSOR, ev.location(data), cell)
    return Value(kind, default, cell, origin=Origin("factory", node))


def _is_scalar(name: str, args: Arguments) -> bool:
    """Whether a factory makes a 0-dim tensor: of a number, or of the empty shape."""
    first = args.positional[0][1] if args.positional else None
    if first is None:
        return False
    if name in ("tensor", "as_tensor", "scalar_tensor"):
        return first.kind is Kind.NUMBER
    return first.kind is Kind.CONTAINER and first.items == ()


def _operation(ev: Evaluator, node: ast.Call, name: str, args: Arguments) -> Value:
    """A torch function of tensors: its arguments meet, and the result lives with them."""
    cell = ev.module.cell(node, "op")
    given = args.get(None, "device")
    if given is not None and given.kind is not Kind.NONE:
        return Value(Kind.TENSOR, moves.denoted(ev, given, CPU), cell)
    note_tensors(args)
    exempt = api.CPU_ARGUMENTS.get(name, ())
    parties: list[tuple[ast.expr, Value]] = []
    for index, (at, value) in enumerate(args.positional):
        if index in exempt or isinstance(at, ast.Starred):
            continue
        if value.kind is Kind.CONTAINER:
            for item in value.items or ((value.element,) if value.element else ()):
                parties.append((at, item))
                if item.kind is Kind.UNKNOWN and item.cell is not None and name in ("cat", "stack", "concat"):
                    item.cell.note(AS_TENSOR)
        else:
            parties.append((at, value))
    if name.endswith("_like"):
        return Value(Kind.TENSOR, ev.combine([value for _, value in parties]), cell)
    parties.extend(p for key, p in args.keywords.items() if key not in ("out", "generator", *exempt))
    if name.endswith("_loss") or "cross_entropy" in name:
        note(args.positional[1:2], AS_TENSOR)
        parties = [(at, followed(value)) for at, value in parties]
    device = ev.meet(node, parties)
    scalar = (
        name in ("sum", "mean", "max", "min", "prod", "norm", "median", "all", "any")
        and len(args.positional) == 1
    )
    scalar = (scalar and not args.keywords) or name.endswith("_loss") or name == "cross_entropy"
    return Value(Kind.SCALAR if scalar else Kind.TENSOR, device, cell)


def _autocast(ev: Evaluator, args: Arguments) -> None:
    given = args.get(0, "device_type")
    enabled = args.get(None, "enabled")
    if given is None or given.kind is not Kind.STRING or args.unpacked:
        return
    if enabled is not None and (enabled.kind is Kind.FLAG or enabled.data is not None):
        return
    moves.use_literal(ev, given, "autocast")


def _parameter(ev: Evaluator, node: ast.Call, name: str, args: Arguments) -> Value:
    data = args.get(0, "data")
    kind = Kind.PARAMETER if name == "Parameter" else Kind.TENSOR
    return Value(kind, ev.location(data) if data else CPU, ev.module.cell(node))


def _sequence(ev: Evaluator, node: ast.Call, name: str, args: Arguments) -> Value:
    first = args.get(0, "input")
    if first is None:
        return UNKNOWN
    if name == "pad_packed_sequence":
        return container(items=(Value(Kind.TENSOR, first.device), Value(Kind.TENSOR, CPU)))
    if name.startswith("pack"):
        return Value(Kind.BATCH, ev.location(first), ev.module.cell(node))
    element = ev.element_of(first, node) if first.kind is Kind.CONTAINER else first
    return Value(Kind.TENSOR, ev.location(element), ev.module.cell(node))


# Modules


def _new_module(ev: Evaluator, node: ast.Call, dotted: str, args: Arguments) -> Value:
    cell = ev.module.cell(node, "made")
    ev.state.forget(cell)
    given = args.get(None, "device")
    if given is not None and given.kind is not Kind.NONE:
        ev.state.places[cell] = moves.denoted(ev, given, CPU)
    elif args.unpacked:
        ev.state.places[cell] = UNKNOWN_DEVICE
    elif ev.state.default is not None:
        ev.state.places[cell] = ev.state.default
    parts = [value for _, value in args.positional if value.cell is not None]
    for value in parts:
        for part in value.items or (value,):
            if (
                part.kind in (Kind.MODULE, Kind.UNKNOWN)
                and part.cell is not None
                and part.cell in ev.state.places
            ):
                ev.state.places[cell] = ev.state.places[part.cell]
    return Value(Kind.MODULE, cell=cell, data=dotted, origin=Origin("made", node))


def _from_pretrained(ev: Evaluator, node: ast.Call, cls: str, args: Arguments) -> Value:
    if cls.endswith(_TOKENIZERS) or "Processor" in cls or "Tokenizer" in cls:
        return OTHER
    if cls.endswith(("Config", "Scheduler", "Pipeline")):
        return ev.fresh(node)
    if cls.endswith("Model") or "For" in cls or "Model" in cls:
        value = _new_module(ev, node, f"transformers.{cls}", args)
        if args.keywords.keys() & {"device_map", "device", "quantization_config"}:
            assert value.cell is not None
            ev.state.places[value.cell] = UNKNOWN_DEVICE
        return value
    return ev.fresh(node)


def _wrap(ev: Evaluator, node: ast.Call, dotted: str, args: Arguments) -> Value:
    inner = args.get(0, "module") or UNKNOWN
    if inner.cell is None:
        return ev.fresh(node)
    if dotted in api.REPLACING_WRAPPERS:
        moves.relocate(ev, node, inner, UNKNOWN_DEVICE, "FullyShardedDataParallel")
        return ev.fresh(node)
    if dotted not in api.SCATTERING_WRAPPERS:
        return inner
    scatters = dotted.endswith(".DataParallel") or "device_ids" in args.keywords or len(args.positional) > 1
    data = dotted if scatters else (inner.data if isinstance(inner.data, (str, Class)) else None)
    return Value(Kind.MODULE, cell=inner.cell, data=data if scatters else inner.data, origin=inner.origin)


# Optimizers


def parameters(ev: Evaluator, base: Value, named: bool) -> Value:
    """`module.parameters()`: a container that remembers whose parameters it holds."""
    held = frozenset({base.cell}) if base.cell is not None else None
    element = Value(Kind.PARAMETER, ev.place_of(base), data=held)
    if named:
        element = container(items=(STRING, element), data=held)
    return container(element=element, data=held)


def _optimizer(ev: Evaluator, node: ast.Call, name: str, args: Arguments) -> Value:
    cell = ev.module.cell(node, "made")
    if name not in api.OPTIMIZERS and not name[:1].isupper():
        return ev.fresh(node)
    given = args.get(0, "params")
    if given is not None:
        held = _held(given)
        if held:
            stage = "stateful" if name in api.STATE_IN_CONSTRUCTOR else "fresh"
            momentum = args.get(2, "momentum")
            stateless = name in api.STATELESS and (momentum is None or momentum.data == 0)
            ev.state.held[cell] = Holding(held, name, node.lineno, stage, stateless)
            ev.module.rebuilt(ev.function, held)
    return Value(Kind.OPTIMIZER, cell=cell, data=name)


def _held(value: Value) -> frozenset[Cell]:
    found: set[Cell] = set(value.data) if isinstance(value.data, frozenset) else set()
    for part in (*(value.items or ()), *((value.element,) if value.element else ())):
        found |= _held(part)
    return frozenset(found)


def optimizer_method(ev: Evaluator, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """`step` and `load_state_dict` give an optimizer state that stays where it is."""
    holding = ev.state.held.get(base.cell) if base.cell is not None else None
    if holding is not None and base.cell is not None:
        if name == "step" and holding.stage == "fresh":
            ev.state.held[base.cell] = holding._replace(stage="stepped")
        elif name == "load_state_dict":
            ev.state.held[base.cell] = holding._replace(stage="loaded")
    if name == "step" and args.positional:
        return ev.fresh(node)
    return NONE if name in ("step", "zero_grad") else UNKNOWN


# Loaders


def batches(cell: Cell) -> Value:
    """What a loader yields: a batch on the cpu, of unknown structure."""
    batch = cell.child("batch", "", "element")
    return Value(Kind.BATCH, Device(Form.CPU, "cpu", batch), batch)


def loader(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """A data loader; its batches are on the cpu unless the dataset or `collate_fn` says otherwise."""
    args.spill(ev, from_device=True)  # workers and pinned memory do not go with a device
    cell = ev.module.cell(node, "made")
    batch = cell.child("batch", "", "element")
    device = Device(Form.CPU, "cpu", batch)
    collate = args.get(6, "collate_fn")
    dataset = args.get(0, "dataset")
    if collate is not None and collate.kind is not Kind.NONE:
        device = _collated(ev, collate, batch)
    elif dataset is not None and dataset.kind is Kind.CONTAINER and dataset.element is not None:
        items = dataset.element.items or ()
        places = [ev.location(item) for item in items]
        cell.placed = any(place.form in ON_DEVICE for place in places)
        if any(place.form is not Form.CPU for place in places):
            return Value(Kind.LOADER, cell=cell, element=Value(Kind.BATCH, UNKNOWN_DEVICE, batch))
    elif dataset is not None and dataset.kind is Kind.INSTANCE:
        device = _collected(ev, dataset.data, batch)
    return Value(
        Kind.LOADER, cell=cell, element=Value(Kind.BATCH, device, batch), origin=Origin("loader", node)
    )


def _collated(ev: Evaluator, collate: Value, batch: Cell) -> Device:
    """Where a `collate_fn` leaves batches: on the cpu if it is a function of this file that moves nothing."""
    if collate.kind is Kind.FUNCTION and not ev.module.mentions_device(collate.data.node):
        return Device(Form.CPU, "cpu", batch)
    return UNKNOWN_DEVICE


def _collected(ev: Evaluator, cls: Class, batch: Cell) -> Device:
    if ev.module.mentions_device(cls.node):
        return UNKNOWN_DEVICE
    return Device(Form.CPU, "cpu", batch)


def _subset(ev: Evaluator, name: str, args: Arguments) -> Value:
    first = args.get(0, "dataset") or UNKNOWN
    if name == "random_split":
        return container(element=first)
    return first


# Builtins and wrappers


def _pass_through(ev: Evaluator, node: ast.Call, dotted: str, args: Arguments) -> Value:
    first = args.get(0, "iterable")
    if first is None:
        return ev.fresh(node)
    if dotted.startswith("torch.autograd."):
        note_tensors(args)
    if dotted.endswith(".chain") and len(args.positional) > 1:
        element = ev.element_of(first, node)
        for _, value in args.positional[1:]:
            element = join(element, ev.element_of(value, node))
        return container(element=element, data=held_by([v for _, v in args.positional]))
    if dotted.startswith("copy.") and first.kind is Kind.MODULE and first.cell is not None:
        cell = ev.module.cell(node, "made")
        ev.state.places[cell] = ev.place_of(first)
        return first._replace(cell=cell)
    return first


def _builtin(ev: Evaluator, node: ast.Call, name: str, args: Arguments) -> Value:
    values = [value for _, value in args.positional]
    first = values[0] if values else None
    if name in ("list", "tuple", "iter", "reversed", "sorted", "set") and first is not None:
        return first
    if name == "dict" and first is not None:
        return first
    if name in ("list", "dict", "set", "tuple"):
        cell = ev.module.cell(node, "made")
        for key, (_, value) in args.keywords.items():
            ev.state.env[(cell, key)] = value
        element = None
        for _, value in args.keywords.values():
            element = value if element is None else join(element, value)
        return container(cell=cell, items=None if element else (), element=element)
    if name == "enumerate" and first is not None:
        return container(element=container(items=(NUMBER, ev.element_of(first, node))))
    if name == "zip":
        items = tuple(ev.element_of(value, at) for at, value in args.positional)
        return container(element=container(items=items))
    if name == "next" and first is not None:
        return ev.element_of(first, node)
    if name == "filter" and len(values) == 2:
        return values[1]
    if name == "map" and len(values) == 2:
        return _map(ev, node, args)
    if name in (
        "len",
        "int",
        "float",
        "bool",
        "abs",
        "round",
        "isinstance",
        "hasattr",
        "id",
        "range",
        "all",
        "any",
    ):
        if name in ("any", "all") and first is not None and first.element is not None:
            # Of nothing, neither is said; nobody asks nothing where its devices are.
            return first.element if first.element.kind is Kind.FLAG else NUMBER
        if name in ("int", "bool") and first is not None:
            said = guards.truth(node.args[0], first)
            if said is not None and first.kind is Kind.FLAG:
                return Value(Kind.FLAG, data=said)
        return NUMBER
    if name == "str" and first is not None:
        return Value(Kind.STRING, first.device) if first.kind in (Kind.DEVICE, Kind.STRING) else STRING
    if name == "getattr" and len(values) >= 2 and first is not None:
        label = values[1].data
        if isinstance(label, str):
            fake = ast.Attribute(value=node.args[0], attr=label, ctx=ast.Load())
            found = ev.attribute(first, label, ast.copy_location(fake, node))
            return join(found, values[2]) if len(values) > 2 else found
        return ev.fresh(node)
    if name == "setattr" and len(values) == 3 and first is not None:
        if isinstance(values[1].data, str) and first.cell is not None:
            ev.state.env[(first.cell, values[1].data)] = values[2]
        return NONE
    if name in ("sum", "max", "min") and first is not None:
        if len(values) == 1:
            return ev.element_of(first, node)
        joined = values[0]
        for value in values[1:]:
            joined = join(joined, value)
        return joined
    if name == "type":
        return UNKNOWN
    if name == "super":
        return OTHER
    return NONE if name == "print" else ev.fresh(node)


def _map(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    function, (at, iterable) = args.positional[0][1], args.positional[1]
    element = ev.element_of(iterable, node)
    if function.kind is Kind.FUNCTION and function.data.positional:
        summary = ev.module.summary(function.data)
        given: dict[str, tuple[ast.expr | None, Value]] = {function.data.positional[0]: (at, element)}
        return container(element=use_summary(ev, node, function.data, summary, given))
    return container(element=ev.fresh(node))
