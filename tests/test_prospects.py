"""What is tried of a file is told by texts: nothing that could show something is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint import knowledge
from devlint.knowledge import tensor, torch
from devlint.knowledge.table import entries, read
from devlint.project.choices import Choices
from devlint.project.resolve import Layout
from devlint.rehearsal.prospects import Prospects

HEAD = "import torch\nfrom torch import nn\n"
MODULE = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
RUN = "    def forward(self, x):\n"


def of(folder: Path, **files: str) -> set[str]:
    """What is worth trying of `main.py`, among some files."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    layout = Layout()

    def find(dotted: str, importer: str) -> tuple[str, str] | None:
        found = layout.find(dotted, importer)
        return (found.path, found.rest) if found is not None else None

    return set(Prospects(find, lambda path: Path(path).read_text()).of(str(folder / "main.py")))


@pytest.mark.parametrize(
    "body",
    [
        f"{RUN}        return x + torch.arange(3)\n",
        f"{RUN}        return x + torch.FloatTensor([1, 2])\n",
        f"{RUN}        return x + helper(3)\n",
        f"{RUN}        return x + SCALE\n",
        f"{RUN}        return x.cpu() + x\n",
        f"{RUN}        return x.to('cpu') + x\n",
        f"{RUN}        return x.to('cuda:1') + x\n",
        f"{RUN}        return x.numpy()\n",
        f"{RUN}        return onp.exp(x)\n",
        f"{RUN}        kind = torch.FloatTensor if x.ndim else None\n        return x + kind(3)\n",
        f"{RUN}        return nn.Linear(3, 3)(x)\n",
        f"{RUN}        return self.make()(x)\n    def make(self):\n        return nn.Linear(3, 3)\n",
        f"{RUN}        return self.make()(x)\n    def make(self):\n        return Layer()\n",
        f"        self.parts = [Layer()]\n{RUN}        for part in self.parts:\n            part(x)\n",
        f"        self.parts = {{}}\n{RUN}        return self.parts['a'](x)\n",
        f"        self.mask = torch.ones(3)\n{RUN}        return x * self.mask\n",
        f"        self.held = Holder()\n{RUN}        return self.held.layer(x)\n",
    ],
)
def test_a_module_that_may_leave_something_is_tried(body: str, tmp_path: Path) -> None:
    text = (
        f"{HEAD}import numpy as onp\nSCALE = torch.ones(3)\n\n\ndef helper(n):\n    return torch.ones(n)\n\n"
        "class Layer(nn.Module):\n    pass\n\n\n"
        "class Holder:\n    def __init__(self):\n        self.layer = nn.Linear(3, 3)\n\n\n"
    )
    assert "Net" in of(tmp_path, main=text + MODULE + body)


@pytest.mark.parametrize(
    "body",
    [
        f"        self.layer = nn.Linear(3, 3)\n{RUN}        return self.layer(x)\n",
        f"        self.w = nn.Parameter(torch.ones(3))\n{RUN}        return x * self.w\n",
        f"        self.register_buffer('w', torch.ones(3))\n{RUN}        return x * self.w\n",
        f"        self.sizes = [3, 4]\n{RUN}        return x\n",
        f"{RUN}        return x.new_zeros(3) if x.device.type == 'cuda' else torch.zeros_like(x)\n",
        f"        self.make()\n{RUN}        return x\n    def make(self):\n        self.a = nn.ReLU()\n",
    ],
)
def test_a_module_that_leaves_nothing_is_not_tried(body: str, tmp_path: Path) -> None:
    assert of(tmp_path, main=HEAD + MODULE + body) == set()


