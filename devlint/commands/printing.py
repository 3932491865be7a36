"""Prints the report of a run: in which format, with which colours, and where to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .. import report
from ..errors import DevlintError
from ..finding import Finding, Position, Severity, order
from ..report.style import summary

if TYPE_CHECKING:
    from typing import TextIO

    from ..problems import Problem

FORMAT = "DEVLINT_OUTPUT_FORMAT"
FAILURE, STALE = ("failure", "failure"), ("stale", "stale-baseline")
"""The code and the name by which machines are told what is no finding of a rule."""
FOR_PEOPLE = frozenset({"full", "concise", "grouped"})
"""The formats that end in a summary, and leave problems to stderr."""
_TELL_THEMSELVES = FOR_PEOPLE | {"sarif"}
_STATISTICS = frozenset({"full", "concise", "grouped", "json"})


def format_of_environment() -> str | None:
    """Return the format that the environment asks for; raises DevlintError where there is none such."""
    name = os.environ.get(FORMAT)
    if name and name not in report.FORMATS:
        raise DevlintError(f"{FORMAT}: there is no format {name!r} (known are {', '.join(report.FORMATS)})")
    return name


def check_statistics(name: str) -> None:
    """Raise DevlintError where counts cannot be printed in this format."""
    if name not in _STATISTICS:
        raise DevlintError(f"--statistics goes with {', '.join(sorted(_STATISTICS))}, not with {name}")


def rendered(name: str, statistics: bool, outcome: report.Outcome) -> str:
    """Return the report."""
    if statistics:
        return report.render("statistics", outcome._replace(as_json=name == "json"))
    if name not in _TELL_THEMSELVES:
        told = [
            *(_told(problem, FAILURE) for problem in outcome.problems),
            *(_told(problem, STALE) for problem in outcome.stale),
        ]
        outcome = outcome._replace(findings=sorted([*outcome.findings, *told], key=order))
    return report.render(name, outcome)


def closing(outcome: report.Outcome) -> str:
    """Return the summary; praise is for runs that have checked all they were asked to."""
    if outcome.findings or not (outcome.problems or outcome.stale or not outcome.checked):
        return summary(outcome)
    if outcome.problems:
        text = "No findings, but not everything could be checked."
    elif outcome.stale:
        text = "No new findings, but the baseline lists what is fixed."
    else:
        text = "There was nothing to check."
    return f"Fixed {outcome.fixed}. {text}\n" if outcome.fixed else f"{text}\n"


def wants_color(choice: str, stream: TextIO) -> bool:
    """Whether to colour: the flag, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def project(folder: str) -> str:
    """Return the root of the repository that holds a folder, or the folder itself."""
    above = folder
    while not os.path.exists(os.path.join(above, ".git")):
        above, below = os.path.dirname(above), above
        if above == below:
            return folder
    return above


def _told(problem: Problem, kind: tuple[str, str]) -> Finding:
    """Return a problem in the shape of a finding: an empty report would be read as a clean one."""
    start = Position(1, 1)
    path = problem.path or os.curdir
    return Finding(path, start, start, *kind, Severity.ERROR, problem.message, "", None, 1)
