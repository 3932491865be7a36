"""Whatever the linted repository holds, what is printed steers neither a terminal nor a CI server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from devlint.commands.cli import main
from devlint.console import diff, printable, quoted
from devlint.report import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="such names do not exist there")

ESCAPE, BIDI, C1, SEPARATORS = "\x1b[2J", "\u202e\u2066\u200f\u061c", "\x9b", "\u2028\u2029"
HOSTILE = f"{ESCAPE}{BIDI}{C1}{SEPARATORS}\x7f\r\n::error file=a,line=1::PWNED\n##vso[task.x]y ##[set-env]z"
NAMES = [f"a{HOSTILE}.py", "::error file=b::b.py", " ::error::c.py", "##vso[task.d]d.py", "\n::error ::e.py"]
PLAIN = "import torch\n\nx = torch.ones(2)\nx.to(device)\nprint(x)\n"
SOURCE = (
    f"import torch\n\nx = torch.ones(2)\nTEXT = '''\n::error ::PWNED\n  ::error ::PWNED\n"
    f"##[error]PWNED ##vso[task.x]y {ESCAPE}{BIDI}{C1}{SEPARATORS}\x7f'''\n"
    "x.to(device)  # ##vso[task.setvariable variable=PATH]PWNED ::error ::PWNED\x1b[2J\u202e\x85\n"
    "s = '''##vso[a]\n::error ::PWNED\x1b'''\n"
)
PAINTED = re.compile(r"^\x1b\[(?:1|31|32|36)m(.*)\x1b\[0m$", re.MULTILINE)
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
GITHUB = re.compile(r"::(?:error|warning|notice) title=devlint \(DEV\d{3}\),file=[^\n]*")
AZURE = re.compile(r"##vso\[task\.logissue type=[a-z]+;sourcepath=[^;\]\n]*;linenumber=[^\n]*")


def assert_harmless(text: str, meant: re.Pattern[str] | None = None) -> None:
    """Fail where a terminal, or the log of a CI server, would take a part of a text for a command."""
    assert not FORBIDDEN.findall(text)
    for line in text.split("\n"):
        rest = line
        if meant is not None and meant.fullmatch(line):
            rest = line[len("##vso[") :].lstrip(":")
        assert not rest.lstrip().startswith("::"), line
        assert "##[" not in rest, line
        assert "##vso[" not in rest, line


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder in which names and sources try to print commands."""
    for name in NAMES:
        (tmp_path / name).write_text(SOURCE, newline="")
    (tmp_path / f"broken{HOSTILE}.py").write_text("def f(:\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        status = main(arguments)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    out, err = capsys.readouterr()
    return status, out, err


def check(capsys: pytest.CaptureFixture[str], *arguments: str, meant: re.Pattern[str] | None = None) -> str:
    _, out, err = printed(capsys, *arguments)
    assert_harmless(out, meant)
    assert_harmless(err)
    return out + err


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(hostile: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    meant = {"github": GITHUB, "azure": AZURE}.get(name)
    text = check(capsys, ".", "--output-format", name, meant=meant)
    assert text.count("DEV101") >= len(NAMES)
    assert "DEV000" in text


@pytest.mark.parametrize("name", FORMATS)
def test_what_every_format_says_of_failures(
    hostile: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    entry = dict.fromkeys(("path", "code", "in", "line"), f"\n{HOSTILE}")
    baseline = f"b{HOSTILE.replace('/', '')}.json"
    (hostile / baseline).write_text(json.dumps({"devlint-baseline": 1, "findings": [entry]}))
    meant = {
        "github": re.compile(r"::error title=devlint \([\w-]+\),file=[^\n]*"),
        "azure": re.compile(r"##vso\[task\.logissue type=error;sourcepath=[^;\]\n]*;linenumber=[^\n]*"),
    }.get(name)
    (hostile / "good.py").write_text("")
    arguments = ["good.py", f"missing{HOSTILE}.py", "--baseline", baseline, "--output-format", name]
    assert "no such file" in check(capsys, *arguments, meant=meant)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--show-files", "."),
        ("--show-settings", *NAMES[:1]),
        ("--show-settings", f"./{NAMES[1]}"),
        ("--diff", "."),
        ("--statistics", "."),
        (f"missing{HOSTILE}.py",),
        (f"./::missing{HOSTILE}.py",),
        (f"--flag{HOSTILE}",),
        ("--config", f"none{HOSTILE}.toml", "."),
        ("--baseline", f"none{HOSTILE}.json", "."),
        ("--select", f"X{HOSTILE}", "."),
        ("--diff-base", f"rev{HOSTILE}", "."),
        ("rule", f"rule{HOSTILE}"),
    ],
)
def test_names_and_flags(
    hostile: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    assert check(capsys, *arguments)


def test_a_diff_in_colours(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whole lines are painted, by devlint alone; what is in them is as harmless as without."""
    _, plain, _ = printed(capsys, "--diff", ".")
    _, painted, err = printed(capsys, "--diff", "--color", "always", ".")
    assert PAINTED.search(painted)
    assert PAINTED.sub(r"\1", painted) == plain
    assert_harmless(plain)
    assert_harmless(err)


@pytest.mark.parametrize(
    "line", ["{0} = 1", "exclude = {0}", "select = [{0}]", "output-format = {0}", "= {0}"]
)
def test_configuration(hostile: Path, capsys: pytest.CaptureFixture[str], line: str) -> None:
    text = json.dumps(HOSTILE).replace("\x7f", "\\u007f")
    (hostile / "pyproject.toml").write_text(f"[tool.devlint]\n{line.format(text)}\n")
    assert "pyproject.toml" in check(capsys, ".")


def test_settings_are_shown_as_toml(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = json.dumps(HOSTILE).replace("\x7f", "\\u007f")
    (hostile / "pyproject.toml").write_text(
        f"[tool.devlint]\nexclude = [{text}]\nper-file-ignores = {{ {text} = ['DEV2'] }}\n"
    )
    _, out, _ = printed(capsys, "--show-settings", f"./{NAMES[1]}")
    assert_harmless(out)
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    assert tomllib.loads(out)["exclude"] == [HOSTILE]
    assert tomllib.loads(out)["per-file-ignores"] == {HOSTILE: ["DEV2"]}


def test_a_folder_with_a_bad_configuration(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = hostile / f"folder{HOSTILE.replace('/', '')}"
    folder.mkdir()
    (folder / "a.py").write_text(PLAIN)
    (folder / "pyproject.toml").write_text("[tool.devlint]\nnope = 1\n")
    assert "nope" in check(capsys, ".")


def test_entries_of_a_baseline(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = dict.fromkeys(("path", "code", "in", "line"), f"\n{HOSTILE}")
    (hostile / "b.json").write_text(json.dumps({"devlint-baseline": 1, "findings": [entry]}))
    assert "lists what is fixed" in check(capsys, ".", "--baseline", "b.json")
    (hostile / "b.json").write_text(json.dumps({"devlint-baseline": HOSTILE, "findings": []}))
    assert "version" in check(capsys, ".", "--baseline", "b.json")


def test_what_an_exception_says(
    hostile: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError(HOSTILE)

    monkeypatch.setattr("devlint.run.cached.lint", broken)
    for flags in ((), ("-v",)):
        text = check(capsys, ".", *flags)
        assert "internal error: ValueError" in text
    assert "in broken" in text


def test_a_diff_is_untouched_where_it_is_not_shown(
    hostile: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert "PWNED\x1b[2J\u202e\x85" in printed(capsys, "--diff", ".")[1]


def test_ordinary_files_have_one_diff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ünï côdé.py"
    file.write_text(PLAIN.replace("\n", "\r\n") + "x.to(device)  # é\r\n# no end", newline="")
    text = printed(capsys, "--diff", str(file))[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TF_BUILD", "True")
        assert diff(text, sys.stdout) == text
    assert "\r\n" in text
    assert '"' not in text.split("\n")[0]


def test_git_applies_a_diff_of_any_name(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in NAMES:
        (hostile / name).write_text(PLAIN)
    text = printed(capsys, "--diff", *(f"./{name}" for name in NAMES))[1]
    assert_harmless(text)
    command = ["git", "apply", "-p0", "--unsafe-paths", "-"]
    subprocess.run(command, cwd=hostile, input=text.encode(), check=True, capture_output=True)
    for name in NAMES:
        assert (hostile / name).read_text() == PLAIN.replace("x.to", "x = x.to")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é \u3042 \U0001f600 \tx # [1] #vso[ a::b :x", None),
        ("\x1b[31m\x00\x7f\x85\u202e", "␛[31m␀␡\ufffd\ufffd"),
        ("  ::error::x", "  \ufffd:error::x"),
        ("a ##[b] ###vso[c", "a \ufffd#[b] #\ufffd#vso[c"),
        ("\n::error", "␊::error"),
    ],
)
def test_printable(text: str, shown: str | None) -> None:
    assert printable(text) == (text if shown is None else shown)
    assert len(printable(text)) == len(text)


def test_quoted() -> None:
    assert quoted("a b/é.py") == "a b/é.py"
    assert quoted('a"\\b.py') == 'a"\\b.py'
    assert quoted('"a".py') == '"\\"a\\".py"'
    assert quoted("a\nb\\.py") == '"a\\012b\\\\.py"'
    assert quoted("\u202e::x") == '"\\342\\200\\256::x"'
    assert quoted("::x") == '"\\072:x"'


def test_a_file_whose_name_is_a_flag_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that hands on the names of files would switch devlint off."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--exclude=*.py").write_text("")
    (tmp_path / "bad.py").write_text(PLAIN)
    status, out, err = printed(capsys, "--force-exclude", "--exclude=*.py", "bad.py")
    assert (status, out) == (2, "")
    assert "./--exclude=*.py is the file" in err
    assert printed(capsys, "--exclude=x.py", "bad.py")[0] == 1
    assert printed(capsys, "--", "--exclude=*.py", "bad.py")[0] == 1


def test_flake8_is_told_in_one_line(hostile: Path) -> None:
    from argparse import Namespace

    from devlint.doors.flake8 import Plugin

    key = json.dumps(HOSTILE).replace("\x7f", "\\u007f")
    (hostile / "pyproject.toml").write_text(f"[tool.devlint]\n{key} = 1\n")
    with pytest.raises(SystemExit) as stopped:
        Plugin.parse_options(Namespace(disable_noqa=False))
    assert_harmless(str(stopped.value))
    (hostile / "pyproject.toml").unlink()
    Plugin.parse_options(Namespace(disable_noqa=False))
    comment = f"x = 1  # devlint: ignore {ESCAPE}{BIDI}##vso[x]\n"
    (message,) = [text for _, _, text, _ in Plugin(None, [comment], "a.py").run()]  # type: ignore[arg-type]
    assert message.startswith("DEV001 ")
    assert_harmless(message)
