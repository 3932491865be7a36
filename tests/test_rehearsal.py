"""A rehearsal goes through a program from where it starts, and tells what comes together and is apart."""

from __future__ import annotations

import ast
import gc
import re
import weakref
from pathlib import Path

import pytest

from devlint.config.settings import Selection, Settings
from devlint.finding import Severity
from devlint.infer.edited import MODULE
from devlint.match.registry import severities
from devlint.project.choices import Choices
from devlint.project.disk import project
from devlint.project.resolve import Layout
from devlint.rehearsal.program import Company
from devlint.rehearsal.shells import Shell, body
from devlint.run.lint import lint
from devlint.testing import marks

ELSEWHERE = tuple(code for code, severity in severities().items() if severity is Severity.NOTE)
"""Rules that say what is slow, not what is wrong: they are tried on their own programs alone."""
FIXTURES = Path(__file__).parents[1] / "fixtures"
HEAD = """\
import copy
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 4).to(device)
x = torch.ones(2, 4, device=device)
"""

PROGRAMS = {
    "what is stored at an index that is elsewhere": """
rows = net(x).argmax(dim=1)
seen = torch.zeros(4)
seen[rows] = 1.0
kept = torch.zeros(2, 4)  # here
kept[rows > 0] = net(x)[rows > 0]
kept = torch.zeros(2, 4, device=device)
kept[rows.cpu() > 0] = net(x)[rows > 0]
""",
    "what a method of another object returns": """
class Memory:
    def __init__(self):
        self.rows = []
    def push(self, row):
        self.rows.append(row)
    def all(self):
        return torch.stack(self.rows)

memory = Memory()
memory.push(torch.zeros(4))  # here
print(net(memory.all()))
memory = Memory()
memory.push(torch.zeros(4, device=device))
print(net(memory.all()))
""",
    "a record of a class that is decorated with options": """
from dataclasses import dataclass

@dataclass(frozen=True)
class Grid:
    size: int
    device: torch.device = torch.device("cpu")

def rows(grid):
    return torch.ones(grid.size, 4, device=grid.device)

grid = Grid(size=2, device=device)
print(net(rows(grid)))
print(net(torch.ones(grid.size, 4)))  # here
""",
    "a default that a call leaves at None": """
def mask(size, device=None):
    return torch.ones(size, device=device)

print(x * mask(4))  # here
print(x * mask(4, device))
print(x * mask(4, x.device))
""",
    "a part of a batch in a closure": """
def stepping(model):
    def step(batch):
        given, wanted = batch
        return model(given.to(device)) - wanted  # here
    return step

step = stepping(net)
for batch in DataLoader(TensorDataset(torch.ones(4, 4), torch.ones(4, 4)), 2):
    step(batch)
    step([each.to(device) for each in batch])
""",
    "a copy of a model before it moves": """
model = nn.Linear(4, 4)
early = copy.deepcopy(model)  # here
model.to(device)
late = copy.deepcopy(model)
print(model(x) - early(x) - late(x))
""",
    "an index": """
table = torch.arange(8)  # here
index = torch.zeros(3, dtype=torch.long, device=device)
print(table[index])
print(table[index.cpu()], table.to(device)[index], table[0] * x)
""",
    "numbers and tensors without dimensions": """
scale = torch.tensor(2.0)
print(x * scale, x * 3, x + torch.ones(3).sum(), x * torch.ones(4)[0])
print(x * torch.ones(4))  # here
""",
    "branches that nobody can tell apart": """
def choose(flag):
    mask = torch.ones(4)
    if flag:
        mask = mask.to(device)
    return mask
print(x * choose(bool(input())))
y = torch.ones(4)  # here
if input() == "y":
    print(x * y)
""",
    "a branch that is not taken": """
if not torch.cuda.is_available():
    print(x * torch.ones(4))
elif device.type == "cpu":
    print(x * torch.ones(4))
""",
    "what is caught": """
try:
    print(x * torch.ones(4))
except RuntimeError:
    print(x.cpu() * torch.ones(4))
""",
    "something unknown that may move what it is given": """
import elsewhere
model = nn.Linear(4, 4)
elsewhere.prepare(model)
print(model(x))
""",
    "properties, class methods and inheritance": """
class Base:
    size = 4
    @classmethod
    def made(cls):
        return cls()
    @property
    def mask(self):
        return torch.ones(self.size)  # here
class Derived(Base):
    def apply(self, x):
        return x * self.mask
Derived.made().apply(x)
""",
    "loops that are long, and functions that call themselves": """
def deep(n):
    return deep(n - 1) + 1 if n else 0
total = 0
for i in range(10**9):
    for j in range(10**9):
        total += deep(i)
while True:
    total += 1
    if total > 5:
        break
print(x * torch.ones(4))  # here
""",
    "generators and context managers": """
from contextlib import contextmanager
def rows():
    for _ in range(3):
        yield torch.ones(4)  # here
@contextmanager
def there():
    yield torch.ones(4, device=device)
for row in rows():
    print(x * row)
with there() as row:
    print(x * row)
""",
    "a default device": """
with torch.device(device):
    print(x * torch.ones(4))
print(x * torch.ones(4))  # here
""",
    "what wraps a model and brings its input there": """
wrapped = nn.DataParallel(nn.Linear(4, 4)).cuda()
print(wrapped(torch.ones(2, 4)))
print(wrapped.module(torch.ones(2, 4)))  # here
""",
    "arrays": """
import numpy as np
print(np.asarray(net(x)))  # here
print(np.asarray(net(x).cpu()), net(x).detach().cpu().numpy())
""",
    "a record that is moved by a method of its own": """
from dataclasses import dataclass
@dataclass
class Batch:
    x: torch.Tensor
    mask: torch.Tensor
    def to(self, device):
        return Batch(self.x.to(device), self.mask)
batch = Batch(torch.ones(2, 4), torch.ones(4)).to(device)  # here
print(net(batch.x) * batch.mask)
""",
    "data that says where it is": """
print(x * torch.tensor(net(x)), x * torch.as_tensor(x), x * torch.ones(4).type(torch.cuda.FloatTensor))
print(x * torch.ones(4).type_as(x), x * torch.add(x, 1, out=torch.zeros(0, device=device)))
rows = torch.zeros(0)
rows = torch.cat([rows.to(device), x])
""",
    "a function that another is chosen for": """
import functools
@functools.singledispatch
def place(value):
    return value
@place.register
def _(value: torch.Tensor):
    return value.to(device)
print(net(place(torch.ones(2, 4))))
""",
    "parameters by another name, and in containers": """
from torch.nn.parameter import Parameter
class Scales(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Parameter(torch.ones(4))
        self.more = nn.ParameterDict({"a": Parameter(torch.ones(4))})
    def forward(self, x):
        return x * self.one * self.more["a"]
scales = Scales().to(device)
print(scales(x))
""",
    "what a context manager does after its block": """
from contextlib import contextmanager
@contextmanager
def on_host(model):
    model.to(device)
    yield model
    model.cpu()
model = nn.Linear(4, 4)
with on_host(model) as there:
    print(there(x))
""",
    "a default type": """
torch.set_default_tensor_type(torch.cuda.FloatTensor)
print(x * torch.ones(4))
""",
    "what an array is given": """
import numpy as np
rows = np.zeros((2, 4))
rows[0] = x.cpu()
rows[0] += x  # here
rows[1]: object = x  # here
rows[1] += x.sum()
""",
    "where a result is put": """
room = torch.empty(4, device=device)
torch.mul(x, torch.tensor(2.0), out=room)
torch.mul(x, torch.ones(4), out=room)  # here
""",
    "the data of a weight": """
cell = nn.LSTMCell(4, 4)
cell.weight_hh.data = cell.weight_hh.data.to(device)
print(cell(x))
""",
    "an option that has a default": """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
parser.add_argument("--host", default="cpu", choices=["cpu"])
parser.add_argument("--asked-for", default="cpu")
args = parser.parse_args()
print(x * torch.ones(4, device=args.device))
print(x * torch.ones(4, device=args.host))  # here
print(x * torch.ones(4, device=args.asked_for))
""",
    "the name of a device that is put together": """
rank = 0
print(x * torch.ones(4, device=f"cuda:{rank}"), x * torch.ones(4, device="cuda:%d" % rank))
print(x * torch.ones(4, device=f"{'cpu'}"))  # here
print(x * torch.ones(4, device=f"{'cpu':>9}"))
""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_what_is_marked_is_told_and_nothing_else(text: str, tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text(HEAD + text)
    rows = (HEAD + text).splitlines()
    wanted = {number for number, row in enumerate(rows, 1) if re.search(r"# here$", row)}
    met = Company(Layout(), lambda file: Path(file).read_text()).rehearse(str(path), lazy=False)
    assert {each.home.at[0] for each in met} == wanted


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("DEV???/*.py")), ids=lambda path: path.stem)
def test_programs_show_nothing_of_fixtures_that_is_not_marked(path: Path, tmp_path: Path) -> None:
    """What is marked `# shown` besides is seen only where the program is gone through."""
    own = tmp_path / path.name
    own.write_bytes(path.read_bytes())
    settings = Settings(selections=(Selection(select=("ALL",), ignore=ELSEWHERE),))
    found = {
        (item.start.row, item.code) for item in lint(own.read_bytes(), str(own), settings, project=project())
    }
    rows = enumerate(path.read_text().splitlines(), 1)
    shown = {(row, code) for row, line in rows for code in re.findall(r"# shown (DEV\d+)$", line)}
    assert shown <= found
    assert found <= shown | {(mark.row, mark.code) for mark in marks(path)}


FILES = {
    "main.py": "from pieces.nets import build\nfrom pieces import place\nprint(build()(place()))\n",
    "pieces/__init__.py": "import torch\n\n\ndef place():\n    return torch.ones(2, device='cuda')\n",
    "pieces/registry.py": "KNOWN = {}\n\n\ndef known(cls):\n    KNOWN[cls.__name__] = cls\n    return cls\n",
    "pieces/nets.py": (
        "from . import layers\nfrom .registry import KNOWN\n\n\ndef build():\n    return KNOWN['Net']()\n"
    ),
    "pieces/layers.py": (
        "import torch\nfrom .registry import known\n\n\n@known\nclass Net(torch.nn.Module):\n"
        "    def forward(self, x):\n        return x * torch.ones(2)\n"
    ),
}


@pytest.mark.parametrize(("lazy", "found"), [(False, {"layers.py"}), (True, set())])
def test_a_registry_is_filled_by_what_is_imported(lazy: bool, found: set[str], tmp_path: Path) -> None:
    """What is imported when it is used is not there for who looks it up by a name."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    met = Company(Layout(), lambda file: Path(file).read_text()).rehearse(str(tmp_path / "main.py"), lazy)
    assert {Path(each.home.path).name for each in met} == found


STARRED = {
    "net.py": (
        "import torch\nfrom pieces import *\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.layer = torch.nn.Linear(2, 2)\n\n"
        "    def forward(self, x):\n        return self.layer(x) * mask(len(x))\n"
    ),
    "pieces/__init__.py": "from .first import *\nfrom .last import *\nfrom .other import *\n",
    "pieces/first.py": "import torch\n\n\ndef mask(size):\n    return torch.ones(size, device='cuda')\n",
    "pieces/last.py": "import torch\nfrom . import *\n\n\ndef mask(size):\n    return torch.ones(size)\n",
    "pieces/other.py": "import torch\n\nmasks = torch.ones(2)\n",
}


ODD = """\
def one(): return 1
def two(
    x="\u00e4",
): return x; y = 2
class Deep:
\tclass Deeper:
\t\t@property
\t\tdef given(self):
\t\t\t# before
\t\t\t@staticmethod
\t\t\tdef inner(): yield 1
\t\t\treturn "\u00e4", inner; x = 3
async def three():
  '''says
more
'''
  await one()
  if x: \\
    return

"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_a_function_does_is_read_as_it_stands(end: str) -> None:
    text = ODD.replace("\n", end) + "def last():" + end + "    return 4"
    shell = Shell(text)
    for _ in range(2):  # what was let go of is read again
        lean = shell.size
        for node in ast.walk(shell.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body(node)
        assert lean < shell.size == len(text)
        whole, read = (ast.dump(each, include_attributes=True) for each in (ast.parse(text), shell.tree))
        assert read == whole
        shell.close()
        assert shell.size == lean


def test_a_name_is_looked_for_in_files_that_can_have_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    parsed: list[str] = []

    def read(text: str) -> Shell:
        parsed.append(text)
        return Shell(text)

    monkeypatch.setattr("devlint.rehearsal.program._shell", read)
    for name, text in STARRED.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    company = Company(Layout(), lambda file: Path(file).read_text())
    (met,) = company.try_out(str(tmp_path / "net.py"))
    assert (Path(met.here.path).name, met.here.at[0]) == ("net.py", 11)
    assert STARRED["pieces/last.py"] in parsed
    assert {STARRED["pieces/first.py"], STARRED["pieces/other.py"]}.isdisjoint(parsed)


MAY_BE_MODULE = """\
import abc

import torch
from zoo import Model
from torch import nn


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 4)

    def forward(self, x):
        return self.words(torch.zeros(2, dtype=torch.long).cuda()) + x


