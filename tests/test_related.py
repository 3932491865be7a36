"""The other places that explain a finding: where values were made and moved, as every door shows them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from devlint.commands.cli import main
from devlint.config.settings import Selection, Settings
from devlint.core.events import Meeting
from devlint.infer import infer
from devlint.run.lint import lint

EXPLAINED = Path(__file__).parents[1] / "fixtures" / "related"

HELPER = """\
import torch


def optimizer_of(model):
    return torch.optim.Adagrad(model.parameters())
"""
TRAIN = """\
import torch
from helper import optimizer_of


def train(dataset, device):
    model = torch.nn.Linear(2, 2)
    optimizer = optimizer_of(model)
    model.to(device)
    for x, y in torch.utils.data.DataLoader(dataset):
        loss = torch.nn.functional.cross_entropy(model(x.to(device)), y)
        loss.backward()
        optimizer.step()
"""
TRAINER = """\
import torch


class Trainer:
    def __init__(self, data, device):
        self.loader = torch.utils.data.DataLoader(data)
        self.device = device
        self.model = torch.nn.Linear(2, 2).to(self.device)

    def fit(self):
        for x, y in self.loader:
            self.model(x)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, list[tuple[str, int, int, str]]]:
    """The places that explain each finding, by its code."""
    capsys.readouterr()
    main(["--isolated", "--output-format", "json", *arguments])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return {
        each["code"]: [
            (
                Path(item["filename"]).name,
                item["location"]["row"],
                item["location"]["column"],
                item["message"],
            )
            for item in each["related"]
        ]
        for each in found
    }


def test_where_the_sides_of_a_meeting_come_from(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "train.py")["DEV402"] == [
        ("train.py", 9, 17, "it comes from here"),
        ("train.py", 10, 56, "`x` is moved to `device` here"),
        ("train.py", 8, 5, "`model` is moved to `device` here"),
    ]


def test_places_in_other_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "train.py")["DEV301"] == [("helper.py", 5, 12, "`Adagrad` is built here")]
    main(["--isolated", "--select", "DEV301", "train.py"])
    shown = capsys.readouterr().out
    assert "on line 0" not in shown
    assert (
        "  |\n"
        " ::: helper.py:5:12\n"
        "  |\n"
        "5 |     return torch.optim.Adagrad(model.parameters())\n"
        "  |            --------------------------------------- `Adagrad` is built here\n"
        "  |\n"
    ) in shown


def test_a_helper_of_another_file_that_moves(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "helper.py").write_text("def place(model, device):\n    model.to(device)\n")
    (folder / "train.py").write_text(
        "import sys, torch\nfrom helper import place\n\n\ndef train(dataset, device):\n"
        "    model = torch.nn.Linear(2, 2)\n    place(model, device)\n"
        "    for x, y in torch.utils.data.DataLoader(dataset):\n        model(x).cpu()\n\n\n"
        "train(torch.utils.data.TensorDataset(torch.rand(4, 2)), torch.device(sys.argv[1]))\n"
    )
    assert told(capsys, "train.py")["DEV401"][1:] == [
        ("train.py", 7, 5, "`model` is put on `device` here"),
    ]


