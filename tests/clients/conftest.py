"""An environment as a user has it: devlint from its wheel, and the programs that run it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

import pytest


class Environment(NamedTuple):
    """An environment of programs, and the variables that they run with."""

    bin: Path
    variables: dict[str, str]
    home: Path
    """Where pre-commit keeps what it installs."""

    def run(
        self, *command: str, cwd: Path, stdin: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run one of its programs."""
        program, *arguments = command
        return subprocess.run(
            [str(self.bin / program), *arguments],
            cwd=cwd,
            env={**self.variables, **variables},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )

    def git(self, folder: Path, *arguments: str) -> str:
        """Run git and return what it prints."""
        command = ["git", "-c", "init.defaultBranch=main", *arguments]
        done = subprocess.run(
            command, cwd=folder, env=self.variables, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def install(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Install with the pip of the tests, which spares an environment its own."""
        command = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install", "--quiet"]
        command.append("--no-compile")
        return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Install the wheel beside pre-commit, flake8 and some of its plugins."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder / "venv", with_pip=False)
    bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    home = folder / "home"
    home.mkdir()
    names = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NO_COLOR", "FORCE_COLOR")
    variables = {key: value for key, value in os.environ.items() if key not in names}
    variables |= {
        "PATH": os.pathsep.join((str(bin), variables["PATH"])),
        "PRE_COMMIT_HOME": str(home),
        "PIP_NO_COMPILE": "0",  # says yes: pip reads it as "compile"
        "GIT_AUTHOR_NAME": "test",
        "GIT_AUTHOR_EMAIL": "test@example.org",
        "GIT_COMMITTER_NAME": "test",
        "GIT_COMMITTER_EMAIL": "test@example.org",
    }
    found = Environment(bin, variables, home)
    installed = found.install(str(wheel), "flake8>=7", "flake8-bugbear", "flake8-noqa", "pre-commit")
    if installed.returncode and "CI" not in os.environ:
        pytest.skip(f"cannot install the clients: {installed.stderr[-500:]}")
    assert installed.returncode == 0, installed.stderr
    return found


@pytest.fixture(scope="session")
def hooks(environment: Environment, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository of devlint's sources, as pre-commit clones it."""
    folder = tmp_path_factory.mktemp("hooks") / "devlint"
    shutil.copytree(source, folder)
    environment.git(folder, "init", "--quiet")
    environment.git(folder, "add", ".")
    environment.git(folder, "commit", "--quiet", "--message", "devlint")
    return folder
