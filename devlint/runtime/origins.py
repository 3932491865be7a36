"""Remembers of tensors on the cpu where they were made, and where a move of theirs was thrown away."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from . import frames
from .frames import Place
from .storage import is_simulated

BATCH, MADE, BROUGHT = "batch", "made", "brought"


class Origin(NamedTuple):
    """Where a tensor on the cpu comes from."""

    place: Place
    kind: str
    how: str


_origins: Any = WeakIdKeyDictionary()
_lost: Any = WeakIdKeyDictionary()
_modules: Any = WeakIdKeyDictionary()


def origin_of(tensor: torch.Tensor) -> Origin | None:
    """Where a tensor comes from, if that was seen."""
    found: Origin | None = _origins.get(tensor)
    return found


def lost_at(tensor: torch.Tensor) -> Place | None:
    """Where a moved copy of the tensor was thrown away."""
    found: Place | None = _lost.get(tensor)
    return found


def lose(tensor: torch.Tensor, place: Place) -> None:
    """Remember that a moved copy was thrown away."""
    _lost[tensor] = place


def made(result: torch.Tensor, name: str, given: Any) -> None:
    """Remember where a tensor on the cpu was made, or that it comes from others that are remembered."""
    if result in _origins:
        return
    parents = [value for value in tree_leaves(given) if isinstance(value, torch.Tensor)]
    moved = any(map(is_simulated, parents))
    known = [_origins[parent] for parent in parents if parent in _origins]
    if known and not moved:
        _origins[result] = next((each for each in known if each.kind == BATCH), known[0])
        return
    frame = frames.innermost()
    if frame is not None:
        how = f"brought to the cpu by `{name}`" if moved else f"made on the cpu by `{name}`"
        _origins[result] = Origin(frames.place_of(frame), BROUGHT if moved else MADE, how)


def yielded(batch: Any) -> None:
    """Remember that a loader has yielded these."""
    frame = frames.innermost()
    if frame is None:
        return
    origin = Origin(frames.place_of(frame), BATCH, "comes from the loader")
    for value in tree_leaves(batch):
        if isinstance(value, torch.Tensor):
            _origins[value] = origin


def watch_modules() -> None:
    """Remember where modules are made, for the parameters that they have."""
    initialize = torch.nn.Module.__init__

    def __init__(self: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
        initialize(self, *args, **kwargs)
        for frame in frames.own_frames():
            if frame.f_code.co_name != "__init__" or frame.f_locals.get("self") is not self:
                _modules[self] = frames.place_of(frame)
                return

    torch.nn.Module.__init__ = __init__


def made_at(module: torch.nn.Module) -> Place | None:
    """Where a module was made."""
    found: Place | None = _modules.get(module)
    return found
