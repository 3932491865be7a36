"""`pytest --devlint-sim`: a project's tests for CUDA, run on the simulated device.

Every pytest of the environment imports this module: it imports torch and the simulation when asked to.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

_asked = 0
"""How many devices are simulated."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("devlint", "GPU tests without a GPU")
    group.addoption(
        "--devlint-sim", action="store_true", help="let torch.cuda be a simulated accelerator of devlint"
    )
    group.addoption(
        "--devlint-sim-devices", type=int, default=1, metavar="N", help="simulate N of them (default: 1)"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Simulate the device, if asked to, before anything of the project asks torch for one."""
    known = early_config.known_args_namespace
    if known.devlint_sim:
        _simulate(known.devlint_sim_devices, early_config.pluginmanager.getplugin("capturemanager"))


def pytest_report_header() -> str | None:
    """Say that there is no GPU."""
    if not _asked:
        return None
    import torch

    devices = "a simulated device" if _asked == 1 else f"{_asked} simulated devices"
    return f"devlint: cuda is {devices}, torch {torch.__version__}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, None]:
    """Skip what the simulation cannot answer, and let errors say what they say on a GPU."""
    if not _asked:
        yield
        return
    from . import wording
    from .limit import NotSimulated

    if call.excinfo is not None:
        wording.present(call.excinfo.value)
    outcome = yield
    met, NotSimulated.met = NotSimulated.met, ""
    if call.excinfo is not None and met:
        report = outcome.get_result()
        if report.outcome == "failed":
            handled = not _is_limit(call.excinfo.value)
            _skip(report, item.location, f"{met}, which the test went on after" if handled else met)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, None]:
    """Skip a module that needs at its import what the simulation cannot answer."""
    outcome = yield
    if not _asked:
        return
    from .limit import NotSimulated

    report = outcome.get_result()
    met, NotSimulated.met = NotSimulated.met, ""
    if report.outcome == "failed" and met:
        _skip(report, (collector.nodeid, 0, ""), met)


def _skip(report: Any, location: tuple[str, int | None, str], reason: str) -> None:
    path, line, _ = location
    report.outcome = "skipped"
    report.longrepr = (os.path.abspath(path), (line or 0) + 1, f"Skipped: devlint: {reason}")


def _is_limit(error: BaseException) -> bool:
    from .limit import NotSimulated

    return isinstance(error, NotSimulated)


def _simulate(count: int, capture: Any) -> None:
    global _asked
    if count < 1:
        raise pytest.UsageError("--devlint-sim-devices: there must be one at least")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    try:
        import torch
    except ImportError as error:
        raise pytest.UsageError(f"--devlint-sim needs torch: {error}") from None
    from .releases import missing

    if torch.cuda.is_initialized():
        raise pytest.UsageError("--devlint-sim: something has used a GPU before pytest started")
    with contextlib.nullcontext() if capture is None else capture.global_and_fixture_disabled():
        lacking = missing()  # what it says of compiling is to be seen at once
    if lacking:
        raise pytest.UsageError(
            f"--devlint-sim: torch {torch.__version__} cannot simulate a device: {lacking}"
        )
    from . import worker

    worker.install("sim", count)
    _asked = count
    _hide_frames()
    import unittest.case

    for judge in (type(pytest.raises(NotImplementedError)), unittest.case._AssertRaisesContext):
        _let_hear_cuda(judge)


def _hide_frames() -> None:
    """Keep the simulation out of tracebacks, as torch's C++ is."""
    for name, module in list(sys.modules.items()):
        if name.startswith("devlint.runtime."):
            module.__dict__["__tracebackhide__"] = True


def _let_hear_cuda(judge: Any) -> None:
    """Let what compares messages compare those that a GPU gives."""
    from . import wording

    leave = judge.__exit__

    def __exit__(self: Any, kind: Any, error: Any, traceback: Any) -> Any:
        __tracebackhide__ = True
        wording.present(error)
        return leave(self, kind, error, traceback)

    judge.__exit__ = __exit__
