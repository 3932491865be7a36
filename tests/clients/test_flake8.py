"""The real flake8 with the installed plugin: alone, beside other plugins, in several processes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Environment

BAD = """\
import torch


def batch(device):
    mask = torch.ones(2)
    mask.to(device)
    é = torch.ones(3); é.to(device)
    return mask, é
"""
NOQA = """\
import torch


def batch(device):
    mask = torch.ones(2)
    mask.to(device)  # noqa: DEV101
    mask.to(device)  # noqa
    mask.to(device)  # noqa: E501
    mask.to(
        device
    )  # noqa: DEV
    mask.to(device)  # devlint: ignore[DEV101]
    return mask
"""
ENDS = (("# noqa: DEV101", ""), ("", "# noqa: DEV101"), ("", "# noqa: DEV101 why"), ("# noqa: E501", ""))
CLEAN = "import torch\n\nx = torch.ones(2)\nx = x.to(torch.device('cpu'))\nprint(x)\n"
HARDCODED = 'import torch\n\nx = torch.ones(2, device="cuda")\n'


def places(output: str) -> list[tuple[str, int, int, str]]:
    """Read lines of `path:row:column: CODE message`, which flake8 and devlint print alike."""
    found = re.findall(r"^(?:\./)?(.*?):(\d+):(\d+): (\w+)", output, re.MULTILINE)
    return [(path, int(row), int(column), code) for path, row, column, code in found]


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def flake8(environment: Environment, folder: Path, *arguments: str) -> list[tuple[str, int, int, str]]:
    result = environment.run("flake8", "--select", "DEV", *arguments, cwd=folder)
    assert result.stderr == ""
    assert result.returncode == bool(result.stdout)
    return places(result.stdout)


def devlint(environment: Environment, folder: Path, *arguments: str) -> list[tuple[str, int, int, str]]:
    result = environment.run("devlint", "--output-format", "concise", *arguments, cwd=folder)
    assert result.returncode in (0, 1), result.stderr
    return places(result.stdout)


def test_flake8_knows_the_plugin(environment: Environment, tmp_path: Path) -> None:
    assert "devlint: " in environment.run("flake8", "--version", cwd=tmp_path).stdout


def test_findings_are_those_of_the_command_line(environment: Environment, tmp_path: Path) -> None:
    write(tmp_path, bad=BAD, clean=CLEAN, hard=HARDCODED)
    found = flake8(environment, tmp_path, ".")
    assert found == [("bad.py", 6, 5, "DEV101"), ("bad.py", 7, 24, "DEV101"), ("hard.py", 3, 26, "DEV202")]
    assert found == devlint(environment, tmp_path, ".")


def test_devlint_is_on_without_being_selected(environment: Environment, tmp_path: Path) -> None:
    write(tmp_path, bad=BAD)
    result = environment.run("flake8", "--isolated", cwd=tmp_path)
    codes = [code for *_, code in places(result.stdout)]
    assert codes == ["DEV101", "E702", "DEV101"]
    assert "`mask` stays put" in result.stdout


def test_the_configuration_is_devlints(environment: Environment, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.devlint]\nignore = ["DEV202"]\nextend-exclude = ["old"]\n'
        'per-file-ignores = {"tests/*" = ["DEV1"]}\n'
    )
    for name in ("src", "old", "tests"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, bad=BAD + HARDCODED)
    found = flake8(environment, tmp_path, "src", "old", "tests")
    assert found == [("src/bad.py", 6, 5, "DEV101"), ("src/bad.py", 7, 24, "DEV101")]
    assert found == devlint(environment, tmp_path, ".")


def test_a_mistake_in_the_configuration_is_told(environment: Environment, tmp_path: Path) -> None:
    write(tmp_path, bad=BAD)
    (tmp_path / "pyproject.toml").write_text('[tool.devlint]\nselct = ["DEV"]\n')
    result = environment.run("flake8", "bad.py", cwd=tmp_path)
    path = tmp_path / "pyproject.toml"
    message = f"devlint: {path}: tool.devlint.selct: unknown key; did you mean `select`?\n"
    assert (result.returncode, result.stdout, result.stderr) == (1, "", message)


def test_a_mistake_in_a_nested_configuration_is_told_where_it_holds(
    environment: Environment, tmp_path: Path
) -> None:
    for name in ("good", "wrong"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, bad=BAD)
    path = tmp_path / "wrong" / "pyproject.toml"
    path.write_text('[tool.devlint]\nselct = ["DEV"]\n')
    for jobs in ("1", "2"):
        result = environment.run("flake8", "--select", "DEV", "-j", jobs, ".", cwd=tmp_path)
        assert result.stderr == ""
        assert sorted(result.stdout.splitlines())[-1] == (
            f"./wrong/bad.py:1:1: DEV000 {path}: tool.devlint.selct: unknown key; did you mean `select`?"
        )
        assert [code for *_, code in places(result.stdout)].count("DEV101") == 2


BROKEN = """"A page."
from devlint.rule import Move, Rule, move


