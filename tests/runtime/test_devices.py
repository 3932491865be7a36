"""A second simulated device, DataParallel over both, and a process group of one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def values(observe: Callable[..., dict[tuple[str, str], Any]]) -> dict[str, Any]:
    """What the program saw on the cpu, and on two devices."""
    found = observe({"devices": "seen"}, devices=2)
    return {device: found["devices", device] for device in ("cpu", "sim")}


APART = "Expected all tensors to be on the same device"
BOTH = "found at least two devices, cuda:0 and cuda:1!"
ON_TWO = {
    "where": ("cuda:0", "cuda:1", 1, "cuda:1", "cuda:1"),
    "copied": ([2.0, 2.0, 2.0], "cuda:0"),
    "chosen": ("cuda:1", 1),
    "chosen by name": "cuda:1",
    "as before": "cuda:0",
    "loaded": ["cuda:1", "cuda:0", "cpu"],
    "trained": ("cuda:1", "cuda:1"),
    "third": ("RuntimeError", "CUDA error: invalid device ordinal"),
    "sum": ("RuntimeError", f"{APART}, but {BOTH}"),
    "number": ("RuntimeError", f"{APART}, but {BOTH}"),
    "index": (
        "RuntimeError",
        "indices should be either on cpu or on the same device as the indexed tensor (cuda:0)",
    ),
}
ON_EITHER = ("losses", "parallel", "gathered")


@pytest.mark.parametrize("question", ON_TWO)
def test_two_devices(values: dict[str, Any], question: str) -> None:
    assert values["sim"][question] == ON_TWO[question]


@pytest.mark.parametrize("question", ["product", "convolution"])
def test_kernels_name_what_is_elsewhere(values: dict[str, Any], question: str) -> None:
    name, message = values["sim"][question]
    assert name == "RuntimeError"
    assert "is on cuda:1, different from other tensors on cuda:0" in message


@pytest.mark.parametrize("question", ON_EITHER)
def test_alone_it_is_as_on_the_cpu(values: dict[str, Any], question: str) -> None:
    assert values["sim"][question] == values["cpu"][question]


def test_a_group_is_one_of_nccl(values: dict[str, Any]) -> None:
    assert values["sim"]["backend"] == "nccl"


def test_every_name_is_answered_or_refused(laboratory: Callable[..., Any]) -> None:
    """`torch.cuda` and `torch.accelerator`, function by function: none fails for want of a GPU."""
    assert laboratory("names.failing") == []
