"""Installs the simulated accelerator `sim`: genuine tensors of a second device, computed on the CPU.

One boxed fallback runs every operator on CPU aliases of its arguments, after the device checks that
CUDA's kernels make. Everything above kernels (dispatch, autograd, TensorIterator, `Module.to`,
optimizers) is torch's own. There can be one such backend in a process and it cannot be removed: install
it in a process of its own.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import backend_registration

from . import autocast, nested, process, recurrent, shim, stand_in
from .kernels import REPLACEMENTS
from .limit import NotSimulated
from .mismatch import Checker, is_mixed, stays_on_host
from .releases import missing
from .storage import (
    DEVICE,
    FIRST,
    adopt,
    alias,
    device_of,
    follow,
    host_of,
    is_simulated,
    is_simulated_storage,
    over,
    put,
    refuse_unlike,
    restride,
    storage_device_of,
    storage_over,
    view,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

aten = torch.ops.aten

_LEFT_TO_BACKENDS = ("convolution_overrideable", "convolution_backward_overrideable")
"""Operators whose kernel for all backends only raises."""
_OTHER_TENSORS = {
    **dict.fromkeys(("Sparse", "SparseCsr"), "sparse"),
    "NestedTensor": "nested",
    "Quantized": "quantized",
}
"""Tensors that are no memory with strides, by the prefix of their dispatch keys."""
_LACKS_KERNEL = re.compile(r"not implemented for '(?:Half|BFloat16|Float8\w*|ComplexHalf)'")
"""What a kernel of the CPU says of a dtype that CUDA's may well have."""
_LACKS_OPERATOR = "with arguments from the 'CPU' backend"
"""What the dispatcher says where an operator, such as a program's own, has no kernel for the CPU at all."""
_NUMBERS = (bool, int, float, complex)
_FEW = 4
"""How many arguments are looked through for the same tensor; lists of hundreds hold each but once."""
_libraries: list[torch.library.Library] = []
"""A `Library` takes its registrations back when it is collected."""


class Operand:
    """A simulated argument of an operator: the tensor, its CPU alias, the alias's storage before the call."""

    __slots__ = ("host", "storage", "tensor")

    def __init__(self, tensor: torch.Tensor) -> None:
        """Alias the tensor."""
        self.tensor = tensor
        self.host = alias(tensor)
        self.storage = self.host.untyped_storage()._cdata


def install() -> None:
    """Add the device `sim` to this process, for good."""
    if lacking := missing():
        raise RuntimeError(lacking)
    if shim.loaded:
        shim.setup(DEVICE, _Module())
    else:
        backend_registration._setup_privateuseone_for_python_backend(DEVICE, backend_module=_Module())
    _register_kernels(Checker())
    _libraries.extend([autocast.register(), recurrent.register()])
    _register_storages()
    nested.install()


class _Module:
    """What `torch.sim` answers; random numbers are the CPU's, so a seed gives the same values on both."""

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return True

    def _lazy_init(self) -> None:
        pass

    def _is_in_bad_fork(self) -> bool:
        return False

    def current_device(self) -> int:
        return 0

    def set_device(self, device: Any) -> None:
        pass

    def device_count(self) -> int:
        return stand_in.count

    def synchronize(self, device: Any = None) -> None:
        pass

    def get_rng_state(self, device: Any = DEVICE) -> torch.Tensor:
        return torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, device: Any = DEVICE) -> None:
        torch.set_rng_state(state)

    def manual_seed(self, seed: int) -> None:
        torch.default_generator.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        pass  # `torch.manual_seed` has seeded the generator of both

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]


def _register_kernels(checker: Checker) -> None:
    def fallback(op: Any, *args: Any, **kwargs: Any) -> Any:
        # The facade's and the program's own torch-function overrides see the call, not its implementation.
        with torch._C.DisableTorchFunction():
            return _run(checker, op, args, kwargs)

    boxed = torch.library.Library("_", "IMPL")
    boxed.fallback(fallback, "PrivateUse1")
    _refuse_other_tensors(boxed)
    kernels = torch.library.Library("aten", "IMPL")
    own: dict[str, Callable[..., Any]] = {
        "_copy_from": _copy_from,
        "resize_": _resize_,
        "as_strided_": _as_strided_,
        "fill_.Tensor": _fill_,
        "set_": _set_nothing_,
        "set_.source_Storage": _set_storage_,
        "set_.source_Storage_storage_offset": _set_storage_,
        "set_.source_Tensor": _set_tensor_,
        "_fused_sdp_choice": lambda *args, **kwargs: 0,  # the composite of plain operators
        # Without it `Module.to` would replace parameters, as it does on XLA, and not move them, as on CUDA.
        "_has_compatible_shallow_copy_type": lambda *args: True,
    }
    for name in (*_LEFT_TO_BACKENDS, *_outdone(), *checker.generated.beside):
        packet, _, overload = name.partition(".")
        own[name] = functools.partial(fallback, getattr(getattr(aten, packet), overload or "default"))
    own.update((name, functools.partial(_lack, name)) for name in checker.generated.absent)
    for name, kernel in own.items():
        kernels.impl(name, kernel, "PrivateUse1")
    # Resolving a lazy conjugate copies, and copying to a device comes here: it must take them as they are.
    for key in ("Conjugate", "Negative"):
        kernels.impl("_copy_from", torch.library.fallthrough_kernel, key)
    _libraries.extend([boxed, kernels])


