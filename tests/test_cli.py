"""The command line: exit status, streams and what each flag does."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from devlint.commands.cli import main

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BAD = "import torch\nx.to(d)\ny.cuda()\n"
CLEAN = "import torch\nx = x.to(d)\n"


@pytest.fixture(autouse=True)
def here(toy: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    (tmp_path / "bad.py").write_text(BAD)
    (tmp_path / "clean.py").write_text(CLEAN)
    return tmp_path


def stdin(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(source.encode())))


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["clean.py"], 0),
        (["bad.py"], 1),
        (["check", "bad.py"], 1),
        (["--exit-zero", "bad.py"], 0),
        (["."], 1),
        ([], 1),
        (["--no-cache", "--isolated", "bad.py"], 1),
        (["--ignore", "TST1", "bad.py"], 0),
        (["--select", "TST5", "bad.py"], 1),
        (["--select", "ALL", "--ignore", "TST101,TST501", "bad.py"], 0),
        (["absent.py"], 2),
        (["--exit-zero", "absent.py"], 2),
        (["--select", "TST9X", "clean.py"], 2),
        (["--ignore", "", "clean.py"], 0),
        (["--config", "absent.toml", "clean.py"], 2),
        (["rules"], 0),
        (["rule", "TST101"], 0),
        (["rule", "discarded-result"], 0),
        (["rule", "tst1", "noted-call"], 0),
        (["rule", "TST102"], 2),
        (["rule", ""], 2),
    ],
)
def test_exit_status(arguments: Sequence[str], status: int) -> None:
    assert main(arguments) == status


@pytest.mark.parametrize("arguments", [["--nonsense"], ["--output-format", "xml"], ["rule"], ["rules", "x"]])
def test_usage_errors(arguments: Sequence[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2


def test_an_unknown_code_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--select", "TST101,NOPE", "bad.py"]) == 2
    assert capsys.readouterr() == (
        "",
        "devlint: --select: no rule has the code, prefix or name 'NOPE' (`devlint rules` lists all)\n",
    )


def test_an_absent_path_does_not_stop_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["absent", "bad.py", "--output-format", "concise", "-q"]) == 2
    out, err = capsys.readouterr()
    assert err == "devlint: no such file or folder: absent\n"
    assert out.count("bad.py:") == 2


def test_an_unreadable_file_does_not_stop_the_others(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text("def f(:\n")
    (here / "dangling.py").symlink_to("nowhere")
    assert main([".", "dangling.py", "--output-format", "concise", "-q"]) == 1
    assert [line.split(" ")[:2] for line in lines(capsys)] == [
        ["a.py:1:7:", "DEV000"],
        ["bad.py:2:1:", "TST101"],
        ["bad.py:3:1:", "TST101"],
        ["dangling.py:1:1:", "DEV000"],
    ]


def test_a_broken_rule_does_not_stop_the_others(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text("import torch; x = x.to(d)\nx.explode()\n")
    assert main([".", "--output-format", "concise", "-q"]) == 2
    out, err = capsys.readouterr()
    assert out.count("bad.py:") == 2
    assert err == "devlint: a.py:2: rule TST901 is broken: ZeroDivisionError: it exploded\n"


def test_an_internal_error_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import devlint.infer

    whole = vars(devlint.infer)["infer_and_keep"]

    def infer(text: str, tree: object, wants: object, **_: object) -> object:
        if text == CLEAN:
            raise KeyError("oops")
        return whole(text, tree, wants=wants)

    monkeypatch.setattr(devlint.infer, "infer_and_keep", infer)
    assert main([".", "--output-format", "concise", "-q"]) == 2
    out, err = capsys.readouterr()
    assert out.count("bad.py:") == 2
    assert err.startswith("devlint: clean.py: internal error: KeyError: 'oops'")


def test_a_folder_without_python(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "empty").mkdir()
    assert main(["empty", "-q"]) == 0
    assert capsys.readouterr() == ("", "devlint: no Python files found\n")


def test_a_file_named_twice_is_linted_once(capsys: pytest.CaptureFixture[str]) -> None:
    main(["bad.py", ".", "./bad.py", os.path.abspath("bad.py"), "--output-format", "json"])
    assert len(json.loads(capsys.readouterr().out)) == 2


def test_stdin(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    stdin(monkeypatch, BAD)
    assert main(["-", "--output-format", "concise", "-q"]) == 1
    assert lines(capsys)[0].startswith("<stdin>:2:1: TST101 [*] ")


def test_stdin_takes_the_settings_of_the_name_it_is_given(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "pyproject.toml").write_text('[tool.devlint]\nper-file-ignores = {"tests/*" = ["TST"]}\n')
    stdin(monkeypatch, BAD)
    assert main(["-", "--stdin-filename", "tests/a.py"]) == 0
    stdin(monkeypatch, BAD)
    assert main(["-", "--stdin-filename", "src/a.py", "--output-format", "json"]) == 1
    assert json.loads(capsys.readouterr().out.partition("\n")[2])[0]["filename"] == str(here / "src/a.py")


def test_fix(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--fix", "bad.py", "--output-format", "concise"]) == 1
    assert (here / "bad.py").read_text() == "import torch\nx = x.to(d)\ny.cuda()\n"
    assert lines(capsys)[1:] == ["Fixed 1 finding. Found 1 error. 1 fixable with --fix --unsafe-fixes."]
    assert main(["--fix", "--unsafe-fixes", "bad.py"]) == 0
    assert (here / "bad.py").read_text() == "import torch\nx = x.to(d)\ny = y.cuda()\n"


def test_fixing_stdin_prints_the_text(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    stdin(monkeypatch, BAD)
    assert main(["--fix", "-"]) == 1
    out, err = capfdbinary.readouterr()
    assert out == b"import torch\nx = x.to(d)\ny.cuda()\n"
    assert b"TST101" in err


def test_diff_changes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--diff", "bad.py", "clean.py"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "--- bad.py",
        "+++ bad.py",
        "@@ -1,3 +1,3 @@",
        " import torch",
        "-x.to(d)",
        "+x = x.to(d)",
        " y.cuda()",
    ]
    assert err == "Would fix 1 of 2 findings.\n"
    assert (here / "bad.py").read_text() == BAD
    assert main(["--diff", "clean.py"]) == 0


def test_fixing_a_read_only_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "bad.py").chmod(0o444)
    assert main(["--fix", ".", "--output-format", "concise", "-q"]) == 2
    out, err = capsys.readouterr()
    assert out.count("TST101") == 2
    assert "read-only" in err
    assert (here / "bad.py").read_text() == BAD


def test_output_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bad.py", "--output-format", "json", "--output-file", "out.json"]) == 1
    assert capsys.readouterr().out == ""
    assert len(json.loads((here / "out.json").read_text())) == 2
    assert main(["bad.py", "--output-file", "no/such/folder"]) == 2
    assert "cannot write no/such/folder" in capsys.readouterr().err


def test_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--select", "ALL", "--statistics", "-q", "."])
    assert lines(capsys) == ["2  TST101  [ ] discarded-result", "2  TST501  [ ] noted-call"]


@pytest.mark.parametrize(
    ("arguments", "environment", "colored"),
    [
        ([], {}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
    ],
)
def test_color(
    arguments: list[str],
    environment: dict[str, str],
    colored: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    main(["bad.py", *arguments])
    assert ("\x1b[" in capsys.readouterr().out) is colored


def test_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["rules"])
    assert [line.split()[:3] for line in lines(capsys)] == [
        ["DEV000", "unreadable", "error"],
        ["DEV001", "unused-suppression", "warning"],
        ["TST101", "discarded-result", "error"],
        ["TST501", "noted-call", "note"],
        ["TST901", "broken-rule", "warning"],
    ]


def test_a_rule_is_explained_by_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    main(["rule", "tst101"])
    assert lines(capsys) == [
        "# discarded-result (TST101)",
        "",
        "*error, on by default*",
        "",
        "Result that is thrown away",
        "",
        "The page of a rule that the tests made up.",
    ]


def test_rules_are_explained_by_prefix_each_once(capsys: pytest.CaptureFixture[str]) -> None:
    main(["rule", "noted-call", "TST", "TST101"])
    assert [line for line in lines(capsys) if line.startswith("#")] == [
        "# noted-call (TST501)",
        "# discarded-result (TST101)",
        "# broken-rule (TST901)",
    ]


def test_an_unknown_rule_is_told_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    main(["rule", "discard-result"])
    main(["rule", "nothing-like-it"])
    assert capsys.readouterr().err.splitlines() == [
        "devlint: no rule has the code, prefix or name 'discard-result' (did you mean `discarded-result`?)",
        "devlint: no rule has the code, prefix or name 'nothing-like-it' (`devlint rules` lists all)",
    ]


def test_as_a_module_and_as_a_script(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n")
    script = os.path.join(os.path.dirname(sys.executable), "devlint")
    runs = [
        subprocess.run(
            [*command, "broken.py", "-q", "--output-format", "concise"], capture_output=True, text=True
        )
        for command in ([sys.executable, "-m", "devlint"], [script])
    ]
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout.startswith("broken.py:1:7: DEV000 ")
    assert [run.returncode for run in runs] == [1, 1]


def test_names_that_the_terminal_cannot_show(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9_\xce\xb1.py")
    (tmp_path / name).write_text("def f(:\n")
    for form in ("full", "concise", "json"):
        run = subprocess.run(
            [sys.executable, "-m", "devlint", ".", "--output-format", form],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
        )
        assert (run.returncode, run.stderr) == (1, b"")


def test_a_reader_that_leaves_early(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"broken_{number}.py").write_text("def f(:\n" * 50)
    command = f"{sys.executable} -m devlint . | head -n 1"
    run = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert run.stderr == ""
    assert run.stdout.count("\n") == 1
