"""The bytes of simulated tensors: every one is a genuine PrivateUse1 tensor whose storage owns CPU memory.

The CPU storage hangs on the Python object of the device storage, not on the tensor, so what shares a storage
in torch (views, `.data` swaps, shallow copies) shares the bytes here without any bookkeeping.
"""

from __future__ import annotations

import torch

DEVICE = "sim"

_META = torch._C.DispatchKeySet(torch._C.DispatchKey.Meta)
_as_strided = torch.ops.aten.as_strided.default
# `torch.Tensor.device` may be replaced by the facade; the truth is in the base class.
_device = torch._C.TensorBase.device.__get__


def device_of(tensor: torch.Tensor) -> torch.device:
    """Where a tensor really is, whatever it is presented as."""
    return _device(tensor)


def is_simulated(tensor: torch.Tensor) -> bool:
    """Whether the tensor is on the simulated device."""
    return bool(_device(tensor).type == DEVICE)


def host_storage(tensor: torch.Tensor) -> torch.UntypedStorage:
    """The CPU storage behind a simulated tensor."""
    storage = tensor.untyped_storage()
    host = storage.__dict__.get("_host")
    if host is None:  # a storage that C++ made is empty until it is first used
        host = storage._host = torch.UntypedStorage(tensor.element_size() * max(1, tensor.numel()))
    return host


def alias(tensor: torch.Tensor) -> torch.Tensor:
    """A CPU tensor over the same bytes as a simulated one."""
    host = torch.empty(0, dtype=tensor.dtype)
    host.set_(host_storage(tensor), tensor.storage_offset(), tensor.size(), tensor.stride())
    if tensor.is_conj():
        host = host.conj()
    return torch._neg_view(host) if tensor.is_neg() else host


def adopt(host: torch.Tensor) -> torch.Tensor:
    """A new simulated tensor that owns the bytes of a CPU tensor."""
    host = host.resolve_conj().resolve_neg()
    return restride(_empty_over(host.untyped_storage(), host.dtype), host)


def view(tensor: torch.Tensor, host: torch.Tensor) -> torch.Tensor:
    """The simulated view of `tensor` whose bytes are `host`, a view of its alias."""
    if tensor.dtype == host.dtype:
        return restride(tensor, host)
    # A storage cannot be viewed as another dtype through as_strided: share the bytes alone.
    return adopt(host)


def restride(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """A view of a simulated tensor's storage with the sizes, strides and offset of `like`."""
    # The Meta kernel does all of a view except touching memory, on whatever device the storage claims.
    return _as_strided.redispatch(_META, tensor, like.size(), like.stride(), like.storage_offset())


def follow(tensor: torch.Tensor, host: torch.Tensor) -> None:
    """Give a simulated tensor the sizes and bytes that an in-place operator left in its alias."""
    storage = tensor.untyped_storage()
    if storage._host._cdata != host.untyped_storage()._cdata:
        storage._host = host.untyped_storage()
    tensor.data = restride(tensor, host)


def storage_over(host: torch.UntypedStorage) -> torch.UntypedStorage:
    """A simulated storage that owns a CPU storage."""
    return _empty_over(host, torch.uint8).untyped_storage()


def _empty_over(host: torch.UntypedStorage, dtype: torch.dtype) -> torch.Tensor:
    base = torch._C._acc.create_empty_tensor((0,), dtype)
    base.untyped_storage()._host = host
    return base
