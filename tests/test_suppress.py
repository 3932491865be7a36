"""Which comments silence which findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from devlint.fix import fix
from devlint.lint import lint
from devlint.settings import Selection, Settings
from devlint.suppress import Suppression

if TYPE_CHECKING:
    from devlint.finding import Finding

pytestmark = pytest.mark.usefixtures("toy")


def rows(body: str) -> list[int]:
    """Return where a rule has a finding."""
    found = lint(f"import torch\n{body}\n", "a.py")
    return [finding.start.row for finding in found if finding.code == "TST101"]


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "#noqa",
        "# NOQA",
        "# noqa: TST101",
        "# noqa:tst101",
        "# noqa : TST101",
        "# noqa: TST1",
        "# noqa: TST",
        "# noqa: E501, TST101",
        "# noqa: E501 TST101",
        "# noqa: TST101 because",
        "# noqa: because it is right",
        "# type: ignore  # noqa: TST101",
        "# devlint: ignore[TST101]",
        "# devlint: ignore[ TST5, TST1 ] the module is moved in place",
        "# devlint: ignore",
        "# devlint:ignore[ALL]",
    ],
)
def test_silenced_at_the_end_of_the_line(comment: str) -> None:
    assert rows(f"x.to(d)  {comment}\ny.to(d)") == [3]


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: E501",
        "# noqa: TST102",
        "# devlint: ignore[TST5]",
        "# no qa",
        "# noqatest",
        "# devlint: ignores",
    ],
)
def test_not_meant(comment: str) -> None:
    assert rows(f"x.to(d)  {comment}") == [2]


def test_text_in_a_string_is_no_comment() -> None:
    assert rows('x.to("# noqa")\ny.to("""\n# devlint: file-ignore\n""")') == [2, 3]


@pytest.mark.parametrize("row", [0, 1, 2, 3])
def test_a_statement_of_several_rows(row: int) -> None:
    """A `noqa` counts at either end; between, it means its own row alone; flake8 has only the row."""
    lines = ["x.to(", "    d,", "    True,", ")"]
    lines[row] += "  # noqa"
    assert rows("\n".join(lines)) == ([] if row in (0, 3) else [2])
    assert rows("\n".join(lines).replace("noqa", "devlint: ignore")) == []


def test_a_finding_inside_a_statement_is_silenced_on_its_own_row() -> None:
    assert rows("for a in (\n    b,\n): x.to(d)  # noqa") == []


def test_only_the_header_of_a_compound_statement_is_silenced() -> None:
    assert rows("if a:  # noqa\n    x.to(d)") == [3]
    assert rows("# devlint: ignore\nif a:\n    x.to(d)") == [4]


def test_an_own_line_covers_the_next_statement() -> None:
    assert rows("# devlint: ignore[TST101]\n# why\n\nx.to(\n    d\n)\ny.to(d)") == [8]
    assert rows("# noqa\nx.to(d)") == [3]


@pytest.mark.parametrize(
    "comment",
    ["# flake8: noqa", "# flake8: noqa: TST1", "# devlint: file-ignore[TST101]", "#devlint: file-ignore"],
)
def test_a_whole_file(comment: str) -> None:
    assert rows(f"x.to(d)\ny.to(d)\n{comment}") == []


def test_a_whole_file_for_another_code() -> None:
    assert rows("x.to(d)\n# devlint: file-ignore[TST5]") == [2]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends(end: str) -> None:
    assert (
        lint(f"import torch{end}x.to({end}d){end}  # noqa: X1{end}y.to(d)  # noqa{end}", "a.py")[0].start.row
        == 2
    )
    assert len(lint(f"import torch{end}x.to({end}d)  # noqa{end}", "a.py")) == 0


def idle(body: str, *layers: Selection) -> list[tuple[int, int, str]]:
    """Return the row, column and message of each suppression that silences nothing."""
    found = lint(f"import torch\n{body}\n", "a.py", Settings(selections=layers))
    return [(*finding.start, finding.message) for finding in found if finding.code == "DEV001"]


