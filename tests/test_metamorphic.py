"""What must not matter does not: in which file a definition stands, in what order, from how deep one asks."""

from __future__ import annotations

import ast
import builtins
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import devlint
from devlint.config.settings import Selection, Settings
from devlint.core.digest import canonical, digest
from devlint.finding import Severity
from devlint.infer import summarise
from devlint.infer.file import File
from devlint.match.registry import severities
from devlint.project.index import Project
from devlint.run.lint import lint

FOLDER = Path(__file__).parents[1] / "fixtures"
FILES = sorted(path for path in FOLDER.glob("DEV*/*.py"))
NOTES = tuple(code for code, severity in severities().items() if severity is Severity.NOTE)
EVERYTHING = Settings(selections=(Selection(select=("ALL",), ignore=NOTES),), lint_tests=True)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Places = list[tuple[str, int, int]]


def name(path: Path) -> str:
    return path.relative_to(FOLDER).with_suffix("").as_posix()


def read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return None


def found(text: str, path: Path | str = "a.py", project: Project | None = None) -> Places:
    """What is reported, and where."""
    findings = lint(text, str(path), EVERYTHING, project=project)
    return [(each.code, each.start.row, each.start.column) for each in findings]


# A definition in another file


def first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min((node.lineno, *(each.lineno for each in decorators)))


def bound(tree: ast.Module) -> set[str]:
    """The names that a module's imports bind."""
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    return {alias.asname or alias.name.partition(".")[0] for each in imports for alias in each.names}


def needed(node: Definition) -> set[str]:
    """The names that a definition reads and does not bind itself."""
    used: set[str] = set()
    own = {node.name}
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            (used if isinstance(each.ctx, ast.Load) else own).add(each.id)
        elif isinstance(each, ast.arg):
            own.add(each.arg)
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            own.add(each.name)
        elif isinstance(each, (ast.Global, ast.Nonlocal)):
            used.update(each.names)
            own.difference_update(each.names)
    return used - own - set(dir(builtins))


def splits() -> Iterator[tuple[str, str, str]]:
    """Each definition of the fixtures that needs nothing but imports, with the program's two halves.

    Both keep all lines where they were.
    """
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        imports = bound(tree)
        names = [each.name for each in tree.body if isinstance(each, Definition)]
        for node in tree.body:
            if isinstance(node, Definition) and names.count(node.name) == 1 and needed(node) <= imports:
                rows = text.split("\n")
                inside = range(first_line(node) - 1, node.end_lineno or 0)
                keep = [
                    row
                    for each in tree.body
                    if isinstance(each, (ast.Import, ast.ImportFrom))
                    for row in range(each.lineno - 1, each.end_lineno or 0)
                ]
                here = [row if at not in inside else "" for at, row in enumerate(rows)]
                here[inside.start] = f"from other import {node.name}"
                there = [row if at in inside or at in keep else "" for at, row in enumerate(rows)]
                yield f"{name(path)}:{node.name}", "\n".join(here), "\n".join(there)


SPLITS = {each[0]: each[1:] for each in splits()}

