"""Copies between several devices, as `nn.DataParallel` and `torch.cuda.comm` ask torch's C++ for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence


def install() -> None:
    """Give torch the functions that its builds with CUDA have."""
    torch._C._scatter = _scatter
    torch._C._gather = _gather
    torch._C._broadcast = _broadcast
    torch._C._broadcast_coalesced = _broadcast_coalesced


def _scatter(
    tensor: torch.Tensor, devices: Sequence[int], sizes: Any = None, dim: int = 0, streams: Any = None
) -> tuple[torch.Tensor, ...]:
    parts = tensor.split(sizes, dim) if sizes else tensor.chunk(len(devices), dim)
    return tuple(part.to(torch.device("cuda", i)) for part, i in zip(parts, devices, strict=False))


def _gather(tensors: Sequence[torch.Tensor], dim: int, destination: int | None = None) -> torch.Tensor:
    target = torch.device("cpu") if destination == -1 else torch.device("cuda", destination)
    return torch.cat([tensor.to(target) for tensor in tensors], dim)


def _broadcast(tensor: torch.Tensor, devices: Sequence[int]) -> tuple[torch.Tensor, ...]:
    return tuple(tensor.to(torch.device("cuda", i)) for i in devices)


def _broadcast_coalesced(
    tensors: Sequence[torch.Tensor], devices: Sequence[int], size: int
) -> list[list[torch.Tensor]]:
    return [[tensor.to(torch.device("cuda", i)) for tensor in tensors] for i in devices]
