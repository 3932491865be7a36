"""Results that are kept: what has changed is looked at again and nothing else, and nothing is trusted."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from devlint.commands import cache
from devlint.commands.cli import main
from devlint.match import registry, sources
from devlint.project import store
from devlint.rehearsal.program import Company
from devlint.report import FORMATS
from devlint.run import cached, lint, pool

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., tuple[int, str, str]]

PROGRAMS = Path(__file__).parents[1] / "fixtures"
HELPER = "import torch\n\n\ndef place(x: torch.Tensor):\n    return x.to('cuda')\n"
ASKER = (
    "import torch\nfrom helper import place\n\nx = place(torch.ones(4))\ny = torch.ones(4) + x\nprint(y)\n"
)
ALONE = "import torch\n\nx = torch.ones(4)\nx.to('cuda')\nprint(x)\n"
PARTS = "import torch\n\n\ndef mask(device):\n    return torch.ones(4)\n"
PROGRAM = (
    "import torch\nfrom {}_parts import mask\n\n\ndef main():\n    device = torch.device('cuda')\n"
    "    x = torch.zeros(4, device=device)\n    print(x * mask(device))\n\n\n"
    "if __name__ == '__main__':\n    main()\n"
)
NOTEBOOK = (
    '{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, "source": %s}],'
)
NOTEBOOK += ' "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which files ask each other, and a cache in it."""
    monkeypatch.delenv("DEVLINT_NO_CACHE")
    monkeypatch.delenv("DEVLINT_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "pyproject.toml").touch()
    (folder / "helper.py").write_text(HELPER)
    (folder / "asker.py").write_text(ASKER)
    (folder / "alone.py").write_text(ALONE)
    return folder


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were looked at since this was last cleared."""
    found: list[str] = []
    examine = vars(lint)["examine"]

    def noted(raw: bytes, path: str, *others: object) -> object:
        found.append(path)
        return examine(raw, path, *others)

    monkeypatch.setattr(lint, "examine", noted)
    return found


@pytest.fixture
def run(here: Path, examined: list[str], capsys: pytest.CaptureFixture[str]) -> Run:
    """Lint the project, and return exit status and what is printed."""

    def run(*arguments: str) -> tuple[int, str, str]:
        examined.clear()
        status = main(["--select", "ALL", "--output-format", "concise", *arguments, "."])
        return status, *capsys.readouterr()

    return run


def test_what_has_not_changed_is_not_looked_at_again(run: Run, examined: list[str]) -> None:
    first = run()
    assert examined == ["alone.py", "asker.py", "helper.py"]
    assert "asker.py:5:5: DEV403" in first[1]
    assert run() == first
    assert examined == []


@pytest.mark.parametrize("output", FORMATS)
def test_every_format_is_the_same_from_the_cache(
    run: Run, here: Path, examined: list[str], output: str
) -> None:
    (here / "notes.ipynb").write_text(NOTEBOOK % '["import torch\\n", "x = torch.ones(2)\\n", "x.cuda()"]')
    (here / "silent.py").write_text(
        "import torch\ntorch.ones(2).cuda()  # noqa: DEV201\nx = 1  # noqa: DEV101\n"
    )
    shutil.copytree(PROGRAMS / "projects" / "circles", here / "circles")
    plain = run("--no-cache", "--output-format", output)
    assert run("--output-format", output) == plain
    run()
    assert run("--output-format", output) == plain
    assert examined == []


def test_a_comment_in_a_helper_concerns_the_helper_alone(run: Run, here: Path, examined: list[str]) -> None:
    (here / "clean.py").write_text("from helper import place\nprint(place)\nimport torch\n")
    run()
    (here / "helper.py").write_text(HELPER + "# a remark\n")
    run()
    # A finding in asker.py shows a line of the helper.
    assert examined == ["asker.py", "helper.py"]
    (here / "asker.py").write_text(ASKER.replace("y = torch.ones(4) + x", "y = x"))
    run()
    (here / "helper.py").write_text("# a remark\n" + HELPER)
    run()
    assert examined == ["helper.py"]


def test_a_program_is_gone_through_again_where_a_file_that_it_reads_has_changed(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[str] = []
    through = Company._gone_through

    def noted(self: Company, path: str, *others: Any) -> object:
        gone.append(Path(path).name)
        return through(self, path, *others)

    monkeypatch.setattr(Company, "_gone_through", noted)
    for name in ("one", "two"):
        (here / f"{name}_parts.py").write_text(PARTS)
        (here / f"{name}.py").write_text(PROGRAM.format(name))
    first = run()
    assert {"one.py", "two.py"} <= set(gone)
    assert "one.py:8:15: DEV403" in first[1]
    gone.clear()
    (here / "two_parts.py").write_text(PARTS.replace("4", "8"))
    changed = run()
    assert set(gone) == {"two.py"}
    assert changed == run("--no-cache")
    gone.clear()
    (here / "one_parts.py").write_text(PARTS.replace("torch.ones(4)", "torch.ones(4, device=device)"))
    mended = run()
    assert set(gone) == {"one.py"}
    assert "one.py:8:15: DEV403" not in mended[1]
    assert mended == run("--no-cache")


def test_what_a_helper_returns_concerns_who_asks(run: Run, here: Path, examined: list[str]) -> None:
    other = (
        "import torch\nfrom helper import other\n\nx = other(torch.ones(2))\nx.cuda()\n"
        "there = torch.cuda.is_available()\nprint(there)\n"
    )
    (here / "other.py").write_text(other)  # it chooses, so that the choices of others are nothing to it
    (here / "helper.py").write_text(f"{HELPER}\n\ndef other(x):\n    return x\n")
    assert "asker.py:5" in run()[1]
    (here / "helper.py").write_text(f"{HELPER.replace('cuda', 'cpu')}\n\ndef other(x):\n    return x\n")
    assert "asker.py:5" not in run()[1]
    assert examined == ["asker.py", "helper.py"]


def test_what_passes_through_a_file_between_counts(run: Run, here: Path, examined: list[str]) -> None:
    (here / "between.py").write_text("import helper\n\n\ndef put(x):\n    return helper.place(x)\n")
    (here / "asker.py").write_text(ASKER.replace("helper import place", "between import put as place"))
    assert "asker.py:5" in run()[1]
    assert run()[1].count("asker.py:5") == 1
    assert examined == []
    (here / "helper.py").write_text(HELPER.replace("cuda", "cpu"))
    assert "asker.py:5" not in run()[1]
    assert "asker.py" in examined
    assert "alone.py" not in examined


def test_a_file_that_comes_or_goes_is_an_answer(run: Run, here: Path, examined: list[str]) -> None:
    (here / "helper.py").rename(here / "later.txt")
    assert "asker.py:5" not in run()[1]
    (here / "later.txt").rename(here / "helper.py")
    assert "asker.py:5" in run()[1]
    (here / "helper").mkdir()
    (here / "helper" / "__init__.py").write_text("def place(x):\n    return 3\n")
    assert "asker.py:5" not in run()[1]
    assert "alone.py" not in examined


@pytest.mark.parametrize("project", ["circles", "wrappers", "callers"])
def test_whatever_changes_the_findings_are_those_of_a_first_run(
    run: Run, here: Path, examined: list[str], project: str
) -> None:
    shutil.copytree(PROGRAMS / "projects" / project, here / project)
    files = sorted((here / project).rglob("*.py"))
    chance = random.Random(1)
    skipped = 0
    for _ in range(12):
        path = chance.choice(files)
        if not path.exists():
            path.with_suffix(".gone").rename(path)
        elif chance.random() < 0.3:
            path.rename(path.with_suffix(".gone"))
        else:
            lines = path.read_text().splitlines()
            at = chance.randrange(len(lines) + 1)
            indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())] if at < len(lines) else ""
            lines[at:at] = [chance.choice(["# a remark", f"{indent}pass  # no more", ""])]
            path.write_text("\n".join(lines) + "\n")
        plain = run("--no-cache")
        assert run() == plain
        skipped += len(list(here.rglob("*.py"))) - len(examined)
    assert skipped > 30


def test_an_option_in_another_file_counts(run: Run, here: Path, examined: list[str]) -> None:
    for path in here.glob("*.py"):
        path.unlink()
    shutil.copytree(PROGRAMS / "projects" / "throughout", here, dirs_exist_ok=True)

    def warnings() -> list[int]:
        found = json.loads(run("--output-format", "json")[1])
        own = [each for each in found if Path(each["filename"]).name == "train.py"]
        return [each["location"]["row"] for each in own if each["severity"] == "warning"]

    assert warnings() == []
    assert warnings() == []
    assert examined == []
    text = (here / "layers.py").read_text()
    (here / "layers.py").write_text(f'{text}\n\nOPTIONS = ["--cpu"]\n')
    assert warnings() == [15]  # nothing uses what line 22 is in
    (here / "layers.py").write_text(text)
    assert warnings() == []


def test_a_use_in_another_file_counts(run: Run, here: Path, examined: list[str]) -> None:
    for path in here.glob("*.py"):
        path.unlink()
    shutil.copytree(PROGRAMS / "projects" / "unused", here, dirs_exist_ok=True)

    def warnings() -> list[int]:
        found = json.loads(run("--output-format", "json")[1])
        own = [each for each in found if Path(each["filename"]).name == "tools.py"]
        return [each["location"]["row"] for each in own if each["severity"] == "warning"]

    assert warnings() == [7, 16]
    assert warnings() == [7, 16]
    (here / "other.py").write_text("from tools import decoded\n\nprint(decoded(1))\n")
    assert warnings() == [7, 12, 16]
    (here / "other.py").unlink()
    assert warnings() == [7, 16]


def test_the_findings_of_circles_are_kept(run: Run, here: Path, examined: list[str]) -> None:
    shutil.copytree(PROGRAMS / "projects" / "circles", here / "circles")
    first = run()
    assert "circles" in first[1]
    assert run() == first
    assert examined == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--ignore", "DEV101"), ""),
        ((), '[tool.devlint.per-file-ignores]\n"alone.py" = ["DEV101"]\n'),
        (("--config", "lint-tests = true"), ""),
        ((), "[tool.devlint]\nunfixable = ['DEV101']\n"),
        (("--target-torch", "2.0"), ""),
        (("--ignore-noqa",), ""),
    ],
)
def test_settings_that_have_a_say_count(
    run: Run, here: Path, examined: list[str], arguments: tuple[str, ...], text: str
) -> None:
    before = run()
    (here / "pyproject.toml").write_text(text)
    changed = run(*arguments)
    assert "alone.py" in examined
    assert changed == run("--no-cache", *arguments)
    (here / "pyproject.toml").write_text("")
    assert run() == before
    assert examined == []


def test_settings_that_have_none_do_not_count(run: Run, here: Path, examined: list[str]) -> None:
    run()
    (here / "pyproject.toml").write_text(
        "[tool.devlint]\nextend-exclude = ['x']\noutput-format = 'json'\njobs = 1\n"
    )
    run()
    assert examined == []


def test_another_version_of_anything_counts(
    run: Run, examined: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    monkeypatch.setattr(cache, "_versions", lambda: "another")
    run()
    assert len(examined) == 3
    monkeypatch.setattr(cache, "_versions", lambda: "")  # nobody knows
    run()
    run()
    assert len(examined) == 3


def test_versions_are_those_of_all_that_rules_and_knowledge_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "some_rules"
    package.mkdir()
    said = []
    for text in ("x = 1\n", "x = 1\n", "x = 2\n"):
        (package / "__init__.py").write_text("")
        (package / "helper.py").write_text(text)
        (package / "table.txt").write_text("")
        for name in [name for name in sys.modules if name.startswith("some_rules")]:
            del sys.modules[name]
        __import__("some_rules.helper")
        said.append(sources.of([EntryPoint("some", "some_rules", registry.GROUP)])[1])
    assert said[0] == said[1] != said[2]
    (package / "table.txt").write_text("knowledge")
    files, with_data = sources.of([EntryPoint("some", "some_rules", registry.GROUP)])
    assert with_data not in said
    assert str(package / "table.txt") in files
    del sys.modules["some_rules"], sys.modules["some_rules.helper"]


def test_processes_keep_and_use_the_same(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "SMALL", 0)
    monkeypatch.setattr(pool, "_LEAST", 1)
    shutil.copytree(PROGRAMS / "projects" / "circles", here / "circles")
    plain = run("--no-cache", "--jobs", "1")
    assert run("--jobs", "2") == plain
    monkeypatch.setattr(pool, "processes", lambda *_: pytest.fail("there is nothing to do"))
    assert run("--jobs", "2") == plain


@pytest.mark.parametrize(
    "arguments",
    [("--fix", "--unsafe-fixes"), ("--diff", "--unsafe-fixes"), ("--add-noqa",), ("--baseline", "b.json")],
)
def test_what_changes_files_does_the_same(
    run: Run, here: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    if arguments[0] == "--baseline":
        run("--no-cache", *arguments, "--write-baseline")
        (here / "alone.py").write_text(ALONE.replace("cuda", "cuda:1"))
    shutil.copytree(here, tmp_path / "copy")
    results = []
    for warm in (False, True):
        if warm:
            run()
        said = run(*arguments, *(() if warm else ("--no-cache",)))
        again = run("--no-cache")
        files = {path.name: path.read_bytes() for path in sorted(here.glob("*.py"))}
        results.append((said, again, files))
        for path in (tmp_path / "copy").iterdir():
            shutil.copy(path, here)
    assert results[0] == results[1]


def test_fixes_reach_who_asks(run: Run, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "helper.py").write_text(
        "import torch\n\n\ndef place(x: torch.Tensor):\n    x.to('cuda')\n    return x\n"
    )
    (here / "z_asker.py").write_text(ASKER)
    run()
    status = main(["--select", "DEV101,DEV403", "--fix", "--unsafe-fixes", "--output-format", "concise", "."])
    assert status == 1
    assert "z_asker.py:5" in capsys.readouterr().out


def entries(here: Path) -> list[Path]:
    (folder,) = (path for path in (here / ".devlint_cache").iterdir() if path.is_dir())
    return sorted(folder.iterdir())


def test_the_folder_says_what_it_is(run: Run, here: Path) -> None:
    run("--no-cache")
    assert not (here / ".devlint_cache").exists()
    run()
    assert (here / ".devlint_cache" / "CACHEDIR.TAG").read_text().startswith(store.SIGNATURE)
    assert (here / ".devlint_cache" / ".gitignore").read_text().endswith("*\n")
    assert not [path for path in entries(here) if path.name.startswith(".")]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="see `_forget_old`")
def test_what_old_versions_kept_is_deleted(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    (old,) = (path for path in (here / ".devlint_cache").iterdir() if path.is_dir())
    for version, is_there in (("second", True), ("third", False)):
        monkeypatch.setattr(cache, "_versions", lambda version=version: version)
        run()
        assert old.exists() is is_there
        os.utime(old if is_there else here, (0, 0))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.skipif(sys.platform == "win32", reason="has no pipes of this kind")
@pytest.mark.parametrize("spoil", [truncate, flip, empty, folder, pipe])
def test_what_is_spoiled_is_found_out_again(
    run: Run, here: Path, examined: list[str], spoil: Callable[[Path], None]
) -> None:
    first = run()
    for path in entries(here):
        spoil(path)
    assert run() == first
    assert len(examined) == 3


def test_what_was_written_for_another_file_or_by_another_user_is_not_read(
    run: Run, here: Path, tmp_path: Path, examined: list[str]
) -> None:
    first = run()
    kept = entries(here)
    raws = [path.read_bytes() for path in kept]
    for path, raw in zip(kept, raws[1:] + raws[:1], strict=True):
        path.write_bytes(raw)
    assert run() == first
    assert len(examined) == 3
    (tmp_path / "home" / "devlint" / "key").unlink()
    assert run() == first
    assert len(examined) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="links take rights there")
def test_nothing_is_written_through_a_link(run: Run, here: Path, tmp_path: Path) -> None:
    first = run()
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    for path in entries(here):
        path.unlink()
        path.symlink_to(victim)
    assert run() == first
    assert victim.read_bytes() == b"precious"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    inner = entries(here)[0].parent
    shutil.rmtree(inner)
    inner.symlink_to(elsewhere)
    assert run() == first
    shutil.rmtree(here / ".devlint_cache")
    (here / ".devlint_cache").symlink_to(elsewhere)
    assert run() == first
    assert not list(elsewhere.iterdir())


def test_a_folder_of_somebody_else_is_left_alone(run: Run, here: Path, examined: list[str]) -> None:
    (here / ".devlint_cache").mkdir()
    (here / ".devlint_cache" / "thesis.txt").write_text("all of it")
    first = run()
    assert run() == first
    assert [path.name for path in (here / ".devlint_cache").iterdir()] == ["thesis.txt"]
    assert main(["clean"]) == 2


def test_without_room_or_rights_nothing_is_kept(
    run: Run, here: Path, examined: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run("--no-cache")
    (here / ".devlint_cache").write_text("a file")
    assert run() == first
    (here / ".devlint_cache").unlink()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(store, "_write", full)
        assert run() == first
        assert run() == first
    assert len(examined) == 3


def test_a_kill_leaves_nothing_that_is_read(
    run: Run, here: Path, examined: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run("--no-cache")
    replace = os.replace

    def killed(*given: object, **places: object) -> None:
        if len(list((here / ".devlint_cache").glob("*/*"))) > 3:
            raise KeyboardInterrupt
        replace(*given, **places)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        assert run()[0] == 130
    assert run() == first
    assert 0 < len(examined) < 3


@pytest.mark.parametrize("how", ["flag", "variable", "key"])
def test_the_folder_may_be_another(
    run: Run, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    place = here / "build" / "kept" if how == "key" else tmp_path / "kept"
    if how == "key":
        (here / "pyproject.toml").write_text("[tool.devlint]\ncache-dir = 'build/kept'\n")
    if how == "variable":
        monkeypatch.setenv("DEVLINT_CACHE_DIR", str(place))
    arguments = ("--cache-dir", str(place)) if how == "flag" else ()
    run(*arguments)
    assert (place / "CACHEDIR.TAG").exists()
    assert not (here / ".devlint_cache").exists()
    assert main(["clean", *arguments]) == 0
    assert not place.exists()
    assert main(["clean", *arguments]) == 0


@pytest.mark.parametrize("name", ["../kept", "/tmp/kept", "", "."])
def test_a_configuration_names_no_folder_elsewhere(run: Run, here: Path, name: str) -> None:
    (here / "pyproject.toml").write_text(f"[tool.devlint]\ncache-dir = '{name}'\n")
    status, _, err = run()
    assert status == 2
    assert "tool.devlint.cache-dir: expected the name of a folder in this folder or below" in err


def circle(here: Path, number: int = 30) -> list[Path]:
    """Make a package whose files import each other, each from a few of the others."""
    package = here / "circle"
    package.mkdir()
    (package / "__init__.py").touch()
    chance = random.Random(7)
    files = []
    for own in range(number):
        others = sorted({(own + 1) % number, *chance.sample(range(number), 4)} - {own})
        imports = "".join(f"from .m{each} import place as place{each}\n" for each in others)
        body = "".join(f"    x = place{each}(x)\n" for each in others)
        path = package / f"m{own}.py"
        path.write_text(f"import torch\n{imports}\n\ndef place(x):\n{body}    return x.to('cuda')\n")
        files.append(path)
    return files


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files of which it was asked what was learned of them."""
    found: list[str] = []
    get = store.Store.get

    def noted(self: store.Store, kind: str, path: str) -> object:
        if kind == "module":
            found.append(path)
        return get(self, kind, path)

    monkeypatch.setattr(store.Store, "get", noted)
    return found


def test_where_nothing_has_changed_nobody_is_asked(
    run: Run, here: Path, examined: list[str], asked: list[str]
) -> None:
    circle(here)
    first = run()
    asked.clear()
    assert run() == first == run("--no-cache")
    assert asked == []


def test_in_a_circle_each_is_asked_a_few_times(run: Run, here: Path, asked: list[str]) -> None:
    files = circle(here)
    run()
    for path in (files[3], here / "helper.py"):
        path.write_text(path.read_text() + "# a remark\n")
        asked.clear()
        found = run()
        most = max(map(asked.count, asked))
        # What is kept is looked at once more where something is put beside it.
        assert most <= 16
        assert found == run("--no-cache")


@pytest.mark.parametrize(
    ("jobs", "linted", "answers"), [("1", "linted", 3), ("2", "linted", 3), ("1", "linted/asker.py", 2)]
)
def test_whatever_was_read_has_a_say(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    jobs: str,
    linted: str,
    answers: int,
) -> None:
    monkeypatch.setattr(pool, "SMALL", 0)
    monkeypatch.setattr(pool, "_LEAST", 1)
    (here / "linted").mkdir()
    (here / "linted" / "asker.py").write_text(ASKER)
    (here / "linted" / "other.py").write_text(ALONE)

    def lint(*arguments: str) -> str:
        base = ["--select", "ALL", "--output-format", "concise", "--jobs", jobs, "--exit-zero", *arguments]
        assert main([*base, linted]) == 0
        return capsys.readouterr().out

    before = lint()
    assert lint() == before
    assert "asker.py:5" in before
    steps: list[Callable[[], object]] = [
        lambda: (here / "helper.py").write_text(HELPER.replace("cuda", "cpu")),  # a file that is not linted
        lambda: (here / "helper.py").write_text(HELPER),
        lambda: (here / "helper.py").rename(here / "later.txt"),
        lambda: (here / "later.txt").rename(here / "helper.py"),
        lambda: (here / "linted" / "helper.py").write_text("def place(x):\n    return 3\n"),  # comes first
        lambda: (here / "linted" / "helper.py").unlink(),
        lambda: (here / "linted" / "helper").mkdir(),
        lambda: (here / "linted" / "helper" / "__init__.py").write_text("def place(x):\n    return 3\n"),
        lambda: shutil.rmtree(here / "linted" / "helper"),
        lambda: (here / "linted" / "pyproject.toml").write_text(""),  # the root of another project
        lambda: (here / "linted" / "pyproject.toml").write_text(
            '[tool.devlint.per-file-ignores]\n"other.py" = ["DEV101"]\n'
        ),
        lambda: (here / "linted" / "pyproject.toml").unlink(),
    ]
    said = []
    for step in steps:
        step()
        plain = lint("--no-cache")
        assert lint() == plain
        assert lint() == plain
        said.append(plain)
    assert len(set(said)) == answers


def test_one_file_is_known_again_without_any_question(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And whatever other single files were linted meanwhile."""
    names = [f"file{number}.py" for number in range(20)]
    for name in names:
        (here / name).write_text(ALONE)

    def lint() -> list[str]:
        found = []
        for name in names:
            assert main(["--select", "ALL", "--output-format", "concise", name]) == 1
            found.append(capsys.readouterr().out)
        return found

    said = lint()
    assert all("DEV101" in each for each in said)
    assert lint() == said
    assert lint() == said

    def ask(*_: object) -> None:
        raise AssertionError("somebody is asked")

    monkeypatch.setattr(cached, "at_once", ask)
    assert lint() == said


def test_a_file_of_the_same_size_and_time_counts(run: Run, here: Path, examined: list[str]) -> None:
    path = here / "alone.py"
    status = path.stat()
    before = run()
    path.write_text(ALONE.replace("ones(4)", "ones(5)").replace("x", "z"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert run() == run("--no-cache")
    path.write_text("import os\n" + "#" * (status.st_size - 11) + "\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert "alone.py" in before[1]
    assert "alone.py" not in run()[1]


def test_a_file_that_changes_while_it_is_read_is_not_taken_for_what_it_was(
    run: Run, here: Path, examined: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run("--no-cache")
    examine = vars(lint)["examine"]

    def changed(raw: bytes, path: str, *others: object) -> object:
        if path == "asker.py":
            (here / "helper.py").write_text(HELPER.replace("cuda", "cpu"))
        return examine(raw, path, *others)

    with monkeypatch.context() as patch:
        patch.setattr(lint, "examine", changed)
        assert "asker.py:5" not in run()[1]
    (here / "helper.py").write_text(HELPER)
    assert run() == first
