"""What the page on editors tells to type and to configure is done as they say."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Environment

DOCS = Path(__file__).parents[2] / "docs"
EDITORS = (DOCS / "editors.md").read_text(encoding="utf-8")
ROW, COLUMN, CODE = "5", "1", "DEV101"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[str]:
    found = [line[2:] for block in blocks(page, "console") for line in block.splitlines() if line[:2] == "$ "]
    return [command for command in found if not command.startswith("pip ")]


@pytest.fixture
def project(environment: Environment, tmp_path: Path) -> Path:
    """Make the project that the page on editors shows."""
    (source,) = blocks(EDITORS, "python")
    (tmp_path / "train.py").write_text(source)
    return tmp_path


def test_flake8_prints_what_the_page_shows(environment: Environment, project: Path) -> None:
    (command,) = commands(EDITORS)
    result = environment.run(*shlex.split(command), cwd=project)
    (shown,) = blocks(EDITORS, "console")
    assert result.stdout == shown.partition(f"$ {command}\n")[2]


def quoted(language: str, pattern: str) -> list[str]:
    """Return flake8's arguments in an editor's configuration."""
    (block,) = [block for block in blocks(EDITORS, language) if re.search(pattern, block)]
    return re.findall(pattern, block)


# How each editor calls flake8, and the expression by which it reads the output, after their own sources.
VS_CODE = ["--format='%(row)d,%(col)d,%(code).1s,%(code)s:%(text)s'"]
NVIM_LINT = ["--format=%(path)s:%(row)d:%(col)d:%(code)s:%(text)s", "--no-show-source"]


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        pytest.param(
            [
                *VS_CODE,
                *json.loads(next(each for each in blocks(EDITORS, "json") if "flake8" in each))[
                    "flake8.args"
                ],
                "train.py",
            ],
            r"'(\d+),(-?\d+),\w+,(\w+\d+):[^\r\n]*'",
            id="VS Code",
        ),
        pytest.param(
            [*re.findall(r"Arguments \| `(.*?) \$FilePath\$`", EDITORS), "train.py"],
            r".+:(\d+):(\d+): (\w+) .*",
            id="PyCharm",
        ),
        pytest.param(
            [*quoted("vim", r"options = '(.*)'"), "--stdin-display-name", "train.py", "-"],
            r"[^:]+:(\d+):?(\d+)?: ([A-Za-z0-9]+) .*",
            id="ALE",
        ),
        pytest.param(
            [*quoted("lua", r"args, 1, '(.*)'"), *NVIM_LINT, "train.py"],
            r"[^:]+:(\d+):(\d+):(\w+):.+",
            id="nvim-lint",
        ),
        pytest.param(
            [*quoted("elisp", r'"flake8" "(.*?)" "-"'), "-"],
            r"<?stdin>?:(\d+):(\d+): (\w+) .*",
            id="Flymake",
        ),
        pytest.param(
            ["--format=default", "--stdin-display-name", "train.py", "-"],
            r".+:(\d+):(\d+): ([A-Z]+\d+) .*",
            id="Flycheck",
        ),
    ],
)
def test_editors_read_the_finding(
    environment: Environment, project: Path, arguments: list[str], pattern: str
) -> None:
    source = (project / "train.py").read_text()
    result = environment.run("flake8", *arguments, cwd=project, stdin=source)
    (line,) = result.stdout.splitlines()
    found = re.fullmatch(pattern, line)
    assert found, line
    assert found.groups() == (ROW, COLUMN, CODE)


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_neovim_lints_what_it_opens_and_what_it_writes(project: Path, tmp_path: Path) -> None:
    """A plugin that says when it is asked, and for which type of file, stands in for nvim-lint."""
    (block,) = [block for block in blocks(EDITORS, "lua") if "require('lint')" in block]
    said = tmp_path / "said"
    stub = f"""
package.loaded['lint'] = {{
  linters = {{ flake8 = {{ args = {{}} }} }},
  try_lint = function()
    local file = io.open('{said}', 'a')
    local names = package.loaded['lint'].linters_by_ft[vim.bo.filetype] or {{}}
    file:write(table.concat(names, ' '), '\\n')
    file:close()
  end,
}}
"""
    (tmp_path / "init.lua").write_text(stub + block)
    command = ["nvim", "--headless", "-u", "init.lua", "train.py", "+qa!"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60, capture_output=True)
    assert said.read_text().split() == ["flake8"]
    command[-1:] = ["+write", "+qa!"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60, capture_output=True)
    assert said.read_text().split() == ["flake8"] * 3
