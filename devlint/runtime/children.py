"""Follows a program into the threads and processes that it starts; what is found there comes back by a file.

A forked process has the simulated device and is followed as it is. One that is spawned, or comes from a fork
server, begins anew: it is made to import this module first. Another program, Python's interpreter too, is not
followed.
"""

from __future__ import annotations

import contextlib
import functools
import json
import multiprocessing
import multiprocessing.forkserver
import multiprocessing.spawn
import os
import re
import signal
import subprocess
import tempfile
import threading
from typing import TYPE_CHECKING, Any

from ..claim import Cause
from ..finding import Position
from . import frames
from .frames import Place
from .limit import NotSimulated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .tracer import Event, Tracer

_VARIABLE = "DEVLINT_RUN"
_SIGNAL = getattr(signal, "SIGUSR2", None)
"""What tells the first process that it waits in vain; an interrupt may be ignored, as in the background."""
_PYTHON = re.compile(r"python[\d.]*(\.exe)?", re.IGNORECASE)
_INSTALLERS = frozenset({"pip", "ensurepip", "venv"})


class Abandoned(BaseException):
    """Another process has ended the program; no handler of its own is to catch it."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback."""
        return ["devlint: another process has ended the program"]


class Spool:
    """The file to which other processes write what they find, one line each."""

    def __init__(self, path: str, root: int) -> None:
        """Take where it is, and the process that reads it."""
        self.path = path
        self.root = root

    def write(self, row: object) -> None:
        """Add a line; several processes may do so at once."""
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, json.dumps(row).encode() + b"\n")
        finally:
            os.close(file)

    def rows(self) -> Iterator[Any]:
        """What was written."""
        try:
            with open(self.path, encoding="utf-8") as file:
                lines = file.read().splitlines()
        except OSError:
            return
        yield from map(json.loads, lines)

    def clear(self) -> None:
        """Forget what was written."""
        with contextlib.suppress(OSError):
            os.truncate(self.path, 0)

    def abandon(self) -> None:
        """End this process and the program: what it waits for will not come."""
        self.write(["abandoned", ""])
        if _SIGNAL is not None:
            os.kill(self.root, _SIGNAL)
        if os.getpid() != self.root:
            os._exit(1)


class Followed:
    """A program that is followed into its threads and processes."""

    def __init__(self, tracer: Tracer, options: dict[str, Any]) -> None:
        """Follow it from now on; the options are those of `install`, for the processes that begin anew."""
        self._tracer = tracer
        self._folder = tempfile.TemporaryDirectory(prefix="devlint-", ignore_cleanup_errors=True)
        self.spool = Spool(os.path.join(self._folder.name, "found"), os.getpid())
        self._of_loaders: Any = None
        self.give(options)
        os.register_at_fork(after_in_child=functools.partial(_report_to, self.spool, tracer))
        NotSimulated.told = functools.partial(_limited, self.spool)
        _follow(tracer, self.spool)

    def give(self, options: dict[str, Any]) -> None:
        """Let processes that begin anew from now on have these options."""
        given = {
            "spool": self.spool.path,
            "root": os.getpid(),
            "options": options,
            "own": frames.own_folders(),
        }
        os.environ[_VARIABLE] = json.dumps(given)
        if _SIGNAL is not None and threading.current_thread() is threading.main_thread():
            signal.signal(_SIGNAL, self._abandon)
            if self._of_loaders is not None:
                signal.signal(signal.SIGCHLD, self._of_loaders)

    def _abandon(self, number: int, frame: object) -> None:
        # Another worker that ends the program, and loaders, which raise wherever they hear of a lost worker,
        # would interrupt the report.
        signal.signal(number, _unheard)
        self._of_loaders = signal.signal(signal.SIGCHLD, _unheard)
        raise Abandoned

    def collect(self) -> bool:
        """Take over what other processes have found in the end; whether one of them has ended the program."""
        abandoned = self.take()
        self._folder.cleanup()
        return abandoned

    def take(self) -> bool:
        """Take over what other processes have found by now; whether one of them has ended the program."""
        abandoned = False
        for kind, row in self.spool.rows():
            if kind == "abandoned":
                abandoned = True
            elif kind == "limit":
                NotSimulated.meet(row)
            else:
                self._tracer.note(_event(row))
        self.spool.clear()
        return abandoned


