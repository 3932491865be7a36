"""Reads the code cells of a Jupyter notebook as one program, and writes fixed cells back into its JSON."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from . import magics
from .finding import Edit, Position
from .text import decode, split_rows
from .unreadable import UNDECODABLE, UNPARSABLE, no_notebook, too_deep, unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from .finding import Finding, Fix

_OLDEST = 4
"""The first format in which a notebook has cells and not worksheets."""
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class Notebook(NamedTuple):
    """A notebook as one program: its code cells in order, each ending its last row."""

    sources: Mapping[int, str]
    """The code cells as they were written, by their number, from 1 over cells of every kind."""
    code: str
    """All of them, with what is no Python masked."""
    problems: tuple[Finding, ...]
    """The cells that cannot be read, or the one reason why the notebook cannot."""

    def place(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return findings in `code` with rows that count in their cell."""
        numbers = list(self.sources)
        sizes = (_size(source) for source in self.sources.values())
        starts = list(accumulate(sizes, initial=0))
        placed = []
        for finding in findings:
            at = bisect_right(starts, finding.start.row - 1) - 1
            placed.append(_placed(finding, numbers[at], range(starts[at] + 1, starts[at + 1] + 1)))
        return placed


def read(source: bytes | str, path: str) -> Notebook:
    """Return the code of a notebook; what cannot be read is among its `problems`."""
    try:
        text = source if isinstance(source, str) else decode(source).text
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
    code, problems = [], []
    for number, written in sources.items():
        try:
            masked = magics.mask(written)
        except UNPARSABLE as error:
            problems.append(unreadable(path, error, written.encode("utf-8", "replace"))._replace(cell=number))
            masked = magics.blank(written)
        code.append(masked + "\n")
    return Notebook(sources, "".join(code), tuple(problems))


def replaced(raw: bytes, sources: Mapping[int, str]) -> bytes:
    """Return the notebook with other sources in some cells, and every byte around them as it was."""
    decoded = decode(raw)
    text = decoded.text
    (start,) = (start for key, _, start, _ in _members(text, _SPACE.match(text).end()) if key == "cells")  # type: ignore[union-attr]
    parts, done = [], 0
    for number, (_, cell, _) in enumerate(_items(text, start), 1):
        if number in sources:
            value, begin, end = next(m[1:] for m in _members(text, cell) if m[0] == "source")
            parts += [text[done:begin], _dumped(value, text, begin, end, sources[number])]
            done = end
    return decoded.encode("".join([*parts, text[done:]]))


def _broken(finding: Finding) -> Notebook:
    return Notebook({}, "", (finding,))


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


def _placed(finding: Finding, cell: int, rows: range) -> Finding:
    def move(position: Position) -> Position:
        return position._replace(row=position.row - rows.start + 1)

    return finding._replace(
        start=move(finding.start),
        end=move(finding.end),
        fix=finding.fix and _moved(finding.fix, rows, move),
        noqa_row=finding.noqa_row - rows.start + 1,
        cell=cell,
    )


def _moved(fix: Fix, rows: range, move: Callable[[Position], Position]) -> Fix | None:
    """Return the fix with rows that count in the cell, or `None` where it changes other cells too."""
    if not all(place.row in rows for edit in fix.edits for place in (edit.start, edit.end)):
        return None
    return fix._replace(edits=tuple(Edit(move(e.start), move(e.end), e.content) for e in fix.edits))


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
