"""Which files a path means."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from devlint.config.settings import DEFAULT_EXCLUDE, Settings
from devlint.errors import DevlintError
from devlint.source.files import find

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def found(path: str = ".", **options: Any) -> list[str]:
    settings = Settings(root=os.getcwd())._replace(**options)
    problems: list[str] = []
    files = list(find(path, lambda _: settings, problems))
    assert not problems
    return files


def test_a_walk_is_sorted_and_finds_python_alone(tree: Path) -> None:
    make(
        tree, "b.py", "a.pyi", "c/z.py", "c/a.py", "B.py", "d.txt", "e.pyc", "f", ".hidden.py", "dir.py/x.py"
    )
    assert found() == [".hidden.py", "B.py", "a.pyi", "b.py", "c/a.py", "c/z.py", "dir.py/x.py"]
    assert found("c/") == ["c/a.py", "c/z.py"]
    assert found("./c/../b.py") == ["b.py"]


def test_a_file_named_outright_is_found_whatever_it_is_called(tree: Path) -> None:
    make(tree, "script", "build/a.py")
    assert found("script") == ["script"]
    assert found("build/a.py") == ["build/a.py"]
    assert found("build/a.py", force_exclude=True) == []
    assert found("build", force_exclude=True) == []


@pytest.mark.parametrize("name", DEFAULT_EXCLUDE)
def test_default_excludes(name: str, tree: Path) -> None:
    make(tree, f"{name}/a.py", f"src/{name}/a.py", "src/a.py")
    assert found() == ["src/a.py"]
    assert found(name) == [f"{name}/a.py"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("a.py", ["x/b.py", "x/y/b.py"]),
        ("x", ["a.py"]),
        ("x/y", ["a.py", "x/a.py", "x/b.py"]),
        ("y/b.py", ["a.py", "x/a.py", "x/b.py", "x/y/a.py", "x/y/b.py"]),
        ("**/y/b.py", ["a.py", "x/a.py", "x/b.py", "x/y/a.py"]),
        ("x/**/b.py", ["a.py", "x/a.py", "x/y/a.py"]),
        ("x/*/b.py", ["a.py", "x/a.py", "x/b.py", "x/y/a.py"]),
        ("b*", ["a.py", "x/a.py", "x/y/a.py"]),
        ("./x/", ["a.py"]),
    ],
)
def test_extend_exclude(pattern: str, left: list[str], tree: Path) -> None:
    make(tree, "a.py", "x/a.py", "x/b.py", "x/y/a.py", "x/y/b.py")
    assert found(extend_exclude=(pattern,)) == left


def test_gitignore_nested_and_negated(tree: Path) -> None:
    make(
        tree,
        "a.py",
        "gen.py",
        "out/a.py",
        "src/gen.py",
        "src/keep/gen.py",
        "src/tmp_a.py",
        "src/sub/tmp_b.py",
    )
    (tree / ".gitignore").write_text("gen.py\n/out/\n")
    (tree / "src/.gitignore").write_text("tmp_*\n")
    (tree / "src/keep/.gitignore").write_text("!gen.py\n")
    assert found() == ["a.py", "src/keep/gen.py"]
    assert len(found(respect_gitignore=False)) == 7
    assert found("gen.py") == ["gen.py"]


def test_gitignore_above_counts_inside_a_repository(tree: Path) -> None:
    make(tree, "src/a.py", "src/gen.py")
    (tree / ".gitignore").write_text("gen.py\n")
    assert found("src") == ["src/a.py", "src/gen.py"]
    (tree / ".git").mkdir()
    assert found("src") == ["src/a.py"]


def test_links(tree: Path) -> None:
    make(tree, "src/a.py", "other/b.py")
    (tree / "src/loop").symlink_to(tree / "src")
    (tree / "src/c.py").symlink_to(tree / "other/b.py")
    (tree / "src/dangling.py").symlink_to("nowhere")
    (tree / "link").symlink_to("src")
    assert found("src") == ["src/a.py", "src/c.py"]
    assert found("link") == ["link/a.py", "link/c.py"]


def test_pipes_are_not_read(tree: Path) -> None:
    os.mkfifo(tree / "pipe.py")
    assert found() == []


def test_an_absent_path(tree: Path) -> None:
    with pytest.raises(DevlintError, match="no such file or folder: absent"):
        found("absent")


def test_a_folder_that_cannot_be_read(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tree, "a.py", "shut/b.py", "z/c.py")
    scandir = os.scandir

    def guarded(path: str) -> object:
        if path.endswith("shut"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    problems: list[str] = []
    settings = Settings(root=str(tree))
    assert list(find(".", lambda _: settings, problems)) == ["a.py", "z/c.py"]
    assert problems == ["cannot read folder shut: Permission denied"]
