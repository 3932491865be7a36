"""Twice the code costs twice the work: counted in calls of functions, as seconds are no measure in a test."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType

import pytest

from devlint.config.settings import Selection, Settings
from devlint.run.lint import lint

EVERYTHING = Settings(selections=(Selection(select=("ALL",)),))
_MOST = 2.3
"""How much more work twice the code may be."""


def _times(count: int, text: str) -> str:
    """The text, numbered, so many times."""
    return "".join(text.replace("#", str(number)).replace("@", str(number + 1)) for number in range(count))


def _helpers(count: int) -> str:
    """A ladder of helpers: each calls the one before it twice, and makes and moves a model of its own."""
    first = "def f0(x, d):\n    net = nn.Linear(4, 4)\n    net.to(d)\n    return net(x)\n"
    rest = "def f@(x, d):\n    net = nn.Linear(4, 4)\n    net.to(d)\n    f#(x, d)\n    return f#(net(x), d)\n"
    return first + _times(count, rest)


PROGRAMS: dict[str, tuple[Callable[[int], str], int]] = {
    "helpers": (_helpers, 12),
}
"""How each program is made, and the smallest size to look at."""


def work(text: str) -> int:
    """How many functions are called to lint a program."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    raw = ("import torch\nfrom torch import nn\n" + text).encode()
    gc.disable()
    sys.setprofile(count)
    try:
        lint(raw, "grown.py", EVERYTHING)
    finally:
        sys.setprofile(None)
        gc.enable()
    return calls


@pytest.mark.parametrize("name", PROGRAMS)
def test_twice_the_code_is_twice_the_work(name: str) -> None:
    make, size = PROGRAMS[name]
    lint(b"import torch\nx = torch.ones(3)\nx.cuda()\n", "first.py", EVERYTHING)  # imports, and what is kept
    once, twice, four_times = (work(make(size * factor)) for factor in (1, 2, 4))
    assert max(twice / once, four_times / twice) <= _MOST, (once, twice, four_times)
