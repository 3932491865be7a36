"""Which comments silence which findings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from devlint.comments.suppress import Suppression
from devlint.config.settings import Selection, Settings
from devlint.run.fix import fix
from devlint.run.lint import lint

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
    [
        "# flake8: noqa",
        "# flake8: noqa: TST1",
        "# devlint: file-ignore[TST101]",
        "#devlint: file-ignore",
        "# devlint: ignore-file[TST1]",
        "# devlint: noqa",
        "# devlint: noqa: E501, TST101",
    ],
)
def test_a_whole_file(comment: str) -> None:
    assert rows(f"x.to(d)\ny.to(d)\n{comment}") == []


def test_a_whole_file_for_another_code() -> None:
    for comment in ("file-ignore[TST5]", "ignore-file[TST5]", "noqa: TST5"):
        assert rows(f"x.to(d)\n# devlint: {comment}") == [2]
    body = "y = 1\n    # devlint: noqa: TST101, DEV1  why"
    assert [found[:2] for found in idle(body)] == [(3, 5)]


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


def test_what_cannot_be_taken_out_has_no_fix() -> None:
    """A file must not end in a backslash."""
    body = "import torch\ny = 1 \\\n# noqa: DEV101"
    (finding,) = lint(body, "a.py")
    assert (finding.code, finding.fix) == ("DEV001", None)


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
        ("y = 1 \\\n# noqa: DEV101\nz = 2\n", "y = 1 \\\n\nz = 2\n"),
        ("y = 1 \\\r\n  # noqa: DEV101\r\n", "y = 1 \\\r\n\r\n"),
        ("y = 1 + \\\n  2  # noqa: DEV101", "y = 1 + \\\n  2"),
    ],
)
def test_what_silences_nothing_is_taken_out_and_the_reason_stays(body: str, after: str) -> None:
    assert cured(body) == after


MALFORMED = [
    # the comment, and what its fix makes of it
    ("# devlint: ignore TST101", "# devlint: ignore[TST101]"),
    ("# devlint: ignore TST101 the API wants it", "# devlint: ignore[TST101] the API wants it"),
    ("# devlint: ignore TST101, TST5", "# devlint: ignore[TST101, TST5]"),
    ("# devlint: ignore: TST101", "# devlint: ignore[TST101]"),
    ("# devlint: ignore=TST101", "# devlint: ignore[TST101]"),
    ("# devlint: ignore - TST101", "# devlint: ignore[TST101]"),
    ("# devlint: ignore(TST101)", "# devlint: ignore[TST101]"),
    ("# devlint: ignore[TST101", "# devlint: ignore[TST101]"),
    ("# devlint: ignore[TST101  # why", "# devlint: ignore[TST101]  # why"),
    ("# devlint: ignore [[TST101]]", None),
    ("# devlint: ignore ALL", "# devlint: ignore[ALL]"),
    ("# devlint: file-ignore TST101 because", "# devlint: file-ignore[TST101] because"),
    ("# devlint: igonre[TST101]", "# devlint: ignore[TST101]"),
    ("# devlint: ingore TST101", "# devlint: ignore[TST101]"),
    ("# devlint: file_ignore[TST101]", "# devlint: file-ignore[TST101]"),
    ("# devlint: ignore-file TST101", "# devlint: file-ignore[TST101]"),
    ("# devlint: ignore[]", None),
    ("# devlint: ignore[ , ]", None),
    ("# devlint: file-ignore[]", None),
    ("# devlint: ignore because the module is moved in place", None),
    ("# devlint: ignore NOPE1", None),  # no such rule
    ("# devlint: ignore T4 cards", None),  # no such rule either
    ("# devlint: igonre", None),  # the cure would silence everything, which it does not say
    ("# devlint: ignores", None),
    ("# devlint: noqa", None),
    ("# devlint: noqa: TST101", "# devlint: ignore[TST101]"),
    ("# devlint: noqa[TST101]", "# devlint: ignore[TST101]"),
    ("# devlint: disable", None),
    ("# devlint: disable=TST101", None),
    ("# devlint: off", None),
    ("# devlint: skip-file", None),
    ("# devlint: quiet[TST101]", None),
]


@pytest.mark.parametrize(("comment", "cure"), MALFORMED)
def test_what_is_malformed_silences_nothing_and_is_reported(comment: str, cure: str | None) -> None:
    body = f"x.to(d)  {comment}\ny.to(d)"
    assert rows(body) == [2, 3]
    assert [found[:2] for found in idle(body)] == [(2, 10)]
    assert "is malformed and silences nothing" in idle(body)[0][2]
    fixed = cured(body)
    assert fixed.split("\n")[0] == f"x.to(d)  {cure or comment}"
    if re.search("file-?_?ignore|ignore-file", comment):
        assert fixed == f"x.to(d)  {cure or comment}\ny.to(d)"
    else:
        assert fixed.split("\n")[1] == "y = y.to(d)"  # only that statement was meant


@pytest.mark.parametrize(
    "comment",
    [
        "# devlint: see docs",
        "# devlint: see DEV101 for why this is right",
        "# devlint: a linter for device placement",
        "# devlint: reports TST101 here",
        "# devlint: ignores tensors that the caller has moved",
        "# devlint: ignored codes are listed in pyproject.toml",
        "# devlint: disable this rule once every machine has a GPU",
        "# devlint: skip to the next section, see [1]",
        "# devlint: off by one in its column?",
        "# devlint: noqa comments are written by --add-noqa",
        "# devlint: exclude the folder first",
        "# devlint: TODO",
        "# devlint: https://example.org/TST101",
        "# devlint: TST101",
        "# devlint:",
        "# devlint is right here",
        "# devlint finds this: ignore it",
        "# write `# devlint: ignore TST101` to silence it",
        '# "# devlint: ignore" silences a statement',
        "# ruff: ignore TST101",
        "# mydevlint: ignore TST101",
    ],
)
def test_prose_about_devlint_is_no_suppression(comment: str) -> None:
    body = f"x.to(d)  {comment}"
    assert rows(body) == [2]
    assert idle(body) == []
    assert cured(body) == f"x = {body}"


def test_malformed_suppressions_are_told_of_every_place() -> None:
    assert [found[:2] for found in idle("# devlint: ignore TST101\nx.to(d)")] == [(2, 1)]
    assert [found[:2] for found in idle("y = 1  # why  # devlint: ignore TST101")] == [(2, 15)]
    assert idle("y = 1  # devlint: ignore TST101", Selection(ignore=("DEV001",))) == []
    assert rows("x.to(d)  # devlint: ignore TST501") == [2]
    assert idle("# devlint: file-ignore[DEV001]\ny = 1  # devlint: off") == []
    assert idle("y = 1  # devlint: ignore[TST501]  # devlint: off")[0][:2] == (2, 35)
    assert idle('y = "# devlint: off"') == []


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


RANGE = """\
x.to(d)
# devlint: disable[TST101]
y.to(d)
if a:
    y.to(d)
