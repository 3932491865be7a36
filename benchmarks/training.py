"""Runs the training programs of `programs/` on the cpu and on the simulated device; compares their losses.

    python benchmarks/training.py                  # all, as a table
    python benchmarks/training.py diffusion speech # some

Each program prints its losses as JSON on its last line. `equal` means equal in every bit; otherwise the
largest relative difference is told. What `devlint run` finds, or cannot simulate, stands in the last column.
CPU seconds include the start. The exit status is 1 if a program computes something else on the device, or if
devlint finds anything in one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_PROGRAMS = Path(__file__).parent / "programs"
_ROUNDING = 1e-4
"""Relative difference of losses up to which it is rounding: sums are taken in another order."""


class Ran(NamedTuple):
    """How a program ended."""

    status: int
    losses: list[float] | None
    """None if it came to no end."""
    seconds: float
    """User CPU time."""
    said: str


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", help="which programs (default: all)")
    parser.add_argument("--folder", type=Path, default=_PROGRAMS, help="where they are")
    given = parser.parse_args()
    paths = sorted(given.folder.glob("*.py"))
    wrong = 0
    print("| program | cpu: last loss | simulated | difference | CPU s | |")
    print("| --- | --- | --- | --- | --- | --- |")
    for path in paths:
        if given.names and path.stem not in given.names:
            continue
        cpu, sim = _run([str(path)]), _run(["-m", "devlint", "run", str(path)])
        difference = _difference(cpu.losses, sim.losses)
        told = "" if cpu.status == sim.status == 0 else (sim if cpu.status == 0 else cpu).said
        far = difference is not None and difference > _ROUNDING
        wrong += sim.status == 1 or (cpu.status == 0 and far)
        cells = [
            path.stem,
            _last(cpu.losses),
            _last(sim.losses),
            "" if difference is None else "equal" if not difference else f"{difference:.0e}",
            f"{cpu.seconds:.1f}, {sim.seconds:.1f}",
            told,
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
    return 1 if wrong else 0


def _run(arguments: list[str]) -> Ran:
    environment = {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "ignore",
    }
    before = os.times().children_user
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=_PATIENCE)
    seconds = os.times().children_user - before
    found = [line for line in done.stdout.splitlines() if line.startswith("[") and line.endswith("]")]
    said = (done.stderr.strip().splitlines() or [""])[-1]
    return Ran(done.returncode, json.loads(found[-1]) if found else None, seconds, said)


_PATIENCE = 600.0
"""Seconds that a program has."""


def _difference(one: list[float] | None, other: list[float] | None) -> float | None:
    if one is None or other is None:
        return None
    if len(one) != len(other):
        return float("inf")
    return max(
        (abs(a - b) / max(abs(a), 1e-6) for a, b in zip(one, other, strict=True) if a != b), default=0.0
    )


def _last(losses: list[float] | None) -> str:
    return f"{losses[-1]:.6g}" if losses else ""


if __name__ == "__main__":
    sys.exit(main())
