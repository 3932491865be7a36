"""`devlint run`: runs a program on the simulated device and reports where a GPU would have stopped it."""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.util
import os
import sys
import traceback
from typing import TYPE_CHECKING, NamedTuple

from .. import report
from ..claim import Cause
from ..commands import printing
from ..console import say, tell
from ..errors import DevlintError
from ..finding import Finding, Related, order
from ..match.registry import installed
from ..problems import Problem
from . import frames
from .execute import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..match.registry import Installed
    from .children import Followed as Elsewhere
    from .record import Record
    from .tracer import Event, Tracer

CLEAN, FOUND, FAILED, LIMIT = range(4)
EPILOG = """\
exit status: 0 nothing found, 1 findings, 2 the program could not be run to its end, 3 it came upon what is
not simulated
"""


class End(NamedTuple):
    """How a program ended."""

    status: int
    message: str = ""


class Followed(NamedTuple):
    """A program that was followed to its end."""

    findings: list[Finding]
    end: End
    record: Record | None

    @property
    def status(self) -> int:
        """The exit status."""
        return FOUND if self.findings and self.end.status in (CLEAN, LIMIT) else self.end.status


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    options = parser().parse_args(argv)
    target = target_of(options)
    form = options.output_format or printing.format_of_environment() or "full"
    machine = form not in printing.FOR_PEOPLE and options.output_file is None
    followed = follow(options, target, machine=machine)
    _print(options, form, followed.findings, followed.end)
    return followed.status


def target_of(options: argparse.Namespace) -> Target:
    """What is to be run; raises DevlintError if nothing is named."""
    if not options.program:
        raise DevlintError("run: name a script, or a module after -m")
    name, *arguments = options.program
    return Target(name, options.module, arguments)


def follow(options: argparse.Namespace, target: Target, *, machine: bool, trace: bool = False) -> Followed:
    """Run a program on the simulated device; `machine` sends what it prints to stderr."""
    if importlib.util.find_spec("torch") is None:
        raise DevlintError("devlint run needs torch, which is not installed: pip install torch numpy")
    run = target.prepare()
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    from . import children, following

    following.require()
    rules = by_cause()
    comparison = _Comparison(target, options.limit_steps) if options.cpu_compare else None
    given = {"devices": options.devices, "limit": options.limit_steps, "stop": options.stop}
    seen = following.install(**given, values=None if comparison is None else comparison.here)
    if trace:
        from .record import Record

        seen.record = Record()
    elsewhere = children.Followed(seen, given)
    with _apart(machine=machine):
        end = _run(run, seen, elsewhere)
    if comparison is not None:
        end = comparison.judge(end)
    return Followed(findings_of(seen, rules), end, seen.record)


def findings_of(seen: Tracer, rules: Mapping[Cause, Installed]) -> list[Finding]:
    """What was found, in the order of its places."""
    return sorted((_finding(event, times, rules) for event, times in seen.events.values()), key=order)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    about = "Run a program on a simulated accelerator, and report where a GPU would have stopped it."
    usage = "devlint run [options] SCRIPT [ARGS ...]\n       devlint run [options] -m MODULE [ARGS ...]"
    made = argparse.ArgumentParser(prog="devlint run", usage=usage, description=about, epilog=EPILOG)
    made.add_argument("--stop", action="store_true", help="stop at the first finding, as a GPU would")
    made.add_argument(
        "--cpu-compare", action="store_true", help="run it on the cpu too, and say where values part"
    )
    add_program(made)
    made.add_argument("--output-format", choices=report.FORMATS, help="default: full")
    made.add_argument("-o", "--output-file", metavar="FILE", help="write the report there")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")
    return made


def add_program(made: argparse.ArgumentParser) -> None:
    """Add what says which program to run, and how."""
    made.add_argument("-m", dest="module", action="store_true", help="run a module, as `python -m` does")
    add_bounds(made)
    made.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def add_bounds(made: argparse.ArgumentParser) -> None:
    """Add what says how far a program is run, and on how many devices."""
    made.add_argument("--limit-steps", type=_positive, metavar="N", help="end every loader after N batches")
    made.add_argument(
        "--devices", type=_positive, default=1, metavar="N", help="how many devices to simulate (default: 1)"
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"not a number from 1 on: {text!r}")
    return int(text)


class _Comparison:
    """What a program computes on the cpu, and what it computes here."""

    def __init__(self, target: Target, limit: int | None) -> None:
        """Run the program on the cpu."""
        from . import compare, host

        self._cpu = host.on_the_cpu(target, limit)
        self.here = compare.Values()
        compare.watch_modules(self.here)
        compare.seed()

    def judge(self, end: End) -> End:
        """Say how the values compare; the end is another where they part."""
        from .compare import compared

        if isinstance(self._cpu, str):
            return end if end.status else End(FAILED, self._cpu)
        parted, message = compared(self._cpu, self.here)
        if not parted:
            tell(f"devlint: {message}")
            return end
        return End(
            FOUND if end.status in (CLEAN, LIMIT) else end.status,
            "; ".join(filter(None, (end.message, message))),
        )


