"""Presents an accelerator as `cuda`, so that programs written for CUDA run on it unmodified.

The functions of torch that take a device are wrapped by name; tensors report `cuda:0`. Wrapping, unlike a
torch-function mode, also holds in threads, in `backward`, and inside torch's own Python code.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import handle_torch_function, has_torch_function, has_torch_function_unary
from torch.utils import _device as device_context

from . import accelerator, cuda, distributed, stand_in
from .generator import Generator, check_generator
from .stand_in import CUDA, current, is_presented, shown, target_of
from .storage import DEVICE, device_of

if TYPE_CHECKING:
    from collections.abc import Callable

_FACTORIES = (
    *("arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_like"),
    *("empty_permuted", "empty_strided", "eye", "full", "full_like", "hamming_window", "hann_window"),
    *("kaiser_window", "linspace", "logspace", "normal", "ones", "ones_like", "rand", "rand_like", "randint"),
    *("randint_like", "randn", "randn_like", "randperm", "range", "scalar_tensor", "tensor", "tril_indices"),
    *("triu_indices", "zeros", "zeros_like", "bernoulli", "multinomial", "poisson"),
    *("sparse_coo_tensor", "sparse_compressed_tensor", "sparse_csr_tensor", "sparse_csc_tensor"),
    *("sparse_bsr_tensor", "sparse_bsc_tensor"),
)
_OBEY_CONTEXT = device_context._device_constructors()
"""The functions that obey `with torch.device(…)`."""
_DEAF = {"range"}
"""Those that torch lists among them, but whose call it never shows to what should place it."""
_METHODS = (
    *("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros", "to"),
    *("bernoulli", "bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "multinomial"),
    *("normal_", "random_", "uniform_"),
)


def install(device: torch.device, count: int = 1) -> None:
    """Present devices of one kind as CUDA in this process, for good."""
    stand_in.device, stand_in.count = device, count
    for name in _FACTORIES:
        _wrap(torch, name)
    for name in ("fftfreq", "rfftfreq"):
        _wrap(torch.fft, name)
    for name in ("nested_tensor", "as_nested_tensor"):
        _wrap(torch.nested, name)
    for name in _METHODS:
        _wrap(torch.Tensor, name)
    _present_tensors()
    _present_contexts()
    _present_storage()
    _present_scripts()
    _present_autocast()
    torch.Generator = Generator
    torch.compile = _eager
    cuda.install()
    accelerator.install()
    if device.type == DEVICE:
        distributed.install(DEVICE)


def _wrap(owner: Any, name: str) -> None:
    """Let a function understand `cuda` wherever it takes a device, and refuse a foreign generator."""
    original = getattr(owner, name)
    subjects = 1 if owner is torch.Tensor else 0
    in_mode = torch._C._is_torch_function_mode_enabled

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if in_mode() or has_torch_function(args[:subjects]):  # they see the call as the program made it
            return handle_torch_function(call, args[:subjects], *args, **kwargs)
        if kwargs.get("device") is not None:
            kwargs["device"] = target_of(kwargs["device"])
        if name == "to" and len(args) > 1:
            rest = args[2:] if stand_in.device.type != DEVICE else _blocking(args[2:])
            args = (args[0], target_of(args[1]), *rest)
        if kwargs.get("generator") is not None:
            check_generator(kwargs["generator"], _result_device(args, kwargs))
        if kwargs.get("non_blocking"):  # it needs pinned memory, an optimization of real hardware
            kwargs["non_blocking"] = stand_in.device.type != DEVICE
        if kwargs.get("pin_memory"):
            return original(*args, **{**kwargs, "pin_memory": False}).pin_memory()
        return original(*args, **kwargs)

    setattr(owner, name, call)
    if original in _OBEY_CONTEXT and name not in _DEAF:
        _OBEY_CONTEXT.add(call)
    if owner is torch:  # scripted code calls the operator, not the wrapper
        torch.jit._builtins._register_builtin(call, f"aten::{name}")


def _blocking(options: tuple[Any, ...]) -> tuple[Any, ...]:
    """Positional arguments of `.to` behind the first, the first of whose flags is `non_blocking`."""
    flag = next((i for i, option in enumerate(options) if isinstance(option, bool)), None)
    return options if flag is None else (*options[:flag], False, *options[flag + 1 :])


def _result_device(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Where the random numbers of a call are drawn."""
    if kwargs.get("device") is not None:
        return str(torch.device(kwargs["device"]).type)
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    return str(device_of(tensors[0]).type if tensors else _default_device().type)


_default_device = torch.get_default_device


