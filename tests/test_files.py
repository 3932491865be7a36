"""Which files a path means."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from devlint.config.settings import DEFAULT_EXCLUDE, Settings
from devlint.errors import DevlintError
from devlint.source import ignores
from devlint.source.files import find

if TYPE_CHECKING:
    from collections.abc import Iterator
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


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the user a home of their own."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"):
        monkeypatch.delenv(name, raising=False)
    ignores._excludes_file.cache_clear()
    yield home
    ignores._excludes_file.cache_clear()


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_what_git_ignores_without_a_gitignore(tree: Path, home: Path) -> None:
    make(tree, "a.py", "b.py", "c.py", "x/a.py", "x/b.py")
    write(home / ".config/git/ignore", "a.py\n")
    assert found() == ["a.py", "b.py", "c.py", "x/a.py", "x/b.py"]  # no repository
    write(tree / ".git/info/exclude", "/b.py\n")
    assert found() == ["c.py", "x/b.py"]
    assert found("x") == ["x/b.py"]
    assert found(respect_gitignore=False) == ["a.py", "b.py", "c.py", "x/a.py", "x/b.py"]
    write(tree / ".gitignore", "!a.py\n!b.py\n")  # it wins over the others
    assert found() == ["a.py", "b.py", "c.py", "x/a.py", "x/b.py"]


def test_the_file_that_the_users_git_configuration_names(tree: Path, home: Path) -> None:
    make(tree, "a.py", "b.py", ".git/HEAD")
    write(home / ".config/git/ignore", "a.py\n")
    write(home / ".gitconfig", '[user]\n\texcludesfile = no\n[Core]\n\tExcludesFile = "~/mine" ; here\n')
    write(home / "mine", "b.py\n")
    assert found() == ["a.py"]


def test_a_worktree_has_the_excludes_of_its_repository(tree: Path, home: Path) -> None:
    make(tree, "w/a.py", "w/b.py")
    write(tree / "r/.git/info/exclude", "a.py\n")
    write(tree / "r/.git/worktrees/w/commondir", "../..\n")
    write(tree / "w/.git", "gitdir: ../r/.git/worktrees/w\n")
    assert found("w") == ["w/b.py"]


def test_ignore_has_the_last_word(tree: Path) -> None:
    make(tree, "a.py", "b.py", "c.py")
    write(tree / ".gitignore", "a.py\nb.py\n")
    write(tree / ".ignore", "!a.py\nc.py\n")
    assert found() == ["a.py"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("a*b*c.py", ["ab/c.py", "acb.py"]),
        ("*a*b*.py", ["ab/c.py"]),
        ("/a*/*.py", ["abbc.py", "acb.py", "axbxc.py"]),
        ("a?b*[xc]*c.py", ["ab/c.py", "abbc.py", "acb.py"]),
        ("a*[!b]*b*c.py", ["ab/c.py", "abbc.py", "acb.py"]),
    ],
)
def test_stars_of_a_gitignore(pattern: str, left: list[str], tree: Path) -> None:
    make(tree, "abbc.py", "axbxc.py", "acb.py", "ab/c.py")
    write(tree / ".gitignore", f"{pattern}\n")
    assert sorted(found()) == left


def test_stars_of_a_gitignore_take_no_time(tree: Path) -> None:
    """With every star free to be of any length, this would go on for years."""
    make(tree, f"{'a' * 200}.py")
    write(tree / ".gitignore", f"{'a*' * 60}b\n")
    assert found() == [f"{'a' * 200}.py"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("**/a/**/b/**/c.py", ["a/c.py", "b/a/c.py", "x/a/x/c.py"]),
        ("a/**/x/**/c.py", ["a/b/c.py", "a/c.py", "b/a/c.py", "x/a/b/x/c.py", "x/a/x/c.py"]),
        ("**/[ab]/**/a*/**/*.py", ["a/b/c.py", "a/c.py", "a/x/b/c.py", "x/a/b/x/c.py", "x/a/x/c.py"]),
        ("/x/**/b/**", ["a/b/c.py", "a/c.py", "a/x/b/c.py", "b/a/c.py", "x/a/x/c.py"]),
        ("x/**/a/x/**/*.py", ["a/b/c.py", "a/c.py", "a/x/b/c.py", "b/a/c.py", "x/a/b/x/c.py"]),
    ],
)
def test_folders_of_a_gitignore(pattern: str, left: list[str], tree: Path) -> None:
    make(tree, "a/c.py", "a/b/c.py", "a/x/b/c.py", "b/a/c.py", "x/a/b/x/c.py", "x/a/x/c.py")
    write(tree / ".gitignore", f"{pattern}\n")
    assert sorted(found()) == left


def test_folders_of_a_gitignore_take_no_time(tree: Path) -> None:
    """With every `**` free to be of any depth, this would go on for years."""
    path = f"{'a/' * 60}c.py"
    make(tree, path)
    write(tree / ".gitignore", f"{'**/a/' * 30}b\nx/{'**/a*a*/' * 30}b\n")
    assert found() == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_pipe_that_is_called_gitignore(tree: Path) -> None:
    make(tree, "a.py")
    os.mkfifo(tree / ".gitignore")
    assert found() == ["a.py"]
