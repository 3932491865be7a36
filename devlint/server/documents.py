"""The documents that a client has open: files, and notebooks, whose cells are documents of their own."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types
from pygls.uris import to_fs_path

from .positions import UTF16, Lines, changed

if TYPE_CHECKING:
    from collections.abc import Sequence

_PYTHON = "python"


class Document(NamedTuple):
    """A file in one state of its editing."""

    uri: str
    path: str
    """Where it is, or what to call it where it is on no disk."""
    text: str
    version: int | None
    on_disk: bool = True
    """Whether its address is that of a file."""
    cells: tuple[Cell, ...] | None = None
    """Of a notebook, its cells of every kind; the text is then the notebook's JSON."""

    def part(self, cell: int | None) -> Part:
        """Return the document, or the one of a cell by its number, that places count in."""
        if self.cells is None or cell is None:
            return Part(self.uri, self.text, self.version)
        found = self.cells[cell - 1]
        return Part(found.uri, found.text, found.version)

    def parts(self) -> list[Part]:
        """Return all that the client knows as documents of their own."""
        if self.cells is None:
            return [self.part(None)]
        return [self.part(number) for number in range(1, len(self.cells) + 1)]

    def cell_of(self, uri: str) -> int | None:
        """Return the number of a cell, from 1, by its address."""
        for number, cell in enumerate(self.cells or (), 1):
            if cell.uri == uri:
                return number
        return None


class Cell(NamedTuple):
    """A cell of a notebook."""

    uri: str
    text: str
    version: int | None
    kind: types.NotebookCellKind
    language: str


class Part(NamedTuple):
    """What the client knows as one document."""

    uri: str
    text: str
    version: int | None

    def lines(self, encoding: str) -> Lines:
        """Return its rows."""
        return Lines(self.text, encoding)


def path_of(uri: str) -> str | None:
    """Return the path of a file's address; None for another address."""
    return to_fs_path(uri) if uri.startswith("file:") else None


class Documents:
    """What is open, by address."""

    def __init__(self) -> None:
        """Begin with nothing open."""
        self.encoding = UTF16
        self._open: dict[str, Document] = {}
        self._texts: dict[str, types.TextDocumentItem] = {}
        """The cells' texts."""
        self._notebooks: dict[str, types.NotebookDocument] = {}
        self._owners: dict[str, str] = {}
        """The notebook of each cell."""

    def get(self, uri: str) -> Document | None:
        """Return a document by its address, or that of one of its cells."""
        return self._open.get(self._owners.get(uri, uri))

    def all(self) -> list[Document]:
        """Return all documents."""
        return list(self._open.values())

    def texts(self) -> dict[str, str]:
        """Return the unsaved text of all files, by path."""
        return {each.path: each.text for each in self.all() if each.on_disk}

    # Files

    def opened(self, item: types.TextDocumentItem) -> Document | None:
        """Open a document; None where it is no Python."""
        path = path_of(item.uri)
        if item.language_id != _PYTHON and not (path or "").endswith((".py", ".pyi")):
            return None
        name = os.path.normpath(path) if path is not None else f"<{item.uri.rpartition('/')[2]}>"
        found = Document(item.uri, name, item.text, item.version, path is not None)
        self._open[item.uri] = found
        return found

    def changed(self, params: types.DidChangeTextDocumentParams) -> Document | None:
        """Change a document."""
        uri = params.text_document.uri
        known = self._open.get(uri)
        if known is None:
            return None
        text = self._edited(known.text, params.content_changes)
        found = self._open[uri] = known._replace(text=text, version=params.text_document.version)
        return found

    def closed(self, uri: str) -> Document | None:
        """Close a document."""
        return self._open.pop(uri, None)

    def _edited(self, text: str, changes: Sequence[types.TextDocumentContentChangeEvent]) -> str:
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = change.range.start, change.range.end
                places = (start.line, start.character), (end.line, end.character)
                text = changed(text, *places, change.text, self.encoding)
            else:
                text = change.text
        return text

    # Notebooks

    def notebook_opened(self, params: types.DidOpenNotebookDocumentParams) -> Document | None:
        """Open a notebook and the documents of its cells."""
        notebook = params.notebook_document
        self._notebooks[notebook.uri] = notebook
        for item in params.cell_text_documents:
            self._texts[item.uri] = item
        return self._as_document(notebook)

    def notebook_changed(self, params: types.DidChangeNotebookDocumentParams) -> Document | None:
        """Change the cells of a notebook, or the texts of some."""
        notebook = self._notebooks.get(params.notebook_document.uri)
        if notebook is None:
            return None
        notebook.version = params.notebook_document.version
        change = params.change.cells
        if change is not None and change.structure is not None:
            array = change.structure.array
            cells = list(notebook.cells)
            cells[array.start : array.start + array.delete_count] = array.cells or []
            notebook.cells = cells
            for item in change.structure.did_open or ():
                self._texts[item.uri] = item
            for gone in change.structure.did_close or ():
                self._texts.pop(gone.uri, None)
                self._owners.pop(gone.uri, None)
        for cell in (change.data if change is not None else None) or ():
            for known in notebook.cells:
                if known.document == cell.document:
                    known.kind = cell.kind
        for text in (change.text_content if change is not None else None) or ():
            item = self._texts[text.document.uri]
            item.text = self._edited(item.text, text.changes)
            item.version = text.document.version
        return self._as_document(notebook)

    def notebook_closed(self, params: types.DidCloseNotebookDocumentParams) -> Document | None:
        """Close a notebook."""
        uri = params.notebook_document.uri
        self._notebooks.pop(uri, None)
        for cell in params.cell_text_documents:
            self._texts.pop(cell.uri, None)
            self._owners.pop(cell.uri, None)
        return self._open.pop(uri, None)

    def _as_document(self, notebook: types.NotebookDocument) -> Document | None:
        path = path_of(notebook.uri)
        cells = []
        for cell in notebook.cells:
            item = self._texts.get(cell.document)
            self._owners[cell.document] = notebook.uri
            text, version = ("", None) if item is None else (item.text, item.version)
            language = "" if item is None else item.language_id
            cells.append(Cell(cell.document, text, version, cell.kind, language))
        name = os.path.normpath(path) if path is not None else f"<{notebook.uri.rpartition('/')[2]}>.ipynb"
        if not name.endswith(".ipynb"):
            return None
        found = Document(notebook.uri, name, _json(cells), notebook.version, path is not None, tuple(cells))
        self._open[notebook.uri] = found
        return found


def _json(cells: Sequence[Cell]) -> str:
    """Return a notebook's cells as its file would have them."""
    code = types.NotebookCellKind.Code
    return json.dumps(
        {
            "cells": [
                {
                    "cell_type": "code" if cell.kind is code and cell.language in ("", _PYTHON) else "raw",
                    "metadata": {},
                    "source": cell.text,
                }
                for cell in cells
            ],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )
