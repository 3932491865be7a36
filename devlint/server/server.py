"""The server itself: what clients send, and what they are sent."""

from __future__ import annotations

import asyncio
import inspect
import os
import re
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from .. import __version__
from ..errors import DevlintError
from ..finding import Position
from ..problems import unforeseen
from . import actions, answers
from .analysis import Analyses, Linted
from .desk import Desk
from .documents import Document, Documents
from .options import Options, read
from .positions import Lines
from .pulled import Report, Told, supported

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
    from typing import BinaryIO

    from ..finding import Finding, Related

    Do = Callable[[Callable[[], Linted]], Awaitable[Linted]]
    """Has some work done on the thread of the analyses."""


_SECTION = "devlint"
"""Of a client's settings."""
_QUIET, _QUIETER = 0.02, 0.3
"""Seconds without typing after which a document is linted, and those that depend on it."""
_FAST = 0.25
"""Seconds that an analysis may take for the next one to begin as soon as that, and not later."""
_ALIVE = 5.0
"""Seconds after which it is looked whether the client is still there."""
_FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.devlint"
_WATCHED = "**/{*.py,*.pyi,pyproject.toml,devlint.toml,.gitignore}"
_CODE = re.compile(r"\b[A-Z]{1,3}[0-9]{3}\b")


class _Protocol(LanguageServerProtocol):
    """Keeps no texts: pygls ends lines at form feeds too, where Python and the protocol do not."""

    def _handed_on(self, method: str, params: Any) -> Generator[Any, Any, None]:
        handler = self.fm.features.get(method)
        if handler is not None:
            yield handler, (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: Any) -> Generator[Any, Any, None]:
        yield from self._handed_on(types.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: Any) -> Generator[Any, Any, None]:
        yield from self._handed_on(types.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: Any) -> Generator[Any, Any, None]:
        yield from self._handed_on(types.TEXT_DOCUMENT_DID_CLOSE, params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: Any) -> Generator[Any, Any, None]:
        yield from self._handed_on(types.NOTEBOOK_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: Any) -> Generator[Any, Any, None]:
        yield from self._handed_on(types.NOTEBOOK_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: Any) -> Generator[Any, Any, None]:
        yield from self._handed_on(types.NOTEBOOK_DOCUMENT_DID_CLOSE, params)


