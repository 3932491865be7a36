"""What the callers of a function, wherever in the project they are, say about the device that it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.commands.cli import main as program
from devlint.config.settings import Selection, Settings
from devlint.project.disk import project
from devlint.run.lint import lint

SETTINGS = Settings(selections=(Selection(select=("DEV201", "DEV202")),))
_DEFAULT = """\
import torch

def load(path, size, device="cuda"):
    return torch.zeros(size, device=device)
"""
_MOVES = """\
import torch

def step(x):
    return helper(x)

def helper(x):
    return x.cuda()
"""


def severities(folder: Path, files: dict[str, str], name: str = "lib.py") -> list[str]:
    """The severities of what is found in one file of a project, which means a device to be a choice."""
    files = {**files, name: f"{files[name]}\nDEVICES = ['cpu']\n"}
    (folder / "pyproject.toml").touch()
    for each, text in files.items():
        (folder / each).parent.mkdir(parents=True, exist_ok=True)
        (folder / each).write_text(text)
    path = folder / name
    return [each.severity.value for each in lint(path.read_bytes(), str(path), SETTINGS, project=project())]


@pytest.mark.parametrize(
    ("calls", "severity"),
    [
        ("load('a', 3)", "warning"),
        ("load('a', 3, 'cpu'); load('b', 3)", "warning"),
        ("load('a', 3, 'cpu')", "note"),
        ("load('a', size=3, device='cpu')", "note"),
        ("load('a', 3, **options)", "note"),
        ("load('a', *options)", "note"),
        ("lib.load('a', 3, 'cpu')", "note"),
        ("load('a', 3, 'cpu'); torch.load('a')", "note"),  # another function
        ("", "note"),
    ],
)
def test_a_default_counts_where_a_call_is_left_to_it(tmp_path: Path, calls: str, severity: str) -> None:
    main = f"import torch\nimport lib\nfrom lib import load\noptions = (1,)\n{calls}\n"
    assert severities(tmp_path, {"lib.py": _DEFAULT, "scripts/main.py": main}) == [severity]


def test_a_constructor_is_called_by_the_name_of_its_class(tmp_path: Path) -> None:
    lib = (
        "import torch\n\nclass Net:\n    def __init__(self, size, device='cuda'):\n"
        "        self.x = torch.zeros(size, device=device)\n"
    )
    assert severities(tmp_path, {"lib.py": lib, "a.py": "from lib import Net\nNet(3)\n"}) == ["warning"]
    assert severities(tmp_path, {"lib.py": lib, "a.py": "from lib import Net\nNet(3, 'cpu')\n"}) == ["note"]


@pytest.mark.parametrize(
    ("main", "found"),
    [
        ("assert torch.cuda.is_available()\nstep(x)", []),
        ("def main():\n    torch.cuda.set_device(0)\n    go()\n\ndef go():\n    step(x)\n\nmain()", []),
        ("torch.cuda.set_device(0)\nstep(x)", []),
        ("if torch.cuda.is_available():\n    step(x)\nstep(x)", ["warning"]),
        ("def anybody():\n    step(x)", ["warning"]),
        ("assert torch.cuda.is_available()", ["warning"]),
    ],
)
def test_what_all_callers_make_sure_of_is_there(tmp_path: Path, main: str, found: list[str]) -> None:
    text = f"import torch\nfrom lib import step\n\nx = torch.ones(3)\n{main}\n"
    assert severities(tmp_path, {"lib.py": _MOVES, "main.py": text}) == found


@pytest.mark.parametrize(
    ("imports", "found"),
    [
        ("import engine", []),
        ("from engine import (\n    run,\n)", []),
        ("from parts import engine", []),
        ("import near", ["warning"]),
        ("try:\n    import engine\nexcept ImportError:\n    engine = None", ["warning"]),
        ('"""\nimport engine\n"""', ["warning"]),
    ],
)
def test_what_imports_needs_what_is_imported(tmp_path: Path, imports: str, found: list[str]) -> None:
    files = {
        "lib.py": f"{imports}\nimport torch\n\ndef f(x):\n    return x.cuda()\n\nprint(f)\n",
        "engine.py": "import inner\n\ndef run():\n    pass\n",
        "inner.py": "import os, tensorrt\n",
        "parts/__init__.py": "",
        "parts/engine.py": "from inner import tensorrt\n",
        "near.py": '"""\nimport tensorrt\n"""\nimport lib\n',
    }
    assert severities(tmp_path, files) == found


def test_who_comes_to_call_changes_the_answer(tmp_path: Path) -> None:
    files = {"lib.py": _MOVES, "main.py": "import torch\n", "other.py": "import os\n"}
    assert severities(tmp_path, files) == ["warning"]
    around, path = project(), tmp_path / "lib.py"

    def found() -> int:
        return len(lint(path.read_bytes(), str(path), SETTINGS, project=around))

    assert found() == 1
    other = tmp_path / "other.py"
    other.write_text("import torch\nfrom lib import step\ntorch.cuda.set_device(0)\nstep(torch.ones(3))\n")
    around.forget(str(other))
    assert found() == 0
    assert str(other) in around.asked_by(str(path))


def test_what_other_files_make_sure_of_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main = "import torch\nfrom lib import step\ntorch.cuda.set_device(0)\nstep(torch.ones(3))\n"
    assert severities(tmp_path, {"lib.py": _MOVES, "main.py": main}) == []
    monkeypatch.chdir(tmp_path)
    program(["explain", "lib.py:7"])
    assert "other files of the project make sure of an accelerator" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("default", "passed", "found"),
    [
        ('="cpu"', "", []),
        ('="cuda"', "", [4]),
        ('="cpu"', ', device="cuda"', [4]),
        ('="cpu"', ", **options", [4]),
        ("", ', device="cuda"', [4]),
    ],
)
def test_where_a_worker_leaves_a_device_to_its_default(
    tmp_path: Path, default: str, passed: str, found: list[int]
) -> None:
    """That another passes one says nothing of the worker."""
    path = tmp_path / "noise.py"
    path.write_text(f"""\
import torch
from torch.utils.data import DataLoader, Dataset
def pink(length, device{default}):
    return torch.randn(length).to(device)
class Noise(Dataset):
    def __getitem__(self, index):
        return pink(4{passed})
print(pink(4, device="cuda"))
loader = DataLoader(Noise(), num_workers=2)
""")
    settings = Settings(selections=(Selection(select=("DEV501",)),))
    told = lint(path.read_bytes(), str(path), settings, project=project())
    assert [each.start.row for each in told] == found