class Outer({base}):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def {method}(self, x):
        return self.inner(x)
"""


@pytest.mark.parametrize(
    ("base", "method", "found"),
    [
        ("object", "forward", 1),
        ("Model", "run", 0),
        ("abc.ABC", "run", 1),
        ("Model", "forward", 0),
        ("nn.Module", "forward", 0),
    ],
)
def test_what_may_be_a_module_may_be_moved(base: str, method: str, found: int, tmp_path: Path) -> None:
    """Only who knows what a class derives from can say that nothing moves its parts."""
    path = tmp_path / "net.py"
    path.write_text(MAY_BE_MODULE.format(base=base, method=method))
    company = Company(Layout(), lambda file: Path(file).read_text())
    assert len(company.try_out(str(path))) == found


def test_files_that_import_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("from two import *\nimport torch\nx = torch.ones(2)\nimport two\n")
    (tmp_path / "two.py").write_text("from one import *\nimport one\nprint(one.x.cuda() * one.x)\n")
    company = Company(Layout(), lambda file: Path(file).read_text())
    for name in ("one.py", "two.py"):
        met = company.rehearse(str(tmp_path / name), lazy=False)
        assert {(Path(each.here.path).name, each.here.at[0]) for each in met} == {("two.py", 3)}


def test_few_files_are_kept_and_programs_that_stand_are_not_gone_through_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("devlint.rehearsal.program._MAX_CHARACTERS", 100)
    parsed: list[weakref.ref[ast.Module]] = []

    def read(text: str) -> Shell:
        shell = Shell(text)
        parsed.append(weakref.ref(shell.tree))
        return shell

    monkeypatch.setattr("devlint.rehearsal.program._shell", read)
    paths = [tmp_path / f"main{number}.py" for number in range(20)]
    for path in paths:
        path.write_text(HEAD + "print(x * torch.ones(4))\n")
    company = Company(Layout(), lambda file: Path(file).read_text())
    for path in paths:
        assert company.rehearse(str(path), lazy=False)
    gc.collect()
    assert sum(tree() is not None for tree in parsed) <= 2
    for path in paths:
        company.reread(str(path))
    for path in paths:
        assert company.rehearse(str(path), lazy=False)
    assert len(parsed) == len(paths)


def test_what_goes_as_it_went_is_what_went_through_the_text_before(tmp_path: Path) -> None:
    """A program that nobody went through since is not known to go as it went."""
    idle = "def idle():\n    return 1\n"
    path = tmp_path / "main.py"
    company = Company(Layout(), lambda file: Path(file).read_text())

    def rehearsed(text: str, before: str | None, function: str = "idle") -> int:
        path.write_text(text)
        company.reread(str(path))
        if before is not None:
            company.followed(str(path), before, text, function)
        return len(company.rehearse(str(path), lazy=False))

    quiet, loud = HEAD + idle, HEAD + idle + "print(x * torch.ones(4))\n"
    assert rehearsed(quiet, None) == 0
    assert rehearsed(quiet.replace("1\n", "2\n"), quiet) == 0
    assert rehearsed(loud.replace("1\n", "3\n"), loud) == 1
    assert rehearsed(quiet, None) == 0
    assert rehearsed(loud, quiet, MODULE) == 1


@pytest.mark.parametrize("text", ["", "def f(:\n", "\x00", "x = 1\n" * 200_000, "(" * 500 + ")" * 500])
def test_what_cannot_be_gone_through_is_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text(text)
    assert Company(Layout(), lambda file: Path(file).read_text()).rehearse(str(path), lazy=False) == ()


def test_programs_are_looked_for_nearest_first_and_not_for_what_many_import(tmp_path: Path) -> None:
    main = 'if __name__ == "__main__":\n    pass\n'
    for name, text in {
        "far.py": f"import near\n{main}",
        "near.py": f"import used\n{main}",
        "used.py": "",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "common.py").write_text("")
    for number in range(30):
        (tmp_path / f"one{number}.py").write_text(f"import common\n{main}")

    def programs(name: str) -> list[str]:
        choices = Choices(Layout(), lambda file: Path(file).read_text())
        return [Path(each).name for each in choices.programs(str(tmp_path / name))[0]]

    assert programs("used.py") == ["near.py", "far.py"]
    assert programs("common.py") == []
    assert programs("one3.py") == ["one3.py"]
