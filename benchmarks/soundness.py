"""Compares what the inference says of expressions with what they are while a program runs.

    python benchmarks/soundness.py PROGRAM.py …            # programs, and the modules beside them
    python benchmarks/soundness.py --also FOLDER DRIVER.py # and those of a package that it uses

Each program runs on the simulated device, to its first mismatch if it has one; whatever the inference is sure
of (no guess by use: kinds, places, least dimensions) is compared each time that the expression is evaluated.
What is contradicted is printed with its place; the exit status is 1 if there is any.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import importlib.abc
import importlib.machinery
import json
import os
import signal
import subprocess
import sys
import tempfile
import types
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from devlint.core.places import Place
    from devlint.core.values import Value

_ENOUGH = 40
"""How often an expression is compared: loops go round with what they began with."""
_SEEN = "__soundness_seen__"
_PATIENCE = 420
"""Seconds that a program may take."""


class Told(NamedTuple):
    """What is said of one expression."""

    path: str
    line: int
    column: int
    text: str
    value: Value
    place: Place


# In the process of the program


class Book:
    """What is compared, and what came of it."""

    def __init__(self) -> None:
        from devlint.project.disk import project

        self.told: list[Told] = []
        self.counts: list[int] = []
        self.wrong: Counter[tuple[str, int, int, str, str]] = Counter()
        self.project = project()

    def seen(self, number: int, value: Any) -> Any:
        """Compare one value, and hand it on."""
        if self.counts[number] < _ENOUGH:
            self.counts[number] += 1
            told = self.told[number]
            problem = contradiction(told.value, told.place, value)
            if problem:
                self.wrong[told.path, told.line, told.column, told.text, problem] += 1
        return value

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "told": len(self.told),
            "seen": sum(map(bool, self.counts)),
            "wrong": [[*key, count] for key, count in self.wrong.items()],
        }


def contradiction(told: Value, place: Place, value: Any) -> str:
    """How a value differs from what is said of it; empty if it does not."""
    import torch

    from devlint.core.kinds import TENSORS, Kind
    from devlint.core.places import Form

    if told.kind in TENSORS and isinstance(value, tuple) and value:
        # What gives several tensors is taken for one: they are in one place.
        return next(filter(None, (contradiction(told, place, each) for each in value)), "")
    is_kind = _kinds().get(told.kind.name)
    if is_kind is not None and not is_kind(value):
        return f"{told.kind.value}, but {type(value).__module__}.{type(value).__qualname__}"
    if told.kind not in TENSORS or not isinstance(value, torch.Tensor):
        return ""
    on_cpu = value.device.type == "cpu"
    if place.form is Form.CPU and not on_cpu:
        return f"on the cpu, but on {value.device}"
    if place.form is Form.LITERAL and on_cpu:
        return f"on {place.name}, but on the cpu"
    if told.kind is Kind.TENSOR and told.origin is not None and value.dim() < told.origin.dims:
        return f"{told.origin.dims} dimensions or more, but {value.dim()}"
    return ""


def _kinds() -> dict[str, Callable[[Any], bool]]:
    """By kind, whether a value may be that."""
    import numpy as np
    import torch

    if not _KINDS:
        numbers = (int, float, complex, np.number, np.bool_)
        of = lambda *classes: lambda value: isinstance(value, classes)  # noqa: E731
        _KINDS.update(
            NONE=lambda value: value is None,
            NUMBER=of(*numbers, tuple),  # a shape is of numbers
            STRING=of(str, os.PathLike, bytes),
            TENSOR=of(torch.Tensor, torch.nn.utils.rnn.PackedSequence),
            SCALAR=lambda value: isinstance(value, torch.Tensor) and not value.dim(),
            PARAMETER=of(torch.Tensor),
            MODULE=of(torch.nn.Module),
            OPTIMIZER=of(torch.optim.Optimizer),
            DEVICE=of(torch.device, str, int),
            DTYPE=of(torch.dtype, str),
            GENERATOR=of(torch.Generator, torch._C.Generator),
            ARRAY=lambda value: isinstance(value, (np.ndarray, *numbers)),
            CONTAINER=lambda value: not isinstance(value, (torch.Tensor, *numbers)),
            FUNCTION=callable,
            CLASS=of(type),
            INSTANCE=lambda value: not isinstance(value, (torch.Tensor, *numbers)),
            OTHER=lambda value: not isinstance(value, (torch.Tensor, torch.nn.Module)),
        )
    return _KINDS


_KINDS: dict[str, Callable[[Any], bool]] = {}


class _Watched(ast.NodeTransformer):
    """Hands on every expression of which something is known."""

    def __init__(self, number: Callable[[ast.expr], int | None]) -> None:
        self._number = number

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, (ast.JoinedStr, ast.pattern)):
            return node
        number = self._number(node) if isinstance(node, ast.expr) and _can_be_given(node) else None
        self.generic_visit(node)
        if number is None or not isinstance(node, ast.expr):
            return node
        called = ast.Call(ast.Name(_SEEN, ast.Load()), [ast.Constant(number), node], [])
        return ast.fix_missing_locations(ast.copy_location(called, node))

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """All but annotations, which tools read as they are written."""
        for name, old in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            if isinstance(old, list):
                old[:] = [self.visit(each) if isinstance(each, ast.AST) else each for each in old]
            elif isinstance(old, ast.AST):
                setattr(node, name, self.visit(old))
        return node


def _can_be_given(node: ast.expr) -> bool:
    if isinstance(node, (ast.Constant, ast.Starred, ast.Slice, ast.Yield, ast.YieldFrom, ast.Await)):
        return False
    if isinstance(node, ast.Tuple) and any(isinstance(each, ast.Slice) for each in node.elts):
        return False
    return isinstance(getattr(node, "ctx", None), (ast.Load, type(None)))


def watched(path: str, source: str, book: Book) -> types.CodeType:
    """The code of a file, with its expressions compared."""
    from devlint.bind.text import Text
    from devlint.infer.file import File
    from devlint.infer.observe import Observer
    from devlint.infer.record import _Book, _Recording
    from devlint.infer.room import with_room
    from devlint.infer.settle import Settled

    tree = ast.parse(source)
    view = book.project.view(path)
    recorded = _Book()
    file = File(tree, view.name, view, partial(_Recording, recorded))
    with_room(file.analyse)
    observer = Observer(Settled(file), Text(source))

    def number(node: ast.expr) -> int | None:
        known = recorded.values.get(node)
        if known is None or known[0].kind.name in ("UNKNOWN", "BATCH", "LIBRARY", "MOVES_IN_PLACE"):
            return None
        if not observer.seen(*known[:2], node, known[2]).certain:
            return None
        text = (ast.get_source_segment(source, node) or "").split("\n")[0][:60]
        book.told.append(Told(path, node.lineno, node.col_offset, text, known[0], known[1]))
        book.counts.append(0)
        return len(book.told) - 1

    return compile(_Watched(number).visit(tree), path, "exec", dont_inherit=True)


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, book: Book) -> None:
        super().__init__(name, path)
        self._book = book

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        source = self.get_source(fullname) or ""
        try:
            return watched(path, source, self._book)
        except (SyntaxError, RecursionError):
            return compile(source, path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of some folders."""

    def __init__(self, folders: Sequence[str], book: Book) -> None:
        self._folders = tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)
        self._book = book

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        origin = spec.origin if spec is not None else None
        if (
            spec is None
            or origin is None
            or not isinstance(spec.loader, importlib.machinery.SourceFileLoader)
        ):
            return None
        if not os.path.realpath(origin).startswith(self._folders):
            return None
        spec.loader = _Loader(name, origin, self._book)
        return spec


