"""`devlint verify`: runs every rule's programs with torch and compares what happens with the rule's claim."""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from ..console import say
from ..errors import DevlintError
from ..match.faults import unusable
from ..run.progress import status_line
from . import report
from .catalogue import Case, Unproven, cases, chosen, concerns, find_fixtures, unpacked
from .devices import DEVICES, Run, run_all
from .proof import Proof, Verdict, judge
from .worker import HARDWARE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CONFIRMED, REFUTED, UNDECIDED = 0, 1, 2
INSTALL = "devlint verify runs programs with torch, which is not installed: pip install torch numpy"
_EPILOG = """\
exit status: 0 every claim is confirmed, 1 one is false, 2 wrong usage, or something could not be run
"""


def main(argv: Sequence[str]) -> int:
    """Run the command: 0 if every claim holds, 1 if one is false, 2 if something could not be run."""
    options = parser().parse_args(argv)
    try:
        if options.knowledge:
            if importlib.util.find_spec("torch") is None:
                raise DevlintError(INSTALL)
            from . import knowledge

            return knowledge.main(as_json=options.json)
        try:
            rules = chosen(options.rules)
        finally:  # a rule that is not there may be one of these
            for problem in unusable():
                say(problem)
        silent = [rule for rule in rules if rule.rule is None]
        for rule in silent if options.rules else ():
            say(f"{rule.code} ({rule.name}) claims nothing about torch")
        codes = [rule.code for rule in rules if rule.rule is not None]
        if not codes:
            _print(options, [], [])
            return UNDECIDED if unusable() else CONFIRMED
        place = _place_of_programs(options.fixtures, codes)
        if importlib.util.find_spec("torch") is None:
            raise DevlintError(INSTALL)
    except DevlintError as error:
        say(error)
        return UNDECIDED
    if options.verbose:
        say(f"the programs are those in {place}")
    with unpacked(place) as folder:
        found, unproven = cases(codes, folder)
        with status_line(sys.stderr, patience=0) as show:
            show("starting torch")
            runs = run_all(options.device or DEVICES, found, _counter(found, show))
    proofs = prove(runs, unproven)
    _tell(options, runs, proofs)
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


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    about = "Prove with torch what the rules claim."
    top = argparse.ArgumentParser(prog="devlint verify", description=about, epilog=_EPILOG)
    top.add_argument(
        "rules", nargs="*", metavar="RULE", help="codes, prefixes or names of rules; all if none is given"
    )
    top.add_argument("--device", action="append", choices=DEVICES, help="where to run; by default everywhere")
    top.add_argument("--fixtures", type=Path, metavar="DIR", help="the folder that holds DEV101/bug.py, …")
    top.add_argument(
        "--knowledge", action="store_true", help="prove what devlint knows of APIs, in place of rules"
    )
    top.add_argument("-v", "--verbose", action="store_true", help="tell where the programs are")
    form = top.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print everything as JSON")
    form.add_argument("--markdown", action="store_true", help="print the page of the documentation")
    return top


def _place_of_programs(given: Path | None, codes: Sequence[str]) -> Path:
    """Return the folder that was given, or where the programs are installed."""
    if given is None:
        return find_fixtures()
    if not given.is_dir():
        raise DevlintError(f"--fixtures: no such folder: {given}")
    if not any((given / code).is_dir() for code in codes):
        wanted = codes[0] if len(codes) == 1 else f"{codes[0]} or any other of these rules"
        raise DevlintError(f"--fixtures: {given} holds no programs of {wanted}")
    return given


def _counter(found: Sequence[Case], show: Callable[[str], None]) -> Callable[[str, Case], None]:
    """Return what counts the programs on the devices that are there, and shows how many are to come."""
    lock = threading.Lock()  # each device has a thread
    totals: dict[str, int] = {}
    begun = 0

    def count(device: str, case: Case) -> None:
        nonlocal begun
        with lock:
            if device not in totals:
                totals[device] = sum(concerns(each, device) for each in found)
            begun += 1
            show(f"{begun} of {sum(totals.values())} programs, {case.code} on {device}")

    return count


def _tell(options: argparse.Namespace, runs: Sequence[Run], proofs: Sequence[Proof]) -> None:
    """Say what was not run, and why."""
    for run in runs:
        reason = run.about.get("unavailable")
        if reason and (options.device or run.device not in HARDWARE):
            say(f"not run on {run.device}: {reason}")
        elif not reason and run.device == "sim" and not run.about["tested"]:
            say(f"sim is not tested with torch {run.about['torch']}")
    absent = sorted({outcome["lacks"] for run in runs for _, outcome in run.outcomes if "lacks" in outcome})
    if any(proof.verdict is Verdict.NOT_RUN for proof in proofs):
        say(f"some programs need {', '.join(absent)}, which is not installed")


def _print(options: argparse.Namespace, proofs: list[Proof], runs: Sequence[Run]) -> None:
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
    verdicts = {proof.verdict for proof in proofs}
    if Verdict.FALSE in verdicts:
        return REFUTED
    if Verdict.NOT_RUN in verdicts or (asked and any("unavailable" in run.about for run in runs)):
        return UNDECIDED
    return CONFIRMED if Verdict.CONFIRMED in verdicts and not unusable() else UNDECIDED
