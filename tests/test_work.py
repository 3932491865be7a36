"""How much work a run does, counted in files read and functions run: what is dear is done once."""

from __future__ import annotations

import ast
import gc
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from devlint.bind.text import Text
from devlint.commands import cli
from devlint.config.settings import Selection, Settings
from devlint.infer.definitions import Function
from devlint.infer.expressions import Expressions
from devlint.infer.file import File
from devlint.infer.function import Informed, Outcome
from devlint.project import disk
from devlint.project.index import View
from devlint.project.unused import Unused
from devlint.run.lint import lint

PROJECT = {
    "pyproject.toml": "",
    "pkg/__init__.py": "from .net import Net\n",
    "pkg/net.py": (
        "import torch\nfrom torch import nn\nfrom .parts import block, scale\n\n\n"
        "class Net(nn.Module):\n"
        "    def __init__(self, n):\n        super().__init__()\n        self.body = block(n)\n"
        "        self.head = nn.Linear(n, 1)\n\n"
        "    def forward(self, x):\n        mask = torch.ones(3, device=x.device)\n"
        "        return scale(self.head(self.body(x)) * mask)\n"
    ),
    "pkg/parts.py": (
        "from torch import nn\n\n\ndef block(n):\n    return nn.Sequential(nn.Linear(n, n), nn.ReLU())\n\n\n"
        "def scale(x):\n    return x * 2\n\n\n"
        "def unused(x):\n    for _ in range(3):\n        x = x + 1\n    return x\n"
    ),
    "pkg/text.py": "def shout(text):\n    return text.upper()\n",
    "train.py": (
        "import torch\nfrom pkg import Net\nfrom pkg.text import shout\n\n\n"
        "def main(loader, device):\n    net = Net(4).to(device)\n    print(shout('go'))\n"
        "    for x, y in loader:\n        loss = (net(x.to(device)) - y.to(device)).sum()\n"
        "        loss.backward()\n"
    ),
    "evaluate.py": (
        "import torch\nfrom pkg.net import Net\nfrom pkg.parts import scale\n\n\n"
        "def main(loader, device):\n    net = Net(4).to(device)\n"
        "    for x in loader:\n        scale(net(x.to(device)))\n"
    ),
}
"""A project of which each file is asked for by others, and in which nothing is to be found."""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What one run over the project did."""
    for name, text in PROJECT.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    done: Counter[str] = Counter()

    def count(owner: Any, method: str, key: str) -> None:
        original = getattr(owner, method)

        def counted(*args: Any, **keywords: Any) -> Any:
            done[key] += 1
            return original(*args, **keywords)

        monkeypatch.setattr(owner, method, counted)

    monkeypatch.chdir(tmp_path)
    arguments = ["--select", "ALL", "--isolated", "--no-cache", "--jobs", "1", "-q", "."]
    cli.main(arguments)  # imports what is imported late, for which pytest may parse texts itself
    count(disk, "raw_of", "files read for others")
    count(File, "analyse", "files inferred")
    count(File, "_run", "functions run")
    count(Expressions, "eval", "expressions evaluated")
    count(ast, "parse", "texts parsed")
    assert cli.main(arguments) == cli.CLEAN
    return done


def _nodes(*types: type[ast.AST]) -> int:
    trees = [compile(text, name, "exec", ast.PyCF_ONLY_AST) for name, text in PROJECT.items()]
    return sum(isinstance(node, types) for tree in trees for node in ast.walk(tree))


def test_each_file_is_parsed_and_inferred_once(work: Counter[str]) -> None:
    files = len(PROJECT) - 1  # all Python, and asked for by another or linted for itself
    assert work["texts parsed"] <= 2 * files  # once more to try what they define
    assert work["files inferred"] <= files


def test_each_function_is_run_once_or_twice(work: Counter[str]) -> None:
    functions = _nodes(ast.FunctionDef)
    assert functions <= work["functions run"] <= 1.25 * functions  # again where callers agree what they pass


def test_each_expression_is_evaluated_once_or_twice(work: Counter[str]) -> None:
    expressions = _nodes(ast.expr)
    assert work["expressions evaluated"] <= 1.25 * expressions


def test_a_file_leaves_nothing_behind() -> None:
    text = PROJECT["train.py"].encode()

    def alive() -> int:
        lint(text, "train.py")
        gc.collect()
        return len(gc.get_objects())

    alive()
    before = alive()
    for _ in range(5):
        last = alive()
    assert last - before < 50


def test_no_collector_is_needed_to_free_a_file() -> None:
    text = PROJECT["pkg/net.py"].encode()
    lint(text, "net.py")
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        for _ in range(5):
            lint(text, "net.py")
        left = len(gc.get_objects()) - before
    finally:
        gc.enable()
    assert left < 200, f"{left} objects wait for the garbage collector"


def test_what_assigns_attributes_is_run_before_what_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "import torch\n\n\nclass Scale:\n"
        "    def apply(self, x):\n        return x * self.scale\n\n"
        "    def fill(self):\n        self.scale = torch.ones(3)\n"
    )
    ran: list[str] = []
    original = File._run

    def run(self: File, function: Function, informed: Informed) -> Outcome:
        ran.append(function.own_name)
        return original(self, function, informed)

    monkeypatch.setattr(File, "_run", run)
    file = File(ast.parse(text), "scale")
    file.analyse()
    assert ran == ["fill", "apply"]
    file.release()


def test_a_text_is_split_into_lines_as_often_for_many_questions_as_for_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    original = Text.__init__

    def init(self: Text, text: str) -> None:
        made.append(text)
        original(self, text)

    monkeypatch.setattr(Text, "__init__", init)
    everything = Settings(selections=(Selection(select=("ALL",)),))

    def splits(loops: int) -> int:
        made.clear()
        head = "import torch\nfrom torch import nn\n\nmodel = nn.Linear(4, 1).cuda()\ntotal = 0.0\n"
        loop = (
            "for x in range(3):\n    loss = model(torch.ones(2, 4).cuda()).mean()\n    loss.backward()\n"
            "    total += loss.item()\n"
        )
        text = head + loop * loops
        found = lint(text.encode(), "f.py", everything)
        assert sum(each.code == "DEV504" for each in found) == loops
        return len(made)

    assert splits(2) == splits(20)


def _analysed(root: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch, *linted: str) -> list[str]:
    """The modules that one run over files of a project analyses, in order."""
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    analysed = []
    original = File.analyse

    def analyse(self: File) -> None:
        analysed.append(self.name)
        original(self)

    monkeypatch.setattr(File, "analyse", analyse)
    monkeypatch.chdir(root)
    options = ["--isolated", "--no-cache", "--jobs", "1", "-q", "--output-file", "found.txt"]
    assert cli.main(["--select", "ALL", *options, *linted]) != cli.FAILED
    return analysed


def test_what_rules_ask_of_a_file_that_others_asked_before_takes_no_analysis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "pyproject.toml": "",
        "a.py": "import torch\nfrom b import load\n\nx = load('x.pt')\n",
        "b.py": (
            "import torch\n\n\ndef load(path):\n    return torch.load(path)\n\n\n"
            "def first(x):\n    return x.cuda()\n"
        ),
    }
    assert sorted(_analysed(tmp_path, files, monkeypatch, ".")) == ["a", "b"]
    assert "b.py" in (tmp_path / "found.txt").read_text()


def test_a_file_in_a_circle_that_is_told_the_same_again_is_not_analysed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "pyproject.toml": "",
        "a.py": "import torch\nfrom b import half\n\n\ndef twice(x):\n    return half(x) * 4\n",
        "b.py": (
            "import torch\n\n\ndef half(x):\n    from a import twice\n\n"
            "    return x / 2 if len(x) else twice(x)\n"
        ),
    }
    # `b` is told nothing of `a` when `a` asks it, nor when both are found to ask each other; `a` is told the
    # same of `b` when it is linted as when it asked first.
    assert Counter(_analysed(tmp_path, files, monkeypatch, ".")) == {"a": 2, "b": 2}


def test_what_cannot_bring_a_name_by_a_star_is_not_analysed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "pyproject.toml": "",
        "parts/__init__.py": "from .one import *\nfrom .two import *\nfrom .three import *\n",
        "parts/one.py": "import torch\n\n\ndef first():\n    return torch.ones(2)\n",
        "parts/two.py": "import torch\n\n\ndef second():\n    return torch.ones(2)\n",
        "parts/three.py": "__all__ = ['third']\n\n\ndef third():\n    return first() + second()\n",
        "use.py": "import torch\nfrom parts import *\n\nx = second()\nx.to('cuda')\nstr(x)\n",
    }
    analysed = _analysed(tmp_path, files, monkeypatch, "use.py")
    assert "DEV101" in (tmp_path / "found.txt").read_text()  # what `second` gives is known to be a tensor
    assert sorted(set(analysed)) == ["parts", "parts.two", "use"]


def test_names_that_files_import_from_who_has_all_of_theirs_are_looked_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def followed(count: int) -> int:
        """How often names are followed in a package that has all names of so many of its files."""
        stars = "".join(f"from ring{count}.part{each} import *\n" for each in range(count))
        files = {"pyproject.toml": "", f"ring{count}/__init__.py": stars}
        for each in range(count):
            files[f"ring{count}/part{each}.py"] = (
                f"import torch\nfrom ring{count} import register\n\n\n"
                f"@register\ndef made{each}(x):\n    return x.to('cuda')\n"
            )
        times = Counter[str]()
        follow = View._follow

        def counted(*args: Any) -> Any:
            times["all"] += 1
            return follow(*args)

        with monkeypatch.context() as patch:
            patch.setattr(View, "_follow", counted)
            _analysed(tmp_path, files, monkeypatch, f"ring{count}/part0.py")
        return times["all"]

    assert followed(8) <= 2.3 * 2.3 * followed(4)  # each of so many files asks for what all may have


def test_uses_in_unused_code_are_not_followed_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked_at(count: int) -> int:
        """How many uses are looked at for one finding below four layers of so many functions each."""
        layers = [[f"l{layer}_{each}" for each in range(count)] for layer in range(4)]
        calls = {name: ", ".join(below) for below, above in pairwise(layers) for name in above}
        text = "import torch\n\n\ndef live(n):\n    return n\n" + "".join(
            f"\n\ndef {name}(n):\n    x = torch.rand(n)\n    x.to(0)\n    return [{calls.get(name, '')}]\n"
            for name in (layers[0][0], *(name for layer in layers[1:] for name in layer))
        )
        files = {"main.py": "import nets\n\nprint(nets.live(3))\n", "nets.py": text}
        times = Counter[int]()
        is_used, unused = Unused._is_used_at, Unused.unused

        def counted(*args: Any) -> bool:
            times[len(questions)] += 1
            return is_used(*args)

        questions = list[Any]()

        def asked(*args: Any) -> Any:
            questions.append(args)
            return unused(*args)

        with monkeypatch.context() as patch:
            patch.setattr(Unused, "_is_used_at", counted)
            patch.setattr(Unused, "unused", asked)
            _analysed(tmp_path, files, monkeypatch, "nets.py")
        return max(times.values())

    assert looked_at(3) < looked_at(8) <= 2.3 * looked_at(4)
