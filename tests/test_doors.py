"""Bad input at each door: one clear message, the right exit status, and nothing else lost."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from devlint.commands.cli import main
from devlint.commands.printing import wants_color
from devlint.run import cached
from devlint.run.progress import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BAD = "import torch\nx.to(d)\n"
FLAGS = ["--output-format", "concise", "-q"]
FULL = Path("/dev/full")


@pytest.fixture(autouse=True)
def here(toy: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(BAD)
    (tmp_path / "b.py").write_text(BAD)
    return tmp_path


def test_a_file_that_goes_away_meanwhile(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = vars(cached)["lint"]

    def lint(*arguments: object) -> object:
        (here / "b.py").unlink(missing_ok=True)
        return whole(*arguments)

    monkeypatch.setattr(cached, "lint", lint)
    assert main(FLAGS) == 1
    out, err = capsys.readouterr()
    assert [line.split(" ", 2)[:2] for line in out.splitlines()] == [
        ["a.py:2:1:", "TST101"],
        ["b.py:1:1:", "DEV000"],
    ]
    assert "b.py:1:1: DEV000 cannot be opened: No such file or directory" in out
    assert err == ""


def test_a_file_that_goes_away_before_it_is_fixed(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import devlint.run.fix

    whole = vars(devlint.run.fix)["fix"]

    def fix(*arguments: object) -> object:
        (here / "b.py").unlink(missing_ok=True)
        return whole(*arguments)

    (here / "c.py").write_text(BAD)
    monkeypatch.setattr(devlint.run.fix, "fix", fix)
    monkeypatch.setattr("devlint.commands.check.read_named", lambda path: BAD.encode())
    assert main(["--fix", *FLAGS]) == 2
    out, err = capsys.readouterr()
    assert err == "devlint: cannot fix b.py: No such file or directory\n"
    assert out.startswith("b.py:2:1: TST101")
    assert [(here / name).read_text() for name in ("a.py", "c.py")] == [BAD.replace("x.", "x = x.")] * 2


@pytest.mark.parametrize("target", ["no/such/report.json", "."])
def test_a_report_that_cannot_be_written_goes_to_stdout(
    target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*FLAGS, "--output-file", target]) == 2
    out, err = capsys.readouterr()
    assert out.count("TST101") == 2
    assert err.startswith(f"devlint: cannot write {target}: ")
    assert err.count("\n") == 1


def test_a_full_disk_keeps_the_older_report(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fsync(_: int) -> None:
        raise OSError(28, "No space left on device")

    (here / "report.txt").write_text("older")
    monkeypatch.setattr(os, "fsync", fsync)
    assert main([*FLAGS, "--output-file", "report.txt"]) == 2
    out, err = capsys.readouterr()
    assert out.count("TST101") == 2
    assert err == "devlint: cannot write report.txt: No space left on device\n"
    assert (here / "report.txt").read_text() == "older"
    assert main(["--fix", *FLAGS]) == 2
    assert (here / "a.py").read_text() == BAD
    assert {path.name for path in here.iterdir()} == {"a.py", "b.py", "report.txt"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "locked").mkdir()
    (here / "locked/old.txt").write_text("older, and longer than what is written now" * 10)
    (here / "locked").chmod(0o555)
    assert main([*FLAGS, "--output-file", "locked/new.txt"]) == 2
    out, err = capsys.readouterr()
    assert out.count("TST101") == 2
    assert err == "devlint: cannot write locked/new.txt: Permission denied\n"
    assert main([*FLAGS, "--output-file", "locked/old.txt"]) == 1
    assert (here / "locked/old.txt").read_text().count("\n") == 2


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
def test_stdout_on_a_full_disk(here: Path) -> None:
    (here / "a.py").write_text("def f(:\n")
    with FULL.open("w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "devlint"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert run.returncode == 2
    assert run.stderr == "devlint: cannot write the report: No space left on device\n"


def test_the_report_replaces_a_file_whole_and_keeps_its_mode(here: Path) -> None:
    report = here / "report.txt"
    report.write_text("older" * 1000)
    report.chmod(0o640)
    (here / "link.txt").symlink_to("report.txt")
    assert main([*FLAGS, "--output-file", "link.txt"]) == 1
    assert report.read_text().count("\n") == 2
    assert report.stat().st_mode & 0o777 == 0o640
    assert main([*FLAGS, "--output-file", "new.txt"]) == 1
    mask = os.umask(0o022)
    os.umask(mask)
    assert (here / "new.txt").stat().st_mode & 0o777 == 0o666 & ~mask


def test_the_report_can_go_to_a_device(here: Path) -> None:
    (here / "x.py").write_text("def f(:\n")
    command = [sys.executable, "-m", "devlint", "x.py", "-q", "--output-file", "/dev/stdout"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (1, "")
    assert run.stdout.startswith("DEV000")


def test_the_format_of_the_environment(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "devlint.toml").write_text("output-format = 'full'\n")
    monkeypatch.setenv("DEVLINT_OUTPUT_FORMAT", "json")
    main(["a.py"])
    assert len(json.loads(capsys.readouterr().out)) == 1
    main(["a.py", "--output-format", "pylint"])
    assert capsys.readouterr().out.startswith("a.py:2: [TST101]")
    monkeypatch.setenv("DEVLINT_OUTPUT_FORMAT", "xml")
    assert main(["a.py"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("devlint: DEVLINT_OUTPUT_FORMAT: there is no format 'xml' (known are full, ")


def test_paths_are_relative_to_the_repository(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / ".git").mkdir()
    (here / "sub").mkdir()
    (here / "sub/c.py").write_text(BAD)
    monkeypatch.chdir(here / "sub")
    main(["--output-format", "sarif"])
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "sub/c.py"


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["--show-files", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def test_show_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "devlint.toml").write_text("extend-exclude = ['c.py']\n")
    (here / "build").mkdir()
    for name in ("c.py", "d.py", "build/e.py"):
        (here / name).write_text("def f(:\n")
    (here / ".git").mkdir()
    (here / ".gitignore").write_text("d.py\n")
    assert listed(capsys) == ["a.py", "b.py"]
    assert listed(capsys, "c.py", "a.py") == ["a.py", "c.py"]
    assert listed(capsys, "c.py", "a.py", "--force-exclude") == ["a.py"]
    assert listed(capsys, "--no-respect-gitignore") == ["a.py", "b.py", "d.py"]
    assert listed(capsys, "--extend-exclude", "b*,x") == ["a.py"]
    assert listed(capsys, "--exclude", "a.py") == ["b.py", "build/e.py"]
    assert main(["--show-files", "absent"]) == 2


def test_show_settings(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tomllib = pytest.importorskip("tomllib")
    (here / "devlint.toml").write_text(
        "ignore = ['TST9']\nper-file-ignores = {'a*' = ['DEV001']}\n"
        "target-torch = '2.4'\nexclude = ['x\"y']\n"
    )
    assert main(["a.py", "--show-settings", "--ignore", "TST1", "--target-torch", "2.6"]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[0] == f"# a.py: {here / 'devlint.toml'}"
    assert tomllib.loads(text) == {
        "rules": ["DEV000"],
        "per-file-ignores": {"a*": ["DEV001"]},
        "extend-per-file-ignores": {},
        "exclude": ['x"y'],
        "extend-exclude": [],
        "force-exclude": False,
        "respect-gitignore": True,
        "lint-tests": False,
        "preview": False,
        "explicit-preview-rules": False,
        "target-torch": "2.6",
        "unsafe-fixes": False,
        "fixable": ["ALL"],
        "unfixable": [],
        "extend-safe-fixes": [],
        "extend-unsafe-fixes": [],
        "max-findings": {},
        "output-format": "full",
    }
    assert main(["a.py", "--show-settings", "--isolated"]) == 0
    assert capsys.readouterr().out.startswith("# a.py: the defaults\n")


def test_a_release_of_torch_that_is_none() -> None:
    with pytest.raises(SystemExit):
        main(["--target-torch", "new"])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress(seconds: Sequence[float], stream: io.StringIO) -> str:
    times = iter(seconds)
    paths = [f"{number}.py" for number in range(len(seconds) - 1)]
    assert list(counted(paths, stream, lambda: next(times))) == paths
    return stream.getvalue()


def test_progress_is_shown_after_a_second_and_wiped_out() -> None:
    clear = "\r\x1b[K"
    assert progress([0, 0.2, 0.9, 1.1, 1.15, 5], Terminal()) == (
        f"{clear}devlint: 2 of 5 files{clear}devlint: 4 of 5 files{clear}"
    )
    assert progress([0, 0.2, 0.9], Terminal()) == ""


def test_progress_is_for_terminals_only() -> None:
    assert progress([0, 5, 10], io.StringIO()) == ""


def test_watching_needs_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    assert main(["--watch"]) == 2
    assert capsys.readouterr().err == "devlint: --watch needs watchfiles: pip install watchfiles\n"


def test_watching_lints_again_after_a_change(here: Path) -> None:
    pytest.importorskip("watchfiles")
    (here / "a.py").write_text("x = 1\n")
    (here / "b.py").unlink()
    command = [sys.executable, "-m", "devlint", "--watch", ".", "--output-format", "concise"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        try:
            assert run.stdout.readline() == "All checks passed.\n"
            assert "watching" in run.stderr.readline()
            # What changes before the watch has begun goes unnoticed, so it is changed until it is seen.
            os.set_blocking(run.stdout.fileno(), False)
            line = ""
            for _ in range(600):
                (here / "new").write_text("def f(:\n")
                (here / "new").replace(here / "a.py")
                line = run.stdout.readline()
                if line.startswith("a.py"):
                    break
                time.sleep(0.05)
            assert line.startswith("a.py:1:7: DEV000")
            (here / "devlint.toml").write_text("selct = 1\n")  # a mistake does not end the watch
            assert any("unknown key" in line for line in run.stderr)
        finally:
            run.send_signal(signal.SIGINT)
        assert run.wait() == 130


def test_links_that_lead_nowhere_do_not_end_the_walk(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "loop.py").symlink_to("loop.py")
    (here / "aside.py").symlink_to("a.py/x.py")
    (here / ".#a.py").symlink_to("somebody@somewhere.1")  # how Emacs locks a file
    assert main(FLAGS) == 1
    out, err = capsys.readouterr()
    assert [line.split(" TST")[0] for line in out.splitlines()] == [
        "a.py:2:1:",
        "aside.py:1:1: DEV000 cannot be opened: Not a directory",
        "b.py:2:1:",
        "loop.py:1:1: DEV000 cannot be opened: Too many levels of symbolic links",
    ]
    assert err == ""


def test_lines_of_a_gitignore_that_are_no_patterns(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / ".gitignore").write_text("!\n\\\na\\\n[z-a]\na.py\n")
    assert main(FLAGS) == 1
    out, err = capsys.readouterr()
    assert [line.partition(":")[0] for line in out.splitlines()] == ["b.py"]
    assert err == ""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[" * 100_000, "it nests too deeply"),
        ("1" * 5000, "Exceeds the limit (4300 digits) for integer string conversion"),
    ],
)
def test_a_configuration_that_is_too_much(
    here: Path, capsys: pytest.CaptureFixture[str], value: str, message: str
) -> None:
    if "digits" in message and not hasattr(sys, "get_int_max_str_digits"):
        pytest.skip("this Python reads numbers of any length")
    (here / "devlint.toml").write_text(f"x = {value}\n")
    assert main(FLAGS) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"devlint: {here / 'devlint.toml'}: not valid TOML: {message}")
    run = subprocess.run([sys.executable, "-m", "flake8", "a.py"], capture_output=True, text=True)
    assert run.returncode != 0
    assert "Traceback" not in run.stderr
    assert f"not valid TOML: {message}" in run.stderr


def test_a_path_of_many_folders(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deep = here.joinpath(*["d"] * 700)
    deep.mkdir(parents=True)
    (deep / "a.py").write_text(BAD)
    path = str((deep / "a.py").relative_to(here))
    assert main([path, *FLAGS]) == 1
    assert capsys.readouterr().out.startswith(f"{path}:2:1: TST101")


def test_what_nobody_has_foreseen_is_one_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def project(_: str) -> str:
        raise LookupError("oops")

    monkeypatch.setattr("devlint.commands.printing.project", project)
    message = "devlint: internal error: LookupError: oops (-v shows where)\n"
    assert main(FLAGS) == 2
    assert capsys.readouterr().err == message
    assert main(["-v", *FLAGS]) == 2
    assert "in project\n" in capsys.readouterr().err
    monkeypatch.setattr("devlint.commands.explain.listing", lambda: project(""))
    assert main(["rules"]) == 2
    assert capsys.readouterr().err == "devlint: internal error: LookupError: oops\n"


def shell(command: str) -> tuple[int, str, str]:
    run = subprocess.run(f"{sys.executable} -m devlint {command}", shell=True, capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def test_streams_that_are_closed(here: Path) -> None:
    (here / "c.py").write_text("def f(:\n")
    assert shell("c.py >&-") == (2, "", "devlint: cannot write the report: Bad file descriptor\n")
    assert shell("c.py -q --output-file out >&-") == (1, "", "")
    assert shell("absent 2>&- -q") == (2, "", "")
    assert shell("absent -q >&- 2>&- <&-") == (2, "", "")
    status, out, _ = shell("c.py -q --output-format concise 2>&-")
    assert (status, out.count("\n"), out[:16]) == (1, 1, "c.py:1:7: DEV000")


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
def test_stderr_on_a_full_disk() -> None:
    assert shell("absent -q 2>/dev/full") == (2, "", "")


def test_a_current_folder_that_is_gone(here: Path) -> None:
    (here / "gone").mkdir()
    command = f"cd gone; rmdir ../gone; {sys.executable} -m devlint"
    run = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr == "devlint: the current folder cannot be used: No such file or directory\n"


@pytest.mark.parametrize(
    "flag", ["--select", "--extend-select", "--config", "--baseline", "--diff-base", "--output-file"]
)
def test_a_value_that_is_empty(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([flag, ""])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.endswith(f"{flag}: it is empty\n")


CLEAN = "import torch\n"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["clean.py"], 0, "All checks passed.\n"),
        (["clean.py", "absent"], 2, "No findings, but not everything could be checked.\n"),
        (["empty"], 0, "There was nothing to check.\n"),
    ],
)
def test_praise_is_for_what_was_checked(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, said: str
) -> None:
    (here / "clean.py").write_text(CLEAN)
    (here / "empty").mkdir()
    for form in ("full", "concise"):
        assert main([*arguments, "--output-format", form]) == status
        assert capsys.readouterr().out == said


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("json", '"message": "no such file or folder: absent"'),
        ("json-lines", '"message": "no such file or folder: absent"'),
        ("github", "::error "),
        ("gitlab", '"path": "absent"'),
        ("sarif", '"text": "no such file or folder: absent"'),
        ("junit", 'failures="1"'),
        ("pylint", "absent:1: [failure] no such file or folder: absent"),
        ("rdjson", '"message": "no such file or folder: absent'),
        ("azure", "##vso[task.logissue type=error;"),
    ],
)
def test_machines_see_that_a_run_failed(
    here: Path, capsys: pytest.CaptureFixture[str], form: str, told: str
) -> None:
    (here / "clean.py").write_text(CLEAN)
    assert main(["clean.py", "absent", "--output-format", form]) == 2
    assert told in capsys.readouterr().out
    assert main(["clean.py", "--output-format", form]) == 0
    assert told not in capsys.readouterr().out


def test_sarif_says_whether_the_run_was_successful(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def invocation(*arguments: str) -> object:
        main([*arguments, "--output-format", "sarif"])
        (found,) = json.loads(capsys.readouterr().out)["runs"][0]["invocations"]
        return found

    assert invocation("a.py") == {"executionSuccessful": True}
    location = {"physicalLocation": {"artifactLocation": {"uri": "absent"}}}
    assert invocation("absent") == {
        "executionSuccessful": False,
        "toolExecutionNotifications": [
            {
                "level": "error",
                "message": {"text": "no such file or folder: absent"},
                "locations": [location],
            }
        ],
    }


def test_a_diff_goes_to_the_file_and_its_summary_does_not(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["a.py", "--diff", "--output-file", "out", "--output-format", "github"]) == 1
    assert capsys.readouterr() == ("", "Would fix 1 of 1 findings.\n")
    assert (here / "out").read_text().splitlines()[-1] == "+x = x.to(d)"


def test_statistics_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--statistics", "--output-format", "json"]) == 1
    assert json.loads(capsys.readouterr().out) == [
        {"code": "TST101", "name": "discarded-result", "count": 2, "fixable": True, "fixable_count": 2}
    ]
    assert main(["--statistics", "--output-format", "sarif"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "devlint: --statistics goes with concise, full, grouped, json, not with sarif\n"


def test_a_format_that_is_none_in_a_configuration(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "devlint.toml").write_text("output-format = 'foo'\n")
    assert main([]) == 2
    err = capsys.readouterr().err
    assert "output-format: invalid enum value 'foo'; known are full, concise, grouped, " in err


def test_a_null_character_is_where_it_is(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text("import torch\n\nx = '\0'\n")
    assert main(["a.py", *FLAGS]) == 1
    assert capsys.readouterr().out.startswith("a.py:3:1: DEV000 ")


def test_a_dumb_terminal_gets_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_color("auto", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    assert wants_color("auto", Terminal())


def test_a_diff_is_coloured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a.py", "--diff", "--color", "always", "-q"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "\x1b[1m--- a.py\x1b[0m",
        "\x1b[1m+++ a.py\x1b[0m",
        "\x1b[36m@@ -1,2 +1,2 @@\x1b[0m",
        " import torch",
        "\x1b[31m-x.to(d)\x1b[0m",
        "\x1b[32m+x = x.to(d)\x1b[0m",
    ]
    assert main(["a.py", "--diff", "--color", "auto", "-q"]) == 1
    assert "\x1b" not in capsys.readouterr().out


def test_a_table_of_numbers_is_not_parsed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Python takes seventy bytes for each byte of it; that it is not parsed shows in what is not told."""
    (here / "a.py").write_text("x = [\n" + "    123456,\n" * 400_000)
    (here / "b.py").write_text("x = [\n" + "    123456,\n" * 10)
    assert main([*FLAGS, "--jobs", "1"]) == 1
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == ["DEV000"]
    (here / "a.py").write_text("import torch\nx.to(d)\nx = [\n" + "    123456,\n" * 400_000)
    assert main(["a.py", *FLAGS]) == 1
    assert capsys.readouterr().out.startswith("a.py:")


