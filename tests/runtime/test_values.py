"""The simulated device computes what the cpu computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

numbers = st.integers(0, 4)


@settings(deadline=None, max_examples=80)
@given(data=st.data())
def test_random_sequences(laboratory: Callable[..., Any], data: st.DataObject) -> None:
    names = st.sampled_from(laboratory("sequences.operators"))
    steps = data.draw(st.lists(st.tuples(names, numbers, numbers, numbers), min_size=1, max_size=8))
    assert laboratory("sequences.compare", steps) == []


def test_samples_of_torch(laboratory: Callable[..., Any]) -> None:
    """What torch tests its own operators with; sparse tensors are not simulated."""
    counts, differ = laboratory("samples.compare", 2)
    # tensor_split is right to refuse: it takes its indices on the cpu only.
    assert differ == {
        "raises": ["histogram", "histogramdd", "tensor_split"],
        "not simulated": ["sparse.mm", "sparse.sampled_addmm", "to_sparse"],
    }
    assert counts["equal"] > counts["operators"] > 1000


CELLS = ("aten::_thnn_fused_lstm_cell_backward_impl", "aten::_thnn_fused_gru_cell_backward")


@pytest.mark.parametrize("kernel", CELLS)
def test_gradients_of_recurrent_cells(laboratory: Callable[..., Any], kernel: str) -> None:
    """Each gate and each further result that is wrong by a hundredth is noticed."""
    assert laboratory("cells.difference", kernel) < 1e-12
    assert min(laboratory("cells.with_mutants", kernel)) > 1e-6
