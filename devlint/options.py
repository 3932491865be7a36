"""The command line: what may be said on it."""

from __future__ import annotations

import argparse

from . import __version__
from .report import FORMATS

_EPILOG = """\
commands:
  check PATHS   lint files and folders; the default, so `devlint src/` will do
  rule CODE     explain a rule
  rules         list the rules
  verify        prove the rules with torch (needs devlint[runtime])

exit status: 0 nothing found, 1 findings, 2 a mistake in usage or configuration, or an internal error
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the `check` command."""
    top = argparse.ArgumentParser(
        prog="devlint",
        description="Find device-placement bugs in PyTorch code before it reaches a GPU.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = top.add_argument
    add("paths", nargs="*", default=["."], metavar="PATH", help="files or folders; - for stdin (default: .)")
    add("--version", action="version", version=f"devlint {__version__}")
    add("-v", "--verbose", action="store_true", help="show the traceback of an internal error")
    add("-q", "--quiet", action="store_true", help="print findings only, no summary")

    rules = top.add_argument_group("rules").add_argument
    for flag, what in (
        ("--select", "run these rules alone: codes or prefixes, separated by commas, or ALL"),
        ("--extend-select", "run these rules too"),
        ("--ignore", "leave these rules out"),
    ):
        rules(flag, type=_codes, action="extend", metavar="CODES", help=what)

    config = top.add_argument_group("configuration").add_argument
    config("--config", metavar="FILE", help="read this file in place of the nearest pyproject.toml")
    config("--isolated", action="store_true", help="read no configuration file")
    config("--force-exclude", action="store_true", help="hold the excludes against files named outright too")
    config("--no-cache", action="store_true", help="accepted for later: nothing is cached yet")
    config("--stdin-filename", metavar="NAME", help="the name of what is read from stdin")

    fixes = top.add_argument_group("fixes").add_argument
    fixes("--fix", action="store_true", help="apply the fixes that keep behaviour on the cpu")
    fixes("--unsafe-fixes", action="store_true", default=None, help="count the other fixes in too")
    fixes("--diff", action="store_true", help="print what --fix would change, and change nothing")

    output = top.add_argument_group("output").add_argument
    output("--output-format", choices=FORMATS, help="default: full")
    output("--output-file", metavar="FILE", help="write the report there")
    output("--statistics", action="store_true", help="count the findings by rule")
    output("--exit-zero", action="store_true", help="exit 0 in spite of findings")
    output("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")
    return top


def _codes(text: str) -> list[str]:
    return [code.strip() for code in text.split(",") if code.strip()]
