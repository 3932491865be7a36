"""Since when `torch.accelerator` has what `torch.cuda` has, by release of torch.

That torch 2.13 has every name is measured (`tests/test_knowledge.py`). The first releases are those of the
documentation (`docs.pytorch.org/docs/2.x/accelerator.html`; of `*_index`, pytorch/pytorch#143186).
"""

from __future__ import annotations

from typing import NamedTuple

Release = tuple[int, int]


class Portable(NamedTuple):
    """What to write instead of a name of one kind of device."""

    name: str
    since: Release
    """The first release that has it."""


SINCE: dict[Release, str] = {
    (2, 6): """
        is_available device_count current_accelerator current_device_index current_device_idx set_device_index
        set_device_idx current_stream set_stream synchronize
    """,
    (2, 8): "device_index",
    (2, 9): """
        empty_cache memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_stats
        reset_peak_memory_stats reset_accumulated_memory_stats
    """,
    (2, 10): "get_memory_info get_device_capability",
}
RENAMED = {
    "current_device": "current_device_index",
    "set_device": "set_device_index",
    "device": "device_index",
    "mem_get_info": "get_memory_info",
}
"""Names of `torch.cuda` that `torch.accelerator` spells otherwise."""

UNLIKE = frozenset({"get_device_capability", "current_stream", "set_stream"})
"""What `torch.accelerator` has by the same name and is something else: a dict, streams of another class."""


def since(name: str) -> Release | None:
    """The first release whose `torch.accelerator` has a name, if any has."""
    return next((release for release, names in SINCE.items() if name in names.split()), None)


def portable(dotted: str) -> Portable | None:
    """What `torch.accelerator` has for a name of `torch.cuda`, `torch.xpu` or `torch.mps`."""
    library, _, name = dotted.rpartition(".")
    if library not in ("torch.cuda", "torch.xpu", "torch.mps") or name in UNLIKE:
        return None
    name = RENAMED.get(name, name)
    first = since(name)
    return None if first is None else Portable(f"torch.accelerator.{name}", first)
