"""The device that stands in for CUDA in this process, and what belongs to it."""

from __future__ import annotations

from typing import Any

import torch

from .storage import device_of

CUDA = torch.device("cuda:0")
device = CUDA
"""The device presented as CUDA: CUDA itself until the facade sets another."""


def target_of(named: Any) -> Any:
    """The device that stands in for a device as the program names it; what is not CUDA passes unchanged."""
    if isinstance(named, int) and not isinstance(named, bool):
        named = torch.device("cuda", named)
    if isinstance(named, str) and named.partition(":")[0] == "cuda":
        named = torch.device(named)
    if not isinstance(named, torch.device) or named.type != "cuda":
        return named
    check_index(named.index)
    return device


def check_index(index: int | None) -> None:
    """Raise as CUDA does unless the index is that of the one device there is."""
    if index:
        raise RuntimeError("CUDA error: invalid device ordinal")


def is_presented(tensor: torch.Tensor) -> bool:
    """Whether a tensor is on the device that is presented as CUDA."""
    return bool(device_of(tensor).type == device.type)
