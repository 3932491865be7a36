"""Projects of several files: what is marked is found and nothing else, whoever is linted first."""

from __future__ import annotations

import ast
import gc
import random
import shutil
from pathlib import Path
from unittest.mock import Mock

import pytest

from devlint.commands.cli import main as main_program
from devlint.config.settings import Selection, Settings
from devlint.core.summary import ModuleSummary
from devlint.finding import Severity
from devlint.infer.file import File
from devlint.match.registry import severities
from devlint.project import disk, resolve, world
from devlint.project.disk import project
from devlint.project.index import Project, View
from devlint.project.mentions import Mentions
from devlint.run.lint import lint
from devlint.testing import marks

FOLDER = Path(__file__).parents[1] / "fixtures" / "projects"
PROJECTS = sorted(path.name for path in FOLDER.iterdir())
NOTES = tuple(code for code, severity in severities().items() if severity is Severity.NOTE)
EVERYTHING = Settings(selections=(Selection(select=("ALL",), ignore=NOTES),))
BROKEN = {
    "broken.py": b"def helper(:\n",
    "binary.py": b"\0\xff\xfe other = 1",
    "broken_package/__init__.py": b"class part(\n",
}
"""Files that no tool could read are not kept among the others."""
Found = list[tuple[int, str]]


def found(path: Path, around: Project) -> Found:
    findings = lint(path.read_bytes(), str(path), EVERYTHING._replace(lint_tests=True), project=around)
    return sorted((each.start.row, each.code) for each in findings if each.code != "DEV000")


