"""Gradients of recurrent cells, which the simulated device computes by kernels of its own."""

from __future__ import annotations

from typing import Any

import torch

from devlint.runtime import kernels

CELLS = {
    "aten::_thnn_fused_lstm_cell_backward_impl": (torch.nn.LSTMCell, 3),
    "aten::_thnn_fused_gru_cell_backward": (torch.nn.GRUCell, 5),
}
"""The kernels by the modules that use them, and how many gradients each gives."""


def difference(kernel: str) -> float:
    """How far the gradients of a module are from those on the cpu, at most."""
    module, _ = CELLS[kernel]
    there, here = _gradients(module, "cuda"), _gradients(module, "cpu")
    return max(float((a - b).abs().max()) for a, b in zip(there, here, strict=True))


def with_mutants(kernel: str) -> list[float]:
    """The same, with each part of what the kernel gives made wrong in turn."""
    original = kernels.REPLACEMENTS[kernel]
    features, count, found = 3, CELLS[kernel][1], []
    gates = 4 if "lstm" in kernel else 3
    whole = -1
    parts = [(0, gate) for gate in range(gates)] + [(index, whole) for index in range(1, count)]
    for index, gate in parts:

        def wrong(*args: Any, _index: int = index, _gate: int = gate) -> Any:
            result = [None if each is None else each.clone() for each in original(*args)]
            changed = result[_index]
            if changed is not None and _gate == whole:
                changed.mul_(1.01)
            elif changed is not None:
                changed[:, _gate * features : (_gate + 1) * features].mul_(1.01)
            return tuple(result)

        kernels.REPLACEMENTS[kernel] = wrong  # type: ignore[index]
        try:
            found.append(difference(kernel))
        finally:
            kernels.REPLACEMENTS[kernel] = original  # type: ignore[index]
    return found


def _gradients(module: Any, device: str) -> list[torch.Tensor]:
    torch.manual_seed(0)
    made = module(2, 3).double()
    given = torch.randn(4, 2, 2, dtype=torch.double)
    state = torch.randn(2, 3, dtype=torch.double)
    made, given, state = made.to(device), given.to(device).requires_grad_(), state.to(device).requires_grad_()
    cell = torch.full_like(state, 0.5).detach().requires_grad_()
    last = (state, cell) if module is torch.nn.LSTMCell else state
    loss = torch.zeros((), dtype=torch.double, device=device)
    for step in given:
        last = made(step, last)
        loss = loss + sum(part.sin().sum() for part in (last if isinstance(last, tuple) else (last,)))
    loss.backward()
    leaves = [given, state, *([cell] if module is torch.nn.LSTMCell else []), *made.parameters()]
    return [leaf.grad.cpu() for leaf in leaves]