@pytest.fixture
def pipe() -> Iterator[str]:
    """Return what a shell makes of `<(cat a.py)`: a pipe that is read once, and has no name on the disk."""
    if not os.path.isdir("/dev/fd"):
        pytest.skip("pipes have no names here")
    reader, writer = os.pipe()
    os.write(writer, BAD.encode())
    os.close(writer)
    yield f"/dev/fd/{reader}"
    os.close(reader)


def test_a_pipe_is_read_once(pipe: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FLAGS, pipe, "a.py"]) == 1
    lines = sorted(line.split(" ", 2)[0] for line in capsys.readouterr().out.splitlines())
    assert lines == [f"{pipe}:2:1:", "a.py:2:1:"]


def test_a_pipe_is_not_fixed(pipe: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FLAGS, "--fix", pipe]) == 2
    out, err = capsys.readouterr()
    assert err == f"devlint: cannot fix {pipe}: it is no regular file\n"
    assert f"{pipe}:2:1: TST101" in out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_what_does_not_end_is_not_waited_for(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(here / "pipe.py")
    assert main([*FLAGS, "pipe.py", "/dev/zero", os.devnull, "a.py"]) == 1
    assert capsys.readouterr().out.splitlines()[:2] == [
        "/dev/zero:1:1: DEV000 cannot be opened: it is a device",
        "a.py:2:1: TST101 [*] the result of `.to()` is thrown away",
    ]
    assert main([*FLAGS, "pipe.py"]) == 1
    said = "it is a pipe, and nobody writes to it"
    assert capsys.readouterr().out == f"pipe.py:1:1: DEV000 cannot be opened: {said}\n"
    for arguments in (["explain", "pipe.py:1"], ["a.py", "--config", "pipe.py"], ["--baseline", "pipe.py"]):
        assert main(arguments) == 2
        assert capsys.readouterr().err == f"devlint: cannot read pipe.py: {said}\n"
    (here / "devlint.toml").write_text("extend = 'pipe.py'\n")
    assert main(["a.py"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_pipe_that_somebody_writes_to_is_waited_for(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(here / "pipe.py")
    text = BAD.replace("\n", f"  # {'x' * 100_000}\n")  # more than a pipe holds
    with open(os.open("pipe.py", os.O_RDWR), "w") as file:  # opening it for writing alone waits for a reader

        def write() -> None:
            with file:
                file.write(text)

        writer = threading.Thread(target=write)
        writer.start()
        assert main([*FLAGS, "pipe.py"]) == 1
        writer.join()
    assert capsys.readouterr().out.startswith("pipe.py:2:1: TST101")
