"""The `sarif` format: SARIF 2.1.0, for GitHub code scanning and other viewers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .. import __version__
from ..console import escaped
from ..finding import Severity
from ..old.fingerprint import anchors, digests, relative
from .address import page
from .place import headline, in_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..finding import Finding, Fix, Position
    from ..match.registry import Installed
    from ..problems import Problem
    from . import Outcome

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "recommendation"}


def render(outcome: Outcome) -> str:
    """Return a SARIF log of one run."""
    hashes = digests(anchors(outcome.findings, outcome.sources, outcome.base))
    places = {code: index for index, code in enumerate(outcome.rules)}
    driver = {
        "name": "devlint",
        "version": __version__,
        "rules": [_rule(rule) for rule in outcome.rules.values()],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(outcome)],
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(finding, digest, places, outcome.base)
            for finding, digest in zip(outcome.findings, hashes, strict=True)
        ],
    }
    return escaped(json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)) + "\n"


def _invocation(outcome: Outcome) -> dict[str, Any]:
    """Return whether the run has done what it was asked to: few results may mean that it has not."""
    found: dict[str, Any] = {"executionSuccessful": not outcome.problems}
    for kind, problems in (("Execution", outcome.problems), ("Configuration", outcome.stale)):
        if problems:
            told = [_notification(problem, outcome.base) for problem in problems]
            found[f"tool{kind}Notifications"] = told
    return found


def _notification(problem: Problem, base: str) -> dict[str, Any]:
    found: dict[str, Any] = {"level": "error", "message": {"text": problem.message}}
    if problem.path:
        found["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": _uri(problem.path, base)}}}]
    return found


def _rule(rule: Installed) -> dict[str, Any]:
    paragraphs = rule.page.split("\n\n")
    description = " ".join(paragraphs[min(1, len(paragraphs) - 1)].split())
    url = page(rule.code, rule.name)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": description},
        "help": {"text": rule.page, "markdown": rule.page},
        **({"helpUri": url} if url else {}),
        "defaultConfiguration": {"level": rule.severity.value, "enabled": rule.severity is not Severity.NOTE},
        "properties": {"tags": ["pytorch"], "problem.severity": _KINDS[rule.severity]},
    }


def _result(finding: Finding, digest: str, places: Mapping[str, int], base: str) -> dict[str, Any]:
    artifact = {"uri": _uri(finding.path, base)}
    text = headline(finding) + (
        f". {finding.reason[0].upper()}{finding.reason[1:]}" if finding.reason else ""
    )
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": finding.severity.value,
        "message": {"text": text},
        "locations": [
            {"physicalLocation": {"artifactLocation": artifact, "region": _region(*in_file(finding))}}
        ],
        "partialFingerprints": {"devlint/v1": digest},
    }
    if finding.related:
        result["relatedLocations"] = [
            {
                "id": number,
                "message": {"text": headline(each)},
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(each.path, base)},
                    "region": _region(*in_file(each)),
                },
            }
            for number, each in enumerate(finding.related, 1)
        ]
    if finding.code in places:
        result["ruleIndex"] = places[finding.code]
    if finding.fix is not None and finding.cell is None:
        result["fixes"] = [_fix(finding.fix, artifact)]
    return result


def _fix(fix: Fix, artifact: dict[str, str]) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(edit.start, edit.end), "insertedContent": {"text": edit.content}}
        for edit in fix.edits
    ]
    return {
        "description": {"text": fix.message},
        "artifactChanges": [{"artifactLocation": artifact, "replacements": replacements}],
    }


def _region(start: Position, end: Position) -> dict[str, int]:
    return {
        "startLine": start.row,
        "startColumn": start.column,
        "endLine": end.row,
        "endColumn": end.column,
    }


def _uri(path: str, base: str) -> str:
    """Return a path as a URI, relative wherever it can be."""
    below = relative(path, base)
    quoted = quote(below, errors="surrogateescape")
    return f"file://{quoted}" if below.startswith("/") else quoted
