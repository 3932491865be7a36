"""Calls a function in a child process, so that an abort inside torch costs its answer and nothing else."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

TIMEOUT = 120.0
FORKS = sys.platform == "linux"
"""Whether a process that has imported torch can be forked: macOS's frameworks and Windows forbid it."""


class Lost(NamedTuple):
    """A child process that gave no answer."""

    status: str
    """`died` or `hung`."""
    message: str


_START = """\
import sys
sys.path[:] = eval(sys.argv.pop(1))
import runpy
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""


def python(module: str) -> list[str]:
    """Return the command that runs a module of devlint in a fresh interpreter.

    It imports from where this process does: `-m` would look into the current folder first.
    """
    return [sys.executable, "-c", _START, repr([folder for folder in sys.path if folder]), module]


def call(function: Callable[[], Any]) -> Any:
    """What `function` returns, as JSON carries it, or `Lost`."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _answer(function, writer)
    os.close(writer)
    data, hung = _read(reader)
    os.close(reader)
    if hung:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if hung:
        return Lost("hung", f"after {TIMEOUT:.0f} s")
    if data:
        return json.loads(data)
    code = os.waitstatus_to_exitcode(status)
    return Lost("died", signal.Signals(-code).name if code < 0 else f"exit code {code}")


def silence() -> None:
    """Send what this process prints nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    warnings.simplefilter("ignore")


def _answer(function: Callable[[], Any], writer: int) -> None:
    """The child's side of a call; never returns."""
    try:
        silence()
        os.write(writer, json.dumps(function()).encode() + b"\n")
    finally:
        os._exit(1)  # not through the parent's exit handlers; whoever got an answer does not ask for the code


def _read(reader: int) -> tuple[bytes, bool]:
    """The line that the child writes, and whether it took too long."""
    data = b""
    # Not until the end of the file: a child's own children may keep the pipe open.
    while not data.endswith(b"\n"):
        if not select.select([reader], [], [], TIMEOUT)[0]:
            return data, True
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            return b"", False
        data += chunk
    return data, False
