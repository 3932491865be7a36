"""The device that stands in for CUDA in this process, and what belongs to it."""

from __future__ import annotations

import threading
from typing import Any

import torch

from .storage import device_of

CUDA = torch.device("cuda:0")
device = CUDA
"""The device presented as CUDA: CUDA itself until the facade sets another."""


count = 1
"""How many devices there are."""


class _Chosen(threading.local):
    """Which device `cuda` means, in each thread."""

    index = 0


_chosen = _Chosen()


def target_of(named: Any) -> Any:
    """The device that stands in for a device as the program names it; what is not CUDA passes unchanged."""
    if isinstance(named, int) and not isinstance(named, bool):
        named = torch.device("cuda", named)
    if isinstance(named, str) and named.partition(":")[0] == "cuda":
        named = torch.device(named)
    if not isinstance(named, torch.device) or named.type != "cuda":
        return named
    return torch.device(device.type, _valid(named.index))


def index_of(named: Any = None) -> int:
    """The number of a device of CUDA, as the functions of `torch.cuda` take it."""
    if named is None or isinstance(named, int):
        return _valid(named)
    return _valid(torch.device(named).index)


def _valid(index: int | None) -> int:
    """Raise as CUDA does unless there is a device of that number."""
    if index is None or index < 0:
        return _chosen.index
    if index >= count:
        raise RuntimeError("CUDA error: invalid device ordinal")
    return index


def choose(named: Any) -> int:
    """Let `cuda` mean another device in this thread; return the number of that which it meant before."""
    before, _chosen.index = _chosen.index, index_of(named)
    return before


def current() -> torch.device:
    """The device that `cuda` means."""
    return torch.device("cuda", _chosen.index)


def shown(real: torch.device) -> torch.device:
    """A device as it is presented."""
    return torch.device("cuda", real.index or 0) if real.type == device.type else real


def is_presented(tensor: torch.Tensor) -> bool:
    """Whether a tensor is on a device that is presented as CUDA."""
    return bool(device_of(tensor).type == device.type)
