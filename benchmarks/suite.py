"""Runs another project's tests for CUDA on the cpu and on the simulated device, and compares how each ends.

    git clone https://github.com/kornia/kornia && git -C kornia checkout b4f5a78a
    pip install ./kornia pytest hypothesis
    python benchmarks/suite.py kornia tests/losses tests/metrics

prints for each folder how many tests passed, failed and were skipped on the cpu (`--device cpu`) and on the
simulated device (`--devlint-sim --device cuda`), and every test that ended otherwise there, with the first
line of what it says. The options are those of kornia; others can be given: `--cpu "…" --sim "…"`. The exit
status is 1 if a test failed on the device and not on the cpu.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

_OUTCOMES = ("passed", "failed", "skipped")


class Result(NamedTuple):
    """How a test ended."""

    outcome: str
    said: str
    """The first line of an error, or why it was skipped."""


class Suite(NamedTuple):
    """One run of pytest."""

    tests: dict[str, Result]
    """By name, without the device."""
    seconds: float


def main() -> int:
    """Print the table and the differences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("project", type=Path, help="the project's checkout")
    parser.add_argument("folders", nargs="+", help="folders of tests in it")
    parser.add_argument("--cpu", default="--device cpu", help="options of pytest for the cpu")
    parser.add_argument("--sim", default="--devlint-sim --device cuda", help="those for the simulated device")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds that a folder has")
    given = parser.parse_args()
    print("| folder | cpu: passed, failed, skipped | simulated | seconds | ended otherwise |")
    print("| --- | --- | --- | --- | --- |")
    other: list[str] = []
    worse = False
    for folder in given.folders:
        cpu, sim = (_run(given.project, folder, options, given.timeout) for options in (given.cpu, given.sim))
        differ = [name for name in cpu.tests | sim.tests if _outcome(cpu, name) != _outcome(sim, name)]
        cells = [
            folder,
            _counts(cpu),
            _counts(sim),
            f"{cpu.seconds:.0f}, {sim.seconds:.0f}",
            str(len(differ)),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
        for name in differ:
            worse |= _outcome(sim, name) == "failed"
            said = sim.tests[name].said if name in sim.tests else "it is not there"
            other.append(f"- `{name}`: {_outcome(cpu, name)} on the cpu, {_outcome(sim, name)} here: {said}")
    print("\n".join(["", *other]))
    return 1 if worse else 0


def _outcome(suite: Suite, name: str) -> str:
    return suite.tests[name].outcome if name in suite.tests else "absent"


def _counts(suite: Suite) -> str:
    counts = Counter(result.outcome for result in suite.tests.values())
    return ", ".join(str(counts[outcome]) for outcome in _OUTCOMES)


def _run(project: Path, folder: str, options: str, timeout: float) -> Suite:
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.xml")
        command = [
            sys.executable,
            "-m",
            "pytest",
            folder,
            "-q",
            "-p",
            "no:cacheprovider",
            f"--junitxml={report}",
        ]
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [*command, *options.split()],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        if not report.exists():
            raise SystemExit(
                f"{folder}: pytest ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
        found = ElementTree.parse(report).getroot()
    tests: dict[str, Result] = {}
    for case in found.iter("testcase"):
        # A device is part of a parametrized test's name.
        name = re.sub(r"\b(cpu|cuda)(:0)?\b", "DEVICE", f"{case.get('classname')}::{case.get('name')}")
        tests[name] = _result(case)
    return Suite(tests, sum(float(each.get("time", 0)) for each in found.iter("testsuite")))


def _result(case: ElementTree.Element) -> Result:
    for tag, outcome in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        part = case.find(tag)
        if part is not None:
            return Result(outcome, (part.get("message") or "").splitlines()[0][:200])
    return Result("passed", "")


if __name__ == "__main__":
    sys.exit(main())
