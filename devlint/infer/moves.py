"""Moves: what device a call names, what ends up there, and moves that come to nothing or come too late."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ..knowledge import api
from . import guards
from .values import (
    AS_SWITCH,
    CPU,
    STRING,
    TENSORS,
    UNKNOWN_DEVICE,
    Cell,
    Device,
    Form,
    Kept,
    Kind,
    Origin,
    Value,
    accelerator,
)

if TYPE_CHECKING:
    from .arguments import Arguments
    from .evaluate import Evaluator


def denoted(ev: Evaluator, value: Value | None, default: Device) -> Device:
    """The device that an argument names; `default` for None."""
    if value is None or value.kind is Kind.NONE:
        return default
    if value.kind in (Kind.DEVICE, Kind.STRING):
        use_literal(ev, value, "argument")
        if value.device.form is not Form.UNKNOWN:
            return value.device
        return Device(Form.SAME, "", value.cell) if value.cell is not None else UNKNOWN_DEVICE
    if value.kind is Kind.NUMBER:
        return accelerator(f"cuda:{value.data}" if type(value.data) is int else "cuda")
    if value.kind in TENSORS:
        return ev.location(value)
    if value.kind in (Kind.UNKNOWN, Kind.BATCH) and value.cell is not None:
        return Device(Form.SAME, "", value.cell)
    return UNKNOWN_DEVICE


def _on_purpose(ev: Evaluator) -> bool:
    """Whether the code at hand is only for an accelerator: it is guarded, or its name says so."""
    if ev.state.accelerated:
        return True
    return ev.function is not None and any(guards.mentions_accelerator(name) for name in ev.function.names)


def use_literal(ev: Evaluator, value: Value, role: str) -> None:
    """A device literal reaches a place where a device goes: remember it, unless it is guarded or compared."""
    origin = value.origin
    if origin is None or origin.how not in ("literal", "default") or ev.comparing or _on_purpose(ev):
        return
    ev.module.hardcoded(ev.function, origin, "default" if origin.how == "default" else role)


def device_keywords(ev: Evaluator, node: ast.Call, args: Arguments, dotted: str = "") -> None:
    """Literals given as `device=` and the like, whatever is called; `dotted` names it in a library."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in api.RECORDS or name.startswith("assert"):
        ev.module.harmless(at for at, value in args.all() if value.kind in (Kind.DEVICE, Kind.STRING))
        return
    if not args.keywords or name in api.CONFIGURES or dotted.startswith("torch.cuda."):
        return
    for keyword in api.DEVICE_KEYWORDS & args.keywords.keys():
        value = args.keywords[keyword][1]
        if value.kind is Kind.STRING:
            use_literal(ev, value, "argument")


def target(ev: Evaluator, node: ast.Call, name: str, args: Arguments) -> tuple[Device | None, bool]:
    """Where a `.to`, `.cuda` or `.cpu` call moves to, if anywhere, and whether it only casts."""
    if name == "cpu":
        return CPU, False
    if name != "to":
        given = args.get(0, "device")
        if given is None or given.kind in (Kind.NONE,):
            return accelerator(name), False
        device = denoted(ev, given, accelerator(name))
        return (device if device.form is not Form.UNKNOWN else accelerator(name)), False
    given = args.get(None, "device") or args.get(None, "other")
    if given is None and args.positional:
        given = args.positional[0][1]
        if given.kind is Kind.DTYPE or _names_dtype(args.positional[0][0]):
            return None, True
    if given is None:
        if args.unpacked or args.starred:
            return UNKNOWN_DEVICE, False
        return None, "dtype" in args.keywords
    if given.kind in TENSORS:
        ev.module.likened.add(node)
    if given.kind is Kind.NONE or (given.kind is Kind.STRING and _names_no_device(given)):
        return None, False
    return denoted(ev, given, UNKNOWN_DEVICE), False


def _names_no_device(given: Value) -> bool:
    """`length.to("kilometre")`: a string that is known and names no device."""
    return isinstance(given.data, str) and given.device.form is Form.UNKNOWN


