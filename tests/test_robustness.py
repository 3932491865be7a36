"""Whatever the source, linting returns: odd files of Python's own tests, and modules made up."""

from __future__ import annotations

import ast
import os
import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesmith import from_node

from devlint.config.settings import Selection, Settings
from devlint.core.events import Move
from devlint.core.summary import FunctionSummary, ModuleSummary
from devlint.infer import infer, summarise
from devlint.infer.definitions import Function
from devlint.infer.file import File
from devlint.infer.function import Informed, Outcome
from devlint.match.registry import active
from devlint.project.index import Project, View
from devlint.run.fix import fix
from devlint.run.lint import lint
from devlint.source import sift

EVERYTHING = Settings(selections=(Selection(("ALL",)),))
TESTS = os.path.join(sysconfig.get_paths()["stdlib"], "test")
HEAD = "import torch\nx = torch.ones(2)\nx.to(device)\nmodel.cuda()\n"


@pytest.mark.skipif(not os.path.isdir(TESTS), reason="this Python comes without its test-suite")
def test_the_odd_files_of_pythons_own_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are meant to be unreadable, and a few that are large, none of them sifted out."""
    monkeypatch.setattr(sift, "matters", lambda raw, words: True)
    odd = [path for path in Path(TESTS).rglob("*.py") if path.name.startswith(("bad", "test_gr", "test_un"))]
    unreadable = {
        path.name
        for path in odd
        for finding in lint(path.read_bytes(), str(path), EVERYTHING)
        if finding.code == "DEV000"
    }
    assert "badsyntax_3131.py" in unreadable
    assert "test_unittest.py" not in unreadable


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(from_node())
def test_generated_modules(source: str) -> None:
    for text in (HEAD + source, source + HEAD):
        lint(text, "a.py", EVERYTHING)


@pytest.mark.parametrize(
    "source",
    [
        "x." + "b." * 3000 + "to(device)",
        "x.to(" + "1+" * 3000 + "1)",
        "(" * 150 + "x.to(device)" + ")" * 150,
        "x" + ".to(device)" * 800,
        "f(" * 90 + "x.to(device)" + ")" * 90,
        "\n".join("    " * depth + "if a:" for depth in range(99)) + "\n" + "    " * 99 + "x.to(device)",
        "\n".join(f"def f{i}():\n    return f{i + 1}()" for i in range(300)),
        "y = '" + "x" * 10_000_000 + "'; x.to(device)",
        "y = [" + "1," * 20_000 + "]; x.to(device)",
        "# " + " " * 10_000_000,
        " " * 10_000_000 + "# blank",
        "x.to(device);" * 2000,
        "if a: pass\n" + "elif b: x.to(device)\n" * 400,
        "lambda: " * 500 + "x.to(device)",
        "x = " * 500 + "x.to(device)",
        'f"{x.to(device)}{' + "f'{x.to(device)}'" + '}"',
        "class A(A):\n    x = A().x\n    def f(self): return self.f().to(device)",
        "def f(): return f().to(device)\nf().to(device)",
        "while True:\n  x, y, z = y.to(device), z, x",
    ],
    ids=lambda source: source[:20].replace("\n", " "),
)
def test_deep_long_and_circular(source: str) -> None:
    lint(HEAD + source + "\n", "a.py", EVERYTHING)


def test_what_a_method_keeps_and_is_given_again_hides_nothing() -> None:
    source = """
class Mixture(nn.Module):
    def keep(self, mean):
        self.old = mean

    def fit(self, x):
        self.keep(self.old)
        x.to(device)
        return x * self.old + self.mean.to(device)
"""
    found = [each.code for each in lint(HEAD + source, "a.py", EVERYTHING)]
    assert "DEV101" in found
    assert "DEV000" not in found


SIMPLE = st.sampled_from(
    """pass;raise ImportError;return 1;break;continue;x = torch.ones(2);x.to(device);del x;sys.exit()
    assert x;y: torch.Tensor;y = lambda: x;y += x;from torch import nn;global z;yield x;x if y else x.cuda()
    def to(self, device): return self.y.to(device);async def f(self): await x""".replace("\n    ", ";").split(
        ";"
    )
)
COMPOUND = st.sampled_from(
    """if x:|if x:|elif y:|else:;try:|except ImportError:;try:|except E as e:|else:|finally:;while x:|else:
    for x in y:|else:;with x as y:;class B(nn.Module):;def f(self, x=x):;match x:""".replace(
        "\n    ", ";"
    ).split(";")
)


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


@st.composite
def bodies(draw: st.DrawFn, depth: int = 3) -> str:
    """Statements of every kind, wherever they may stand."""
    found = []
    for _ in range(draw(st.integers(1, 3))):
        if not depth or draw(st.booleans()):
            found.append(draw(SIMPLE) + "\n")
            continue
        for header in draw(COMPOUND).split("|"):
            if header.startswith("match"):
                cases = [f"case {case}:\n" + indented(draw(bodies(depth - 1))) for case in ("1", "A(x)", "_")]
                found.append(f"{header}\n" + "".join(map(indented, cases)))
            else:
                found.append(f"{header}\n" + indented(draw(bodies(depth - 1))))
    return "".join(found)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(bodies())
def test_what_stands_in_a_class_body_hides_nothing_after_it(body: str) -> None:
    source = "import torch\nfrom torch import nn\nclass A:\n" + indented(body)
    try:
        ast.parse(source)
    except SyntaxError:
        assume(False)
    found = {(f.code, f.start.row) for f in lint(source + HEAD, "a.py", EVERYTHING)}
    assert ("DEV101", source.count("\n") + 3) in found


def test_methods_below_a_condition_are_methods() -> None:
    source = """import torch
