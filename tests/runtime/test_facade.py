"""Programs written for CUDA run unmodified on the simulated device, and do what they do on the cpu."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


OBSERVED = {"train": "losses", "cuda_api": "seen"}


@pytest.fixture(scope="module")
def values(
    observe: Callable[[dict[str, str]], dict[tuple[str, str], dict[str, object]]],
) -> dict[tuple[str, str], dict[str, object]]:
    """What each program computed, by program and device."""
    return observe(OBSERVED)


def test_training_is_the_same(values: dict[tuple[str, str], dict[str, object]]) -> None:
    assert values["train", "sim"] == values["train", "cpu"]
    assert values["train", "sim"]["AdamW loaded in place"] is True


ANSWERS = {
    "device": ("cuda:0", True, 0, "torch.cuda.FloatTensor"),
    "legacy": (True, "cuda"),
    "factory": ("cuda", "cuda"),
    "string": "torch.cuda.DoubleTensor",
    "properties": (32, True, True),
    "classes": (False, True),
    "compiled": (["_orig_mod.weight", "_orig_mod.bias"], "cuda"),
    "compiled function": 1,
    "context": ("cuda", "cpu"),
    "default": ("cuda", "cuda"),
    "thread": "cuda",
    "backward": [2.0, 2.0, 2.0],
    "timed": True,
    "capturing": False,
    "second": "CUDA error: invalid device ordinal",
    "generator": "cuda",
    "host generator": "Expected a 'cuda' device type for generator but found 'cpu'",
    "device generator": "Expected a 'cpu' device type for generator but found 'cuda'",
    "load cpu": "cpu",
    "load cuda": "cuda",
    "load None": "cuda",
    "script": "cuda",
    "loaded script": "cuda",
    "parallel": "cuda",
    "accelerator": "cuda",
}


@pytest.mark.parametrize("question", ANSWERS)
def test_answers_as_cuda(values: dict[tuple[str, str], dict[str, object]], question: str) -> None:
    assert values["cuda_api", "sim"][question] == ANSWERS[question]


def test_the_cpu_has_no_cuda(values: dict[tuple[str, str], dict[str, object]]) -> None:
    assert values["cuda_api", "cpu"] == {}
