"""What the page for users of ruff says is true of both: every option of ruff has its row, and rows hold."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from devlint.commands.cli import main
from devlint.config.describe import keys
from devlint.config.options import parser
from devlint.report import FORMATS

ROOT = Path(__file__).parents[1]
RUFF = Path(sys.executable).with_name("ruff")
RELEASE = "0.17.6"
SHELL = ("-h", "--help")


def rows() -> list[tuple[list[str], str]]:
    """Return what ruff has and what the page says that devlint has, of each row."""
    page = (ROOT / "docs/comparison.md").read_text(encoding="utf-8")
    table = page.partition("## For users of ruff")[2]
    found = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return [(re.findall(r"`([^`]+)`", cells[0]), cells[1]) for cells in found[1:]]


def theirs(*arguments: str) -> str:
    if not RUFF.exists():
        pytest.skip("ruff is not installed")
    done = subprocess.run([RUFF, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def ruff() -> str:
    """Return the help of the release that the page speaks of."""
    if RELEASE not in theirs("--version"):
        pytest.skip(f"the page is about ruff {RELEASE}")
    return theirs("check", "--help")


def test_the_page_names_the_release() -> None:
    assert f"What ruff {RELEASE} takes" in (ROOT / "docs/comparison.md").read_text(encoding="utf-8")


def test_every_option_of_ruff_has_its_row(ruff: str) -> None:
    options = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", ruff, re.MULTILINE)) - {"--help"}
    assert len(options) >= 40
    named = {name for names, _ in rows() for name in names}
    assert sorted(options - named) == []


def test_every_command_of_ruff_has_its_row(ruff: str) -> None:
    listed = theirs("--help").partition("Commands:\n")[2].partition("\n\n")[0]
    commands = set(re.findall(r"^  (\w+)", listed, re.MULTILINE))
    assert {"check", "rule"} <= commands
    named = {name.split()[0] for names, _ in rows() for name in names}
    assert sorted(commands - named) == []


def test_what_is_the_same_is_there() -> None:
    flags = {flag for action in parser()._actions for flag in action.option_strings}
    known = {key.name for key in keys()}
    for names, said in rows():
        for name in names:
            if said.startswith("["):  # another page says it
                continue
            if name.startswith("--"):
                assert (name in flags) is (said != "none" and not said.startswith("`")), name
            elif said == "same" and re.fullmatch(r"(?:lint\.)?[a-z-]+-[a-z-]+|lint\.[a-z]+", name):
                plain = name.removeprefix("lint.")
                assert plain in known or plain == "generate-shell-completion", name


@pytest.mark.parametrize("command", ["rule", "config", "version", "generate-shell-completion", "server"])
def test_commands_of_the_same_name_are_there(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"`{command}`" in (ROOT / "docs/comparison.md").read_text(encoding="utf-8")
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    assert f"devlint {command}" in capsys.readouterr().out


def test_every_format_of_ruff_is_there(ruff: str) -> None:
    listed = re.search(r"--output-format.*?possible values: (.*?)\]", ruff, re.DOTALL)
    assert listed is not None
    assert set(re.findall(r"[a-z-]+", listed[1])) <= set(FORMATS)


def test_short_flags_mean_the_same(ruff: str) -> None:
    flags = {flag: action for action in parser()._actions for flag in action.option_strings}
    for short, long in re.findall(r"^ +(-\w), (--[a-z-]+)", ruff, re.MULTILINE):
        assert long in flags[short].option_strings, short


def test_ruff_leaves_comments_for_devlint_alone(ruff: str, tmp_path: Path) -> None:
    """The rule RUF102 takes out codes that ruff does not know, unless told whose they are."""
    for page in ("adoption", "configuration"):
        assert 'external = ["DEV"]' in (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    path = tmp_path / "a.py"
    path.write_text("x = 1  # noqa: DEV101\n")
    command = [
        str(RUFF),
        "check",
        "--quiet",
        "--isolated",
        "--no-cache",
        "--select",
        "RUF102",
        "--fix",
        str(path),
    ]
    subprocess.run([*command, "--config", 'lint.external = ["DEV"]'], check=True, capture_output=True)
    assert path.read_text() == "x = 1  # noqa: DEV101\n"
    subprocess.run(command, check=True, capture_output=True)
    assert path.read_text() == "x = 1\n"
