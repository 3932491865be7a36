"""Twice the code costs twice the work: counted in calls of functions, as seconds are no measure in a test."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from types import FrameType

import pytest

from devlint.commands.cli import main
from devlint.config.settings import Selection, Settings
from devlint.project.mentions import Mentions
from devlint.project.resolve import Layout
from devlint.rehearsal.program import Company
from devlint.rehearsal.prospects import Prospects
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


def _derived(count: int) -> str:
    """Each class derives from the one before it."""
    body = "    def forward(self, x):\n        x.cuda()\n        return x\n"
    return f"class C0(nn.Module):\n{body}" + _times(count, f"class C@(C#):\n{body}")


def _elifs(count: int) -> str:
    first = "def f(k, x):\n    if k == 0:\n        x = x.cuda()\n"
    return first + _times(count, "    elif k == @:\n        x = x.to('cuda:#')\n") + "    return x\n"


def _ifs_in_loop(count: int) -> str:
    made = _times(count, "    v# = torch.ones(3)\n")
    moved = _times(count, "        if i == #:\n            v# = v#.cuda()\n")
    return f"def f(k):\n{made}    for i in k:\n{moved}"


def _cases(count: int) -> str:
    cases = _times(count, "        case #:\n            x.to(d)\n")
    return f"def f(k, x: torch.Tensor, d):\n    match k:\n{cases}"


def _wide(count: int) -> str:
    """A class with many modules, and as many methods."""
    made = _times(count, "        self.a# = nn.Linear(1, 1).cuda()\n")
    used = _times(count, "    def m#(self, x):\n        return self.a#(x)\n")
    return f"class N(nn.Module):\n    def __init__(self):\n        super().__init__()\n{made}{used}"


def _ring(count: int) -> str:
    """Functions that call each other in a ring."""
    calls = _times(count, "def f#(x):\n    x.cuda()\n    return f@(x)\n")
    return f"{calls}def f{count}(x):\n    return f0(x)\n"


def _nested_loops(count: int) -> str:
    loops = "".join(f"{'    ' * (depth + 1)}for i{depth} in k:\n" for depth in range(count))
    return f"def f(x, k):\n{loops}{'    ' * (count + 1)}x = x.cuda()\n"


def _nested_ifs(count: int) -> str:
    ifs = "".join(f"{'    ' * (depth + 1)}if k{depth}:\n" for depth in range(count))
    return f"def f(x):\n{ifs}{'    ' * (count + 1)}x = x.cuda()\n    return x\n"


def _handlers(count: int) -> str:
    handlers = _times(count, "    except E#:\n        x.to(d)\n")
    return f"def f(x: torch.Tensor, d):\n    try:\n        x.cuda()\n{handlers}"


def _assigning_methods(count: int) -> str:
    methods = _times(count, "    def m#(self, x):\n        self.a = torch.ones(#).cuda()\n")
    return f"class N(nn.Module):\n{methods}"


def _list_that_grows(count: int) -> str:
    grows = _times(count, "    if k > #:\n        ys = ys + [torch.ones(#)]\n")
    return f"def f(k):\n    ys = []\n{grows}    return torch.stack(ys).cuda()\n"


def _namesakes(count: int) -> str:
    """Classes that have attributes of the same names, some of which stay behind."""
    agent = (
        "class Agent#:\n    def __init__(self, device, states):\n"
        "        self.net = nn.Linear(4, 4).to(device)\n        self.target = nn.Linear(4, 4)\n"
        "    def act(self, x):\n        return self.target(self.net(x.to('cuda')))\n"
    )
    net = (
        "class Net#(nn.Module):\n    def __init__(self, size):\n        super().__init__()\n"
        "        self.mask = torch.ones(size)\n        self.parts = [nn.Linear(4, 4)]\n"
        "    def forward(self, x):\n        return self.parts[0](x) * self.mask\n"
    )
    return _times(count, agent + net + "def run#(x):\n    return Net#(4).cuda()(x.cuda())\n")


def _keeping(count: int) -> str:
    """A class that is no module, which keeps what it is given in attributes of its own."""
    kept = _times(count, "        self.a# = cfg.a#\n")
    used = _times(count, "    def m#(self, x):\n        return self.a#.step(x.cuda())\n")
    return f"class Policy:\n    def __init__(self, cfg):\n{kept}{used}"


PROGRAMS: dict[str, tuple[Callable[[int], str], int]] = {
    "helpers": (_helpers, 12),
    "classes that derive from each other": (_derived, 50),
    "elif": (_elifs, 50),
    "ifs in a loop": (_ifs_in_loop, 50),
    "cases with findings": (_cases, 50),
    "modules and methods of one class": (_wide, 50),
    "classes with attributes of the same names": (_namesakes, 25),
    "a ring of functions": (_ring, 20),
    "nested loops": (_nested_loops, 4),
    "tuples that double": (lambda count: "y = (torch.ones(3),)\n" + _times(count, "y = y + y\n"), 40),
    "loops that rebind": (
        lambda count: "def f(xs, d):\n" + _times(count, "    for x in xs:\n        x = x.to(d)\n"),
        50,
    ),
    "objects that are moved": (
        lambda count: "d = 'cuda'\n" + _times(count, "m# = nn.Linear(1, 1)\nm#.to(d)\n"),
        50,
    ),
    "optimizers": (
        lambda count: _times(
            count, "m# = nn.Linear(1, 1)\no# = torch.optim.SGD(m#.parameters())\nm#.cuda()\n"
        ),
        25,
    ),
    "statements on one line": (lambda count: "x = torch.ones(3)\n" + _times(count, "x.cuda(); ") + "\n", 50),
    "calls of a helper": (
        lambda count: "def f(x):\n    return x.cuda()\n" + _times(count, "y# = f(torch.ones(3))\n"),
        50,
    ),
    "comprehensions": (
        lambda count: "def f(xs):\n" + _times(count, "    y# = [x.cuda() for x in xs]\n"),
        50,
    ),
    "nested ifs": (_nested_ifs, 10),
    "handlers with findings": (_handlers, 30),
    "methods that assign one attribute": (_assigning_methods, 25),
    "a list that grows": (_list_that_grows, 30),
    "pairs of pairs": (lambda count: "y = torch.ones(3)\n" + _times(count, "y = (y, y)\n"), 40),
    "a chain of operands": (
        lambda count: "def f(x: torch.Tensor):\n    return " + " < ".join(["x"] * count) + "\n",
        50,
    ),
    "arguments": (
        lambda count: "def f(x: torch.Tensor, d):\n    g(" + "x.to(d), " * count + ")\n",
        50,
    ),
    "values in a display": (
        lambda count: "xs = [" + "torch.ones(3, device='cuda'), " * count + "]\n",
        60,
    ),
    "suppressed findings": (
        lambda count: "def f(x: torch.Tensor, d):\n" + _times(count, "    x.to(d)  # noqa: DEV101\n"),
        50,
    ),
    "suppressions that are not needed": (
        lambda count: "x = torch.ones(3)\nx.cuda()\n" + _times(count, "y = #  # noqa: DEV101\n"),
        50,
    ),
    "comments on one line": (
        lambda count: "x = torch.ones(3)\nx.cuda()  # DEVICE " + "noqa # devlint: ignore[ " * count + "\n",
        50,
    ),
    "classes": (
        lambda count: _times(count, "class C#(nn.Module):\n    def forward(self, x):\n        x.cuda()\n"),
        50,
    ),
    "attributes of a class that is no module": (_keeping, 25),
    "durations": (
        lambda count: (
            "import time\ndef f(x):\n    x = x.cuda()\n"
            + _times(count, "    t# = time.time()\n    x = torch.mm(x, x)\n    print(time.time() - t#)\n")
        ),
        25,
    ),
    "meetings in one method": (
        lambda count: (
            "class Net(nn.Module):\n    def mix(self, x: torch.Tensor):\n"
            + _times(count, "        y# = x + torch.ones(3)\n")
            + "        return x\n\ndef main(device):\n    net = Net().to(device)\n"
        ),
        50,
    ),
    "literals to choose from": (
        lambda count: "def f(k, x):\n" + _times(count, "    d# = 'cuda' if k else 'cpu'\n    x = x.to(d#)\n"),
        50,
    ),
}
"""How each program is made, and the smallest size to look at."""


def work(raw: bytes, path: str = "grown.py") -> int:
    """How many functions are called to lint a program."""
    return calls_of(lambda: lint(raw, path, EVERYTHING))


def calls_of(do: Callable[[], object]) -> int:
    """How many functions are called to do something."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    gc.disable()
    sys.setprofile(count)
    try:
        do()
    finally:
        sys.setprofile(None)
        gc.enable()
    return calls


