"""Names of `torch.cuda` that `torch.accelerator` has: by the oldest release that the code must run with."""

from __future__ import annotations

import pytest

from devlint.config.settings import Selection, Settings
from devlint.finding import Finding
from devlint.run.lint import lint

PROGRAM = """\
import torch
from torch.cuda import synchronize

if torch.cuda.is_available():
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
torch.cuda.empty_cache()
torch.cuda.current_device()
torch.cuda.synchronize("cuda:0")
synchronize()
"""


def found(target: tuple[int, int] | None) -> list[Finding]:
    settings = Settings(selections=(Selection(select=("DEV207",)),), target_torch=target)
    return lint(PROGRAM.encode(), "a.py", settings)


@pytest.mark.parametrize(
    ("target", "rows"),
    [
        (None, [4, 5, 6, 7, 8, 9, 10]),
        ((2, 5), []),
        ((2, 6), [4, 5, 8, 9, 10]),
        ((2, 9), [4, 5, 6, 7, 8, 9, 10]),
    ],
)
def test_what_the_oldest_release_lacks_is_not_suggested(
    target: tuple[int, int] | None, rows: list[int]
) -> None:
    assert [item.start.row for item in found(target)] == rows


def test_a_fix_is_safe_where_the_counterpart_fails_no_sooner() -> None:
    """`empty_cache` does nothing without CUDA, and its counterpart fails without an accelerator."""
    fixes = {item.start.row: item.fix for item in found((2, 9))}
    assert {row: fix.safe for row, fix in fixes.items() if fix is not None} == {
        5: True,
        6: True,
        7: False,
        8: True,
        10: True,
    }
    assert all(item.fix is None or not item.fix.safe for item in found(None))
