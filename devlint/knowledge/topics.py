"""What names of libraries are about, and the signatures by which positions find their parameters."""

from __future__ import annotations

from . import api

_TOPICS = {"needs-cuda": api.CUDA_NEEDED, "asks-accelerator": api.CUDA_QUERIES}
_SIGNATURES = {
    "torch.load": ("f", "map_location", "pickle_module"),
    "torch.device": ("type", "index"),
    "torch.save": ("obj", "f"),
}


def topics_of(dotted: str) -> frozenset[str]:
    """The topics of a library's name."""
    return frozenset(topic for topic, names in _TOPICS.items() if dotted in names)


def named_in(topic: str) -> frozenset[str]:
    """The names that a topic has."""
    return _TOPICS.get(topic, frozenset())


def parameters_of(dotted: str) -> tuple[str, ...]:
    """The names of the parameters that positions bind, where they are known."""
    return _SIGNATURES.get(dotted, ())
