"""Which fixes are safe: those after which nothing fails that ran before."""

from __future__ import annotations

import pytest

from devlint.config.settings import Selection, Settings
from devlint.run.lint import lint

_HEAD = """\
import numpy as np
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""
_LOST = """
class Scale(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(3)){move}

    def forward(self, x):
        return x * self.w

    def update(self, x: torch.Tensor, other):
        {then}
"""
_LEAF = """
{before}
z = {made}
torch.optim.SGD([z], lr=0.1)
"""
_READ = """
def total(x):
    y = nn.Linear(3, 3).to(device)(x.to(device)).detach()
    if not x.shape:
        y = None
    return {read}
"""

_LOST_MOVES = {
    "each is moved on a path on which the other is not": (
        "x, y = torch.ones(3), torch.ones(3)\n"
        "if len(str(x)) % 2:\n    x.to(device)\nelse:\n    y.to(device)\n"
        "print(x + y)\n",
        [False, False],
    ),
    "each is moved under a condition of its own": (
        "x, y = torch.ones(3), torch.ones(3)\n"
        "if len(str(x)) % 2:\n    x.to(device)\n"
        "if len(str(x)) % 3:\n    y.to(device)\n"
        "print(x + y)\n",
        [False, False],
    ),
    "what it meets is moved where something else is": (
        "t, x, y = torch.ones(3), torch.ones(3), torch.ones(3)\n"
        "t.to(device)\n"
        "if t.is_cuda:\n    y = y.cuda()\n"
        "x.to(device)\n"
        "print(x + y)\n",
        [False, False],
    ),
    "what it meets is moved where there is an accelerator": (
        "x, y = torch.ones(3), torch.ones(3)\n"
        "if torch.cuda.is_available():\n    y = y.cuda()\n"
        "x.to(device)\n"
        "print(x + y)\n",
        [True],
    ),
    "both are moved on the same path": (
        "x, y = torch.ones(3), torch.ones(3)\n"
        "if len(str(x)) % 2:\n    x.to(device)\n    y.to(device)\n"
        "print(x + y)\n",
        [True, True],
    ),
    "what is done depends on where it is": (
        "x, y, z = torch.ones(3), torch.ones(3), torch.ones(3)\n"
        "x.to(device)\n"
        "if x.is_cuda:\n    y = y.cuda()\n"
        "print(y + z)\n",
        [False],
    ),
    "it is where it was if that is not asked": (
        "x, y, z = torch.ones(3), torch.ones(3), torch.ones(3)\nx.to(device)\nprint(y + z, x)\n",
        [True],
    ),
    "an object moves itself to where it would be": (
        "class Store:\n"
        "    def __init__(self, value):\n        self.value = value\n"
        "    def to(self, where):\n        self.value = self.value.to(where)\n"
        "x, y = torch.ones(3), torch.ones(3)\n"
        "x.to(device)\n"
        "store = Store(torch.ones(3))\n"
        "store.to(x.device)\n"
        "print(store.value + y)\n",
        [False],
    ),
    "it meets what a loop has lost": (
        "x, z = torch.ones(3), torch.ones(3)\n"
        "x.to(device)\n"
        "for y in (z, torch.zeros(3)):\n    y.to(device)\n    print(x + y)\n",
        [False, False],
    ),
    "a 0-dim tensor that its object has moved meets what a function loses": (
        "def lose(t: torch.Tensor, where):\n    t.to(where)\n    return t\n\n\n"
        "class Store:\n"
        "    def __init__(self, value):\n        self.value = value\n"
        "    def to(self, where):\n        self.value = self.value.to(where)\n"
        "x, y = torch.ones(3).to(device), torch.ones(3).sum()\n"
        "x = lose(x, 'cpu')\n"
        "store = Store(y)\n"
        "store.to('cpu')\n"
        "store.value.to(device)\n"
        "print(store.value + x)\n",
        [False, False],
    ),
    "it comes back from a function that loses a move": (
        "def lose(t: torch.Tensor, where):\n    t.to(where)\n    return t\n\n\n"
        "x, y = torch.ones(3), torch.ones(3)\n"
        "x.to(device)\n"
        "x = lose(x, device)\n"
        "print(x + y)\n",
        [False, False],
    ),
}


def _safe(code: str, program: str) -> bool | None:
    """Whether the fix of the only finding is safe; None where there is none."""
    settings = Settings(selections=(Selection(select=(code,)),))
    (finding,) = lint(_HEAD + program, "a.py", settings)
    return finding.fix.safe if finding.fix is not None else None


@pytest.mark.parametrize(
    ("move", "then", "safe"),
    [
        (".to(device)", "pass", True),
        (".to(device=device, non_blocking=True)", "pass", True),
        (".to(device)", "self.w = nn.Parameter(x)", True),
        (".to(device)", "self.w.data.mul_(0.9)", True),
        # A registered Parameter refuses what a plain tensor allows.
        (".to(device)", "self.w = x.mean(0)", None),
        (".to(device)", "self.w += x.mean(0)", None),
        (".to(device)", "self.w = other", False),
        (".to(device)", "self.w.mul_(0.9)", False),
        (".to(device)", "self.w[0] = 1.0", False),
        # A cast copies on the cpu as well.
        (".to(device, torch.float64)", "pass", False),
        (".half()", "pass", False),
    ],
)
def test_parameter_lost_by_move(move: str, then: str, safe: bool | None) -> None:
    assert _safe("DEV103", _LOST.format(move=move, then=then)) is safe


@pytest.mark.parametrize(
    ("before", "made", "safe"),
    [
        ("", "torch.randn(3, requires_grad=True).to(device)", True),
        ("", "torch.randn(3).requires_grad_().to(device)", True),
        ("", "nn.Parameter(torch.zeros(3)).to(device)", True),
        ("", "nn.Parameter(torch.zeros(3)).to(device, torch.float64)", False),
        ("x = torch.randn(3)", "x.requires_grad_().to(device)", False),  # x.grad may be read
        ("g = torch.Generator()", "torch.randn(3, generator=g, requires_grad=True).to(device)", None),
        ("", "torch.randn(3, pin_memory=True, requires_grad=True).to(device)", None),
    ],
)
def test_leaf_lost_by_move(before: str, made: str, safe: bool | None) -> None:
    assert _safe("DEV104", _LEAF.format(before=before, made=made)) is safe


@pytest.mark.parametrize(
    ("read", "safe"),
    [
        ("y.numpy()", True),
        ("np.asarray(y.detach())", True),
        ("np.asarray(y)", False),  # None has no `.cpu()`
    ],
)
def test_numpy_on_device(read: str, safe: bool) -> None:
    assert _safe("DEV407", _READ.format(read=read)) is safe


@pytest.mark.parametrize(
    ("made", "safe"),
    [
        ("torch.zeros(3).to(device)", True),
        ("torch.arange(10).to(device)", True),
        ("torch.arange(10, dtype=torch.long).to(device)", True),
        ("torch.arange(0, 1, 0.1).to(device)", False),  # rounded otherwise on a device
        ("torch.randn(3).to(device)", False),
    ],
)
def test_create_then_move(made: str, safe: bool) -> None:
    assert _safe("DEV503", f"x = {made}\n") is safe


@pytest.mark.parametrize(
    ("code", "program"),
    [
        # Everything else may be on the GPU that is not `where`.
        ("DEV203", "def f(n: int, where: torch.device):\n    return torch.cuda.FloatTensor(n).to(where)\n"),
        # What is registered is trained, and put into evaluation mode.
        (
            "DEV405",
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.layers = [nn.Linear(3, 3), nn.Linear(3, 3)]\n\n"
            "    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n"
            "        return x\n",
        ),
    ],
)
def test_never_safe(code: str, program: str) -> None:
    assert _safe(code, program) is False


@pytest.mark.parametrize(
    ("condition", "safe"),
    [("not torch.cuda.is_available()", None), ("torch.cuda.is_available()", True)],
)
def test_what_is_moved_where_there_is_no_accelerator_stays_on_the_cpu(
    condition: str, safe: bool | None
) -> None:
    moved = f"if {condition}:\n    y = y.to(device)\n"
    program = f"x, y = torch.ones(3), torch.ones(3)\n{moved}x.to(device)\nprint(x + y)\n"
    assert _safe("DEV101", program) is safe


@pytest.mark.parametrize(
    "branch", ["", "if y.is_cuda:\n    y = y.cuda()\n", "if not y.is_cuda:\n    y = y.cpu()\n"]
)
def test_a_condition_that_always_comes_out_the_same_makes_no_fix_safe(branch: str) -> None:
    program = f"x, y = torch.ones(3), torch.ones(3)\n{branch}x.to(device)\nprint(x + y)\n"
    assert _safe("DEV101", program) is None


@pytest.mark.parametrize("what", _LOST_MOVES)
def test_lost_moves(what: str) -> None:
    program, expected = _LOST_MOVES[what]
    settings = Settings(selections=(Selection(select=("DEV101",)),))
    found = lint(_HEAD + program, "a.py", settings)
    assert [finding.fix is not None and finding.fix.safe for finding in found] == expected
