"""Nothing of the linted repository is run, through whichever door devlint comes to it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .conftest import Environment

ROOT = Path(__file__).parents[2]
BAD = "import torch\n\nx = torch.ones(2)\nx.to(device)\nprint(x)\n"
INSTALLED = "libcst msgspec pathspec rich pygments markdown_it yaml flake8 pycodestyle pip setuptools torch"
OTHERS = "sitecustomize usercustomize evil_rules watchfiles typing_extensions pkg_resources wheel _typeshed"
MARK = "open({!r}, 'a').write(__name__ + '\\n')\n"


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """Return the file that whatever runs would write."""
    return tmp_path / "marker"


@pytest.fixture
def checkout(tmp_path: Path, marker: Path) -> Path:
    """Make a repository with a module in place of each that devlint, or what runs it, may import."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    mark = MARK.format(str(marker))
    names = {*sys.stdlib_module_names, *INSTALLED.split(), *OTHERS.split()} - {"__main__"}
    for name in names:
        (folder / f"{name}.py").write_text(mark)
    for name in ("devlint", "importlib", "encodings"):
        (folder / name).mkdir()
        for module in ("__init__", "__main__", "cli", "util", "metadata", "utf_8"):
            (folder / name / f"{module}.py").write_text(mark)
    for kind, file in (("egg-info", "PKG-INFO"), ("dist-info", "METADATA")):
        about = folder / f"evil_{kind[0]}-1.0.{kind}"
        about.mkdir()
        (about / file).write_text(f"Metadata-Version: 2.1\nName: evil_{kind[0]}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(
            "[devlint.rules]\nevil = evil_rules\n\n[flake8.extension]\nEVL = evil_rules:Plugin\n"
        )
    (folder / "pip.conf").write_text("[global]\nindex-url = http://127.0.0.1:1/\n")
    (folder / "src").mkdir()
    (folder / "src" / "bad.py").write_text(BAD)
    return folder


def test_the_modules_that_are_planted_do_run(environment: Environment, checkout: Path, marker: Path) -> None:
    environment.run("python", "-c", "import msgspec, libcst", cwd=checkout)
    assert {"msgspec", "libcst"} <= set(marker.read_text().split())


@pytest.mark.parametrize(
    "command",
    [
        ("devlint", "--output-format", "concise", "src"),
        ("devlint", "--output-format", "concise", "--baseline", "b.json", "src"),
        ("python", "-I", "-m", "devlint", "--output-format", "concise", "src"),
        ("flake8", "--isolated", "--select", "DEV,EVL", "src"),
    ],
    ids=" ".join,
)
def test_a_command_imports_nothing_of_the_checkout(
    environment: Environment, checkout: Path, marker: Path, command: tuple[str, ...]
) -> None:
    (checkout / "b.json").write_text('{"devlint-baseline": 1, "findings": []}')
    done = environment.run(*command, cwd=checkout)
    assert not marker.exists(), marker.read_text()
    assert done.returncode == 1, done.stderr
    assert re.findall(r"bad\.py:4:1: (\w+)", done.stdout) == ["DEV101"]


@pytest.mark.parametrize("name", ["full", "json", "sarif", "junit", "github"])
def test_a_format_imports_nothing_of_the_checkout(
    environment: Environment, checkout: Path, marker: Path, name: str
) -> None:
    done = environment.run("devlint", "--output-format", name, "src", cwd=checkout)
    assert not marker.exists(), marker.read_text()
    assert "DEV101" in done.stdout


def test_fixing_imports_nothing_of_the_checkout(
    environment: Environment, checkout: Path, marker: Path
) -> None:
    assert environment.run("devlint", "--fix", "src", cwd=checkout).returncode == 0
    assert not marker.exists(), marker.read_text()
    assert "x = x.to(device)" in (checkout / "src" / "bad.py").read_text()


def test_as_a_module_devlint_imports_nothing_more_of_the_folder_than_any_other(
    environment: Environment, checkout: Path, marker: Path, tmp_path: Path
) -> None:
    (tmp_path / "nothing.py").write_text("import sys; print(*sys.modules)")
    loaded = environment.run("python", "-m", "nothing", cwd=tmp_path).stdout.split()
    for name in {"devlint", *(module.partition(".")[0] for module in loaded)}:
        (checkout / f"{name}.py").unlink(missing_ok=True)
        shutil.rmtree(checkout / name, ignore_errors=True)
    assert (checkout / "json.py").exists()
    done = environment.run("python", "-m", "devlint", "--output-format", "concise", "src", cwd=checkout)
    assert not marker.exists(), marker.read_text()
    assert (done.returncode, "src/bad.py:4:1: DEV101" in done.stdout) == (1, True), done.stderr


def action(
    checkout: Path, temporary: Path, source: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the step of the action as GitHub's runner does."""
    yaml = pytest.importorskip("yaml")
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = loaded["runs"]["steps"]
    script = temporary / "step.sh"
    script.write_text(step["run"])
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=checkout,
        env={
            **os.environ,
            "RUNNER_TEMP": str(temporary),
            "GITHUB_ACTION_PATH": str(source),
            "DEVLINT_PATHS": "src",
            "DEVLINT_ARGS": "",
            "DEVLINT_OUTPUT_FORMAT": "github",
            "DEVLINT_OUTPUT_FILE": "",
            **variables,
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="the step is run by bash")
def test_the_action_runs_nothing_of_the_checkout(
    environment: Environment, checkout: Path, marker: Path, source: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "temp"
    temporary.mkdir()
    variables = {"PYTHONPATH": f"{checkout}{os.pathsep}", "PYTHONSTARTUP": str(checkout / "json.py")}
    done = action(checkout, temporary, source, **variables)
    assert not marker.exists(), marker.read_text()
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error title=devlint (DEV101),file=src/bad.py,line=4,")
    # Of a second step with the action, which finds the environment made.
    assert action(checkout, temporary, source, **variables).stdout == done.stdout
    assert not marker.exists(), marker.read_text()
