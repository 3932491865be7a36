"""What is built and installed: rules under devlint, nothing else at the top."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_wheel_holds_every_module_and_no_top_level_rules(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"devlint"}
    installed = {name for name in names if name.endswith(".py")}
    sources = {f"devlint/rules/{path.name}" for path in (ROOT / "rules").glob("*.py")}
    sources |= {str(path.relative_to(ROOT)) for path in (ROOT / "devlint").rglob("*.py")}
    assert installed == sources
    assert "devlint/py.typed" in names


def test_an_installed_wheel_finds_its_rules(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(target)
    code = (
        "import devlint, sys; from devlint.cli import main; status = main(['rules']);"
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