BY_DESIGN = {
    # What is made in another file is told where it meets something, once what is given there is known.
    "DEV403/bug_told_dimensions:overlaps",
    # What a function does with a module that an object keeps is read where the object is.
    "DEV406/bug_handed:update",
    # What objects keep of what their methods are given, and what collates for a loader, is read there too.
    "DEV408/bug_stored:Named",
    "DEV501/bug_objects:stacked",
    # What a helper of unknown meaning says of a package is read within the file that asks.
    "DEV201/near_optional_imports:make_tensor",
    # pytest runs an autouse fixture, and heeds `pytestmark`, for the tests of that very file.
    "DEV201/near_tests_autouse:gpu",
    "DEV201/near_tests_module:TestLayer",
    # A literal is reported in the file where it stands, if it is used as a device there.
    "DEV202/bug_class_setting:Settings",
    # Who calls a function, and what was done before, is read within a file: another file may call as well.
    "DEV206/bug_functions:choose",
    "DEV404/near_copy_of_given:Normalized",
    "DEV206/bug_functions:late",
    "DEV402/bug_copy:Trainer",
    "DEV501/bug_dataset:scaled",
    # What another file makes, and an object keeps, is told where it meets something.
    "DEV403/bug_of_constructor:schedule",
    # What another file makes and never moves is told in no file: who else has it cannot be seen.
    "DEV403/bug_helper:triangle",
    "DEV403/bug_states:Reader",
    "DEV406/bug_functions:make",
    # What the only program that uses a module does with it is read within a file.
    "DEV403/near_script:Net",
    "DEV404/near_cpu_script:Net",
    "DEV404/near_cpu_demonstration:Stencils",
    "DEV403/near_test_cases:Shifted",
    # A tensor of a module that only another file computes with is told of there.
    "DEV404/bug_outside:Clusters",
    # Which methods run one after the other, and what two loops do with one model, is read within a file.
    "DEV401/bug_stored:Translator",
    "DEV401/bug_other_loop:evaluate",
    "DEV401/bug_other_loop:train",
    # Of one batch that is not moved, both files tell what they see.
    "DEV401/bug_fed:Predictor",
    # Of what one file returns and another has meet something, both files tell what they see.
    "DEV403/bug_returned:ordered",
    "DEV403/bug_variables:Scaled",
    "DEV403/bug_variables:Shifted",
    # What another file makes is told where it meets something, and of one mistake the first place alone.
    "DEV403/bug_beside:table",
    "DEV403/bug_callers_there:levels",
    "DEV403/bug_tables:Matrix",
    "DEV403/bug_tables:Table",
    "DEV403/bug_generators:Stream",
    "DEV403/bug_generators:pairs",
    "DEV404/bug_parts:Schedule",
    "DEV404/bug_parts:Spectrum",
    # What callers do with what a function loads is read within a file.
    "DEV205/bug_helper:read",
    # Which functions callers pass is read within a file.
    "DEV403/bug_callbacks:stitched",
    # Whether a script runs on the cpu alone, or a program has but one GPU, is told by what the file says.
    "DEV403/near_remarks:Net",
    "DEV204/near_optional:waited",
    # What callers agree to pass is read within a file: another file may call as well.
    "DEV401/bug_callers:error",
    "DEV403/bug_beside:solved",
    "DEV403/bug_callers_there:Standard",
    "DEV403/bug_tuples:advantages",
    "DEV403/bug_callers_there:forecast",
    "DEV403/fixed_first_use:Coded",
    "DEV404/bug_first_use:Placed",
    "DEV404/bug_numbers:Focal",
    "DEV404/bug_numbers:Scaled",
    "DEV404/bug_named:Whitened",
    "DEV403/near_asked_for_cpu:_scripted",
    "DEV403/near_dtype_by_name:Attention",
    # What derived classes do in place of a method is read within a file.
    "DEV404/bug_left_open:Penalty",
    "DEV406/bug_kept:Distiller",
    "DEV401/bug_callers:evaluate",
    "DEV402/bug_evaluate:validate",
    "DEV403/bug_helpers:kernel",
    "DEV403/bug_settings:accumulate",
    "DEV406/bug_weights_given:Plain",
    # Of a tensor that another file made, whatever the name of the function there says, one rule tells.
    "DEV408/bug_collated:collate",
    "DEV408/bug_collated:pairs_collate",
    # What use shows of what is in an object is read within a file.
    "DEV101/bug_objects:Graph",
    "DEV101/bug_records:Sample",
    "DEV406/near_settings:brought",
    # Where a model was when an object of another file copied its weights is read within that file.
    "DEV408/bug_copies:Average",
    "DEV408/bug_copies_in_order:Average",
    "DEV408/bug_copies_summed:Average",
    # That a function wraps a model on one path, and moves it on another, is read within a file.
    "DEV402/near_scattered:build",
    # Which device callers choose is read within a file.
    "DEV408/near_two:Given",
    "DEV408/near_two:Moved",
    "DEV204/bug_first:train",
    "DEV204/fixed_first:train",
}


