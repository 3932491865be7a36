"""Says which conditions of the inference no program of `fixtures/` depends on.

    python benchmarks/mutants.py --sample 120 --seed 1
    python benchmarks/mutants.py --reach

A mutant is one `if` of `devlint/infer` whose condition is always true, or always false. It is noticed if any
program is then reported, cured, explained or revealed otherwise, if the inference raises, or if it takes too
long. Only programs that reach the `if` with another outcome are run. The survivors are listed by place; with
`--reach` nothing is mutated, and those are listed that no program could notice.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import pkgutil
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import devlint.infer
from devlint.config.settings import Selection, Settings
from devlint.infer.account import Account
from devlint.project.disk import project
from devlint.run.lint import lint

FIXTURES = Path(__file__).parents[1] / "fixtures"
EVERYTHING = Settings(selections=(Selection(select=("ALL",)),))
SECONDS = 20.0
"""A program that takes longer has noticed."""
HIT = "__hit__"


class Place(NamedTuple):
    """An `if`."""

    module: str
    line: int


class Mutant(NamedTuple):
    """An `if` whose condition has one outcome."""

    place: Place
    outcome: bool


Reach = dict[Place, set[bool]]
Program = Callable[[], object]


# Modules whose code can be replaced


class Mutable:
    """A module, its source, and the functions whose code can be replaced while it runs."""

    def __init__(self, module: ModuleType) -> None:
        assert module.__file__ is not None
        self.name = module.__name__
        self.path = module.__file__
        self.tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        self.functions = {each.__code__.co_qualname: each for each in _functions(module)}
        self.codes = {name: each.__code__ for name, each in self.functions.items()}

    @cached_property
    def ifs(self) -> list[ast.If]:
        """Every `if` inside of a function, `elif` included."""
        return [
            each
            for function in ast.walk(self.tree)
            if isinstance(function, (ast.FunctionDef, ast.Lambda))
            for each in ast.walk(function)
            if isinstance(each, ast.If)
        ]

    def install(self, change: Callable[[ast.If], ast.expr | None]) -> None:
        """Run on with other conditions, of the `if`s for which there is one."""
        tree = copy.deepcopy(self.tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and (test := change(node)) is not None:
                node.test = ast.copy_location(test, node.test)
        ast.fix_missing_locations(tree)
        for code in _codes(compile(tree, self.path, "exec", dont_inherit=True)):
            function = self.functions.get(code.co_qualname)
            if function is not None and code.co_freevars == function.__code__.co_freevars:
                function.__code__ = code

    def restore(self) -> None:
        """Run on as it is written."""
        for name, function in self.functions.items():
            function.__code__ = self.codes[name]


def _codes(code: CodeType) -> Iterator[CodeType]:
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from _codes(part)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    todo: list[object] = list(vars(module).values())
    for value in todo:
        inner = _plain(value)
        if isinstance(inner, FunctionType) and inner.__module__ == module.__name__:
            yield inner
        elif isinstance(inner, type) and inner.__module__ == module.__name__:
            todo += vars(inner).values()


def _plain(value: object) -> object:
    for name in ("__wrapped__", "__func__", "fget", "func"):
        value = getattr(value, name, value)
    return value


def modules() -> list[Mutable]:
    """Return the modules of the inference."""
    names = (info.name for info in pkgutil.walk_packages(devlint.infer.__path__, "devlint.infer."))
    return [Mutable(module) for module in (devlint.infer, *map(importlib.import_module, names))]


# Programs


def programs() -> dict[str, Program]:
    """Return what is observed of each program."""
    found: dict[str, Program] = {}
    for path in sorted(FIXTURES.glob("infer/*.py")):
        found[str(path.relative_to(FIXTURES))] = lambda path=path: _revealed(path)  # type: ignore[misc]
    for path in sorted(FIXTURES.glob("[Dp]*/*.py")):
        found[str(path.relative_to(FIXTURES))] = lambda path=path: _reported(path)  # type: ignore[misc]
    for path in sorted(FIXTURES.glob("related/*.py")):
        found[str(path.relative_to(FIXTURES))] = lambda path=path: _explained(path)  # type: ignore[misc]
    for path in sorted((*FIXTURES.glob("related/*.py"), *FIXTURES.glob("infer/*.py"))):
        found[f"explained: {path.relative_to(FIXTURES)}"] = lambda path=path: _told(path)  # type: ignore[misc]
    for folder in sorted(FIXTURES.glob("projects/*")):
        found[str(folder.relative_to(FIXTURES))] = lambda folder=folder: [  # type: ignore[misc]
            _reported(path, project()) for path in sorted(folder.rglob("*.py"))
        ]
    return found


def _revealed(path: Path) -> object:
    return devlint.infer.infer(path.read_text(encoding="utf-8")).reveals


def _reported(path: Path, around: Any = None) -> object:
    found = lint(path.read_bytes(), str(path), EVERYTHING, project=around)
    return [(each.start, each.code, each.severity, each.fix) for each in found]


def _explained(path: Path) -> object:
    return [each.related for each in lint(path.read_bytes(), str(path), EVERYTHING)]


def _told(path: Path) -> object:
    account = Account(text := path.read_text(encoding="utf-8"), ast.parse(text))
    rows = range(1, text.count("\n") + 1)
    said = [(account.told(row), account.is_reached(row)) for row in rows]
    return said, list(account.tensors(1, len(rows)))


class _TooLong(BaseException):
    """A program takes too long."""


def observe(program: Program) -> object:
    """Return what is observed, or what it raises."""

    def ring(*_: object) -> None:
        raise _TooLong

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return program()
    except (Exception, _TooLong) as error:
        return type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


# The experiment


def reach(every: list[Mutable], run: dict[str, Program]) -> dict[str, Reach]:
    """Return which outcomes each `if` has in each program."""
    hits: Reach = {}

    def hit(name: str, line: int, value: object) -> object:
        hits.setdefault(Place(name, line), set()).add(bool(value))
        return value

    for module in every:

        def noted(node: ast.If, name: str = module.name) -> ast.expr:
            given: list[ast.expr] = [ast.Constant(name), ast.Constant(node.lineno), node.test]
            return ast.Call(ast.Name(HIT, ast.Load()), given, [])

        vars(sys.modules[module.name])[HIT] = hit
        module.install(noted)
    found: dict[str, Reach] = {}
    for name, program in run.items():
        hits.clear()
        observe(program)
        found[name] = {place: set(outcomes) for place, outcomes in hits.items()}
    for module in every:
        module.restore()
    return found


def notices(
    mutant: Mutant, module: Mutable, affected: list[str], run: dict[str, Program], plain: dict[str, object]
) -> str:
    """Return the first program that notices a mutant; empty if none does."""
    module.install(lambda node: ast.Constant(mutant.outcome) if node.lineno == mutant.place.line else None)
    try:
        return next((name for name in affected if observe(run[name]) != plain[name]), "")
    finally:
        module.restore()


def main() -> int:
    """Run the experiment and print what it finds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, default=120, help="how many mutants; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="the modules whose name has this in it")
    parser.add_argument("--reach", action="store_true", help="list what no program could notice")
    options = parser.parse_args()
    every = modules()
    run = programs()
    for program in run.values():  # what is kept from the first time is no difference
        observe(program)
    plain = {name: observe(program) for name, program in run.items()}
    reached = reach(every, run)
    places = {Place(module.name, node.lineno) for module in every for node in module.ifs}
    mutants = [
        Mutant(place, outcome)
        for place in sorted(places)
        for outcome in (True, False)
        if options.only in place.module
    ]
    if options.reach:
        for place, outcome in mutants:
            if not any((not outcome) in hits.get(place, ()) for hits in reached.values()):
                print(f"{place.module.replace('.', '/')}.py:{place.line}: always {outcome}")
        return 0
    if options.sample:
        mutants = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
    by_name = {module.name: module for module in every}
    noticed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for number, mutant in enumerate(sorted(mutants), 1):
        other = not mutant.outcome
        affected = [name for name, hits in reached.items() if other in hits.get(mutant.place, ())]
        by = notices(mutant, by_name[mutant.place.module], affected, run, plain)
        total[mutant.place.module] += 1
        noticed[mutant.place.module] += bool(by)
        if sys.stderr.isatty():
            print(f"\r{number} of {len(mutants)}", end="", file=sys.stderr)
        if not by:
            why = f"{len(affected)} programs differ there" if affected else "no program differs there"
            path = mutant.place.module.replace(".", "/")
            print(f"{path}.py:{mutant.place.line}: always {mutant.outcome}: {why}", flush=True)
    for name in sorted(total):
        print(f"{name}: {noticed[name]} of {total[name]}")
    share = 100 * noticed.total() / max(total.total(), 1)
    print(f"{noticed.total()} of {total.total()} mutants are noticed ({share:.0f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
