"""How many findings a run may have before it fails: a number that only goes down."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ..match.selection import covers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..finding import Finding


class Verdict(NamedTuple):
    """Whether there are too many findings, and what to say about the limits."""

    fails: bool
    exceeded: list[str]
    slack: list[str]
    """Limits that could be lower."""


def judge(findings: Sequence[Finding], limits: Mapping[str, int]) -> Verdict:
    """Hold findings against limits, each against that of the most specific selector."""
    counts = Counter(_selector(finding.code, limits) for finding in findings)
    fails = counts.pop(None, 0) > 0
    exceeded, slack = [], []
    for selector, limit in limits.items():
        number = counts[selector]
        found = f"{number} finding{'s' * (number != 1)} of {selector}"
        if number > limit:
            exceeded.append(f"{found}, and max-findings allows {limit}")
        elif number < limit:
            slack.append(f"{found}, and max-findings still allows {limit}: lower it to {number}")
    return Verdict(fails or bool(exceeded), exceeded, slack)


def _selector(code: str, limits: Mapping[str, int]) -> str | None:
    """Return the selector under which findings of a code are counted."""
    meant = [selector for selector in limits if covers(selector, code)]
    return max(meant, key=lambda selector: 0 if selector.upper() == "ALL" else len(selector), default=None)
