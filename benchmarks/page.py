"""Write docs/benchmarks.md: what devlint costs beside other tools, measured in one go.

usage: python benchmarks/page.py --setup                  makes the other tools' environments
       python benchmarks/page.py FOLDER... [--slow NAME]  runs everything and writes the page and its plot

Every tool runs as a user would start it, with its default rules and without configuration, on one folder
after the other; of each row the best of several runs counts, a long run is not repeated. TorchFix takes
minutes for a large folder: it runs on the folders that `--slow` names.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from corpus import count_lines
from speed import CLEAN, PEERS, setup

ROOT = Path(__file__).parent.parent
BUG = CLEAN + "\nmodel.eval()\nextra = torch.zeros(2, 8)\nextra.to(device)\nprint(model(extra))\n"
REQUIREMENTS = (*(PEERS[name] for name in ("TorchFix", "ruff")), "flake8==7.3.0")
LONG = 20.0
"""Seconds from which a run is not repeated."""
START_UP_RUNS = 5


class Variant(NamedTuple):
    """One row: a program, and how it is started."""

    name: str
    command: tuple[str, ...]
    slow: bool = False
    warm: bool = False
    """Whether a run before it, which does not count, fills its cache."""
    color: str = "#8a8f98"


class Cost(NamedTuple):
    """What a run took."""

    wall: float
    cpu: float
    memory: float
    """Megabytes, of the largest process."""


def variants(python: str, peers: Path, cache: Path) -> list[Variant]:
    """Return the rows; another build of devlint is another row with its interpreter."""
    devlint = (python, "-m", "devlint", "check", "--isolated", "--exit-zero")
    own = "#1f6feb"
    found = [
        Variant("devlint, one process", (*devlint, "--no-cache", "-j", "1"), color=own),
        Variant("devlint, two processes", (*devlint, "--no-cache", "-j", "2"), color=own),
        Variant("devlint, warm", (*devlint, "--cache-dir", str(cache), "-j", "1"), warm=True, color=own),
        Variant(
            "ruff, all cores", (str(peers / "ruff/bin/ruff"), *["check", "--isolated", "--no-cache", "-e"])
        ),
        Variant(
            "flake8, pyflakes alone",
            (str(peers / "flake8/bin/flake8"), *["--isolated", "--select", "F", "--exit-zero", "-j", "1"]),
        ),
        Variant("TorchFix", (str(peers / "torchfix/bin/torchfix"), "-j", "1"), slow=True),
    ]
    return [each for each in found if Path(each.command[0]).exists()]


def run(command: tuple[str, ...], cwd: Path) -> Cost | None:
    """Run a command to its end; return nothing where it failed."""
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        print(f"exit code {process.returncode}: {' '.join(command)}", file=sys.stderr)
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6)


def best(variant: Variant, paths: list[str], runs: int, cwd: Path) -> Cost | None:
    """Return the least of several runs, each measure by itself."""
    if variant.warm:
        run((*variant.command, *paths), cwd)
    costs: list[Cost] = []
    for _ in range(runs):
        cost = run((*variant.command, *paths), cwd)
        if cost is None:
            return None
        costs.append(cost)
        if cost.wall >= LONG:
            break
    return Cost(*map(min, zip(*costs, strict=True)))


def first_line(command: list[str]) -> str:
    """Return what a program says its version is."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.partition("\n")[0]


def machine(python: str, peers: Path) -> str:
    """Describe what the figures hold for."""
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        rows = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((row.partition(": ")[2] for row in rows if row.startswith("model name")), model)
    versions = [first_line([python, "-m", "devlint", "--version"]), first_line([python, "--version"])]
    known = [name for name in ("ruff", "flake8", "torchfix") if (peers / name).exists()]
    versions += [each.replace("==", " ") for each in REQUIREMENTS if each.split("==")[0] in known]
    return f"{model}, {os.cpu_count()} cores; {platform.system()}; {', '.join(versions)}"


def plot(title: str, rows: list[tuple[str, float, str]]) -> str:
    """Return bars, one a row, as SVG; lengths are proportional."""
    top = max(value for _, value, _ in rows)
    height = 46 + 26 * len(rows)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{height}" font-family="sans-serif"'
        ' font-size="13">',
        f'<rect width="720" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="24" font-weight="bold">{title}</text>',
    ]
    for number, (name, value, color) in enumerate(rows):
        y = 40 + 26 * number
        width = max(2.0, 420 * value / top)
        lines += [
            f'<text x="12" y="{y + 14}">{name}</text>',
            f'<rect x="190" y="{y}" width="{width:.1f}" height="18" rx="2" fill="{color}"/>',
            f'<text x="{196 + width:.1f}" y="{y + 14}">{value:.2f} s</text>',
        ]
    return "\n".join([*lines, "</svg>\n"])


