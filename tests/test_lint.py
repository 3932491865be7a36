"""The function that everything shares: what it returns for good and bad sources."""

from __future__ import annotations

import sys

import pytest

from devlint import __version__
from devlint.config.settings import Selection, Settings
from devlint.errors import DevlintError
from devlint.finding import Edit, Position, Severity
from devlint.run.lint import lint

pytestmark = pytest.mark.usefixtures("toy")


def codes(source: bytes | str, *selections: Selection) -> list[str]:
    return [finding.code for finding in lint(source, "a.py", Settings(selections=selections))]


def test_a_finding_is_all_there() -> None:
    (finding,) = lint("import torch\nif 1:\n    x.to(\n        d\n    )\n", "a.py")
    assert finding[:9] == (
        "a.py",
        (3, 5),
        (5, 6),
        "TST101",
        "discarded-result",
        Severity.ERROR,
        "the result of `.to()` is thrown away",
        "It is a copy.",
        ("assign to `x`", (Edit(Position(3, 5), Position(3, 5), "x = "),), True),
    )
    assert finding.noqa_row == 5


@pytest.mark.parametrize(
    ("selections", "expected"),
    [
        ((), ["TST101"]),
        ((Selection(("ALL",)),), ["TST101", "TST501"]),
        ((Selection(("TST",)),), ["TST101", "TST501"]),
        ((Selection(extend_select=("tst5",)),), ["TST101", "TST501"]),
        ((Selection(("TST501",)),), ["TST501"]),
        ((Selection(ignore=("TST101",)),), []),
        ((Selection(("ALL",), ignore=("TST1",)),), ["TST501"]),
        ((Selection(("TST101",), ignore=("TST",)),), ["TST101"]),  # the more specific wins
        ((Selection(("TST1",), ignore=("TST1",)),), []),  # of equals, `ignore`
        ((Selection(ignore=("TST101",)), Selection(("TST1",))), ["TST101"]),  # the later layer wins
        ((Selection(("TST501",)), Selection(ignore=("TST5",))), []),
        ((Selection(("TST501",)), Selection(extend_select=("TST1",))), ["TST101", "TST501"]),
    ],
)
def test_selection(selections: tuple[Selection, ...], expected: list[str]) -> None:
    assert codes("import torch\nx.to(d)\n", *selections) == expected


def test_per_file_ignores() -> None:
    settings = Settings(root="/p", per_file_ignores=(("tests/*", ("TST",)), ("conf.py", ("ALL",))))
    source = "import torch\nx.to(d)\n"
    assert [
        len(lint(source, f"/p/{name}", settings)) for name in ("tests/deep/a.py", "b/conf.py", "src/a.py")
    ] == [
        0,
        0,
        1,
    ]


def test_findings_come_in_order_of_position() -> None:
    source = "import torch\nclass A:\n    def f(self):\n        x.to(d)\ny.to(d); z.to(d)\n"
    assert [finding.start for finding in lint(source)] == [(4, 9), (5, 1), (5, 10)]


@pytest.mark.parametrize("torch", [b"", b"import torch; d = x.to('cuda')\n"])
@pytest.mark.parametrize(
    ("source", "row", "words"),
    [
        (b"x = 1\ndef f(:\n", 2, "invalid syntax"),
        (b"x = 1\nprint 'two'\n", 2, "Missing parentheses"),
        (b"x = 1\ny = '\xff'\n", 2, "not valid utf-8"),
        (b"x = 1\ny = '\x00'\n", 2, "null bytes"),
        (b"x = " + b"(" * 1000 + b")" * 1000 + b"\n", 1, ""),
        (b"x = " + b"-" * 100_000 + b"1\n", 1, ""),
    ],
)
def test_what_cannot_be_read_is_one_finding(source: bytes, row: int, words: str, torch: bytes) -> None:
    (finding,) = lint(torch + source, "a.py")
    assert (finding.code, finding.name, finding.severity) == ("DEV000", "unreadable", "error")
    assert finding.start.row in (row + bool(torch), 1)
    assert words in finding.message


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python knows the statement")
def test_newer_python_is_told_as_such() -> None:
    """It is the user's to run devlint with another Python; the file may be right."""
    (finding,) = lint(b"type Pair = tuple[int, int]\n", "a.py")
    assert (finding.code, finding.severity, finding.start.row) == ("DEV000", "warning", 1)
    assert "newer than Python" in finding.message


