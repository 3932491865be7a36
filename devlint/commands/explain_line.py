"""The command `explain FILE:LINE[:COLUMN]`: what devlint knows there, and why each rule spoke or did not."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from ..config import flags
from ..config.discovery import Configs
from ..config.options import switch
from ..console import escaped, printable, say
from ..errors import DevlintError
from ..project.disk import project
from ..source.plain import read_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..run.explained import Said, Where
    from ..run.verdicts import Explanation

_OF_CELL = re.compile(
    r"(?P<path>.+?\.ipynb):(?:cell )?(?P<cell>\d+):(?P<line>\d+)(?::(?P<column>\d+))?", re.S
)
_OF_FILE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::(?P<column>\d+))?", re.S)


class Asked(NamedTuple):
    """A place on the command line."""

    path: str
    line: int
    column: int | None
    cell: int | None


def main(arguments: Sequence[str]) -> int:
    """Run the command and return the exit status."""
    options = parser().parse_args(arguments)
    asked = place(options.place)
    overrides = {} if options.preview is None else {"preview": options.preview}
    configs = Configs(flags.selection(options), options.config, options.isolated, overrides, warn=say)
    try:
        raw = read_named(asked.path)
    except OSError as error:
        raise DevlintError(f"cannot read {asked.path}: {error.strerror}") from error
    from ..run.explained import Explained
    from ..run.verdicts import explanation

    explained = Explained(raw, asked.path, configs.for_file(asked.path), project())
    found = explanation(explained, asked.line, asked.column, asked.cell)
    if options.output_format == "json":
        import json

        sys.stdout.write(escaped(json.dumps(as_object(found, os.path.abspath(asked.path)), indent=2)) + "\n")
        return 0
    row = explained.rows[explained.row(asked.line, asked.cell) - 1].strip() if explained.rows else ""
    cell = "" if asked.cell is None else f":cell {asked.cell}"
    lines = [f"{asked.path}{cell}:{asked.line}", f"    {row}", *_lines(found, options.verbose)]
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))
    return 0


def place(text: str) -> Asked:
    """Read `FILE:LINE[:COLUMN]`, of a notebook with the cell before the line; raises DevlintError."""
    found = _OF_CELL.fullmatch(text) or _OF_FILE.fullmatch(text)
    if found is None:
        raise DevlintError(f"expected FILE:LINE[:COLUMN], or FILE.ipynb:CELL:LINE[:COLUMN], got {text!r}")
    parts = found.groupdict()
    column, cell = parts["column"], parts.get("cell")
    return Asked(
        os.path.normpath(parts["path"]),
        int(parts["line"]),
        int(column) if column else None,
        int(cell) if cell else None,
    )


def _lines(found: Explanation, verbose: bool) -> Iterator[str]:
    for remark in found.remarks:
        yield f"  {remark}"
    if found.values:
        yield "values"
    for value in found.values:
        sure = "" if value.certain or value.kind == "unknown" else " (its use shows that)"
        yield f"  `{value.source}` is {_a(value.what)}{sure}"
        yield from (f"      {each}" for each in (*value.history, *value.meets))
    if found.guards:
        yield "circumstances"
        yield from (f"  {each}" for each in found.guards)
    if found.verdicts:
        yield "rules"
    others = [each.code for each in found.verdicts if each.outcome == "apart"]
    told = {(each.code, each.outcome, each.reasons): each for each in reversed(found.verdicts)}
    for verdict in reversed(told.values()):
        if verdict.outcome == "apart" and not verbose:
            continue
        yield f"  {verdict.code} {verdict.name} {_OUTCOMES[verdict.outcome]}"
        yield from (f"      {reason}" for reason in verdict.reasons)
    if others and not verbose:
        yield f"  about something else (-v tells): {', '.join(dict.fromkeys(others))}"


_OUTCOMES = {
    "spoke": "speaks",
    "suppressed": "is silenced",
    "note": "is not shown",
    "off": "is off",
    "silent": "is silent",
    "broken": "is broken",
    "apart": "is about something else",
}


def _a(what: str) -> str:
    if what.startswith(("unknown", "None")):
        return what
    if what.startswith(("device of", "generator of")):
        return f"the {what}"
    return f"{'an' if what[0] in 'aeio' else 'a'} {what}"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    found = argparse.ArgumentParser(
        prog="devlint explain",
        description="Tell what the values on a line are, and why each rule that looked spoke or did not.",
        epilog="exit status: 0 explained, 2 there is no such line, the file cannot be read, or wrong usage",
    )
    add = found.add_argument
    add("place", metavar="FILE:LINE[:COLUMN]", help="of a notebook FILE.ipynb:CELL:LINE[:COLUMN]")
    add("-v", "--verbose", action="store_true", help="tell of the rules that are about something else too")
    add("--output-format", choices=("text", "json"), default="text")
    add("--config", metavar="FILE", help="read this file in place of the nearest pyproject.toml")
    add("--isolated", action="store_true", help="read no configuration file")
    switch(add, "--preview", "as for `devlint check`")
    for flag in ("--select", "--extend-select", "--ignore"):
        add(flag, type=_codes, action="extend", metavar="CODES", help="as for `devlint check`")
    return found


def _codes(text: str) -> list[str]:
    return [code.strip() for code in text.split(",") if code.strip()]


def as_object(explanation: Explanation, path: str) -> Mapping[str, Any]:
    """Return an explanation as plain data, in the words that the `json` format of findings has."""

    def where(place: Where) -> dict[str, Any]:
        start, end = place.start, place.end
        return {
            "filename": place.path or path,
            "cell": place.cell,
            "location": {"row": start.row, "column": start.column},
            "end_location": {"row": end.row, "column": end.column},
        }

    def said(each: Said) -> dict[str, Any]:
        return {"message": each.message, **(where(each.where) if each.where is not None else {})}

    return {
        "values": [
            {
                "source": value.source,
                "kind": value.kind,
                "place": value.place or None,
                "certain": value.certain,
                "description": value.what,
                **where(value.where),
                "history": [said(each) for each in value.history],
                "meets": [said(each) for each in value.meets],
            }
            for value in explanation.values
        ],
        "guards": list(explanation.guards),
        "rules": [
            {
                "code": verdict.code,
                "name": verdict.name,
                "outcome": verdict.outcome,
                "reasons": list(verdict.reasons),
                **where(verdict.where),
            }
            for verdict in explanation.verdicts
        ],
        "remarks": list(explanation.remarks),
    }
