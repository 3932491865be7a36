"""Presents an accelerator as `cuda`, so that programs written for CUDA run on it unmodified.

The functions of torch that take a device are wrapped by name; tensors report `cuda:0`. Wrapping, unlike a
torch-function mode, also holds in threads, in `backward`, and inside torch's own Python code.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _device as device_context

from . import cuda, stand_in
from .generator import Generator, check_generator
from .stand_in import CUDA, is_presented, target_of
from .storage import device_of

if TYPE_CHECKING:
    from collections.abc import Callable

_FACTORIES = (
    *("arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_like"),
    *("empty_permuted", "empty_strided", "eye", "full", "full_like", "hamming_window", "hann_window"),
    *("kaiser_window", "linspace", "logspace", "normal", "ones", "ones_like", "rand", "rand_like", "randint"),
    *("randint_like", "randn", "randn_like", "randperm", "range", "scalar_tensor", "tensor", "tril_indices"),
    *("triu_indices", "zeros", "zeros_like", "bernoulli", "multinomial", "poisson"),
)
_METHODS = (
    *("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros", "to"),
    *("bernoulli", "bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "multinomial"),
    *("normal_", "random_", "uniform_"),
)


def install(device: torch.device) -> None:
    """Present a device as CUDA in this process, for good."""
    stand_in.device = device
    # The set of functions that obey `with torch.device(…)` must be taken before they are wrapped.
    device_context._device_constructors()
    for name in _FACTORIES:
        _wrap(torch, name)
    for name in ("fftfreq", "rfftfreq"):
        _wrap(torch.fft, name)
    for name in _METHODS:
        _wrap(torch.Tensor, name)
    _present_tensors()
    _present_contexts()
    _present_storage()
    torch.Generator = Generator
    torch.compile = _no_compile
    cuda.install()


def _wrap(owner: Any, name: str) -> None:
    """Let a function understand `cuda` wherever it takes a device, and refuse a foreign generator."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("device") is not None:
            kwargs["device"] = target_of(kwargs["device"])
        if name == "to" and len(args) > 1:
            args = (args[0], target_of(args[1]), *args[2:])
        if kwargs.get("generator") is not None:
            check_generator(kwargs["generator"], _result_device(args, kwargs))
        return original(*args, **kwargs)

    setattr(owner, name, call)
    if owner is torch:  # scripted code calls the operator, not the wrapper
        torch.jit._builtins._register_builtin(call, f"aten::{name}")


def _result_device(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Where the random numbers of a call are drawn."""
    if kwargs.get("device") is not None:
        return str(torch.device(kwargs["device"]).type)
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    return str(device_of(tensors[0]).type if tensors else _default_device().type)


_default_device = torch.get_default_device


def _shown(device: torch.device) -> torch.device:
    return CUDA if device.type == stand_in.device.type else device


def _present_tensors() -> None:
    tensor = torch.Tensor
    to, kind = tensor.to, tensor.type
    true_name = f"torch.{stand_in.device.type}."

    def cuda_(self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
        target = stand_in.device if device is None else target_of(device)
        memory_format = memory_format or torch.preserve_format
        return to(self, target, non_blocking=non_blocking, memory_format=memory_format)

    def type_(self: Any, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        if dtype is None:
            return kind(self).replace(true_name, "torch.cuda.")
        if isinstance(dtype, cuda.LegacyType):
            dtype = f"torch.cuda.{dtype.__name__}"
        if isinstance(dtype, str):
            dtype = dtype.replace("torch.cuda.", true_name)
        return kind(self, dtype, non_blocking=non_blocking, **kwargs)

    tensor.cuda = cuda_
    tensor.type = type_
    tensor.device = property(lambda self: _shown(device_of(self)))
    tensor.is_cuda = property(is_presented)
    # Pinned memory is an optimization of real hardware: here it is a flag without effect.
    tensor.pin_memory = lambda self, device=None: self
    tensor.is_pinned = lambda self, device=None: False
    # Lazy parameters name the methods they allow; torch looks methods up where the wrappers now are.
    torch.nn.parameter.UninitializedTensorMixin._allowed_methods += [tensor.to, tensor.cuda]


def _present_contexts() -> None:
    context = device_context.DeviceContext
    init = context.__init__
    context.__init__ = lambda self, device: init(self, target_of(torch.device(device)))
    torch.get_default_device = lambda: _shown(_default_device())
    torch.accelerator.is_available = lambda: True
    torch.accelerator.device_count = lambda: 1
    torch.accelerator.current_accelerator = lambda check_available=False: torch.device("cuda")
    torch.accelerator.synchronize = lambda device=None: None
    torch.utils.data._utils.pin_memory.pin_memory = lambda data, device=None: data
    # Otherwise backward runs in a thread of the device, which cannot be forked and may hang at exit.
    torch.autograd.set_multithreading_enabled(False)


def _present_storage() -> None:
    """`torch.load` and its `map_location`; what is saved is tagged with the true name of the device."""
    load = torch.load

    @functools.wraps(load)
    def load_(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(map_location, dict):
            map_location = {_tag(saved): target_of(wanted) for saved, wanted in map_location.items()}
        return load(f, target_of(map_location), *args, **kwargs)

    torch.load = load_
    storages = (torch.UntypedStorage, torch.TypedStorage)
    for storage in storages:
        storage.cuda = _storage_to_device


def _tag(saved: Any) -> Any:
    if saved != "cuda:0":
        return saved
    return "mps" if stand_in.device.type == "mps" else str(stand_in.device)


def _storage_to_device(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
    return torch.serialization.default_restore_location(self, str(stand_in.device))


def _no_compile(model: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`torch.compile` cannot trace a backend written in Python; eager code means the same."""
    return model if model is not None else (lambda function: function)