def main() -> int:
    """Read the command line, measure, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--slow", action="append", default=[], metavar="NAME", help="folders for TorchFix")
    parser.add_argument("--setup", action="store_true", help="make the peers' environments first")
    default = Path(tempfile.gettempdir()) / "devlint-peers"
    parser.add_argument("--peers", type=Path, default=default, metavar="DIR", help="where those are")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has devlint")
    parser.add_argument("--best", type=int, default=3, metavar="N", help="runs to take the best of")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "benchmarks.md", metavar="FILE")
    options = parser.parse_args()
    if options.setup:
        setup(options.peers, REQUIREMENTS)
    if not options.folders:
        return 0 if options.setup else parser.error("name the folders to lint")
    begin = os.getloadavg()[0]
    table, bars = [], []
    with tempfile.TemporaryDirectory() as scratch:
        cwd = Path(scratch)
        rows = variants(options.python, options.peers, cwd / "cache")
        for folder in (each.resolve() for each in options.folders):
            lines = count_lines(folder)
            for variant in rows:
                if variant.slow and folder.name not in options.slow:
                    continue
                shutil.rmtree(cwd / "cache", ignore_errors=True)
                cost = best(variant, [str(folder)], options.best, cwd)
                if cost is None:
                    table.append(f"| {folder.name} | {lines:,} | {variant.name} | failed | | |")
                    continue
                table.append(
                    f"| {folder.name} | {lines:,} | {variant.name} | {cost.wall:.2f} | {cost.cpu:.2f} "
                    f"| {cost.memory:,.0f} |"
                )
                print(table[-1], flush=True)
                if folder.name == (options.slow or [options.folders[0].name])[0]:
                    bars.append((variant.name, cost.wall, variant.color))
        single = []
        floor = Variant("`python -c 'import ast, re'`", (options.python, "-c", "import ast, re"))
        for name, text in (("clean", CLEAN), ("with one finding", BUG)):
            file = cwd / f"{name.split()[-1]}.py"
            file.write_text(text)
            for variant in (floor, *rows):
                shutil.rmtree(cwd / "cache", ignore_errors=True)
                paths = [] if variant is floor else [str(file)]
                cost = best(variant, paths, START_UP_RUNS, cwd)
                if cost is not None and "two" not in variant.name:
                    single.append(
                        f"| {name} | {variant.name} | {cost.wall * 1000:.0f} | {cost.cpu * 1000:.0f} "
                        f"| {cost.memory:.0f} |"
                    )
    end = os.getloadavg()[0]
    about = machine(options.python, options.peers)
    folder = (options.slow or [options.folders[0].name])[0]
    options.output.with_suffix(".svg").write_text(plot(f"{folder}: seconds until the report is there", bars))
    options.output.write_text(
        PAGE.format(
            about=about,
            date=time.strftime("%Y-%m-%d"),
            begin=begin,
            end=end,
            best=options.best,
            folder=folder,
            table="\n".join(table),
            single="\n".join(single),
            plot=options.output.with_suffix(".svg").name,
        )
    )
    return 0


PAGE = """\
# Benchmarks

`python benchmarks/page.py` wrote this page on {date}: {about}.

The load of the machine was {begin:.1f} when it began and {end:.1f} when it ended. Where that is more than a
run needs itself, other work shared the cores: then wall time says little by itself, and CPU time more. Of
each row the best of {best} runs counts; a run of more than twenty seconds is not repeated.

![{folder}]({plot})

## Packages

Each tool with its own default rules: ruff and flake8 have none about devices and are here for scale, and
TorchFix looks for other things in the same code. "Warm" is a run after another in which nothing has changed.
Memory is that of the largest process, in megabytes.

| package | lines | tool | wall s | CPU s | MB |
|---|---:|---|---:|---:|---:|
{table}

## One file

What an editor or a hook waits for.

| file | tool | wall ms | CPU ms | MB |
|---|---|---:|---:|---:|
{single}

## Compiled

The inference, the part that most of the time goes into, was compiled with mypyc (mypy 2.4.1) and compared
with the same sources as they are, in CPU seconds of one process: timm 10.4 and 7.7, accelerate 6.1 and 4.9,
with the same findings. For that, `functools.cached_property` had to be written out, as compiled classes do
not keep what it computes. A fifth to a quarter less time is not worth a wheel for each platform and version
of Python, and a second run of all tests: devlint is one wheel of pure Python, and what makes it faster is not
to do work twice.
"""

if __name__ == "__main__":
    sys.exit(main())
