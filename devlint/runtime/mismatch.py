"""Raises what a CUDA kernel would raise when an operator is given tensors of several devices.

Torch's own C++ has checked most operators before a kernel is reached. What is left are the checks that are
generated into every CUDA kernel (`checks`), and a few that kernels make by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from .checks import parse, yaml_path
from .storage import device_of, is_simulated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_CPU = torch.device("cpu")
SAME_DEVICE = "Expected all tensors to be on the same device"
_CROSSES = frozenset(
    {
        *("copy_", "_copy_from", "_to_copy", "_copy_from_and_resize", "_foreach_copy_"),
        *("set_data", "_has_compatible_shallow_copy_type", "_pack_padded_sequence"),
    }
)
"""Operators whose purpose is to take tensors of two devices."""
_INDEXED_STORES = frozenset({"index_put", "index_put_", "_index_put_impl_"})
_ON_HOST = _INDEXED_STORES | {"index_fill", "index_fill_"}
"""Operators that take indices, or a number, of a device for a tensor on the cpu, and stay there."""
_TAKES_NUMBERS = {
    **dict.fromkeys(("mse_loss", "smooth_l1_loss"), ""),
    **{"addcmul": "tensor2", "lerp": "weight", "binary_cross_entropy": "weight"},
}
"""The one argument, if any, that may be a 0-dim CPU tensor, of operators whose kernel takes no other.

