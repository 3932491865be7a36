"""Rules that are broken: each is one message and exit status 2, and costs no finding of the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from devlint.commands.cli import main
from devlint.errors import DevlintError
from devlint.run.lint import lint

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BAD = "import torch\nx.to(d)\nx.to(e)\n"
FLAGS = ["--output-format", "concise", "-q"]
ACME = '''"""Page."""
from devlint.rule import Call, Change, Report, Rule, call


class Acme(Rule[Call]):
    code = "ACM101"
    name = "acme-rule"
    watches = (call("*.to"),)

    def suspects(self, event):
        return {suspects}

    def visit(self, node, event, ask):
        {visit}
'''


def fail(text: str) -> str:
    return f"(_ for _ in ()).throw({text})"


@pytest.fixture(autouse=True)
def here(toy: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(BAD)
    (tmp_path / "b.py").write_text(BAD)
    return tmp_path


def test_a_rule_names_other_places(
    provide: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    said = (
        "yield Report('m', because=((node.func.value, 'this'), (None, 'never'), (event.at.span, 'itself')))"
    )
    provide("acme", ACME.format(suspects="True", visit=said))
    assert main(["--select", "ACM101", "--output-format", "json", "a.py"]) == 1
    first, _ = json.loads(capsys.readouterr().out)
    assert [(each["message"], each["end_location"]) for each in first["related"]] == [
        ("this", {"row": 2, "column": 2})
    ]


def test_a_place_that_is_none(
    provide: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    said = "yield Report('m', because=((node.func.with_changes(), 'new'),))"
    provide("acme", ACME.format(suspects="True", visit=said))
    assert main(["--select", "ACM101", *FLAGS, "a.py"]) == 2
    out, err = capsys.readouterr()
    assert [line.split(" ")[1] for line in out.splitlines()] == ["ACM101", "ACM101"]
    assert err == (
        "devlint: a.py:2: rule ACM101 is broken: "
        "ValueError: questions are about nodes of the visited tree, not about new ones\n"
    )


@pytest.mark.parametrize(
    ("suspects", "visit", "message"),
    [
        (fail("ZeroDivisionError('oops')"), "yield", "ZeroDivisionError: oops"),
        (fail("SystemExit(0)"), "yield", "SystemExit: 0"),
        ("True", "raise KeyError('oops')", "KeyError: 'oops'"),
        ("True", "raise SystemExit(0)", "SystemExit: 0"),
        ("True", "raise SyntaxError('oops')", "SyntaxError: oops"),
        ("True", "return 3", "TypeError: 'int' object is not iterable"),
        ("True", "yield 'text'", "TypeError: `visit` yields a Report, not 'text'"),
        ("True", "yield Report(None)", "TypeError: `visit` yields a Report, not Report(message=None"),
        ("True", "yield Report('m', severity='bad')", "TypeError: `visit` yields a Report, not "),
        ("True", "yield Report('m', because=((node, 3),))", "TypeError: `visit` yields a Report, not "),
    ],
)
def test_the_findings_of_the_others_stay(
    provide: Callable[[str, str], None],
    capsys: pytest.CaptureFixture[str],
    suspects: str,
    visit: str,
    message: str,
) -> None:
    provide("acme", ACME.format(suspects=suspects, visit=visit))
    assert main(FLAGS) == 2
    out, err = capsys.readouterr()
    assert [line.split(" ")[:2] for line in out.splitlines()] == [
        [f"{name}.py:{row}:1:", "TST101"] for name in "ab" for row in (2, 3)
    ]
    assert err.startswith(f"devlint: a.py:2: rule ACM101 is broken: {message}")
    assert err.endswith(" (and in 1 more file)\n")
    assert err.count("\n") == 1


def test_a_report_stays_whose_change_makes_no_code(
    provide: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    provide("acme", ACME.format(suspects="True", visit="yield Report('m', change=Change('c', 3, True))"))
    assert main(["a.py", "--select", "ACM", *FLAGS]) == 2
    out, err = capsys.readouterr()
    assert [line.split(" ", 1)[1] for line in out.splitlines()] == ["ACM101 m"] * 2
    assert err.startswith("devlint: a.py:2: rule ACM101 is broken: TypeError: ")


def test_what_was_reported_before_it_raised_stays(
    provide: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    provide("acme", ACME.format(suspects="True", visit="yield Report('m'); raise KeyError"))
    assert main(["a.py", "--select", "ACM", *FLAGS]) == 2
    assert capsys.readouterr().out.count("ACM101 m") == 2


def test_its_author_sees_the_traceback(
    provide: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    provide("acme", ACME.format(suspects="True", visit="raise KeyError('oops')"))
    assert main(["-v", *FLAGS]) == 2
    err = capsys.readouterr().err
    assert err.count("Traceback") == 1
    assert ", in visit\n" in err


def test_nothing_is_praised_and_the_fixes_of_the_others_are_made(
    here: Path, provide: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    provide("acme", ACME.format(suspects="True", visit="raise KeyError('oops')"))
    assert main(["--fix", "a.py"]) == 2
    assert (here / "a.py").read_text() == "import torch\nx = x.to(d)\nx = x.to(e)\n"
    out, err = capsys.readouterr()
    assert out == "Fixed 2. No findings, but not everything could be checked.\n"
    assert err == "devlint: a.py:2: rule ACM101 is broken: KeyError: 'oops'\n"


def test_in_a_notebook_there_is_no_row(
    here: Path, provide: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    provide("acme", ACME.format(suspects="True", visit="raise KeyError('oops')"))
    cells = [{"cell_type": "code", "source": BAD, "metadata": {}}]
    (here / "n.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}))
    assert main(["n.ipynb", *FLAGS]) == 2
    out, err = capsys.readouterr()
    assert out.count("TST101") == 2
    assert err == "devlint: n.ipynb: rule ACM101 is broken: KeyError: 'oops'\n"


def test_an_entry_of_a_baseline_is_not_fixed_by_a_rule_that_breaks(
    here: Path, provide: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    baseline = ["--baseline", "old.json"]
    entry = {"path": "a.py", "code": "ACM101", "in": "", "line": "x.to(d)"}
    (here / "old.json").write_text(json.dumps({"devlint-baseline": 1, "findings": [entry]}))
    provide("acme", ACME.format(suspects="True", visit="raise KeyError('oops')"))
    assert main(["--select", "ACM", *baseline, "--prune-baseline", *FLAGS]) == 2
    assert json.loads((here / "old.json").read_text())["findings"] == [entry]


def test_outside_the_command_line_it_is_an_exception(provide: Callable[[str, str], None]) -> None:
    provide("acme", ACME.format(suspects="True", visit="raise KeyError('oops')"))
    with pytest.raises(DevlintError, match=r"a\.py:2: rule ACM101 is broken: KeyError: 'oops'"):
        lint(BAD, "a.py")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Make a folder that looks like one with an installed package of rules; the test writes its module."""
    site = tmp_path / "site"
    about = site / "acme-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[devlint.rules]\nacme = acme\n")
    return site


