"""Runs cases on devices, each in a worker process of its own and all at the same time."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, cast

from ..console import say
from .catalogue import concerns, expressions
from .isolate import python
from .worker import HARDWARE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TextIO

    from .catalogue import Case
    from .program import Job, Outcome
    from .worker import Device

_LEAVING = 10.0
"""Seconds that a worker has to leave, once it says no more."""
DEVICES = ("cpu", "sim", *HARDWARE)


class _Worker(NamedTuple):
    """A worker process, and the file with what it says to its user."""

    process: subprocess.Popen[str]
    errors: TextIO

    def stop(self) -> None:
        """End it and whatever it has started, at once."""
        if self.process.returncode is None:
            if sys.platform != "win32":
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
            self.process.wait()


class Run(NamedTuple):
    """What a worker said."""

    device: str
    about: Device
    outcomes: list[tuple[Case, Outcome]]


def run_all(
    devices: Sequence[str], cases: Sequence[Case], progress: Callable[[str, Case], None]
) -> list[Run]:
    """Run the cases on every device, which need not exist."""
    # The workers end before the threads that listen to them: an interrupt need not wait for any program.
    with ThreadPoolExecutor(len(devices)) as pool, contextlib.ExitStack() as stack:
        workers = [stack.enter_context(_started(device)) for device in devices]
        return list(pool.map(lambda device, worker: _run(device, worker, cases, progress), devices, workers))


def run(device: str, cases: Sequence[Case], progress: Callable[[str, Case], None]) -> Run:
    """Run the cases on one device."""
    with _started(device) as worker:
        return _run(device, worker, cases, progress)


def _run(device: str, worker: _Worker, cases: Sequence[Case], progress: Callable[[str, Case], None]) -> Run:
    cases = [case for case in cases if concerns(case, device)]
    outcomes: list[tuple[Case, Outcome]] = []
    lines = _converse(worker, [_job(case) for case in cases])
    about = cast("Device", next(lines))
    while "doing" in about:
        say(about["doing"])
        about = cast("Device", next(lines))
    if "unavailable" in about:
        return Run(device, about, outcomes)
    for case in cases:
        progress(device, case)
        outcomes.append((case, cast("Outcome", next(lines))))
    return Run(device, about, outcomes)


def _job(case: Case) -> Job:
    setup = f"import torch; {case.claim.setup}"
    return {
        "path": case.path,
        "source": case.source,
        "setup": setup,
        "expressions": expressions(case),
        "devices": case.devices,
        "marked": list(case.marked),
    }


@contextlib.contextmanager
def _started(device: str) -> Iterator[_Worker]:
    """Start a worker, and stop it in the end."""
    command = [*python("devlint.runtime.worker"), device]
    pipe = subprocess.PIPE
    with (
        tempfile.TemporaryDirectory(prefix="devlint-", ignore_cleanup_errors=True) as scratch,
        tempfile.TemporaryFile("w+") as errors,
    ):
        # In a session of its own: an interrupt from the terminal reaches this process alone, which then ends
        # the worker and its children together. Programs may swallow an interrupt.
        process = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=errors,
            text=True,
            cwd=scratch,
            env=_environment(scratch),
            start_new_session=True,
        )
        worker = _Worker(process, errors)
        try:
            yield worker
        finally:
            worker.stop()


def _environment(scratch: str) -> dict[str, str]:
    """Return the environment of a worker in a folder of its own.

    Where the user stands may hold a `devlint` or a `json.py` that is not what Python would import from an
    installation; what programs leave behind is removed with the folder.
    """
    environment = {**os.environ, "TMPDIR": scratch}
    if path := environment.get("PYTHONPATH"):
        environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, path.split(os.pathsep)))
    return environment


def _converse(worker: _Worker, jobs: list[Job]) -> Iterator[object]:
    """Everything a worker says; if it is lost, that it died, for ever."""
    process = worker.process
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdout as answers:
        # A worker that cannot use its device leaves without listening.
        with contextlib.suppress(BrokenPipeError):
            json.dump(jobs, process.stdin)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        for line in answers:
            yield json.loads(line)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_LEAVING)
    worker.stop()
    worker.errors.seek(0)
    last = (worker.errors.read().strip().splitlines() or [f"exit code {process.returncode}"])[-1]
    while True:
        yield {"unavailable": f"its worker died: {last}", "status": "died", "message": last}
