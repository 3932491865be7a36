"""Reads the code cells of a Jupyter notebook as one program, and writes fixed cells back into its JSON."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

from ..bind.sections import Section
from ..finding import Edit, Position
from . import magics
from .text import decode, split_rows
from .unreadable import UNDECODABLE, UNPARSABLE, no_notebook, too_deep, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..finding import Finding, Fix, Related

_OLDEST = 4
"""The first format in which a notebook has cells and not worksheets."""
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class Notebook(NamedTuple):
    """A notebook as one program: its code cells in order, each ending its last row."""

    sources: Mapping[int, str]
    """The code cells as they were written, by their number, from 1 over cells of every kind."""
    code: str
    """All of them, with what is no Python masked and cells that are indented as a whole dedented."""
    sections: tuple[Section, ...]
    """Where each cell is in `code`, and how it is run."""
    leads: tuple[tuple[int, ...], ...]
    """For each section, how many characters stand before each of its rows in the cell and not in `code`."""
    problems: tuple[Finding, ...]
    """The cells that cannot be read, or the one reason why the notebook cannot."""

    def place(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return findings in `code` with the cell, and the rows and columns in it, that they are at."""
        placed = []
        for finding in findings:
            related = tuple(
                self._explaining(each) if each.path == finding.path else each for each in finding.related
            )
            section, layout = self._layout(finding.start.row)
            placed.append(_placed(finding, section, layout)._replace(related=related))
        return placed

    def row(self, cell: int, row: int) -> int | None:
        """Return the row of the program that a row of a cell is; None where it is none of a code cell."""
        for section in self.sections:
            if section.number == cell and 1 <= row <= len(section.rows):
                return section.rows.start + row - 1
        return None

    def column(self, row: int, column: int) -> int:
        """Return the column in the program, from 1, of one in the cell that a row of the program is in."""
        return column - self.position(Position(row, 1))[1].column + 1

    def position(self, position: Position) -> tuple[int, Position]:
        """Return the cell that a place in the program is in, and where in the cell it is."""
        section, layout = self._layout(position.row)
        return section.number, layout.position(position)

    def _layout(self, row: int) -> tuple[Section, _Layout]:
        at = bisect_right(self.sections, row, key=lambda section: section.rows.start) - 1
        section = self.sections[at]
        return section, _Layout(self.sources[section.number], section.rows, self.leads[at])

    def _explaining(self, related: Related) -> Related:
        section, layout = self._layout(related.start.row)
        start, end = layout.position(related.start), layout.position(related.end)
        return related._replace(start=start, end=end, cell=section.number)


def read(source: bytes | str, path: str) -> Notebook:
    """Return the code of a notebook; what cannot be read is among its `problems`."""
    try:
        text = source if isinstance(source, str) else decode(source).text
        if not text.strip():  # made, and not opened yet
            return Notebook({}, "", (), (), ())
        data = json.loads(text)
    except json.JSONDecodeError as error:
        return _broken(no_notebook(path, f"{error.msg} (JSON)", error.lineno, error.colno))
    except RecursionError:
        return _broken(too_deep(path, 1))
    except UNDECODABLE as error:
        return _broken(unreadable(path, error, source if isinstance(source, bytes) else b""))
    problem = _problem(data)
    if problem:
        return _broken(no_notebook(path, problem))
    sources = dict(_python(data))
    cells, sections = [], []
    problems: list[Finding] = []
    row = 1
    for number, written in sources.items():
        cell, unread = _cell(written, path)
        problems += [finding._replace(cell=number) for finding in unread]
        rows = range(row, row + _size(written))
        timed = frozenset(row + at - 1 for at in cell.timed)
        measured, apart = cell.runs is not magics.Runs.HERE, cell.runs is magics.Runs.APART
        sections.append(Section(number, rows, measured, apart, timed))
        cells.append(cell)
        row = rows.stop
    code = "".join(f"{cell.code}\n" for cell in cells)
    return Notebook(sources, code, tuple(sections), tuple(cell.leads for cell in cells), tuple(problems))


def replaced(raw: bytes, sources: Mapping[int, str]) -> bytes:
    """Return the notebook with other sources in some cells, and every byte around them as it was."""
    decoded = decode(raw)
    text = decoded.text
    _, start, _ = _member(text, _skip(text, 0), "cells")
    parts, done = [], 0
    for number, (_, cell, _) in enumerate(_items(text, start), 1):
        if number in sources:
            value, begin, end = _member(text, cell, "source")
            parts += [text[done:begin], _dumped(value, text, begin, end, sources[number])]
            done = end
    return decoded.encode("".join([*parts, text[done:]]))


def _broken(finding: Finding) -> Notebook:
    return Notebook({}, "", (), (), (finding,))


def _cell(source: str, path: str) -> tuple[magics.Cell, list[Finding]]:
    """Return a cell; where it cannot be read, a blank one and the reason."""
    raw = source.encode("utf-8", "replace")
    try:
        cell = magics.read(source)
    except UNPARSABLE as error:
        blank = magics.Cell(magics.blank(source), (), magics.Runs.HERE, frozenset())
        return blank, [unreadable(path, error, raw)]
    if cell.error is None:
        return cell, []
    finding = unreadable(path, cell.error, raw)
    layout = _Layout(source, range(1, 1 + _size(source)), cell.leads)
    at = layout.position(finding.start)
    return cell.blank(), [finding._replace(start=at, end=at)]


