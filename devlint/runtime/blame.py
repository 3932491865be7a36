"""Tells of a tensor that is where it should not be what the program calls it, and why it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from ..claim import Cause
from . import frames, origins
from .storage import is_simulated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from .frames import Place

_UNNAMED = "an unnamed value"
_REGISTERS = ("_modules", "_parameters", "_buffers")


class Blame(NamedTuple):
    """What is to be said of a tensor."""

    cause: Cause
    """Why it is where it is."""
    label: str
    """What the program calls the tensor."""
    notes: tuple[tuple[Place, str], ...]
    """Where it comes from."""


def blame(tensor: torch.Tensor) -> Blame:
    """Find out about a tensor that an operation cannot take."""
    everyone = list(frames.stack())
    cause, label, notes = _held(tensor, everyone)
    origin, lost = origins.origin_of(tensor), origins.lost_at(tensor)
    if not label:
        label = _local(tensor, frames.own_frames()) or _UNNAMED
    if not cause:
        cause = _by_origin(origin, everyone)
    if cause == Cause.OPTIMIZER and label == _UNNAMED:
        label = "a state of the optimizer"
    if origin is not None and cause not in (Cause.MODULE, Cause.CONTAINER):
        notes.append(
            (origin.place, f"{label} {origin.how}" if origin.kind == origins.BATCH else f"it is {origin.how}")
        )
    if lost is not None:
        notes.append((lost, "its moved copy is thrown away"))
    return Blame(cause, label, tuple(notes))


def _by_origin(origin: origins.Origin | None, everyone: list[FrameType]) -> Cause:
    if any(isinstance(_self(frame), torch.optim.Optimizer) for frame in everyone):
        return Cause.OPTIMIZER
    if origin is None or origin.kind == origins.BROUGHT:
        return Cause.MIXED
    return Cause.BATCH if origin.kind == origins.BATCH else Cause.MADE


def _self(frame: FrameType) -> Any:
    code = frame.f_code
    return frame.f_locals.get("self") if code.co_argcount and code.co_varnames[0] == "self" else None


def _held(
    tensor: torch.Tensor, everyone: list[FrameType]
) -> tuple[Cause | None, str, list[tuple[Place, str]]]:
    """Whether a module holds the tensor, and how: as its own, or as a plain attribute."""
    modules = [each for each in map(_self, everyone) if isinstance(each, torch.nn.Module)]
    modules = list(dict.fromkeys(modules))
    for module in modules:
        named = {**module._parameters, **module._buffers}
        name = next((name for name, value in named.items() if value is tensor), None)
        if name is not None:
            return _unmoved(module, name, modules)
    for module in modules:
        for name, value in vars(module).items():
            if name not in _REGISTERS and any(map(_same_as(tensor), _tensors(value))):
                return Cause.ATTRIBUTE, f"`self.{name}`", []
    return None, "", []


def _unmoved(
    module: torch.nn.Module, name: str, modules: list[torch.nn.Module]
) -> tuple[Cause | None, str, list[tuple[Place, str]]]:
    """A parameter of a module that is on the cpu: it was not moved, or is hidden in a plain container."""
    place = origins.made_at(module)
    notes = [] if place is None else [(place, f"`{type(module).__name__}` is made here")]
    for outer in modules:
        for attribute, value in vars(outer).items():
            if attribute not in _REGISTERS and any(module in inner.modules() for inner in _modules(value)):
                label = (
                    f"`{name}` of a `{type(module).__name__}` in the plain {_kind(value)} `self.{attribute}`"
                )
                return Cause.CONTAINER, label, notes
    return Cause.MODULE, f"`{name}` of `{type(module).__name__}`", notes


def _kind(value: Any) -> str:
    return type(value).__name__


def _modules(value: Any) -> Iterator[torch.nn.Module]:
    for each in (
        value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    ):
        if isinstance(each, torch.nn.Module):
            yield each
        elif isinstance(each, (list, tuple, dict)):
            yield from _modules(each)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif type(value) in (list, tuple, dict) and len(value) < 100:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _tensors(each)


def _same_as(tensor: torch.Tensor) -> Any:
    """Whether another tensor is this one, or a view of it, or what it is a view of."""
    memory = _memory(tensor)
    return lambda other: other is tensor or (memory is not None and _memory(other) == memory)


def _memory(tensor: torch.Tensor) -> int | None:
    try:
        return None if is_simulated(tensor) else tensor.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError):  # it has no memory
        return None


def _local(tensor: torch.Tensor, own: list[FrameType]) -> str:
    """What a variable, an element of one, or an attribute that holds the tensor is called."""
    same = _same_as(tensor)
    for frame in own:
        variables = list(frame.f_locals.items())
        for name, value in variables:
            if isinstance(value, torch.Tensor) and same(value):
                return f"`{name}`"
        for name, value in variables:
            if isinstance(value, (dict, list, tuple)) and len(value) < 100:
                items = value.items() if isinstance(value, dict) else enumerate(value)
                for key, each in items:
                    if isinstance(each, torch.Tensor) and same(each):
                        return f"`{name}[{key!r}]`"
        holder = _self(frame)
        for name, value in vars(holder).items() if hasattr(holder, "__dict__") else ():
            if isinstance(value, torch.Tensor) and same(value):
                return f"`self.{name}`"
    return ""