def run(site: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "devlint", "--isolated", *arguments]
    variables = {**os.environ, "PYTHONPATH": str(site), **variables}
    return subprocess.run(command, env=variables, cwd=site, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("import sys\nsys.exit(0)\n", "SystemExit: 0"),
        ("def f(:\n", "SyntaxError: invalid syntax (acme.py, line 1)"),
    ],
)
def test_a_package_that_does_not_import(site: Path, source: str, message: str) -> None:
    (site / "acme.py").write_text(source)
    (site / "x.py").write_text("import torch\nx = torch.ones(2)\nx.cuda()\n")
    complaint = f"devlint: cannot load the rules in acme (from acme): {message}\n"
    for flags in ([], ["--select", "DEV"], ["--select", "DEV,ACM101"]):
        result = run(site, "x.py", *FLAGS, *flags)
        assert (result.returncode, result.stderr) == (2, complaint)
        assert [line.split()[1] for line in result.stdout.splitlines()] == ["DEV101", "DEV201"]
    assert run(site, "x.py", "-v", *FLAGS).stderr.count("Traceback") == 1
    log = json.loads(run(site, "x.py", "--output-format", "sarif").stdout)["runs"][0]
    assert len(log["results"]) == 2
    (invocation,) = log["invocations"]
    assert invocation["executionSuccessful"] is False
    assert message in invocation["toolExecutionNotifications"][0]["message"]["text"]


