"""Random generators of the device that stands in for CUDA; the simulated one draws the CPU's numbers."""

from __future__ import annotations

from typing import Any

import torch

from . import stand_in
from .stand_in import index_of
from .storage import DEVICE


class Generator(torch.Generator):
    """A `torch.Generator` that remembers for which device it was made."""

    _accelerated: bool
    _index: int

    def __new__(cls, device: Any = "cpu") -> Generator:
        """Make a generator; the simulated device draws from the CPU's algorithm."""
        kind = torch.device(device).type
        accelerated = kind in ("cuda", stand_in.device.type)
        if accelerated:
            kind = "cpu" if stand_in.device.type == DEVICE else stand_in.device.type
        self: Generator = super().__new__(cls, device=kind)
        self._accelerated = accelerated
        self._index = index_of(device) if accelerated else 0
        return self

    @property
    def device(self) -> torch.device:
        """The device it was made for, as the program named it."""
        return torch.device("cuda", self._index) if self._accelerated else super().device


def check_generator(generator: torch.Generator, drawn_on: str) -> None:
    """Raise as `check_generator<…>` does unless the numbers are drawn where the generator is."""
    wanted = "cuda" if drawn_on == stand_in.device.type else drawn_on
    if wanted in ("cpu", "cuda") and generator.device.type != wanted:
        found = generator.device.type
        raise RuntimeError(f"Expected a '{wanted}' device type for generator but found '{found}'")
