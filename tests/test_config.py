"""Configuration files: which one holds, what it may say, and how mistakes are told."""

from __future__ import annotations

import json
import os
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from devlint.commands.cli import main
from devlint.config.describe import keys, schema
from devlint.config.discovery import Configs
from devlint.config.layers import selections_for
from devlint.config.settings import Selection, Settings
from devlint.errors import DevlintError
from devlint.report import FORMATS
from devlint.source.files import excluded

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = pytest.mark.usefixtures("toy")
NO_FLAGS = Selection()
ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def read(folder: Path, **options: object) -> Settings:
    return Configs(NO_FLAGS, **options).for_file(str(folder / "a.py"))  # type: ignore[arg-type]


def test_every_key_is_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        """
        [tool.devlint]
        select = ["ALL"]
        extend-select = ["TST5"]
        ignore = ["TST1"]
        per-file-ignores = {"tests/*" = ["TST"]}
        exclude = ["old"]
        extend-exclude = ["gen_*.py"]
        force-exclude = true
        respect-gitignore = false
        unsafe-fixes = true
        output-format = "concise"
        target-torch = "2.6"
        lint-tests = true
        preview = true
        """
    )
    assert read(tmp_path) == Settings(
        str(tmp_path),
        (Selection(("ALL",), ("TST5",), ("TST1",)), NO_FLAGS),
        (("tests/*", ("TST",)),),
        ("old",),
        ("gen_*.py",),
        True,
        False,
        True,
        output_format="concise",
        target_torch=(2, 6),
        lint_tests=True,
        preview=True,
        source=str(tmp_path / "pyproject.toml"),
    )


def test_the_nearest_table_holds(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.devlint]\nignore = ['TST1']\n")
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/pyproject.toml").write_text("[project]\nname = 'devlint-user'\n")  # has no table
    assert read(tmp_path / "a/b").selections[0].ignore == ("TST1",)
    (tmp_path / "a/devlint.toml").write_text("ignore = ['TST5']\n")
    assert read(tmp_path / "a/b").selections[0].ignore == ("TST5",)
    assert read(tmp_path).selections[0].ignore == ("TST1",)


def test_a_named_file_and_isolation(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.devlint]\nignore = ['TST1']\n")
    other = tmp_path / "other.toml"
    other.write_text("ignore = ['TST5']\n")
    assert read(tmp_path, config=str(other)).selections[0].ignore == ("TST5",)
    assert read(tmp_path, isolated=True).selections == (NO_FLAGS,)


def test_flags_override_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.devlint]\nignore = ['TST1']\noutput-format = 'json'\n")
    (tmp_path / "a.py").write_text("import torch\nx.to(d)\n")
    assert main(["."]) == 0
    assert main([".", "--select", "TST101"]) == 1
    assert main([".", "--isolated"]) == 1


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("selct = []", "tool.devlint.selct: unknown key; did you mean `select`?"),
        ("zzz = 1", "tool.devlint.zzz: unknown key; known are extend, select, "),
        ("select = 'ALL'", "tool.devlint.select: expected a list, got a string"),
        ("ignore = ['TST1', 1]", "tool.devlint.ignore[1]: expected a string, got a number"),
        (
            "per-file-ignores = {'b' = ['TST1'], 'a' = 'TST1'}",
            'tool.devlint.per-file-ignores."a": expected a list, got a string',
        ),
        ("per-file-ignores = {'a' = [1]}", 'tool.devlint.per-file-ignores."a"[0]: expected a string, got'),
        ("target-torch = 2.6", "tool.devlint.target-torch: expected a string, got a number"),
        ("target-torch = '2'", "tool.devlint.target-torch: expected a release such as \"2.6\", got '2'"),
        ("output-format = 'xml'", "tool.devlint.output-format: invalid enum value 'xml'"),
        ("unsafe-fixes = 1", "tool.devlint.unsafe-fixes: expected true or false, got a number"),
        ("select = ['NOPE']", "tool.devlint.select: no rule has the code, prefix or name 'NOPE'"),
        ("per-file-ignores = {'a*' = ['X']}", 'tool.devlint.per-file-ignores."a*": no rule has the code'),
        ("select = [", "not valid TOML: "),
        (
            "exclude = ['!a']",
            "tool.devlint.exclude: '!a': `!` is for per-file-ignores; write `[!]` for a name",
        ),
        (
            "extend-exclude = ['a', '!b/*']",
            "tool.devlint.extend-exclude: '!b/*': `!` is for per-file-ignores",
        ),
        (
            "per-file-ignores = {'" + "{a,b}" * 9 + "' = ['TST1']}",
            'tool.devlint.per-file-ignores."' + "{a,b}" * 9 + "\": the pattern '{a,b}{a,b}",
        ),
        ("exclude = ['" + "{a,b,c}" * 40 + "']", "tool.devlint.exclude: the pattern '{a,b,c}"),
    ],
)
def test_mistakes_name_the_file_and_the_key(
    table: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(f"[tool.devlint]\n{table}\n")
    (tmp_path / "a.py").write_text("x = 1\n")
    assert main(["a.py"]) == 2
    assert capsys.readouterr().err.startswith(f"devlint: {tmp_path / 'pyproject.toml'}: {message}")


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("!src/**", ["a.py", "tests/b.py"]),
        ("!src/*.py", ["a.py", "tests/b.py"]),
        ("!a.py", ["src/a{1,2}.py", "src/deep/c.py", "tests/b.py"]),
        ("![at]*", ["src/deep/c.py"]),
        ("{a,b}.py", ["a.py", "tests/b.py"]),
        ("{src/deep,tests}/*", ["src/deep/c.py", "tests/b.py"]),
        ("!{src,tests}/**", ["a.py"]),
        ("{a,src/{deep,flat}/c}.py", ["a.py", "src/deep/c.py"]),
        ("a[{]1,2[}].py", ["src/a{1,2}.py"]),
        ("{src}/*", []),  # as in a shell: there is nothing to choose from
    ],
)
def test_patterns_of_files(tmp_path: Path, pattern: str, files: list[str]) -> None:
    (tmp_path / "pyproject.toml").write_text(
        f"[tool.devlint]\nper-file-ignores = {{ '{pattern}' = ['TST1'] }}\n"
    )
    names = ["a.py", "src/a{1,2}.py", "src/deep/c.py", "tests/b.py"]
    paths = {name: str(tmp_path / name) for name in names}
    settings = read(tmp_path)
    assert [name for name in names if len(selections_for(paths[name], settings)) > 2] == files


