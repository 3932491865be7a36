"""Where the CPU time of one run goes, stage by stage, and how much work each stage is given.

    python benchmarks/stages.py FOLDER

It runs `devlint check --select ALL` in this process with the stages wrapped; time is told without that of the
stages inside, such as other files that are analysed when one asks for them. The wrapping itself costs a few
per cent.
"""

from __future__ import annotations

import ast
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from devlint.commands import cli
from devlint.infer import file as files
from devlint.infer import room
from devlint.match.watch import Matcher
from devlint.run import lint
from devlint.source import sift, unreadable

SECONDS: Counter[str] = Counter()
CALLS: Counter[str] = Counter()
RUNS: Counter[tuple[int, str]] = Counter()
_open: list[float] = []
"""The seconds that stages inside have taken, of each stage that is under way."""


def _staged(stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
    def timed(*args: Any, **keywords: Any) -> Any:
        CALLS[stage] += 1
        _open.append(0.0)
        start = time.process_time()
        try:
            return work(*args, **keywords)
        finally:
            took = time.process_time() - start
            SECONDS[stage] += took - _open.pop()
            if _open:
                _open[-1] += took

    return timed


def _wrap(owner: Any, name: str, stage: str) -> None:
    setattr(owner, name, _staged(stage, getattr(owner, name)))


def _count_runs() -> None:
    run = files.File._run

    def counted(self: files.File, function: Any, informed: Any) -> Any:
        RUNS[id(self), function.name] += 1
        return run(self, function, informed)

    files.File._run = counted  # type: ignore[method-assign]


def main() -> int:
    """Run, and print a table."""
    from devlint import infer
    from devlint.commands import check
    from devlint.project import resolve
    from devlint.visit import visitor

    _wrap(check, "find", "walk")
    _wrap(check, "read_named", "read")
    _wrap(sift, "matters", "sift")
    _wrap(sift, "suppresses", "sift")
    _wrap(unreadable, "find_unreadable", "compile what is not inferred")
    _wrap(ast, "parse", "parse")
    _wrap(resolve.Layout, "_find", "find imports")
    _wrap(room, "with_room", "infer: the rest")
    _wrap(infer, "with_room", "infer: the rest")
    _wrap(files.File, "_run", "infer: functions")
    _wrap(files.File, "_rerun_general", "infer: again, attributes")
    _wrap(files.File, "_rerun_informed", "infer: again, arguments")
    _wrap(files.File, "module_summary", "summarise")
    _wrap(files.File, "release", "release")
    _wrap(infer, "Settled", "settle")
    _wrap(infer, "observed", "settle and observe")
    _wrap(Matcher, "matching", "match")
    _wrap(visitor, "visit", "visit (LibCST)")
    _wrap(check._Check, "_print", "report")
    _wrap(lint, "_settled", "comments")
    _count_runs()
    arguments = [
        "--select",
        "ALL",
        "--exit-zero",
        "--no-cache",
        "--jobs",
        "1",
        "--output-file",
        os.devnull,
        *sys.argv[1:],
    ]
    start = time.process_time()
    cli.main(arguments)
    total = time.process_time() - start
    for stage, seconds in SECONDS.most_common():
        print(f"{stage:32}{seconds:8.2f} s {100 * seconds / total:5.1f} % {CALLS[stage]:8} calls")
    print(f"{'all':32}{total:8.2f} s; started after {start:.2f} s")
    print(f"{len(RUNS)} functions were run {sum(RUNS.values())} times")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
