"""An analysis that follows edits says what one from the start says, which takes its place where it must."""

from __future__ import annotations

import ast
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from devlint.bind.graft import change
from devlint.bind.walk import descendants
from devlint.infer.file import File
from devlint.infer.statements import Statements
from devlint.project.disk import project
from devlint.rehearsal.program import Company
from devlint.run.lint import lint
from devlint.server.analysis import Analyses
from devlint.server.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from devlint.finding import Finding

FIXTURES = Path(__file__).parent.parent / "fixtures"

PROGRAM = '''\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Net(nn.Module):
    """A network."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.scale = 2

    # what it gives
    def forward(self, x):
        if self.training:
            x = x + torch.ones(2)
        else:
            x = x * self.scale
        return self.layer(x)

    def helper(self, x):
        return torch.zeros(2)


def ring(x):
    return turn(x)


def turn(x):
    return ring(x) if x else x


def mask(x):
    return torch.ones(2, device=x.device)


def plain(x):
    total = 0
    for each in x:
        total += 1
    return total


def twice(x):
    return plain(x) + plain(x)


def train(loader):
    net = Net().to(device)
    for batch in loader:
        batch.to(device)
        add = lambda x: x + batch
        print(net(batch), mask(batch))


if __name__ == "__main__":
    train([torch.ones(2)])
'''


class Editor:
    """Somebody who edits a file, and sees what a server shows."""

    def __init__(self, folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
        (folder / "pyproject.toml").touch()
        self.path = str(folder / "net.py")
        Path(self.path).write_text(text)
        self.text = text
        self.analyses = Analyses()
        self.begun = 0
        analyse = File.analyse

        def counted(file: File) -> None:
            # What would come of a cure is found out by a machine of its own.
            self.begun += file.name == "net" and file._machine is Statements
            analyse(file)

        monkeypatch.setattr(File, "analyse", counted)
        self.shown()

    def shown(self) -> tuple[Finding, ...]:
        document = Document(f"file://{self.path}", self.path, self.text, 1)
        return self.analyses.lint(document, {self.path: self.text}).findings

    def fresh(self) -> tuple[Finding, ...]:
        found = project({self.path: self.text}.get)
        return tuple(lint(self.text, self.path, self.analyses.settings(self.path), project=found))

    def edit(self, before: str, after: str) -> int:
        """Edit, and return how many analyses were begun from the start for what is shown."""
        assert self.text.count(before) == 1
        self.text = self.text.replace(before, after)
        self.begun = 0
        shown = self.shown()
        begun = self.begun
        assert shown == self.fresh()
        return begun


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    return Editor(tmp_path, PROGRAM, monkeypatch)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    # what it gives\n", "    # what it gives\n\n    # at last\n"),
        ("    # what it gives\n", ""),
        ("\n\ndef ring", "\n\n\n# a circle\ndef ring"),
        ("import torch\n", "# torch\nimport torch\n"),
        ("            x = x + torch.ones(2)\n", ""),
        ("        else:\n            x = x * self.scale\n", ""),
        ("    total = 0\n", "    total, device = 0, 'cuda:1'\n"),
        ("        total += 1\n", "        each.cuda()\n        total += 1\n"),
    ],
)
def test_an_edit_of_a_body_is_followed(editor: Editor, before: str, after: str) -> None:
    assert editor.shown()
    assert editor.edit(before, after) == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from torch import nn\n", "from torch import nn\n\nSIZE = 3\n"),
        ("import torch\n", "import os\nimport torch\n"),
        ("import torch\n", "import torch\nimport torch.nn.functional as F\n"),
        ("\n\ndef ring", "\nprint(mask(torch.ones(2)))\n\n\ndef ring"),
        ("train([torch.ones(2)])\n", "train([torch.ones(2)])\n\nalone = torch.ones(2)\nalone.cuda()\n"),
        (
            "train([torch.ones(2)])\n",
            "train([torch.ones(2)])\n\nalone = torch.ones(2).cuda()\ntogether = alone + torch.zeros(2)\n",
        ),
        ("    train([torch.ones(2)])\n", "    train([torch.ones(2)])\n\nDONE = True\n"),
    ],
)
def test_a_statement_of_the_module_that_no_function_sees_is_followed(
    editor: Editor, before: str, after: str
) -> None:
    assert editor.edit(before, after) == 0
    assert editor.edit(after, before) == 0


