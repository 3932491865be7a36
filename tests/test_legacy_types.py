"""Default tensor types: what no program can prove without a GPU, as the simulated one has no such types."""

from __future__ import annotations

import pytest

from devlint.config.settings import Selection, Settings
from devlint.run.lint import lint

SETTINGS = Settings(selections=(Selection(select=("DEV203",)),))


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        ('"torch.cuda.FloatTensor"', [3]),
        ("torch.cuda.HalfTensor", [3]),
        ('"torch.FloatTensor"', []),
        ("torch.FloatTensor", []),
    ],
)
def test_a_default_type_of_cuda_is_told(given: str, rows: list[int]) -> None:
    text = f"import torch\n\ntorch.set_default_tensor_type({given})\n"
    assert [item.start.row for item in lint(text.encode(), "a.py", SETTINGS)] == rows
