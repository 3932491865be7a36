"""The command line: what may be said on it."""

from __future__ import annotations

import argparse
import os
import re
from typing import TYPE_CHECKING, NoReturn

from .. import __version__
from ..console import printable
from ..report import FORMATS
from .settings import release

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CONFLICTS = {
    "write_baseline": ("add_noqa", "fix", "fix_only", "diff", "diff_base", "prune_baseline"),
    "prune_baseline": ("diff",),
    "add_noqa": ("fix", "fix_only", "diff", "ignore_noqa"),
    "no_baseline": ("baseline", "write_baseline", "prune_baseline"),
    "diff_base": ("fix", "fix_only", "diff"),  # fixing moves the lines that git has counted
}
_NO_COMMENT = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What ends a comment, steers a terminal, shows text in another order than it is read in, or is no text."""
_EPILOG = """\
commands:
  check PATHS   lint files and folders; the default, so `devlint src/` will do
  rule CODE     explain a rule, or --all of them
  rules         list the rules
  explain PLACE tell what is known of a line, FILE:LINE, and why each rule spoke or did not
  config [KEY]  list the keys of a configuration, or describe one
  server        serve an editor (needs devlint[server])
  run SCRIPT    run a program on a simulated GPU and find what stops it there (needs devlint[runtime])
  clean         delete the results that are kept
  verify        prove the rules with torch (needs devlint[runtime])
  version       print the version
  generate-shell-completion SHELL

exit status: 0 nothing found, 1 findings, 2 a mistake in usage or configuration, or an internal error
"""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of the `check` command; a mistake in them ends the program."""
    top = parser()
    for argument in arguments[: arguments.index("--") if "--" in arguments else None]:
        # A program that hands on the names of files, such as pre-commit, must not hand on a flag.
        if len(argument) > 1 and argument.startswith("-") and os.path.lexists(argument):
            top.error(f"{argument} is a flag or a file here: ./{argument} is the file")
    options = top.parse_args([part for argument in arguments for part in _parts(argument)])
    for one, others in _CONFLICTS.items():
        for other in others:
            if getattr(options, one) and getattr(options, other):
                top.error(f"{_flag(one)} does not go with {_flag(other)}")
    if options.reason and not options.add_noqa:
        top.error("--reason needs --add-noqa")
    options.config, options.keys = _configuration(options.config, top)
    for flag in ("add_noqa", "watch", "shard"):
        if "-" in options.paths and getattr(options, flag):
            top.error(f"{_flag(flag)} does not go with stdin")
    return options


def parser() -> argparse.ArgumentParser:
    """Return the parser of the `check` command."""
    top = _Parser(
        prog="devlint",
        description="Find device-placement bugs in PyTorch code before it reaches a GPU.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,  # a flag that is added later must not change what a script says
    )
    add = top.add_argument
    add("paths", nargs="*", default=["."], metavar="PATH", help="files or folders; - for stdin (default: .)")
    add("-V", "--version", action="version", version=f"devlint {__version__}")
    add("-v", "--verbose", action="store_true", help="show the traceback of an internal error")
    add("-q", "--quiet", action="store_true", help="print findings only, no summary")
    add("-s", "--silent", action="store_true", help="print no findings either")

    rules = top.add_argument_group("rules").add_argument
    for flag, what in (
        ("--select", "run these rules alone: codes, prefixes or names, separated by commas, or ALL"),
        ("--extend-select", "run these rules too"),
    ):
        rules(flag, type=_some, action="extend", metavar="CODES", help=what)
    rules("--ignore", type=_list, action="extend", metavar="CODES", help="leave these rules out")
    for flag, what in (
        ("--per-file-ignores", "leave rules out in files, in place of what the configuration says"),
        ("--extend-per-file-ignores", "leave rules out in files too"),
    ):
        rules(flag, type=_pairs, action="extend", metavar="GLOB:CODE", help=what)
    switch(rules, "--preview", "run the rules that are not settled yet too")
    switch(rules, "--lint-tests", "say of test code too what is said of programs alone")
    rules("--ignore-noqa", action="store_true", help="let no comment silence anything")
    rules(
        "--max-findings",
        type=_limits,
        action="extend",
        metavar="CODE=N",
        help="do not fail before there are more than so many findings of a code or prefix",
    )

    config = top.add_argument_group("configuration").add_argument
    config(
        "--config",
        type=_name,
        action="append",
        metavar="FILE|KEY=VALUE",
        help="read this file in place of the nearest pyproject.toml, or set a key, whatever a file says",
    )
    config("--isolated", action="store_true", help="read no configuration file")
    config(
        "--target-torch", type=_release, metavar="X.Y", help="the oldest torch that the code must run with"
    )
    config(
        "--show-settings", action="store_true", help="print the settings of the first file, and lint nothing"
    )
    config("-n", "--no-cache", action="store_true", help="look at every file, and keep no results")
    config("--shard", type=_shard, metavar="K/N", help="lint the K-th of N parts, for jobs side by side")
    config("--dask", type=_name, metavar="ADDRESS", help="lint on this cluster (needs devlint[dask])")
    config("--cache-dir", type=_name, metavar="DIR", help="keep results there (default: .devlint_cache)")
    config("-j", "--jobs", type=_jobs, metavar="N", help="lint with so many processes (default: the cores)")
    config("--stdin-filename", metavar="NAME", help="the name of what is read from stdin")

    files = top.add_argument_group("files").add_argument
    files(
        "--exclude",
        type=_list,
        action="extend",
        metavar="GLOBS",
        help="leave these out, in place of the default",
    )
    files("--extend-exclude", type=_list, action="extend", metavar="GLOBS", help="leave these out too")
    switch(files, "--force-exclude", "hold the excludes against files named outright too")
    switch(files, "--respect-gitignore", "leave out what git ignores (default)")
    files("--show-files", action="store_true", help="print the files that would be linted, and lint nothing")

    fixes = top.add_argument_group("fixes").add_argument
    switch(fixes, "--fix", "apply the fixes that keep behaviour on the cpu")
    switch(fixes, "--unsafe-fixes", "count the other fixes in too")
    switch(fixes, "--fix-only", "apply fixes, and neither tell of nor fail for what is left")
    switch(fixes, "--show-fixes", "list what was fixed")
    fixes("--diff", action="store_true", help="print what --fix would change, and change nothing")
    for flag, what in (
        ("--fixable", "apply fixes of these rules alone"),
        ("--extend-fixable", "apply fixes of these rules too"),
        ("--unfixable", "apply no fix of these rules"),
    ):
        fixes(flag, type=_list, action="extend", metavar="CODES", help=what)

    output = top.add_argument_group("output").add_argument
    output("--output-format", choices=FORMATS, help="default: full, or what DEVLINT_OUTPUT_FORMAT says")
    output("-o", "--output-file", type=_name, metavar="FILE", help="write the report there")
    output("--statistics", action="store_true", help="count the findings by rule")
    output("-e", "--exit-zero", action="store_true", help="exit 0 in spite of findings")
    output("--exit-non-zero-on-fix", action="store_true", help="exit 1 if anything was fixed")
    output("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")
    output(
        "-w", "--watch", action="store_true", help="lint again whenever a file changes (needs devlint[watch])"
    )

    old = top.add_argument_group("old code").add_argument
    old("--add-noqa", action="store_true", help="silence what is found by `# noqa: CODE`; =TEXT is a reason")
    old("--reason", type=_remark, metavar="TEXT", help="what --add-noqa writes after the codes")
    old(
        "--baseline",
        type=_name,
        metavar="FILE",
        help="leave out the findings that this file lists; tell which are fixed",
    )
    old("--no-baseline", action="store_true", help="report what the configuration's baseline lists")
    old("--write-baseline", action="store_true", help="list all findings in the --baseline file")
    old("--prune-baseline", action="store_true", help="take out of the --baseline file what is fixed")
    old(
        "--diff-base",
        type=_name,
        metavar="REV",
        help="report only what touches lines changed since this git revision",
    )
    old(
        "--with-trace",
        type=_name,
        metavar="FILE",
        help="mark what a run has observed or contradicted, by what `devlint trace` wrote there",
    )
    return top


