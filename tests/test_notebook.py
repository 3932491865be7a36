"""Notebooks: cells in order as one program, what is no Python masked, fixes that touch their cell alone."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any

import pytest

from devlint.cli import main
from devlint.fix import fix
from devlint.lint import lint
from devlint.magics import mask
from devlint.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from devlint.finding import Finding


def cell(source: str, kind: str = "code", **metadata: object) -> dict[str, object]:
    return {"cell_type": kind, "metadata": metadata, "source": source.splitlines(keepends=True)}


def notebook(*cells: dict[str, object], indent: int | None = 1, **metadata: object) -> bytes:
    data = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(data, indent=indent, ensure_ascii=False) + "\n").encode()


def findings(raw: bytes | str) -> list[Finding]:
    return lint(raw, "nb.ipynb")


def places(raw: bytes | str) -> list[tuple[int | None, int, int, str]]:
    return [(item.cell, *item.start, item.code) for item in findings(raw)]


BAD = cell("x = torch.ones(2)\nx.to(device)\nprint(x)")
IMPORT = cell("import torch\n")


def test_cells_are_one_program_and_are_numbered_with_those_of_other_kinds() -> None:
    raw = notebook(
        cell("# Title", "markdown"), IMPORT, cell("x = torch.ones(2)"), cell("x.to(device)\nx + 1")
    )
    assert places(raw) == [(4, 1, 1, "DEV101")]
    assert findings(raw)[0].end == (1, 13)


def test_findings_come_in_the_order_of_cells() -> None:
    late = cell("\n\n\n" + "y = torch.ones(2)\ny.to(device)\nprint(y)")
    raw = notebook(IMPORT, late, BAD, cell("if:"), BAD)
    assert places(raw) == [(2, 5, 1, "DEV101"), (3, 2, 1, "DEV101"), (4, 1, 3, "DEV000"), (5, 2, 1, "DEV101")]


def test_a_comment_in_any_cell_silences_the_notebook_and_one_in_a_statement_the_statement() -> None:
    assert places(notebook(IMPORT, BAD, cell("# devlint: file-ignore[DEV101]"))) == []
    assert places(notebook(IMPORT, cell("x = torch.ones(2)\nx.to(device)  # noqa\nprint(x)"))) == []


@pytest.mark.parametrize(
    ("source", "masked"),
    [
        ("x % y", "x % y"),
        ("%matplotlib inline", "0                 "),
        ("!", "0"),
        ("if x:\n    !ls\r\n    y", "if x:\n    0  \r\n    y"),
        ("a = !ls", "a = 0  "),
        ("a, b = %timeit f()", "a, b = 0          "),
        ("a = [\n  b\n  % c]\n%d", "a = [\n  b\n  % c]\n0 "),
        ("a = '''\n!ls\n'''\n?a", "a = '''\n!ls\n'''\n0 "),
        ("a = f(b) \\\n  % c\n!d", "a = f(b) \\\n  % c\n0 "),
        ("!a \\\n  b \\\n  c\nd", "0   \n     \n   \nd"),
        ("# is it?\na.b??", "# is it?\n0    "),
        ("a = 'is it?'\n!b", "a = 'is it?'\n0 "),
        ("/f 1\n,f 2\n;f 3", "0   \n0   \n0   "),
        ("pip install torch\ncp -r a b", "0                \n0        "),
        ("pip = 1\nls -la\n!x", "pip = 1\nls -la\n0 "),
        ("%time a = f()\n%time", "0    ;a = f()\n0    "),
        ("%time a = f(\n  b)\n!c", "0    ;a = f(\n  b)\n0 "),
        ("\n%%time\na = f()", "\n      \na = f()"),
        ("%%timeit -n 3\n%x\na", "             \n0 \na"),
        ("%%bash\nx='\n", "      \n   \n"),
        ("%%writefile a.py\nx.cuda()", "                \n        "),
        ("é = !ls\nx", "é = 0  \nx"),
        ("await f()\n!x", "await f()\n0 "),
    ],
)
def test_what_is_no_python_is_masked(source: str, masked: str) -> None:
    assert mask(source) == masked
    assert len(masked) == len(source)
    ast.parse(masked)


@pytest.mark.parametrize("source", ["if:", "%matplotlib\nif:", "x = (\n%y", "hello world", "x = '''\n!ls"])
def test_what_is_neither_python_nor_magic_is_said_to_be_wrong(source: str) -> None:
    with pytest.raises(SyntaxError):
        mask(source)


def test_magics_keep_positions_and_the_program() -> None:
    raw = notebook(
        cell("%matplotlib inline\nimport torch\nfiles = !ls\n"),
        cell("%%bash\nx.cuda()"),
        cell("%%time\nx = torch.ones(2)\n%time x.to(device)\nprint(x)"),
    )
    assert places(raw) == [(3, 3, 7, "DEV101")]


@pytest.mark.parametrize(
    "metadata",
    [{"language_info": {"name": "R"}}, {"kernelspec": {"language": "julia"}}],
)
def test_other_languages_are_left_alone(metadata: dict[str, Any]) -> None:
    assert places(notebook(IMPORT, BAD, cell("x <- 1; y <-"), **metadata)) == []
    assert places(notebook(IMPORT, BAD, cell("SELECT *", vscode={"languageId": "sql"}))) == [
        (2, 2, 1, "DEV101")
    ]


@pytest.mark.parametrize(
    ("raw", "place", "message"),
    [
        (b"", (1, 1), "not a notebook: Expecting value (JSON)"),
        (b'{"cells": [\n  ]]', (2, 4), "not a notebook: Expecting ',' delimiter (JSON)"),
        (b"[]", (1, 1), "not a notebook: it holds no object (JSON)"),
        (b"{}", (1, 1), "not a notebook: it has no list of cells"),
        (b'{"nbformat": 3, "worksheets": []}', (1, 1), "not a notebook: format 3 is too old"),
        (b'{"cells": [{"source": [3]}]}', (1, 1), "not a notebook: the source of cell 1 is no text"),
        (b'{"cells": "\xff"}', (1, 1), "not valid utf-8"),
        (b"[" * 200_000, (1, 1), "nested too deeply to be read"),
    ],
)
def test_what_is_no_notebook_gets_one_finding(raw: bytes, place: tuple[int, int], message: str) -> None:
    (finding,) = findings(raw)
    assert (finding.code, finding.cell, finding.start) == ("DEV000", None, place)
    assert finding.message.startswith(message)


@pytest.mark.parametrize("source", ["x = '\x00'", "x = '\ud800'", "(" * 1000])
def test_a_cell_that_cannot_be_read_costs_no_other(source: str) -> None:
    raw = json.dumps({"cells": [IMPORT, cell(source), BAD], "nbformat": 4})
    assert [(number, code) for number, _, _, code in places(raw)] == [(2, "DEV000"), (3, "DEV101")]


def test_unreadable_cells_can_be_ignored() -> None:
    raw = notebook(cell("if:"))
    assert [item.code for item in findings(raw)] == ["DEV000"]
    assert lint(raw, "nb.ipynb", Settings(per_file_ignores=(("*.ipynb", ("DEV000",)),))) == []


FIXED = "x = x.to(device)"


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_a_fix_changes_its_row_and_no_other_byte(indent: int | None, newline: bytes) -> None:
    odd = cell('%magic\nprint("é \\u00e9 <\u2028>")\nx.to(device)  # é\nodd = "\\n"')
    raw = notebook(IMPORT, cell("x = torch.ones(2)\n!ls"), odd, cell("x"), indent=indent)
    raw = raw.replace(b'"nbformat_minor": 5', b'"nbformat_minor": 5.0, "a":[1e3 ,"\\u00e9"]')
    raw = raw.replace(b"odd = ", b"\\u006fdd = ").replace(b"\n", newline)
    after = fix(raw, "nb.ipynb", Settings())
    assert after.raw == raw.replace(b"x.to(device)", FIXED.encode())
    assert after.remaining == []


@pytest.mark.parametrize("source", ["x.to(device)\nx", ["x.to(de", "vice)\nx"], ["x.to(device)\n", "x"]])
def test_a_source_stays_a_string_or_a_list(source: object) -> None:
    raw = notebook(IMPORT, cell("x = torch.ones(2)"), {**cell(""), "source": source})
    after: str | list[str] = json.loads(fix(raw, "nb.ipynb", Settings()).raw)["cells"][2]["source"]
    assert type(after) is type(source)
    assert "".join(after) == f"{FIXED}\nx"


def test_a_fix_that_reaches_beyond_its_cell_is_not_offered() -> None:
    idle = "# devlint: ignore[DEV101]"  # its fix takes out the row and its end
    raw = notebook(cell(f"{idle}\nx = 1"), cell(f"y = 1\n{idle}"))
    assert [(item.cell, item.code, item.fix is None) for item in findings(raw)] == [
        (1, "DEV001", False),
        (2, "DEV001", True),
    ]
    after = fix(raw, "nb.ipynb", Settings())
    assert after.raw == notebook(cell("x = 1"), cell(f"y = 1\n{idle}"))


def test_several_cells_are_fixed_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nb.ipynb"
    path.write_bytes(notebook(IMPORT, BAD, cell("if:"), cell("%%time\nx.to(device); x.to(device)\nprint(x)")))
    before = path.read_bytes()
    assert main(["--diff", str(path)]) == 1
    assert path.read_bytes() == before
    diff = capsys.readouterr().out.splitlines()
    assert [line for line in diff if line[:2] in ("- ", "+ ")] == [
        '-    "x.to(device)\\n",',
        f'+    "{FIXED}\\n",',
        '-    "x.to(device); x.to(device)\\n",',
        f'+    "{FIXED}; {FIXED}\\n",',
    ]
    assert main(["--fix", "--output-format", "concise", str(path)]) == 1
    assert path.read_bytes() == before.replace(b"x.to(device)", FIXED.encode())
    assert capsys.readouterr().out.startswith(f"{path}:cell 3:1:3: DEV000")


def test_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nb.ipynb").write_bytes(notebook(cell("Text", "markdown"), IMPORT, BAD))
    assert main(["--output-format", "concise", "."]) == 1
    assert capsys.readouterr().out.startswith("nb.ipynb:cell 3:2:1: DEV101 [*] ")
    assert main(["."]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == " --> nb.ipynb:cell 3:2:1"
    assert lines[4:6] == ["2 | x.to(device)", "  | ^^^^^^^^^^^^"]
    assert main(["--output-format", "json", "."]) == 1
    (item,) = json.loads(capsys.readouterr().out)
    assert item["cell"] == 3
    assert item["location"] == {"row": 2, "column": 1}
    assert item["fix"]["edits"][0]["location"] == {"row": 2, "column": 1}
    assert item["noqa_row"] == 2