def split(key: str, folder: Path) -> tuple[Places, Places]:
    """What is found in a whole program, and in its two halves."""
    here, there = SPLITS[key]
    whole = found((FOLDER / f"{key.rpartition(':')[0]}.py").read_text(encoding="utf-8"))
    (folder / "main.py").write_text(here, encoding="utf-8")
    (folder / "other.py").write_text(there, encoding="utf-8")
    project = Project(read, summarise)
    halves = found(here, folder / "main.py", project) + found(there, folder / "other.py", project)
    return sorted(whole), sorted(halves)


@pytest.mark.parametrize("key", sorted(SPLITS.keys() - BY_DESIGN))
def test_a_definition_in_another_file_means_the_same(key: str, tmp_path: Path) -> None:
    whole, halves = split(key, tmp_path)
    assert halves == whole


@pytest.mark.parametrize("key", sorted(BY_DESIGN))
def test_what_is_read_within_a_file_alone_is_listed(key: str, tmp_path: Path) -> None:
    whole, halves = split(key, tmp_path)
    assert halves != whole, "it is the same by now: take it from the list"


# Definitions in another order


def at_once(node: Definition) -> set[str]:
    """The names that a definition reads when it is executed, not when it is called."""
    inside: set[ast.AST] = set()
    for each in ast.walk(node):
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside.update(below for statement in each.body for below in ast.walk(statement))
        elif isinstance(each, ast.Lambda):
            inside.update(ast.walk(each.body))
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and each not in inside}


def runs(body: list[ast.stmt]) -> Iterator[list[Definition]]:
    """Definitions that follow each other and may stand in any order."""
    run: list[Definition] = []
    for node in [*body, None]:
        if isinstance(node, Definition):
            run.append(node)
            continue
        names = [each.name for each in run]
        free = not any(at_once(each) & set(names) for each in run)
        if len(run) > 1 and free and len(set(names)) == len(names):
            yield run
        run = []


