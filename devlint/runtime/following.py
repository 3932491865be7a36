"""Sets a process up for `devlint run`: the simulated device, and what follows a program on it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..errors import DevlintError

if TYPE_CHECKING:
    from .compare import Values
    from .tracer import Tracer


def install(devices: int, limit: int | None, stop: bool, values: Values | None = None) -> Tracer:
    """Simulate devices in this process, for good; `limit` ends each loader after so many batches.

    Raises DevlintError if the installed torch cannot.
    """
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    require()
    from . import origins, tracer, worker

    worker.install("sim", devices)
    origins.watch_modules()
    seen = tracer.Tracer(stop=stop, limit=limit, values=values)
    tracer.watch_loaders(seen)
    tracer.watch_backward(seen)
    tracer.keep_fast_path(seen)
    return seen


def require() -> None:
    """Raise DevlintError if the installed torch cannot simulate a device."""
    import torch

    from .releases import missing

    if lacking := missing():
        raise DevlintError(f"torch {torch.__version__} cannot simulate a device: {lacking}")
