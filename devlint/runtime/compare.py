"""Compares what a program computes on the cpu with what it computes on the simulated device.

What the program's own calls of torch give, and what modules give, is reduced to two numbers, kept by the
call's place in the program; those of both runs are compared in order. What libraries do inside may depend on
the device, as optimizers do. Both runs begin with the same seeds.
"""

from __future__ import annotations

import functools
import json
import math
import random
import sys
from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.utils._pytree import tree_leaves

from ..finding import Position
from . import frames
from .frames import Place
from .storage import alias, device_of, is_simulated

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType


_READS = frozenset({"item", "__float__"})
"""What gives a number of Python's."""
_UNINITIALIZED = frozenset(
    {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
)
"""What gives memory as it was, which is other memory in another run."""
_THROUGH = frozenset(
    module.__file__ for module in (torch.overrides, torch._tensor, torch.functional, torch.nn.functional)
)
_FINE, _COARSE = 1e-3, 0.1
"""How much of its size a value may differ by: rounding, which training makes more of; in 32 bits, in 16."""


class Values:
    """What calls of torch have given, in order."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._keys: dict[tuple[str, int, int, str], int] = {}
        self.places: list[tuple[Place, str]] = []
        """The calls of the program, each with the name of what it calls."""
        self.order = array("l")
        """The number of the place of each value."""
        self.numbers = array("d")
        """Two for each value: its sum, and the sum of its sizes."""
        self.coarse = False
        """Whether any was in 16 bits."""

    def gave(self, module: torch.nn.Module, result: Any) -> None:
        """Keep what a module gave."""
        for part in tree_leaves(result):
            if isinstance(part, torch.Tensor):
                self._keep(frames.innermost(), type(module).__name__, self._of_tensor(part))

    def note(self, name: str, result: Any) -> None:
        """Keep what a call gave, if that is numbers and the program called itself."""
        if name in _UNINITIALIZED and isinstance(result, torch.Tensor):
            with torch.no_grad():
                result.zero_()
            return
        frame = frames.innermost()
        if frame is None or not frames.calls_directly(frame, _THROUGH):
            return
        if isinstance(result, torch.Tensor):
            self._keep(frame, name, self._of_tensor(result))
        elif isinstance(result, float) and name in _READS:
            self._keep(frame, name, (result, abs(result)))

    def _keep(self, frame: FrameType | None, name: str, numbers: tuple[float, float] | None) -> None:
        if frame is None or numbers is None:
            return
        code = frame.f_code
        key = (code.co_filename, code.co_firstlineno, frame.f_lasti, name)
        number = self._keys.get(key)
        if number is None:
            number = self._keys[key] = len(self.places)
            self.places.append((frames.place_of(frame), name))
        self.order.append(number)
        self.numbers.extend(numbers)

    def _of_tensor(self, tensor: torch.Tensor) -> tuple[float, float] | None:
        if not (tensor.is_floating_point() or tensor.is_complex()) or tensor.layout is not torch.strided:
            return None
        if (
            tensor.is_nested
            or torch._C._functorch.is_functorch_wrapped_tensor(tensor)
            or torch.jit.is_tracing()
        ):
            return None
        if device_of(tensor).type != "cpu" and not is_simulated(tensor):
            return None
        with torch.no_grad():
            host = alias(tensor) if is_simulated(tensor) else tensor.detach()
            self.coarse |= host.element_size() <= _SHORT
            host = torch.view_as_real(host.resolve_conj()) if host.is_complex() else host
            wide = host.to(torch.float64)
            return wide.sum().item(), wide.abs().sum().item()

    def save(self, path: str) -> None:
        """Write them for another process."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump([self.places, self.order.tolist(), self.numbers.tolist(), self.coarse], file)

    @classmethod
    def load(cls, path: str) -> Values:
        """Read what another process has saved."""
        found = cls()
        with open(path, encoding="utf-8") as file:
            places, order, numbers, found.coarse = json.load(file)
        for (shown, start, end), name in places:
            found.places.append((Place(shown, Position(*start), Position(*end)), name))
        found.order.extend(order)
        found.numbers.extend(numbers)
        return found


_SHORT = 2
"""Bytes of a number in low precision."""


def watch_modules(values: Values) -> None:
    """Keep what modules give."""
    call = torch.nn.Module.__call__

    @functools.wraps(call)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = call(self, *args, **kwargs)
        with torch._C.DisableTorchFunction():
            values.gave(self, result)
        return result

    torch.nn.Module.__call__ = __call__


class Compared(NamedTuple):
    """What came of a comparison."""

    parted: bool
    message: str


def compared(cpu: Values, here: Values) -> Compared:
    """Where the values part, by the order of this run; a place that only one run comes past says nothing."""
    theirs: dict[tuple[Place, str], list[tuple[float, float]]] = {}
    for number, one, size in _rows(cpu):
        theirs.setdefault(cpu.places[number], []).append((one, size))
    times = [0] * len(here.places)
    tolerance = _COARSE if cpu.coarse or here.coarse else _FINE
    values, worst, met = 0, 0.0, set()
    for number, one, size in _rows(here):
        turn, times[number] = times[number], times[number] + 1
        known = theirs.get(here.places[number], [])
        if turn >= len(known):
            continue
        other, other_size = known[turn]
        apart = _apart(one, other, max(size, other_size))
        if apart > tolerance:
            place, name = here.places[number]
            spot = f"{place.path}:{place.start.row}:{place.start.column}"
            nth = "" if not turn else f" when it is called for the {_ordinal(turn + 1)} time"
            what = f"`{name}` gives {other:.6g} on the cpu and {one:.6g} on the simulated device{nth}"
            return Compared(True, f"{spot}: {what} (sums of all elements); {values} values before it agree")
        values, worst = values + 1, max(worst, apart)
        met.add(number)
    if not values:
        return Compared(False, "there was nothing to compare: both runs have no value in common")
    exactly = "exactly " * (not worst)
    within = f", to within {worst:.0e}" * bool(worst)
    return Compared(False, f"{values} values at {len(met)} places are {exactly}those of the cpu{within}")


def _rows(values: Values) -> Sequence[tuple[int, float, float]]:
    return list(zip(values.order, values.numbers[::2], values.numbers[1::2], strict=True))


def _apart(one: float, other: float, size: float) -> float:
    """How far two numbers are apart, as a part of the size of what was summed."""
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    if not (math.isfinite(one) and math.isfinite(other) and math.isfinite(size)):
        return math.inf
    return abs(one - other) / max(size, 1e-6)


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def seed() -> None:
    """Let random numbers be the same in both runs, as long as the program does not seed them otherwise."""
    random.seed(0)
    torch.manual_seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)
