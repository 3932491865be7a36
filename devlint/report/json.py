"""The `json` format: ruff's shape, which editors and reviewing tools read already."""

from __future__ import annotations

import json
import os.path
from typing import TYPE_CHECKING, Any

from ..console import escaped
from .address import page

if TYPE_CHECKING:
    from ..finding import Finding, Fix, Position, Related
    from . import Outcome


def render(outcome: Outcome) -> str:
    """Return a JSON list with an object for each finding."""
    return escaped(json.dumps([as_object(finding) for finding in outcome.findings], indent=2)) + "\n"


def as_object(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain data; files are named by absolute path."""
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "severity": finding.severity.value,
        **_where(finding),
        "fix": _fix(finding.fix),
        "noqa_row": finding.noqa_row,
        "url": page(finding.code, finding.name),
        "related": [{"message": each.message, **_where(each)} for each in finding.related],
    }


def _where(finding: Finding | Related) -> dict[str, Any]:
    on_disk = not finding.path.startswith("<")
    return {
        "filename": os.path.abspath(finding.path) if on_disk else finding.path,
        "cell": finding.cell,
        "location": _place(finding.start),
        "end_location": _place(finding.end),
    }


def _fix(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    edits = [
        {"content": edit.content, "location": _place(edit.start), "end_location": _place(edit.end)}
        for edit in fix.edits
    ]
    return {"applicability": "safe" if fix.safe else "unsafe", "message": fix.message, "edits": edits}


def _place(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}
