"""`devlint trace`: runs a program on the simulated device; tells where tensors are made, moved, read, met."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from ..claim import Cause
from ..console import printable, say
from . import running

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..finding import Finding
    from .record import Record

_HERE = frozenset({Cause.OPTIMIZER, Cause.WORKER})
"""What shows at another line than that which a rule reports: that it is not seen says nothing of a line."""


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit status, which is that of `devlint run`."""
    options = parser().parse_args(argv)
    target = running.target_of(options)
    machine = options.output_format == "json" and options.output_file is None
    followed = running.follow(options, target, machine=machine, trace=True)
    record = followed.record
    assert record is not None
    if options.output_format == "json":
        text = json.dumps(as_json(record, followed.findings), indent=1) + "\n"
    else:
        text = "".join(f"{line}\n" for line in as_text(record))
    if followed.end.message:
        say(followed.end.message)
    if options.output_file is not None:
        from ..run.output import write

        write(options.output_file, text.encode("utf-8", "backslashreplace"))
    else:
        sys.stdout.write(text)
    return followed.status


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    about = "Run a program on a simulated accelerator, and tell where tensors are made, moved, read and met."
    usage = "devlint trace [options] SCRIPT [ARGS ...]\n       devlint trace [options] -m MODULE [ARGS ...]"
    made = argparse.ArgumentParser(
        prog="devlint trace", usage=usage, description=about, epilog=running.EPILOG
    )
    running.add_program(made)
    made.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")
    made.add_argument("-o", "--output-file", metavar="FILE", help="write it there")
    made.set_defaults(stop=False, cpu_compare=False)
    return made


def as_json(record: Record, findings: Sequence[Finding]) -> Mapping[str, object]:
    """What happened, for programs; `devlint check --with-trace` reads it."""
    from .record import listed

    rules = running.by_cause()
    return {
        "version": 1,
        "sees": sorted(rules[cause].code for cause in Cause if cause not in _HERE),
        "ran": [[path, row, times] for (path, row), times in sorted(record.ran.items())],
        "found": [
            {
                "code": each.code,
                "path": each.path,
                "rows": [each.start.row, each.end.row],
                "related": [[at.path, at.start.row] for at in each.related],
            }
            for each in findings
        ],
        "rows": [{**row._asdict(), "times": times, "bytes": size} for row, times, size in listed(record)],
    }


def as_text(record: Record) -> Iterator[str]:
    """What happened, line by line, and what was moved in all."""
    from .record import listed

    rows = listed(record)
    path = ""
    for row, times, size in rows:
        if row.path != path:
            path = row.path
            yield printable(path)
        where = f"{row.source} → {row.target}" if row.target else row.source
        often = f"{times} x" if times > 1 else ""
        amount = _bytes(size) if size else ""
        yield printable(
            f"{row.row:6}  {row.kind:5}  {where:16}  {row.name:20}  {often:>8}  {amount:>10}".rstrip()
        )
    moved: dict[str, int] = {}
    for row, _, size in rows:
        if row.kind == "moved":
            moved[f"{row.source} → {row.target}"] = moved.get(f"{row.source} → {row.target}", 0) + size
    yield "moved: " + (
        ", ".join(f"{_bytes(size)} {where}" for where, size in sorted(moved.items())) or "nothing"
    )


def _bytes(size: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
