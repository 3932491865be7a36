"""A laboratory: a child process with the simulated device, because nothing may put it into this one."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DEVICE = os.environ.get("DEVLINT_TEST_DEVICE", "sim")
"""Set to `cuda` to compare the same tables with a real GPU."""


class _Process:
    """Calls functions of `laboratory/` in a process that has the device."""

    def __init__(self) -> None:
        command = [sys.executable, str(Path(__file__).parent / "laboratory" / "serve.py"), DEVICE]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(self, function: str, *args: Any) -> Any:
        """The result of `module.function`, as JSON carries it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([function, args]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the process was lost in {function}{args}"
        answer = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer["result"]


@pytest.fixture(scope="session")
def torch_installed() -> None:
    """Skip where there is no torch; it is looked for, not imported."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")


@pytest.fixture(scope="session")
def laboratory(torch_installed: None) -> Iterator[Callable[..., Any]]:
    """Call functions by name in one process for all tests: starting torch takes a second."""
    started = _Process()
    yield started.call
    started.process.kill()
    started.process.wait()


@pytest.fixture(scope="session")
def observe(torch_installed: None) -> Callable[..., dict[tuple[str, str], Any]]:
    """Run programs of `programs/` on the cpu and on the simulated device: what an expression of each is
    in the end, by program and device.
    """
    from devlint.claim import Observes, everywhere
    from devlint.runtime.catalogue import Case
    from devlint.runtime.devices import run_all

    def observed(programs: dict[str, str], devices: int = 1) -> dict[tuple[str, str], Any]:
        cases = []
        for name, expression in programs.items():
            path = Path(__file__).parent / "programs" / f"{name}.py"
            claim = everywhere(Observes(expression, None, None))
            source = path.read_text(encoding="utf-8")
            cases.append(Case("", name, str(path), source, claim, cured=True, devices=devices))
        found = {}
        for run in run_all(("cpu", "sim"), cases, lambda device, case: None):
            assert "unavailable" not in run.about, run.about
            for case, outcome in run.outcomes:
                assert outcome["status"] == "ran", outcome
                value = outcome["values"][programs[case.program]]
                found[case.program, run.device] = ast.literal_eval(value)
        return found

    return observed
