"""Mixed precision on the simulated device: which operators autocast runs in which precision on CUDA.

The lists are torch's own, read from a header that its wheels ship. Weights that were cast are not kept for
their next use, as on CUDA: that saves time there and alters nothing but the rounding of their gradients.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from .limit import NotSimulated
from .storage import DEVICE, is_simulated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEADER = "include/ATen/autocast_mode.h"
KEY = "AutocastPrivateUse1"
_EXCLUDED = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)
_UNSAFE = "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast."


def lists(text: str) -> dict[str, list[str]]:
    """The operators of every policy, as `name.overload`, from the text of the header."""
    macros = re.findall(r"#define AT_FORALL_(\w+)\(_\)((?:.*\\\n)*.*)", text)
    simple = {
        name: [entry.replace(", ", ".") for entry in re.findall(r"_\((\w+(?:, \w+)?)\)", body)]
        for name, body in macros
    }
    # These change their signature instead: a norm in single precision is one of another dtype.
    appended = [entry for _, body in macros for entry in re.findall(r'"(norm\.\w+)"', body)]
    simple["FP32"] = simple.get("FP32", []) + appended
    return {name: entries for name, entries in simple.items() if entries}


def register() -> torch.library.Library:
    """Give the device autocast, or a refusal of it if torch does not tell the lists; keep the result."""
    header = Path(torch.__file__).parent / HEADER
    policies = lists(header.read_text(encoding="utf-8")) if header.is_file() else {}
    everything = torch.library.Library("_", "IMPL")
    if not {"LOWER_PRECISION_FP", "FP32", "FP32_SET_OPT_DTYPE", "PROMOTE"} <= set(policies):
        everything.fallback(_refuse, KEY)
        return everything
    everything.fallback(torch.library.fallthrough_kernel, KEY)
    kernels = torch.library.Library("aten", "IMPL")
    for policy, prepare in _POLICIES.items():
        for op in _operators(policies[policy]):
            kernels.impl(op, _kernel(op, prepare), KEY)
    kernels.impl("binary_cross_entropy", _unsafe, KEY)
    kernels._fallback = everything  # they live and die together
    return kernels


def _refuse(op: Any, *args: Any, **kwargs: Any) -> Any:
    raise NotSimulated(f"autocast with this torch, which lacks {HEADER}")


def _unsafe(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError(_UNSAFE)


def _operators(names: list[str]) -> Iterator[Any]:
    for name in names:
        packet, _, overload = name.partition(".")
        op = getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)
        if op is not None:
            yield op


def _kernel(op: Any, prepare: Callable[..., tuple[Any, Any]]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(_EXCLUDED):
            with torch._C.DisableTorchFunction():  # that the casts are calls is nobody's business
                args, kwargs = prepare(op, args, kwargs)
            return op(*args, **kwargs)

    return call


def _eligible(value: Any) -> bool:
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return False
    return value.dtype is not torch.float64 and is_simulated(value)


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if type(value) in (list, tuple):
        return type(value)(_cast(v, dtype) for v in value)
    return value.to(dtype) if _eligible(value) and value.dtype is not dtype else value


def _cast_all(dtype: torch.dtype, args: Any, kwargs: Any) -> tuple[Any, Any]:
    return [_cast(a, dtype) for a in args], {name: _cast(a, dtype) for name, a in kwargs.items()}


def _lower(op: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    return _cast_all(torch.get_autocast_dtype(DEVICE), args, kwargs)


def _single(op: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    return _cast_all(torch.float32, args, kwargs)


def _single_result(op: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Ask for a result in single precision, unless the program asks for another."""
    names = [argument.name for argument in op._schema.arguments]
    given = names.index("dtype") < len(args) and args[names.index("dtype")] is not None
    if args and _eligible(args[0]) and not given and kwargs.get("dtype") is None:
        kwargs = {**dict(zip(names, args, strict=False)), **kwargs, "dtype": torch.float32}
        args = ()
    return args, kwargs


def _widest(op: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    if any(value.dtype is torch.float32 for value in _flat((*args, *kwargs.values())) if _eligible(value)):
        return _cast_all(torch.float32, args, kwargs)
    return args, kwargs


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if type(value) in (list, tuple):
            yield from _flat(value)
        else:
            yield value


_POLICIES: dict[str, Callable[..., tuple[Any, Any]]] = {
    "LOWER_PRECISION_FP": _lower,
    "FP32": _single,
    "FP32_SET_OPT_DTYPE": _single_result,
    "PROMOTE": _widest,
}
