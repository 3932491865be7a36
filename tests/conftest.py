"""Rules and an inference of the tests' own, to test the shell whatever the real ones say; the wheel."""

from __future__ import annotations

import ast
import atexit
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

import devlint.infer
from devlint.core.events import At, Call, Why
from devlint.infer import Inference
from devlint.infer.file import File
from devlint.match import manifest, registry
from devlint.project.index import View
from devlint.source.text import split_rows
from devlint.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="devlint-tests-")  # of subprocesses too
os.environ["DEVLINT_NO_CACHE"] = "1"  # a test of the cache asks for it
os.environ["OMP_NUM_THREADS"] = "1"  # tests run in as many processes as there are cores
atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], ignore_errors=True)
# What runs in the background of a shell, or under nohup, ignores signals, and so would what the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.platform != "win32":
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
collect_ignore = ["acme"]  # an example package with tests of its own, which need it installed
ROOT = Path(__file__).parent.parent
BUILD = "from setuptools.build_meta import build_{0}; build_{0}({1!r})"


RULES = '''
"""Result that is thrown away

The page of a rule that the tests made up.
"""
from devlint.rule import Call, Change, Report, Rule, Severity, call, cst


class Discarded(Rule[Call]):
    code = "TST101"
    name = "discarded-result"
    watches = (call("Any.to", "Any.cuda"),)

    def visit(self, node, event, ask):
        target = node.func.value
        new = cst.Assign(targets=[cst.AssignTarget(target)], value=node)
        name = cst.Module([]).code_for_node(target)
        method = event.callee.partition(".")[2]
        change = Change(f"assign to `{name}`", ((node, new),), method == "to")
        yield Report(f"the result of `.{method}()` is thrown away", "It is a copy.", change=change)


class Noted(Rule[Call]):
    code = "TST501"
    name = "noted-call"
    severity = Severity.NOTE
    watches = (call("*"),)

    def visit(self, node, event, ask):
        yield Report(f"`.{event.callee.partition('.')[2]}()` is called")


class Broken(Rule[Call]):
    code = "TST901"
    name = "broken-rule"
    severity = Severity.WARNING
    watches = (call("*.explode"),)

    def visit(self, node, event, ask):
        raise ZeroDivisionError("it exploded")
'''


def span_of(node: ast.expr | ast.stmt, rows: list[str]) -> Span:
    """Return where a node stands; `ast` counts columns in bytes."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    places = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    (line, column), (end_line, end_column) = (
        (row, len(rows[row - 1].encode()[:offset].decode())) for row, offset in places
    )
    return Span(line, column, end_line, end_column)


def infer_and_keep(text: str, tree: ast.Module, **_: object) -> tuple[Inference, File]:
    """Observe every statement that is a method call, as a call of a method of anything."""
    found = []
    rows = split_rows(text)
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method)) as call):
                at = At(span_of(call, rows), "Call", "", Why(), 0, frozenset())
                found.append(Call(at, f"Any.{method}", None, {}, False, "discarded", frozenset()))
    return Inference(tuple(found), ()), File(tree)


@pytest.fixture
def provide(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Offer modules, by name and source, as the only rules that are installed."""
    entries: list[EntryPoint] = []
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: entries if group == registry.GROUP else []
    )

    def add(name: str, source: str) -> None:
        module = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(source, vars(module))
        entries.append(EntryPoint(name, name, registry.GROUP))

    monkeypatch.setattr(manifest, "folder", lambda: None)
    registry.forget()
    yield add
    registry.forget()


@pytest.fixture
def toy(provide: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lint with the tests' inference and rules."""
    provide("toy_rules", RULES)
    monkeypatch.setattr(devlint.infer, "infer_and_keep", infer_and_keep)
    monkeypatch.setattr(View, "events", lambda *_: None)  # what the project has learned of the file


def build(kind: str, source: Path, target: Path) -> Path:
    """Build the `sdist` or `wheel` of a source tree."""
    target.mkdir(exist_ok=True)
    subprocess.run([sys.executable, "-c", BUILD.format(kind, str(target))], cwd=source, check=True)
    (found,) = target.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return found


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what is released, without what the working tree holds beside it."""
    source = tmp_path_factory.mktemp("source")
    skip = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("devlint", "fixtures", "rules"):
        shutil.copytree(ROOT / name, source / name, ignore=skip)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, source)
    return source


@pytest.fixture(scope="session")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build an sdist from the sources and a wheel from the sdist, as an index's users get it."""
    work = tmp_path_factory.mktemp("build")
    shutil.copytree(source, work / "source")
    archive = build("sdist", work / "source", work / "sdist")
    with tarfile.open(archive) as tar:
        tar.extractall(work / "unpacked", filter="data")
    (unpacked,) = (work / "unpacked").iterdir()
    return build("wheel", unpacked, work / "wheel")


@pytest.fixture(scope="session")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of a third party's rules."""
    work = tmp_path_factory.mktemp("acme")
    shutil.copytree(ROOT / "tests" / "acme", work / "source")
    return build("wheel", work / "source", work / "wheel")