class _Parser(argparse.ArgumentParser):
    """Repeats in a mistake what the command line says, which may be the names of files."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def switch(add: Callable[..., object], flag: str, what: str) -> None:
    """Add a flag that can be taken back by `--no-…`, whichever comes last; None where neither is there."""
    add(flag, action=argparse.BooleanOptionalAction, help=what)


def _parts(argument: str) -> list[str]:
    """Return `--add-noqa=TEXT` as the flags that it stands for."""
    flag, equals, text = argument.partition("=")
    return [flag, f"--reason={text}"] if equals and flag == "--add-noqa" else [argument]


def _configuration(given: Sequence[str] | None, top: argparse.ArgumentParser) -> tuple[str | None, str]:
    """Return the file that `--config` names, and the keys that it sets, as TOML."""
    files = [each for each in given or () if "=" not in each or os.path.exists(each)]
    if len(files) > 1:
        top.error(f"--config names two files: {files[0]} and {files[1]}")
    keys = "\n".join(each for each in given or () if each not in files)
    return (files[0] if files else None), keys


def _pairs(text: str) -> list[tuple[str, str]]:
    found = []
    for item in _list(text):
        pattern, colon, code = item.rpartition(":")
        if not (pattern and colon and code):
            raise argparse.ArgumentTypeError(
                f"expected a pattern and a code, as in tests/*:DEV2, got {item!r}"
            )
        found.append((pattern, code))
    return found


def _limits(text: str) -> list[tuple[str, int]]:
    found = []
    for item in _list(text):
        code, _, number = item.partition("=")
        if not (code and number.isascii() and number.isdecimal()):
            raise argparse.ArgumentTypeError(f"expected a code and a number, as in DEV2=12, got {item!r}")
        found.append((code, int(number)))
    return found


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _list(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _some(text: str) -> list[str]:
    return _list(text) or _empty()


def _name(text: str) -> str:
    return text or _empty()


def _empty() -> NoReturn:
    """Refuse an empty value: it comes of a variable that is not set, and would be taken for another wish."""
    raise argparse.ArgumentTypeError("it is empty")


def _remark(text: str) -> str:
    if _NO_COMMENT.search(text):
        raise argparse.ArgumentTypeError(f"{text!r} does not fit into a comment of one line")
    return text


def _shard(text: str) -> tuple[int, int]:
    part, slash, parts = text.partition("/")
    if slash and part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts):
        return int(part), int(parts)
    raise argparse.ArgumentTypeError(f"expected a part and how many there are, such as 2/8, got {text!r}")


def _jobs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, got {text!r}")
    return int(text)


def _release(text: str) -> tuple[int, int]:
    try:
        return release(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
