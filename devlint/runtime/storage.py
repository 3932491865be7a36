"""The bytes of simulated tensors: every one is a genuine PrivateUse1 tensor whose storage owns CPU memory.

The device storage has the address and the size of its bytes, so that whatever in torch reads memory by
itself reads the right bytes. The CPU storage that owns them hangs on the Python object of the device
storage (before torch 2.10 on the device storage itself as well), not on the tensor: what shares a storage in
torch (views, `.data` swaps, shallow copies) shares the bytes here without any bookkeeping.
"""

from __future__ import annotations

import ctypes
import functools

import torch

from . import shim
from .limit import NotSimulated

DEVICE = "sim"

_META = torch._C.DispatchKeySet(torch._C.DispatchKey.Meta)
_CPU, FIRST = torch.device("cpu"), torch.device("privateuseone", 0)
_empty = torch.empty  # not what the facade makes of it
_as_strided = torch.ops.aten.as_strided.default
_set = torch.ops.aten.set_.source_Storage_storage_offset
_as_dtype = torch.ops.aten.view.dtype
_storage_at = torch._C._construct_storage_from_data_pointer
# `torch.Tensor.device` may be replaced by the facade; the truth is in the base class.
_device = torch._C.TensorBase.device.__get__
_storage_device = torch._C.StorageBase.device.__get__
_overridden = torch.overrides.has_torch_function_unary
MOVES = shim.NEEDED or hasattr(torch._C.StorageBase, "_swap_data_ptr_")
"""Whether a storage can be given other memory."""
_NEWER = "torch 2.12 or newer can do it"


def device_of(tensor: torch.Tensor) -> torch.device:
    """Where a tensor really is, whatever it is presented as."""
    if not _overridden(tensor):
        return _device(tensor)
    with torch._C.DisableTorchFunction():  # a mode or a subclass would be asked, and answer what is presented
        return _device(tensor)


def is_simulated(tensor: torch.Tensor) -> bool:
    """Whether the tensor is on a simulated device."""
    return device_of(tensor).type == DEVICE  # type: ignore[no-any-return]


def is_simulated_storage(storage: torch.UntypedStorage) -> bool:
    """Whether the storage is on a simulated device, whatever it is presented as."""
    return bool(_storage_device(storage).type == DEVICE)


def storage_device_of(storage: torch.UntypedStorage) -> torch.device:
    """Where a storage really is, whatever it is presented as."""
    return _storage_device(storage)