@pytest.mark.parametrize(
    ("line", "again"),
    [
        ("import os\n", False),
        ("SIZE = -3\n", False),
        ("import other\n", True),
        ("print(torch.ones(2))\n", True),
    ],
)
def test_programs_are_gone_through_again_for_what_they_run(
    editor: Editor, monkeypatch: pytest.MonkeyPatch, line: str, again: bool
) -> None:
    Path(editor.path).with_name("other.py").write_text("import torch\n")
    editor.analyses.refresh()
    editor.shown()
    gone_through: list[str] = []
    goes = Company._gone_through

    def counted(company: Company, path: str, lazy: bool, tried: frozenset[str] | None) -> object:
        gone_through.append(path)
        return goes(company, path, lazy, tried)

    monkeypatch.setattr(Company, "_gone_through", counted)
    editor.text = editor.text.replace("import torch\n", f"import torch\n{line}")
    editor.shown()
    assert bool(gone_through) is again


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('else "cpu")\n', 'else "cpu")\ndevice = torch.device("cuda")\n'),
        ('else "cpu")\n', 'else "cpu")\nassert torch.cuda.is_available()\n'),
        ('else "cpu")\n', 'else "cpu")\ntorch.set_default_device("cuda")\n'),
        ("\n\ndef ring", "\nNet.size = 2\n\n\ndef ring"),
        ("\n\ndef ring", '\nwhere = "cpu"\n\n\ndef ring'),
        ("\n\ndef ring", "\nNet().cuda()\n\n\ndef ring"),
        ("\n\ndef ring", "\ntotal = 1\n\n\ndef ring"),
        ("\n\ndef ring", "\nalone = torch.ones(2)\nalone.cuda()\n\n\ndef ring"),
        ("\n\nif __name__", "\ntwice(Net())\n\n\nif __name__"),
        ("\n\ndef ring", "\ndef new(x):\n    return x\n\n\ndef ring"),
        ("\n\ndef ring", "\nfrom torch import *\n\n\ndef ring"),
    ],
)
def test_a_statement_of_the_module_that_a_function_may_see_takes_an_analysis_from_the_start(
    editor: Editor, before: str, after: str
) -> None:
    assert editor.edit(before, after) > 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch\n", "import torch as t\n"),
        ("train([torch.ones(2)])\n", "train([torch.ones(2)])\n    one = torch.ones(2)\n    one.cuda()\n"),
        (
            "    return torch.ones(2, device=x.device)",
            "    x.cuda()\n    return torch.ones(2, device=x.device)",
        ),
        ("torch.ones(2)\n        else", "torch.ones(2, device=x.device)\n        else"),
        ("        batch.to(device)\n", "        batch = batch.to(device)\n"),
        ("def plain(x):", "def plain(x, y=1):"),
        ('else "cpu")', 'else "mps")'),
        ("train([torch.ones(2)])\n", "train([torch.ones(2).cuda()])\n    Net = None\n"),
        ("train([torch.ones(2)])\n", "train([torch.ones(2)])\n    print(plain([1]), lambda x: x)\n"),
        ("self.scale = 2", "self.scale = torch.ones(2)"),
        ("        self.scale = 2\n", "        self.scale = 2\n        self.more = torch.ones(2)\n"),
        ("    return torch.ones(2, device=x.device)", "    return torch.ones(2)"),
        ("    return torch.ones(2, device=x.device)", "    return net(x)"),
        ("    total = 0\n", "    total = 0\n    global device\n"),
        ("    total = 0\n", "    total = 0\n    import os\n"),
        ("    total = 0\n", "    total = 0\n    train(x)\n    plain(x)\n"),
        (
            "    return torch.ones(2, device=x.device)",
            "    train(x)\n    return torch.ones(2, device=x.device)",
        ),
        ("        add = lambda x: x + batch\n", "        add = lambda x: batch + x\n"),
        ("        add = lambda x: x + batch\n", ""),
        ("        batch.to(device)\n", "        batch = torch.ones(2)\n"),
        ("    return turn(x)\n", "    x = x + 1\n    return turn(x)\n"),
        ("    def helper(self, x):\n        return torch.zeros(2)\n", ""),
    ],
)
def test_what_others_see_of_an_edit_takes_an_analysis_from_the_start(
    editor: Editor, before: str, after: str
) -> None:
    assert editor.edit(before, after) > 0


def test_what_cannot_be_parsed_meanwhile_costs_nothing(editor: Editor) -> None:
    assert editor.edit("    total = 0\n", "    total = (0\n") == 0
    assert [each.code for each in editor.shown()] == ["DEV000"]
    assert editor.edit("    total = (0\n", "    total = (0)\n") == 0
    assert editor.edit("    total = (0)\n", "    total = 0\n") == 0


def test_after_an_edit_that_is_not_followed_the_next_one_is(editor: Editor) -> None:
    assert editor.edit("self.scale = 2", "self.scale = torch.ones(2)") > 0
    assert editor.edit("    total = 0\n", "    total = 1\n") == 0