class _TooLong(BaseException):
    """A program takes longer than anybody waits: what came of it so far counts."""


def _stop(number: int, frame: object) -> None:
    raise _TooLong


def watch(programs: Sequence[str], folders: Sequence[str], report: str) -> None:
    """Run programs in this process, one after the other, and write what came of it."""
    book = Book()
    setattr(builtins, _SEEN, book.seen)
    paths = [os.path.abspath(program) for program in programs]
    also = [os.path.abspath(folder) for folder in folders]
    beside = [*dict.fromkeys(map(os.path.dirname, paths)), *also]
    sys.meta_path.insert(0, _Finder(beside, book))
    sys.path[:0] = dict.fromkeys(map(os.path.dirname, [*paths, *also]))
    os.chdir(os.path.dirname(report))  # what programs save goes with the report's folder
    import torch

    signal.signal(signal.SIGALRM, _stop)
    for path in paths:
        torch.set_default_device(None)
        code = watched(path, Path(path).read_text(), book)
        main = types.ModuleType("__main__")
        main.__file__ = path
        sys.modules["__main__"] = main
        sys.argv = [path]
        signal.alarm(_PATIENCE)
        try:
            exec(code, main.__dict__)
        except (Exception, SystemExit, _TooLong) as error:
            print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)
        finally:
            signal.alarm(0)
            Path(report).write_text(json.dumps(book.as_json()))


# In the process that starts them


def main() -> int:
    """Print what is contradicted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--also", action="append", default=[], metavar="FOLDER", help="watch its modules too")
    parser.add_argument("--together", action="store_true", help="run all in one process, which is faster")
    parser.add_argument("--report", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.report:
        watch(given.programs, given.also, given.report)
        return 0
    told = seen = 0
    wrong: Counter[tuple[Any, ...]] = Counter()
    groups = [given.programs] if given.together else [[program] for program in given.programs]
    for programs in groups:
        found = _run(programs, given.also)
        if found is None:
            print(f"{programs[0]}: nothing came of it", file=sys.stderr)
            continue
        told, seen = told + found["told"], seen + found["seen"]
        for *key, count in found["wrong"]:
            wrong[tuple(key)] += count
    for (path, line, column, text, problem), count in sorted(wrong.items()):
        print(f"{path}:{line}:{column + 1}: `{text}`: {problem} ({count} times)")
    print(f"{seen} expressions of {told} were evaluated; {len(wrong)} contradict what is said of them")
    return 1 if wrong else 0


def _run(programs: Sequence[str], folders: Sequence[str]) -> dict[str, Any] | None:
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        also = [word for each in folders for word in ("--also", each)]
        command = [
            sys.executable,
            "-m",
            "devlint",
            "run",
            "--stop",
            __file__,
            "--report",
            report,
            *also,
            *programs,
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=2 * _PATIENCE * len(programs)
            )
        except subprocess.TimeoutExpired:
            return None
        print(done.stderr, end="", file=sys.stderr)
        if not os.path.exists(report):
            return None
        result: dict[str, Any] = json.loads(Path(report).read_text())
        return result


if __name__ == "__main__":
    sys.exit(main())
