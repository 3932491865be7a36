"""What must not matter does not: in which file a definition stands, in what order, from how deep one asks."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path

import pytest

from devlint.infer import summarise
from devlint.lint import lint
from devlint.project.index import Project
from devlint.settings import Selection, Settings

FOLDER = Path(__file__).parents[1] / "fixtures"
FILES = sorted(path for path in FOLDER.glob("DEV*/*.py"))
EVERYTHING = Settings(selections=(Selection(select=("ALL",)),))
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Places = list[tuple[str, int, int]]


def name(path: Path) -> str:
    return path.relative_to(FOLDER).with_suffix("").as_posix()


def read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return None


def found(text: str, path: Path | str = "a.py", project: Project | None = None) -> Places:
    """What is reported, and where."""
    findings = lint(text, str(path), EVERYTHING, project=project)
    return [(each.code, each.start.row, each.start.column) for each in findings]


# A definition in another file


def first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", ())
    return min((node.lineno, *(each.lineno for each in decorators)))


def bound(tree: ast.Module) -> set[str]:
    """The names that a module's imports bind."""
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    return {alias.asname or alias.name.partition(".")[0] for each in imports for alias in each.names}


def needed(node: Definition) -> set[str]:
    """The names that a definition reads and does not bind itself."""
    used, own = set(), {node.name}
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            (used if isinstance(each.ctx, ast.Load) else own).add(each.id)
        elif isinstance(each, ast.arg):
            own.add(each.arg)
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            own.add(each.name)
        elif isinstance(each, (ast.Global, ast.Nonlocal)):
            used.update(each.names)
            own.difference_update(each.names)
    return used - own - set(dir(builtins))


def splits() -> Iterator[tuple[str, str, str]]:
    """Each definition of the fixtures that needs nothing but imports, with the program's two halves.

    Both keep all lines where they were.
    """
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        imports = bound(tree)
        names = [each.name for each in tree.body if isinstance(each, Definition)]
        for node in tree.body:
            if isinstance(node, Definition) and names.count(node.name) == 1 and needed(node) <= imports:
                rows = text.split("\n")
                inside = range(first_line(node) - 1, node.end_lineno or 0)
                keep = [
                    row
                    for each in tree.body
                    if isinstance(each, (ast.Import, ast.ImportFrom))
                    for row in range(each.lineno - 1, each.end_lineno or 0)
                ]
                here = [row if at not in inside else "" for at, row in enumerate(rows)]
                here[inside.start] = f"from other import {node.name}"
                there = [row if at in inside or at in keep else "" for at, row in enumerate(rows)]
                yield f"{name(path)}:{node.name}", "\n".join(here), "\n".join(there)


SPLITS = {each[0]: each[1:] for each in splits()}

BY_DESIGN = {
    # What a helper of unknown meaning says of a package is read within the file that asks.
    "DEV201/near_optional_imports:make_tensor",
    # pytest runs an autouse fixture, and heeds `pytestmark`, for the tests of that very file.
    "DEV201/near_tests_autouse:Doubled",
    "DEV201/near_tests_autouse:gpu",
    "DEV201/near_tests_autouse:make",
    "DEV201/near_tests_module:TestLayer",
    # A literal is reported in the file where it stands, if it is used as a device there.
    "DEV202/bug_class_setting:Settings",
    # What callers agree to pass is read within a file: another file may call as well.
    "DEV401/bug_callers:error",
    "DEV401/bug_callers:evaluate",
    "DEV402/bug_evaluate:validate",
}


def split(key: str, folder: Path) -> tuple[Places, Places]:
    """What is found in a whole program, and in its two halves."""
    here, there = SPLITS[key]
    whole = found((FOLDER / f"{key.rpartition(':')[0]}.py").read_text(encoding="utf-8"))
    (folder / "main.py").write_text(here, encoding="utf-8")
    (folder / "other.py").write_text(there, encoding="utf-8")
    project = Project(read, summarise)
    halves = found(here, folder / "main.py", project) + found(there, folder / "other.py", project)
    return sorted(whole), sorted(halves)


@pytest.mark.parametrize("key", sorted(SPLITS.keys() - BY_DESIGN))
def test_a_definition_in_another_file_means_the_same(key: str, tmp_path: Path) -> None:
    whole, halves = split(key, tmp_path)
    assert halves == whole


@pytest.mark.parametrize("key", sorted(BY_DESIGN))
def test_what_is_read_within_a_file_alone_is_listed(key: str, tmp_path: Path) -> None:
    whole, halves = split(key, tmp_path)
    assert halves != whole, "it is the same by now: take it from the list"


# Definitions in another order


def at_once(node: Definition) -> set[str]:
    """The names that a definition reads when it is executed, not when it is called."""
    inside: set[ast.AST] = set()
    for each in ast.walk(node):
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside.update(below for statement in each.body for below in ast.walk(statement))
        elif isinstance(each, ast.Lambda):
            inside.update(ast.walk(each.body))
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and each not in inside}


def runs(body: list[ast.stmt]) -> Iterator[list[Definition]]:
    """Definitions that follow each other and may stand in any order."""
    run: list[Definition] = []
    for node in [*body, None]:
        if isinstance(node, Definition):
            run.append(node)
            continue
        names = [each.name for each in run]
        free = not any(at_once(each) & set(names) for each in run)
        if len(run) > 1 and free and len(set(names)) == len(names):
            yield run
        run = []


def reversed_rows(path: Path) -> list[int]:
    """The rows of a program in an order that has its functions, classes and methods backwards."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    order = list(range(len(text.split("\n"))))
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    # The innermost first: what holds them moves as a whole.
    for body in reversed(bodies):
        for run in runs(body):
            spans = [(first_line(each) - 1, each.end_lineno or 0) for each in run]
            chunks = [order[start:end] for start, end in spans]
            gaps = [order[end:start] for (_, end), (start, _) in zip(spans, spans[1:], strict=False)]
            turned = list(reversed(chunks))
            rows = turned[0] + [
                row for gap, chunk in zip(gaps, turned[1:], strict=True) for row in gap + chunk
            ]
            order[spans[0][0] : spans[-1][1]] = rows
    return order


TURNED = {name(path): rows for path in FILES if (rows := reversed_rows(path)) != sorted(rows)}


@pytest.mark.parametrize("key", TURNED)
def test_the_order_of_definitions_does_not_matter(key: str) -> None:
    text = (FOLDER / f"{key}.py").read_text(encoding="utf-8")
    rows, order = text.split("\n"), TURNED[key]
    turned = "\n".join(rows[row] for row in order)
    back = [(code, order[row - 1] + 1, column) for code, row, column in found(turned)]
    assert sorted(back) == sorted(found(text))
