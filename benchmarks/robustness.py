"""Lints every Python file below some folders, each by itself, and lists the crashes and the slowest.

    python benchmarks/robustness.py [FOLDER...]

Without a folder it takes the library and the test-suite of the Python that runs it: bad syntax, odd
encodings, NUL characters, deep nesting. `--all` makes every file count as one that uses torch, so that none
is sifted out.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback

from devlint.config.settings import Selection, Settings
from devlint.run.lint import lint
from devlint.source import sift

EVERYTHING = Settings(selections=(Selection(("ALL",)),))


def main() -> int:
    """Lint, print what went wrong, and return 1 if anything did."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", default=[os.path.dirname(os.__file__)])
    parser.add_argument("--all", action="store_true", help="infer files that do not mention torch too")
    options = parser.parse_args()
    if options.all:
        sift.matters = lambda raw, words: True
    times: list[tuple[float, str]] = []
    counts = {"files": 0, "findings": 0, "unreadable": 0, "crashes": 0}
    for folder in options.folders:
        for parent, _, names in os.walk(folder):
            for name in names:
                if name.endswith((".py", ".pyi")):
                    path = os.path.join(parent, name)
                    with open(path, "rb") as file:
                        raw = file.read()
                    start = time.process_time()
                    try:
                        findings = lint(raw, path, EVERYTHING)
                    except Exception:
                        counts["crashes"] += 1
                        print(path, traceback.format_exc(), sep="\n", file=sys.stderr)
                        findings = []
                    times.append((time.process_time() - start, path))
                    counts["files"] += 1
                    counts["findings"] += len(findings)
                    counts["unreadable"] += any(finding.code == "DEV000" for finding in findings)
    print(", ".join(f"{number} {what}" for what, number in counts.items()))
    print(f"{sum(seconds for seconds, _ in times):.1f} s of CPU time; the slowest:")
    for seconds, path in sorted(times, reverse=True)[:5]:
        print(f"{seconds:8.2f} s  {path}")
    return int(counts["crashes"] > 0)


if __name__ == "__main__":
    sys.exit(main())