@pytest.mark.parametrize("text", [b'x = "C:\\Users"\n', b'x = b"\\x1"\n'])
def test_escapes_that_no_python_reads_are_no_newer_python(text: bytes) -> None:
    (finding,) = lint(text, "a.py")
    assert (finding.code, finding.severity, finding.start.row) == ("DEV000", "error", 1)
    assert "newer" not in finding.message


@pytest.mark.parametrize("cookie", [b"no-such-codec", b"rot13", b"hex"])
def test_an_encoding_that_is_none(cookie: bytes) -> None:
    (finding,) = lint(b"# coding: " + cookie + b"\nimport torch\nx.to(d)\n", "a.py")
    assert finding.code == "DEV000"


def test_a_message_names_the_python_that_could_not_read_it() -> None:
    (finding,) = lint("def f(:\n", "a.py")
    assert f"Python {sys.version_info[0]}.{sys.version_info[1]}" in finding.message


def test_selecting_other_rules_does_not_hide_unreadable_files_but_ignoring_does() -> None:
    assert codes("def f(:", Selection(("TST101",))) == ["DEV000"]
    assert codes("def f(:", Selection(ignore=("DEV000",))) == []


@pytest.mark.parametrize(
    ("source", "place"),
    [
        (b"\xef\xbb\xbfimport torch\nx.to(d)\n", (2, 1)),
        (b"# coding: latin-1\nimport torch\ns = '\xe9'; x.to(d)\n", (3, 10)),
        (b"import torch\r\nif 1:\r\n\tx.to(d)\r\n", (3, 2)),
        (b"import torch\rx.to(d)\r", (2, 1)),
        (b"import torch\n\x0c\nx.to(d)\n", (3, 1)),
        (b"import torch\n\x0cx.to(d)\n", (2, 2)),
        (b"import torch\ns = '''\n\x0c'''; x.to(d)\n", (3, 7)),
        (b"import torch\nx.to(d)", (2, 1)),
        (
            "import torch\ns = '\u2028\x85'; x.to(d)\n".encode(),
            (2, 11),
        ),  # ends of line only to `str.splitlines`
    ],
)
def test_encodings_and_line_ends(source: bytes, place: tuple[int, int]) -> None:
    assert [finding.start for finding in lint(source, "a.py")] == [place]


def test_text_is_linted_as_bytes_are() -> None:
    source = "import torch\nx.to(d)\n"
    assert lint(source, "a.py") == lint(source.encode(), "a.py")


def test_the_cookie_of_a_text_does_not_count() -> None:
    for torch in ("", "import torch; torch.cuda\n"):
        assert lint(f"# coding: latin-1\n{torch}\u00e9 = '\u00e9'\n", "a.py") == []


def test_a_file_without_torch_is_not_inferred() -> None:
    assert codes("x.to(d)\n") == []


def test_a_rule_that_raises_is_named_with_the_place() -> None:
    with pytest.raises(DevlintError, match=r"a\.py:2: rule TST901 is broken: ZeroDivisionError: it exploded"):
        lint("import torch; x = x.to(d)\nx.explode()\n", "a.py")


def test_warnings_of_the_linted_code_stay_silent(recwarn: pytest.WarningsRecorder) -> None:
    lint("import torch\nx = '\\d'.to(d) is 1\n", "a.py")
    lint("x = '\\d' is 1\n", "a.py")
    assert not recwarn.list


def test_version_is_what_is_installed() -> None:
    from importlib.metadata import version

    assert version("devlint") == __version__
