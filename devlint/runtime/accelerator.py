"""`torch.accelerator`, which asks C++ for a device where programs ask `torch.cuda`."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

import torch

from . import stand_in
from .cuda import refused_class
from .limit import NotSimulated

_SAME = (
    *("empty_cache", "get_device_capability", "max_memory_allocated", "max_memory_reserved"),
    *("memory_allocated", "memory_reserved", "memory_stats", "reset_accumulated_memory_stats"),
    *("reset_peak_memory_stats", "get_memory_info"),
)
"""What `torch.cuda` answers too."""


def install() -> None:
    """Answer for `torch.accelerator` as for `torch.cuda`, in this process."""
    module, cuda = torch.accelerator, torch.cuda
    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "device_count": lambda: stand_in.count,
        "current_accelerator": lambda check_available=False: torch.device("cuda"),
        "synchronize": lambda device=None: None,
        "current_device_index": cuda.current_device,
        "current_device_idx": cuda.current_device,
        "set_device_index": cuda.set_device,
        "set_device_idx": cuda.set_device,
        "current_stream": cuda.current_stream,
        "set_stream": cuda.set_stream,
        "device_index": cuda.device,
        "get_memory_info": cuda.mem_get_info,
        "empty_host_cache": lambda: None,
    }
    for name in _SAME:
        answers.setdefault(name, getattr(cuda, name, None))
    for name, value in list(vars(module).items()):
        if name in answers:
            setattr(module, name, answers[name])
        elif not getattr(value, "__module__", None) or not value.__module__.startswith("torch.accelerator"):
            continue
        elif isinstance(value, type):
            setattr(module, name, refused_class(name, f"torch.accelerator.{name}"))
        elif isinstance(value, FunctionType):
            setattr(module, name, functools.partial(_refuse, name))  # some of them crash
    torch.nn.parallel._functions._get_stream = lambda device: None  # copies are in order anyway


def _refuse(name: str, *args: Any, **kwargs: Any) -> Any:
    raise NotSimulated(f"torch.accelerator.{name}")
