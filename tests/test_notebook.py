"""Notebooks: cells in order as one program, what is no Python masked, fixes that touch their cell alone."""

from __future__ import annotations

import ast
import json
import tokenize
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from devlint.commands.cli import main
from devlint.config.settings import Settings
from devlint.run.fix import fix
from devlint.run.lint import lint
from devlint.source import magics
from devlint.source.magics import read
from devlint.source.text import split_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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
        ("%time a = f( \\\n  b)\n!c", "0    ;a = f( \\\n  b)\n0 "),
        ("%time !ls\n%time -o x", "0        \n0         "),
        ("d['='] = !ls\nd[\"b\"] = %pwd", "d['='] = 0  \nd[\"b\"] = 0   "),
        ("%%time\n%%capture out\na = f()", "      \n             \na = f()"),
        ("%%capture\n%%bash\nx='", "         \n      \n   "),
        ("%%python3\nif:", "         \n   "),
        ("%%debug\na", "       \na"),
        ("%%time?\na", "0      \na"),
        ("\n%%time\na = f()", "\n      \na = f()"),
        ("%%timeit -n 3\n%x\na", "             \n0 \na"),
        ("%%bash\nx='\n", "      \n   \n"),
        ("%%writefile a.py\nx.cuda()", "                \n        "),
        ("é = !ls\nx", "é = 0  \nx"),
        ("await f()\n!x", "await f()\n0 "),
    ],
)
def test_what_is_no_python_is_masked(source: str, masked: str) -> None:
    assert read(source)[:2] == (masked, (0,) * len(split_rows(source)))
    assert len(masked) == len(source)
    ast.parse(masked)


@pytest.mark.parametrize("source", ["if:", "%matplotlib\nif:", "x = (\n%y", "hello world", "x = '''\n!ls"])
def test_what_is_neither_python_nor_magic_is_said_to_be_wrong(source: str) -> None:
    assert isinstance(read(source).error, SyntaxError)
    with pytest.raises(SyntaxError):
        magics.parse(source)


def test_magics_keep_positions_and_the_program() -> None:
    raw = notebook(
        cell("%matplotlib inline\nimport torch\nfiles = !ls\n"),
        cell("%%bash\nx.cuda()"),
        cell("%%time\nx = torch.ones(2)\nx.to(device)\nprint(x)"),
    )
    assert places(raw) == [(3, 3, 1, "DEV101")]


@pytest.mark.parametrize(
    "metadata",
    [{"language_info": {"name": "R"}}, {"kernelspec": {"language": "julia"}}],
)
def test_other_languages_are_left_alone(metadata: dict[str, Any]) -> None:
    assert places(notebook(IMPORT, BAD, cell("x <- 1; y <-"), **metadata)) == []
    assert places(notebook(IMPORT, BAD, cell("SELECT *", vscode={"languageId": "sql"}))) == [
        (2, 2, 1, "DEV101")
    ]


@pytest.mark.parametrize("raw", [b"", b"\n"])
def test_an_empty_notebook_is_one_that_nobody_has_opened_yet(raw: bytes) -> None:
    assert findings(raw) == []


@pytest.mark.parametrize(
    ("raw", "place", "message"),
    [
        (b"cells", (1, 1), "not a notebook: Expecting value (JSON)"),
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


def measured(cell_source: str) -> list[tuple[int, int, str]]:
    """Return what is found in one cell that moves a tensor and a list of tensors made in another."""
    made = cell("import torch\nx = torch.ones(2)\nxs = [torch.ones(2), torch.ones(3)]\n")
    return [found[1:] for found in places(notebook(made, cell(cell_source), cell("x + xs[0]")))]


@pytest.mark.parametrize(
    "source",
    [
        "%%timeit\nx.to(device)\nx + 1",
        "%%timeit -n 10\nfor _ in range(3):\n    x.to(device)\n    print(x)",
        "%%timeit\n[y.to(device) for y in xs]\nfor y in xs:\n    y = y.to(device)",
        "%%capture out\n%%timeit\nx.half()\nx + 1",
        "%%time\nfor _ in range(100):\n    x.to(device)",
        "%%prun -s time\nx.to(device)\nx.to(device)\ntorch.accelerator.synchronize()",
        "%%memit\nx.to(device)\nx.float()\nprint(1)",
        "%time x.to(device)\nx + 1",
        "for _ in range(3):\n    if x.sum():\n        %time x.to(device); x.half()\n    print(x)",
        "%timeit x.to(device)\nx + 1",
    ],
)
def test_what_is_measured_throws_its_results_away_on_purpose(source: str) -> None:
    assert measured(source) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("%%time\nx.to(device)\nprint(x)", [(2, 1, "DEV101")]),
        ("%%time\nfor y in xs:\n    y.to(device)\n    print(y + 1)", [(3, 5, "DEV101")]),
        ("%%prun\nxs[0].half()\nprint(xs)", [(2, 1, "DEV105")]),
        ("%time pass\nx.to(device)\nprint(x)", [(2, 1, "DEV101")]),
        ("%%capture\nx.to(device)\nprint(x)", [(2, 1, "DEV101")]),
        ("%%devlint_run --stop\nx.to(device)\nprint(x)", [(2, 1, "DEV101")]),
        ("%%timeit\nx.cuda()", [(2, 1, "DEV201")]),
    ],
)
def test_a_cell_that_is_timed_goes_on_with_what_it_has_not_moved(
    source: str, found: list[tuple[int, int, str]]
) -> None:
    assert measured(source) == found


