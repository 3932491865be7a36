"""`devlint explain`: what is known of a line, and the reasons that rules really had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from devlint.commands.cli import main
from devlint.config.settings import Selection, Settings
from devlint.run.explained import Explained
from devlint.run.lint import lint
from devlint.run.verdicts import explanation

PAGE = (Path(__file__).parents[1] / "docs" / "explain.md").read_text(encoding="utf-8")
FIXTURES = Path(__file__).parents[1] / "fixtures"
PROGRAM = """\
import torch
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def train(dataset, use_cuda):
    model = nn.Linear(2, 2).to(device)
    mask = torch.zeros(4)
    for images, labels in DataLoader(dataset):
        images.to(device)
        labels.to(device)  # noqa: DEV101
        out = model(images.to(device)) * mask
        out.cuda()
        if use_cuda:
            model.cuda()
        if torch.cuda.is_available():
            model.cuda()
    big = torch.zeros(3).to(device)
    return big

# the end
"""


@pytest.fixture
def explain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM)

    def run(place: str, *flags: str) -> tuple[int, str, str]:
        status = main(["explain", place, *flags])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def line_of(text: str, program: str = PROGRAM) -> int:
    return next(row for row, line in enumerate(program.splitlines(), 1) if text in line)


def verdicts(out: str) -> dict[str, tuple[str, str]]:
    return {each["code"]: (each["outcome"], "; ".join(each["reasons"])) for each in json.loads(out)["rules"]}


def test_a_value_has_a_kind_a_place_a_history_and_what_it_meets(explain: Any) -> None:
    status, out, _ = explain(f"train.py:{line_of('mask = ')}")
    assert status == 0
    value, _, rest = out.partition("values\n")[2].partition("rules\n")
    assert value == (
        "  `mask` is a tensor on cpu\n"
        "      made by `torch.zeros` on `cpu` at line 10\n"
        "      meets `model(images.to(device))` (tensor on device): they cannot meet at line 14\n"
    )
    assert "created-on-cpu speaks" in rest


def test_a_moved_value_was_made_before(explain: Any) -> None:
    found = json.loads(explain(f"train.py:{line_of('big = ')}:5", "--output-format", "json")[1])
    (value,) = found["values"]
    assert (value["source"], value["kind"], value["place"], value["certain"]) == (
        "big",
        "tensor",
        "device",
        True,
    )
    assert [each["message"] for each in value["history"]] == [
        "moved to `device`",
        "made by `torch.zeros` on `cpu`",
    ]
    assert value["history"][0]["location"] == {"row": 20, "column": 11}


@pytest.mark.parametrize(
    ("text", "code", "outcome", "reason"),
    [
        ("    images.to(", "DEV101", "spoke", "the result of `images.to()` is thrown away"),
        ("    labels.to(", "DEV101", "suppressed", "`# noqa: DEV101` at line 13 silences it"),
        ("out = model(", "DEV101", "silent", "its result is used"),
        ("model = ", "DEV101", "silent", "its result is used; `nn.Linear(2, 2)` is a module, not a"),
        ("        model.cuda()", "DEV201", "silent", "the name `use_cuda` suggests an accelerator"),
        ("big = ", "DEV503", "off", "a note, off unless selected; it would say: `torch.zeros()` makes"),
    ],
)
def test_rules_tell_why(explain: Any, text: str, code: str, outcome: str, reason: str) -> None:
    _, out, _ = explain(f"train.py:{line_of(text)}", "--output-format", "json")
    found = verdicts(out)[code]
    assert found[0] == outcome
    assert found[1].startswith(reason)


def test_a_condition_that_asks_is_a_guard(explain: Any) -> None:
    last = max(row for row, line in enumerate(PROGRAM.splitlines(), 1) if "model.cuda()" in line)
    out = explain(f"train.py:{last}", "--output-format", "json")[1]
    asked = "an accelerator is there: a condition asks for one"
    assert verdicts(out)["DEV201"] == ("silent", asked)
    assert asked in json.loads(out)["guards"]


def test_a_rule_that_is_turned_off_would_speak(explain: Any) -> None:
    place = f"train.py:{line_of('    images.to(')}"
    out = explain(place, "--ignore", "DEV101", "--output-format", "json")[1]
    assert verdicts(out)["DEV101"][0] == "off"
    assert "it is off for this file; it would say" in verdicts(out)["DEV101"][1]


def test_a_note_of_a_rule_that_is_on_is_not_shown(explain: Any, tmp_path: Path) -> None:
    program = (FIXTURES / "DEV301" / "bug.py").read_text()
    (tmp_path / "note.py").write_text(
        "import torch\nmodel = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters())\n"
        "model.to('cuda')\noptimizer.step()\n"
    )
    assert "DEV301" in program
    found = verdicts(explain("note.py:4", "--output-format", "json")[1])
    assert found["DEV301"][0] == "note"
    chosen = verdicts(explain("note.py:4", "--select", "DEV301", "--output-format", "json")[1])
    assert chosen["DEV301"][0] == "spoke"


def test_what_a_rule_asks_of_an_event_itself_is_found_by_asking_again(explain: Any, tmp_path: Path) -> None:
    (tmp_path / "host.py").write_text(
        "import torch\n\n\ndef f(x, device):\n    x = torch.relu(x).to(device)\n"
        "    if not torch.cuda.is_available():\n        return x.numpy()\n    return x.numpy()\n"
    )
    assert verdicts(explain("host.py:8", "--output-format", "json")[1])["DEV407"][0] == "spoke"
    found = verdicts(explain("host.py:7", "--output-format", "json")[1])
    assert found["DEV407"] == ("silent", "no accelerator is there, or none is wanted: a condition says so")


def test_what_is_never_reached_is_said(explain: Any, tmp_path: Path) -> None:
    text = "import torch\n\n\ndef f(x):\n    return x\n    x.cuda()\n\n\nif (\n    f(1)\n):\n    f(2)\n"
    (tmp_path / "dead.py").write_text(text)
    said = "this is never reached, as far as devlint can tell"
    assert [said in explain(f"dead.py:{row}")[1] for row in (4, 5, 6, 7, 10, 12)] == [
        False,
        False,
        True,
        False,
        False,
        False,
    ]


def test_an_attribute_that_is_assigned_is_a_value(explain: Any, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.window = torch.ones(3)\n"
    )
    assert "values\n  `self.window` is a tensor on cpu\n      made by `torch.ones`" in explain("net.py:7")[1]


def test_a_move_is_told_once(explain: Any, tmp_path: Path) -> None:
    (tmp_path / "store.py").write_text(
        "import torch\n\n\nclass Store:\n    def __init__(self, value):\n        self.value = value\n\n"
        "    def to(self, where):\n        self.value = self.value.to(where)\n\n"
        "    def put(self, where):\n        self.value = self.value.to(where)\n\n\n"
        "store = Store(torch.ones(3))\nstore.to('cuda')\nprint(store.value + 1)\n"
    )
    out = explain("store.py:17")[1]
    assert [row.strip() for row in out.splitlines() if "moved" in row] == [
        "moved at line 9",
        "moved at line 12",
    ]


def test_a_value_that_another_file_made(explain: Any, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("import torch\n\n\ndef zeros():\n    return torch.zeros(3)\n")
    (tmp_path / "user.py").write_text("from helper import zeros\n\nx = zeros()\n")
    _, out, _ = explain("user.py:3:1")
    assert "`x` is a tensor on cpu\n      made by `torch.zeros` on `cpu` at" in out
    assert "helper.py:5" in out


def test_notebooks_name_the_cell(explain: Any, tmp_path: Path) -> None:
    cells = ["import torch\n", "# text", "%time\nx = torch.ones(3)\nx.to('cuda')\nx.sum()\n"]
    kinds = ["code", "markdown", "code"]
    data = {
        "cells": [
            {"cell_type": kind, "metadata": {}, "source": source}
            for kind, source in zip(kinds, cells, strict=True)
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (tmp_path / "nb.ipynb").write_text(json.dumps(data))
    for place in ("nb.ipynb:3:3", "nb.ipynb:cell 3:3"):
        status, out, _ = explain(place)
        assert status == 0
        assert "made by `torch.ones` on `cpu` at line 2 of cell 3" in out
        assert "DEV101 discarded-move speaks" in out
    assert explain("nb.ipynb:3")[0] == 2
    assert "name the cell" in explain("nb.ipynb:3")[2]
    assert explain("nb.ipynb:2:1")[0] == 2
    assert "cell 3 of nb.ipynb has no line 9" in explain("nb.ipynb:3:9")[2]


@pytest.mark.parametrize(
    ("place", "status", "text"),
    [
        ("train.py:99", 2, "train.py has 23 lines: there is no line 99"),
        ("train.py:0", 2, "there is no line 0"),
        ("train.py:2:3:4:5", 2, "cannot read train.py:2:3"),
        ("train.py", 2, "expected FILE:LINE[:COLUMN]"),
        ("missing.py:2", 2, "cannot read missing.py: No such file"),
        ("broken.py:1", 2, "broken.py:1:5: not valid Python"),
        ("latin.py:1", 2, "latin.py:1:"),
        ("train.py:23", 0, "nothing here has a value that devlint follows, and no rule looked"),
        ("train.py:6", 0, "nothing here has a value that devlint follows, and no rule looked"),
        ("plain.py:2", 0, "no library whose objects live on devices is in this file"),
    ],
)
def test_what_cannot_be_explained_is_said(
    explain: Any, tmp_path: Path, place: str, status: int, text: str
) -> None:
    (tmp_path / "broken.py").write_text("x = (\n")
    (tmp_path / "latin.py").write_bytes(b"x = '\xe9'\n")
    (tmp_path / "plain.py").write_text("import sys\nprint(sys.path)\n")
    found, out, err = explain(place)
    assert found == status
    assert text in (err if status else out)
    assert not (out if status else err)


@pytest.mark.parametrize(
    "program",
    ["DEV101/bug_guarded.py", "DEV201/bug.py", "DEV301/bug.py", "DEV403/bug.py", "DEV410/bug.py"],
)
def test_who_speaks_is_who_reports(program: str) -> None:
    """Line by line, the verdicts are what a run of the linter says."""
    path = FIXTURES / program
    settings = Settings(root="/", selections=(Selection(select=("ALL",)),))
    findings = lint(path.read_bytes(), str(path), settings)
    assert findings
    explained = Explained(path.read_bytes(), str(path), settings)
    for row in sorted(
        {finding.start.row for finding in findings} | {finding.start.row + 1 for finding in findings}
    ):
        if row > len(explained.rows):
            continue
        spoken = {
            (each.code, each.where.start)
            for each in explanation(explained, row).verdicts
            if each.outcome == "spoke"
        }
        assert spoken == {(each.code, each.start) for each in findings if each.start.row == row}
    explained.release()


def test_the_source_of_a_file_steers_no_terminal(explain: Any, tmp_path: Path) -> None:
    (tmp_path / "steer.py").write_text("import torch\nx = torch.ones(2)  # \x1b[31m\n")
    assert "\x1b" not in explain("steer.py:2")[1]


def test_the_page_shows_what_is_printed(explain: Any, tmp_path: Path) -> None:
    program, shown = (
        PAGE.split("```python\n")[1].split("```")[0],
        PAGE.split("```console\n$ ")[1].split("```")[0],
    )
    (tmp_path / "train.py").write_text(program)
    command, _, output = shown.partition("\n")
    assert explain(*command.split()[2:])[1] == output


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("y = x.abs()", "`y` is a tensor where `x` is\n"),
        ("x.abs_()", "`x` is a tensor\n      given by the caller as `x`\n"),
        ("where = x.device", "`where` is the device of `x`\n"),
        ("all_of_them = [x.abs(), x.neg()]", "`all_of_them` is a container of tensors where `x` is\n"),
        ("nothing = [1, x]", "`nothing` is a container\n"),
        ("usable = torch.cuda.is_available()", "`torch.cuda.is_available()` is a truth value\n"),
        ("z = x.abs() + other", "meets `other` (tensor) at line 5"),
    ],
)
def test_what_a_stranger_reads(
    line: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is said to be where itself is, and a device is not called by what has it."""
    path = tmp_path / "a.py"
    path.write_text(f"import torch\n\n\ndef f(x: torch.Tensor, other: torch.Tensor):\n    {line}\n")
    assert main(["explain", "--isolated", f"{path}:5"]) == 0
    assert said in capsys.readouterr().out
