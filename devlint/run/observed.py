"""Sets findings beside what a run has seen: `--with-trace FILE` reads what `devlint trace` has written."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import DevlintError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..finding import Finding

_VERSION = 1


class Trace(NamedTuple):
    """What is known of a run."""

    sees: frozenset[str]
    """The codes that a run can find at the line that a rule reports."""
    ran: dict[tuple[str, int], int]
    """How many calls of torch each line has made, by absolute path and row."""
    found: dict[tuple[str, int], frozenset[str]]
    """The codes that were found at a line, or that say something of it."""
    codes: frozenset[tuple[str, str]]
    """In which file which code was found anywhere."""

    def mark(self, findings: Iterable[Finding]) -> list[Finding]:
        """Say of each finding whether the run has seen it, or has come past its line without it."""
        return [finding._replace(message=finding.message + self._said(finding)) for finding in findings]

    def _said(self, finding: Finding) -> str:
        if finding.cell is not None:
            return ""
        path = os.path.abspath(finding.path)
        rows = [(path, row) for row in range(finding.start.row, finding.end.row + 1)]
        if any(finding.code in self.found.get(row, ()) for row in rows):
            return " (observed)"
        times = max((self.ran.get(row, 0) for row in rows), default=0)
        if not times or finding.code not in self.sees or (path, finding.code) in self.codes:
            return ""
        return " (contradicted: the line was run)"


def read(path: str) -> Trace:
    """Read what `devlint trace --output-format json` has written; raises DevlintError if it is not that.

    Paths in it are relative to the current folder, as they were for the run.
    """
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        return _trace(data)
    except OSError as error:
        raise DevlintError(f"--with-trace: {path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DevlintError(f"--with-trace: {path} is not what `devlint trace` writes") from error


def _trace(data: dict[str, Any]) -> Trace:
    if data["version"] != _VERSION:
        raise ValueError(data["version"])
    found: dict[tuple[str, int], set[str]] = {}
    for each in data["found"]:
        first, last = each["rows"]
        places = [(each["path"], row) for row in range(first, last + 1)]
        for place, row in (*places, *map(tuple, each["related"])):
            found.setdefault((os.path.abspath(place), row), set()).add(each["code"])
    return Trace(
        frozenset(data["sees"]),
        {(os.path.abspath(place), row): times for place, row, times in data["ran"]},
        {key: frozenset(codes) for key, codes in found.items()},
        frozenset((os.path.abspath(each["path"]), each["code"]) for each in data["found"]),
    )
