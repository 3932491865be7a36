"""What the README and the pages show is true: commands run, configurations are read, workflows fit."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from devlint.config.discovery import Configs
from devlint.config.options import parse
from devlint.config.settings import Selection
from devlint.report import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
LONGEST = 110
"""Characters of the line that says what a rule is about."""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
BUG = """\
import torch


def evaluate(device):
    labels = torch.ones(4)
    labels.to(device)
    return labels
"""
START = re.compile(r"(?:[A-Z_]+=\S+ )*devlint\b")


def blocks(page: Path, language: str) -> list[str]:
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [match["text"] for match in found if match["language"] == language]


def commands(page: Path) -> Iterator[str]:
    for block in blocks(page, "sh"):
        for line in block.splitlines():
            if START.match(line):
                yield re.sub(r"\s+#.*", "", line)


EXAMPLES = [(page.name, command) for page in PAGES for command in commands(page)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make what the examples speak of: a repository with a package, one of whose files has a bug."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "src").mkdir()
    (folder / "src/train.py").write_text(BUG)
    (folder / "src/clean.py").write_text("import torch\n")
    (folder / "train.py").write_text(BUG)
    (folder / "pyproject.toml").write_text("[tool.devlint]\nper-file-ignores = {'tests/*' = ['DEV2']}\n")
    for command in (
        "init -q -b main",
        "add -A",
        "-c user.name=x -c user.email=x@y commit -q -m x",
        "update-ref refs/remotes/origin/main HEAD",
    ):
        subprocess.run(["git", *command.split()], cwd=folder, check=True, capture_output=True)
    return folder


def run(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(("page", "command"), EXAMPLES, ids=[" ".join(example) for example in EXAMPLES])
def test_every_command_does_something(page: str, command: str, project: Path) -> None:
    if "--watch" in command:
        parse(command.split()[1:])  # it never ends; test_doors starts one
        return
    if command.startswith("devlint verify") and find_spec("torch") is None:
        pytest.skip("torch is not installed")
    for name in ("src/train.py", "train.py"):
        (project / name).write_text(BUG)
    if "--baseline" in command and "--write-baseline" not in command:
        run(f"{command} --write-baseline", project)
    done = run(command, project)
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    report = re.search(r"--output-file (\S+)", command)
    assert (project / report[1]).read_text() if report else done.stdout or done.returncode == 0


def test_there_are_examples_on_the_pages() -> None:
    assert {page for page, _ in EXAMPLES} >= {"README.md", "adoption.md", "ci.md", "configuration.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_configuration_is_read(page: Path, tmp_path: Path) -> None:
    for text in blocks(page, "toml"):
        if "[tool.devlint]" in text:
            (tmp_path / "sub").mkdir(exist_ok=True)
            (tmp_path / "pyproject.toml").write_text("[tool.devlint]\n")  # what examples extend
            (tmp_path / "sub/pyproject.toml").write_text(text)
            source = Configs(Selection()).for_folder(str(tmp_path / "sub")).source
            assert source == str(tmp_path / "sub/pyproject.toml")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_key_and_format_has_its_line() -> None:
    from msgspec.structs import fields

    from devlint.config.schema import Table

    page = (ROOT / "docs/configuration.md").read_text()
    cells = re.findall(r"^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \|", page, re.MULTILINE)
    assert sorted(re.findall(r"[a-z-]+", " ".join(cells))) == sorted(
        field.encode_name for field in fields(Table)
    )
    rows = re.findall(r"^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \|", (ROOT / "docs/ci.md").read_text(), re.MULTILINE)
    assert sorted(re.findall(r"[a-z-]+", " ".join(rows))) == sorted(FORMATS)


def test_the_messages_that_the_page_on_configuration_shows(tmp_path: Path) -> None:
    (shown,) = blocks(ROOT / "docs/configuration.md", "text")
    tables = ['selct = ["DEV1"]', 'per-file-ignores = {"tests/*" = "DEV1"}', 'ignore = ["DEV999"]']
    for table, line in zip(tables, shown.splitlines(), strict=True):
        (tmp_path / "pyproject.toml").write_text(f"[tool.devlint]\n{table}\n")
        done = run("devlint", tmp_path)
        assert done.returncode == 2
        assert done.stderr.replace(f"{tmp_path}/", "") == f"{line}\n"


def tables_of_rules() -> Any:
    specification = importlib.util.spec_from_file_location("tables", ROOT / "benchmarks" / "tables.py")
    assert specification is not None
    assert specification.loader is not None
    tables = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(tables)
    return tables


def test_the_tables_of_rules_are_current() -> None:
    """`python benchmarks/tables.py` writes them."""
    for path, text in tables_of_rules().pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is stale"


def test_what_a_table_says_of_a_rule() -> None:
    from devlint.finding import Severity
    from devlint.match.registry import Installed

    rule = Installed("TST501", "slow-copy", Severity.NOTE, "A copy is slow | or not\n\nThe page.", None)
    row = tables_of_rules().row(rule)
    assert row == "| TST501 | slow-copy: a copy is slow \\| or not | note, off by default | |\n"


def test_a_rule_fits_on_a_row() -> None:
    from devlint.match.registry import installed

    assert {code: rule.summary for code, rule in installed().items() if len(rule.summary) > LONGEST} == {}


def test_the_baseline_that_the_page_shows(project: Path) -> None:
    (project / "src/train.py").write_text(BUG)
    run("devlint src/ --baseline b.json --write-baseline", project)
    (entry,) = blocks(ROOT / "docs/adoption.md", "json")
    assert entry.strip() in (project / "b.json").read_text()


def action() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return loaded


def step(project: Path, runner: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the action's step as GitHub does, with devlint's environment already made."""
    (only,) = action()["runs"]["steps"]
    python = runner / "devlint/bin/python"
    if not python.exists():
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        python.chmod(0o755)
    values = {name: str(given["default"]) for name, given in action()["inputs"].items()} | inputs
    environment = {
        key: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: values[match[1]], text)
        for key, text in only["env"].items()
    }
    script = f"set -eo pipefail\n{only['run']}"
    return run(script, project, RUNNER_TEMP=str(runner), GITHUB_ACTION_PATH=str(ROOT), **environment)


