"""What Acme's programs call: of this devlint knows what `acme_devlint.knowledge` says."""

from __future__ import annotations

import torch


def render(scene: str, size: int = 2, *, on: str = "cpu") -> torch.Tensor:
    """Return an image, on whatever device."""
    return torch.ones(size, size, device=on) * len(scene)


def blend(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return what two images give, which have to be on one device."""
    return (one + other) / 2


class Encoder(torch.nn.Linear):  # type: ignore[misc]
    """A network."""

    def __init__(self, size: int = 2, *, on: str = "cpu") -> None:
        super().__init__(size, size, device=on)


def submit(image: torch.Tensor) -> bytes:
    """Send an image to the press."""
    sent: bytes = image.numpy().tobytes()
    return sent
