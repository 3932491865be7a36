"""Runs the samples that torch's own test-suite has for each operator, on the cpu and on the device.

`python samples.py` prints how many there are and how many are equal, for the documentation.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from devlint.runtime.limit import NotSimulated

UNDEFINED = ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided")
"""Operators whose values are whatever was in memory."""


def compare(most: int) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Counts over at most so many samples of each operator, and the operators that differ, by how."""
    from torch.testing._internal.common_methods_invocations import op_db

    counts: Counter[str] = Counter()
    differ: dict[str, set[str]] = {}
    for operator in op_db:
        if operator.name in UNDEFINED:
            continue
        for dtype in (torch.float32, torch.int64):
            if not operator.supports_dtype(dtype, "cpu"):
                continue
            for verdict in _verdicts(operator, dtype, most):
                counts[verdict] += 1
                if verdict != "equal":
                    differ.setdefault(verdict, set()).add(operator.name)
            counts["operators"] += 1
    return dict(counts), {verdict: sorted(names) for verdict, names in differ.items()}


def _verdicts(operator: Any, dtype: Any, most: int) -> list[str]:
    trains = operator.supports_autograd and dtype.is_floating_point
    samples = operator.sample_inputs("cpu", dtype, requires_grad=trains)
    verdicts = []
    for sample in itertools.islice(samples, most):
        try:
            expected = _run(operator, sample, "cpu")
        except Exception:
            continue
        try:
            found = _run(operator, sample, "cuda")
        except NotSimulated:
            verdicts.append("not simulated")
            continue
        except Exception:
            verdicts.append("raises")
            continue
        same = len(expected) == len(found) and all(map(_equal, expected, found))
        if _has_place(sample) and any(x is not None and x.device.type != "cuda" for x in found):
            same = False
        verdicts.append("equal" if same else "different")
    return verdicts


def _run(operator: Any, sample: Any, device: str) -> list[Any]:
    """Results, then gradients."""

    def move(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.detach().clone().to(device).requires_grad_(value.requires_grad)
        return torch.device(device) if isinstance(value, torch.device) or value == "cpu" else value

    arguments = tree_map(move, (sample.input, sample.args, sample.kwargs))
    torch.manual_seed(0)
    result = operator(arguments[0], *arguments[1], **arguments[2])
    outputs = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    inputs = [
        leaf for leaf in tree_leaves(arguments) if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]
    losses = [(out.abs() if out.is_complex() else out).sum().float() for out in outputs if out.requires_grad]
    if not inputs or not losses:
        return outputs
    return [*outputs, *torch.autograd.grad(sum(losses), inputs, allow_unused=True)]


def _has_place(sample: Any) -> bool:
    """Whether the device decides where the results are."""
    leaves = tree_leaves((sample.input, sample.args, sample.kwargs))
    return any(isinstance(leaf, torch.Tensor) for leaf in leaves) or "device" in sample.kwargs


def _equal(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return bool(torch.allclose(a.detach().cpu(), b.detach().cpu(), rtol=1e-3, atol=1e-3, equal_nan=True))


if __name__ == "__main__":
    from devlint.runtime import worker

    worker.install("sim")
    print(*compare(1000), sep="\n")
