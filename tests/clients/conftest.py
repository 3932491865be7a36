"""An environment as a user has it: devlint from its wheel, and the programs that run it."""

from __future__ import annotations

import os
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

    def install(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Install with the pip of the tests, which spares an environment its own."""
        command = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install", "--quiet"]
        return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Install the wheel beside flake8, bugbear and pre-commit."""
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
        "GIT_AUTHOR_NAME": "test",
        "GIT_AUTHOR_EMAIL": "test@example.org",
        "GIT_COMMITTER_NAME": "test",
        "GIT_COMMITTER_EMAIL": "test@example.org",
    }
    found = Environment(bin, variables, home)
    installed = found.install(str(wheel), "flake8>=7", "flake8-bugbear", "pre-commit")
    if installed.returncode and "CI" not in os.environ:
        pytest.skip(f"cannot install the clients: {installed.stderr[-500:]}")
    assert installed.returncode == 0, installed.stderr
    return found