class Server:
    """One client's server."""

    def __init__(self) -> None:
        """Begin without a client."""
        self.documents = Documents()
        self.analyses = Analyses()
        self.options = Options()
        self.desk = Desk(self._lint)
        self._linted: dict[str, tuple[Document, Linted]] = {}
        self._took = 0.0
        self._told: set[str] = set()
        self._pulled: Told | None = None
        """What the client knows, where it asks for diagnostics by itself; notebooks' are sent to it too."""
        self._first_options: object = None
        self.pygls = LanguageServer(
            "devlint",
            __version__,
            protocol_cls=_Protocol,
            notebook_document_sync=types.NotebookDocumentSyncOptions(
                [
                    types.NotebookDocumentFilterWithCells(
                        cells=[types.NotebookCellLanguage("python")], notebook="*"
                    )
                ]
            ),
        )
        self._register()

    def run(self, reader: BinaryIO, writer: BinaryIO) -> None:
        """Serve a client until it ends."""
        try:
            self.pygls.start_io(reader, writer)
        finally:
            self.desk.close()

    @property
    def status(self) -> int:
        """The exit status that the protocol asks for: 0 where the client has said that it ends."""
        return 0 if self.pygls.protocol._shutdown else 1

    def _register(self) -> None:
        def feature(method: str, handler: Callable[[Any], Any], options: object = None) -> None:
            self.pygls.feature(method, options)(_function(handler))

        feature(types.INITIALIZE, self._initialize)
        feature(types.INITIALIZED, self._initialized)
        feature(types.TEXT_DOCUMENT_DID_OPEN, self._opened)
        feature(types.TEXT_DOCUMENT_DID_CHANGE, self._changed)
        feature(types.TEXT_DOCUMENT_DID_CLOSE, self._closed)
        feature(types.TEXT_DOCUMENT_DID_SAVE, self._saved, types.SaveOptions(include_text=False))
        feature(types.NOTEBOOK_DOCUMENT_DID_OPEN, self._notebook_opened)
        feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE, self._notebook_changed)
        feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE, self._notebook_closed)
        feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self._files_changed)
        feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION, self._configured)
        feature(types.TEXT_DOCUMENT_HOVER, self._hover)
        kinds = [types.CodeActionKind.QuickFix, _FIX_ALL]
        offered = types.CodeActionOptions(kinds, resolve_provider=True)
        feature(types.TEXT_DOCUMENT_CODE_ACTION, self._actions, offered)
        feature(types.CODE_ACTION_RESOLVE, self._resolve)
        feature(types.TEXT_DOCUMENT_INLAY_HINT, self._hints)

    # The client

    def _initialize(self, params: types.InitializeParams) -> None:
        self.documents.encoding = str(
            getattr(self.pygls.workspace.position_encoding, "value", self.pygls.workspace.position_encoding)
        )
        self._first_options = params.initialization_options
        self._set(self._first_options)
        if supported(params.capabilities):
            self._pulled = Told()
            options = types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False)
            self.pygls.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(_function(self._diagnose))

    async def _initialized(self, params: types.InitializedParams) -> None:
        self.desk.start()
        asyncio.ensure_future(self._outlive_nobody())  # noqa: RUF006 (it ends with the process)
        self._register_dynamically()
        if self._gives_settings and await self._pull_settings():
            self._lint_all()

    def _register_dynamically(self) -> None:
        workspace = self.pygls.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        configured = workspace.did_change_configuration if workspace is not None else None
        found = []
        if watching is not None and watching.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(_WATCHED)])
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            found.append(types.Registration("devlint-files", method, options))
        if configured is not None and configured.dynamic_registration:
            section = types.DidChangeConfigurationRegistrationOptions(_SECTION)
            method = types.WORKSPACE_DID_CHANGE_CONFIGURATION
            found.append(types.Registration("devlint-settings", method, section))
        if found:
            self.pygls.client_register_capability(types.RegistrationParams(found), callback=lambda _: None)

    @property
    def _gives_settings(self) -> bool:
        """Whether the client can be asked for its settings."""
        workspace = self.pygls.client_capabilities.workspace
        return workspace is not None and bool(workspace.configuration)

    async def _pull_settings(self) -> bool:
        """Ask the client for its settings; tell whether others hold now."""
        asked = types.ConfigurationParams([types.ConfigurationItem(section=_SECTION)])
        try:
            found = await self.pygls.workspace_configuration_async(asked)
        except Exception:  # whatever a client says of what it does not know
            return False
        said = found[0] if found else None
        before = self.options
        # Nothing said is as before: what the client has said when it began.
        await self.desk.ask(lambda: self._set(said or self._first_options))
        return self.options != before

    async def _outlive_nobody(self) -> None:
        """End when the client has died without a word, and something else keeps the pipe open."""
        while True:
            await asyncio.sleep(_ALIVE)
            client = self.pygls.process_id
            if client is not None and not _is_alive(client):
                os._exit(1)

    def _set(self, data: object) -> None:
        try:
            options = read(data)
        except DevlintError as error:
            self._tell(f"devlint: {error}")
            return
        self.options = options
        self._told.clear()
        self.analyses.set(options)

    async def _configured(self, params: types.DidChangeConfigurationParams) -> None:
        settings = params.settings
        if isinstance(settings, dict) and _SECTION in settings:
            await self.desk.ask(lambda: self._set(settings[_SECTION]))
        elif self._gives_settings:
            await self._pull_settings()
        self._lint_all()

    async def _files_changed(self, params: types.DidChangeWatchedFilesParams) -> None:
        self._told.clear()
        await self.desk.ask(self.analyses.refresh)
        self._lint_all()

    def _tell(self, message: str) -> None:
        """Show a message, once until something changes."""
        if message not in self._told:
            self._told.add(message)
            self.pygls.window_show_message(types.ShowMessageParams(types.MessageType.Error, message))

    # Documents

    def _opened(self, params: types.DidOpenTextDocumentParams) -> None:
        self._begun(self.documents.opened(params.text_document))

    def _changed(self, params: types.DidChangeTextDocumentParams) -> None:
        self._edited(self.documents.changed(params))

    def _closed(self, params: types.DidCloseTextDocumentParams) -> None:
        self._ended(self.documents.closed(params.text_document.uri))

    def _notebook_opened(self, params: types.DidOpenNotebookDocumentParams) -> None:
        self._begun(self.documents.notebook_opened(params))

    def _notebook_changed(self, params: types.DidChangeNotebookDocumentParams) -> None:
        self._edited(self.documents.notebook_changed(params))

    def _notebook_closed(self, params: types.DidCloseNotebookDocumentParams) -> None:
        self._ended(self.documents.notebook_closed(params))

    async def _saved(self, params: types.DidSaveTextDocumentParams) -> None:
        """A file that is new on the disk is known to others from now on."""
        known = self.documents.get(params.text_document.uri)
        if known is not None and await self.desk.ask(lambda: self.analyses.is_new(known.path)):
            self._lint_all()

    def _begun(self, document: Document | None) -> None:
        if document is not None:
            if not self._is_pulled(document):
                self.desk.request(document.uri)
            self._lint_askers(document)

    def _edited(self, document: Document | None) -> None:
        if document is not None:
            if not self._is_pulled(document):
                self.desk.request(document.uri, _QUIET if self._took < _FAST else _QUIETER)
            self._lint_askers(document)

    def _is_pulled(self, document: Document) -> bool:
        """Whether the client asks for the diagnostics of a document, so that none are sent."""
        return self._pulled is not None and document.cells is None

    def _ended(self, document: Document | None) -> None:
        if document is None:
            return
        self.desk.cancel(document.uri)
        self._linted.pop(document.uri, None)
        if self._pulled is not None and document.cells is None:
            self._pulled.forget(document.uri)
        else:
            for uri in {document.uri, *(cell.uri for cell in document.cells or ())}:
                self._publish(uri, [], None)
        self._lint_askers(document)

    def _lint_askers(self, changed: Document) -> None:
        """Lint what depends on a document, and nothing else."""
        for document, linted in self._linted.values():
            if changed.path in linted.asked and not self.desk.is_due(document.uri):
                self.desk.request(document.uri, _QUIETER)

    def _lint_all(self) -> None:
        for document in self.documents.all():
            self.desk.request(document.uri, _QUIET)

    async def _lint(self, uri: str) -> None:
        document = self.documents.get(uri)
        if document is None:
            return
        linted = await self._analysed(document, self.desk.work)
        if linted is None:
            return  # it has been overtaken, and the next is on its way
        if self._pulled is None or not self._is_pulled(document):
            self._show(document, linted.findings)
        elif self._pulled.is_news(uri, self._diagnostics(document, linted.findings)[uri]):
            self.pygls.workspace_diagnostic_refresh(None, callback=lambda _: None)

    async def _diagnose(self, params: types.DocumentDiagnosticParams) -> Report:
        """Answer a client that asks for the diagnostics of a document, as it is when they are known."""
        uri = params.text_document.uri
        assert self._pulled is not None
        while True:
            document = self.documents.get(uri)
            if document is None or document.cells is not None:
                return types.RelatedFullDocumentDiagnosticReport([])
            known = self._linted.get(uri)
            if known is not None and known[0] is document and not self.desk.is_due(uri):
                linted: Linted | None = known[1]
            else:
                self.desk.cancel(uri)
                linted = await self._analysed(document, self.desk.ask)
            if linted is not None:
                found = self._diagnostics(document, linted.findings)[uri]
                return self._pulled.answer(uri, found, params.previous_result_id)

    async def _analysed(self, document: Document, do: Do) -> Linted | None:
        """Lint a document; None where it has been overtaken meanwhile."""
        uri, texts = document.uri, self.documents.texts()
        began = monotonic()
        try:
            linted = await do(lambda: self.analyses.lint(document, texts))
        except Exception as error:  # no document may end the service for the others
            self._tell(f"devlint: {unforeseen(error, document.path)}")
            linted = Linted((), frozenset(), ())
        self._took = monotonic() - began
        for problem in linted.problems:
            self._tell(f"devlint: {problem}")
        if self.documents.get(uri) is not document:
            return None
        self._linted[uri] = document, linted
        if linted.stale:
            self._told &= {f"devlint: {each}" for each in linted.problems}
            for other in self.documents.all():
                if other.uri != uri:
                    self.desk.request(other.uri, _QUIET)
        return linted

    def _show(self, document: Document, findings: Sequence[Finding]) -> None:
        found = self._diagnostics(document, findings)
        for part in document.parts():
            self._publish(part.uri, found[part.uri], part.version)

    def _diagnostics(
        self, document: Document, findings: Sequence[Finding]
    ) -> dict[str, list[types.Diagnostic]]:
        """Return findings as the client knows them, by the address of the file or cell."""
        parts = document.parts()
        located = self._locator(document) if self._takes_related else None
        found: dict[str, list[types.Diagnostic]] = {part.uri: [] for part in parts}
        lines = {part.uri: part.lines(self.documents.encoding) for part in parts}
        for finding in findings:
            uri = document.part(finding.cell).uri
            if uri in found:
                found[uri].append(answers.diagnostic(finding, lines[uri], self.options, located))
        return found

    def _publish(self, uri: str, found: list[types.Diagnostic], version: int | None) -> None:
        self.pygls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    @property
    def _takes_related(self) -> bool:
        said = self.pygls.client_capabilities.text_document
        if said is None:
            return False
        pushed, pulled = said.publish_diagnostics, said.diagnostic
        diagnostics = pulled if self._pulled is not None and pulled is not None else pushed
        return diagnostics is not None and bool(diagnostics.related_information)

    def _locator(self, document: Document) -> Callable[[Related], types.Location | None]:
        texts = {each.path: each for each in self.documents.all()}

        def located(related: Related) -> types.Location | None:
            path = os.path.abspath(related.path) if not related.path.startswith("<") else related.path
            own = related.path == document.path or path == document.path
            known = document if own else texts.get(path)
            if known is not None:
                part = known.part(related.cell)
                place = answers.range_of(part.lines(self.documents.encoding), related.start, related.end)
                return types.Location(part.uri, place)
            try:
                with open(path, encoding="utf-8", newline="") as file:
                    lines = Lines(file.read(), self.documents.encoding)
            except (OSError, ValueError):
                return None
            return types.Location(answers.uri_of(path), answers.range_of(lines, related.start, related.end))

        return located

    # Questions

    async def _hover(self, params: types.HoverParams) -> types.Hover | None:
        place = params.position.line, params.position.character

        def find(document: Document, cell: int | None, lines: Lines) -> types.Hover | None:
            position = lines.position(place)
            explained = self.analyses.explained(document, self.documents.texts())
            said = _rules_at(lines, position)
            where = None
            if explained is not None and not said:
                row = explained.row(position.row, cell)
                for value in explained.values(row, explained.column(row, position.column)):
                    if value.kind == "unknown" and not (value.history or value.meets):
                        continue
                    if value.what in _WITHOUT_A_PLACE:
                        continue
                    said = f"`{value.source}`: {value}" if len(value.source) <= _LONG else str(value)
                    where = answers.range_of(lines, value.where.start, value.where.end)
            if not said:
                return None
            return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, said), where)

        found: types.Hover | None = await self._asked(params.text_document.uri, find)
        return found

    async def _asked(self, uri: str, find: Callable[[Document, int | None, Lines], Any]) -> Any:
        """Answer a question about a document as it is when its turn comes."""

        def work() -> Any:
            document = self.documents.get(uri)
            if document is None:
                return None
            cell = document.cell_of(uri)
            with suppress(DevlintError):  # there is no such line any more
                return find(document, cell, document.part(cell).lines(self.documents.encoding))
            return None

        return await self.desk.ask(work)

    async def _hints(self, params: types.InlayHintParams) -> list[types.InlayHint] | None:
        def find(document: Document, cell: int | None, lines: Lines) -> list[types.InlayHint] | None:
            if not self.options.inlay_hints:
                return None
            explained = self.analyses.explained(document, self.documents.texts())
            if explained is None:
                return []
            first = explained.row(params.range.start.line + 1, cell)
            last = first + params.range.end.line - params.range.start.line
            return [
                types.InlayHint(
                    types.Position(*lines.place(value.where.end)),
                    f": {value.place}",
                    types.InlayHintKind.Type,
                    tooltip=str(value.what),
                )
                for value in explained.devices(first, last)
                if value.where.cell == cell
            ]

        found: list[types.InlayHint] | None = await self._asked(params.text_document.uri, find)
        return found

    # What can be done

    async def _actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        only = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
        uri = params.text_document.uri

        def find(document: Document, cell: int | None, lines: Lines) -> list[types.CodeAction]:
            found: list[types.CodeAction] = []
            findings = self._now(document)
            if _wants(types.CodeActionKind.QuickFix.value, only):
                mine = [
                    each
                    for each in findings
                    if each.cell == cell
                    and _touches(answers.range_of(lines, each.start, each.end), params.range)
                ]
                offers = actions.offers(document, mine, self.options.reason)
                found.extend(self._action(document, offer, lines, params) for offer in offers)
            fixable = any(each.fix is not None and each.fix.safe for each in findings)
            if fixable and _wants(_FIX_ALL, only):
                action = types.CodeAction("devlint: fix all that is safe", _FIX_ALL, data={"uri": uri})
                if self._resolves:
                    found.append(action)
                elif only:
                    found.append(self._resolved(action))
            return found

        found: list[types.CodeAction] | None = await self._asked(uri, find)
        return found or []

    def _action(
        self, document: Document, offer: actions.Offer, lines: Lines, params: types.CodeActionParams
    ) -> types.CodeAction:
        place = answers.range_of(lines, offer.finding.start, offer.finding.end)
        shown = [
            each
            for each in params.context.diagnostics
            if each.code == offer.finding.code and each.range == place
        ]
        return types.CodeAction(
            offer.title,
            types.CodeActionKind.QuickFix,
            diagnostics=shown or None,
            is_preferred=offer.preferred or None,
            edit=self._edit(document, offer.edits),
        )

    def _edit(self, document: Document, edits: actions.Edits) -> types.WorkspaceEdit:
        found: dict[str, list[types.TextEdit]] = {}
        versions: dict[str, int | None] = {}
        for cell, replacements in edits.items():
            part = document.part(cell)
            lines = part.lines(self.documents.encoding)
            versions[part.uri] = part.version
            found[part.uri] = [
                types.TextEdit(answers.range_of(lines, each.start, each.end), each.content)
                for each in replacements
            ]
        workspace = self.pygls.client_capabilities.workspace
        takes = workspace.workspace_edit if workspace is not None else None
        return answers.edit(found, versions if takes is not None and takes.document_changes else None)

    async def _resolve(self, action: types.CodeAction) -> types.CodeAction:
        return await self.desk.ask(lambda: self._resolved(action))

    def _resolved(self, action: types.CodeAction) -> types.CodeAction:
        data: Any = action.data
        document = self.documents.get(data["uri"]) if isinstance(data, dict) and "uri" in data else None
        if document is not None:
            project = self.analyses.project_with(self.documents.texts())
            settings = self.analyses.settings(document.path)
            edits = actions.all_fixed(document, settings, project if document.on_disk else None)
            action.edit = self._edit(document, edits)
        return action

    def _now(self, document: Document) -> Sequence[Finding]:
        """Return the findings of a document as it is."""
        known = self._linted.get(document.uri)
        if known is not None and known[0] is document:
            return known[1].findings
        return self.analyses.lint(document, self.documents.texts()).findings

    @property
    def _resolves(self) -> bool:
        said = self.pygls.client_capabilities.text_document
        code_action = said.code_action if said is not None else None
        resolves = code_action.resolve_support if code_action is not None else None
        return resolves is not None and "edit" in resolves.properties


