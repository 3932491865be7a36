"""What the protocol has for findings: diagnostics, and places in whatever a client counts in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import from_fs_path

from ..comments.unused import CODE as UNUSED
from ..finding import Severity
from .positions import Lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..finding import Finding, Position, Related
    from .options import Options

SOURCE = "devlint"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}


def range_of(lines: Lines, start: Position, end: Position) -> types.Range:
    """Return a stretch of a text in the client's terms."""
    return types.Range(types.Position(*lines.place(start)), types.Position(*lines.place(end)))


def uri_of(path: str) -> str:
    """Return the address of a file."""
    return from_fs_path(os.path.abspath(path)) or path


def diagnostic(
    finding: Finding,
    lines: Lines,
    options: Options,
    located: Callable[[Related], types.Location | None] | None,
) -> types.Diagnostic:
    """Return a finding as editors show it; `located` says where places are that explain it."""
    url = options.documentation_url
    related = [
        types.DiagnosticRelatedInformation(where, each.message)
        for each in finding.related
        if located is not None and (where := located(each)) is not None
    ]
    return types.Diagnostic(
        range_of(lines, finding.start, finding.end),
        f"{finding.message}\n{finding.reason}" if finding.reason else finding.message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(url.replace("{code}", finding.code)) if url else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if finding.code == UNUSED else None,
        related_information=related or None,
        data={"name": finding.name, "fix": None if finding.fix is None else _safety(finding)},
    )


def _safety(finding: Finding) -> str:
    return "safe" if finding.fix is not None and finding.fix.safe else "unsafe"


def edit(
    edits: Mapping[str, list[types.TextEdit]], versions: Mapping[str, int | None] | None
) -> types.WorkspaceEdit:
    """Return changes of documents, by address; with versions where the client takes those."""
    if versions is None:
        return types.WorkspaceEdit(changes={uri: list(each) for uri, each in edits.items()})
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri, versions.get(uri)), list(each)
            )
            for uri, each in edits.items()
        ]
    )
