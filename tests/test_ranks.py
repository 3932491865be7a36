"""What the inference says of the dimensions of results, against torch's own samples of its operators."""

from __future__ import annotations

import ast
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from devlint.core.kinds import Kind
from devlint.core.values import Value
from devlint.infer.file import File
from devlint.infer.room import with_room

torch = pytest.importorskip("torch")

_SAMPLES = 2
"""As many samples of each operator are tried."""
_ELSEWHERE = {"__getitem__", "__rmatmul__", "resize_", "unfold"}
"""Methods that nobody calls by these names, one that works in place, and one of a 0-dim tensor alone."""


def _written(value: Any) -> str:
    """The program text that makes a sample's argument; raises TypeError where there is none."""
    if isinstance(value, torch.Tensor):
        sizes = ", ".join(map(str, value.shape))
        return f"torch.ones({sizes})" if value.dim() else "torch.tensor(1.0)"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(_written, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, torch.dtype):
        return str(value)
    raise TypeError(type(value))


def _samples() -> Iterator[tuple[str, str, Any]]:
    """The name of an operator, the text of a call, and its result."""
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        own = op.name.startswith("jiterator") or op.name in _ELSEWHERE
        if own or not op.supports_dtype(torch.float32, "cpu"):
            continue
        torch.manual_seed(0)
        for sample in itertools.islice(op.sample_inputs("cpu", torch.float32), _SAMPLES):
            try:
                told = [_written(each) for each in (sample.input, *sample.args)]
                told += [f"{name}={_written(each)}" for name, each in sample.kwargs.items()]
                result = op.op(sample.input, *sample.args, **sample.kwargs)
            except (TypeError, RuntimeError):
                continue
            home = torch.nn.functional if op.name.startswith("nn.functional.") else torch
            if hasattr(home, op.name.rpartition(".")[2]):
                yield op.name, f"torch.{op.name}({', '.join(told)})", result
            if isinstance(sample.input, torch.Tensor) and hasattr(torch.Tensor, op.name):
                yield op.name, f"{told[0]}.{op.name}({', '.join(told[1:])})", result


def _contradicted(told: Value, result: Any) -> bool:
    """Whether a result has fewer dimensions than is said, or some where it is said to have none."""
    if isinstance(result, (list, tuple)):
        # What gives several tensors is taken for one; what is unpacked of it is said to have one less.
        ranks = [each.dim() for each in result if isinstance(each, torch.Tensor)]
        most = told.origin.dims - 1 if told.origin is not None else 0
        return told.kind is Kind.TENSOR and bool(ranks) and most > min(ranks)
    if not isinstance(result, torch.Tensor):
        return told.kind in (Kind.TENSOR, Kind.SCALAR)
    if told.kind is Kind.SCALAR:
        return bool(result.dim())
    return told.kind is Kind.TENSOR and told.origin is not None and told.origin.dims > int(result.dim())


def test_no_result_has_fewer_dimensions_than_is_said() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = list(_samples())
    lines = [f"r{index} = {text}" for index, (_, text, _) in enumerate(samples)]
    file = File(ast.parse("\n".join(["import torch", *lines])))
    with_room(file.analyse)
    variables = file.variables()
    wrong = {
        name: text
        for index, (name, text, result) in enumerate(samples)
        if _contradicted(variables[f"r{index}"], result)
    }
    file.release()
    assert not wrong, [*wrong.values()]
    assert len({name for name, *_ in samples}) > 400


@pytest.mark.parametrize(
    ("text", "dims"),
    [
        ("torch.ones(3, 3) @ torch.ones(3)", 1),
        ("torch.ones(3) @ torch.ones(3)", 0),
        ("torch.ones(2, 3, 4).sum((1, 2))", 1),
        ("torch.ones(2, 3).sum(axis=1)", 1),
        ("torch.ones(2, 3).sum(1, keepdim=True)", 2),
        ("torch.ones(2, 3).sum(-1)", 1),
        ("torch.max(torch.ones(2, 3), torch.ones(2, 3))", 2),
        ("torch.ones(2, 3).diag()", 1),
        ("torch.ones(2, 3).unsqueeze(0)", 3),
        ("torch.ones(2, 3)[torch.ones(2, 3) > 0]", 1),
        ("torch.ones(2, 3)[torch.arange(2), torch.arange(2)]", 1),
        ("torch.ones(2, 3)[torch.arange(2)]", 2),
        ("torch.ones(2, 3)[0]", 1),
        ("torch.ones(2, 3)[:, None]", 3),
    ],
)
def test_of_what_was_made_here_the_least_dimensions_are_known(text: str, dims: int) -> None:
    file = File(ast.parse(f"import torch\nx = {text}"))
    file.analyse()
    found = file.variables()["x"]
    file.release()
    assert found.kind is Kind.TENSOR
    assert found.origin is not None
    assert found.origin.dims == dims


@pytest.mark.parametrize(
    "text", ["x.norm(2)", "x.sum(dtype=torch.int64)", "x.std(unbiased=False)", "x.trace()"]
)
def test_what_is_reduced_whole_is_0_dim(text: str) -> None:
    file = File(ast.parse(f"import torch\nx = torch.ones(3, 3)\ny = {text}"))
    file.analyse()
    found = file.variables()["y"]
    file.release()
    assert found.kind is Kind.SCALAR
