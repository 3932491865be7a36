"""Remembers of a run where tensors were made, moved, read and met, and how many bytes went where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.utils._pytree import tree_leaves

from . import frames, wording
from .storage import device_of, is_simulated

if TYPE_CHECKING:
    from collections.abc import Iterator

_READS = frozenset({"item", "tolist", "__float__", "__int__", "__bool__", "__index__", "numpy"})
"""What brings numbers to Python, and waits for the device."""
_MOST = 64
"""Arguments of a call that are looked at."""


class Row(NamedTuple):
    """What a line has done, in one way."""

    path: str
    row: int
    kind: str
    """`made`, `moved`, `read` or `met`."""
    name: str
    """What was called."""
    source: str
    """The device; of what was moved, the one that it came from."""
    target: str
    """Where it was moved; empty for what was not."""


class Record:
    """What a program does with tensors, by line."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.rows: dict[Row, list[int]] = {}
        """How often, and how many bytes in all."""
        self.ran: dict[tuple[str, int], int] = {}
        """How many calls of torch each line has made."""

    def heard(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        """Take note of a call that was made."""
        frame = frames.innermost()
        if frame is None:
            return
        place = frames.place_of(frame)
        for row in range(place.start.row, place.end.row + 1):
            self.ran[place.path, row] = self.ran.get((place.path, row), 0) + 1
        given = [each for each in tree_leaves((args, kwargs))[:_MOST] if isinstance(each, torch.Tensor)]
        for kind, source, target, size in _did(name, given, result):
            entry = self.rows.setdefault(Row(place.path, place.start.row, kind, name, source, target), [0, 0])
            entry[0] += 1
            entry[1] += size


def _did(name: str, given: list[torch.Tensor], result: Any) -> Iterator[tuple[str, str, str, int]]:
    made = result if isinstance(result, torch.Tensor) and result.layout is torch.strided else None
    if not given:
        if made is not None and made.dim():
            yield "made", _where(made), "", made.nbytes
        return
    first = given[0]
    if name == "copy_" and len(given) > 1:
        if device_of(first) != device_of(given[1]):
            yield "moved", _where(given[1]), _where(first), given[1].nbytes
    elif made is not None and len(given) == 1 and device_of(made) != device_of(first):
        yield "moved", _where(first), _where(made), made.nbytes
    elif name in _READS:
        if is_simulated(first):
            yield "read", _where(first), "cpu", first.nbytes
    elif (name.startswith("__") or not name.startswith("_")) and sum(each.dim() > 0 for each in given) > 1:
        yield "met", " and ".join(sorted({_where(each) for each in given if each.dim()})), "", 0


def _where(tensor: torch.Tensor) -> str:
    return wording.as_cuda(str(device_of(tensor)))


def listed(record: Record) -> list[tuple[Row, int, int]]:
    """The rows in the order of files and lines, with how often and how many bytes."""
    order = {"made": 0, "moved": 1, "met": 2, "read": 3}
    rows = sorted(
        record.rows.items(), key=lambda item: (item[0].path, item[0].row, order[item[0].kind], item[0])
    )
    return [(row, times, size) for row, (times, size) in rows]
