"""What the formats for other programs print, each checked as its reader would read it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from devlint.finding import Edit, Finding, Fix, Position, Related, Severity
from devlint.report import FORMATS, Outcome, render

SCHEMA = Path(__file__).parents[2] / "shared/data/sarif-schema-2.1.0.json"
BASE = "/p"
SOURCE = "class Net:\n    def forward(self, x):\n        é = x; x.to(d)\n        return x\n"
EDIT = Edit(Position(3, 16), Position(3, 16), "x = ")
HARD = "a: 100%, a;b]c\r\n<&\x01\ud800>"
"""A message with what the formats must escape."""


def finding(
    start: tuple[int, int] = (3, 16),
    end: tuple[int, int] = (3, 23),
    path: str = "/p/src/net.py",
    message: str = "it is lost",
    severity: Severity = Severity.ERROR,
    cell: int | None = None,
    edits: tuple[Edit, ...] = (EDIT,),
) -> Finding:
    fix = Fix("assign to `x`", edits, safe=True)
    places = Position(*start), Position(*end)
    return Finding(path, *places, "TST101", "lost", severity, message, "It is a copy.", fix, end[0], cell)


def text_of(form: str, *findings: Finding, source: str = SOURCE, rules: bool = True) -> str:
    from devlint.match.registry import installed

    sources = {
        item.path if item.cell is None else f"{item.path}:cell {item.cell}": source for item in findings
    }
    outcome = Outcome(findings, sources, base=BASE, rules=installed() if rules else {})
    return render(form, outcome)


IN_CELL = finding((1, 1), (1, 8), path="/p/nb.ipynb", cell=2)
EXPLAINED = finding()._replace(
    related=(
        Related("/p/src/net.py", Position(2, 23), Position(2, 24), "it is 100% made here"),
        Related("/p/nb.ipynb", Position(4, 1), Position(4, 5), "it is moved here", 3),
    )
)
"""A finding with two places that explain it."""


def test_related_json() -> None:
    (found,) = json.loads(text_of("json", EXPLAINED))
    assert found["related"] == [
        {
            "message": "it is 100% made here",
            "filename": os.path.abspath("/p/src/net.py"),
            "cell": None,
            "location": {"row": 2, "column": 23},
            "end_location": {"row": 2, "column": 24},
        },
        {
            "message": "it is moved here",
            "filename": os.path.abspath("/p/nb.ipynb"),
            "cell": 3,
            "location": {"row": 4, "column": 1},
            "end_location": {"row": 4, "column": 5},
        },
    ]


def test_related_sarif() -> None:
    log = json.loads(text_of("sarif", EXPLAINED))
    (result,) = log["runs"][0]["results"]
    (plain,) = json.loads(text_of("sarif", finding()))["runs"][0]["results"]
    assert result["partialFingerprints"] == plain["partialFingerprints"]
    assert [each["message"]["text"] for each in result["relatedLocations"]] == [
        "it is 100% made here",
        "it is moved here (cell 3, line 4)",
    ]
    first, second = (each["physicalLocation"] for each in result["relatedLocations"])
    assert first["artifactLocation"]["uri"] == "src/net.py"
    assert first["region"]["startColumn"] == 23
    assert second["region"]["startLine"] == 1


def test_related_elsewhere() -> None:
    (diagnostic,) = json.loads(text_of("rdjson", EXPLAINED))["diagnostics"]
    assert [each["location"]["path"] for each in diagnostic["relatedLocations"]] == ["src/net.py", "nb.ipynb"]
    (issue,) = json.loads(text_of("gitlab", EXPLAINED))
    assert issue["other_locations"][0]["positions"]["begin"] == {"line": 2, "column": 23}
    assert "/p/nb.ipynb:cell 3:4:1: it is moved here" in text_of("junit", EXPLAINED)
    for form in ("concise", "github", "pylint", "azure"):  # which have no place for it
        assert text_of(form, EXPLAINED) == text_of(form, finding())


def test_json_lines() -> None:
    lines = text_of("json-lines", finding(), IN_CELL).splitlines()
    whole = json.loads(text_of("json", finding(), IN_CELL))
    assert [json.loads(line) for line in lines] == whole
    assert whole[1]["cell"] == 2


def test_pylint() -> None:
    assert text_of("pylint", finding(path="src/net.py"), IN_CELL).splitlines() == [
        "src/net.py:3: [TST101] it is lost",
        "/p/nb.ipynb:1: [TST101] it is lost (cell 2, line 1)",
    ]


def test_github() -> None:
    found = [finding(), finding((3, 1), (4, 2), severity=Severity.NOTE), IN_CELL]
    assert text_of("github", *found).splitlines() == [
        "::error title=devlint (TST101),file=src/net.py,line=3,endLine=3,col=16,endColumn=23::"
        "/p/src/net.py:3:16: TST101 it is lost",
        # With columns in two lines GitHub would drop it.
        "::notice title=devlint (TST101),file=src/net.py,line=3,endLine=4::"
        "/p/src/net.py:3:1: TST101 it is lost",
        "::error title=devlint (TST101),file=nb.ipynb,line=1,endLine=1,col=1,endColumn=1::"
        "/p/nb.ipynb:cell 2:1:1: TST101 it is lost",
    ]


def test_github_escapes() -> None:
    (line,) = text_of("github", finding(path="/p/a,b:c%.py", message=HARD)).splitlines()
    assert "file=a%2Cb%3Ac%25.py," in line
    assert line.split("::", 2)[2].endswith("a: 100%25, a;b]c%0D%0A<&\u2401\ud800>")


def test_azure() -> None:
    (line,) = text_of("azure", finding(path="/p/a;b].py", message=HARD, severity=Severity.NOTE)).splitlines()
    assert line == (
        "##vso[task.logissue type=warning;sourcepath=a%3Bb%5D.py;linenumber=3;columnnumber=16;code=TST101;]"
        "a: 100%AZP25, a;b]c%0D%0A<&\u2401\ud800>"
    )


def test_gitlab() -> None:
    first, second, third = json.loads(text_of("gitlab", finding(), finding(), IN_CELL))
    assert {key: first[key] for key in ("check_name", "description", "severity", "location")} == {
        "check_name": "TST101",
        "description": "TST101: it is lost",
        "severity": "major",
        "location": {
            "path": "src/net.py",
            "positions": {"begin": {"line": 3, "column": 16}, "end": {"line": 3, "column": 23}},
        },
    }
    assert len({first["fingerprint"], second["fingerprint"], third["fingerprint"]}) == 3
    assert third["location"]["positions"]["begin"] == {"line": 1, "column": 1}


def test_junit() -> None:
    hard = finding(path="/p/b.py", message=HARD)
    root = ElementTree.fromstring(
        text_of("junit", finding(), finding(), hard).encode("utf-8", "surrogatepass")
    )
    assert (root.tag, root.get("tests"), root.get("failures")) == ("testsuites", "3", "3")
    assert [(suite.get("name"), suite.get("tests")) for suite in root] == [("src/net.py", "2"), ("b.py", "1")]
    failure = root[1][0][0]
    assert failure.get("message") == "a: 100%, a;b]c\u240d\u240a<&\u2401\ufffd>"
    assert failure.text is not None
    assert failure.text.startswith("/p/b.py:3:16: TST101 a: 100%")


def test_junit_without_findings_has_a_test_that_passes() -> None:
    root = ElementTree.fromstring(text_of("junit"))
    assert (root.get("tests"), root.get("failures")) == ("1", "0")
    assert [case.tag for case in root.iter("testcase")] == ["testcase"]
    assert not list(root.iter("failure"))


def test_rdjson_counts_columns_in_bytes_and_suggests_the_fix() -> None:
    two = finding(edits=(EDIT, EDIT._replace(content="y")))
    report = json.loads(text_of("rdjson", finding(), two))
    assert report["source"] == {"name": "devlint"}
    first, second = report["diagnostics"]
    place = {"start": {"line": 3, "column": 17}, "end": {"line": 3, "column": 24}}
    assert first["location"] == {"path": "src/net.py", "range": place}
    assert first["suggestions"] == [
        {"range": {"start": place["start"], "end": place["start"]}, "text": "x = "}
    ]
    assert "suggestions" not in second  # they would be alternatives


def sarif(*findings: Finding, source: str = SOURCE) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(text_of("sarif", *findings, source=source))
    return log


def test_sarif_says_what_code_scanning_reads() -> None:
    log = sarif(finding(), IN_CELL, finding(path="/p/caf é%.py", message=HARD))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "devlint"
    assert run["columnKind"] == "unicodeCodePoints"
    assert [rule["id"] for rule in driver["rules"]][:2] == ["DEV000", "DEV001"]
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"]
        assert len(rule["help"]["text"]) > 200
        assert rule["help"]["markdown"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    first, in_cell, odd = run["results"]
    assert (first["ruleId"], first["level"]) == ("TST101", "error")
    assert first["message"]["text"] == "it is lost. It is a copy."
    where = first["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"] == "src/net.py"
    assert where["region"] == {"startLine": 3, "startColumn": 16, "endLine": 3, "endColumn": 23}
    assert first["partialFingerprints"].keys() == {
        "devlint/v1"
    }  # GitHub reserves the name it computes itself
    (replacement,) = first["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"] == {"text": "x = "}
    assert in_cell["locations"][0]["physicalLocation"]["region"]["startLine"] == 1
    assert "(cell 2, line 1)" in in_cell["message"]["text"]
    uri = odd["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"[!-~]+", uri)
    assert unquote(uri) == "caf é%.py"


def test_sarif_points_to_the_rule_it_describes() -> None:
    known = finding()._replace(code="DEV001")
    run = sarif(known)["runs"][0]
    assert run["tool"]["driver"]["rules"][run["results"][0]["ruleIndex"]]["id"] == "DEV001"


@pytest.mark.skipif(not SCHEMA.is_file(), reason="the schema is not part of the repository")
def test_sarif_is_valid() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(schema)(schema)
    for findings in ((), (EXPLAINED,), (finding(), IN_CELL, finding((3, 1), (4, 2), message=HARD))):
        log = sarif(*findings)
        validator.validate(log)
        del log["runs"][0]["tool"]["driver"]["name"]
        assert not validator.is_valid(log)


def prints(source: str, *rows: int) -> list[str]:
    found = [finding((row, 1), (row, 8)) for row in rows]
    results = sarif(*found, source=source)["runs"][0]["results"]
    return [result["partialFingerprints"]["devlint/v1"] for result in results]


def test_fingerprints_survive_line_shifts() -> None:
    before = "class A:\n    def f(x):\n        x.to(d)\n"
    assert prints(before, 3) == prints(f"import os\n\n\n{before}", 6)
    assert prints(before, 3) == prints(
        "if a:\n    class A:\n        def f(x):\n            x.to( d)".replace("( ", "("), 4
    )


@pytest.mark.parametrize(
    "after",
    [
        "class A:\n    def g(x):\n        x.to(d)\n",
        "class B:\n    def f(x):\n        x.to(d)\n",
        "class A:\n    def f(x):\n        x.to(e)\n",
    ],
)
def test_fingerprints_tell_findings_apart(after: str) -> None:
    assert prints("class A:\n    def f(x):\n        x.to(d)\n", 3) != prints(after, 3)


def test_findings_that_look_the_same_have_fingerprints_of_their_own() -> None:
    one, two = prints("x.to(d)\nx.to(d)\n", 1, 2)
    assert one != two
    assert prints("\nx.to(d)\n\nx.to(d)\n", 2, 4) == [one, two]


def test_paths_outside_the_project_are_absolute() -> None:
    (result,) = sarif(finding(path="/q/a.py"))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///q/a.py"


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_takes_everything(form: str) -> None:
    hard = finding(path=os.fsdecode(b"/p/\xff.py"), message=HARD)
    syntax = finding((9, 40), (9, 40), edits=())._replace(fix=None)  # may point past the end
    for findings in ((), (hard, syntax, IN_CELL)):
        text = text_of(form, *findings, source="def f(:\n")
        assert text == text_of(form, *findings, source="def f(:\n")
        assert not text or text.endswith("\n")


def test_sarif_has_sentences() -> None:
    """Rules word their reasons to stand below a message; here they come after its full stop."""
    (run,) = sarif(finding((1, 1), (1, 8))._replace(reason="a copy is made"))["runs"]
    (result,) = run["results"]
    assert result["message"]["text"] == "it is lost. A copy is made"
