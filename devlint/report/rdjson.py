"""The `rdjson` format: reviewdog's diagnostics, with fixes as suggestions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..console import escaped
from ..finding import Severity, place
from ..old.fingerprint import relative
from ..source.text import split_rows
from .address import page
from .place import headline, in_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..finding import Finding, Position, Related
    from . import Outcome

_LEVELS = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.NOTE: "INFO"}


def render(outcome: Outcome) -> str:
    """Return a JSON object with all findings."""
    diagnostics = []
    shown, rows = None, list[str]()
    for finding in outcome.findings:
        if place(finding) != shown:
            shown = place(finding)
            rows = split_rows(outcome.sources.get(shown, ""))
        diagnostics.append(_diagnostic(finding, rows, outcome))
    return escaped(json.dumps({"source": {"name": "devlint"}, "diagnostics": diagnostics}, indent=2)) + "\n"


def _diagnostic(finding: Finding, rows: Sequence[str], outcome: Outcome) -> dict[str, Any]:
    start, end = in_file(finding)
    url = page(finding.code, finding.name)
    found: dict[str, Any] = {
        "message": headline(finding),
        "severity": _LEVELS[finding.severity],
        "code": {"value": finding.code, **({"url": url} if url else {})},
        "location": {"path": relative(finding.path, outcome.base), "range": _range(start, end, rows)},
    }
    if finding.related:
        found["relatedLocations"] = [_related(each, outcome) for each in finding.related]
    # Suggestions are alternatives, so a fix of several edits cannot be told.
    if finding.fix and len(finding.fix.edits) == 1 and finding.cell is None:
        (edit,) = finding.fix.edits
        found["suggestions"] = [{"range": _range(edit.start, edit.end, rows), "text": edit.content}]
    return found


def _related(related: Related, outcome: Outcome) -> dict[str, Any]:
    rows = split_rows(outcome.sources.get(place(related), ""))
    return {
        "message": headline(related),
        "location": {
            "path": relative(related.path, outcome.base),
            "range": _range(*in_file(related), rows),
        },
    }


def _range(start: Position, end: Position, rows: Sequence[str]) -> dict[str, Any]:
    return {"start": _place(start, rows), "end": _place(end, rows)}


def _place(position: Position, rows: Sequence[str]) -> dict[str, int]:
    """Return a place with its column in bytes of UTF-8, as reviewdog counts."""
    row, column = position
    before = rows[row - 1][: column - 1] if row <= len(rows) else ""
    missing = max(column - 1 - len(before), 0)
    return {"line": row, "column": len(before.encode("utf-8", "surrogatepass")) + missing + 1}