@contextlib.contextmanager
def _apart(*, machine: bool) -> Iterator[None]:
    """Send what the program prints to stderr where stdout is for a machine to read."""
    if not machine:
        yield
        return
    sys.stdout.flush()
    out = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(out, 1)
        os.close(out)


def _run(run: Callable[[], None], seen: Tracer, followed: Elsewhere) -> End:
    """Run the program to its end, and all that it starts."""
    error: BaseException | None = None
    try:
        with seen:
            run()
            gc.collect()
    except BaseException as raised:
        error = raised
    abandoned = followed.collect()
    end = ended(error, seen, abandoned=abandoned)
    if error is not None and end.status == FAILED and not isinstance(error, (SystemExit, KeyboardInterrupt)):
        _show(error)
    return end


def ended(error: BaseException | None, seen: Tracer, *, abandoned: bool) -> End:
    """How a program has ended: with an error or without; `abandoned` if another process may have ended it."""
    from .limit import NotSimulated
    from .tracer import Stop

    if error is None and NotSimulated.met:
        return End(LIMIT, f"{NotSimulated.met}; the program has handled that and gone on")
    if error is None or isinstance(error, Stop):
        return End(CLEAN)
    if isinstance(error, NotSimulated):
        said = str(error)
        return End(LIMIT, f"{said[said.rindex(NotSimulated.BEGINS) :]}{_where(error)}")
    if isinstance(error, SystemExit):
        if error.code in (None, 0):
            return End(CLEAN)
        said = f"with status {error.code}" if isinstance(error.code, int) else f"with {error.code}"
        return End(FAILED, f"the program exited {said}")
    if NotSimulated.met and (
        abandoned or NotSimulated.met in str(error)
    ):  # a worker's, or in another's words
        return End(LIMIT, NotSimulated.met)
    if abandoned:  # at the first finding
        return End(CLEAN)
    if isinstance(error, KeyboardInterrupt):
        return End(FAILED, "interrupted")
    if seen.end(error):
        return End(CLEAN, "the program ended at an error about devices that could not be mended")
    return End(FAILED, f"the program was stopped by {type(error).__name__}")


def _where(error: BaseException) -> str:
    rows = traceback.extract_tb(error.__traceback__)
    mine = [row for row in rows if frames.is_own(row.filename)]
    return f" ({frames.shown(mine[-1].filename)}:{mine[-1].lineno})" if mine else ""


def _show(error: BaseException) -> None:
    """Print the traceback, without the frames that run the program."""
    from .wording import present

    present(error)
    trace = error.__traceback__
    while trace is not None and not frames.is_own(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    sys.stdout.flush()
    tell(*"".join(traceback.format_exception(type(error), error, trace or error.__traceback__)).splitlines())


def by_cause() -> Mapping[Cause, Installed]:
    """The rule to report for each cause: the first in the order of codes."""
    found: dict[Cause, Installed] = {}
    for _, rule in sorted(installed().items()):
        cause = None if rule.rule is None else rule.rule.cause
        if cause is not None:
            found.setdefault(cause, rule)
    if lacking := [cause.name for cause in Cause if cause not in found]:
        raise DevlintError(f"no rule that is installed is about {', '.join(lacking)}")
    return found


def _finding(event: Event, times: int, rules: Mapping[Cause, Installed]) -> Finding:
    rule = rules[event.cause]
    place = event.place
    message = event.message if times == 1 else f"{event.message} ({times} times)"
    related = tuple(Related(at.path, at.start, at.end, note) for at, note in event.notes)
    return Finding(
        place.path,
        place.start,
        place.end,
        rule.code,
        rule.name,
        rule.severity,
        message,
        event.reason,
        None,
        place.end.row,
        related=related,
    )


def _print(options: argparse.Namespace, form: str, findings: list[Finding], end: End) -> None:
    paths = {f.path for f in findings} | {each.path for f in findings for each in f.related}
    sources: dict[str, str] = {}
    if form in report.WITH_SOURCES:
        for path in sorted(paths):
            with contextlib.suppress(OSError, UnicodeError), open(path, encoding="utf-8") as file:
                sources[path] = file.read()
    color = options.output_file is None and printing.wants_color(options.color, sys.stdout)
    text = told(form, findings, end, sources, color=color)
    if options.output_file is not None:
        from ..run.output import write

        write(options.output_file, text.encode("utf-8", "backslashreplace"))
        return
    sys.stdout.write(text)


def told(form: str, findings: list[Finding], end: End, sources: Mapping[str, str], *, color: bool) -> str:
    """Return the report of a program; what is to be said of its end goes to stderr."""
    problems = [Problem(end.message)] if end.message else []
    for problem in problems:
        say(problem.message)
    outcome = report.Outcome(
        findings,
        sources,
        color,
        base=printing.project(os.getcwd()),
        rules=installed() if form == "sarif" else {},
        problems=problems,
    )
    text = printing.rendered(form, False, outcome)
    return text + printing.closing(outcome) if form in printing.FOR_PEOPLE else text