def test_a_function_is_tried_where_something_names_an_accelerator(tmp_path: Path) -> None:
    text = (
        "from place import there\nimport place as p\nfrom star import *\n"
        "def one(x): return x.to(there())\n"
        "def two(x): return one(x)\n"
        "def three(x): return p.there()\n"
        "def four(x): return starry(x)\n"
        "def five(x): return x + 1\n"
        "def six(x):\n    from place import there as late\n    return late()\n"
    )
    place = "from deeper import place\ndef there(): return place()\n"
    deeper = "import torch, main\ndef place(): return torch.device('cuda')\ndef other(): return main.two(0)\n"
    star = "def starry(x): return x.cuda()\n"
    assert of(tmp_path, main=text, place=place, deeper=deeper, star=star) == {
        "one",
        "two",
        "three",
        "four",
        "six",
    }


def test_what_a_module_of_another_file_leaves_is_told_there(tmp_path: Path) -> None:
    parts = f"{HEAD}class Part(nn.Module):\n{RUN}        return x + torch.ones(3)\n"
    main = f"from parts import Part\n{HEAD}{MODULE}        self.a = Part()\n{RUN}        return self.a(x)\n"
    assert of(tmp_path, main=main, parts=parts) == set()
    helper = f"{parts}def made(): return torch.ones(3)\n"
    main = f"from parts import made\n{HEAD}{MODULE}{RUN}        return x + made()\n"
    assert of(tmp_path, main=main, parts=helper) == {"Net"}


def test_every_function_that_makes_a_tensor_by_itself_counts() -> None:
    for table in (torch.TABLES, tensor.TABLES):
        for name, entry in entries(table).items():
            row = read(entry)
            makes = row.gives == "tensor" and row.place in ("device", "cpu", "default")
            last = name.rpartition(".")[2]
            if makes and name.startswith("torch.") and not last.endswith("Tensor"):
                assert last in knowledge.FACTORIES or last == "range", name


def test_what_is_defined_in_a_block_is_tried(tmp_path: Path) -> None:
    text = f"{HEAD}try:\n    import helper\n"
    inside = f"{MODULE}        self.mask = torch.ones(3)\n{RUN}        return x * self.mask\n"
    indented = "".join(f"    {line}\n" for line in inside.splitlines())
    assert of(tmp_path, main=f"{text}{indented}except ImportError:\n    pass\n") >= {"Net"}


def test_a_text_is_looked_at_again_where_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text("def f(x): return x\n")
    prospects = Prospects(lambda dotted, importer: None, lambda file: Path(file).read_text())
    assert prospects.of(str(path)) == set()
    path.write_text("def f(x): return x.cuda()\n")
    assert prospects.of(str(path)) == set()
    prospects.reread(str(path))
    assert prospects.of(str(path)) == {"f"}


def test_a_folder_without_code_is_where_no_imports_are_found(tmp_path: Path) -> None:
    """`/data` and `/opt` are on most machines: a project whose file imports `data` does not begin at `/`."""
    path = tmp_path / "deep" / "main.py"
    path.parent.mkdir()
    path.write_text("import data\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "images").mkdir()

    def home() -> str:
        return Choices(Layout(), lambda file: Path(file).read_text()).home(str(path))

    assert home() == str(path.parent)
    (tmp_path / "data" / "sets.py").write_text("")
    assert home() == str(tmp_path)


@pytest.mark.parametrize(
    ("named", "bound"),
    [
        ('"/home/somebody/data"', True),
        ('f"/scratch/{user}/rows"', False),
        ("'/data/rows/all.pt'", True),
        ('"D:/rows/all.pt"', True),
        ('"D:\\\\rows"', True),
        ('r"D:\\rows"', True),
        ('"D:\\n"', False),
        ('"x:\\trows"', False),
        ('"/home"', False),
        ('"data/rows/all.pt"', False),
    ],
)
def test_who_names_folders_of_a_machine_runs_there(named: str, bound: bool, tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text(f"import torch\nprint({named})\ntorch.ones(2).cuda()\n")
    choices = Choices(Layout(), lambda file: Path(file).read_text())
    assert choices.throughout(str(path))[0] is bound
