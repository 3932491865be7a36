"""The `azure` format: logging commands that Azure Pipelines shows as issues of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..console import printable
from ..finding import Severity
from ..old.fingerprint import relative
from .place import headline, in_file

if TYPE_CHECKING:
    from ..finding import Finding
    from . import Outcome


def render(outcome: Outcome) -> str:
    """Return a command for each finding."""
    return "".join(_command(finding, outcome.base) for finding in outcome.findings)


def _command(finding: Finding, base: str) -> str:
    start = in_file(finding).start
    properties = {
        "type": "error" if finding.severity is Severity.ERROR else "warning",  # there is no third
        "sourcepath": relative(finding.path, base),
        "linenumber": start.row,
        "columnnumber": start.column,
        "code": finding.code,
    }
    listed = "".join(f"{key}={_property(str(value))};" for key, value in properties.items())
    return f"##vso[task.logissue {listed}]{_escaped(headline(finding))}\n"


def _escaped(text: str) -> str:
    return printable(text.replace("%", "%AZP25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _escaped(text).replace(";", "%3B").replace("]", "%5D")
