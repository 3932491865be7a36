"""`devlint verify`: runs every rule's programs with torch and compares what happens with the rule's claim."""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DevlintError
from . import report
from .catalogue import Case, Unproven, cases, find_fixtures
from .devices import DEVICES, Run, run_all
from .proof import Proof, Verdict, judge
from .worker import HARDWARE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INSTALL = "devlint verify runs programs with torch, which is not installed: pip install 'devlint[runtime]'"


def main(argv: Sequence[str]) -> int:
    """Run the command: 0 if every claim holds, 1 if one is false, 2 if nothing could be run."""
    options = _parser().parse_args(argv)
    try:
        if importlib.util.find_spec("torch") is None:
            raise DevlintError(INSTALL)
        if options.knowledge:
            from . import knowledge

            return knowledge.main(as_json=options.json)
        found, unproven = cases(options.codes, options.fixtures or find_fixtures())
    except DevlintError as error:
        print(f"devlint: {error}", file=sys.stderr)
        return 2
    runs = run_all(options.device or DEVICES, found, _progress(len(found)))
    proofs = prove(runs, unproven)
    _print(options, proofs, runs)
    return _status(options.device, runs, proofs)


def prove(runs: Sequence[Run], unproven: Sequence[Unproven]) -> list[Proof]:
    """Judge everything that was run, in the order of codes, programs and devices."""
    proofs = [judge(case, run.device, run.about, outcome) for run in runs for case, outcome in run.outcomes]
    proofs += [Proof(u.code, u.program, "", Verdict.FALSE, "", u.reason) for u in unproven]
    return sorted(proofs, key=_place)


def _place(proof: Proof) -> tuple[object, ...]:
    stem, _, line = proof.program.partition(":")
    pair = stem.removeprefix("bug").removeprefix("fixed")
    device = DEVICES.index(proof.device) if proof.device else -1
    return proof.code, pair != ".py", pair, bool(line), stem, int(line or 0), device


def _parser() -> argparse.ArgumentParser:
    about = "Prove with torch what the rules claim."
    parser = argparse.ArgumentParser(prog="devlint verify", description=about)
    parser.add_argument("codes", nargs="*", metavar="CODE", help="rules to prove; all if none is given")
    parser.add_argument(
        "--device", action="append", choices=DEVICES, help="where to run; by default everywhere"
    )
    parser.add_argument("--fixtures", type=Path, metavar="DIR", help="the folder that holds DEV101/bug.py, …")
    parser.add_argument(
        "--knowledge", action="store_true", help="prove what devlint knows of APIs, in place of rules"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print everything as JSON")
    form.add_argument("--markdown", action="store_true", help="print the page of the documentation")
    return parser


def _progress(total: int) -> Callable[[str, Case], None]:
    """Tell on a terminal what is being run."""
    if not sys.stderr.isatty():
        return lambda device, case: None

    def show(device: str, case: Case) -> None:
        text = f"{case.code} {case.program} on {device} ({total} programs)"
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    return show


def _print(options: argparse.Namespace, proofs: list[Proof], runs: list[Run]) -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    for run in runs:
        reason = run.about.get("unavailable")
        if reason and (options.device or run.device not in HARDWARE):
            print(f"devlint: not run on {run.device}: {reason}", file=sys.stderr)
        elif not reason and run.device == "sim" and not run.about["tested"]:
            print(f"devlint: sim is not tested with torch {run.about['torch']}", file=sys.stderr)
    devices = {run.device: run.about for run in runs}
    if options.json:
        print(report.as_json(proofs, devices))
    elif options.markdown:
        print(report.as_markdown(proofs, devices), end="")
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        for line in report.as_table(proofs, width):
            print(line)
        print(report.summary(proofs))


def _status(asked: Sequence[str] | None, runs: Sequence[Run], proofs: Sequence[Proof]) -> int:
    if asked and any("unavailable" in run.about for run in runs):
        return 2
    verdicts = {proof.verdict for proof in proofs}
    if Verdict.FALSE in verdicts:
        return 1
    return 0 if Verdict.CONFIRMED in verdicts else 2