@pytest.fixture(params=PROJECTS)
def files(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    """The files of a project that stands on its own."""
    root = tmp_path / request.param
    shutil.copytree(FOLDER / request.param, root, ignore=shutil.ignore_patterns("__pycache__"))
    if request.param == "broken":
        for name, raw in BROKEN.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_bytes(raw)
    return sorted(root.rglob("*.py"))


def test_what_is_marked_is_found_and_nothing_else(files: list[Path]) -> None:
    around = project()
    readable = [path for path in files if path.name not in ("broken.py", "binary.py")]
    wrong = {
        path.name: (places, wanted)
        for path in readable
        if "broken_package" not in path.parts
        and (places := found(path, around))
        != (wanted := sorted((each.row, each.code) for each in marks(path)))
    }
    assert not wrong


def test_severities(files: list[Path]) -> None:
    around = project()
    for path in (path for path in files if path.name not in ("broken.py", "binary.py")):
        wanted = {(each.row, each.code): each.severity for each in marks(path) if each.severity}
        if wanted:
            findings = lint(path.read_bytes(), str(path), EVERYTHING, project=around)
            assert {(each.start.row, each.code): each.severity.value for each in findings} == wanted


def test_a_file_says_the_same_alone_and_among_others(files: list[Path]) -> None:
    alone = {path: found(path, project()) for path in files}
    for seed in range(2):
        order = random.Random(seed).sample(files, len(files))
        around = project()
        assert {path: found(path, around) for path in order} == alone


def test_a_file_says_the_same_after_any_other(files: list[Path]) -> None:
    alone = {path: found(path, project()) for path in files}
    for index in range(len(files)):
        around = project()
        for path in (*files[index:], *files[:index]):
            assert found(path, around) == alone[path], files[index].name


def test_every_project_has_something_to_find(files: list[Path]) -> None:
    assert any("# DEV" in path.read_text(encoding="utf-8", errors="replace") for path in files)


def test_files_of_the_same_name_in_other_folders_are_others(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.py").write_text("import torch\nfrom net import move\nmove(torch.ones(4))\n")
    (tmp_path / "one" / "net.py").write_text("def move(x):\n    return x.to(0)\n")
    around = project()
    assert around.view(str(tmp_path / "one" / "main.py")).find("net.move") is not None
    assert around.view(str(tmp_path / "two" / "main.py")).find("net.move") is None


def test_modules_beside_programs_are_one_project_without_a_mark(tmp_path: Path) -> None:
    (tmp_path / "data" / "sets").mkdir(parents=True)
    (tmp_path / "main.py").write_text("from data.sets.pairs import Pairs\n")
    (tmp_path / "data" / "loading.py").write_text("")
    pairs = tmp_path / "data" / "sets" / "pairs.py"
    pairs.write_text("class Pairs:\n    def __getitem__(self, index):\n        return index.to(0)\n")
    assert resolve.Layout().module_name(str(pairs)) == "data.sets.pairs"
    view = project().view(str(tmp_path / "main.py"))
    assert view.find("data.sets.pairs.Pairs.__getitem__") is not None


def test_the_root_of_a_copy_is_where_its_licence_lies(tmp_path: Path) -> None:
    for name in ("models/nets/one.py", "training/nets/run.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("")
    run = str(tmp_path / "training/nets/run.py")
    assert resolve.Layout().find("models.nets.one", run) is None
    (tmp_path / "LICENSE").write_text("")
    found = resolve.Layout().find("models.nets.one", run)
    assert found is not None
    assert found.path == str(tmp_path / "models/nets/one.py")
    (tmp_path / "training/pyproject.toml").write_text("")
    assert resolve.Layout().find("models.nets.one", run) is None


def test_a_package_is_meant_where_a_module_beside_the_importer_is_called_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "agent" / "deep").mkdir(parents=True)
    for name in ("agent/deep/agent.py", "agent/deep/run.py", "run.py", "LICENSE"):
        (tmp_path / name).write_text("")
    inside = str(tmp_path / "agent/deep/run.py")
    for importer in (inside, str(tmp_path / "run.py")):
        found = resolve.Layout().find("agent.deep.agent.Agent", importer)
        assert found == (str(tmp_path / "agent/deep/agent.py"), "Agent")
    assert resolve.Layout().find("agent.Agent", inside) == (str(tmp_path / "agent/deep/agent.py"), "Agent")
    assert resolve.Layout().find("agent.Agent.act", inside) == (
        str(tmp_path / "agent/deep/agent.py"),
        "Agent.act",
    )


def test_a_project_may_be_imported_by_the_name_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "kit" / "data").mkdir(parents=True)
    (tmp_path / "kit" / "setup.py").touch()
    (tmp_path / "kit" / "data" / "pairs.py").write_text("def pair(x):\n    return x.to(0)\n")
    view = project().view(str(tmp_path / "kit" / "main.py"))
    assert view.find("kit.data.pairs.pair") is not None
    assert view.find("kit.kit.data.pairs.pair") is None
    assert view.find("other.data.pairs.pair") is None


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        ("setup.py", "from setuptools import setup\nsetup(name='speech-kit', version='1')\n"),
        ("setup.cfg", "[metadata]\nname = speech-kit\n"),
        ("pyproject.toml", '[project]\nname = "speech-kit"\n'),
    ],
)
def test_a_project_may_be_imported_by_the_name_that_it_declares(tmp_path: Path, mark: str, text: str) -> None:
    (tmp_path / "checkout" / "data").mkdir(parents=True)
    (tmp_path / "checkout" / mark).write_text(text)
    (tmp_path / "checkout" / "data" / "pairs.py").write_text("def pair(x):\n    return x.to(0)\n")
    view = project().view(str(tmp_path / "checkout" / "main.py"))
    assert view.find("speech_kit.data.pairs.pair") is not None
    assert view.find("other.data.pairs.pair") is None


def test_what_is_large_and_has_no_mark_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolve, "_MAX_FOLDERS", 2)
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "module.py").touch()
    (tmp_path / "main.py").touch()
    assert resolve.Layout().files(str(tmp_path)) == ()
    (tmp_path / "pyproject.toml").touch()
    assert len(resolve.Layout().files(str(tmp_path))) == 4


