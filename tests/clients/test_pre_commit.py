"""The real pre-commit: it clones a repository, installs it and runs its hooks on the files of another."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Environment

PAGE = (Path(__file__).parents[2] / "docs" / "pre-commit.md").read_text(encoding="utf-8")
REPOSITORY, REVISION = "<this repository's URL>", "<a commit>"
BAD = "import torch\n\nx = torch.ones(2)\nx.to(device)\nprint(x)\n"
FIXED = BAD.replace("x.to", "x = x.to")
UNFIXED = 'import torch\n\nx = torch.ones(2, device="cuda")\n'
CLEAN = "import torch\n\nx = torch.ones(2)\n"


def notebook(*cells: str) -> str:
    items = [{"cell_type": "code", "metadata": {}, "source": [cell]} for cell in cells]
    return json.dumps({"cells": items, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


@pytest.fixture
def project(environment: Environment, tmp_path: Path) -> Path:
    """Make a project with a file of each sort."""
    files = {
        "bad.py": BAD,
        "clean.py": CLEAN,
        "unfixed.py": UNFIXED,
        "nb.ipynb": notebook("import torch\nx = torch.ones(2)", "%matplotlib inline\nx.to(device)\nprint(x)"),
        "README.md": BAD,
        "old/bad.py": BAD,
        "pyproject.toml": '[tool.devlint]\nextend-exclude = ["old"]\n',
    }
    (tmp_path / "old").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    environment.git(tmp_path, "init", "--quiet")
    environment.git(tmp_path, "add", ".")
    return tmp_path


def configure(project: Path, hooks: Path, environment: Environment, hook: str, **more: object) -> None:
    revision = environment.git(hooks, "rev-parse", "HEAD")
    entry = {"repo": str(hooks), "rev": revision, "hooks": [{"id": hook, **more}]}
    (project / ".pre-commit-config.yaml").write_text(json.dumps({"repos": [entry]}))  # JSON is YAML
    environment.git(project, "add", ".pre-commit-config.yaml")


def run(environment: Environment, project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return environment.run("pre-commit", *arguments, "--color=never", cwd=project)


def places(output: str) -> list[str]:
    return re.findall(r"--> (.*)", output)


def test_trying_the_repository(environment: Environment, hooks: Path, project: Path) -> None:
    result = run(environment, project, "try-repo", str(hooks), "devlint", "--files", "bad.py", "clean.py")
    assert result.returncode == 1, result.stdout + result.stderr
    assert re.search(r"^devlint\.+Failed$", result.stdout, re.MULTILINE)
    assert places(result.stdout) == ["bad.py:4:1"]
    assert (project / "bad.py").read_text() == BAD


def test_the_hook_runs_on_python_and_notebooks_and_holds_the_excludes(
    environment: Environment, hooks: Path, project: Path
) -> None:
    configure(project, hooks, environment, "devlint")
    result = run(environment, project, "run", "--all-files")
    assert result.returncode == 1
    found = ["bad.py:4:1", "nb.ipynb:cell 2:2:1", "unfixed.py:3:26"]
    assert places(result.stdout) == found
    assert places(environment.run("devlint", ".", cwd=project).stdout) == found
    # A file alone, as when it is committed, has the findings that it has among all the others.
    for place in found:
        name = place.split(":")[0]
        assert places(run(environment, project, "run", "--files", name).stdout) == [place]
    for name in ("clean.py", "old/bad.py"):
        result = run(environment, project, "run", "--files", name)
        assert (result.returncode, "Passed" in result.stdout) == (0, True), result.stdout


def test_the_fix_hook_fixes(environment: Environment, hooks: Path, project: Path) -> None:
    configure(project, hooks, environment, "devlint-fix")
    names = ("bad.py", "nb.ipynb", "old/bad.py")
    result = run(environment, project, "run", "--files", *names)
    assert result.returncode == 1
    assert "files were modified by this hook" in result.stdout
    assert (project / "bad.py").read_text() == FIXED
    assert "x = x.to(device)" in (project / "nb.ipynb").read_text()
    assert (project / "old" / "bad.py").read_text() == BAD
    environment.git(project, "add", ".")
    assert run(environment, project, "run", "--files", *names).returncode == 0
    result = run(environment, project, "run", "--files", "unfixed.py")
    assert result.returncode == 1
    assert "files were modified" not in result.stdout


def test_what_the_hook_installs_has_no_torch(environment: Environment, hooks: Path, project: Path) -> None:
    configure(project, hooks, environment, "devlint")
    assert run(environment, project, "install-hooks").returncode == 0
    code = "import importlib.util as u; print([n for n in ('devlint', 'libcst', 'torch') if u.find_spec(n)])"
    pythons = sorted(environment.home.glob("repo*/py_env-*/bin/python"))
    assert pythons
    for python in pythons:
        found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, cwd=project)
        assert found.stdout.strip() == "['devlint', 'libcst']"


def test_the_page_does_what_it_says(environment: Environment, hooks: Path, project: Path, acme: Path) -> None:
    """With what it shows last: a rule of a third party, as an additional dependency."""
    (project / "indexed.py").write_text(UNFIXED.replace("cuda", "cuda:1"))
    *_, block = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    config = block.replace(REPOSITORY, str(hooks)).replace(
        REVISION, environment.git(hooks, "rev-parse", "HEAD")
    )
    (project / ".pre-commit-config.yaml").write_text(config.replace("acme-devlint", str(acme)))
    environment.git(project, "add", ".")
    install, every, trying = re.findall(r"^\$ (pre-commit .*)$", PAGE, re.MULTILINE)
    assert environment.run(*shlex.split(install), cwd=project).returncode == 0
    assert shlex.split(trying) == ["pre-commit", "try-repo", REPOSITORY, "devlint", "--all-files"]
    result = environment.run(*shlex.split(every), "--color=never", cwd=project)
    assert result.returncode == 1, result.stdout
    assert "ACM101 `cuda:1` is the same device in every process" in result.stdout
    assert "bad.py:4:1" in places(result.stdout)
