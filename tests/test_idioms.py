"""Ways in which people move tensors and modules, all right: nothing is said of them, in one file or two."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from devlint.config.settings import Selection, Settings
from devlint.finding import Severity
from devlint.match.registry import severities
from devlint.project.disk import project
from devlint.run.lint import lint

IDIOMS = sorted((Path(__file__).parents[1] / "fixtures" / "idioms").glob("*.py"))
NOTES = tuple(code for code, severity in severities().items() if severity is Severity.NOTE)
SETTINGS = Settings(selections=(Selection(select=("ALL",), ignore=NOTES),))


def said(path: Path) -> list[str]:
    found = lint(path.read_bytes(), str(path), SETTINGS, project=project())
    return [
        f"{each.start.row} {each.code} {each.message}" for each in found if each.severity is not Severity.NOTE
    ]


@pytest.mark.parametrize("path", IDIOMS, ids=lambda path: path.stem)
def test_an_idiom_has_no_finding(path: Path) -> None:
    assert said(path) == []


@pytest.mark.parametrize("path", IDIOMS, ids=lambda path: path.stem)
def test_nor_has_it_in_two_files(path: Path, tmp_path: Path) -> None:
    tree = ast.parse(path.read_text())
    kept = [
        node
        for node in tree.body
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name == "main"
    ]
    moved = [node for node in tree.body if node not in kept]
    imports = [node for node in kept if isinstance(node, (ast.Import, ast.ImportFrom))]
    plain = [node for node in kept if not isinstance(node, ast.FunctionDef)]
    stored = (name for node in plain for name in ast.walk(node) if isinstance(name, ast.Name))
    globals_ = {name.id for name in stored if isinstance(name.ctx, ast.Store)}
    used = {name.id for node in moved for name in ast.walk(node) if isinstance(name, ast.Name)}
    if not moved or globals_ & used:
        pytest.skip("what it defines needs what the program sets")
    names = [node.name for node in moved if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "parts.py").write_text(ast.unparse(ast.Module([*imports, *moved], [])))
    brought = ast.parse(f"from parts import {', '.join(names)}").body
    rest = [node for node in kept if node not in imports]
    (tmp_path / "program.py").write_text(ast.unparse(ast.Module([*imports, *brought, *rest], [])))
    assert said(tmp_path / "program.py") + said(tmp_path / "parts.py") == []
