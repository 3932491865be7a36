"""Evaluates expressions over tensors of two devices."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

D = "cuda"


def g(*shape: int) -> Any:
    """Random numbers on the device."""
    return torch.randn(*shape).to(D)


def gi(data: Any) -> Any:
    """A tensor of these data on the device."""
    return torch.tensor(data).to(D)


_NAMES = {"g": g, "gi": gi, "c": torch.randn, "ci": torch.tensor, "D": D, "F": F, "nn": nn, "torch": torch}


def outcome(expression: str) -> tuple[str, str]:
    """Evaluate one: `ok` and the device of the result, or `raises` and the message."""
    torch.manual_seed(0)
    try:
        result = eval(expression, dict(_NAMES))
    except Exception as error:
        return "raises", str(error).partition("\n")[0]
    return "ok", str(getattr(result, "device", ""))


def mixes(operator: str, shapes: list[list[int]], on_device: list[bool]) -> bool:
    """Whether an operator of two tensors raises, wherever they are."""
    first, second = (torch.ones(s, device=D if d else "cpu") for s, d in zip(shapes, on_device, strict=True))
    try:
        getattr(torch, operator)(first, second)
    except RuntimeError as error:
        if "same device" not in str(error):
            raise
        return True
    return False