def test_what_the_constructor_moved(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.py").write_text(TRAINER)
    assert told(capsys, "train.py")["DEV401"] == [
        ("train.py", 11, 21, "it comes from `self.loader`"),
        ("train.py", 8, 22, "`torch.nn.Linear(2, 2)` is moved to `self.device` here"),
    ]


def test_where_they_meet_in_what_another_file_defines(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "helper.py").write_text("def total(model, loader):\n    return [model(x) for x, _ in loader]\n")
    (folder / "train.py").write_text(
        "import torch\nfrom helper import total\n\n\ndef run(data, device):\n"
        "    model = torch.nn.Linear(2, 2).to(device)\n"
        "    return total(model, torch.utils.data.DataLoader(data))\n\n\n"
        "run(torch.utils.data.TensorDataset(torch.rand(4, 2)), torch.device('cuda'))\n"
    )
    assert told(capsys, "train.py")["DEV401"][-1] == ("helper.py", 2, 13, "they meet here")


def test_cells(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [
        "import torch\nmodel = torch.nn.Linear(2, 2).to('cuda')",
        "for x, y in torch.utils.data.DataLoader(data):\n    model(x)",
    ]
    book = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [{"cell_type": "code", "metadata": {}, "source": cell} for cell in cells],
    }
    (folder / "nb.ipynb").write_text(json.dumps(book))
    main(["--isolated", "--select", "DEV401", "nb.ipynb"])
    shown = capsys.readouterr().out
    assert "--> nb.ipynb:cell 2:2:11\n" in shown
    assert " ::: nb.ipynb:cell 2:1:13\n" in shown
    assert (
        " ::: nb.ipynb:cell 1:2:9\n"
        "  |\n"
        "2 | model = torch.nn.Linear(2, 2).to('cuda')\n"
        "  |         -------------------------------- `torch.nn.Linear(2, 2)` is moved to `cuda` here\n"
    ) in shown


def test_a_baseline_does_not_depend_on_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    baseline = ["--isolated", "--baseline", "base.json", "train.py"]
    assert main([*baseline, "--write-baseline"]) == 0
    (folder / "helper.py").write_text(
        HELPER.replace("    return", "    print('more')\n    made = ") + "    return made\n"
    )
    (folder / "train.py").write_text(TRAIN.replace("model.to(device)", "model = model.to(device=device)"))
    before = told(capsys, "train.py")
    assert before["DEV402"][2][3] == "`model` is moved to `device` here"
    capsys.readouterr()
    assert main([*baseline, "--output-format", "concise"]) == 1  # the move itself is another line now
    assert [line.split(": ")[1][:6] for line in capsys.readouterr().out.splitlines()[:1]] == ["DEV301"]


def test_a_file_that_cannot_be_read_any_more(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from devlint.source.plain import read_named as read

    def gone(path: str) -> bytes:
        if path.endswith("helper.py"):
            raise FileNotFoundError
        return read(path)

    monkeypatch.setattr("devlint.commands.check.read_named", gone)
    assert main(["--isolated", "--select", "DEV301", "train.py"]) == 1
    assert " ::: helper.py:5:12: `Adagrad` is built here\n" in capsys.readouterr().out


def test_a_constant_of_another_file_is_no_place_of_this_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "helper.py").write_text('DEVICE = "cuda"\n')
    (folder / "train.py").write_text(
        "import torch\nfrom helper import DEVICE\n\nNAME = 'cuda'\n\n\n"
        "def move(x: torch.Tensor):\n    print(NAME)\n    return x.to(DEVICE)\n"
    )
    assert main(["--isolated", "train.py"]) == 0, capsys.readouterr().out


def test_what_is_made_behind() -> None:
    text = (
        "import torch\n\n\ndef run(device):\n    model = torch.nn.Linear(2, 2).to(device)\n"
        "    noise = torch.zeros(2)\n    return model(torch.zeros(2, device=device)) + noise\n"
    )
    (meeting,) = [event for event in infer(text).events if isinstance(event, Meeting)]
    assert [(spot.how, spot.span and spot.span.line, spot.place) for spot in meeting.left.spots] == [
        ("made", 6, "cpu")
    ]
    assert [(spot.how, spot.label, spot.span and spot.span.line) for spot in meeting.right.spots] == [
        ("moved", "torch.nn.Linear(2, 2)", 5)
    ]


MARK = re.compile(r"  # (DEV\d+: .*)$", re.MULTILINE)


@pytest.mark.parametrize("program", sorted(EXPLAINED.glob("*.py")), ids=lambda path: path.stem)
def test_what_explains_findings(program: Path) -> None:
    """At the end of a line stands each finding that it explains, with what is said there."""
    marked = program.read_text(encoding="utf-8")
    settings = Settings(selections=(Selection(select=("DEV3", "DEV4")),))
    found = {
        (each.start.row, f"{finding.code}: {each.message}")
        for finding in lint(MARK.sub("", marked), str(program), settings)
        for each in finding.related
    }
    expected = {
        (row, text)
        for row, line in enumerate(marked.splitlines(), 1)
        for text in "".join(MARK.findall(line)).split("; ")
        if text
    }
    assert expected
    assert found == expected
