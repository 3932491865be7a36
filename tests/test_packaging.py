"""What is built and installed: rules under devlint, the programs that prove them, nothing else at the top."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


def test_the_wheel_holds_every_module_and_no_top_level_rules(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"devlint"}
    installed = {name for name in names if name.endswith(".py")}
    sources = {f"devlint/rules/{path.name}" for path in (ROOT / "rules").glob("*.py")}
    sources |= {str(path.relative_to(ROOT)) for path in (ROOT / "devlint").rglob("*.py")}
    assert installed == sources
    beside = {"devlint/py.typed", "devlint/config/devlint.schema.json", "devlint/runtime/shim.cpp"}
    assert beside <= set(names)


def test_an_installed_wheel_finds_its_rules(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(target)
    code = (
        "import devlint, sys; from devlint.commands.cli import main; status = main(['rules']);"
        "print(devlint.__file__, 'rules' in sys.modules, file=sys.stderr); sys.exit(status)"
    )
    environment = {"PYTHONPATH": str(target), "PATH": ""}
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stderr.split() == [str(target / "devlint/__init__.py"), "False"]
    assert "DEV101  discarded-move" in run.stdout


def test_installing_pulls_no_torch(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        requires = [
            line for line in archive.read(name).decode().splitlines() if line.startswith("Requires-Dist")
        ]
    assert sorted(line.split()[1].split(">")[0] for line in requires if "extra ==" not in line) == [
        "libcst",
        "msgspec",
        "pathspec",
        "rich",
        "tomli",
    ]


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel as its users do; everything else that is installed here is found too."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)], check=True)
    others = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (packages(folder) / "others.pth").write_text("\n".join(others))
    return folder


def packages(environment: Path) -> Path:
    (module,) = environment.glob("[Ll]ib/**/devlint/__init__.py")
    return module.parents[1]


def devlint(
    environment: Path, *arguments: str, cwd: Path, path: str = ""
) -> subprocess.CompletedProcess[str]:
    (script,) = environment.glob("[Sb]*/devlint*")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    variables |= {"PYTHONPATH": path} if path else {}
    return subprocess.run([script, *arguments], cwd=cwd, env=variables, capture_output=True, text=True)


def test_the_programs_are_installed_as_one_archive(environment: Path) -> None:
    """pip compiles what ends in `.py`, and what lies below a package can be imported."""
    package = packages(environment) / "devlint"
    programs = {path.relative_to(ROOT / "fixtures").as_posix() for path in ROOT.glob("fixtures/**/*.py")}
    with zipfile.ZipFile(package / "fixtures.zip") as archive:
        assert set(archive.namelist()) == programs
        assert all(archive.read(name) == (ROOT / "fixtures" / name).read_bytes() for name in programs)
    assert {"DEV101/bug.py", "infer/moves.py", "programs/clean.py"} < programs
    assert [path.name for path in package.glob("fixtures*")] == ["fixtures.zip"]


SOME = ("DEV102", "DEV205", "DEV407", "DEV505")
"""Rules whose programs take files, arrays and what no machine without an accelerator can show."""
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="proofs need torch")


@needs_torch
def test_an_installed_wheel_proves_claims(environment: Path, tmp_path: Path) -> None:
    """With the programs that are installed: those of the checkout prove every claim elsewhere."""
    result = devlint(environment, "verify", *SOME, "--json", "-v", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    archive = packages(environment) / "devlint" / "fixtures.zip"
    assert result.stderr.startswith(f"devlint: the programs are those in {archive}\n")
    proofs = json.loads(result.stdout)["proofs"]
    verdicts = {device: {p["verdict"] for p in proofs if p["device"] == device} for device in ("cpu", "sim")}
    assert verdicts == {"cpu": {"confirmed"}, "sim": {"confirmed", "not provable here"}}
    assert all("(needs " in proof["claim"] for proof in proofs if proof["verdict"] == "not provable here")
    assert {proof["device"] for proof in proofs} == {"cpu", "sim"}
    pairs = {(code, path.name) for code in SOME for path in ROOT.glob(f"fixtures/{code}/bug*.py")}
    assert pairs <= {(proof["code"], proof["program"]) for proof in proofs}
    assert not list(tmp_path.iterdir())


HIDE = """
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *args: None if name == "numpy" else find(name, *args)
"""


@needs_torch
def test_without_numpy_what_needs_it_is_not_run(environment: Path, tmp_path: Path) -> None:
    hidden, here = tmp_path / "hidden", tmp_path / "here"
    hidden.mkdir()
    here.mkdir()
    (hidden / "sitecustomize.py").write_text(HIDE)
    result = devlint(environment, "verify", *SOME, "--json", "--device", "cpu", cwd=here, path=str(hidden))
    assert result.returncode == 2, result.stdout + result.stderr
    assert result.stderr == "devlint: some programs need numpy, which is not installed\n"
    proofs: list[dict[str, Any]] = json.loads(result.stdout)["proofs"]
    assert {proof["verdict"] for proof in proofs} == {"confirmed", "not run"}
    not_run = [proof for proof in proofs if proof["verdict"] == "not run"]
    assert {proof["evidence"] for proof in not_run} == {"needs numpy"}
    assert {(proof["code"], proof["program"]) for proof in not_run} == {
        (path.parent.name, path.name)
        for code in SOME
        for path in ROOT.glob(f"fixtures/{code}/[bf]*.py")
        if "numpy" in path.read_text()
    }


@needs_torch
def test_what_lies_where_one_stands_is_not_imported(environment: Path, tmp_path: Path) -> None:
    """In a checkout too, the programs and the code are the installed ones."""
    for name in ("torch", "json", "devlint"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')")
    (tmp_path / "fixtures").mkdir()
    result = devlint(environment, "verify", "DEV105", "--device", "cpu", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_source_tree_says_that_it_has_no_rules(environment: Path, source: Path) -> None:
    (python,) = environment.glob("[Sb]*/python")
    result = subprocess.run([python, "-m", "devlint", "rules"], cwd=source, capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr.startswith(f"devlint: {source / 'devlint'} is a source tree")
    assert result.stderr.count("\n") == 1
