"""A third party's rules: a package of their own, found by its entry point once it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from devlint import testing
from devlint.errors import DevlintError

EXAMPLE = Path(__file__).parent / "acme"
BUG = EXAMPLE / "fixtures" / "ACM101" / "bug.py"


@pytest.fixture(scope="module")
def site(acme: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package; that of a wheel in pure Python means to unpack it where Python looks."""
    site = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(acme).extractall(site)
    return site


def run(site: Path, *arguments: str, cwd: Path = EXAMPLE) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_its_findings_stand_among_the_others(site: Path) -> None:
    result = run(site, "devlint", "--isolated", "--output-format", "concise", str(BUG))
    assert result.returncode == 1
    lines = [line.removeprefix(f"{BUG}:") for line in result.stdout.splitlines()]
    assert lines[0] == "10:32: ACM101 `cuda:0` is the same device in every process"
    # Where DEV202 has told of the first place, the second is a note.
    assert [line.split()[1] for line in lines[:3]] == ["ACM101", "DEV202", "ACM101"]


def test_it_is_selected_and_explained_as_any_other(site: Path) -> None:
    result = run(site, "devlint", "--isolated", "--ignore", "ACM,DEV2", str(BUG))
    assert (result.returncode, result.stdout) == (0, "All checks passed.\n")
    assert "ACM101  fixed-index" in run(site, "devlint", "rules").stdout
    page = run(site, "devlint", "rule", "ACM101").stdout
    assert "At Acme the launcher gives every process its device." in page


def test_its_tests_pass_with_devlint_testing(site: Path, tmp_path: Path) -> None:
    checkout = shutil.copytree(EXAMPLE, tmp_path / "acme")
    result = run(site, "pytest", "-q", "tests", cwd=checkout)
    assert result.returncode == 0, result.stdout
    proofs = "13 passed" if find_spec("torch") else "12 passed, 1 skipped"
    assert proofs in result.stdout


def test_its_rule_in_preview_waits_for_preview(site: Path, tmp_path: Path) -> None:
    shutil.copy(EXAMPLE / "fixtures" / "ACM104" / "bug.py", tmp_path)
    (tmp_path / "devlint.toml").write_text("select = ['rendered-in-loop']\n")
    without = run(site, "devlint", "--output-format", "concise", ".", cwd=tmp_path)
    assert (without.returncode, without.stdout) == (0, "All checks passed.\n")
    assert without.stderr == ("devlint: selection `ACM104` has no effect because preview is not enabled\n")
    with_it = run(site, "devlint", "--output-format", "concise", "--preview", ".", cwd=tmp_path)
    assert (with_it.returncode, with_it.stderr) == (1, "")
    assert with_it.stdout.startswith("bug.py:7:19: ACM104 the same scene is rendered in every round\n")
    line = run(site, "devlint", "explain", "bug.py:7", cwd=tmp_path)
    assert (
        "ACM104 rendered-in-loop is off\n      it is in preview, and runs with --preview alone\n"
        in line.stdout
    )
    (tmp_path / "devlint.toml").write_text("preview = true\nexplicit-preview-rules = true\n")
    line = run(site, "devlint", "explain", "bug.py:7", cwd=tmp_path)
    off = "ACM104 rendered-in-loop is off\n      it is in preview, and runs if its whole code is selected\n"
    assert off in line.stdout


@pytest.mark.skipif(find_spec("torch") is None, reason="proofs need torch")
def test_a_false_claim_fails(tmp_path: Path) -> None:
    folder = tmp_path / "DEV101"
    folder.mkdir()
    wrong = "import torch\n\nx = torch.ones(2)\nx.to('cuda')  # DEV101\n"  # nothing fails of it
    for name in ("", "_to_host"):
        (folder / f"bug{name}.py").write_text(wrong)
        (folder / f"fixed{name}.py").write_text("import torch\n\nx = torch.ones(2)\nx = x.to('cpu')\n")
    with pytest.raises(AssertionError) as raised:
        testing.prove(tmp_path, "DEV101", devices=("sim",))
    told = str(raised.value).splitlines()
    assert len(told) == 2
    for line, name in zip(told, ("bug.py", "bug_to_host.py"), strict=True):
        assert re.fullmatch(rf"DEV101 {re.escape(name)} on sim: claimed `.+`, but runs.*", line)


def test_a_program_that_marks_nothing_proves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "DEV101"
    folder.mkdir()
    for name in ("bug.py", "fixed.py"):
        (folder / name).write_text("import torch\n")
    with pytest.raises(AssertionError) as raised:
        testing.prove(tmp_path, "DEV101")
    assert str(raised.value).splitlines() == [
        "DEV101 bug.py: no line of it is marked: `# DEV101`",
        "DEV101 bug_to_host.py: the rule claims something about it, but there is none",
    ]
    with pytest.raises(AssertionError, match=r"^DEV105 bug\.py: there is no DEV105/bug\.py\n"):
        testing.prove(tmp_path, "DEV105")


def test_nothing_is_proven_of_a_rule_that_is_not_installed(tmp_path: Path) -> None:
    with pytest.raises(DevlintError, match="no rule has the code, prefix or name 'XYZ999'"):
        testing.prove(tmp_path, "XYZ999")


@pytest.mark.skipif(find_spec("torch") is None, reason="proofs need torch")
def test_its_claims_are_proven_by_the_command(site: Path) -> None:
    result = run(site, "devlint", "verify", "ACM101", "--fixtures", "fixtures", "--device", "cpu")
    assert result.returncode == 0, result.stdout
    assert "ACM101" in result.stdout


BUG_TEXT = """import torch

x = torch.ones(2)
x.to(device)  # DEV101
print(x)
"""
FIXED_TEXT = BUG_TEXT.replace("x.to(device)  # DEV101", "x = x.to(device)")


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("bug.py", BUG_TEXT, None),
        ("bug.py", BUG_TEXT.replace("# DEV101", "# DEV101 error"), None),
        ("bug.py", BUG_TEXT.replace("# DEV101", "# DEV101 warning"), "not the severity"),
        ("bug.py", BUG_TEXT.replace("# DEV101", "# DEV101 unfixed"), "not that there is no fix"),
        ("bug.py", BUG_TEXT.replace("# DEV101", "# DEV101, nonsense"), "`nonsense` is no mark"),
        ("bug.py", BUG_TEXT.replace("  # DEV101", ""), "not what is marked"),
        ("bug.py", "x = 1  # DEV101\n", "not what is marked"),
        ("bug.py", "x = 1\n", "a bug needs a mark"),
        ("bug.py", "\n" + BUG_TEXT, "not that the fixes make fixed.py of it"),
        ("bug_other.py", BUG_TEXT, "and fixed_other.py beside it"),
        ("near_miss.py", FIXED_TEXT, None),
        ("near_miss.py", BUG_TEXT, "not that there is nothing to find"),
    ],
)
def test_a_program_that_is_not_what_it_says_fails(
    tmp_path: Path, name: str, text: str, complaint: str | None
) -> None:
    folder = tmp_path / "DEV101"
    folder.mkdir()
    (folder / "fixed.py").write_text(FIXED_TEXT)
    (folder / name).write_text(text)
    assert testing.programs(tmp_path) == sorted([folder / "fixed.py", folder / name])
    if complaint is None:
        testing.check(folder / name)
    else:
        with pytest.raises(AssertionError, match=complaint):
            testing.check(folder / name)