def test_what_a_cell_of_its_own_binds_stays_in_it() -> None:
    timed = "%%timeit\ny = torch.ones(2)"
    used = cell("y.to(device)\nprint(y)")
    assert places(notebook(IMPORT, cell(timed), used)) == []
    shared = timed.replace("timeit", "time")
    assert places(notebook(IMPORT, cell(shared), used)) == [(3, 1, 1, "DEV101")]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x.to(device)", []),
        ("x.to(device)  # shown; so it is", []),
        ("(x\n .to(device)\n)\n\n# seen\n", []),
        ("x, x.half()", []),
        ("[y.to(device) for y in xs]", []),
        ("%%time\nx.to(device)", []),
        ("%%capture out\nx.to(device)", []),
        ("x.half(); x.to(device)", [(1, 1, "DEV105")]),
        ("x.to(device);", [(1, 1, "DEV101")]),
        ("x.to(device) \\\n ;  # quiet\n", [(1, 1, "DEV101")]),
        ("'\u00e9'; x.to(device);", [(1, 6, "DEV101")]),
        ("x.to(device)\n%matplotlib inline", [(1, 1, "DEV101")]),
        ("x.to(device)\nx?", [(1, 1, "DEV101")]),
        ("if xs:\n    x.to(device)", [(2, 5, "DEV101")]),
        ("x.cuda()", [(1, 1, "DEV201")]),
    ],
)
def test_the_last_expression_of_a_cell_is_shown_and_not_thrown_away(
    source: str, found: list[tuple[int, int, str]]
) -> None:
    assert measured(source) == found


def test_what_is_shown_is_not_kept() -> None:
    """A move that is shown leaves the whole batch where it was: nobody has moved a part of it."""
    raw = notebook(
        cell("import torch\nfrom torch.utils.data import DataLoader\nmodel = torch.nn.Linear(2, 2)"),
        cell("device = torch.device('cuda:0')\nmodel.to(device)\nloader = DataLoader(data)"),
        cell("for a, b in loader:\n    break"),
        cell("a.to(device)"),
        cell("model(a)\nmodel(b)\nprint(a + b)"),
    )
    assert [item for item in places(raw) if item[3] != "DEV202"] == [(5, 1, 7, "DEV401")]


def test_an_exception_ends_its_cell_alone() -> None:
    assert places(notebook(IMPORT, cell("raise SystemExit('to here')"), BAD)) == [(3, 2, 1, "DEV101")]


@pytest.mark.parametrize(
    ("source", "fixed"),
    [
        ("    x.to(device)\n    print(x)", "    x = x.to(device)\n    print(x)"),
        ("\n \t x.to(device); x + 1\n\n \t print(x)\n", "\n \t x = x.to(device); x + 1\n\n \t print(x)\n"),
        ("  %matplotlib\n  if x:\n    x.to(device)\n", "  %matplotlib\n  if x:\n    x = x.to(device)\n"),
        ("  %%time\n  x.to(device)\n  print(x)", "  %%time\n  x = x.to(device)\n  print(x)"),
        ("%%time\n    x.to(device)\n    print(x)", "%%time\n    x = x.to(device)\n    print(x)"),
        (
            " %%time\n   %%capture\n    x.to(device)\n    x + 1",
            " %%time\n   %%capture\n    x = x.to(device)\n    x + 1",
        ),
        (
            "  x = (\n    x)\n  x.to(\n  device\n  )\n  x + 1",
            "  x = (\n    x)\n  x = x.to(\n  device\n  )\n  x + 1",
        ),
        (">>> if 1:\n...     x.to(device)\n>>> x + 1", ">>> if 1:\n...     x = x.to(device)\n>>> x + 1"),
        (" >>> x.to(device)\n\n  >>> x + 1", " >>> x = x.to(device)\n\n  >>> x + 1"),
        ("  # devlint: ignore[DEV101]\n\n  x + 1", "\n  x + 1"),
        ("  y = 1  # devlint: ignore[DEV101]\n  x + 1", "  y = 1\n  x + 1"),
    ],
)
def test_a_cell_may_be_indented_as_a_whole(source: str, fixed: str) -> None:
    before, after = (notebook(IMPORT, cell("x = torch.ones(2)"), cell(text)) for text in (source, fixed))
    (found,) = findings(before)
    row = source.split("\n")[found.start.row - 1]
    assert row[found.start.column - 1 :].startswith(("x.to(", "# devlint"))
    result = fix(before, "nb.ipynb", Settings())
    assert (result.raw, result.remaining) == (after, [])