def _present_tensors() -> None:
    tensor = torch.Tensor
    to, kind = tensor.to, tensor.type
    true_name = f"torch.{stand_in.device.type}."

    def cuda_(self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
        if has_torch_function_unary(self):
            return handle_torch_function(cuda_, (self,), self, device, non_blocking, memory_format)
        target = target_of(current() if device is None else device)
        memory_format = memory_format or torch.preserve_format
        return to(self, target, non_blocking=non_blocking, memory_format=memory_format)

    def type_(self: Any, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        if has_torch_function_unary(self):
            return handle_torch_function(type_, (self,), self, dtype, non_blocking, **kwargs)
        if dtype is None:
            return kind(self).replace(true_name, "torch.cuda.")
        if isinstance(dtype, cuda.LegacyType):
            dtype = f"torch.cuda.{dtype.__name__}"
        if isinstance(dtype, str):
            dtype = dtype.replace("torch.cuda.", true_name)
        return kind(self, dtype, non_blocking=non_blocking, **kwargs)

    tensor.cuda = functools.wraps(tensor.cuda)(cuda_)
    tensor.type = functools.wraps(kind)(type_)
    tensor.device = _property("device", lambda self: shown(device_of(self)))
    tensor.is_cuda = _property("is_cuda", is_presented)
    tensor.pin_memory = _pin
    tensor.record_stream = lambda self, stream: None
    tensor.is_pinned = _is_pinned
    # Lazy parameters name the methods they allow; torch looks methods up where the wrappers now are.
    torch.nn.parameter.UninitializedTensorMixin._allowed_methods += [tensor.to, tensor.cuda]


def _pin(self: Any, device: Any = None) -> Any:
    """Pinned memory is an optimization of real hardware: here it is a copy with a flag."""
    if has_torch_function_unary(self):
        return handle_torch_function(_pin, (self,), self, device)
    if device_of(self).type != "cpu" or self.layout is not torch.strided:
        raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
    if _is_pinned(self):
        return self
    pinned = self.clone()
    pinned.untyped_storage()._pinned = True
    return pinned


def _is_pinned(self: Any, device: Any = None) -> bool:
    if has_torch_function_unary(self):
        return bool(handle_torch_function(_is_pinned, (self,), self, device))
    return self.layout is torch.strided and hasattr(self.untyped_storage(), "_pinned")


def _property(name: str, answer: Callable[[Any], Any]) -> property:
    """A property of tensors that modes and subclasses are asked about, as they are about torch's own."""

    def get(self: Any) -> Any:
        if has_torch_function_unary(self):
            return handle_torch_function(getattr(torch.Tensor, name).__get__, (self,), self)
        return answer(self)

    return property(get)


def _present_contexts() -> None:
    context = device_context.DeviceContext
    init = context.__init__
    context.__init__ = lambda self, device: init(self, target_of(torch.device(device)))
    torch.get_default_device = lambda: shown(_default_device())
    # Otherwise backward runs in a thread of the device, which cannot be forked and may hang at exit.
    torch.autograd.set_multithreading_enabled(False)


def _present_storage() -> None:
    """`torch.save` and `torch.load`: files say `cuda:0`, and so do those that were written on a GPU."""

    def tag(stored: Any) -> str | None:
        return str(stored.device) if stored.device.type == CUDA.type else None

    def restore(stored: Any, location: Any) -> Any:
        if str(location).partition(":")[0] != CUDA.type:
            return None
        return _storage_to_device(stored, location)

    torch.serialization.register_package(1, tag, restore)  # before CUDA's own
    load = torch.load

    @functools.wraps(load)
    def load_(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(map_location, int) and not isinstance(map_location, bool):
            map_location = torch.device(CUDA.type, map_location)
        return load(f, map_location, *args, **kwargs)

    torch.load = load_
    untyped = torch.UntypedStorage
    place, make, is_shared = torch._C.StorageBase.device.__get__, untyped.__new__, untyped.is_shared
    untyped.device = property(lambda self: shown(place(self)))
    untyped.is_shared = lambda self: self.is_cuda or is_shared(self)
    untyped.is_cuda = property(lambda self: place(self).type == stand_in.device.type)

    def new(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        return make(cls, *args, **kwargs, **({} if device is None else {"device": target_of(device)}))

    untyped.__new__ = new
    for storage in (untyped, torch.TypedStorage):
        storage.cuda = _storage_to_device


def _present_scripts() -> None:
    """`torch.jit.load`, which reads in C++: onto the cpu, from where the module is moved."""
    load = torch.jit.load

    @functools.wraps(load)
    def load_(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(map_location, (str, torch.device)):
            target = target_of(map_location)
            if target is not map_location:
                return load(f, torch.device("cpu"), *args, **kwargs).to(target)
        return load(f, map_location, *args, **kwargs)

    torch.jit.load = load_


def _storage_to_device(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
    """A storage of the device with the bytes of another."""
    if isinstance(device, int):
        device = torch.device(CUDA.type, device)
    target = target_of(current() if device is None else torch.device(device))
    typed = isinstance(self, torch.TypedStorage)
    stored = self._untyped_storage if typed else self
    if stored.device != shown(target):
        bytes_ = torch.empty(0, dtype=torch.uint8, device=stored.device).set_(stored)
        stored = bytes_.to(target).untyped_storage()
    return torch.TypedStorage(wrap_storage=stored, dtype=self.dtype, _internal=True) if typed else stored


def _present_autocast() -> None:
    """Autocast for CUDA is autocast for the device that stands in for it."""
    enable, choose = torch.set_autocast_enabled, torch.set_autocast_dtype
    name = stand_in.device.type
    choose(name, torch.get_autocast_dtype(CUDA.type))

    def set_autocast_enabled(*args: Any) -> None:
        enable(*args)
        if len(args) == 1 or args[0] == CUDA.type:
            enable(name, args[-1])

    def set_autocast_dtype(device_type: str, dtype: torch.dtype) -> None:
        choose(device_type, dtype)
        if device_type == CUDA.type:
            choose(name, dtype)

    torch.set_autocast_enabled = set_autocast_enabled
    torch.set_autocast_dtype = set_autocast_dtype
    torch.set_autocast_gpu_dtype = functools.partial(set_autocast_dtype, CUDA.type)


def _eager(model: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`torch.compile`, which cannot trace a backend written in Python; eager code means the same.

    A module is wrapped all the same: the wrapper shows in `state_dict` and in `isinstance`.
    """
    if model is None:
        return functools.partial(_eager, **options)
    if not isinstance(model, torch.nn.Module):
        return model
    from torch._dynamo.eval_frame import DisableContext, OptimizedModule

    return OptimizedModule(model, DisableContext())
