"""What clients that ask for diagnostics by themselves have been told: they are told what is new."""

from __future__ import annotations

from lsprotocol import types

Report = types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport


def supported(capabilities: types.ClientCapabilities) -> bool:
    """Whether a client asks by itself, and again when it is told to.

    One that does the first alone would not learn of what a change does to other documents.
    """
    document, workspace = capabilities.text_document, capabilities.workspace
    again = workspace.diagnostics if workspace is not None else None
    return (
        document is not None
        and document.diagnostic is not None
        and again is not None
        and bool(again.refresh_support)
    )


class Told:
    """The last answer about each document, by address."""

    def __init__(self) -> None:
        """Begin with nothing told."""
        self._answers: dict[str, tuple[str, list[types.Diagnostic]]] = {}
        self._number = 0

    def answer(self, uri: str, found: list[types.Diagnostic], known: str | None) -> Report:
        """Return the answer to a client that knows the result with an id, or none."""
        told = self._answers.get(uri)
        if told is None or told[1] != found:
            self._number += 1
            told = self._answers[uri] = str(self._number), found
        if known == told[0]:
            return types.RelatedUnchangedDocumentDiagnosticReport(known)
        return types.RelatedFullDocumentDiagnosticReport(found, result_id=told[0])

    def is_news(self, uri: str, found: list[types.Diagnostic]) -> bool:
        """Whether this is something else than what was last told of a document."""
        told = self._answers.get(uri)
        return told is None or told[1] != found

    def forget(self, uri: str) -> None:
        """Forget a document that was closed."""
        self._answers.pop(uri, None)