TensorIterator lets it pass anywhere; their CUDA kernels call `gpu_kernel`, not `gpu_kernel_with_scalars`
(torch 2.13: `native/cuda/BinaryMiscOpsKernels.cu`, `PointwiseOpsKernel.cu`, `Lerp.cu`). What they say is what
an H200 said with torch 2.11.
"""


class _Argument(NamedTuple):
    name: str
    tensor: torch.Tensor
    device: torch.device
    written: bool


def is_mixed(values: Any) -> bool:
    """Whether arguments of an operator hold a tensor that is not simulated."""
    if isinstance(values, torch.Tensor):
        return not is_simulated(values)
    return type(values) in (list, tuple) and any(map(is_mixed, values))


class Checker:
    """The device checks of CUDA's kernels for the installed torch."""

    def __init__(self) -> None:
        """Read the generated checks."""
        path = yaml_path()
        if path is None:
            raise RuntimeError("this torch does not ship torchgen's native_functions.yaml")
        self.generated = parse(path.read_text(encoding="utf-8"))

    def check(self, op: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Raise unless the CUDA kernel of `op` accepts these arguments together."""
        schema = op._schema
        name = schema.name.partition("::")[2]
        tensors = list(_tensors(schema, args, kwargs))
        if name in _CROSSES or len({t.device for t in tensors}) < 2:
            return
        key = f"{name}.{schema.overload_name}" if schema.overload_name else name
        if name == "index":
            _check_index(tensors)
        elif name in _INDEXED_STORES:
            _check_indexed_store(tensors)
        elif name.startswith("masked_fill"):
            _check_masked_fill(tensors)
        elif name in _ON_HOST and not is_simulated(tensors[0].tensor):
            _check_exact(key, [t for t in tensors if t.name != "value"])
        elif name == "convolution_overrideable":
            _check_convolution(tensors)
        elif key in self.generated.checked:
            _check_exact(key, tensors)
        else:
            _check_iterator(name, tensors)


def _tensors(schema: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[_Argument]:
    for position, argument in enumerate(schema.arguments):
        value = args[position] if position < len(args) else kwargs.get(argument.name)
        written = argument.alias_info is not None and argument.alias_info.is_write
        for tensor in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(tensor, torch.Tensor):
                yield _Argument(argument.name, tensor, device_of(tensor), written)


def _check_exact(key: str, tensors: list[_Argument]) -> None:
    """`c10::impl::check_and_update_common_device`."""
    common = tensors[0].device
    for name, _, device, _ in tensors:
        if device != common:
            raise RuntimeError(
                f"{SAME_DEVICE}, but got {name} is on {device}, different from other tensors on {common} "
                f"(when checking argument in method wrapper_CUDA_{key.replace('.', '_')})"
            )


def _check_iterator(name: str, tensors: list[_Argument]) -> None:
    """`TensorIteratorBase::compute_types`: a 0-dim CPU tensor is taken as a number, but never written to.

    A kernel writes to the device only what it has read there: of numbers alone it takes none.
    """
    if any(t.written and not is_simulated(t.tensor) for t in tensors):
        raise _two_devices(tensors)
    read = [t for t in tensors if not t.written or name.endswith("_")]
    if not any(is_simulated(t.tensor) for t in read):
        if len(read) > 1 and not any(t.tensor.dim() for t in read):
            raise RuntimeError("Trying to pass too many CPU scalars to non-CPU kernel!")
        raise _two_devices(tensors)
    if len({t.device for t in tensors if is_simulated(t.tensor)}) > 1:
        raise _two_devices([t for t in tensors if is_simulated(t.tensor)])
    if any(t.tensor.dim() > 0 for t in tensors if not is_simulated(t.tensor)):
        raise _two_devices(tensors)
    taken = _TAKES_NUMBERS.get(name.rstrip("_"))
    for place, (argument, tensor, device, _) in enumerate(tensors, 1):
        if taken is None or argument == taken or is_simulated(tensor):
            continue
        if name.startswith("addcmul"):
            raise RuntimeError(
                f"CPU Scalar support for {argument} argument is not supported when calling addcmul on CUDA "
                "tensors. However, CPU Scalar support for tensor2 is supported, please swap your tensor1 and "
                "tensor2 terms."
            )
        if not name.startswith(("lerp", "smooth_l1_loss")):
            raise _two_devices(tensors)
        raise RuntimeError(
            "iter.device(arg).is_cuda() INTERNAL ASSERT FAILED: "
            f"argument {place}: expected a CUDA device but found {device}"
        )


def _check_index(tensors: list[_Argument]) -> None:
    """`check_indices_on_cpu_or_selfdevice`, which indexing alone makes: indices may come from the CPU."""
    indexed = tensors[0]
    if any(t.device not in (_CPU, indexed.device) for t in tensors[1:]):
        raise RuntimeError(
            f"indices should be either on cpu or on the same device as the indexed tensor ({indexed.device})"
        )


def _check_indexed_store(tensors: list[_Argument]) -> None:
    """`index_put_` brings its indices to the tensor, wherever they are; of values only a 0-dim tensor."""
    indexed = tensors[0]
    values = [t for t in tensors[1:] if t.name != "indices"]
    if any(t.tensor.dim() > 0 and t.device != indexed.device for t in values):
        raise _two_devices([indexed, *values])


def _check_masked_fill(tensors: list[_Argument]) -> None:
    """`masked_fill__cuda`: the value may be a 0-dim CPU tensor, the mask not even that."""
    filled = tensors[0]
    mask = next(t for t in tensors if t.name == "mask")
    if filled.device != mask.device:
        raise RuntimeError(
            "expected self and mask to be on the same device, "
            f"but got mask on {mask.device} and self on {filled.device}"
        )
    if filled.device == _CPU:  # then it is the value that is not there
        raise RuntimeError("masked_fill_: Expected inputs to be on same device")


def _check_convolution(tensors: list[_Argument]) -> None:
    """`check_input_same_type_as_parameters`, which compares whole types."""
    given = tensors[0]
    for role, other in zip(("weight", "bias"), tensors[1:], strict=False):
        if other.device != given.device:
            first, second = given.tensor.type(), other.tensor.type()
            if first == second:
                _check_exact("_cudnn_convolution", tensors)
            raise RuntimeError(f"Input type ({first}) and {role} type ({second}) should be the same")


def stays_on_host(op: Any, args: Sequence[Any]) -> bool:
    """Whether what an operator gives is on the cpu although it is given something on the device."""
    return op._schema.name.partition("::")[2] in _ON_HOST and is_mixed(args[0])


def _two_devices(tensors: list[_Argument]) -> RuntimeError:
    first = tensors[0].device
    second = next(t.device for t in tensors if t.device != first)
    return RuntimeError(f"{SAME_DEVICE}, but found at least two devices, {first} and {second}!")