def test_a_package_that_did_import_when_its_rules_were_looked_at(site: Path) -> None:
    """What it needs is gone since; what is kept of its rules, and of results, does not hide that."""
    needed = site / "needed" / "deep"
    needed.mkdir(parents=True)
    (needed / "part.py").write_text("")
    acme = ACME.format(suspects="True", visit="return ()")
    (site / "acme.py").write_text(acme.replace("from", "import needed.deep.part\nfrom", 1))
    (site / "x.py").write_text("import torch\nx = torch.ones(2)\nx.to(d)\n")
    assert run(site, "x.py", *FLAGS, DEVLINT_NO_CACHE="").returncode == 1
    assert (site / ".devlint_cache").exists()
    (needed / "part.py").unlink()
    result = run(site, "x.py", *FLAGS, DEVLINT_NO_CACHE="")
    assert (result.returncode, result.stderr) == (
        2,
        "devlint: cannot load the rules in acme (from acme): "
        "ModuleNotFoundError: No module named 'needed.deep.part'\n",
    )
    assert [line.split()[1] for line in result.stdout.splitlines()] == ["DEV101"]
    assert run(site, "x.py", "-v", *FLAGS).stderr.count("Traceback") == 1


def test_a_package_that_imports_at_times(site: Path) -> None:
    """Its files are the same, and what is kept of its rules holds; it is told of where a rule is needed."""
    acme = ACME.format(suspects="True", visit="return ()")
    sometimes = "import os\nif 'WITHOUT' in os.environ:\n    import no_such_module\nfrom"
    (site / "acme.py").write_text(acme.replace("from", sometimes, 1))
    (site / "x.py").write_text("import torch\nx = torch.ones(2)\nx.to(d)\n")
    assert run(site, "x.py", *FLAGS).returncode == 1
    result = run(site, "x.py", *FLAGS, WITHOUT="1")
    assert (result.returncode, result.stderr) == (
        2,
        "devlint: x.py:3: rule ACM101 is broken: cannot load the rules in acme: "
        "ModuleNotFoundError: No module named 'no_such_module'\n",
    )
    assert [line.split()[1] for line in result.stdout.splitlines()] == ["DEV101"]
    assert run(site, "x.py", "-v", *FLAGS, WITHOUT="1").stderr.count("Traceback") == 1


def test_what_is_kept_of_results_does_not_hide_a_rule_that_breaks(site: Path) -> None:
    (site / "acme.py").write_text(ACME.format(suspects="True", visit="raise ValueError('oops')"))
    (site / "x.py").write_text("import torch\nx = torch.ones(2)\nx.to(d)\n")
    for _ in range(2):
        result = run(site, "x.py", *FLAGS, DEVLINT_NO_CACHE="")
        assert result.returncode == 2
        assert result.stderr.startswith("devlint: x.py:3: rule ACM101 is broken: ValueError: oops")
        assert (site / ".devlint_cache").exists()


def test_its_codes_are_not_forgotten_by_a_baseline(site: Path) -> None:
    (site / "acme.py").write_text("import no_such_module\n")
    (site / "x.py").write_text("import torch\n")
    entry = {"path": "x.py", "code": "ACM101", "in": "", "line": "import torch"}
    (site / "old.json").write_text(json.dumps({"devlint-baseline": 1, "findings": [entry]}))
    result = run(site, "x.py", "--baseline", "old.json", "--prune-baseline", *FLAGS)
    assert result.returncode == 2
    assert json.loads((site / "old.json").read_text())["findings"] == [entry]


def test_what_cannot_be_loaded_is_not_proven(site: Path) -> None:
    (site / "acme.py").write_text("import no_such_module\n")
    complaint = "devlint: cannot load the rules in acme (from acme): ModuleNotFoundError"
    for asked in ("DEV000", "ACM101"):
        command = [sys.executable, "-m", "devlint", "verify", asked]
        result = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": str(site)}, cwd=site, capture_output=True, text=True
        )
        assert result.returncode == 2
        assert result.stderr.startswith(complaint)
        assert "Traceback" not in result.stderr


def test_what_a_broken_rule_says_is_one_line(
    provide: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    text = "\n::error ::x\x1b[2J"
    provide("acme", ACME.format(suspects="True", visit=f"raise ValueError({text!r}); yield"))
    assert main(["-v", *FLAGS]) == 2
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert not any(line.lstrip().startswith("::") for line in err.split("\n"))