class A:
    if torch.__version__ > "2":
        def __init__(self):
            self.x = torch.ones(2)
    def move(self, device):
        self.x.to(device)
"""
    assert [finding.code for finding in lint(source, "a.py")] == ["DEV101"]


@pytest.mark.parametrize(
    "step",
    [
        *("y = y + y", "y += y", "y = y * 2", "y = [*y, *y]", "y = (y, y)", "y.extend(y)", "y.append(y)"),
        *("y = list(zip(y, y))", "y = twice(y)", "y = added(y)", "y[0] = y", "y = dict(a=y, b=y)"),
        *("y = {'a': y, **{'b': y}}", "y = [(y, y), (y, y)]", "y = [y for _ in y]", "y = max(y, (y, y))"),
        *("y = TensorDataset(y, y)", "y = list(map(lambda v: (v, v), y))", "y = (y, y) if c else [y, y]"),
    ],
)
def test_what_is_known_of_a_container_is_bounded(step: str) -> None:
    head = "import torch\nfrom torch.utils.data import TensorDataset\ny = [torch.ones(2)]\n"
    helpers = "def twice(a): return (a, a)\ndef added(a): return a + [*a]\n"
    file = File(ast.parse(head + helpers + f"{step}\n" * 13))
    file.analyse()
    parts, todo = 0, [value for value in (file.top("y"),) if value is not None]
    assert todo
    while todo:
        value = todo.pop()
        parts += 1
        assert len(value.items or ()) <= 256
        assert parts < 4000
        todo.extend(value.items or ())
        if value.element is not None:
            todo.append(value.element)


def meetings(text: str) -> int:
    file = File(ast.parse(text))
    file.analyse()
    logs = file.logs.values()
    return sum(len(log.meetings) + sum(len(loss.parties) for loss in log.losses) for log in logs)


@pytest.mark.parametrize("joined", ["f({})", "torch.add({})", "z = {}"])
def test_many_values_that_meet_are_few_pairs(joined: str) -> None:
    names = [f"x{i}" for i in range(300)]
    same = joined.format(("<" if "=" in joined else ",").join(["x"] * 300))
    other = joined.format(("<" if "=" in joined else ",").join(names))
    assert meetings(f"import torch\nx = torch.ones(2)\n{same}\n") <= 64
    assert meetings(f"import torch\ndef g({', '.join(names)}):\n    {other}\n") <= 64 * 64


def test_a_method_may_name_none_of_its_parameters() -> None:
    methods = "    def run(*args, **kwargs):\n        return args\n\n    def go(self):\n        self.run()\n"
    source = f"import torch\nclass A:\n{methods}\nA().run()\nx = torch.rand(2)\nx.to(d)\n"
    assert [finding.code for finding in lint(source, "a.py", EVERYTHING)] == ["DEV101"]


def from_depth(depth: int, source: str) -> list[str]:
    if depth:
        return from_depth(depth - 1, source)
    return [finding.code for finding in lint(source, "a.py", EVERYTHING) if finding.start.row == 4]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the stack is as deep as the caller leaves it")
@pytest.mark.parametrize("depth", [0, 300, 500])
@pytest.mark.parametrize("deep", ["y = 'cpu' == " + "+".join("1" * 500), "y = x" + ".b" * 500])
def test_a_deep_expression_hides_nothing_after_it(deep: str, depth: int) -> None:
    source = f"import torch\nx = torch.ones(2)\n{deep}\nx.to(device)\n"
    assert from_depth(depth, source) == ["DEV101"]


@pytest.mark.parametrize("size", [1, 100])
def test_bytes_that_are_no_text(size: int) -> None:
    for raw in (
        b"\0" * size,
        b"\xff\xfe" + "import torch".encode("utf-16-le") * size,
        bytes(range(256)) * size,
    ):
        findings = lint(b"torch.cuda" + raw, "a.py")
        assert [finding.code for finding in findings] == ["DEV000"]


def test_a_generated_fix_keeps_everything_else() -> None:
    source = HEAD.encode() + b"# kept \xc3\xa9\n"
    assert fix(source, "a.py", Settings()).raw.endswith(b"# kept \xc3\xa9\n")


def test_the_sift_takes_linear_time_on_what_does_not_matter() -> None:
    """A quadratic pattern would not come back from these."""
    words = active((Selection(select=("DEV1", "DEV201", "DEV202", "DEV401", "DEV402")),)).words
    for row in (
        b" " * 5_000_000,
        b"\t" * 5_000_000 + b"a",
        b"a." * 2_000_000,
        b"x[" * 2_000_000,
        b"a.float" * 500_000,
    ):
        assert not sift.matters(b"import torch\n" + row + b"\n", words)


@pytest.mark.parametrize("display", ["[{}]", "({})", "{{{}}}", "[*xs, {}]", "[1, None, {}]"])
def test_every_element_of_a_long_display_is_looked_at(display: str) -> None:
    items = ", ".join(["torch.ones(3, device='cuda')"] * 300)
    settings = Settings(selections=(Selection(select=("DEV202",)),))  # by itself, nothing shows a note
    found = lint(f"import torch\ny = {display.format(items)}\n", "a.py", settings)
    # What follows the first is reached only where there is such a device.
    assert [(each.code, each.severity.value) for each in found] == [
        ("DEV202", "warning"),
        *[("DEV202", "note")] * 299,
    ]
    assert len({each.start for each in found}) == 300


CROWD = 9
"""Of so many that all ask each other, the ways from one to the rest are a hundred thousand."""


def test_functions_that_all_call_each_other_are_analysed_a_few_times_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[str] = []
    run = File._run

    def counted(file: File, function: Function, informed: Informed) -> Outcome:
        runs.append(function.name)
        if len(runs) > CROWD * 10:
            pytest.fail("functions are analysed once for each way to them")
        return run(file, function, informed)

    monkeypatch.setattr(File, "_run", counted)
    source = "import torch\n"
    for each in range(CROWD):
        calls = [f"    f{other}(x, depth)\n" for other in range(CROWD) if other != each]
        source += f"def f{each}(x, depth):\n" + "".join(calls) + "    x.cuda()\n"
    events = infer(source).events
    assert len(set(runs)) == CROWD
    assert len([event for event in events if isinstance(event, Move)]) == CROWD


def test_files_that_all_ask_each_other_are_analysed_a_few_times_each(tmp_path: Path) -> None:
    runs: list[str] = []

    def counted(tree: ast.Module, name: str, view: View) -> ModuleSummary:
        runs.append(name)
        if len(runs) > CROWD * 4:
            pytest.fail("files are analysed once for each way to them")
        return summarise(tree, name, view)

    (tmp_path / "pyproject.toml").touch()
    for each in range(CROWD):
        source = f"def f{each}(x):\n    return x\n"
        for other in range(CROWD):
            if other != each:
                source += f"from m{other} import f{other}\nf{other}({other})\n"
        (tmp_path / f"m{each}.py").write_text(source)
    project = Project(lambda path: Path(path).read_text(), counted)
    found = project.view(str(tmp_path / "main.py")).find("m0.f0")
    assert isinstance(found, FunctionSummary)
    assert [each.name for each in found.parameters] == ["x"]
    assert set(runs) == {f"m{each}" for each in range(CROWD)}


def test_a_long_circle_of_calls_hides_nothing() -> None:
    source = "import torch\n"
    for each in range(20):
        source += f"def f{each}(x):\n    f{(each + 1) % 20}(x)\n    x.cuda()\n"
    assert len([event for event in infer(source).events if isinstance(event, Move)]) == 20


def test_a_long_chain_of_calls_from_the_top_of_a_file_is_followed_to_its_end() -> None:
    source = "import torch\n"
    for each in range(40):
        source += f"def f{each}(x):\n    f{each + 1}(x)\n"
    source += "def f40(x):\n    x.cuda()\nf0(torch.ones(2))\n"
    assert [finding.code for finding in lint(source, "a.py")] == ["DEV201"]


def test_a_long_chain_of_branches_hides_nothing() -> None:
    rows = "".join(f"elif a == {number}:\n    x.to(device)\n" for number in range(600))
    source = f"import torch\nx = torch.ones(2)\nif a:\n    x.to(device)\n{rows}"
    found = lint(source, "a.py", Settings(selections=(Selection(select=("DEV101",)),)))
    assert len(found) == 601