def reversed_rows(path: Path) -> list[int]:
    """The rows of a program in an order that has its functions, classes and methods backwards."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    order = list(range(len(text.split("\n"))))
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    # The innermost first: what holds them moves as a whole.
    for body in reversed(bodies):
        for run in runs(body):
            spans = [(first_line(each) - 1, each.end_lineno or 0) for each in run]
            chunks = [order[start:end] for start, end in spans]
            gaps = [order[end:start] for (_, end), (start, _) in pairwise(spans)]
            turned = list(reversed(chunks))
            rows = turned[0] + [
                row for gap, chunk in zip(gaps, turned[1:], strict=True) for row in gap + chunk
            ]
            order[spans[0][0] : spans[-1][1]] = rows
    return order


TURNED = {name(path): rows for path in FILES if (rows := reversed_rows(path)) != sorted(rows)}


@pytest.mark.parametrize("key", sorted(TURNED)[1::8])
def test_the_order_of_definitions_does_not_matter(key: str) -> None:
    text = (FOLDER / f"{key}.py").read_text(encoding="utf-8")
    rows, order = text.split("\n"), TURNED[key]
    turned = "\n".join(rows[row] for row in order)
    back = [(code, order[row - 1] + 1, column) for code, row, column in found(turned)]
    assert sorted(back) == sorted(found(text))


# Chains of helpers

HEAD = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader\n"
LENGTH = 20
CHAINS = {
    "discarded": (
        "def f0(x):\n    return torch.ones(2) + x\n",
        "def f{0}(x):\n    return f{1}(x)\n",
        "def caller(x, device):\n    y = {0}(x)\n    y.to(device)  # DEV101\n    return y\n",
    ),
    "loader": (
        "def f0(data):\n    return DataLoader(data)\n",
        "def f{0}(data):\n    return f{1}(data)\n",
        "def caller(data, device):\n    model = nn.Linear(2, 2).to(device)\n"
        "    for x in {0}(data):\n        model(x)  # DEV401\n",
    ),
    "device": (
        'def f0():\n    return torch.device("cuda" if torch.cuda.is_available() else "cpu")\n',
        "def f{0}():\n    return f{1}()\n",
        "def caller(data):\n    model, device = nn.Linear(2, 2), {0}()\n    model.to(device)\n"
        "    for x in DataLoader(data):\n        model(x)  # DEV401\n",
    ),
    "cpu": (
        'def f0():\n    return torch.device("cpu")\n',
        "def f{0}():\n    return f{1}()\n",
        "def caller(data):\n    model = nn.Linear(2, 2).to({0}())\n"
        "    for x in DataLoader(data):\n        model(x)\n",
    ),
    "in place": (
        "def f0(model, device):\n    model.to(device)\n",
        "def f{0}(model, device):\n    f{1}(model, device)\n",
        'def caller(data, device):\n    model = nn.Linear(2, 2).to("cpu")\n    {0}(model, device)\n'
        "    for x in DataLoader(data):\n        model(x)  # DEV401\n",
    ),
    "copied": (
        "def f0(x, device):\n    return x.to(device)\n",
        "def f{0}(x, device):\n    return f{1}(x, device)\n",
        "def caller(data, device):\n    model = nn.Linear(2, 2).to(device)\n"
        "    for x, y in DataLoader(data):\n        out = model({0}(x, device))\n"
        "        nn.functional.mse_loss(out, y)  # DEV402\n",
    ),
    "guard": (
        "def f0():\n    if not torch.cuda.is_available():\n        raise SystemExit\n",
        "def f{0}():\n    f{1}()\n",
        "def caller(x):\n    {0}()\n    return x.cuda()\ndef other(x):\n    return x.cuda()  # DEV201\n",
    ),
}


def chain(kind: str) -> tuple[list[str], str]:
    """Helpers that call each other, and who calls the last."""
    first, middle, caller = CHAINS[kind]
    helpers = [first, *(middle.format(index, index - 1) for index in range(1, LENGTH))]
    return helpers, caller.format(f"f{LENGTH - 1}")


def marked(text: str) -> list[tuple[str, int]]:
    rows = enumerate(text.split("\n"), 1)
    return [(row.partition("# ")[2], number) for number, row in rows if "# DEV" in row]


@pytest.mark.parametrize("kind", CHAINS)
def test_a_chain_of_helpers_in_whatever_order(kind: str) -> None:
    helpers, caller = chain(kind)
    turned = helpers[::-1]
    mixed = helpers[::2] + helpers[1::2]
    for order in (
        [caller, *helpers],
        [caller, *turned],
        [*helpers, caller],
        [*turned, caller],
        [*mixed, caller],
    ):
        text = HEAD + "".join(order)
        assert [place[:2] for place in found(text)] == marked(text)


@pytest.mark.parametrize("kind", CHAINS)
def test_a_chain_of_helpers_over_as_many_files(kind: str, tmp_path: Path) -> None:
    helpers, caller = chain(kind)
    files = {}
    for index, helper in enumerate(helpers):
        above = f"from m{index - 1} import f{index - 1}\n" if index else ""
        files[tmp_path / f"m{index}.py"] = HEAD + above + helper
    files[tmp_path / "main.py"] = HEAD + f"from m{LENGTH - 1} import f{LENGTH - 1}\n" + caller
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    for order in (list(files), list(files)[::-1]):
        project = Project(read, summarise)
        for path in order:
            places = [place[:2] for place in found(files[path], path, project)]
            assert places == marked(files[path]), path.name


def test_a_chain_of_more_files_than_are_followed_ends(tmp_path: Path) -> None:
    last = tmp_path / "main.py"
    for index in range(150):
        above = f"from m{index - 1} import f\n" if index else "from main import f\n"
        (tmp_path / f"m{index}.py").write_text(f"{above}def g(x):\n    return f(x)\nf, h = g, f(1)\n")
    last.write_text("import torch\nfrom m149 import f\nx = torch.ones(2)\nx.to(f(x))\nprint(x)\n")
    assert [code for code, *_ in found(last.read_text(), last, Project(read, summarise))] == ["DEV101"]


# Digests

DIGESTS = """
import ast, sys
from pathlib import Path
from devlint.core.digest import digest
from devlint.infer import summarise

for path in sorted(Path(sys.argv[1]).rglob("*.py"))[::4]:
    print(path, digest(summarise(ast.parse(path.read_text(encoding="utf-8")), path.stem)))