def test_what_goes_wrong_in_a_program_moves_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a rehearsal of the program has met is where its line is now, and goes where it is cured."""
    text = "import torch\n\n\ndef idle(x):\n    return x\n\n\n"
    text += 'def main():\n    x = torch.ones(3, device="cuda")\n    return x + torch.ones(3)\n\n\n'
    editor = Editor(tmp_path, text + 'if __name__ == "__main__":\n    main()\n', monkeypatch)
    rows = [each.start.row for each in editor.shown()]
    assert rows
    assert editor.edit("    return x\n", "    # so\n    return x\n") == 0
    assert [each.start.row for each in editor.shown()] == [row + 1 for row in rows]
    editor.edit("x + torch.ones(3)", "x + torch.ones(3, device=x.device)")
    assert len(editor.shown()) < len(rows)


def test_a_place_keeps_the_name_that_it_has_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is evaluated again has a name by then that it had not when it was evaluated first."""
    text = (FIXTURES / "DEV403" / "bug_configured.py").read_text(encoding="utf-8")
    editor = Editor(tmp_path, text, monkeypatch)
    line = "    options = parsed()\n    model = nn.Linear(4, 1).to(options.device)\n"
    assert editor.edit(line, line + "    # and back\n") == 0
    assert editor.edit("    # and back\n", "    size = 4\n") == 0


def test_what_another_file_says_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.py"
    other.write_text("import torch\n\ndef make(x):\n    return torch.ones(3, device=x.device)\n")
    text = "import torch\nfrom other import make\n\ndef run():\n    x = torch.ones(3).cuda()\n"
    editor = Editor(tmp_path, text + "    return x + make(x)\n", monkeypatch)
    before = editor.shown()
    assert editor.edit("    return x +", "    # more\n    return x +") == 0
    other.write_text("import torch\n\ndef make(x):\n    return torch.ones(3)\n")
    assert editor.edit("    # more\n", "") > 0
    assert len(editor.shown()) > len(before)


_LINES = (
    *("x = x.to('cuda')", "y = torch.ones(3)", "# a comment", "", "return x", "self.x = torch.ones(3)"),
    *("x = x.cpu()", "x.cuda()", "model.cuda()", "loss.backward()", "print(x.numpy())", "pass"),
)


def _edited(rows: list[str], choice: random.Random) -> list[str]:
    """Some rows after a random edit, which need not be a program."""
    rows, row = list(rows), choice.randrange(len(rows))
    indentation = rows[row][: len(rows[row]) - len(rows[row].lstrip())]
    kind = choice.randrange(5)
    if kind < 2:
        rows.insert(row, indentation + choice.choice(_LINES))
    elif kind == 2:
        del rows[row : row + choice.randrange(1, 3)]
    elif kind == 3:
        rows[row] = rows[row].replace("cuda", "cpu") if "cuda" in rows[row] else rows[row].replace("x", "y")
    else:
        rows[row] = rows[row][4:] if rows[row].startswith("    ") else f"    {rows[row]}"
    return rows or [""]


def _is_program(rows: Iterable[str]) -> bool:
    try:
        ast.parse("\n".join(rows))
    except SyntaxError:
        return False
    return True


def test_a_tree_that_follows_edits_is_that_of_the_text() -> None:
    choice, followed = random.Random(5), 0
    for program in sorted((FIXTURES / "programs").glob("*.py"))[:6]:
        rows = program.read_text(encoding="utf-8").split("\n")
        tree = ast.parse("\n".join(rows))
        for _ in range(60):
            new = _edited(rows, choice)
            found = change(tree, rows, new)
            if found is None:
                continue
            assert _is_program(new)
            kept = [node for node in descendants(tree) if isinstance(node, ast.FunctionDef)]
            found.make(descendants(tree))
            assert ast.dump(tree, include_attributes=True) == ast.dump(
                ast.parse("\n".join(new)), include_attributes=True
            )
            assert found.function is None or found.function in kept
            rows, followed = new, followed + 1
    assert followed > 60


def test_after_random_edits_all_is_as_from_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choice, followed = random.Random(11), 0
    for number, program in enumerate(sorted(FIXTURES.glob("DEV[14]*/bug*.py"))[::16]):
        folder = tmp_path / str(number)
        folder.mkdir()
        editor = Editor(folder, program.read_text(encoding="utf-8"), monkeypatch)
        for _ in range(12):
            new = _edited(editor.text.split("\n"), choice)
            if _is_program(new):
                editor.text, editor.begun = "\n".join(new), 0
                shown = editor.shown()
                followed += not editor.begun
                assert shown == editor.fresh(), editor.text
    assert followed > 20