class Broken(Rule[Move]):
    code = "XYZ101"
    name = "broken-rule"
    watches = (move("to"),)

    def visit(self, node, event, ask):
        raise ZeroDivisionError("oops")
"""


def provide(site: Path, text: str) -> None:
    info = site / "xyz-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: xyz\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[devlint.rules]\nxyz = xyz\n")
    (site / "xyz.py").write_text(text)


def test_a_rule_that_raises_is_one_finding(environment: Environment, tmp_path: Path) -> None:
    write(tmp_path, bad=BAD, clean=CLEAN)
    site = tmp_path / "site"
    provide(site, BROKEN)
    variables = {"PYTHONPATH": str(site), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = ("flake8", "--select", "DEV", "bad.py", "clean.py")
    result = environment.run(*command, cwd=tmp_path, **variables)
    assert result.stderr == ""
    assert [line for line in result.stdout.splitlines() if "DEV101" not in line] == [
        "bad.py:6:1: DEV000 rule XYZ101 is broken: ZeroDivisionError: oops",
        "clean.py:4:1: DEV000 rule XYZ101 is broken: ZeroDivisionError: oops",
    ]
    assert [row for _, row, _, code in places(result.stdout) if code == "DEV101"] == [6, 7]


def test_rules_that_cannot_be_loaded_end_the_run(environment: Environment, tmp_path: Path) -> None:
    write(tmp_path, bad=BAD)
    site = tmp_path / "site"
    provide(site, "import nonsense\n")
    variables = {"PYTHONPATH": str(site), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for _ in range(2):  # nor does the manifest forget
        result = environment.run("flake8", "bad.py", cwd=tmp_path, **variables)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr == (
            "devlint: cannot load the rules in xyz (from xyz): "
            "ModuleNotFoundError: No module named 'nonsense'\n"
        )


def test_noqa_is_flake8s(environment: Environment, tmp_path: Path) -> None:
    write(tmp_path, noqa=NOQA)
    found = flake8(environment, tmp_path, "noqa.py")
    assert found == [("noqa.py", 8, 5, "DEV101")]
    assert found == devlint(environment, tmp_path, "noqa.py")
    rows = [row for _, row, _, _ in flake8(environment, tmp_path, "--disable-noqa", "noqa.py")]
    assert rows == [6, 7, 8, 9]


def test_a_noqa_without_use_is_told_as_on_the_command_line(environment: Environment, tmp_path: Path) -> None:
    write(tmp_path, idle=CLEAN.replace("print(x)", "print(x)  # noqa: DEV101"))
    found = flake8(environment, tmp_path, "idle.py")
    assert found == [("idle.py", 5, 11, "DEV001")]
    assert found == devlint(environment, tmp_path, "idle.py")


def test_flake8_sees_which_noqa_is_of_use(environment: Environment, tmp_path: Path) -> None:
    several = "\n".join(f"mask.to(  {first}\n    device\n)  {last}" for first, last in ENDS)
    write(tmp_path, noqa=NOQA, several=f"import torch\n\nmask = torch.ones(2)\n{several}\n")
    for name, expected in (("noqa.py", [8]), ("several.py", [13])):
        result = environment.run("flake8", "--select", "NQA,DEV101", name, cwd=tmp_path)
        found = [(row, code) for _, row, _, code in places(result.stdout) if code in ("NQA102", "DEV101")]
        assert found == [(row, code) for row in expected for code in ("DEV101", "NQA102")]
        plain = [row for _, row, _, code in devlint(environment, tmp_path, name) if code == "DEV101"]
        assert plain == expected
    everything = flake8(environment, tmp_path, "--disable-noqa", "--select", "DEV101", "several.py")
    assert [row for _, row, _, _ in everything] == [4, 7, 10, 13]


def test_several_processes_find_the_same(environment: Environment, tmp_path: Path) -> None:
    for number in range(12):
        write(tmp_path, **{f"bad{number:02}": BAD, f"noqa{number:02}": NOQA})
    found = flake8(environment, tmp_path, "-j", "1", ".")
    assert len(found) == 12 * 3
    assert sorted(flake8(environment, tmp_path, "-j", "4", ".")) == sorted(found)


def test_stdin_and_what_is_no_python(environment: Environment, tmp_path: Path) -> None:
    arguments = ("flake8", "--select", "DEV,E9", "--stdin-display-name", "bad.py", "-")
    result = environment.run(
        *arguments, cwd=tmp_path, stdin="import torch\nx = torch.ones(2)\nx.to(d)\nx + 1\n"
    )
    assert places(result.stdout) == [("bad.py", 3, 1, "DEV101")]
    result = environment.run(*arguments, cwd=tmp_path, stdin="if:\n")
    assert [code for *_, code in places(result.stdout)] == ["E999"]


def test_a_clean_file_costs_no_libcst(environment: Environment, tmp_path: Path) -> None:
    write(tmp_path, clean=CLEAN, bad=BAD)
    code = "import sys; from flake8.main.cli import main; main(['-j1', sys.argv[1]])"
    code += "; print('libcst' in sys.modules)"

    def loads(name: str, **variables: str) -> str:
        return environment.run("python", "-c", code, name, cwd=tmp_path, **variables).stdout.splitlines()[-1]

    assert [loads("clean.py"), loads("bad.py")] == ["False", "True"]
    assert loads("clean.py", XDG_CACHE_HOME="nowhere") == "False"  # what rules declare is asked of themselves


def test_beside_bugbear(environment: Environment, tmp_path: Path) -> None:
    write(tmp_path, bad=BAD + "\n\ndef mutable(x=[]):\n    return x\n")
    result = environment.run("flake8", "--select", "B,DEV", "bad.py", cwd=tmp_path)
    assert [item[1:] for item in places(result.stdout)] == [
        (6, 5, "DEV101"),
        (7, 24, "DEV101"),
        (11, 15, "B006"),
    ]


def test_rules_of_third_parties_have_to_be_selected(
    environment: Environment, acme: Path, tmp_path: Path
) -> None:
    write(tmp_path, indexed=HARDCODED.replace("cuda", "cuda:1"))
    site = tmp_path / "site"
    assert environment.install("--no-deps", "--target", str(site), str(acme)).returncode == 0
    codes = {}
    for flag in ("--isolated", "--extend-select=ACM"):
        result = environment.run("flake8", flag, "indexed.py", cwd=tmp_path, PYTHONPATH=str(site))
        codes[flag] = [code for *_, code in places(result.stdout)]
    assert codes == {"--isolated": ["DEV202"], "--extend-select=ACM": ["ACM101", "DEV202"]}


@pytest.fixture(scope="session")
def torchfix(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install TorchFix into a folder of its own, with the old LibCST that it insists on."""
    folder = tmp_path_factory.mktemp("torchfix")
    installed = environment.install("--only-binary", ":all:", "--target", str(folder), "torchfix")
    if installed.returncode:
        pytest.skip(f"TorchFix does not install here: {installed.stderr[-500:]}")
    return folder


def test_beside_torchfix(environment: Environment, torchfix: Path, tmp_path: Path) -> None:
    write(tmp_path, bad=BAD + "\n\nold = torch.solve(é, é)\n")
    result = environment.run(
        "flake8", "--select", "TOR,DEV", "bad.py", cwd=tmp_path, PYTHONPATH=str(torchfix)
    )
    codes = [(row, code) for _, row, _, code in places(result.stdout)]
    assert codes == [(6, "DEV101"), (7, "DEV101"), (11, "TOR001")]
