"""`pytest --devlint-sim`, through pytest itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

CONFTEST = """
import pytest, torch

def pytest_addoption(parser):
    parser.addoption("--device", default="cpu")

@pytest.fixture
def device(request):
    return torch.device(request.config.getoption("--device"))
"""
MODULE = """
import unittest
import pytest, torch

@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_runs():
    assert torch.ones(2).cuda().sum().item() == 2

def test_forgets(device):
    weight = torch.ones(3, device=device)
    assert (weight * torch.ones(3)).sum() == 3

def test_names(device):
    with pytest.raises(RuntimeError, match="cuda:0 and cpu"):
        torch.ones(3, device=device) + torch.ones(3)

def test_limit(device):
    torch.eye(2, device=device).to_sparse()

def test_handles_a_limit(device):
    made = False
    try:
        torch.eye(2, device=device).to_sparse()
        made = True
    except Exception:
        pass
    assert made

def test_handles_a_limit_well(device):
    with pytest.raises(Exception, match="not simulated"):
        torch.eye(2, device=device).to_sparse()

def test_fails_by_itself(device):
    assert torch.cuda.device_count() == 2

class TestOld(unittest.TestCase):
    @unittest.skipIf(not torch.cuda.is_available(), "no GPU")
    def test_old(self):
        with self.assertRaisesRegex(RuntimeError, "cuda:0"):
            torch.ones(3).cuda() + torch.ones(3)
"""
NEEDS = "import torch\ndata = torch.eye(2).cuda().to_sparse()\ndef test(): pass\n"
"""A module that cannot be imported."""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder, with the plugin and no other that is installed."""
    own = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    command = [sys.executable, "-m", "pytest", "-p", "devlint.runtime.plugin", "-p", "no:cacheprovider"]
    return subprocess.run([*command, *arguments], cwd=folder, env=own, capture_output=True, text=True)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_it.py").write_text(MODULE)
    (folder / "test_needs.py").write_text(NEEDS)
    return folder


@pytest.fixture(scope="module")
def printed(torch_installed: None, project: Path) -> str:
    return run(project, "--devlint-sim", "--device", "cuda", "-v", "-rs").stdout


RESULTS = {
    "test_runs": "PASSED",
    "test_forgets": "FAILED",
    "test_names": "PASSED",
    "test_limit": "SKIPPED",
    "test_handles_a_limit": "SKIPPED",
    "test_handles_a_limit_well": "PASSED",
    "test_fails_by_itself": "FAILED",
    "TestOld::test_old": "PASSED",
}


@pytest.mark.parametrize("name", RESULTS)
def test_outcomes(printed: str, name: str) -> None:
    assert re.search(rf"test_it\.py::{name} {RESULTS[name]}", printed), printed


def test_it_says_what_cuda_is(printed: str) -> None:
    assert "\ndevlint: cuda is a simulated device, torch " in printed


def test_an_error_is_what_a_gpu_raises_where_the_test_raised_it(printed: str) -> None:
    """Nothing of devlint stands in the traceback."""
    assert "found at least two devices, cuda:0 and cpu!\n\ntest_it.py:11: RuntimeError" in printed
    assert "devlint/runtime" not in printed
    assert "sim:0" not in printed


def test_limits_are_skips_with_their_reasons(printed: str) -> None:
    limit = "devlint: not simulated: a tensor of layout torch.sparse_coo"
    assert re.search(rf"SKIPPED \[1\] test_it\.py:17: {limit}\n", printed), printed
    assert f"{limit}, which the test went on after" in printed
    assert re.search(rf"SKIPPED \[1\] test_needs\.py:1: {limit}\n", printed), printed


def test_with_processes_and_two_devices(torch_installed: None, project: Path) -> None:
    pytest.importorskip("xdist")
    arguments = ["-p", "xdist", "-n", "1", "--devlint-sim", "--devlint-sim-devices", "2", "-q", "test_it.py"]
    done = run(project, *arguments, "--device", "cuda", "-k", "runs or itself or limit")
    assert "3 passed, 2 skipped" in done.stdout, done.stdout


def test_it_costs_nothing_unless_asked_for(tmp_path: Path) -> None:
    """Every pytest of the environment imports it."""
    (tmp_path / "test_none.py").write_text("import sys\ndef test(): assert 'torch' not in sys.modules\n")
    assert run(tmp_path, "-q").returncode == 0
    code = (
        "import sys, pytest; before = set(sys.modules); import devlint.runtime.plugin; "
        "print({name.split('.')[0] for name in set(sys.modules) - before} <= {'devlint'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_it_needs_a_torch_that_can(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libtorch is gone')\n")
    (tmp_path / "test_none.py").write_text("def test(): pass\n")
    own = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "devlint.runtime.plugin", "--devlint-sim"]
    done = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stderr == "ERROR: --devlint-sim needs torch: libtorch is gone\n\n"