@pytest.mark.parametrize("name", PROGRAMS)
def test_twice_the_code_is_twice_the_work(name: str) -> None:
    make, size = PROGRAMS[name]
    lint(b"import torch\nx = torch.ones(3)\nx.cuda()\n", "first.py", EVERYTHING)  # imports, and what is kept
    head = "import torch\nfrom torch import nn\n"
    once, twice, four_times = (work((head + make(size * factor)).encode()) for factor in (1, 2, 4))
    assert max(twice / once, four_times / twice) <= _MOST, (once, twice, four_times)


def _notebook(count: int) -> bytes:
    """One cell with a magic, and lines that a magic could go on over."""
    source = "%matplotlib inline\nimport torch\ntorch.ones(3).cuda()\n" + "y = (1,\n" * count + ")" * count
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": source,
    }
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book).encode()


def test_a_cell_with_a_magic_is_read_once() -> None:
    lint(_notebook(1), "first.ipynb", EVERYTHING)
    once, twice, four_times = (work(_notebook(40 * factor), "grown.ipynb") for factor in (1, 2, 4))
    assert max(twice / once, four_times / twice) <= _MOST, (once, twice, four_times)


@pytest.mark.parametrize("flags", [["--add-noqa"], ["--fix", "--diff"]], ids=" ".join)
def test_what_rewrites_files_does_twice_the_work_for_twice_the_findings(
    flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "grown.py"
    arguments = ["--isolated", "--no-cache", "--select", "DEV101", "-q", *flags, path.name]

    def rewritten(count: int) -> int:
        head = "import torch  # noqa: E501\n\n\ndef f(x: torch.Tensor, d):\n"
        path.write_text(head + "    x.to(d)\n" * count)
        calls = calls_of(lambda: main(arguments))
        after = capsys.readouterr().out if "--diff" in flags else path.read_text()
        assert after.count("+    x = x.to(d)" if "--diff" in flags else "# noqa: DEV101") == count
        return calls

    rewritten(1)  # imports, and what is kept
    once, twice, four_times = (rewritten(30 * factor) for factor in (1, 2, 4))
    assert max(twice / once, four_times / twice) <= _MOST, (once, twice, four_times)


@pytest.mark.parametrize(
    "text",
    [
        "def f#(x): return f@(x)\n",
        "class C#(C@):\n    def f(self, x): return f(x)\n",
        "def f#(x): return f@(f0(x))\n",
    ],
    ids=["chain", "bases", "circle"],
)
def test_twice_the_code_is_twice_the_work_to_find_what_to_try(text: str, tmp_path: Path) -> None:
    def calls(count: int) -> int:
        path = tmp_path / f"main{count}.py"
        path.write_text(_times(count, text) + f"def f{count}(x): return x\n")
        prospects = Prospects(lambda dotted, importer: None, lambda file: Path(file).read_text())
        return calls_of(lambda: prospects.of(str(path)))

    assert calls(400) < _MOST * calls(200)


def test_twice_the_files_and_names_are_twice_the_work_to_find_who_has_which() -> None:
    def found(count: int) -> int:
        mentions = Mentions(map(str, range(count)), lambda path: f"def f{path}(x):\n    return g{path}(x)\n")
        return calls_of(lambda: [mentions.of(f"g{name}") for name in range(count)])

    once, twice, four_times = (found(100 * factor) for factor in (1, 2, 4))
    assert max(twice / once, four_times / twice) <= _MOST, (once, twice, four_times)


HOSTILE = {
    "texts": "x = 'x' * 999999999\ny = b'x' * 999999999\nz = '%999999999d' % 1\nw = '%*d' % (10**9, 1)\n"
    "v = f'{1:>999999999}'\nu = 'a' * 100\n" + "u = f'{u}{u}'\n" * 60,
    "numbers": "x = 10**10**10\ny = 1 << 10**12\nz = [0] * 10**12\nw = 0x"
    + ("f" * 9000 + "\n" + "w = w * w\n" * 50),
    "errors": "int(float('inf'))\nround(float('nan'))\n'a'.startswith(5)\n-'a'\n'a' % {}\nx = [1, 2][::0]\n"
    "for i in range(0, 5, 0): pass\nm = {}\nm.get(slice(1))\nm[1:2] = m[1:2]\nstr(0x" + "f" * 9000 + ")\n",
    "lists": "x = y = z = [1, 2]\n"
    + "x = x + x\ny = [*y, *y]\nz = [z, [z]]\n" * 60 + "for a in z: print(a)\n" * 9,
    "arguments": "import itertools\nx = [1]\ndef f(*a): return a\n"
    + "x = list(itertools.chain(x, x))\nx = f(*x, *x)\n" * 60,
    "trees": "import copy, torch\nx = (1, 2.0)\n" + "x = (x, x)\n" * 60
    + "y = copy.deepcopy(x)\ntorch.stack(x)\nfor b in torch.utils.data.DataLoader([x]): print(b)\n",
    "circles": "import torch, q\na = []\nb = []\na.append(a)\nb.append(b)\nc = a if input() else b\n"
    "torch.stack(a)\ntorch.tensor(a)\nx = {}\nx['a'] = x\nq.f(a, x)\ny = x if input() else dict(x)\n",
    "branches": "if input() == 'a':\n    v = 1\n"
    + "".join(f"elif input() == '{i}':\n    v{i} = 1\n" for i in range(900)),
    "classes": "class A: pass\nclass C0(A): pass\nclass D0(A): pass\n"
    + "".join(f"class C{i}(C{i - 1}, D{i - 1}): pass\nclass D{i}(C{i - 1}): pass\n" for i in range(1, 90))
    + "x = C89()\n" + "x.foo\n" * 90,
    "modules": "import q\nfrom torch import nn\nclass M(nn.Module):\n    def __init__(self, a, b):\n"
    "        super().__init__()\n        self.a = a\n        self.b = b\n"
    "m = M(nn.Linear(1, 1), nn.Linear(1, 1))\n"
    + "m = M(m, m)\n" * 90 + "m.cuda()\nx = m.state_dict()\nq.f(m)\n",
    "partials": "from functools import partial\np, q = print, print\n"
    + "p = partial(p, p)\nq = partial(q, q)\n" * 60 + "r = p if input() else q\n",
    "calls": "".join(f"def f{i}(x): return f{i + 1}(f{i + 1}(x))\n" for i in range(60))
    + "def f60(x): return x\nf0(1)\n",
}  # fmt: skip
"""Programs that would take all the memory and time there is, if anybody ran them, and some that fail."""
_MOST_CALLS = 3_000_000


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_would_take_for_ever_is_left_in_time(text: str, tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text(text)
    company = Company(Layout(), lambda file: Path(file).read_text())
    assert calls_of(lambda: company.rehearse(str(path), lazy=False)) < _MOST_CALLS
    assert company.rehearse(str(path), lazy=False) == ()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_would_take_for_ever_is_left_in_time_where_it_is_tried(text: str, tmp_path: Path) -> None:
    path = tmp_path / "library.py"
    path.write_text(f'def tried():\n    at = "cuda"\n{indent(text, "    ")}\n')
    company = Company(Layout(), lambda file: Path(file).read_text())
    assert calls_of(lambda: company.try_out(str(path))) < _MOST_CALLS
    assert company.try_out(str(path)) == ()
