"""Runs whole recurrent networks on the cpu, where everything they take is on one simulated device.

On a device without a kernel of their own torch takes them apart, into a dozen small operators for each step.
CUDA does not either: cuDNN runs them whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.autograd import forward_ad
from torch.utils._pytree import tree_flatten, tree_unflatten

from . import process
from .storage import DEVICE, adopt, alias, device_of, is_simulated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_OPERATORS = ("lstm", "gru", "rnn_tanh", "rnn_relu")
_APART = torch._C.DispatchKey.CompositeImplicitAutograd
_DTYPES = (torch.float32, torch.float64)
"""Those for which the cpu has all kernels."""


def register() -> torch.library.Library:
    """Let the device have them; keep the result."""
    kernels = torch.library.Library("aten", "IMPL")
    for name in _OPERATORS:
        for overload in ("input", "data"):
            kernel = _kernel(getattr(getattr(torch.ops.aten, name), overload))
            for key in ("AutogradPrivateUse1", "PrivateUse1"):
                kernels.impl(f"{name}.{overload}", kernel, key)
    return kernels


def _kernel(op: Any) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        with torch._C.DisableTorchFunction():
            values, spec = tree_flatten(args)
            tensors = [value for value in values if isinstance(value, torch.Tensor)]
            if not _are_plain(op, tensors):
                return op._op_dk(_APART, *args)
            process.enter()
            if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
                return _Whole.apply(op, spec, *values)
            host = op(*tree_unflatten([_to_host(value) for value in values], spec))
            return tuple(adopt(part, device_of(tensors[0])) for part in host)

    return call


def _are_plain(op: Any, tensors: Sequence[torch.Tensor]) -> bool:
    """Whether nothing is to be found in the steps, and nobody looks at them."""
    if op._overloadname == "data":  # the sizes of batches are on the cpu, on any device
        tensors = [tensors[0], *tensors[2:]]
    first = tensors[0]
    return (
        all(is_simulated(each) and each.dtype is first.dtype for each in tensors)
        and len({device_of(each) for each in tensors}) == 1
        and first.dtype in _DTYPES
        and not torch.is_autocast_enabled(DEVICE)
        and forward_ad._current_level < 0
        and not any(map(torch._C._functorch.is_functorch_wrapped_tensor, tensors))
    )


def _to_host(value: Any, *, leaf: bool = False) -> Any:
    if not isinstance(value, torch.Tensor) or not is_simulated(value):
        return value
    host = alias(value.detach())
    return host.requires_grad_(value.requires_grad) if leaf else host


class _Whole(torch.autograd.Function):
    """The operator as one step of autograd's."""

    @staticmethod
    def forward(context: Any, op: Any, spec: Any, *values: Any) -> Any:
        """Run it on the cpu, and keep what its gradients take."""
        host = [_to_host(value, leaf=True) for value in values]
        context.numbers = torch.get_rng_state()
        with torch.enable_grad():
            results = op(*tree_unflatten(host, spec))
        context.op, context.spec, context.host, context.results = op, spec, host, results
        context.others = [None if isinstance(value, torch.Tensor) else value for value in values]
        # Which notices, when it is read, that one was changed in between.
        context.save_for_backward(*(value for value in values if isinstance(value, torch.Tensor)))
        device = device_of(next(value for value in values if isinstance(value, torch.Tensor)))
        return tuple(adopt(part.detach(), device) for part in results)

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        """Take its gradients on the cpu; where they are to have gradients, take it apart."""
        saved = iter(context.saved_tensors)
        values = [
            next(saved) if isinstance(host, torch.Tensor) else other
            for host, other in zip(context.host, context.others, strict=True)
        ]
        wanted = [
            at for at, value in enumerate(values) if isinstance(value, torch.Tensor) and value.requires_grad
        ]
        if torch.is_grad_enabled():
            with torch.random.fork_rng(devices=()):
                torch.set_rng_state(context.numbers)  # what dropout has drawn
                results = context.op._op_dk(_APART, *tree_unflatten(values, context.spec))
            found = torch.autograd.grad(
                results, [values[at] for at in wanted], gradients, create_graph=True, allow_unused=True
            )
        else:
            host = torch.autograd.grad(
                context.results,
                [context.host[at] for at in wanted],
                [alias(gradient) for gradient in gradients],
                retain_graph=True,
                allow_unused=True,
            )
            device = device_of(values[0])
            found = [None if each is None else adopt(each, device) for each in host]
        given = [None] * len(values)
        for at, gradient in zip(wanted, found, strict=True):
            given[at] = gradient
        return None, None, *given
