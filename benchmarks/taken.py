"""Takes one move, or one device, away from right programs, and asks whether what then fails is found.

    python benchmarks/taken.py                  # those of fixtures/idioms
    python benchmarks/taken.py train.py eval.py

Each program has to run on the simulated device; what is left of it does so, too, or stops where devices mix.
The table counts the errors and warnings that the whole program did not have, by what was taken away; what is
missed is listed. The exit status is 1 if a program that runs to its end has a finding at all.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from devlint.config.settings import Selection, Settings
from devlint.finding import Severity
from devlint.project.disk import project
from devlint.run.lint import lint

IDIOMS = Path(__file__).parents[1] / "fixtures" / "idioms"
SETTINGS = Settings(selections=(Selection(select=("ALL",)),))
_MOVES = frozenset({"to", "cuda", "cpu", "type_as"})
_REGISTERS = "register_buffer"
_STOPS = ("same device", "device type")
"""What a program says that stops because of a device."""
_SERVER = """\
import json, os, signal, sys, types
from devlint.runtime import worker
worker.install("sim")
import numpy, torch
torch.set_num_threads(1)
for line in sys.stdin:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        said = ""
        try:
            module = sys.modules["__main__"] = types.ModuleType("__main__")
            exec(compile(json.loads(line), "program.py", "exec"), module.__dict__)
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode()[:4000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    print(json.dumps(said if status == 0 else "killed"), flush=True)
"""
"""Torch is imported once, and each program has a process of its own."""


class Mutant(NamedTuple):
    """A program from which something was taken away."""

    line: int
    what: str
    """The method or keyword that is gone."""
    text: str
    """What stood there."""
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """All programs that lack one thing."""
    rows = source.splitlines(keepends=True)
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row))

    def at(row: int, column: int) -> int:
        return starts[row - 1] + len(rows[row - 1].encode()[:column].decode())

    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        start, end = at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0)
        left = _without_call(node)
        if left is not None and isinstance(node.func, ast.Attribute):
            whole = source[:start] + left + source[end:]
            yield Mutant(node.lineno, node.func.attr, source[start:end], whole)
        for keyword in node.keywords:
            if keyword.arg == "device":
                fewer = ast.Call(
                    node.func, node.args, [each for each in node.keywords if each is not keyword]
                )
                whole = source[:start] + ast.unparse(fewer) + source[end:]
                yield Mutant(node.lineno, "device=", source[start:end], whole)


def _without_call(node: ast.Call) -> str | None:
    """What is left of a call that moves, or that registers a buffer; None for any other."""
    if not isinstance(node.func, ast.Attribute):
        return None
    owner = node.func.value
    if node.func.attr == _REGISTERS and len(node.args) > 1 and isinstance(node.args[0], ast.Constant):
        return f"{ast.unparse(owner)}.{node.args[0].value} = {ast.unparse(node.args[1])}"
    inherited = isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super"
    return ast.unparse(owner) if node.func.attr in _MOVES and not inherited else None


def findings(source: str, folder: Path) -> set[tuple[str, str]]:
    """The errors and warnings of a program, whatever the lines."""
    path = folder / "program.py"
    path.write_text(source, encoding="utf-8")
    found = lint(path.read_bytes(), str(path), SETTINGS, project=project())
    return {(each.code, each.message) for each in found if each.severity is not Severity.NOTE}


class Runner:
    """Runs programs on the simulated device."""

    def __init__(self, folder: str) -> None:
        environment = os.environ | {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", _SERVER]
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, cwd=folder, env=environment
        )

    def run(self, source: str) -> str:
        """What a program stops with; empty where it runs to its end."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(source) + "\n")
        self.process.stdin.flush()
        said: str = json.loads(self.process.stdout.readline())
        return said

    def close(self) -> None:
        """End the process."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, and what is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("programs", nargs="*", type=Path)
    paths = parser.parse_args(arguments).programs or sorted(IDIOMS.glob("*.py"))
    fails: Counter[str] = Counter()
    found: Counter[str] = Counter()
    missed: list[str] = []
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "pyproject.toml").write_text("")
        runner = Runner(scratch)
        for path in paths:
            source = path.read_text(encoding="utf-8")
            stops, before = runner.run(source), findings(source, folder)
            if stops:
                print(f"{path.name} does not run: {stops[:100]}", file=sys.stderr)
                continue
            wrong += [f"{path.name}: {code} {message}" for code, message in before]
            for mutant in mutants(source):
                stops = runner.run(mutant.source)
                if not any(words in stops for words in _STOPS):
                    continue
                fails[mutant.what] += 1
                if findings(mutant.source, folder) - before:
                    found[mutant.what] += 1
                else:
                    missed.append(f"{path.name}:{mutant.line}: `{mutant.text}`: {stops[:90]}")
        runner.close()
    print("| taken away | programs that fail | found |\n| --- | --- | --- |")
    for what in sorted(fails):
        print(f"| `{what}` | {fails[what]} | {found[what]} |")
    print(f"| all | {fails.total()} | {found.total()} |\n")
    print("\n".join([*missed, *wrong]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
