"""Test code, whatever its name is: what is said of it, and what only where that is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.commands.cli import main
from devlint.match.registry import installed

PROGRAM = """\
import torch


def test_sum():
    assert torch.ones(2).cuda().sum() == 2
"""
ARGUMENTS = ["test_a.py", "b.py", "--select", "DEV201", "--output-format", "concise", "--quiet"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_a.py").write_text(PROGRAM.replace("test_sum", "check"))
    (tmp_path / "b.py").write_text(PROGRAM)
    return tmp_path


def files(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """The files in which something is found."""
    main([*ARGUMENTS, *arguments])
    return sorted({line.partition(":")[0] for line in capsys.readouterr().out.splitlines()})


def test_what_a_framework_collects_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert files(capsys) == ["test_a.py"]


def test_it_is_linted_where_that_is_asked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert files(capsys, "--lint-tests") == ["b.py", "test_a.py"]
    (here / "devlint.toml").write_text("lint-tests = true\n")
    assert files(capsys) == ["b.py", "test_a.py"]
    assert files(capsys, "--isolated") == ["test_a.py"]


def test_the_settings_tell(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["b.py", "--show-settings"]) == 0
    assert "lint-tests = false\n" in capsys.readouterr().out
    assert main(["b.py", "--show-settings", "--lint-tests"]) == 0
    assert "lint-tests = true\n" in capsys.readouterr().out


def test_no_warning_of_hardware_is_about_tests() -> None:
    """DEV208 alone is: a comparison that is never true is as wrong in an assertion."""
    rules = [item.rule for code, item in installed().items() if code.startswith("DEV2") and code != "DEV208"]
    for rule in rules:
        assert rule is not None
        for watch in rule.watches:
            left = [test.wanted for test in watch.tests if test.name == "context" and test.negated]
            assert any("test" in wanted for wanted in left), rule.code
