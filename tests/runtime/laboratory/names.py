"""What the functions of `torch.cuda` and `torch.accelerator` say on the simulated device, name by name."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from devlint.runtime.limit import NotSimulated

_GIVEN: dict[str, Any] = {
    "fraction": 0.5,
    "size": 16,
    "new_state": torch.zeros(16, dtype=torch.uint8),
    "new_states": [],
    "state": torch.get_rng_state(),
    "states": [torch.get_rng_state()],
    "stream": None,
    "msg": "x",
    "enabled": False,
    "tensor": torch.ones(1),
}
_MODULES = (torch.cuda, torch.cuda.memory, torch.cuda.random, torch.cuda.nvtx, torch.accelerator)
_OF_ARGUMENTS = ("CudaError", "check_error", "make_graphed_callables")
"""What needs something that only a GPU has given before."""


def failing() -> list[str]:
    """The names that neither answer nor say that they are not simulated, and what they say."""
    found = []
    for module in _MODULES:
        for name, value in list(vars(module).items()):
            if name.startswith("_") or name in _OF_ARGUMENTS or not callable(value):
                continue
            home = getattr(value, "__module__", None) or ""
            if not home.startswith(("torch.cuda", "torch.accelerator", "devlint")):
                continue
            try:
                value(*(_GIVEN.get(each, 0) for each in _required(value)))
            except NotSimulated:
                pass
            except Exception as error:
                found.append(f"{module.__name__}.{name}: {type(error).__name__}: {error}")
    return found


def _required(value: Any) -> list[str]:
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind in kinds]
