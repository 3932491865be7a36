"""Runs cases on devices, each in a worker process of its own and all at the same time."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, cast

from .catalogue import concerns, expressions
from .isolate import python
from .worker import HARDWARE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .catalogue import Case
    from .program import Job, Outcome
    from .worker import Device

DEVICES = ("cpu", "sim", *HARDWARE)


class Run(NamedTuple):
    """What a worker said."""

    device: str
    about: Device
    outcomes: list[tuple[Case, Outcome]]


def run_all(
    devices: Sequence[str], cases: Sequence[Case], progress: Callable[[str, Case], None]
) -> list[Run]:
    """Run the cases on every device, which need not exist."""
    with ThreadPoolExecutor(len(devices)) as pool:
        return list(pool.map(lambda device: run(device, cases, progress), devices))


def run(device: str, cases: Sequence[Case], progress: Callable[[str, Case], None]) -> Run:
    """Run the cases on one device."""
    cases = [case for case in cases if concerns(case, device)]
    outcomes: list[tuple[Case, Outcome]] = []
    lines = _converse(device, [_job(case) for case in cases])
    about = cast("Device", next(lines))
    if "unavailable" in about:
        return Run(device, about, outcomes)
    for case in cases:
        progress(device, case)
        outcomes.append((case, cast("Outcome", next(lines))))
    return Run(device, about, outcomes)


def _job(case: Case) -> Job:
    setup = f"import torch; {case.claim.setup}"
    return {"path": case.path, "source": case.source, "setup": setup, "expressions": expressions(case)}


def _converse(device: str, jobs: list[Job]) -> Iterator[object]:
    """Everything a worker says; if it is lost, that it died, for ever."""
    command = [*python("devlint.runtime.worker"), device]
    with tempfile.TemporaryFile("w+") as errors:
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, text=True) as worker:
            assert worker.stdin is not None
            assert worker.stdout is not None
            try:
                # A worker that cannot use its device leaves without listening.
                with contextlib.suppress(BrokenPipeError):
                    json.dump(jobs, worker.stdin)
                with contextlib.suppress(BrokenPipeError):
                    worker.stdin.close()
                for line in worker.stdout:
                    yield json.loads(line)
            finally:
                worker.kill()
        errors.seek(0)
        last = (errors.read().strip().splitlines() or [f"exit code {worker.returncode}"])[-1]
    while True:
        yield {"unavailable": f"its worker died: {last}", "status": "died", "message": last}