def test_braces_in_excludes(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.devlint]\nexclude = ['{old,gen_*}.py', '{{cookiecutter.name}}']\n"
    )
    names = ["old.py", "gen_1.py", "new.py", "{{cookiecutter.name}}/a.py"]
    assert [excluded(str(tmp_path / name), read(tmp_path)) for name in names] == [True, True, False, True]


def test_a_table_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\ndevlint = 3\n")
    with pytest.raises(DevlintError, match=r"tool\.devlint: expected a table, got a number"):
        read(tmp_path)


def test_the_formats_of_the_schema_are_those_there_are() -> None:
    from devlint.config.schema import Table

    hint = get_type_hints(Table)["output_format"]
    assert get_args(get_args(hint)[0]) == FORMATS


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pyproject.toml")
    with pytest.raises(DevlintError, match=r"cannot read .*pyproject.toml: not a regular file"):
        read(tmp_path)
    (tmp_path / "devlint.toml").symlink_to("/dev/zero")
    with pytest.raises(DevlintError, match=r"cannot read .*devlint.toml: not a regular file"):
        read(tmp_path)


def test_how_to_report_is_said_where_devlint_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a folder below, the configuration says which rules are on, and not how all findings are told."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/devlint.toml").write_text("output-format = 'json'\nunsafe-fixes = true\n")
    (tmp_path / "sub/a.py").write_text("import torch\ny.cuda()\n")
    (tmp_path / "devlint.toml").write_text("output-format = 'concise'\n")
    monkeypatch.chdir(tmp_path)
    assert main(["sub"]) == 1
    shown, summary = capsys.readouterr().out.splitlines()
    assert shown.startswith("sub/a.py:2:1: TST101 the")
    assert summary == "Found 1 error. 1 fixable with --fix --unsafe-fixes."


def test_the_schema_that_is_shipped_is_that_of_the_table() -> None:
    """`devlint config --output-format json-schema` writes it."""
    shipped = files("devlint.config").joinpath("devlint.schema.json").read_text(encoding="utf-8")
    assert json.loads(shipped) == json.loads(json.dumps(schema()))


def test_the_schema_knows_right_from_wrong() -> None:
    validator = pytest.importorskip("jsonschema").Draft7Validator(schema())
    for key in keys():
        for line in key.example.splitlines():
            assert validator.is_valid(tomllib.loads(line)), line
        if key.default is not None:
            assert validator.is_valid(tomllib.loads(f"{key.name} = {key.default}"))
    for wrong in (
        "selct = []",
        "select = 'DEV1'",
        "max-findings = {DEV1 = -1}",
        "output-format = 'foo'",
        "jobs = 'x'",
    ):
        assert not validator.is_valid(tomllib.loads(wrong)), wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_schema_holds_for_the_examples_on_the_pages(page: Path) -> None:
    validator = pytest.importorskip("jsonschema").Draft7Validator(schema())
    for text in re.findall(
        r"^```toml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        table = tomllib.loads(text).get("tool", {}).get("devlint")
        if table is not None:
            assert list(validator.iter_errors(table)) == []
