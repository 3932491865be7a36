"""Which fixes of a discarded move or cast are safe: those after which nothing fails that ran before."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from devlint.config.settings import Selection, Settings
from devlint.core.events import Move
from devlint.infer import infer
from devlint.run.fix import fix
from devlint.run.lint import lint

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERYTHING = Settings(selections=(Selection(select=("ALL",)),))
DISCARDED = Settings(selections=(Selection(select=("DEV101",)),))
HEAD = """\
import torch
import numpy as np
from types import SimpleNamespace
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.ones(3)
y = torch.zeros(3, device=device)
z = torch.zeros(3, device=device)
"""

SAFE = [
    "x.to(device)\nprint(x + y)",
    "x.to(device)\nprint(x.sum())",
    "def f():\n    t = torch.ones(3)\n    t.to(device)\n    return t\nprint(f() + y)",
    "y.cpu()\nprint(np.sum(y.numpy()))",
    "w = torch.ones(3)\nx.to(device)\nw.to(device)\nprint(x + w)",
]
UNSAFE = [
    # An item has another name as well, under which it stays.
    "pair = [x, y]\npair[0].to(device)\nprint(pair[0] + pair[1])",
    "if x.is_cuda:\n    y = x\nfor part in [x, y]:\n    part.to(device)\n    print(part + x)",
    "x.double()\nprint(x)",
    "x.to(device, torch.float64)",
    "x.to(y)",
    "x.to(device)\nprint(x.numpy())",
    "x.to(device)\nplot(x)",
    "x.to(device)\nprint(x + unknown)",
    "x.requires_grad_()\nx.to(device)\nx.sum().backward()\nprint(x.grad.sum())",
    "w = torch.ones(3, requires_grad=True)\nw.to(device)\nprint(w)",
    "def f(t: torch.Tensor, factor):\n    t.to(device)\n    return t * factor",
    "def f(t: torch.Tensor):\n    t.to(device)\n    return t",
    "def f(o):\n    o.x.to(device)\n    return torch.relu(o.x)\nf(SimpleNamespace(x=x))",
    "def f(boxes):\n    boxes.to(device)\n    return boxes.unsqueeze(0)\nf(x)",
]
NO_FIX = [
    "s = torch.tensor(2.0)\ndef f(t: torch.Tensor, where):\n    t.to(where)\n    return t\n"
    "print(torch.cat([s.reshape(-1), f(x, device).reshape(-1)]))",
    "s = torch.tensor(2.0)\ns.to(device)\ny.cpu()\nprint(s + y)",
    "if device.type == 'cuda':\n    x.to(device)\nelse:\n    y = y.cpu()\n"
    "m = torch.nn.Linear(3, 3)\nm.to(x.device)\nm(torch.ones(3))",
    "y.cpu()\nprint(y + z)",
    "a = y\ny.cpu()\nprint(a + y)",
    "w = torch.ones(3)\nx.to(device)\nprint(x + w)",
    "pair = [y, z]\npair[1].cpu()\nprint(pair[0] + pair[1])",
    "pair = (x, y)\npair[0].to(device)\nprint(pair[0] + pair[1])",
    "def f():\n    x.to(device)\n    return x + y",
]


@pytest.mark.parametrize(
    ("body", "safe"),
    [
        *((body, True) for body in SAFE),
        *((body, False) for body in UNSAFE),
        *((body, None) for body in NO_FIX),
    ],
)
def test_safety(body: str, safe: bool | None) -> None:
    found = [f for f in lint(HEAD + body + "\n", "a.py", EVERYTHING) if f.code in ("DEV101", "DEV105")]
    assert found
    assert {finding.fix and finding.fix.safe for finding in found} == {safe}


def test_a_literal_that_is_an_operand_is_replaced_in_parentheses() -> None:
    before = 'import torch\nmodel.to("cuda" if big else None)\n'
    text = fix(before.encode(), "a.py", EVERYTHING, unsafe=True).raw.decode()
    assert 'model.to(("cuda" if torch.cuda.is_available() else "cpu") if big else None)' in text


def test_torch_that_only_type_checkers_import_is_not_at_hand() -> None:
    head = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n"
    (finding,) = lint(f'{head}def f(model):\n    model.to("cuda")\n', "a.py", EVERYTHING)
    assert finding.code == "DEV202"
    assert finding.fix is None


def test_a_quoted_receiver_keeps_its_parentheses() -> None:
    (finding,) = lint(HEAD + "(x + x).to(device)\n", "a.py", DISCARDED)
    assert "`(x + x).to()`" in finding.message


def test_the_program_is_not_searched_for_each_move(monkeypatch: pytest.MonkeyPatch) -> None:
    walk, seen = ast.walk, 0

    def counted(node: ast.AST) -> Iterator[ast.AST]:
        nonlocal seen
        for each in walk(node):
            seen += 1
            yield each

    def nodes(moves: int) -> int:
        nonlocal seen
        seen = 0
        events = infer(HEAD + "x.to(device)\n" * moves + "print(x)\n").events
        assert sum(isinstance(each, Move) for each in events) == moves
        return seen

    monkeypatch.setattr(ast, "walk", counted)
    assert nodes(160) < 3 * nodes(80)


def test_branches_are_not_taken_for_moves() -> None:
    moved = (
        "if len(x) % 2:\n    y = y.cpu()\n    x = x + y\n"
        "if torch.cuda.is_available():\n    y.to(device)\ny.to(device)\n"
    )
    assert [finding.code for finding in lint(HEAD + moved, "a.py", DISCARDED)] == ["DEV101", "DEV101"]


def test_what_a_helper_may_sum_does_not_make_a_fix_safe() -> None:
    program = (
        "import torch\n\n"
        "def total(a, b):\n    return (a + b).sum()\n\n"
        'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
        "weights = torch.ones(3).to(device)\n"
        "scores = torch.full((3,), 2.0, device=device)\n"
        'scores.to("cpu")\n'
        "print(total(scores, weights))\n"
    )
    (finding,) = lint(program.encode(), "a.py", DISCARDED)
    assert finding.code == "DEV101"
    assert finding.fix is None or not finding.fix.safe


def test_what_an_item_is_taken_from_is_no_safer_than_the_item() -> None:
    made = "w = torch.ones(3)\nx.to(device)\npair = {'a': w, 'b': x}\n"
    body = f"{made}pair['b'].to(device)\nprint(pair['a'] + pair['b'])"
    found = lint(HEAD + body + "\n", "a.py", DISCARDED)
    assert len(found) == 2
    assert not any(finding.fix.safe for finding in found if finding.fix is not None)
