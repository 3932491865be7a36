"""Runs one program to its end in this process and tells, as plain data, what came of it."""

from __future__ import annotations

import os
import sys
import types
from typing import TYPE_CHECKING, TypedDict

from .reached import Watch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

_LONGEST = 300
"""Characters kept of a message: some of torch's list every operator."""


class Job(TypedDict):
    """A program to run."""

    path: str
    source: str
    """What is run; it may differ from the file at `path`."""
    setup: str
    """Run before it."""
    expressions: list[str]
    """Evaluated in the program's globals after it ran."""
    devices: int
    """How many devices there are, where they are simulated."""
    marked: list[int]
    """The lines that are watched."""


class Outcome(TypedDict, total=False):
    """What came of a program."""

    status: str
    """`ran`, `raised`, `died` (the process was lost) or `hung`."""
    error: list[str]
    """The exception's class and its bases, by name."""
    message: str
    """The first line of its message, or how the process died."""
    line: int
    """The last line of the program that it passed through, 0 if none."""
    lacks: str
    """The package whose absence it was, if it was that."""
    values: dict[str, str]
    """The `repr` of every expression."""
    reached: list[int]
    """Which of the watched lines were run."""


def run(job: Job) -> Outcome:
    """Run a program as `python PATH` would; what lies beside it is no substitute for installed modules."""
    module = types.ModuleType("__main__")
    module.__file__ = job["path"]
    sys.modules["__main__"] = module
    sys.argv = [job["path"]]
    sys.path.append(os.path.dirname(os.path.abspath(job["path"])))
    exec(job["setup"], {})
    watch = Watch(job["path"], job["source"], job.get("marked", []))
    with watch:
        outcome = _outcome(job, module)
    if job.get("marked"):
        outcome["reached"] = watch.reached()
    return outcome


def _outcome(job: Job, module: types.ModuleType) -> Outcome:
    try:
        exec(compile(job["source"], job["path"], "exec"), module.__dict__)
    except SystemExit as error:
        if error.code not in (None, 0):
            return _raised(error, job["path"])
    except BaseException as error:
        return _raised(error, job["path"])
    return {"status": "ran", "values": _evaluate(job["expressions"], module)}


def _evaluate(expressions: Sequence[str], module: types.ModuleType) -> dict[str, str]:
    return {expression: _value(expression, module) for expression in expressions}


def _value(expression: str, module: types.ModuleType) -> str:
    try:
        return repr(eval(expression, module.__dict__))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _raised(error: BaseException, path: str) -> Outcome:
    lines = str(error).strip().splitlines() or [""]
    names = [cls.__name__ for cls in type(error).__mro__ if cls is not object]
    line = _line(error.__traceback__, path)
    outcome: Outcome = {"status": "raised", "error": names, "message": lines[0][:_LONGEST], "line": line}
    if package := _absent(error):
        outcome["lacks"] = package
    return outcome


def _absent(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return (error.name or "").partition(".")[0]
    # How torch says it of the one package that it uses if it is there (torch/csrc/utils/tensor_numpy.cpp).
    return "numpy" if isinstance(error, RuntimeError) and str(error) == "Numpy is not available" else ""


def _line(traceback: TracebackType | None, path: str) -> int:
    line = 0
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line
