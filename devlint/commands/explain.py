"""The commands `rule CODE` and `rules`: the rules' own documentation."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from ..console import escaped, say
from ..finding import Severity
from ..match.faults import unusable
from ..match.registry import installed, meant
from ..report import address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..match.registry import Installed


def main(arguments: Sequence[str]) -> int:
    """Run `rule` or `rules` and return the exit status."""
    try:
        _explain(arguments)
    finally:  # a rule that is not there may be one of these
        for problem in unusable():
            say(problem)
    return 2 if unusable() else 0


def one() -> argparse.ArgumentParser:
    """Return the parser of `rule`."""
    parser = argparse.ArgumentParser(prog="devlint rule", description="Explain a rule.")
    parser.add_argument("rules", nargs="*", metavar="RULE", help="codes, prefixes, names, or ALL")
    parser.add_argument("--all", action="store_true", help="explain all rules")
    return _with_format(parser)


def all_of_them() -> argparse.ArgumentParser:
    """Return the parser of `rules`."""
    return _with_format(argparse.ArgumentParser(prog="devlint rules", description="List the rules."))


def _with_format(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")
    return parser


def _explain(arguments: Sequence[str]) -> None:
    if arguments[0] == "rules":
        options = all_of_them().parse_args(arguments[1:])
        rules = list(installed().values())
    else:
        parser = one()
        options = parser.parse_args(arguments[1:])
        if options.all is bool(options.rules):
            parser.error("expected rules, or --all")
        rules = meant(["ALL"] if options.all else options.rules)
    if options.output_format == "json":
        found = list(map(as_object, rules))
        single = arguments[0] == "rule" and not options.all and len(found) == 1
        sys.stdout.write(f"{escaped(json.dumps(found[0] if single else found, indent=2))}\n")
    elif arguments[0] == "rules":
        sys.stdout.write(listing())
    else:
        _show("\n".join(map(page, rules)))


def as_object(rule: Installed) -> dict[str, Any]:
    """Return a rule as plain data."""
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "severity": rule.severity.value,
        "default": rule.severity is not Severity.NOTE and not rule.preview,
        "preview": rule.preview,
        "explanation": rule.page,
        "url": address.page(rule.code, rule.name),
    }


def listing() -> str:
    """Return a line for each rule; those that are off unless selected are marked."""
    rules = installed().values()
    width = max(len(rule.name) for rule in rules)
    return "".join(
        f"{rule.code}  {rule.name:<{width}}  {rule.severity.value:<7}  {rule.summary}"
        f"{f' ({rule.state})' if rule.preview or rule.severity is Severity.NOTE else ''}\n"
        for rule in rules
    )


def page(rule: Installed) -> str:
    """Return the documentation of a rule in Markdown."""
    url = address.page(rule.code, rule.name)
    more = f"\nMore: <{url}>\n" if url else ""
    return f"# {rule.name} ({rule.code})\n\n*{rule.severity.value}, {rule.state}*\n\n{rule.page}\n{more}"


def _show(markdown: str) -> None:
    """Print a page: set by rich on a terminal, as plain Markdown elsewhere."""
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(markdown))
    else:
        sys.stdout.write(markdown)
