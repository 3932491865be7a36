"""The process that runs programs on one device: `python -m devlint.runtime.worker DEVICE`.

Jobs come in as one JSON list on standard input; a line of JSON goes out for the device, then one for
every job. Each program runs in a process of its own, so that neither an abort inside torch nor a
program's changes to torch reach the next. Forking after the import of torch makes that cheap; where
forking is unsafe each job gets a fresh interpreter.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings
from typing import TYPE_CHECKING, Any, TypedDict, cast

from .isolate import FORKS, TIMEOUT, Lost, call, python, silence
from .program import Outcome, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from .program import Job


HARDWARE = ("cuda", "xpu", "mps")
"""The devices that a machine has or has not."""


class Device(TypedDict, total=False):
    """The first line of a worker: the device it runs on; others may come before it."""

    doing: str
    """What it does that takes long; then nothing else is said, and another such line follows."""

    unavailable: str
    """Why it does not; then nothing else is said."""
    torch: str
    name: str
    count: int
    tested: bool
    """Whether devlint's own tests were run with this release of torch."""


def main() -> int:
    """Run the jobs on standard input."""
    device, *options = sys.argv[1:]
    out = os.dup(1)  # programs print to nowhere

    def say(message: object) -> None:
        if not options:
            _send(out, message)

    about = _prepare(device, lambda text: say({"doing": text}))
    say(about)
    if "unavailable" in about:
        return 0
    jobs: list[Job] = json.load(sys.stdin)
    if options == ["--one"]:
        silence()
        _send(out, _run(jobs[0]))
        return 0
    for job in jobs:
        _send(out, _isolated(device, job))
    return 0


def _send(out: int, message: object) -> None:
    os.write(out, json.dumps(message).encode() + b"\n")


def _prepare(device: str, tell: Callable[[str], object]) -> Device:
    """Import torch and set the device up; `tell` hears of what takes long."""
    if device != "cuda":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    warnings.simplefilter("ignore")
    try:
        import torch
    except Exception as error:
        return {"unavailable": f"torch cannot be imported ({type(error).__name__}: {error})"}
    from .releases import TESTED

    if FORKS and device in ("cpu", "sim"):
        # The first optimizer imports it, which would cost every child a second. Not with a GPU: an import
        # that only asks for one makes CUDA refuse to work in children.
        importlib.import_module("torch._dynamo")
    torch.set_num_threads(1)
    name, count = device, 1
    if device in HARDWARE:
        found = _ask(functools.partial(_look_for, device))
        if isinstance(found, Lost):
            return {"unavailable": f"looking for a device {found.status} ({found.message})"}
        count, name = found
        if not count:
            return {"unavailable": f"torch {torch.__version__} sees no {device.upper()} device"}
    if device not in ("cpu", "cuda") and (problem := _stand_in(device, tell)):
        cannot = "simulate a device" if device == "sim" else f"run programs for CUDA on {device}"
        return {"unavailable": f"torch {torch.__version__} cannot {cannot}: {problem}"}
    tested = torch.__version__.partition("+")[0] in TESTED
    return {"torch": torch.__version__, "name": name, "count": count, "tested": tested}


def _look_for(device: str) -> tuple[int, str]:
    """How many devices of a kind there are, and what the first is called."""
    import torch

    module: Any = torch.get_device_module(device)
    if not module.is_available():
        return 0, ""
    named: Any = torch.backends.mps.get_name if device == "mps" else module.get_device_name
    return module.device_count(), named()


def _stand_in(device: str, tell: Callable[[str], object]) -> str:
    """Let programs written for CUDA run on another device in this process; why they cannot, or nothing."""
    from .releases import missing

    if device == "sim" and (lacking := missing(tell)):
        return lacking
    answer = _ask(functools.partial(_try_out, device))
    if isinstance(answer, Lost):
        return f"the trial run {answer.status} ({answer.message})"
    problem = str(answer)
    if FORKS and not problem:
        install(device)  # the trial had it in its own process only
    return problem


def install(device: str, count: int = 1) -> None:
    """Present a device other than CUDA as CUDA in this process, for good; of `sim` there may be several."""
    import torch

    from . import backend, facade

    if device == "sim":
        backend.install()
    facade.install(torch.device(device, 0), count)


def _try_out(device: str) -> str:
    install(device)
    from .trial import run_trial

    return run_trial()


def _ask(question: Callable[[], Any]) -> Any:
    """Answer a question that would spoil this process for forking: any to a GPU, any that needs `sim`."""
    return call(question) if FORKS else question()


def _isolated(device: str, job: Job) -> Outcome:
    if not FORKS:
        return _spawn(device, job)
    outcome = call(functools.partial(_run, job))
    return {"status": outcome.status, "message": outcome.message} if isinstance(outcome, Lost) else outcome


def _spawn(device: str, job: Job) -> Outcome:
    command = [*python(__spec__.name), device, "--one"]
    given = json.dumps([job])
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return {"status": "hung", "message": f"after {TIMEOUT:.0f} s"}
    try:
        return cast("Outcome", json.loads(done.stdout))
    except ValueError:
        return {"status": "died", "message": f"exit code {done.returncode}"}


def _run(job: Job) -> Outcome:
    import torch

    from . import stand_in

    stand_in.count = job.get("devices", 1)
    random.seed(0)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        try:
            return run(job)
        finally:
            os.chdir(os.sep)


if __name__ == "__main__":
    sys.exit(main())