# devlint: enable[TST101]
z.to(d)"""


def test_a_range() -> None:
    assert rows(RANGE) == [2, 8]
    assert idle(RANGE) == []
    assert rows(RANGE.replace("TST101", "TST5")) == [2, 4, 6, 8]
    assert rows(f"{RANGE}\n{RANGE}") == [2, 8, 9, 15]
    inner = "if a:\n    # devlint: enable[TST101]\n    x.to(d)"
    inner = f"# devlint: disable[TST101]\n{inner}\n# devlint: enable[TST101]"
    assert rows(inner) == []  # that of another indentation ends nothing


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (RANGE.replace("# devlint: enable[TST101]\n", ""), "It needs `# devlint: enable[TST101]` below"),
        (RANGE.replace("enable[TST101]", "enable[TST1]"), "It needs `# devlint: enable[TST101]` below"),
        (RANGE.replace("# devlint: disable[TST101]\n", ""), "It needs `# devlint: disable[TST101]` above"),
    ],
)
def test_a_range_without_an_end_silences_nothing(body: str, reason: str) -> None:
    found = lint(f"import torch\n{body}\n".encode(), "a.py")
    assert sum(each.code == "TST101" for each in found) == 4
    told = [each for each in found if each.code == "DEV001"]
    assert told[0].reason.startswith(reason)
    assert all("is malformed and silences nothing" in each.message for each in told)


def test_a_range_that_silences_nothing() -> None:
    body = "# devlint: disable[TST5, TST101]\ny.to(d)\n# devlint: enable[TST101, TST5]\nz = 1"
    assert rows(body) == []
    body = "# devlint: disable[TST101]\ny = 1\n# devlint: enable[TST101]\nz = 1"
    assert idle(body) == [(2, 1, "`TST101` silences nothing here")]
    assert cured(body) == body


@pytest.mark.parametrize(
    "comment",
    [
        "# devlint: ignore[discarded-result] it is shown on purpose",
        "# devlint: ignore[TST5, Discarded-Result]",
        "# devlint: file-ignore[discarded-result]",
    ],
)
def test_silenced_by_name(comment: str) -> None:
    assert rows(f"x.to(d)  {comment}") == []
    assert rows(f"x.to(d)  {comment.replace('iscarded', 'iscarted')}") == [2]


def test_names_are_judged_as_codes_are() -> None:
    def told(comment: str) -> list[tuple[str, str]]:
        found = lint(f"import torch\nx = y.to(d)  {comment}\n", "a.py")
        return [(finding.message, finding.reason) for finding in found if finding.code == "DEV001"]

    silent = "`discarded-result` silences nothing here", "It would hide the next real finding."
    assert told("# devlint: ignore[discarded-result]") == [silent]
    assert told("# devlint: ignore[noted-call]") == []  # that rule is off
    assert told("# devlint: ignore[discarded-result, unused-suppression]") == []
    nobody = "No rule has the code, prefix or name `discarded`."
    assert told("# devlint: ignore[discarded]") == [("`discarded` silences nothing here", nobody)]
    text = (
        "import torch\n# devlint: disable[discarded-result]\nx.to(d)\n# devlint: enable[discarded-result]\n"
    )
    assert lint(text, "a.py") == []