def _names_dtype(node: ast.expr) -> bool:
    """`x.to(self.dtype)`, `x.to(weight_dtype)`: what is called so is a dtype throughout torch's libraries."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name.endswith("dtype")


def hardcoded_call(ev: Evaluator, node: ast.Call, base: Value, name: str, args: Arguments) -> None:
    """Remember an unguarded `.cuda()`."""
    if name != "cuda" or not isinstance(node.func, ast.Attribute) or _on_purpose(ev):
        return
    given = args.get(0, "device")
    if given is not None and given.kind is Kind.STRING and given.device.form is Form.UNKNOWN:
        return
    if not args.keywords.keys() <= {"device", "non_blocking", "memory_format"}:
        return
    kind = "" if given is None else "device" if given.kind is Kind.DEVICE else "index"
    ev.module.calls[node] = (ev.function, node.func.value, kind, _device_at_hand(ev))


def _device_at_hand(ev: Evaluator) -> str | None:
    """A local variable that holds a device chosen at run time."""
    for scope in (ev.state.env, ev.module.state.env):
        for name, value in scope.items():
            if (
                isinstance(name, str)
                and value.kind is Kind.DEVICE
                and value.device.form in (Form.EITHER, Form.SAME)
            ):
                return name
    return None


def _note_switch(ev: Evaluator, base: Value, device: Device) -> None:
    """Moving what is on the cpu anyway to a variable that holds the cpu: the variable is meant to change."""
    if device.form is not Form.CPU or not isinstance(device.key, Cell) or device.key.batch is not None:
        return
    place = ev.location(base)
    if place.form is Form.CPU and place.key is not device.key:
        device.key.note(AS_SWITCH)


def move_tensor(ev: Evaluator, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """A tensor's move returns a copy."""
    device, casts = target(ev, node, name, args)
    hardcoded_call(ev, node, base, name, args)
    if device is not None:
        _note_switch(ev, base, device)
    if ev.discarding is node:
        if device is not None or casts:
            discarded(ev, node, base, name, casts, device)
        return _as_kept(ev, node, base, device) or base
    kind = Kind.TENSOR if base.kind is Kind.PARAMETER else base.kind
    if device is None:
        return Value(kind, ev.location(base), base.cell)
    if ev.lost is not node:
        record_move(ev, base, device)
    elif _is_there(base, device):
        ev.module.discards.pop(node, None)
    return Value(kind, device, base.cell, origin=Origin("moved", node))


def _as_kept(ev: Evaluator, node: ast.Call, base: Value, device: Device | None) -> Value | None:
    """The result of a discarded move that is kept in this analysis."""
    kept = ev.module.keeping.get(node)
    if kept is None:
        return None
    kept.target = UNKNOWN_DEVICE if device is None or isinstance(device.key, Kept) else device
    if isinstance(base.device.key, Kept):  # where it is without this move depends on that one
        base.device.key.links.add(kept)
        kept.links.add(base.device.key)
    kind = base.kind if base.kind is Kind.SCALAR else Kind.TENSOR
    return Value(kind, kept.place, base.cell, origin=Origin("moved", node))


def retype(ev: Evaluator, node: ast.Call, base: Value, args: Arguments) -> Value:
    """`x.type(torch.cuda.FloatTensor)` moves as well as casts; `x.type(torch.float32)` only casts."""
    given = args.get(0, "dtype")
    if given is None:
        return STRING
    kind = base.kind if base.kind is Kind.SCALAR else Kind.TENSOR
    if given.kind is Kind.DTYPE:
        return Value(kind, ev.location(base), base.cell)
    name = given.data if isinstance(given.data, str) else ""
    device = UNKNOWN_DEVICE
    if name.startswith("torch.cuda."):
        device = accelerator("cuda")
    elif name.startswith("torch.") and name.endswith("Tensor"):
        device = CPU
    record_move(ev, base, accelerator("cuda") if device is UNKNOWN_DEVICE else device)
    return Value(kind, device, base.cell, origin=Origin("moved", node))


