"""The `gitlab` format: a Code Quality report for merge requests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..console import escaped
from ..finding import Severity
from ..old.fingerprint import anchors, digests, relative
from .place import headline, in_file

if TYPE_CHECKING:
    from ..finding import Finding, Related
    from . import Outcome

_LEVELS = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(outcome: Outcome) -> str:
    """Return a JSON list with an object for each finding."""
    hashes = digests(anchors(outcome.findings, outcome.sources, outcome.base))
    issues = [
        _issue(finding, outcome.base, digest)
        for finding, digest in zip(outcome.findings, hashes, strict=True)
    ]
    return escaped(json.dumps(issues, indent=2)) + "\n"


def _issue(finding: Finding, base: str, digest: str) -> dict[str, Any]:
    issue: dict[str, Any] = {
        "check_name": finding.code,
        "description": f"{finding.code}: {headline(finding)}",
        "severity": _LEVELS[finding.severity],
        "fingerprint": digest,
        "location": _location(finding, base),
    }
    if finding.related:
        issue["other_locations"] = [_location(each, base) for each in finding.related]
    return issue


def _location(at: Finding | Related, base: str) -> dict[str, Any]:
    start, end = in_file(at)
    return {
        "path": relative(at.path, base),
        "positions": {
            "begin": {"line": start.row, "column": start.column},
            "end": {"line": end.row, "column": end.column},
        },
    }