@pytest.mark.parametrize(
    ("source", "place"),
    [("  x\n  y = = 1", (2, 7)), ("%%time\n\ty = = 1", (2, 6))],
)
def test_an_error_is_where_it_was_written(source: str, place: tuple[int, int]) -> None:
    (finding,) = findings(notebook(cell(source)))
    assert (finding.code, finding.start) == ("DEV000", place)


@pytest.mark.parametrize(
    "source", ["  x = 1\n y = 2", "# a\n  x = 1", "  %%time\nx = 1", "%%time\n  x = 1\ny = 2"]
)
def test_indentation_that_rows_do_not_share_is_an_error(source: str) -> None:
    assert [(finding.code, finding.cell) for finding in findings(notebook(cell(source)))] == [("DEV000", 1)]


def test_messages_name_lines_of_cells() -> None:
    raw = notebook(
        cell("# Title", "markdown"),
        cell("import torch\nmodel = torch.nn.Linear(2, 2)\nopt = torch.optim.Adagrad(model.parameters())"),
        cell("y = 1\nmodel.to(device)"),
    )
    (finding,) = findings(raw)
    assert finding.message == "`model` is moved after its optimizer was built on line 3 of cell 2"


@pytest.mark.parametrize("name", ["cells", "source"])
def test_of_a_key_that_is_there_twice_the_last_counts(name: str) -> None:
    raw = notebook(IMPORT, BAD, indent=None)
    mine = raw[raw.index(b'"cells"') : raw.index(b', "metadata": {}, "nbformat"')]
    other = mine.replace(b"x.to", b"y.to")
    if name == "source":
        mine = raw[raw.rindex(b'"source"') : raw.rindex(b"}]")]
        other = mine.replace(b"x.to", b"y.to")
    twice = raw.replace(mine, other + b", " + mine)
    result = fix(twice, "nb.ipynb", Settings())
    assert result.raw == twice.replace(b"x.to(device)", FIXED.encode())
    assert result.remaining == []


def test_a_cell_is_tokenised_once_however_many_brackets_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 0

    def tokens(line: Callable[[], str]) -> Iterator[tokenize.TokenInfo]:
        def counted() -> str:
            nonlocal rows
            rows += 1
            return line()

        return generate(counted)

    generate = tokenize.generate_tokens
    monkeypatch.setattr(tokenize, "generate_tokens", tokens)
    assert read("%x\n" + "y = (1,\n" * 200).error is not None
    assert rows <= 202
    rows = 0
    assert read("%x\n" + "y = (1,\n)\n" * 200).error is None
    assert rows <= 402


def test_formats_without_cells_show_the_first_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nb.ipynb").write_bytes(notebook(cell("Text", "markdown"), IMPORT, BAD))
    assert main(["--output-format", "junit", "."]) == 1
    case = ElementTree.fromstring(capsys.readouterr().out).find(".//testcase")
    assert case is not None
    assert case.get("line") == "1"
    failure = case.find("failure")
    assert failure is not None
    assert str(failure.get("message")).endswith("(cell 3, line 2)")


@pytest.mark.parametrize(
    ("later", "safe"), [("print(x)", True), ("x + y", False), ("%%timeit\nx + y", False)]
)
def test_a_fix_is_as_safe_as_the_cells_after_it_allow(later: str, safe: bool) -> None:
    made = cell("import torch\nx = torch.ones(2)\ny = torch.ones(2)")
    (found,) = findings(notebook(made, cell("x.to(device);"), cell(later)))
    assert (found.fix is not None and found.fix.safe) is safe
