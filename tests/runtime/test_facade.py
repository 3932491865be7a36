"""Programs written for CUDA run unmodified on the simulated device, and do what they do on the cpu."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from devlint.claim import Observes, everywhere
from devlint.runtime.catalogue import Case
from devlint.runtime.devices import run_all

PROGRAMS = Path(__file__).parent / "programs"
OBSERVED = {"train": "losses", "cuda_api": "seen"}


@pytest.fixture(scope="module")
def values(torch_installed: None) -> dict[tuple[str, str], dict[str, object]]:
    """What each program computed, by program and device."""
    cases = []
    for name, expression in OBSERVED.items():
        path = PROGRAMS / f"{name}.py"
        claim = everywhere(Observes(expression, None, None))
        cases.append(Case("", name, str(path), path.read_text(encoding="utf-8"), claim, cured=True))
    found = {}
    for run in run_all(("cpu", "sim"), cases, lambda device, case: None):
        assert "unavailable" not in run.about, run.about
        for case, outcome in run.outcomes:
            assert outcome["status"] == "ran", outcome
            found[case.program, run.device] = ast.literal_eval(outcome["values"][OBSERVED[case.program]])
    return found


def test_training_is_the_same(values: dict[tuple[str, str], dict[str, object]]) -> None:
    assert values["train", "sim"] == values["train", "cpu"]
    assert values["train", "sim"]["AdamW loaded in place"] is True


ANSWERS = {
    "device": ("cuda:0", True, 0, "torch.cuda.FloatTensor"),
    "legacy": (True, "cuda"),
    "factory": ("cuda", "cuda"),
    "string": "torch.cuda.DoubleTensor",
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
    "parallel": "cuda",
    "accelerator": "cuda",
}


@pytest.mark.parametrize("question", ANSWERS)
def test_answers_as_cuda(values: dict[tuple[str, str], dict[str, object]], question: str) -> None:
    assert values["cuda_api", "sim"][question] == ANSWERS[question]


def test_the_cpu_has_no_cuda(values: dict[tuple[str, str], dict[str, object]]) -> None:
    assert values["cuda_api", "cpu"] == {}
