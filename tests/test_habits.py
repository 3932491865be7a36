"""What users of ruff type: flags, keys and commands that do here what they do there."""

from __future__ import annotations

import json
import subprocess
from email.message import Message
from importlib import metadata
from typing import TYPE_CHECKING, Any

import pytest

from devlint.commands.cli import main
from devlint.config.describe import keys
from devlint.match import registry
from devlint.report import address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BAD = "import torch\nx.to(d)\ny.cuda()\n"
FLAGS = ["-q", "--output-format", "concise"]


@pytest.fixture(autouse=True)
def here(toy: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(BAD)
    return tmp_path


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[int]:
    """Return the rows of the findings."""
    capsys.readouterr()
    assert main([*FLAGS, *arguments]) in (0, 1), capsys.readouterr().err
    return [int(line.split(":")[1]) for line in capsys.readouterr().out.splitlines()]


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what stands on stderr of a run that does not begin."""
    capsys.readouterr()
    try:
        status: object = main([*arguments])
    except SystemExit as stopped:
        status = stopped.code
    assert status == 2
    return capsys.readouterr().err


def test_keys_on_the_command_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rows(capsys, "--config", "ignore = ['TST101']") == []
    (here / "devlint.toml").write_text("ignore = ['TST101']\nextend-exclude = ['b.py']\n")
    (here / "b.py").write_text(BAD)
    assert rows(capsys, "--config", "ignore = []") == [2, 3]  # the other keys of the file still hold
    assert rows(capsys, "--config", "ignore = []", "--ignore", "TST") == []  # flags win
    (here / "other.toml").write_text("select = ['DEV']\n")
    assert rows(capsys, "--config", "other.toml") == []
    assert rows(capsys, "--config", "other.toml", "--config", "select=['TST1']", "a.py") == [2, 3]
    assert rows(capsys, "--isolated", "--config", "extend-select = ['TST5']", "a.py") == [2, 2, 3, 3]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["selct = []"], "devlint: --config: selct: unknown key; did you mean `select`?\n"),
        (["ignore = 3"], "devlint: --config: ignore: expected a list, got a number\n"),
        (
            ["extend = 'x.toml'"],
            "devlint: --config: extend: it is for files; --config FILE reads another one\n",
        ),
        (["a.toml"], "devlint: cannot read a.toml: No such file or directory\n"),
        (["x ="], "devlint: --config: not valid TOML: "),
        (["a.toml", "b.toml"], "error: --config names two files: a.toml and b.toml\n"),
    ],
)
def test_keys_that_make_no_sense(given: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in said(capsys, *(f"--config={each}" for each in given))


def test_a_configuration_builds_upon_another(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "base.toml").write_text(
        "extend-select = ['TST5']\nextend-exclude = ['deep/no/*', 'name.py']\nunsafe-fixes = true\n"
        "per-file-ignores = {'deep/b.py' = ['TST1']}\n"
    )
    deep = here / "deep"
    (deep / "no").mkdir(parents=True)
    for name in ("b.py", "c.py", "name.py", "no/d.py"):
        (deep / name).write_text(BAD)
    config = deep / "devlint.toml"
    config.write_text("extend = '../base.toml'\n")
    assert rows(capsys, "deep/b.py") == [2, 3]  # as notes
    assert rows(capsys, "deep") == [2, 3, 2, 2, 3, 3]
    extended = "extend = '../base.toml'\nignore = ['TST5']\n"
    config.write_text(f"{extended}extend-per-file-ignores = {{'c.py' = ['TST']}}\n")
    assert rows(capsys, "deep") == []
    config.write_text(f"{extended}per-file-ignores = {{}}\n")
    assert rows(capsys, "deep") == [2, 3, 2, 3]


def test_configurations_that_cannot_be_built_upon(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "devlint.toml").write_text("extend = 'b.toml'\n")
    assert "devlint.toml: extend: cannot read " in said(capsys)
    (here / "b.toml").write_text("extend = 'devlint.toml'\n")
    assert "b.toml: extend: devlint.toml and this file extend each other\n" in said(capsys)
    (here / "pyproject.toml").write_text("[tool.ruff]\n")
    (here / "devlint.toml").write_text("extend = 'pyproject.toml'\n")
    assert "devlint.toml: extend: pyproject.toml has no table `tool.devlint`\n" in said(capsys)


def test_a_hidden_file_comes_first(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "devlint.toml").write_text("ignore = ['TST101']\n")
    assert rows(capsys) == []
    (here / ".devlint.toml").write_text("")
    assert rows(capsys) == [2, 3]


def test_ignores_by_file_on_the_command_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "devlint.toml").write_text("per-file-ignores = {'a.py' = ['TST1']}\n")
    (here / "b.py").write_text(BAD)
    assert rows(capsys) == [2, 3]
    assert rows(capsys, "--per-file-ignores", "b.py:TST1") == [2, 3]
    assert rows(capsys, "--extend-per-file-ignores", "b.py:TST1,c.py:TST") == []
    assert rows(capsys, "--per-file-ignores", f"{here}/*.py:TST") == []
    assert "expected a pattern and a code" in said(capsys, "--per-file-ignores", "b.py")
    assert "--extend-per-file-ignores: no rule has" in said(capsys, "--extend-per-file-ignores", "b.py:TSTX")


def test_no_comment_counts(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text(
        "import torch\nx.to(d)  # noqa\ny.cuda()  # devlint: ignore[TST101]\nz = 1  # noqa: DEV1\n"
    )
    assert rows(capsys) == [4]
    assert rows(capsys, "--ignore-noqa") == [2, 3]


def test_which_fixes_are_applied(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def diff(*arguments: str) -> int:
        assert main(["a.py", "--diff", "-q", *arguments]) in (0, 1)
        return sum(line.startswith("+") for line in capsys.readouterr().out.splitlines()[2:])

    assert diff() == 1
    assert diff("--unsafe-fixes") == 2
    assert diff("--unsafe-fixes", "--unfixable", "TST1") == 0
    assert diff("--unsafe-fixes", "--fixable", "DEV") == 0
    assert diff("--unsafe-fixes", "--fixable", "DEV", "--extend-fixable", "TST101") == 2
    assert diff("--config", "extend-safe-fixes = ['TST']") == 2
    assert diff("--config", "extend-unsafe-fixes = ['TST']") == 0
    assert diff("--config", "extend-safe-fixes = ['TST']", "--config", "extend-unsafe-fixes = ['TST1']") == 0
    (here / "devlint.toml").write_text("unsafe-fixes = true\nunfixable = ['TST']\n")
    assert diff() == 0
    assert diff("--unfixable", "DEV") == 2
    assert diff("--unfixable", "DEV", "--no-unsafe-fixes") == 1


def test_fixing_without_telling(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--fix-only", "--show-fixes"]) == 0
    assert capsys.readouterr().out == (
        "Fixed 1 finding:\n- a.py:\n    1 \u00d7 TST101 (discarded-result)\n\n"
        "Fixed 1 finding. Nothing is left.\n"
    )
    assert (here / "a.py").read_text() == "import torch\nx = x.to(d)\ny.cuda()\n"
    assert main(["--fix", "--no-fix", "-q"]) == 1
    (here / "a.py").write_text("import torch\nx.to(d)\n")
    assert main(["--fix", "--exit-non-zero-on-fix"]) == 1
    assert main(["--fix", "--exit-non-zero-on-fix"]) == 0


def test_files_that_are_named_and_excluded(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "devlint.toml").write_text("extend-exclude = ['a.py']\nforce-exclude = true\nlint-tests = true\n")
    assert rows(capsys, "a.py") == []
    assert rows(capsys, "a.py", "--no-force-exclude") == [2, 3]
    (here / "devlint.toml").write_text("respect-gitignore = false\n")
    (here / ".gitignore").write_text("a.py\n")
    assert rows(capsys) == [2, 3]
    assert rows(capsys, "--respect-gitignore") == []


def test_short_flags(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-e", "-o", "out", "-q", "--output-format", "concise"]) == 0
    assert (here / "out").read_text().startswith("a.py:2:1: TST101 ")
    assert main(["-s"]) == 1
    assert capsys.readouterr() == ("", "")
    assert "unrecognized arguments: --exit-z" in said(capsys, "--exit-z")  # it may come to mean another


def test_a_reason_in_ruffs_place(here: Path) -> None:
    assert main(["--add-noqa=before devlint", "-q", "a.py"]) == 0
    assert (here / "a.py").read_text().splitlines()[1] == "x.to(d)  # noqa: TST101 - before devlint"


def test_findings_by_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "b.py").write_text("import torch\n" + "\n" * 8 + "x.to(d)\n")
    assert main(["--output-format", "grouped"]) == 1
    assert capsys.readouterr().out == (
        "a.py:\n"
        "  2:1 TST101 [*] the result of `.to()` is thrown away\n"
        "  3:1 TST101 the result of `.cuda()` is thrown away\n"
        "\n"
        "b.py:\n"
        "  10:1 TST101 [*] the result of `.to()` is thrown away\n"
        "\n"
        "Found 3 errors. 2 fixable with --fix. 1 more fixable with --fix --unsafe-fixes.\n"
    )


LIMITS = [
    (["--max-findings", "TST101=2"], 0, []),
    (["--max-findings", "TST=2"], 0, []),
    (["--max-findings", "ALL=2"], 0, []),
    (["--max-findings", "TST101=1"], 1, ["2 findings of TST101, and max-findings allows 1"]),
    (["--max-findings", "TST101=1,TST=9", "a.py"], 1, ["2 findings of TST101, and max-findings allows 1"]),
    (["--max-findings", "DEV=0"], 1, []),
    (
        ["--max-findings", "TST101=3"],
        0,
        ["2 findings of TST101, and max-findings still allows 3: lower it to 2"],
    ),
    (["--max-findings", "TST101=3", "a.py"], 0, []),  # of one file there are always fewer
    (["--max-findings", "TST101=3", "-q"], 0, []),
]


@pytest.mark.parametrize(("arguments", "status", "messages"), LIMITS)
def test_a_number_of_findings_that_only_goes_down(
    arguments: list[str], status: int, messages: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--output-format", "concise"]) == status
    out, err = capsys.readouterr()
    assert sum("TST101" in line for line in out.splitlines()) == 2  # they are shown all the same
    assert err.splitlines() == [f"devlint: {message}" for message in messages]


def test_limits_of_the_configuration(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "devlint.toml").write_text("max-findings = {TST101 = 2}\n")
    assert main(["-q"]) == 0
    assert main(["-q", "--max-findings", "TST101=1"]) == 1
    capsys.readouterr()
    (here / "devlint.toml").write_text("max-findings = {TST101 = -1}\n")
    assert 'max-findings."TST101": expected `int` >= 0' in said(capsys)
    (here / "devlint.toml").write_text("max-findings = {TSTX = 1}\n")
    assert "max-findings: no rule has the code, prefix or name 'TSTX'" in said(capsys)
    (here / "devlint.toml").unlink()
    assert "expected a code and a number" in said(capsys, "--max-findings", "TST101")


def test_a_baseline_of_the_configuration(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--write-baseline needs --baseline" in said(capsys, "--write-baseline")
    (here / "devlint.toml").write_text("baseline = 'old.json'\n")
    assert "no such baseline: old.json" in said(capsys)
    assert main(["--write-baseline", "-q"]) == 0
    assert rows(capsys) == []
    assert rows(capsys, "--no-baseline") == [2, 3]
    (here / "sub").mkdir()
    monkeypatch.chdir(here / "sub")
    assert rows(capsys, "..") == []
    monkeypatch.chdir(here)
    (here / "a.py").write_text("import torch\nx.to(d)\n")
    assert main(["-q"]) == 1
    assert main(["-q", "--fix-only"]) == 1  # fixing does not take it out of the list
    assert main(["-q", "--prune-baseline"]) == 0
    assert rows(capsys) == []


def test_rules_are_selected_by_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rows(capsys, "--select", "Noted-Call") == [2, 3]
    assert rows(capsys, "--ignore", "discarded-result") == []
    assert rows(capsys, "--per-file-ignores", "a.py:discarded-result") == []
    assert rows(capsys, "--max-findings", "discarded-result=2") == [2, 3]
    assert main(["-q", "--max-findings", "discarded-result=2"]) == 0
    assert "discarded-result` finds" not in capsys.readouterr().out
    assert main(["-q", "--fix", "--unsafe-fixes", "--unfixable", "discarded-result"]) == 1
    assert (here / "a.py").read_text() == BAD
    config = here / "devlint.toml"
    config.write_text("select = ['noted-call']\nmax-findings = { noted-call = 1 }\n")
    assert main(["-q"]) == 1
    assert "2 findings of TST501, and max-findings allows 1" in capsys.readouterr().err
    config.write_text("per-file-ignores = { 'a.py' = ['discarded-result'] }\nunfixable = ['noted-call']\n")
    assert rows(capsys) == []
    capsys.readouterr()
    assert main(["--show-settings", "a.py"]) == 0
    assert 'unfixable = ["TST501"]\n' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ["--select", "noted-cal"],
            "--select: no rule has the code, prefix or name 'noted-cal' (did you mean `noted-call`?)\n",
        ),
        (
            ["--config", "ignore = ['Discarded']"],
            "--config: ignore: no rule has the code, prefix or name 'Discarded' (`devlint rules`",
        ),
        (["--unfixable", "TST999"], "--unfixable: no rule has the code, prefix or name 'TST999' ("),
    ],
)
def test_a_name_that_nobody_has_is_one_message(
    given: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = said(capsys, *given)
    assert message in told
    assert told.count("\n") == 1


PREVIEW = """\"\"\"Everything is new

Its page.
\"\"\"
from devlint.rule import Call, Report, Rule, Severity, call

class New(Rule[Call]):
    code = "NEW101"
    name = "new-call"
    severity = Severity.WARNING
    preview = True
    watches = (call("*.cuda"),)

    def visit(self, node, event, ask):
        yield Report("it is new")
"""
INERT = "devlint: selection `{}` has no effect because preview is not enabled\n"


@pytest.fixture
def new(here: Path, provide: Callable[[str, str], None]) -> None:
    """Install a rule that is in preview."""
    provide("new_rules", PREVIEW)
    registry.forget()


@pytest.mark.usefixtures("new")
def test_a_rule_in_preview_runs_with_preview_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rows(capsys) == [2, 3]
    assert rows(capsys, "--preview") == [2, 3, 3]
    assert rows(capsys, "--select", "ALL", "--ignore", "TST") == []
    assert capsys.readouterr().err == ""  # some of what it selects does run
    assert rows(capsys, "--select", "ALL", "--ignore", "TST", "--preview") == [3]
    (here / "devlint.toml").write_text("preview = true\nselect = ['new-call']\n")
    assert rows(capsys) == [3]
    assert rows(capsys, "--no-preview") == []
    assert rows(capsys, "--config", "preview = false") == []


@pytest.mark.usefixtures("new")
def test_rules_in_preview_may_have_to_be_selected_by_their_whole_code(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "devlint.toml").write_text("preview = true\nexplicit-preview-rules = true\n")
    assert rows(capsys) == [2, 3]
    assert rows(capsys, "--select", "ALL,NEW", "--ignore", "TST") == []
    for whole in ("NEW101", "new-call", "new101"):
        assert rows(capsys, "--extend-select", whole) == [2, 3, 3]
    assert rows(capsys, "--extend-select", "NEW101", "--ignore", "NEW101") == [2, 3]
    assert rows(capsys, "--select", "NEW101", "--no-preview") == []
    assert main(["--show-settings", "a.py"]) == 0
    assert "explicit-preview-rules = true\n" in capsys.readouterr().out


@pytest.mark.usefixtures("new")
@pytest.mark.parametrize(
    ("selector", "shown"), [("NEW101", "NEW101"), ("NEW", "NEW"), ("new-call", "NEW101")]
)
def test_selecting_what_is_in_preview_warns_once(
    selector: str, shown: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "b.py").write_text(BAD)
    assert main(["-q", "--extend-select", f"TST1,{selector}"]) == 1
    assert capsys.readouterr().err == INERT.format(shown)
    for name in ("one", "two"):
        (here / name).mkdir()
        (here / name / "a.py").write_text(BAD)
        (here / name / "devlint.toml").write_text(f"select = ['{selector}']\n")
    assert main(["one", "two"]) == 0
    assert capsys.readouterr().err == INERT.format(shown)
    assert main(["one", "--ignore", selector, "--preview"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("new")
def test_what_is_in_preview_says_so(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "new-call"]) == 0
    page = capsys.readouterr().out
    assert "*warning, in preview: with --preview, on by default*" in page
    rule = of(capsys, "rule", "NEW101", "--output-format", "json")
    assert (rule["preview"], rule["default"]) == (True, False)
    assert main(["rules"]) == 0
    assert "Everything is new (in preview: with --preview, on by default)\n" in capsys.readouterr().out
    assert main(["config", "preview"]) == 0
    assert "not settled yet" in capsys.readouterr().out
    assert main(["--show-settings", "a.py", "--preview"]) == 0
    shown = capsys.readouterr().out
    assert "preview = true\n" in shown
    assert '"NEW101"' in shown
    (here / "a.py").write_text("import torch\ny.cuda()  # noqa: NEW101, TST101\n")
    assert rows(capsys) == []  # what is off is not judged: the comment may be needed elsewhere


@pytest.mark.parametrize("name", ["../old.json", "/tmp/old.json", "", "."])
def test_a_configuration_names_no_file_elsewhere(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "devlint.toml").write_text(f"baseline = {name!r}\n")
    assert "devlint.toml: baseline: expected the name of a file in this folder or below" in said(capsys)


def of(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    assert main([*arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_rules_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    rule = of(capsys, "rule", "TST501", "--output-format", "json")
    assert rule.pop("explanation").startswith("Result that is thrown away\n\n")
    assert rule == {
        "code": "TST501",
        "name": "noted-call",
        "summary": "Result that is thrown away",
        "severity": "note",
        "default": False,
        "preview": False,
        "url": None,
    }
    codes = [rule["code"] for rule in of(capsys, "rule", "--all", "--output-format", "json")]
    assert codes == ["DEV000", "DEV001", "TST101", "TST501", "TST901"]
    assert [rule["code"] for rule in of(capsys, "rules", "--output-format", "json")] == codes
    assert "expected rules, or --all" in said(capsys, "rule")


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install devlint with an address in its metadata."""
    found = Message()
    found["Project-URL"] = "Source, https://example.org/code"
    found["Project-URL"] = "Documentation, https://example.org/devlint/"
    monkeypatch.setattr(metadata, "metadata", lambda _: found)
    address._root.cache_clear()
    yield
    address._root.cache_clear()


def test_pages_have_addresses_once_they_are_published(
    published: None, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "https://example.org/devlint/rules/unreadable/"
    (here / "a.py").write_text("def f(:\n")
    assert of(capsys, "rule", "DEV000", "--output-format", "json")["url"] == url
    assert of(capsys, "-e", "--output-format", "json")[0]["url"] == url
    assert of(capsys, "-e", "--output-format", "rdjson")["diagnostics"][0]["code"] == {
        "value": "DEV000",
        "url": url,
    }
    rules = of(capsys, "-e", "--output-format", "sarif")["runs"][0]["tool"]["driver"]["rules"]
    assert {rule["id"]: rule.get("helpUri") for rule in rules}["DEV000"] == url
    assert main(["rule", "DEV000"]) == 0
    assert capsys.readouterr().out.endswith(f"\nMore: <{url}>\n")
    assert of(capsys, "rule", "TST101", "--output-format", "json")["url"] is None  # somebody else's


def test_keys_are_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config"]) == 0
    assert capsys.readouterr().out.splitlines() == [key.name for key in keys()]
    assert main(["config", "tool.devlint.force-exclude"]) == 0
    assert capsys.readouterr().out == (
        "Leave them out when they are named outright, as pre-commit does.\n\n"
        "Default value: false\nType: bool\n"
        "Example usage:\n```toml\n[tool.devlint]\nforce-exclude = true\n```\n"
    )
    assert of(capsys, "config", "max-findings", "--output-format", "json")["type"] == "dict[str, int]"
    assert of(capsys, "config", "--output-format", "json")["select"]["default"] is None
    assert "no key is called 'selct' (did you mean `select`?)" in said(capsys, "config", "selct")


def test_a_command_that_is_a_folder_too(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "config").mkdir()
    (here / "config/a.py").write_text(BAD)
    assert said(capsys, "config") == "devlint: config is a command, and a path here: ./config is the path\n"
    assert rows(capsys, "./config") == [2, 3]


def test_the_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    from devlint import __version__

    assert main(["version"]) == 0
    assert capsys.readouterr().out == f"devlint {__version__}\n"
    assert of(capsys, "version", "--output-format", "json") == {"version": __version__}
    for command, line in (
        ("rule", "usage: devlint rule "),
        ("config", "usage: devlint config "),
        ("", "usage: devlint "),
    ):
        with pytest.raises(SystemExit):
            main(["help", *command.split()])
        assert capsys.readouterr().out.startswith(line)


def test_shells_complete(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("shtab")
    assert main(["generate-shell-completion", "bash"]) == 0
    script = capsys.readouterr().out
    (here / "script").write_text(script)

    def completed(*words: str) -> set[str]:
        quoted = " ".join(f"'{word}'" for word in words)
        code = f"source ./script; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _shtab_devlint; "
        done = subprocess.run(
            ["bash", "-c", code + 'printf "%s\n" "${COMPREPLY[@]}"'],
            capture_output=True,
            text=True,
            check=True,
        )
        return set(done.stdout.split())

    assert {"check", "rule", "config", "verify", "generate-shell-completion"} <= completed("devlint", "")
    assert completed("devlint", "check", "--unsafe") == {"--unsafe-fixes"}
    assert completed("devlint", "check", "--output-format", "j") == {"json", "json-lines", "junit"}
    monkeypatch.setitem(__import__("sys").modules, "shtab", None)
    assert "needs shtab: pip install shtab" in said(capsys, "generate-shell-completion", "bash")


def test_statistics_tell_trees_apart(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "sub/deep").mkdir(parents=True)
    (here / "sub/b.py").write_text(BAD)
    (here / "sub/deep/c.py").write_text("import torch\nx.to(d)\n")
    paths = ["a.py", "sub/deep", "./sub"]
    assert main([*paths, "--statistics", "-q"]) == 1
    line = "5  TST101  [ ] discarded-result (a.py 2, sub/deep 1, ./sub 2)\n"
    assert capsys.readouterr().out == line
    (row,) = of(capsys, *paths, "-e", "--statistics", "--output-format", "json")
    assert row["paths"] == {"a.py": 2, "sub/deep": 1, "./sub": 2}
    assert main([".", "--statistics", "-q"]) == 1
    assert capsys.readouterr().out == "5  TST101  [ ] discarded-result\n"
