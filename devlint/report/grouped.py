"""The `grouped` format: the findings of each file under its name."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from ..console import printable
from ..finding import place
from .style import BOLD, CYAN, SEVERITY_COLORS, fix_mark, paint

if TYPE_CHECKING:
    from . import Outcome


def render(outcome: Outcome) -> str:
    """Return a paragraph for each file or cell."""
    paragraphs = []
    for path, group in groupby(outcome.findings, key=place):
        found = list(group)
        rows = max(len(str(finding.start.row)) for finding in found)
        columns = max(len(str(finding.start.column)) for finding in found)
        lines = [f"{paint(printable(path), BOLD, outcome.color)}:"]
        for finding in found:
            row, column = finding.start
            code = paint(finding.code, SEVERITY_COLORS[finding.severity], outcome.color)
            mark = paint(fix_mark(finding, outcome), CYAN, outcome.color)
            at = f"{row:>{rows}}:{column:<{columns}}"
            lines.append(f"  {at} {code} {mark}{printable(finding.message)}")
        paragraphs.append("\n".join(lines) + "\n\n")
    return "".join(paragraphs)