def _unheard(number: int, frame: object) -> None:
    pass


def _follow(tracer: Tracer, spool: Spool) -> None:
    """What holds in every process of the program."""
    begin = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def _bootstrap_inner(self: threading.Thread) -> None:
        with tracer:
            begin(self)

    threading.Thread._bootstrap_inner = _bootstrap_inner  # type: ignore[attr-defined]

    multiprocessing.spawn.get_command_line = _command_line
    multiprocessing.forkserver.set_forkserver_preload([f"{__package__}.preloaded"])
    start = subprocess.Popen.__init__

    @functools.wraps(start)
    def __init__(self: Any, args: Any, *others: Any, **options: Any) -> None:
        if _is_python(args):
            frame = frames.innermost()
            if frame is not None:
                place = frames.place_of(frame)
                said = "not simulated: another process of Python, which has no simulated device"
                NotSimulated.meet(f"{said} ({place.path}:{place.start.row})")
        start(self, args, *others, **options)

    subprocess.Popen.__init__ = __init__  # type: ignore[method-assign]


def _is_python(args: Any) -> bool:
    words = (
        args.split() if isinstance(args, str) else [args] if isinstance(args, (bytes, os.PathLike)) else args
    )
    words = [os.fsdecode(word) for word in words if isinstance(word, (str, bytes, os.PathLike))]
    if not words or not _PYTHON.fullmatch(os.path.basename(words[0])):
        return False
    return _INSTALLERS.isdisjoint(words[1:3]) and words[1:] not in (["-V"], ["--version"])


def _limited(spool: Spool, said: str) -> None:
    """Tell the first process of a limit; in a thread that feeds a queue, no error would come to anybody."""
    if os.getpid() != spool.root:
        spool.write(["limit", said])
    if threading.current_thread().name == "QueueFeederThread":
        spool.abandon()


def _report_to(spool: Spool, tracer: Tracer) -> None:
    """Let this process, which is not the first, say what it finds."""
    NotSimulated.met = ""
    NotSimulated.told = functools.partial(_limited, spool)
    tracer.tell = lambda event: spool.write(["event", _row(event)])
    tracer.leave = spool.abandon


def _command_line(**given: Any) -> list[str]:
    """The command of a spawned process: `multiprocessing.spawn.get_command_line`, which is followed."""
    said = ", ".join(f"{name}={value!r}" for name, value in given.items())
    options = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    program = f"import sys; sys.path.append({_HOME!r}); from {__name__} import spawned; spawned({said})"
    return [
        os.fsdecode(multiprocessing.spawn.get_executable()),
        *options,
        "-c",
        program,
        "--multiprocessing-fork",
    ]


_HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def spawned(**given: Any) -> None:
    """Begin in a process that was spawned: `multiprocessing.spawn.spawn_main`, which is followed."""
    with join():
        multiprocessing.spawn.spawn_main(**given)


def join() -> Tracer:
    """Simulate the device in this process, and say to the first process what is found."""
    from .following import install

    given = json.loads(os.environ[_VARIABLE])
    for folder in given["own"]:
        frames.own(folder)
    spool = Spool(given["spool"], given["root"])
    tracer = install(**given["options"])
    _follow(tracer, spool)
    _report_to(spool, tracer)
    return tracer


def _row(event: Event) -> list[Any]:
    return [event.cause.name, event.place, event.message, event.reason, event.notes]


def _event(row: list[Any]) -> Event:
    from .tracer import Event

    cause, place, message, reason, notes = row
    return Event(
        Cause[cause], _place(place), message, reason, tuple((_place(at), note) for at, note in notes)
    )


def _place(row: list[Any]) -> Place:
    path, start, end = row
    return Place(path, Position(*start), Position(*end))