def test_each_file_is_analysed_once_though_others_ask_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever comes first: a file that is linted later, or one that asks for it."""
    helper = "import torch\n\n\ndef move(x):\n    x.cuda()\n    return x.to(0)\n"
    main = "import torch\nfrom {0} import move\n\nx = torch.ones(4)\nmove(x)\nx.cuda()\n"
    for name in ("a_helper", "z_helper"):
        (tmp_path / f"{name}.py").write_text(helper)
        (tmp_path / f"main_{name}.py").write_text(main.format(name))
    (tmp_path / "pyproject.toml").touch()
    analysed: list[str] = []
    analyse = File.analyse

    def counted(file: File) -> None:
        analysed.append(file.name)
        analyse(file)

    monkeypatch.setattr(File, "analyse", counted)
    monkeypatch.setattr("devlint.visit.visitor.visit", lambda *args: [])  # what rules ask is another matter
    main_program(["--select", "ALL", "--isolated", str(tmp_path)])
    assert sorted(analysed) == ["a_helper", "main_a_helper", "main_z_helper", "z_helper"]


def test_no_file_leaves_circles_of_objects_behind(files: list[Path]) -> None:
    around = project()
    for path in files:
        found(path, around)  # what is imported and kept for the whole run
    runs = [project() for _ in files]
    gc.collect()
    gc.freeze()  # what is there by now need not be looked through after each file
    gc.disable()
    try:
        for path, run in zip(files, runs, strict=True):
            found(path, run)
            assert gc.collect() == 0, path.name
    finally:
        gc.enable()
        gc.unfreeze()


def test_a_file_that_is_linted_is_read_and_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "main.py"
    path.write_text("import torch\nx = torch.ones(3)\nx.to('cuda')\n", encoding="utf-8")
    reads = Mock(side_effect=world.raw_of)
    parses = Mock(side_effect=ast.parse)
    monkeypatch.setattr(disk, "raw_of", reads)
    monkeypatch.setattr(ast, "parse", parses)
    assert [code for _, code in found(path, project())] == ["DEV101", "DEV202"]
    assert reads.call_count == 1
    assert parses.call_count == 1


def test_who_asks_is_analysed_again_only_where_something_else_is_defined(tmp_path: Path) -> None:
    texts = {
        "make.py": "import torch\n\n\ndef make():\n    return torch.ones(3)\n",
        "hand.py": "from make import make\n\n\ndef hand():\n    return make()\n",
        "main.py": "from hand import hand\n\nx = hand()\nx.to('cuda')\nprint(x)\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    files = project(lambda path: texts.get(Path(path).name))
    analysed: list[str] = []
    summarise_as_before = files._summarise

    def summarise(tree: ast.Module, name: str, view: View) -> ModuleSummary:
        analysed.append(name)
        return summarise_as_before(tree, name, view)

    files._summarise = summarise

    def codes() -> list[str]:
        analysed.clear()
        main = tmp_path / "main.py"
        return [each.code for each in lint(texts["main.py"], str(main), project=files)]

    assert "DEV101" in codes()
    assert sorted(analysed) == ["hand", "make"]
    texts["make.py"] = f"# comment\n\n{texts['make.py']}"
    files.renew(str(tmp_path / "make.py"))
    assert "DEV101" in codes()
    assert not analysed
    texts["make.py"] = texts["make.py"].replace("torch.ones(3)", "object()")
    files.renew(str(tmp_path / "make.py"))
    assert "DEV101" not in codes()
    assert "hand" in analysed


@pytest.mark.parametrize(("naming", "severity"), [(5, Severity.NOTE), (4, Severity.WARNING)])
def test_a_library_that_hardly_ever_chooses_runs_on_cuda(
    tmp_path: Path, naming: int, severity: Severity
) -> None:
    (tmp_path / "pyproject.toml").touch()
    files = {f"net{number}": "def f(x):\n    return x.cuda()\n" for number in range(naming)}
    files |= {"trainer": "if not torch.cuda.is_available():\n    print('slow')\n", "__init__": ""}
    (tmp_path / "net").mkdir()
    for name, text in files.items():
        (tmp_path / "net" / f"{name}.py").write_text(f"import torch\n\n{text}")
    path = tmp_path / "net" / "net0.py"
    (found,) = lint(path.read_bytes(), str(path), EVERYTHING, project=project())
    assert (found.code, found.severity) == ("DEV201", severity)


def test_the_files_that_have_a_word_are_the_same_for_the_first_name_and_the_hundredth() -> None:
    texts = {
        "a.py": "net = Net2(net_)\nnet.net()\n",
        "b.py": "x = 'netz', été.net1, 1net\nénet = neté = 0\n",
        "c.py": "# a net\n",
        "d.py": "net",
    }
    names = ("net", "Net2", "net_", "net1", "nothing", "été", "1net")
    first = Mentions(texts, texts.get)
    later = Mentions(texts, texts.get)
    for number in range(200):
        assert later.of(f"name{number}") == []
    assert [later.of(name) for name in names] == [first.of(name) for name in names]
    assert first.of("net") == ["a.py", "c.py", "d.py"]
