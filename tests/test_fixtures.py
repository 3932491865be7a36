"""Every program in `fixtures/` has the findings that its marks name and no other, and is cured by its fixes.

A mark stands at the end of the line that must be reported: `# DEV101`, several with commas between. After the
code may follow the severity, where a rule has two, and `unfixed`, where a rule that fixes cannot.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from devlint.config.settings import Selection, Settings
from devlint.finding import Finding, Fix, Severity
from devlint.match.registry import installed, severities
from devlint.run.fix import fix
from devlint.run.lint import lint
from devlint.testing import Mark, marks, unmarked

FOLDER = Path(__file__).parents[1] / "fixtures"
CODES = sorted(path.name for path in FOLDER.glob("DEV*"))
FILES = sorted(path for path in FOLDER.glob("[Dp]*/*.py"))
BUGS = [path for path in FILES if path.stem.startswith("bug")]
NOTES = tuple(code for code, severity in severities().items() if severity is Severity.NOTE)
"""Rules that say what is slow, not what is wrong: they are tried on their own programs alone."""


def name(path: Path) -> str:
    return path.relative_to(FOLDER).with_suffix("").as_posix()


def pair(bug: Path) -> Path:
    return bug.with_name(bug.name.replace("bug", "fixed", 1))


def settings(path: Path) -> Settings:
    others = tuple(code for code in NOTES if code != path.parent.name)
    return Settings(selections=(Selection(select=("ALL",), ignore=others),))


@functools.cache
def findings(path: Path) -> list[Finding]:
    return lint(path.read_bytes(), str(path), settings(path))


def fixes(path: Path) -> list[Fix]:
    return [item.fix for item in findings(path) if item.fix is not None]


@functools.cache
def ever_fixes(code: str) -> bool:
    """Whether a rule fixes anything in its programs.

    README's table says the same in words, and a test compares: a rule that stops fixing is noticed there.
    """
    return any(fixes(path) for path in BUGS if path.parent.name == code)


def fixed(text: str, path: Path, *, unsafe: bool) -> str:
    return fix(text.encode(), "bug.py", settings(path), unsafe).raw.decode()


def fixable(mark: Mark) -> bool | None:
    """Whether there must be a fix; None where that is left open."""
    return not mark.unfixed if ever_fixes(mark.code) else None


@pytest.mark.parametrize("path", FILES, ids=name)
def test_what_is_marked_is_found_and_nothing_else(path: Path) -> None:
    found = sorted((item.start.row, item.code) for item in findings(path))
    assert found == sorted((mark.row, mark.code) for mark in marks(path))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("DEV201/near_tests_*.py")), ids=name)
def test_guards_are_seen_in_tests_where_those_are_linted(path: Path) -> None:
    assert not lint(path.read_bytes(), str(path), settings(path)._replace(lint_tests=True))


@pytest.mark.parametrize(
    "path", [path for path in BUGS if any(mark.severity for mark in marks(path))], ids=name
)
def test_severities(path: Path) -> None:
    severities = {(item.start.row, item.code): item.severity.value for item in findings(path)}
    assert severities == {(mark.row, mark.code): mark.severity for mark in marks(path)}


@pytest.mark.parametrize("path", BUGS, ids=name)
def test_what_can_be_fixed_has_a_fix(path: Path) -> None:
    have = {(item.start.row, item.code): item.fix for item in findings(path)}
    for mark in marks(path):
        if fixable(mark) is not None:
            its = have.get((mark.row, mark.code))
            assert (its is not None) is fixable(mark), f"{mark.code} on line {mark.row}"
            assert its is None or not (mark.unsafe and its.safe), f"line {mark.row}"


@pytest.mark.parametrize(
    "path", [path for path in BUGS if all(fixable(mark) for mark in marks(path))], ids=name
)
def test_fixing_the_bug_gives_the_fixed_program(path: Path) -> None:
    safe = {each.safe for each in fixes(path)}
    before = re.sub(r"  # shown DEV\d+$", "", unmarked(path.read_text(encoding="utf-8")), flags=re.MULTILINE)
    after = pair(path).read_text(encoding="utf-8")
    assert fixed(before, path, unsafe=False in safe) == after
    if True not in safe:
        assert fixed(before, path, unsafe=False) == before


@pytest.mark.parametrize(
    "path", [path for path in BUGS if {fixable(mark) for mark in marks(path)} == {True, False}], ids=name
)
def test_fixing_cures_all_but_what_has_no_fix(path: Path) -> None:
    after = fixed(path.read_text(encoding="utf-8"), path, unsafe=True)
    left = sorted((item.start.row, item.code) for item in lint(after.encode(), "bug.py", settings(path)))
    assert left == sorted((mark.row, mark.code) for mark in marks(path) if not fixable(mark))


@pytest.mark.parametrize("path", BUGS, ids=name)
def test_fixing_twice_changes_nothing(path: Path) -> None:
    once = fixed(path.read_text(encoding="utf-8"), path, unsafe=True)
    assert fixed(once, path, unsafe=True) == once


@pytest.mark.parametrize("path", [path for path in FILES if not path.stem.startswith("near")], ids=name)
def test_programs_are_what_their_name_says(path: Path) -> None:
    kind, codes = path.stem.split("_")[0], {mark.code for mark in marks(path)}
    if path.parent.name == "programs":
        assert bool(codes) == (path.stem != "clean")
    elif kind == "bug":
        assert codes == {path.parent.name}
        assert pair(path).is_file()
    else:
        assert kind == "fixed"
        assert not codes
        assert path.with_name(path.name.replace("fixed", "bug", 1)).is_file()


@pytest.mark.parametrize("path", [path for path in FILES if path.stem.startswith("near")], ids=name)
def test_near_misses_have_no_marks(path: Path) -> None:
    assert not marks(path)


def test_no_program_lies_where_nothing_looks() -> None:
    assert not list(FOLDER.glob("*.py"))


def test_every_rule_has_a_bug_its_cure_and_near_misses() -> None:
    assert set(installed()) - {"DEV000"} == set(CODES)
    for code in CODES:
        assert (FOLDER / code / "bug.py").is_file()
        assert (FOLDER / code / "fixed.py").is_file()
        assert list((FOLDER / code).glob("near_*.py"))


@pytest.mark.parametrize("path", FILES, ids=name)
def test_every_program_says_what_it_shows(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert re.fullmatch(r'""".+\."""', first)
    if path in BUGS:
        assert pair(path).read_text(encoding="utf-8").splitlines()[0] == first
