"""Arguments with which torch's functions can be called: those of torch's own tests, and guesses by name."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_map

_MOST = 12
"""Samples of one operator that are tried: more of them only differ in shapes."""


class Sample(NamedTuple):
    """One way to call a function, all tensors on the cpu."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def on(self, device: str) -> Sample:
        """The same with all tensors elsewhere, none of them shared."""

        def move(value: Any) -> Any:
            return value.detach().clone().to(device) if isinstance(value, torch.Tensor) else value

        return Sample(*tree_map(move, (self.args, self.kwargs)))


@functools.cache
def _operators() -> dict[str, list[Any]]:
    """Torch's table of operators for tests, by name; empty where its test utilities cannot be imported."""
    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except ImportError:
        return {}
    found: dict[str, list[Any]] = {}
    for operator in op_db:
        for name in (operator.name, *(alias.name for alias in operator.aliases)):
            found.setdefault(name, []).append(operator)
    return found


def samples(name: str) -> Iterator[Sample]:
    """Ways to call a function of torch, or a method with its receiver first."""
    library, _, short = name.rpartition(".")
    short = short.removesuffix("_")
    full = short if library in ("torch", "Tensor") else name.removeprefix("torch.").removesuffix("_")
    for operator in _operators().get(full, ()):
        yield from itertools.islice(_of(operator), _MOST)
    yield from _guesses()


def _of(operator: Any) -> Iterator[Sample]:
    dtypes = (torch.float32, torch.int64, torch.bool, torch.complex64)
    dtype = next((d for d in dtypes if operator.supports_dtype(d, "cpu")), None)
    if dtype is None:
        return
    try:
        for sample in operator.sample_inputs("cpu", dtype, requires_grad=False):
            yield Sample((sample.input, *sample.args), dict(sample.kwargs))
    except Exception:  # its samples may need packages that are not there
        return


def _guesses() -> Iterable[Sample]:
    square, line = torch.rand(3, 3) + 0.1, torch.rand(3) + 0.1
    index = torch.tensor([0, 1, 2])
    mask = torch.tensor([True, False, True])
    for args in (
        (square,),
        (line,),
        (square, square),
        (line, line),
        (index,),
        (index, index),
        (mask,),
        (square, 1),
        (square, 0),
        (square, 0, 1),
        (index, 1),
        (line, 0.5),
        (line, line, line),
        (square, square, square),
        (torch.rand(1, 2, 4, 4),),
        (torch.rand(1, 2, 4, 4), 2),
        (line, 0, index),
        (line, mask, 0.0),
        ([line, line],),
        (1, line),
        (torch.rand(2, 3, 3), torch.rand(2, 3, 3)),
        (square, square[0], square[0]),
        (square, torch.rand(2, 3, 3), torch.rand(2, 3, 3)),
        (torch.rand(1, 2, 4), torch.rand(3, 2, 2)),
    ):
        yield Sample(args, {})