def _size(source: str) -> int:
    """Return how many rows a cell takes in the program, where its end is the end of a row."""
    return len(split_rows(source + "\n"))


def _problem(data: Any) -> str | None:
    """Return why parsed JSON is no notebook."""
    if not isinstance(data, dict):
        return "it holds no object (JSON)"
    if isinstance(data.get("nbformat"), int) and data["nbformat"] < _OLDEST:
        return f"format {data['nbformat']} is too old, open and save it with Jupyter"
    cells = data.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        return "it has no list of cells"
    for number, cell in enumerate(cells, 1):
        source = cell.get("source", "")
        lines = source if isinstance(source, list) else [source]
        if not all(isinstance(line, str) for line in lines):
            return f"the source of cell {number} is no text"
    return None


def _python(data: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the number and source of each cell that is in Python."""
    metadata = data.get("metadata")
    language = _at(metadata, "language_info", "name") or _at(metadata, "kernelspec", "language") or "python"
    if language != "python":
        return
    for number, cell in enumerate(data["cells"], 1):
        language = _at(cell, "metadata", "vscode", "languageId") or "python"
        if cell.get("cell_type") == "code" and language == "python":
            yield number, "".join(cell.get("source", ""))


def _at(data: Any, *keys: str) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


class _Layout(NamedTuple):
    """How a cell was written."""

    source: str
    rows: range
    """The rows of the program that it takes."""
    leads: Sequence[int]

    def position(self, position: Position) -> Position:
        """Return where a place in the program is in the cell."""
        row = position.row - self.rows.start + 1
        lead = self.leads[row - 1] if row <= len(self.leads) else 0
        return Position(row, position.column + lead)

    def edit(self, edit: Edit) -> Edit:
        """Return an edit of the cell; new rows are indented as the cell is."""
        start, end = self.position(edit.start), self.position(edit.end)
        content = edit.content
        if not any(self.leads):
            return Edit(start, end, content)
        lead = split_rows(self.source)[start.row - 1][: start.column - edit.start.column]
        first, *others = split_rows(content) or [""]
        content = first + "".join(lead + row if row.strip() else row for row in others)
        whole_rows = edit.start.row < edit.end.row or edit.content.endswith(("\n", "\r"))
        if edit.start.column == edit.end.column == 1 and whole_rows:
            return Edit(start._replace(column=1), end._replace(column=1), lead * bool(content) + content)
        return Edit(start, end, content)


def _placed(finding: Finding, section: Section, layout: _Layout) -> Finding:
    return finding._replace(
        start=layout.position(finding.start),
        end=layout.position(finding.end),
        fix=finding.fix and _moved(finding.fix, layout),
        noqa_row=finding.noqa_row - section.rows.start + 1,
        cell=section.number,
    )


def _moved(fix: Fix, layout: _Layout) -> Fix | None:
    """Return the fix with places in the cell, or `None` where it changes other cells too."""
    if not all(place.row in layout.rows for edit in fix.edits for place in (edit.start, edit.end)):
        return None
    return fix._replace(edits=tuple(layout.edit(edit) for edit in fix.edits))


def _member(text: str, at: int, name: str) -> tuple[Any, int, int]:
    """Return value and place of the last member of a name, the one that readers of JSON take."""
    *_, found = (member[1:] for member in _members(text, at) if member[0] == name)
    return found


def _members(text: str, at: int) -> Iterator[tuple[str, Any, int, int]]:
    """Yield key, value and the value's place for each member of the JSON object that begins at `at`."""
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        value, end = _DECODER.raw_decode(text, start)
        yield key, value, start, end
        at = _next(text, end)


def _items(text: str, at: int) -> Iterator[tuple[Any, int, int]]:
    """Yield each item of the JSON array that begins at `at`, and its place."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        yield value, at, end
        at = _next(text, end)


def _next(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _dumped(value: Any, text: str, start: int, end: int, source: str) -> str:
    """Return a source as JSON in the manner of what stood there; rows that stay keep their spelling."""
    ascii_only = text.isascii()
    if isinstance(value, str):
        return json.dumps(source, ensure_ascii=ascii_only)
    items = list(_items(text, start))
    spelling = {line: text[begin:stop] for line, begin, stop in items}
    lead = text[start + 1 : items[0][1]]
    between = text[items[0][2] : items[1][1]] if len(items) > 1 else f",{lead}"
    by_nbformat = value == "".join(value).splitlines(keepends=True)  # at every separator Unicode has
    rows = source.splitlines(keepends=True) if by_nbformat else split_rows(source)
    dumped = (spelling.get(row) or json.dumps(row, ensure_ascii=ascii_only) for row in rows)
    return f"[{lead}{between.join(dumped)}{text[items[-1][2] : end]}"