def _lack(name: str, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'CUDA' backend. This could be because "
        "the operator doesn't exist for this backend"
    )


def _outdone() -> Iterator[str]:
    """Operators that have a kernel for the CPU, but for this device one for all backends.

    That kernel may give other results: that of `native_group_norm` knows no memory format.
    """
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("aten::") and has(name, "CPU") and has(name, "CompositeExplicitAutograd"):
            yield name.removeprefix("aten::")


def _refuse_other_tensors(library: torch.library.Library) -> None:
    """Torch would say that an operator lacks a kernel, as it does for what a GPU cannot do either."""
    for prefix, kind in _OTHER_TENSORS.items():

        def refuse(op: Any, *args: Any, _kind: str = kind, **kwargs: Any) -> Any:
            raise NotSimulated(f"{op.name()} of a {_kind} tensor")

        library.fallback(refuse, f"{prefix}PrivateUse1")


def _run(checker: Checker, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an operator that has at least one simulated argument, or makes a simulated tensor."""
    process.enter()
    operands: list[Operand] = []
    host_args = [_to_host(a, operands) for a in args]
    host_kwargs = {name: _to_host(a, operands) for name, a in kwargs.items()}
    device = device_of(operands[0].tensor) if operands else FIRST
    if is_mixed(args) or any(map(is_mixed, kwargs.values())) or _are_apart(operands):
        checker.check(op, args, kwargs)
        if stays_on_host(op, args):
            return op(*host_args, **host_kwargs)
    for position in _tensor_positions(op):
        if position < len(host_args) and isinstance(host_args[position], _NUMBERS):
            host_args[position] = _number(host_args[position], operands)
    if "device" in host_kwargs:
        device = torch.device(host_kwargs["device"] or device)
        if device.type == DEVICE and device.index is None:
            device = FIRST
        host_kwargs["device"] = torch.device("cpu")
        if host_kwargs.get("pin_memory"):
            host_kwargs["pin_memory"] = False
    try:
        result = REPLACEMENTS.get(op._schema.name, op)(*host_args, **host_kwargs)
    except NotImplementedError as error:
        if _LACKS_KERNEL.search(str(error)):
            raise NotSimulated(f"{op._schema.name} in this precision: for the cpu, {error}") from None
        if _LACKS_OPERATOR in str(error):
            raise NotSimulated(f"{op.name()}, which has no kernel for the cpu") from None
        raise
    if device.type != DEVICE:
        return result
    result = _to_device(result, operands, device)
    if op._schema.is_mutable:
        for operand in operands:
            if _moved(operand):
                follow(operand.tensor, operand.host)
    return result


@functools.cache
def _tensor_positions(op: Any) -> tuple[int, ...]:
    arguments = enumerate(op._schema.arguments)
    return tuple(i for i, argument in arguments if isinstance(argument.type, torch.TensorType))


def _number(value: Any, operands: list[Operand]) -> torch.Tensor:
    """A number where an operator takes a tensor: torch had made it one, and boxing took that back."""
    if isinstance(value, (bool, int)):
        return torch.tensor(value)
    precise = any(operand.host.dtype in (torch.float64, torch.complex128) for operand in operands)
    number = torch.tensor(value, dtype=torch.complex128 if isinstance(value, complex) else torch.float64)
    return number if precise else number.to(torch.result_type(torch.empty(0, dtype=torch.int), value))


def _moved(operand: Operand) -> bool:
    """Whether an in-place operator (`resize_`, `t_`, an `out=` that grew) changed more than the bytes."""
    host, tensor = operand.host, operand.tensor
    return bool(
        host.size() != tensor.size()
        or host.stride() != tensor.stride()
        or host.storage_offset() != tensor.storage_offset()
        or host.untyped_storage()._cdata != operand.storage
    )


def _to_host(value: Any, operands: list[Operand]) -> Any:
    if isinstance(value, torch.Tensor):
        if not is_simulated(value):
            return value
        for operand in operands[:_FEW]:
            if operand.tensor is value:  # an `out=` that is read, too, is not resized
                return operand.host
        operands.append(Operand(value))
        return operands[-1].host
    if type(value) in (list, tuple):
        return type(value)(_to_host(v, operands) for v in value)
    return value


def _are_apart(operands: list[Operand]) -> bool:
    """Whether arguments are on several simulated devices."""
    return len(operands) > 1 and stand_in.count > 1 and len({device_of(each.tensor) for each in operands}) > 1


def _to_device(value: Any, operands: list[Operand], device: torch.device) -> Any:
    """The simulated counterpart of a result: the argument it is, a view of the argument it shares, or new."""
    if isinstance(value, torch.Tensor):
        for operand in operands:
            if value is operand.host:
                return operand.tensor
        refuse_unlike(value)
        shared = value.untyped_storage()._cdata
        for operand in operands:
            if shared == operand.storage:
                return view(operand.tensor, value)
        return adopt(value, device)
    if type(value) in (list, tuple):
        return type(value)(_to_device(v, operands, device) for v in value)
    return value


def _plain(kernel: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(kernel)
    def call(*args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            return kernel(*args, **kwargs)

    return call


@_plain
def _copy_from(source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    process.enter()
    host = alias(source) if is_simulated(source) else source
    (alias(target) if is_simulated(target) else target).copy_(host)
    return target


@_plain
def _fill_(tensor: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Fill from any device with one number, as `native/Fill.cpp` does."""
    host = alias(value) if is_simulated(value) else value
    (alias(tensor) if is_simulated(tensor) else tensor).fill_(host)
    return tensor


@_plain
def _resize_(tensor: torch.Tensor, size: list[int], *, memory_format: Any = None) -> torch.Tensor:
    host = alias(tensor)
    host.resize_(size)
    follow(tensor, host)
    return tensor


@_plain
def _as_strided_(
    tensor: torch.Tensor, size: list[int], stride: list[int], offset: int | None = None
) -> torch.Tensor:
    offset = tensor.storage_offset() if offset is None else offset
    tensor.data = restride(tensor, alias(tensor).as_strided(size, stride, offset))
    return tensor


@_plain
def _set_storage_(
    tensor: torch.Tensor, source: Any, offset: int = 0, size: Any = None, stride: Any = ()
) -> torch.Tensor:
    source = source if isinstance(source, torch.UntypedStorage) else source._untyped_storage
    size = (source.nbytes() // tensor.element_size(),) if size is None else size
    stride = stride or torch.empty(size, device="meta").stride()
    host = torch.empty(0, dtype=tensor.dtype).set_(host_of(source), offset, size, stride)
    if host.untyped_storage().nbytes() != source.nbytes():
        put(source, host.untyped_storage())  # it was too small
    tensor.data = over(source, host)
    return tensor


@_plain
def _set_tensor_(tensor: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    tensor.data = restride(source, source)
    return tensor


@_plain
def _set_nothing_(tensor: torch.Tensor) -> torch.Tensor:
    tensor.data = adopt(torch.empty(0, dtype=tensor.dtype), device_of(tensor))
    return tensor


def _register_storages() -> None:
    """Let storages be made, copied and resized, and keep them from other processes."""
    untyped = torch.UntypedStorage
    make, copy, resize, is_pinned = untyped.__new__, untyped.clone, untyped.resize_, untyped.is_pinned

    def new(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        if device is None or torch.device(device).type != DEVICE:
            return make(cls, *args, **kwargs, **({} if device is None else {"device": device}))
        return storage_over(
            make(untyped, *args, **kwargs), torch.device(DEVICE, torch.device(device).index or 0)
        )

    def clone(self: Any) -> Any:
        if not is_simulated_storage(self):
            return copy(self)
        return storage_over(host_of(self).clone(), storage_device_of(self))

    def resize_(self: Any, size: int) -> Any:
        if not is_simulated_storage(self):
            return resize(self, size)
        host = host_of(self).clone()
        put(self, host.resize_(size))
        return self

    untyped.__new__ = new
    untyped.clone = clone
    untyped.resize_ = resize_
    untyped.is_pinned = lambda self, device=None: not is_simulated_storage(self) and is_pinned(self, device)
    for name in ("_share_cuda_", "_share_fd_cpu_", "_share_filename_cpu_"):
        setattr(untyped, name, _keep_here(getattr(untyped, name)))


def _keep_here(share: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(share)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_simulated_storage(self):
            raise NotSimulated("a tensor of the device in two processes", "send `.cpu()` of it")
        return share(self, *args, **kwargs)

    return call
