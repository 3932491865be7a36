"""Random generators of the simulated device: the CPU's numbers under the device's name."""

from __future__ import annotations

from typing import Any

import torch

from .storage import DEVICE


class Generator(torch.Generator):
    """A `torch.Generator` that remembers for which device it was made."""

    _accelerated: bool

    def __new__(cls, device: Any = "cpu") -> Generator:
        """Make a generator; the simulated device draws from the CPU's algorithm."""
        kind = torch.device(device).type
        accelerated = kind in ("cuda", DEVICE)
        self: Generator = super().__new__(cls, device="cpu" if accelerated else kind)
        self._accelerated = accelerated
        return self

    @property
    def device(self) -> torch.device:
        """The device it was made for, as the program named it."""
        return torch.device("cuda:0") if self._accelerated else super().device


def check_generator(generator: torch.Generator, drawn_on: str) -> None:
    """Raise as `check_generator<…>` does unless the numbers are drawn where the generator is."""
    wanted = "cuda" if drawn_on == DEVICE else drawn_on
    if wanted in ("cpu", "cuda") and generator.device.type != wanted:
        found = generator.device.type
        raise RuntimeError(f"Expected a '{wanted}' device type for generator but found '{found}'")