def move_unknown(ev: Evaluator, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """A move of something unknown: a tensor's copy, or a module's in place; what it is shows later."""
    device, casts = target(ev, node, name, args)
    if name in ("to", "cuda") or base.cell is not None:
        hardcoded_call(ev, node, base, name, args)
    if ev.discarding is node:
        if device is not None or casts:
            discarded(ev, node, base, name, casts, device)
    elif device is not None and ev.lost is not node:
        record_move(ev, base, device)
    if device is None:
        return base
    _note_switch(ev, base, device)
    if (kept := _as_kept(ev, node, base, device)) is not None:
        return kept
    if base.cell is not None and base.kind is Kind.UNKNOWN:
        relocate(ev, node, base, device, name)
    if ev.discarding is node:
        return base
    return Value(base.kind, device, base.cell, base.data, origin=Origin("moved", node))


def move_module(ev: Evaluator, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """A module moves in place and returns itself."""
    device, _ = target(ev, node, "to" if name == "to_empty" else name, args)
    hardcoded_call(ev, node, base, name, args)
    if device is not None:
        _note_switch(ev, base, device)
        relocate(ev, node, base, device, name)
    return base


def relocate(ev: Evaluator, node: ast.AST, module: Value, device: Device, name: str) -> None:
    """A module, or what may be one, is now elsewhere: optimizers that hold it may be stale."""
    cell = module.cell
    if cell is None:
        return
    has_parameters = not (isinstance(module.data, str) and module.data.rsplit(".", 1)[-1] in api.LOSSES)
    if has_parameters and (device.form is not Form.CPU or name == "to_empty"):
        for holding in ev.state.held.values():
            replaces = name in ("to_empty", "FullyShardedDataParallel")
            if any(
                _part_of(held, cell) and (replaces or not _moved_before(ev, held)) for held in holding.modules
            ):
                ev.module.moved_late(ev.function, node, cell, holding, name)
                break
    ev.state.places[cell] = device
    for other in list(ev.state.places):
        if other is not cell and _part_of(other, cell):
            ev.state.places[other] = device


def _part_of(cell: Cell | None, whole: Cell) -> bool:
    while cell is not None:
        if cell is whole:
            return True
        cell = cell.parent if cell.via else None
    return False


def _moved_before(ev: Evaluator, cell: Cell | None) -> bool:
    while cell is not None:
        if cell in ev.state.places:
            return True
        cell = cell.parent if cell.via else None
    return False


def record_move(ev: Evaluator, value: Value, device: Device) -> None:
    """An element of a whole was moved: its siblings are elsewhere unless they are moved too."""
    ev.module.moves += 1
    cell = value.device.key if isinstance(value.device.key, Cell) else value.cell
    if cell is None:
        return
    whole = cell.batch or cell
    whole.kept.add(cell)
    if device.form in (Form.CPU, Form.UNKNOWN):
        return
    whole.moved.add(cell)
    whole.moved_to = device
    if whole.via == "element" and whole.parent is not None:
        whole.parent.moved_to = device


def _is_there(base: Value, device: Device) -> bool:
    """Whether a move has nothing to do; a variable that holds the cpu is meant to change."""
    if device.form is Form.CPU and device.key is None:
        return base.device.form is Form.CPU
    return device == base.device and device.form is not Form.UNKNOWN


def discarded(
    ev: Evaluator, node: ast.Call, base: Value, name: str, casts: bool, device: Device | None = None
) -> None:
    """Remember a move or cast whose result is thrown away; whether it matters shows later."""
    if device is not None and _is_there(base, device):
        return
    assert isinstance(node.func, ast.Attribute)
    made = base.origin if base.origin is not None and base.origin.how == "factory" else None
    if made is not None and made.node is node.func.value:
        return  # `torch.empty(0).cuda()` is made for its effect alone: it wakes the device up
    ev.module.discarded(ev, node, base, name, casts)
