"""What the formats for people share: colours, marks and the closing lines."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from ..console import printable
from ..finding import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..finding import Finding
    from . import Outcome

BOLD, DIM, CYAN = "1", "2", "36"
_ROWS = {"--- ": "1", "+++ ": "1", "@": "36", "-": "31", "+": "32"}
SEVERITY_COLORS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.NOTE: "1;34"}


def paint(text: str, style: str, color: bool) -> str:
    """Return the text in an ANSI style, or as it is."""
    return f"\x1b[{style}m{text}\x1b[0m" if color and style and text else text


def painted(diff: str) -> str:
    """Return a unified diff in colours, as git has them."""
    return "\n".join(paint(row, _ROWS.get(row[:4], _ROWS.get(row[:1], "")), True) for row in diff.split("\n"))


def fix_mark(finding: Finding, outcome: Outcome) -> str:
    """Return `[*] ` where `--fix` would cure the finding."""
    return "[*] " if applies(finding, outcome) else ""


def applies(finding: Finding, outcome: Outcome) -> bool:
    """Whether `--fix`, with the flags of this run, would cure the finding."""
    return finding.fix is not None and (finding.fix.safe or outcome.unsafe_fixes)


def fixes(applied: Sequence[Finding]) -> str:
    """Return what was fixed, by file and rule, as ruff lists it."""
    if not applied:
        return ""
    lines = [f"Fixed {_count(len(applied), 'finding')}:\n"]
    for path, group in groupby(applied, key=lambda finding: finding.path):
        counts = Counter((finding.code, finding.name) for finding in group)
        lines.append(f"- {printable(path)}:\n")
        width = len(str(max(counts.values())))
        for (code, name), number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            lines.append(f"    {number:>{width}} \u00d7 {code} ({name})\n")
    return "".join([*lines, "\n"])


def summary(outcome: Outcome) -> str:
    """Return the closing lines: how many findings of each severity, and what can be fixed."""
    findings = outcome.findings
    fixed = f"Fixed {_count(outcome.fixed, 'finding')}. " if outcome.fixed else ""
    if not findings:
        return f"{fixed}{'Nothing is left.' if fixed else 'All checks passed.'}\n"
    counts = [
        _count(number, severity.value)
        for severity in Severity
        if (number := sum(finding.severity is severity for finding in findings))
    ]
    safe = sum(applies(finding, outcome) for finding in findings)
    hidden = sum(finding.fix is not None for finding in findings) - safe
    flags = "--fix --unsafe-fixes" if outcome.unsafe_fixes else "--fix"
    found = f"{fixed}Found {', '.join(counts)}."
    if safe:
        found += f" {safe} fixable with {flags}."
    if hidden:
        found += f" {hidden} {'more ' if safe else ''}fixable with --fix --unsafe-fixes."
    return found + "\n"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)