def host_of(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """The CPU storage behind a simulated one."""
    host = storage.__dict__.get("_host")
    if host is None and shim.NEEDED:
        host = storage._host = shim.host_of(storage)
    if host is None:  # C++ made it, over memory that it keeps alive itself, as `from_dlpack` does
        host = storage._host = _storage_at(storage.data_ptr(), _CPU, storage.nbytes())
    return host


def alias(tensor: torch.Tensor) -> torch.Tensor:
    """A CPU tensor over the same bytes as a simulated one."""
    host = _empty(0, dtype=tensor.dtype)
    host.set_(host_of(tensor.untyped_storage()), tensor.storage_offset(), tensor.size(), tensor.stride())
    if tensor.is_conj():
        host = host.conj()
    return torch._neg_view(host) if tensor.is_neg() else host


def adopt(host: torch.Tensor, device: torch.device = FIRST) -> torch.Tensor:
    """A new tensor of a simulated device that owns the bytes of a CPU tensor."""
    host = host.resolve_conj().resolve_neg()
    base = _blank(host.dtype, device)
    if MOVES and not device.index:  # sooner done than `set_`
        put(base.untyped_storage(), host.untyped_storage())
    else:
        _share(base, storage_over(host.untyped_storage(), device))
    return restride(base, host)


def _blank(dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """A tensor of a simulated device that has no elements yet, and a storage to be replaced."""
    if shim.NEEDED:
        return shim.blank(dtype, device.index or 0)
    if not device.index:
        return torch._C._acc.create_empty_tensor((0,), dtype)
    return _as_strided.redispatch(_META, _pattern(dtype, device.index), (0,), (1,), 0)


@functools.cache
def _pattern(dtype: torch.dtype, index: int) -> torch.Tensor:
    """A tensor of a device other than the first, which alone torch makes for a backend written in Python.

    DLPack names any: what is imported here is a capsule of the CPU whose device was overwritten.
    """
    capsule = torch._C._to_dlpack(_empty(16, dtype=torch.uint8))
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(capsule, b"dltensor")
    # dlpack.h: `DLTensor` begins with the address of the data, then `DLDevice`, two numbers of 32 bits.
    named = (ctypes.c_int32 * 2).from_address(address + ctypes.sizeof(ctypes.c_void_p))
    named[:] = [_EXTENSION, index]
    return _as_dtype.redispatch(_META, torch._C._from_dlpack(capsule), dtype)


_EXTENSION = 12
"""`kDLExtDev`, which torch takes for PrivateUse1 (torch 2.13: `ATen/DLConvertor.cpp`)."""


def refuse_unlike(host: torch.Tensor) -> None:
    """Raise unless the tensor is memory with strides, which is all that the device can hold."""
    if host.layout is not torch.strided:
        raise NotSimulated(f"a tensor of layout {host.layout}")
    if host.is_nested or host.is_quantized:
        raise NotSimulated("a nested tensor" if host.is_nested else "a quantized tensor")


def view(tensor: torch.Tensor, host: torch.Tensor) -> torch.Tensor:
    """The simulated view of `tensor` whose bytes are `host`, a view of its alias."""
    return over(tensor.untyped_storage(), host) if tensor.dtype != host.dtype else restride(tensor, host)


def over(storage: torch.UntypedStorage, like: torch.Tensor) -> torch.Tensor:
    """A new simulated tensor over a simulated storage, with all but the bytes from `like`."""
    base = _blank(like.dtype, _storage_device(storage))
    _share(base, storage)
    return restride(base, like)


def _share(base: torch.Tensor, storage: torch.UntypedStorage) -> None:
    _set.redispatch(_META, base, storage, 0, (0,), (1,))


def restride(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """A view of a simulated tensor's storage with the sizes, strides and offset of `like`."""
    # The Meta kernel does all of a view except touching memory, on whatever device the storage claims.
    return _as_strided.redispatch(_META, tensor, like.size(), like.stride(), like.storage_offset())


def follow(tensor: torch.Tensor, host: torch.Tensor) -> None:
    """Give a simulated tensor the sizes and bytes that an in-place operator left in its alias."""
    storage, bytes_ = tensor.untyped_storage(), host.untyped_storage()
    if host_of(storage)._cdata == bytes_._cdata and storage.data_ptr() == bytes_.data_ptr():
        tensor.data = restride(tensor, host)
    elif MOVES:
        put(storage, bytes_)
        tensor.data = restride(tensor, host)
    elif torch._C._storage_Use_Count(storage._cdata) > _ALONE:
        raise NotSimulated("growing a storage that several tensors share", _NEWER)
    else:
        tensor.data = adopt(host, device_of(tensor))


_ALONE = 2
"""Who holds a storage that one tensor has: the tensor and the storage's Python object."""


def put(storage: torch.UntypedStorage, host: torch.UntypedStorage) -> None:
    """Give a simulated storage other bytes, for all the tensors that share it."""
    if not MOVES:
        raise NotSimulated("resizing a storage", _NEWER)
    if shim.NEEDED:
        shim.put(storage, host)
        storage._host = host
        return
    device = _storage_device(storage)
    if storage.nbytes():  # only what is empty can take another size
        storage._swap_data_ptr_(_storage_at(0, device, 0))
    storage._swap_data_ptr_(_storage_at(host.data_ptr(), device, host.nbytes()))
    storage._host = host


def storage_over(host: torch.UntypedStorage, device: torch.device = FIRST) -> torch.UntypedStorage:
    """A new storage of a simulated device that owns a CPU storage."""
    if shim.NEEDED:
        storage = shim.blank(torch.uint8, device.index or 0).untyped_storage()
        shim.put(storage, host)
    else:
        storage = _storage_at(host.data_ptr(), device, host.nbytes())
    storage._host = host
    return storage