def cured(body: str) -> str:
    return (
        fix(f"import torch\n{body}".encode(), "a.py", Settings()).raw.decode().removeprefix("import torch\n")
    )


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("y = 1  # devlint: ignore", [(2, 8, "this suppression silences nothing here")]),
        ("y = 1  # why  # devlint: ignore[TST101]", [(2, 15, "`TST101` silences nothing here")]),
        ("x.to(d)  # devlint: ignore[TST101,TST9]", [(2, 10, "`TST9` silences nothing here")]),
        ("y = 1  # noqa: DEV1, E501, DEV9", [(2, 8, "`DEV1`, `DEV9` silence nothing here")]),
        ("y = 1  # devlint: ignore[NOPE]", [(2, 8, "`NOPE` silences nothing here")]),
        ("y = 1  # devlint: ignore[TST501]", []),  # that rule is off
        ("y = 1  # noqa: TST101", []),  # the code may be another tool's
        ("y = 1  # noqa", []),
        ("x.to(d)  # devlint: ignore\nx.to(d)  # noqa: TST101", []),
        ("y = '# devlint: ignore'", []),
        ("y = 1  # devlint: ignore[TST101, DEV001]", []),
        ("# devlint: file-ignore[DEV001]\ny = 1  # devlint: ignore[TST101]", []),
        ("y = 1  # devlint: ignore[TST101]  # noqa", []),
        ("def f(:  # devlint: ignore[TST101]", []),
    ],
)
def test_what_silences_nothing_is_reported(body: str, found: list[tuple[int, int, str]]) -> None:
    assert idle(body) == found
    assert idle(body.replace("import torch", "")) == found  # whatever the file is about


def test_rules_that_are_off_are_not_judged() -> None:
    body = "y = 1  # devlint: ignore[TST101]"
    assert idle(body, Selection(ignore=("TST1",))) == []
    assert idle(body, Selection(ignore=("DEV001",))) == []
    assert idle(body, Selection(select=("TST",))) == []
    assert len(idle(body, Selection(select=("TST", "DEV001")))) == 1


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("y = 1  # devlint: ignore\n", "y = 1\n"),
        ("y = 1  # devlint: ignore", "y = 1"),
        ("    # devlint: ignore\ny = 1\n", "y = 1\n"),
        ("y = 1\n# devlint: ignore", "y = 1\n"),
        ("y = 1\r\n# devlint: ignore\r\nz = 2\r\n", "y = 1\r\nz = 2\r\n"),
        ("y = 1  # devlint: ignore[TST101] - the reason\n", "y = 1  # the reason\n"),
        (
            "y = 1  # type: ignore  # devlint: ignore[TST101]  # noqa: E1\n",
            "y = 1  # type: ignore  # noqa: E1\n",
        ),
        ("x.to(d)  # devlint: ignore[TST101, TST9, X] why\n", "x.to(d)  # devlint: ignore[TST101] why\n"),
        ("y = 1  # noqa: E501,DEV101 why\n", "y = 1  # noqa: E501 why\n"),
        ("y = 1  # noqa: DEV101  # devlint: ignore[TST1] why\n", "y = 1  # why\n"),
    ],
)
def test_what_silences_nothing_is_taken_out_and_the_reason_stays(body: str, after: str) -> None:
    assert cured(body) == after


def test_a_comment_is_held_against_the_findings_of_its_rows_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    whole = Suppression.silences

    def silences(self: Suppression, finding: Finding) -> bool:
        nonlocal asked
        asked += 1
        return whole(self, finding)

    monkeypatch.setattr(Suppression, "silences", silences)
    lint(f"import torch\n{'x.to(d)  # noqa: TST101, DEV101' + chr(10)}" * 100, "a.py")
    assert asked < 100 * 10
