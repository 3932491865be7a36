"""The way in for old code: baselines, comments written by the tool, and reports on what has changed."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from devlint.commands.cli import main

if TYPE_CHECKING:
    from pathlib import Path

OLD = "import torch\n\n\ndef f(x):\n    x.to(d)\n"
FLAGS = ["--output-format", "concise", "-q"]
BASELINE = ["--baseline", "old.json"]


@pytest.fixture(autouse=True)
def here(toy: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(OLD)
    return tmp_path


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], list[str]]:
    """Return the status, where findings are, and what stands on stderr."""
    capsys.readouterr()
    status = main([*arguments, *FLAGS])
    out, err = capsys.readouterr()
    places = [re.match(r"(.*?:\d+):\d+: [A-Z]", line) for line in out.splitlines()]
    return status, [place[1] for place in places if place], err.splitlines()


def accept(*paths: str) -> None:
    assert main([*(paths or (".",)), *BASELINE, "--write-baseline", "-q"]) == 0


def test_what_a_baseline_lists_is_not_reported(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accept()
    assert json.loads((here / "old.json").read_text()) == {
        "devlint-baseline": 1,
        "findings": [{"path": "a.py", "code": "TST101", "in": "f", "line": "x.to(d)"}],
    }
    assert found(capsys, *BASELINE) == (0, [], [])


@pytest.mark.parametrize(
    "after",
    [
        "import torch\nimport os\n\n\n\n\ndef f(x):\n    print(os)\n    x.to(d)\n",
        "import torch\ndef g(): pass\nif g:\n    def f(x):\n        if x:\n            x.to(d)\n",
        "import torch\r\ndef f(x):\r\n\tx.to(d)  \r\n",
    ],
)
def test_entries_survive_line_shifts(here: Path, capsys: pytest.CaptureFixture[str], after: str) -> None:
    accept()
    (here / "a.py").write_bytes(after.encode())
    assert found(capsys, *BASELINE) == (0, [], [])


@pytest.mark.parametrize(
    ("after", "rows"),
    [
        (OLD + "    x.to(d)\n", ["a.py:6"]),  # one more of the same
        (OLD + "\n\ndef g(x):\n    x.to(d)\n", ["a.py:9"]),
        (OLD + "    y.to(d)\n", ["a.py:6"]),
    ],
)
def test_what_is_new_is_reported(
    here: Path, capsys: pytest.CaptureFixture[str], after: str, rows: list[str]
) -> None:
    accept()
    (here / "a.py").write_text(after)
    assert found(capsys, *BASELINE) == (1, rows, [])


def test_entries_that_are_fixed_are_reported_until_they_are_taken_out(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "b.py").write_text(OLD)
    accept()
    (here / "a.py").write_text("import torch\n")
    (here / "b.py").unlink()
    status, rows, said = found(capsys, *BASELINE)
    assert (status, rows) == (1, [])
    assert said == [
        "devlint: old.json lists what is fixed (--prune-baseline takes it out):",
        "  a.py: TST101 in f: x.to(d)",
        "  b.py: TST101 in f: x.to(d)",
    ]
    assert main([".", *BASELINE, "--exit-zero"]) == 0
    accept()
    assert found(capsys, *BASELINE) == (0, [], [])
    (here / "a.py").write_text(OLD)
    assert found(capsys, *BASELINE)[:2] == (1, ["a.py:5"])


def test_what_was_not_looked_at_is_not_taken_for_fixed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "b.py").write_text(OLD)
    accept()
    assert found(capsys, "b.py", *BASELINE) == (0, [], [])
    assert found(capsys, "--select", "TST5", *BASELINE)[2] == []
    (here / "b.py").write_text("import torch\n")
    accept("b.py")
    assert [entry["path"] for entry in json.loads((here / "old.json").read_text())["findings"]] == ["a.py"]


def test_a_baseline_holds_from_any_folder(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "sub").mkdir()
    (here / "sub/b.py").write_text(OLD)
    accept()
    monkeypatch.chdir(here / "sub")
    assert found(capsys, "--baseline", "../old.json") == (0, [], [])


def test_fixing_leaves_alone_what_a_baseline_lists(here: Path) -> None:
    accept()
    (here / "a.py").write_text(OLD + "    y.to(d)\n")
    assert main(["--fix", "-q", *BASELINE]) == 0
    assert (here / "a.py").read_text() == OLD + "    y = y.to(d)\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"devlint-baseline": 2, "findings": []}',
            "old.json: a baseline of version 2, and this devlint reads",
        ),
        ('{"devlint-baseline": 1}', "old.json: damaged: `findings` is not a list of findings"),
        ('{"devlint-baseline": 1, "findings": [{"path": "a"}]}', "old.json: damaged: "),
        (
            '{"devlint-baseline": 1, "findings": [{"path": 1, "code": "", "in": "", "line": ""}]}',
            "old.json: dam",
        ),
        ("[]", "old.json: not a baseline of devlint"),
        ("{", "old.json: not valid JSON: "),
        (None, "no such baseline: old.json (--write-baseline makes it)"),
    ],
)
def test_a_bad_baseline_is_one_message_and_stays_as_it_is(
    here: Path, capsys: pytest.CaptureFixture[str], content: str | None, message: str
) -> None:
    if content is not None:
        (here / "old.json").write_text(content)
    status, rows, said = found(capsys, *BASELINE)
    assert (status, rows, len(said)) == (2, [], 1)
    assert said[0].startswith(f"devlint: {message}")
    if content is not None:
        assert main([".", *BASELINE, "--write-baseline"]) == 2
        assert (here / "old.json").read_text() == content


def test_a_baseline_that_cannot_be_written_costs_no_finding(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, rows, said = found(capsys, ".", "--baseline", "no/old.json", "--write-baseline")
    assert (status, rows) == (2, ["a.py:5"])
    assert said == ["devlint: cannot write no/old.json: No such file or directory"]


@pytest.mark.parametrize(
    ("source", "after"),
    [
        ("x.to(d)\n", "x.to(d)  # noqa: TST101\n"),
        ("x.to(d)", "x.to(d)  # noqa: TST101"),
        ("x.to(d)   # moved\r\n", "x.to(d)   # moved  # noqa: TST101\r\n"),
        ("x.to(\n    d\n)\n", "x.to(\n    d\n)  # noqa: TST101\n"),
        ("x.to('''\n''')\n", "x.to('''\n''')  # noqa: TST101\n"),
        ("x.to(d); y.to(d)\n", "x.to(d); y.to(d)  # noqa: TST101\n"),
        ("if x: x.to(d)\n", "if x: x.to(d)  # noqa: TST101\n"),
        ("x.to(d)  # noqa: E501 so long\n", "x.to(d)  # noqa: E501, TST101 so long\n"),
        ("x.to(d)  # devlint: ignore[TST5] why\n", "x.to(d)  # devlint: ignore[TST5] why  # noqa: TST101\n"),
    ],
)
def test_noqa_is_added(here: Path, source: str, after: str) -> None:
    (here / "a.py").write_bytes(f"import torch\n{source}".encode())
    assert main(["--add-noqa", "-q"]) == 0
    assert (here / "a.py").read_bytes().decode() == f"import torch\n{after}"
    assert main(["-q"]) == 0


def test_noqa_is_added_with_a_reason(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text("import torch\nx.to(d)\ny.to(d)  # noqa: E1\nz.to(d)  # noqa: E1 why\n")
    assert main(["--add-noqa", "--reason", "Old code"]) == 0
    assert (here / "a.py").read_text() == (
        "import torch\n"
        "x.to(d)  # noqa: TST101 - Old code\n"
        "y.to(d)  # noqa: E1, TST101 - Old code\n"
        "z.to(d)  # noqa: E1, TST101 why\n"
    )
    assert "3 findings silenced" in capsys.readouterr().err


def test_noqa_is_added_to_cells(here: Path) -> None:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "source": text, "metadata": {}} for text in ("import torch", "x.to(d)\n")
    ]
    (here / "a.py").unlink()
    (here / "nb.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}))
    assert main(["--add-noqa", "-q"]) == 0
    sources = ["".join(cell["source"]) for cell in json.loads((here / "nb.ipynb").read_text())["cells"]]
    assert sources == ["import torch", "x.to(d)  # noqa: TST101\n"]
    assert main(["-q"]) == 0


def test_what_cannot_be_silenced_is_reported(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "b.py").write_text("def f(:\n")
    (here / "c.py").write_text(OLD)
    (here / "c.py").chmod(0o444)
    status, rows, said = found(capsys, "--add-noqa")
    assert (status, rows) == (2, ["b.py:1", "c.py:5"])
    assert said == ["devlint: cannot fix c.py: the file is read-only"]
    assert "noqa" in (here / "a.py").read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--reason", "x"],
        ["--add-noqa", "--fix"],
        ["--diff-base", "HEAD", "--fix"],
        ["--write-baseline", "--baseline", "b", "--diff-base", "HEAD"],
        ["--add-noqa", "-"],
        ["--prune-baseline", "--baseline", "b", "--write-baseline"],
        ["--prune-baseline", "--baseline", "b", "--diff"],
        *(["--add-noqa", "--reason", f"a{end}b"] for end in "\n\r\f\x1b\x85\u2028\u202e\ud800"),
    ],
)
def test_flags_that_make_no_sense_together(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2


@pytest.mark.parametrize("flag", ["--write-baseline", "--prune-baseline"])
def test_a_baseline_has_a_name(here: Path, capsys: pytest.CaptureFixture[str], flag: str) -> None:
    """The configuration may give it, so that it is read before the flags are judged."""
    said = f"devlint: {flag} needs --baseline, or `baseline` in the configuration\n"
    before = sorted(path.name for path in here.iterdir())
    assert (main([flag]), *capsys.readouterr()) == (2, "", said)
    assert sorted(path.name for path in here.iterdir()) == before


def git(*arguments: str) -> None:
    settings = ["-c", "user.name=x", "-c", "user.email=x@y", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *settings, *arguments], check=True, capture_output=True)


def commit() -> None:
    git("add", "-A")
    git("commit", "-m", "x")


@pytest.fixture
def repository(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a real repository with old findings, on a branch of its own."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    (here / "b.py").write_text(OLD)
    (here / "gone.py").write_text(OLD)
    (here / 'odd "\té.py').write_text(OLD)
    git("init", "-q", "-b", "main")
    commit()
    git("checkout", "-q", "-b", "feature")
    return here


def test_only_what_touches_changed_lines_is_reported(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["--diff-base", "main"]
    assert found(capsys, *base) == (0, [], [])
    (repository / "a.py").write_text("import os\n" + OLD + "    y.to(d)\n")  # not committed
    (repository / "new.py").write_text("import torch\ny.to(d)\n")  # not known to git
    (repository / "gone.py").unlink()
    (repository / 'odd "\té.py').write_text(OLD + "y.to(d)\n")
    rows = ["a.py:7", "new.py:2", 'odd "\té.py:6']
    assert found(capsys, *base) == (1, rows, [])
    commit()
    assert found(capsys, *base) == (1, rows, [])
    assert found(capsys, "--diff-base", "HEAD") == (0, [], [])
    assert found(capsys, "b.py", *base) == (0, [], [])


def test_the_common_ancestor_counts(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git("checkout", "-q", "main")
    (repository / "b.py").write_text("import torch\n")
    commit()
    git("checkout", "-q", "feature")
    assert found(capsys, "--diff-base", "main") == (0, [], [])  # main has moved on, this branch has not


def test_a_file_that_is_moved_has_not_changed(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "sub").mkdir()
    git("mv", "b.py", "sub/c.py")
    commit()
    assert found(capsys, "--diff-base", "main") == (0, [], [])


@pytest.mark.parametrize(
    ("after", "rows"),
    [
        ("import torch\nx.to(\n    d,\n    b,\n)\ny = 1\n", ["b.py:2"]),
        ("import torch\nx.to(\n    d,\n)\ny = 1\n", ["b.py:2"]),
        ("import torch\nx.to(\n    d,\n    a,\n)\n", []),
        ("import torch\nx.to(\n    d,\n    a,\n)\ny = 2\n", []),
        ("x.to(\n    d,\n    a,\n)\ny = 1\nimport torch\n", []),
    ],
)
def test_a_change_anywhere_in_a_statement_counts(
    repository: Path, capsys: pytest.CaptureFixture[str], after: str, rows: list[str]
) -> None:
    (repository / "b.py").write_text("import torch\nx.to(\n    d,\n    a,\n)\ny = 1\n")
    commit()
    (repository / "b.py").write_text(after)
    assert found(capsys, "--diff-base", "HEAD") == (int(bool(rows)), rows, [])


def test_from_a_folder_below(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "sub").mkdir()
    (repository / "sub/c.py").write_text(OLD)
    commit()
    (repository / "sub/c.py").write_text(OLD + "    y.to(d)\n")
    git("config", "diff.noprefix", "true")
    git("config", "color.ui", "always")
    git("config", "diff.relative", "true")
    monkeypatch.chdir(repository / "sub")
    assert found(capsys, "--diff-base", "HEAD") == (1, ["c.py:6"], [])


def test_hunks_are_not_joined(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "import torch\n{}\nx.to(d)\n{}\n"
    (repository / "b.py").write_text(body.format("y = 1", "z = 1"))
    commit()
    (repository / "b.py").write_text(body.format("y = 2", "z = 2"))
    git("config", "diff.interHunkContext", "3")
    assert found(capsys, "--diff-base", "HEAD") == (0, [], [])


PROGRAMS = """\
[core]
    fsmonitor = {0}
    pager = {0}
    sshCommand = {0}
    hooksPath = hooks
