"""The `github` format: workflow commands that GitHub Actions shows as annotations of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..console import printable
from ..finding import Severity
from ..old.fingerprint import relative
from .place import in_file, line

if TYPE_CHECKING:
    from ..finding import Finding
    from . import Outcome

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(outcome: Outcome) -> str:
    """Return a command for each finding."""
    return "".join(_command(finding, outcome.base) for finding in outcome.findings)


def _command(finding: Finding, base: str) -> str:
    start, end = in_file(finding)
    properties = {
        "title": f"devlint ({finding.code})",
        "file": relative(finding.path, base),
        "line": start.row,
        "endLine": end.row,
    }
    if start.row == end.row:  # with columns in two lines, GitHub drops the annotation
        properties |= {"col": start.column, "endColumn": max(end.column, start.column)}
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{_LEVELS[finding.severity]} {listed}::{_escaped(line(finding))}\n"


def _escaped(text: str) -> str:
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
