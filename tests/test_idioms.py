"""Ways in which people move tensors and modules, all right: nothing is said of them, in one file or two."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from devlint.config.settings import Selection, Settings
from devlint.finding import Severity
from devlint.project.disk import project
from devlint.run.lint import lint

IDIOMS = sorted((Path(__file__).parents[1] / "fixtures" / "idioms").glob("*.py"))
SETTINGS = Settings(selections=(Selection(select=("ALL",)),))
Definition = ast.FunctionDef | ast.ClassDef


def said(path: Path) -> list[str]:
    found = lint(path.read_bytes(), str(path), SETTINGS, project=project())
    loud = (each for each in found if each.severity is not Severity.NOTE)
    return [f"{each.start.row} {each.code} {each.message}" for each in loud]


def definitions(path: Path) -> list[Definition]:
    """What another file can have: nothing where a definition needs what the program sets."""
    body = ast.parse(path.read_text()).body
    found = [node for node in body if isinstance(node, Definition) and node.name != "main"]
    plain = (node for node in body if not isinstance(node, Definition))
    names = [name for node in plain for name in ast.walk(node) if isinstance(name, ast.Name)]
    stored = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return [] if any(stored & _free(node) for node in found) else found


def _free(definition: Definition) -> set[str]:
    """The names that a definition reads, and neither assigns nor has as parameters."""
    nodes = list(ast.walk(definition))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return {name.id for name in names} - own


@pytest.mark.parametrize("path", IDIOMS, ids=lambda path: path.stem)
def test_an_idiom_has_no_finding(path: Path) -> None:
    assert said(path) == []


@pytest.mark.parametrize("path", [each for each in IDIOMS if definitions(each)], ids=lambda path: path.stem)
def test_nor_has_it_in_two_files(path: Path, tmp_path: Path) -> None:
    body, names = ast.parse(path.read_text()).body, [node.name for node in definitions(path)]
    imports = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
    moved = [node for node in body if isinstance(node, Definition) and node.name in names]
    rest = [node for node in body if node not in imports and node not in moved]
    brought = ast.parse(f"from parts import {', '.join(names)}").body
    program, parts = tmp_path / "program.py", tmp_path / "parts.py"
    (tmp_path / "pyproject.toml").write_text("")
    parts.write_text(ast.unparse(ast.Module([*imports, *moved], [])))
    program.write_text(ast.unparse(ast.Module([*imports, *brought, *rest], [])))
    assert said(program) + said(parts) == []