[diff]
    external = {0}
[diff "evil"]
    command = {0}
    textconv = {0}
[filter "evil=.x"]
    clean = {0}
    smudge = {0}
    process = {0}
    required = true
[filter "plain"]
    clean = {0}
    required = true
"""


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
def test_git_runs_nothing_that_the_repository_names(
    repository: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    marker = tmp_path / ".git" / "marker"
    program = tmp_path / ".git" / "program"
    program.write_text(f"#!/bin/sh\necho $0 $* >> {marker}\ncat\n")
    program.chmod(0o755)
    for hooks in (repository / "hooks", repository / ".git" / "hooks"):
        hooks.mkdir(exist_ok=True)
        for name in ("post-index-change", "pre-auto-gc", "fsmonitor-watchman"):
            (hooks / name).write_text(program.read_text())
            (hooks / name).chmod(0o755)
    with (repository / ".git" / "config").open("a") as file:
        file.write(PROGRAMS.format(program))
    (repository / ".git" / "info" / "attributes").write_text(
        "a.py diff=evil filter=evil=.x\nb.py diff=evil filter=plain\n"
    )
    (repository / "a.py").write_text(OLD + "    y.to(d)\n")
    os.utime(repository / "b.py", (1, 1))  # git has to read it to know that it is the same
    assert found(capsys, "--diff-base", "main") == (1, ["a.py:6"], [])
    assert not marker.exists(), marker.read_text()
    subprocess.run(["git", "status"], check=False, capture_output=True, stdin=subprocess.DEVNULL)
    assert marker.exists()


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
def test_what_a_partial_clone_lacks_is_not_fetched(
    repository: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    git(
        "clone", "-q", "--no-local", "--no-checkout", "--filter=blob:none", f"file://{repository}", str(clone)
    )
    monkeypatch.chdir(clone)
    marker = clone / ".git" / "marker"
    program = clone / ".git" / "program"
    program.write_text(f"#!/bin/sh\ntouch {marker}\n")
    program.chmod(0o755)
    git("config", "remote.origin.uploadpack", str(program))
    git("config", "protocol.file.allow", "always")
    git("read-tree", "HEAD")
    (clone / "a.py").write_text("import torch\n")
    status, places, (message,) = found(capsys, "--diff-base", "HEAD")
    assert (status, places, marker.exists()) == (2, [], False)
    assert "--diff-base: " in message


def test_a_repository_inside_the_tree_is_not_asked(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bare one can be committed like any folder, configuration and all."""
    git("clone", "-q", "--bare", str(repository), "inner")
    git("-C", "inner", "config", "core.bare", "false")
    git("-C", "inner", "config", "core.worktree", str(repository))
    monkeypatch.chdir(repository / "inner")
    assert found(capsys, "--diff-base", "HEAD")[0] == 2


