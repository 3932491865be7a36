"""Runs one sequence of operators on the cpu and on the device, and compares everything it leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

Tensor = Any
Step = tuple[str, int, int, int]
"""An operator, the tensors it is given (an index into those there are), and a small number to use."""


def _function(name: str) -> Callable[..., Tensor]:
    """A function of torch that ignores the number of its step."""
    return lambda *arguments: getattr(torch, name)(*arguments[:-1])


UNARY: dict[str, Callable[[Tensor, int], Tensor]] = {
    **{name: _function(name) for name in ("abs", "neg", "sigmoid", "tanh")},
    **{name: _function(name) for name in ("exp", "sin", "erf", "relu", "floor")},
    "sum": lambda x, n: x.sum(n % max(1, x.dim())) if x.dim() else x.sum(),
    "mean": lambda x, n: x.mean(),
    "var": lambda x, n: x.var(-1, keepdim=True),
    "max": lambda x, n: x.max(-1).values,
    "argmax": lambda x, n: x.argmax(-1),
    "cumsum": lambda x, n: x.cumsum(-1),
    "sort": lambda x, n: x.sort(stable=True, dim=-1).values,
    "topk": lambda x, n: x.topk(min(2, x.size(-1))).values,
    "softmax": lambda x, n: x.softmax(-1),
    "layer_norm": lambda x, n: F.layer_norm(x, x.shape[-1:], eps=1.0),
    "float": lambda x, n: x.float(),
    "double": lambda x, n: x.double(),
    "half": lambda x, n: x.half(),
    "long": lambda x, n: x.clamp(-99, 99).long(),
    "complex": lambda x, n: torch.view_as_real(torch.fft.fft(x)),
    "nonzero": lambda x, n: (x > 0).nonzero(),
    "masked": lambda x, n: x[x > 0],
    "index": lambda x, n: x[torch.arange(x.size(0), device=x.device).flip(0)],
    "cpu_index": lambda x, n: x[torch.arange(x.size(0)).flip(0)],
    "gather": lambda x, n: x.gather(-1, torch.zeros_like(x, dtype=torch.long)),
    "one_hot": lambda x, n: F.one_hot(x.argmax(-1), x.size(-1)),
    "pad": lambda x, n: F.pad(x, (1, n)),
    "repeat": lambda x, n: x.repeat(*[2] * x.dim()),
    "number": lambda x, n: x * torch.tensor(float(n)),
    "item": lambda x, n: x * x.sum().item(),
    "round_trip": lambda x, n: x.clone().cpu().to(x.device),
    "numpy": lambda x, n: torch.from_numpy(x.detach().cpu().numpy().copy()).to(x.device),
    "random": lambda x, n: torch.rand_like(x) + torch.randn(x.shape, device=x.device),
    "dropout": lambda x, n: F.dropout(x, 0.5),
}
VIEWS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "t": lambda x, n: x.transpose(0, -1),
    "slice": lambda x, n: x[..., :: n + 1],
    "select": lambda x, n: x[n % x.size(0)],
    "flatten": lambda x, n: x.flatten(),
    "unsqueeze": lambda x, n: x.unsqueeze(n % (x.dim() + 1)),
    "expand": lambda x, n: x.unsqueeze(0).expand(2, *x.shape),
    "diagonal": lambda x, n: x.diagonal(),
    "chunk": lambda x, n: x.chunk(2)[-1],
    "unfold": lambda x, n: x.unfold(0, 2, 1),
    "detach": lambda x, n: x.detach(),
    "as_strided": lambda x, n: x.as_strided((2,), (1,)),
    "bits": lambda x, n: x.view(torch.int32),
}
BINARY: dict[str, Callable[[Tensor, Tensor, int], Tensor]] = {
    **{name: _function(name) for name in ("add", "sub", "mul", "maximum")},
    **{name: _function(name) for name in ("eq", "atan2", "matmul")},
    "where": lambda x, y, n: torch.where(x > 0, x, y),
    "lerp": lambda x, y, n: torch.lerp(x, y, 0.25),
    "addmm": lambda x, y, n: torch.addmm(x, y, y.t()),
    "einsum": lambda x, y, n: torch.einsum("ij,kj->ik", x, y),
    "cat": lambda x, y, n: torch.cat([x, y]),
    "stack": lambda x, y, n: torch.stack([x, y], -1),
    "cdist": lambda x, y, n: torch.cdist(x, y),
    "linear": lambda x, y, n: F.linear(x, y),
    "mse": lambda x, y, n: F.mse_loss(x, y),
    "outer": lambda x, y, n: torch.outer(x.flatten(), y.flatten()),
    "dot": lambda x, y, n: torch.dot(x.flatten(), y.flatten()),
    "attention": lambda x, y, n: F.scaled_dot_product_attention(x[None], y[None], y[None]),
    "conv": lambda x, y, n: F.conv1d(x[None], y[:, :, None]),
}
IN_PLACE: dict[str, Callable[[Tensor, Tensor, int], Tensor]] = {
    "add_": lambda x, y, n: x.add_(y),
    "mul_": lambda x, y, n: x.mul_(n),
    "copy_": lambda x, y, n: x.copy_(y),
    "copy_cpu": lambda x, y, n: x.copy_(y.clone().cpu()),
    "fill": lambda x, y, n: x[0].fill_(n),
    "set_row": lambda x, y, n: x.__setitem__(n % x.size(0), y[0]),
    "set_mask": lambda x, y, n: x.__setitem__(x > 0, 0.5),
    "index_add_": lambda x, y, n: x.index_add_(
        0, torch.zeros(y.size(0), dtype=torch.long, device=x.device), y
    ),
    "clamp_": lambda x, y, n: x.clamp_(-1, n),
    "t_": lambda x, y, n: x.t_(),
    "resize": lambda x, y, n: x.clone().resize_(n + 1, 2).fill_(1),
    "out": lambda x, y, n: torch.add(x.detach(), n, out=torch.empty(0, dtype=x.dtype, device=x.device)),
    "foreach": lambda x, y, n: torch._foreach_add_([x, y], 1.5),
    "data": lambda x, y, n: setattr(x, "data", y.data.clone()),
}
MODULES: dict[str, Callable[[int], nn.Module]] = {
    "Linear": lambda n: nn.Linear(3, 2),
    "LSTM": lambda n: nn.LSTM(3, 2, bidirectional=n % 2 == 1),
    "GRU": lambda n: nn.GRU(3, 2),
    "RNN": lambda n: nn.RNN(3, 2),
    "Conv1d": lambda n: nn.Conv1d(3, 2, 1),
    "ConvTranspose1d": lambda n: nn.ConvTranspose1d(3, 2, 1),
    "BatchNorm1d": lambda n: nn.BatchNorm1d(3),
    "MultiheadAttention": lambda n: nn.MultiheadAttention(3, 1),
    "TransformerEncoderLayer": lambda n: nn.TransformerEncoderLayer(3, 1, 4, dropout=0.0),
    "Bilinear": lambda n: nn.Bilinear(3, 3, 2),
}
OPERATORS = [*UNARY, *VIEWS, *BINARY, *IN_PLACE, *MODULES]


def compare(steps: list[Step]) -> list[str]:
    """What differs between the cpu and the device after these steps; nothing if all is well."""
    here, there = _run(steps, "cpu"), _run(steps, "cuda")
    names = ["x", "y", "p", *(step[0] for step in steps), "gradient"]
    rows = zip(names, here, there, strict=False)  # without a gradient where one device refuses it
    return [f"{name}: {a} / {b}" for name, a, b in rows if not _equal(a, b)]


def operators() -> list[str]:
    """The names a step may use."""
    return OPERATORS


def _run(steps: list[Step], device: str) -> list[Tensor]:
    torch.manual_seed(0)
    tensors = [torch.randn(2, 3).to(device), torch.randn(3, 3).to(device)]
    parameter = nn.Parameter(torch.randn(3, 3)).to(device).detach().requires_grad_()
    tensors.append(parameter * 1)
    results: list[Tensor] = list(tensors)
    for name, first, second, number in steps:
        torch.manual_seed(number)
        result = _apply(name, tensors[first % len(tensors)], tensors[second % len(tensors)], number, device)
        results.append(result)
        if isinstance(result, torch.Tensor):
            tensors.append(result)
    try:
        sum(t.float().sum() for t in tensors if t.requires_grad).backward()
    except RuntimeError as error:
        # What a kernel saves for backward, and so what must not be changed in place, is its own affair.
        return results if "inplace" in str(error) else [*results, _reason(error)]
    return [*results, parameter.grad]


def _apply(name: str, x: Tensor, y: Tensor, number: int, device: str) -> Tensor:
    try:
        if name in MODULES:
            return _forward(name, x, number, device)
        if name in UNARY:
            return UNARY[name](x, number)
        if name in VIEWS:
            return VIEWS[name](x, number)
        if name in BINARY:
            return BINARY[name](x, y, number)
        result = IN_PLACE[name](x, y, number)
        return result if isinstance(result, torch.Tensor) else x
    except Exception as error:
        return _reason(error)


def _forward(name: str, x: Tensor, number: int, device: str) -> Tensor:
    module = MODULES[name](number).to(device)
    given = x.reshape(-1, 3, 1) if "Conv" in name else x.reshape(-1, 3)
    arguments = {"Bilinear": 2, "MultiheadAttention": 3}.get(name, 1)
    result = module(*[given] * arguments)
    return result[0] if isinstance(result, tuple) else result


def _reason(error: Exception) -> str:
    return type(error).__name__


def _equal(a: Tensor, b: Tensor) -> bool:
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return bool(type(a) is type(b) and not isinstance(a, torch.Tensor) and a == b)
    if b.device.type != "cuda" or a.dtype != b.dtype or a.shape != b.shape or _strides(a) != _strides(b):
        return False
    coarse = 1e-2 if a.dtype == torch.float16 else 1e-4
    return bool(torch.allclose(a.detach(), b.detach().cpu(), rtol=coarse, atol=coarse, equal_nan=True))


def _strides(x: Tensor) -> list[int]:
    """Those that mean something: of one element there is no next."""
    return [stride for stride, size in zip(x.stride(), x.shape, strict=True) if size > 1]
