"""The `concise` format: one line a finding, `path:row:column: CODE message`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..console import printable
from ..finding import place
from .style import BOLD, CYAN, SEVERITY_COLORS, fix_mark, paint

if TYPE_CHECKING:
    from ..finding import Finding
    from . import Outcome


def render(outcome: Outcome) -> str:
    """Return a line for each finding."""
    return "".join(_line(finding, outcome) for finding in outcome.findings)


def _line(finding: Finding, outcome: Outcome) -> str:
    color = outcome.color
    path = paint(printable(place(finding)), BOLD, color)
    code = paint(finding.code, SEVERITY_COLORS[finding.severity], color)
    mark = paint(fix_mark(finding, outcome), CYAN, color)
    row, column = finding.start
    return f"{path}:{row}:{column}: {code} {mark}{printable(finding.message)}\n"