def test_a_notebook_counts_whole(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def write(*sources: str) -> None:
        cells: list[dict[str, object]] = [
            {"cell_type": "code", "source": source, "metadata": {}} for source in sources
        ]
        (repository / "nb.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}, indent=1))

    write("import torch", "x.to(d)")
    commit()
    assert found(capsys, "--diff-base", "HEAD") == (0, [], [])
    write("import torch", "x.to(d)", "pass")
    assert found(capsys, "--diff-base", "HEAD") == (1, ["nb.ipynb:cell 2:1"], [])


def test_noqa_for_what_has_changed_only(repository: Path) -> None:
    (repository / "b.py").write_text(OLD + "    y.to(d)\n")
    assert main(["--diff-base", "main", "--add-noqa", "-q"]) == 0
    assert (repository / "b.py").read_text() == OLD + "    y.to(d)  # noqa: TST101\n"
    assert (repository / "a.py").read_text() == OLD


def test_what_git_cannot_say(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(revision: str) -> str:
        status, rows, lines = found(capsys, f"--diff-base={revision}")
        assert (status, rows, len(lines)) == (2, [], 1)
        return lines[0]

    assert said("nope") == "devlint: --diff-base: git knows no revision 'nope'"
    assert said("--help") == "devlint: --diff-base: git knows no revision '--help'"
    git("checkout", "-q", "--orphan", "other")
    git("commit", "-m", "a root of its own")
    assert "have no common ancestor (a shallow clone?" in said("main")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(repository.parent))
    (repository / ".git").rename(repository / "git")
    assert "not a git repository" in said("main")
    monkeypatch.setenv("PATH", str(repository / "empty"))
    assert said("main") == "devlint: --diff-base: cannot run git: No such file or directory"


def entries(here: Path) -> list[str]:
    return [entry["path"] for entry in json.loads((here / "old.json").read_text())["findings"]]


def test_pruning_takes_out_what_is_fixed_and_lets_in_nothing(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "b.py").write_text(OLD)
    accept()
    (here / "a.py").write_text("import torch\n")
    (here / "b.py").write_text(OLD + "    y.to(d)\n")
    assert main([*BASELINE, "--prune-baseline", "--output-format", "concise"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("b.py:6:5: TST101")
    assert err == "devlint: 1 entry taken out of old.json\n"
    assert entries(here) == ["b.py"]
    before = (here / "old.json").stat().st_ino
    assert found(capsys, *BASELINE, "--prune-baseline") == (1, ["b.py:6"], [])
    assert (here / "old.json").stat().st_ino == before  # nothing to take out, nothing written
    assert found(capsys, "--baseline", "absent.json", "--prune-baseline")[0] == 2


def test_writing_a_baseline_says_what_it_lets_in(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write = [".", *BASELINE, "--write-baseline"]
    main(write)
    assert capsys.readouterr().err == "devlint: 1 finding in old.json: 1 new, 0 gone\n"
    (here / "a.py").write_text("import torch\ny.to(d)\nz.to(d)\n")
    main(write)
    assert capsys.readouterr().err == "devlint: 2 findings in old.json: 2 new, 1 gone\n"


def test_a_file_that_cannot_be_read_is_not_taken_for_fixed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    accept()
    (here / "a.py").write_text(OLD + "def f(:\n")
    assert found(capsys, *BASELINE, "--prune-baseline") == (1, ["a.py:6"], [])
    assert entries(here) == ["a.py"]


def test_machines_see_that_a_baseline_is_outdated(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accept()
    (here / "a.py").write_text("import torch\n")
    about = "old.json lists what is fixed (--prune-baseline takes it out)"
    assert main([*BASELINE]) == 1
    assert capsys.readouterr().out == "No new findings, but the baseline lists what is fixed.\n"
    assert main([*BASELINE, "--output-format", "json"]) == 1
    (item,) = json.loads(capsys.readouterr().out)
    assert (item["code"], item["filename"], item["message"]) == ("stale", str(here / "old.json"), about)
    assert main([*BASELINE, "--output-format", "sarif"]) == 1
    (invocation,) = json.loads(capsys.readouterr().out)["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is True
    assert invocation["toolConfigurationNotifications"][0]["message"]["text"] == about


def test_noqa_goes_on_after_files_that_cannot_be_read(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "b.py").write_bytes(b'x = "\xff"\n')
    (here / "c.ipynb").write_text("no notebook")
    (here / "d.ipynb").write_text('{"nbformat": 4}')
    (here / "e.py").write_text(OLD)
    status, rows, said = found(capsys, "--add-noqa")
    assert (status, said) == (1, [])
    assert rows == ["b.py:1", "c.ipynb:1", "d.ipynb:1"]
    assert (here / "a.py").read_text() == (here / "e.py").read_text() == OLD[:-1] + "  # noqa: TST101\n"


def test_noqa_goes_on_after_a_file_that_fails(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import devlint.comments.noqa

    whole = vars(devlint.comments.noqa)["add"]

    def add(raw: bytes, path: str, *more: object) -> object:
        if path == "a.py":
            raise LookupError("oops")
        return whole(raw, path, *more)

    (here / "b.py").write_text(OLD)
    monkeypatch.setattr(devlint.comments.noqa, "add", add)
    status, rows, said = found(capsys, "--add-noqa")
    assert (status, rows) == (2, ["a.py:5"])
    assert said == ["devlint: a.py: internal error: LookupError: oops (-v shows where)"]
    assert "noqa" in (here / "b.py").read_text()


def test_one_finding_is_one_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--add-noqa"]) == 0
    assert capsys.readouterr().err == "devlint: 1 finding silenced\n"


def test_a_file_is_read_for_its_comments_once(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import devlint.comments.noqa

    whole = vars(devlint.comments.noqa)["suppressions"]
    texts: list[str] = []

    def suppressions(text: str, rows: object) -> object:
        texts.append(text)
        return whole(text, rows)

    (here / "a.py").write_text("import torch\nx.to(d)  # noqa: E1\n" + "y.to(d)\n" * 30)
    monkeypatch.setattr(devlint.comments.noqa, "suppressions", suppressions)
    assert main(["--add-noqa", "-q"]) == 0
    assert len(texts) == 1


def test_from_outside_of_the_repository(
    repository: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    (repository / "a.py").write_text(OLD + "    y.to(d)\n")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    for path in (repository, repository / "a.py"):
        status, places, _ = found(capsys, str(path), "--diff-base", "HEAD")
        assert (status, [place.rpartition("/")[2] for place in places]) == (1, ["a.py:6"])