def _function(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a method as a function: pygls puts attributes on what it is given."""
    if inspect.iscoroutinefunction(handler):

        async def answer(params: Any) -> Any:
            return await handler(params)

        return answer

    def handle(params: Any) -> Any:
        return handler(params)

    return handle


_LONG = 60
"""Characters of source that are said again."""
_WITHOUT_A_PLACE = frozenset(
    ("library", "None", "number", "string", "dtype", "function", "class", "other", "truth value", "container")
)


def _rules_at(lines: Lines, position: Position) -> str:
    """Return the page of the rule whose code stands in a comment at a place."""
    row = lines.rows[position.row - 1] if position.row <= len(lines.rows) else ""
    comment = row.find("#")
    for found in _CODE.finditer(row):
        if 0 <= comment < found.start() < position.column <= found.end() + 1:
            from ..match.registry import installed

            rule = installed().get(found[0])
            if rule is not None:
                return f"**{rule.code} {rule.name}**: {rule.summary}"
    return ""


def _wants(kind: str, only: Iterable[str]) -> bool:
    """Whether a client that names kinds means this one, or a kind that it is one of."""
    only = list(only)
    return not only or any(kind == each or kind.startswith(f"{each}.") for each in only)


def _touches(one: types.Range, other: types.Range) -> bool:
    return one.start <= other.end and other.start <= one.end


def _is_alive(process: int) -> bool:
    if os.name == "nt":  # there, the pipe ends with the client
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
