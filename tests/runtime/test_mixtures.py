"""Operands on two devices raise where the table of measured mixtures says, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

LINES = (Path(__file__).parent / "mixtures.txt").read_text(encoding="utf-8").splitlines()
TABLE = [line.split("  =>  ") for line in LINES]
"""Expression (`g` on the device, `c` on the cpu, `gi` and `ci` of data), result."""


@pytest.mark.parametrize(("expression", "claimed"), TABLE, ids=[row[0] for row in TABLE])
def test_table(laboratory: Callable[..., Any], expression: str, claimed: str) -> None:
    status, detail = laboratory("mixtures.outcome", expression)
    if claimed.startswith("raises"):
        assert status == "raises", f"runs, on {detail}"
        assert claimed.removeprefix("raises ") in detail
    else:
        assert status == "ok", detail
        assert (detail or "ok") == claimed


REPORTS = re.findall(
    r"^\| `(.+?)` \| (.+?) \| ",
    (Path(__file__).parents[2] / "docs" / "cuda-reports.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_reports_of_real_cuda_are_about_the_table() -> None:
    """The page that compares with a real GPU shows what the simulated device does."""
    assert len(REPORTS) > 50
    assert [row for row in REPORTS if list(row) not in TABLE] == []


def test_one_tensor_left_behind_at_a_time(laboratory: Callable[..., Any]) -> None:
    """What a GPU is compared by: an operator of two, in place too, and where its result is told to go."""
    pytest.importorskip("expecttest", reason="torch's samples are imported with its test utilities")
    found = laboratory("placements.of", "add")
    assert found["add 3 dd"] == found["add 3 dc"] == "on cuda"  # the second is a number
    assert "same device" in found["add 3 cd"]
    assert "same device" in found["add_ 4 dc"]
    assert "same device" in found["add 3 cc out=d"]
    assert laboratory("placements.compared", found, found)[0].endswith("all on the device: same")
    other = {**found, "add 3 dd": "RuntimeError: out of memory", "add 3 cd": "on cuda"}
    told = [line.partition(": add 3")[0] for line in laboratory("placements.compared", found, other)]
    assert {"raises on CUDA alone", "raises on sim alone"} <= {*told}


ITERATED = ("add", "mul", "sub", "eq", "atan2", "pow", "maximum", "fmod")
EXACT = ("nextafter", "dot", "outer", "mm", "cdist")
shapes = st.lists(st.integers(1, 3), max_size=2)
quick = settings(deadline=None, max_examples=60)


@quick
@given(st.sampled_from(ITERATED), shapes, shapes, st.tuples(st.booleans(), st.booleans()))
def test_only_numbers_cross(
    laboratory: Callable[..., Any],
    operator: str,
    first: list[int],
    second: list[int],
    places: tuple[bool, bool],
) -> None:
    """TensorIterator takes a 0-dim cpu tensor for a number; one of one element is none."""
    second = first[-1:] if first and second else second  # shapes that broadcast
    raises = laboratory("mixtures.mixes", operator, [first, second], places)
    host = [shape for shape, on_device in zip((first, second), places, strict=True) if not on_device]
    assert raises == (any(places) and any(host))


@quick
@given(st.sampled_from(EXACT), st.tuples(st.booleans(), st.booleans()))
def test_generated_checks_are_exact(
    laboratory: Callable[..., Any], operator: str, places: tuple[bool, bool]
) -> None:
    """A kernel with a generated check takes no exception, not even a number."""
    shape = {"dot": [3], "outer": [3], "mm": [2, 2], "cdist": [2, 2]}.get(operator, [])
    assert laboratory("mixtures.mixes", operator, [shape, shape], places) == (places[0] != places[1])
