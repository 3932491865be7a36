"""What the formats print."""

from __future__ import annotations

import json

import pytest

from devlint.finding import Edit, Finding, Fix, Position, Severity
from devlint.report import FORMATS, Outcome, render
from devlint.report.style import summary

FIX = Fix("assign to `x`", (Edit(Position(2, 5), Position(2, 5), "x = "),), True)


def finding(
    start: tuple[int, int] = (2, 5),
    end: tuple[int, int] = (2, 12),
    fix: Fix | None = FIX,
    severity: Severity = Severity.ERROR,
    path: str = "/p/a.py",
) -> Finding:
    places = Position(*start), Position(*end)
    return Finding(path, *places, "TST101", "lost", severity, "it is lost", "It is a copy.", fix, end[0])


def full(source: str, *findings: Finding, unsafe: bool = False) -> str:
    return render("full", Outcome(findings, {"/p/a.py": source}, unsafe_fixes=unsafe))


def test_json_is_rufs_shape() -> None:
    assert json.loads(render("json", Outcome([finding()], {}))) == [
        {
            "code": "TST101",
            "name": "lost",
            "message": "it is lost",
            "severity": "error",
            "filename": "/p/a.py",
            "cell": None,
            "location": {"row": 2, "column": 5},
            "end_location": {"row": 2, "column": 12},
            "fix": {
                "applicability": "safe",
                "message": "assign to `x`",
                "edits": [
                    {
                        "content": "x = ",
                        "location": {"row": 2, "column": 5},
                        "end_location": {"row": 2, "column": 5},
                    }
                ],
            },
            "noqa_row": 2,
            "url": None,
            "related": [],
        }
    ]
    assert json.loads(render("json", Outcome([], {}))) == []


def test_concise() -> None:
    findings = [finding(), finding(fix=None), finding(fix=FIX._replace(safe=False))]
    assert render("concise", Outcome(findings, {})).splitlines() == [
        "/p/a.py:2:5: TST101 [*] it is lost",
        "/p/a.py:2:5: TST101 it is lost",
        "/p/a.py:2:5: TST101 it is lost",
    ]


def test_full() -> None:
    assert full("if a:\n    x.to(d)  # c\n\ny\n", finding()) == (
        "TST101 [*] it is lost\n"
        " --> /p/a.py:2:5\n"
        "  |\n"
        "1 | if a:\n"
        "2 |     x.to(d)  # c\n"
        "  |     ^^^^^^^\n"
        "3 |\n"
        "  |\n"
        "  = error: It is a copy.\n"
        "  = fix: assign to `x` (--fix)\n"
        "  = more: devlint rule TST101\n"
        "\n"
    )


def carets(source: str, found: Finding) -> list[str]:
    return [line for line in full(source, found).splitlines() if "|" in line]


def test_carets_stand_below_what_the_terminal_shows() -> None:
    assert carets("a\n\t\u5f20\u91cf.to(d)\n", finding((2, 2), (2, 10)))[2:4] == [
        "2 |     \u5f20\u91cf.to(d)",
        "  |     ^^^^^^^^^^",
    ]
    assert carets("a\ne\u0301 = x\n", finding((2, 6), (2, 7)))[2:4] == ["2 | e\u0301 = x", "  |     ^"]


def test_a_finding_of_several_rows() -> None:
    assert carets("a\nx.to(\n    d\n)\nb\n", finding((2, 1), (4, 2)))[1:-1] == [
        "1 | a",
        "2 | x.to(",
        "  | ^^^^^",
        "3 |     d",
        "  |     ^",
        "4 | )",
        "  | ^",
        "5 | b",
    ]
    long = carets("\n" * 9 + "x(\n" + "a,\n" * 50 + ")\n", finding((10, 1), (61, 2)))
    assert len(long) < 15


def test_the_end_of_the_file_and_beyond() -> None:
    assert carets("a\nb", finding((2, 2), (2, 2)))[-2:] == ["  |  ^", "  |"]
    assert carets("", finding((1, 1), (1, 1))) == []
    assert carets("a", finding((7, 3), (7, 3))) == []  # a SyntaxError may point past the end


def test_a_long_row_is_cut_around_the_finding() -> None:
    text = full("a\n" + "x" * 500_000 + " bad " + "y" * 500_000 + "\n", finding((2, 500_002), (2, 500_005)))
    assert len(text) < 1000
    frame = [line for line in text.splitlines() if "bad" in line or "^" in line]
    assert frame[0].index("bad") == frame[1].index("^^^")


@pytest.mark.parametrize("form", ["full", "concise"])
def test_linted_code_does_not_steer_the_terminal(form: str) -> None:
    bad = finding(path="/p/\x1b[2J.py")._replace(message="\x1b[31m\r\n\x07")
    text = render(form, Outcome([bad], {bad.path: "a\nb = '\x1b[2J\x9b'\n"}))
    assert not {"\x1b", "\r", "\x07", "\x9b"} & set(text)


def test_what_full_says_of_fixes() -> None:
    unsafe = finding(fix=FIX._replace(safe=False))
    assert "= unsafe fix: assign to `x` (--fix --unsafe-fixes)" in full("a\nb\n", unsafe)
    assert full("a\nb\n", unsafe).startswith("TST101 it")
    assert full("a\nb\n", unsafe, unsafe=True).startswith("TST101 [*] it")
    assert "fix" not in full("a\nb\n", finding(fix=None))


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Outcome([], {}), "All checks passed."),
        (Outcome([], {}, fixed=2), "Fixed 2 findings. Nothing is left."),
        (Outcome([finding()], {}), "Found 1 error. 1 fixable with --fix."),
        (
            Outcome([finding(fix=None)] * 3 + [finding(severity=Severity.WARNING)] * 2, {}, fixed=1),
            "Fixed 1 finding. Found 3 errors, 2 warnings. 2 fixable with --fix.",
        ),
        (
            Outcome([finding(), finding(fix=FIX._replace(safe=False), severity=Severity.NOTE)], {}),
            "Found 1 error, 1 note. 1 fixable with --fix. 1 more fixable with --fix --unsafe-fixes.",
        ),
    ],
)
def test_summary(outcome: Outcome, text: str) -> None:
    assert summary(outcome) == text + "\n"


@pytest.mark.parametrize("form", FORMATS)
def test_formats_are_pure(form: str) -> None:
    outcome = Outcome([finding()], {"/p/a.py": "a\nb\n"}, color=True)
    assert render(form, outcome) == render(form, outcome)