"""


def digest_of(text: str) -> str:
    return digest(summarise(ast.parse(text), "helper"))


def test_a_summary_is_the_same_in_every_process() -> None:
    outputs = []
    for seed in ("1", "2"):
        command = [sys.executable, "-c", DIGESTS, str(FOLDER)]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        outputs.append(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) >= len(FILES) // 4


HELPER = """import torch
from torch import nn

DEVICE = torch.device("cuda")


class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.scale = torch.ones(2)
        self.to(device)

    def forward(self, x):
        return self.layer(x)


def prepare(x, model, device):
    if not torch.cuda.is_available():
        raise SystemExit
    model.to(device)
    return x.to(device)
"""


def test_neither_comments_nor_lines_are_in_a_digest() -> None:
    moved = HELPER.replace("\n\n", "\n\n\n# A word.\n").replace("(2, 2)", "(2,\n                2)")
    assert moved != HELPER
    assert digest_of(moved) == digest_of(HELPER)
    assert digest_of(HELPER.replace("def forward(self, x):", 'def forward(self, x):\n        """A word."""'))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return x.to(device)", "return x"),
        ("return x.to(device)", "return x.cpu()"),
        ("    model.to(device)\n", ""),
        ("not torch", "torch"),
        ('"cuda"', '"cpu"'),
        ("        self.to(device)\n", ""),
        ("torch.ones(2)", "nn.Parameter(torch.ones(2))"),
        ("nn.Module", "nn.Linear"),
        ("def prepare", "def prepared"),
        ("x, model, device", "x, model, device=None"),
        ("return self.layer(x)", "yield self.layer(x)"),
    ],
)
def test_what_a_definition_means_to_others_is_in_the_digest(before: str, after: str) -> None:
    assert before in HELPER
    assert digest_of(HELPER.replace(before, after)) != digest_of(HELPER)


def test_a_summary_is_smaller_than_its_source() -> None:
    paths = sorted(Path(devlint.__file__).parent.rglob("*.py"))[::3]
    sources = [path.read_text(encoding="utf-8") for path in paths]
    told = sum(len(canonical(summarise(ast.parse(text), "m"))) for text in sources)
    assert told <= 0.75 * sum(len(text.encode()) for text in sources)


# The host's stack, and how much is kept in mind


def from_depth(depth: int, text: str) -> Places:
    return from_depth(depth - 1, text) if depth else found(text)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the stack is as deep as the caller leaves it")
@pytest.mark.parametrize("key", ["DEV101/bug", "DEV201/bug", "DEV301/bug_class", "DEV402/bug_functions"])
def test_what_is_found_does_not_depend_on_the_depth_of_the_stack(key: str) -> None:
    text = (FOLDER / f"{key}.py").read_text(encoding="utf-8")
    helpers, caller = chain("discarded")
    for source in (text, HEAD + caller + "".join(helpers[::-1])):
        assert from_depth(700, source) == found(source) != []


def objects(step: str, loops: int = 5) -> int:
    rows = ["import torch", "def f(x, a):", "    t = torch.ones(2)"]
    rows += [f"{'    ' * (depth + 1)}for i{depth} in a:" for depth in range(loops)]
    rows += [f"{'    ' * (loops + 1)}{step}", "    return t"]
    file = File(ast.parse("\n".join(rows)))
    file.analyse()
    return len(file.objects.parents)


@pytest.mark.parametrize("short", ["t = x + t", "t = torch.add(t, x)"])
def test_all_ways_of_adding_make_as_many_objects(short: str) -> None:
    assert objects(short) == objects("t = t + x")


def test_adding_in_place_makes_no_more_objects_than_adding() -> None:
    assert objects("t += x") < objects("t = t + x")


@pytest.mark.parametrize("step", ["t += x", "t = t + x", "t = (t, x)", "t = t[0] + x.y", "t = f(t, x)"])
def test_objects_grow_with_the_text_and_not_with_the_loops(step: str) -> None:
    assert objects(step, 9) <= objects(step, 3) + 6 * 8
