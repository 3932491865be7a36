"""Runs the one module that makes nested tensors behind a program's back, `nn.TransformerEncoder`, on the cpu.

With a padding mask and without gradients it packs its input into a nested tensor, which the device cannot
hold, and leaves zeros where there was padding. Turned off, it would give other values there than a GPU.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from .limit import NotSimulated
from .storage import adopt, alias, device_of, is_simulated

_PACK = "_nested_tensor_from_mask"


class _Packs(NotSimulated):
    """The encoder is about to make a nested tensor of simulated ones."""


def install() -> None:
    """Let the encoder be run on the cpu when it comes to that."""
    encoder = torch.nn.TransformerEncoder
    encode, pack = encoder.forward, getattr(torch, _PACK)

    @functools.wraps(pack)
    def pack_(tensor: torch.Tensor, mask: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if is_simulated(tensor):
            raise _Packs("a nested tensor")
        return pack(tensor, mask, *args, **kwargs)

    @functools.wraps(encode)
    def forward(self: torch.nn.Module, *args: Any, **kwargs: Any) -> torch.Tensor:
        met = NotSimulated.met
        try:
            return encode(self, *args, **kwargs)
        except _Packs:
            NotSimulated.met = met  # this limit is none; outside, an error from here on has no part in it
        state = {**dict(self.named_parameters()), **dict(self.named_buffers())}
        if all(map(is_simulated, _tensors(*state.values(), *args, *kwargs.values()))):
            host = {name: alias(tensor.detach()) for name, tensor in state.items()}
            given = tuple(map(_to_host, args)), {name: _to_host(a) for name, a in kwargs.items()}
            return adopt(
                torch.func.functional_call(self, host, *given), device_of(next(iter(state.values())))
            )
        enabled = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            return encode(self, *args, **kwargs)  # its operators will tell what is where
        finally:
            torch.backends.mha.set_fastpath_enabled(enabled)

    setattr(torch, _PACK, pack_)
    encoder.forward = forward


def _tensors(*values: Any) -> list[torch.Tensor]:
    return [value for value in values if isinstance(value, torch.Tensor)]


def _to_host(value: Any) -> Any:
    return alias(value.detach()) if isinstance(value, torch.Tensor) else value
