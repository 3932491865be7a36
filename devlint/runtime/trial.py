"""What a device presented as CUDA must be able to do before a proof on it means anything."""

from __future__ import annotations

import torch
from torch import nn

from . import stand_in
from .storage import DEVICE


def run_trial() -> str:
    """Use the device as a training script does; what went wrong, or nothing."""
    try:
        return _train()
    except Exception as error:
        return f"the trial run raised {type(error).__name__}: {error}"


def _train() -> str:
    model = nn.Linear(3, 2)
    parameters = list(model.parameters())
    reference = model(torch.ones(1, 3)).sum().item()
    model.to("cuda")
    if any(a is not b for a, b in zip(parameters, model.parameters(), strict=True)):
        return "Module.to replaces parameters instead of moving them"
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = model(torch.ones(1, 3, device="cuda")).sum()
    rounding = 1e-6 if stand_in.device.type == DEVICE else 1e-4  # real hardware has kernels of its own
    if abs(loss.item() - reference) > rounding:
        return "an operator gives a different value than on the cpu"
    loss.backward()
    optimizer.step()
    if abs(model(torch.ones(1, 3, device="cuda")).sum().item() - reference) < 0.1:
        return "an optimizer step changes nothing"
    try:
        torch.ones(3) + torch.ones(3, device="cuda")
    except RuntimeError:
        return ""
    return "torch adds tensors of two devices"
