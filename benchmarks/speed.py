"""Time devlint against TorchFix and torch-preflight: CPU seconds on one core, all in one run.

usage: python benchmarks/speed.py --setup          makes the other tools' environments
       python benchmarks/speed.py FOLDER...        prints a Markdown table

Seconds are user + system time of the process and its children, the best of several runs; a run that
is long enough to be its own average is not repeated. Every tool runs as a user would start it, with
its default rules and output, but without a cache. A tool that fails gets no time.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from corpus import count_lines

PEERS = {"TorchFix": "torchfix==0.7.0", "torch-preflight": "torch-preflight==0.5.0", "ruff": "ruff==0.17.5"}
OLDER_PYTHONS = ("python3.13", "python3.12", "python3.11", "python3.10")
LONG_ENOUGH = 20.0
"""CPU seconds from which a run is not repeated."""
START_UP_RUNS = 15

CLEAN = '''\
"""A training step with nothing wrong in it."""

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.zeros(32, 8), torch.zeros(32, 2)))

for inputs, targets in loader:
    inputs, targets = inputs.to(device), targets.to(device)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
'''


class Tool(NamedTuple):
    """A program to time: what to write before the paths, and the exit codes of a run that worked."""

    name: str
    command: list[str]
    accepts: tuple[int, ...] = (0, 1)


def cpu_seconds(command: list[str], cwd: Path) -> tuple[float, int]:
    """Run a command pinned to one core; return its CPU seconds, children included, and its exit code."""

    def pin() -> None:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    environment = {**os.environ, "RAYON_NUM_THREADS": "1", "NO_COLOR": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # who installs a tool has its bytecode
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=pin,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, process.returncode


def best(tool: Tool, arguments: list[str], runs: int, cwd: Path) -> float | None:
    """Return the least CPU seconds of several runs, or nothing if the tool failed."""
    least = float("inf")
    for _ in range(runs):
        seconds, code = cpu_seconds([*tool.command, *arguments], cwd)
        if code not in tool.accepts:
            print(f"{tool.name} failed with exit code {code} on {' '.join(arguments)}", file=sys.stderr)
            return None
        least = min(least, seconds)
        if seconds >= LONG_ENOUGH:
            break
    return least


def setup(folder: Path, requirements: Iterable[str] = tuple(PEERS.values())) -> None:
    """Give each peer an environment of its own; TorchFix pins a LibCST without wheels for Python 3.14."""
    python = sys.executable
    if sys.version_info >= (3, 14):
        python = next(filter(None, map(shutil.which, OLDER_PYTHONS)), sys.executable)
    for requirement in requirements:
        target = folder / requirement.split("==")[0]
        subprocess.run([python, "-m", "venv", "--clear", str(target)], check=True)
        subprocess.run([str(target / "bin" / "pip"), "install", "--quiet", requirement], check=True)
        print(f"{requirement} in {target}")


def peers(folder: Path) -> list[Tool]:
    """Return the tools that `setup` installed."""
    found = [
        Tool("TorchFix", [str(folder / "torchfix/bin/torchfix"), "-j", "1"]),
        Tool("torch-preflight", [str(folder / "torch-preflight/bin/torch-preflight"), "check", "-j", "1"]),
        Tool("ruff", [str(folder / "ruff/bin/ruff"), "check", "--isolated", "--no-cache"]),
    ]
    return [tool for tool in found if Path(tool.command[0]).exists()]


def row(folder: str, lines: int, tool: str, seconds: float | None, ours: float | None) -> str:
    """Return one line of the table."""
    if seconds is None:
        return f"| {folder} | {lines:,} | {tool} | failed | | |"
    ratio = f"{seconds / ours:,.2f}" if ours else ""
    return f"| {folder} | {lines:,} | {tool} | {seconds:.2f} | {lines / seconds:,.0f} | {ratio} |"


def compare(folders: list[Path], devlint: Tool, others: list[Tool], runs: int, cwd: Path) -> None:
    """Print what each tool needs on each folder, and on all of them together."""
    print("| package | lines | tool | CPU s | lines/s | CPU s / devlint's |")
    print("|---|---:|---|---:|---:|---:|")
    total: dict[str, list[float | None]] = {tool.name: [] for tool in (devlint, *others)}
    all_lines = 0
    for folder in folders:
        lines = count_lines(folder)
        all_lines += lines
        for tool in (devlint, *others):
            total[tool.name].append(best(tool, [str(folder)], runs, cwd))
            last = total[tool.name][-1]
            print(row(folder.name, lines, tool.name, last, total[devlint.name][-1]), flush=True)
    sums = {
        name: sum(filter(None, seconds)) if None not in seconds else None for name, seconds in total.items()
    }
    for name, seconds in sums.items():
        print(row("**all**", all_lines, name, seconds, sums[devlint.name]))


def start_up(devlint: Tool, others: list[Tool], python: str, cwd: Path) -> None:
    """Print what one clean file that uses torch costs, against an interpreter that only parses."""
    file = cwd / "clean.py"
    file.write_text(CLEAN)
    floor = Tool("`python -c 'import ast, re'`", [python, "-c", "import ast, re"], (0,))
    least = best(floor, [], START_UP_RUNS, cwd)
    print("\n| one clean file | CPU ms | python = 1 |")
    print("|---|---:|---:|")
    for tool in (floor, devlint._replace(accepts=(0,)), *others):
        seconds = least if tool is floor else best(tool, [str(file)], START_UP_RUNS, cwd)
        if seconds is None or least is None:
            print(f"| {tool.name} | failed | |")
        else:
            print(f"| {tool.name} | {seconds * 1000:.0f} | {seconds / least:.1f} |")


def main() -> int:
    """Read the command line and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--setup", action="store_true", help="make the peers' environments first")
    default = Path(tempfile.gettempdir()) / "devlint-peers"
    parser.add_argument("--peers", type=Path, default=default, metavar="DIR", help="where those are")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has devlint")
    parser.add_argument("--best", type=int, default=3, metavar="N", help="runs to take the best of")
    options = parser.parse_args()
    if options.setup:
        setup(options.peers)
    if not options.folders:
        if not options.setup:
            parser.error("name the folders to lint")
        return 0
    if missing := [str(folder) for folder in options.folders if not folder.is_dir()]:
        parser.error(f"no such folder: {', '.join(missing)}")
    devlint = Tool("devlint", [options.python, "-m", "devlint", "check", "--isolated", "--no-cache"])
    others = peers(options.peers.resolve())
    if len(others) < len(PEERS):
        print("some peers are not installed: run with --setup", file=sys.stderr)
    version = subprocess.run([options.python, "--version"], capture_output=True, text=True).stdout.strip()
    print(
        f"{version}, {platform.machine()}, one core, best of {options.best}; {', '.join(PEERS.values())}.\n"
    )
    with tempfile.TemporaryDirectory() as scratch:
        cwd = Path(scratch)
        compare([folder.resolve() for folder in options.folders], devlint, others, options.best, cwd)
        start_up(devlint, others, options.python, cwd)
    return 0


if __name__ == "__main__":
    sys.exit(main())