def test_the_action_annotates(project: Path, tmp_path: Path) -> None:
    (project / "src/train.py").write_text(BUG)
    done = step(project, tmp_path, paths="src")
    assert done.returncode == 1
    assert done.stdout.startswith("::error title=devlint (DEV101),file=src/train.py,line=6,")
    assert step(project, tmp_path, paths="src/clean.py").returncode == 0


def test_the_action_takes_arguments_and_runs_none_of_them(project: Path, tmp_path: Path) -> None:
    done = step(project, tmp_path, **{"args": "--exit-zero --ignore DEV2", "output-file": "a b.sarif"})
    assert (done.returncode, done.stdout) == (0, "")
    assert (project / "a b.sarif").exists()
    done = step(project, tmp_path, paths="$(touch$IFS'evil') `touch evil` ; touch evil")
    assert done.returncode == 2
    assert not (project / "evil").exists()


def test_workflows_use_the_inputs_that_the_action_has() -> None:
    yaml = pytest.importorskip("yaml")
    used = set()
    found = [yaml.safe_load(text) for text in blocks(ROOT / "docs/ci.md", "yaml")]
    jobs = [job for whole in found if "jobs" in whole for job in whole["jobs"].values()]
    jobs += [whole for whole in found if "steps" in whole]  # a part of a workflow: one job
    alone = [item for whole in found if isinstance(whole, list) for item in whole]  # or some of its steps
    for steps in (*(job["steps"] for job in jobs), alone):
        for workflow_step in steps:
            if workflow_step.get("uses", "").startswith("<this repository>@"):
                used |= workflow_step["with"].keys()
                arguments = workflow_step["with"].get("args", "").replace("${{ github.base_ref }}", "main")
                parse(arguments.split())
    assert used == set(action()["inputs"])


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "action.yml", ROOT / ".pre-commit-hooks.yaml"], ids=lambda page: page.name
)
def test_no_address_of_devlints_own_is_made_up(page: Path) -> None:
    """What is not published has none; `project.urls` in pyproject.toml is where one is said once it has."""
    text = page.read_text(encoding="utf-8")
    made_up = r"https?://[^\s>)\"]*devlint|\bdevlint/devlint|devlint@v|rev: v|pip install '?devlint"
    made_up += r"|(?:pipx run|uvx|uv tool run) devlint"
    assert re.findall(made_up, text) == []


def test_what_a_grep_does_not_see(project: Path) -> None:
    page = ROOT / "docs/torch-cuda.md"
    (program,), (shown,) = blocks(page, "python"), blocks(page, "console")
    (project / "src/sync.py").write_text(program)
    command, _, output = shown.removeprefix("$ ").partition("\n")
    done = run(command, project)
    assert done.stdout == output
    rows = [number for number, row in enumerate(program.splitlines(), 1) if "torch.cuda" in row]
    assert f"rows {', '.join(map(str, rows[:-1]))} and {rows[-1]}," in page.read_text(encoding="utf-8")
    (project / "src/sync.py").unlink()
