"""Which comments silence which findings."""

from __future__ import annotations

import pytest

from devlint.lint import lint

pytestmark = pytest.mark.usefixtures("toy")


def rows(body: str) -> list[int]:
    return [finding.start.row for finding in lint(f"import torch\n{body}\n", "a.py")]


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
