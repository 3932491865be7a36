"""The commands `rule CODE` and `rules`: the rules' own documentation."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from ..console import say
from ..finding import Severity
from ..match.registry import installed, meant, unusable

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


def _explain(arguments: Sequence[str]) -> None:
    if arguments[0] == "rules":
        argparse.ArgumentParser(prog="devlint rules", description="List the rules.").parse_args(arguments[1:])
        sys.stdout.write(listing())
        return
    parser = argparse.ArgumentParser(prog="devlint rule", description="Explain a rule.")
    parser.add_argument("rules", nargs="+", metavar="RULE", help="codes, prefixes, names, or ALL")
    _show("\n".join(map(page, meant(parser.parse_args(arguments[1:]).rules))))


def listing() -> str:
    """Return a line for each rule; those that are off unless selected are marked."""
    rules = installed().values()
    width = max(len(rule.name) for rule in rules)
    return "".join(
        f"{rule.code}  {rule.name:<{width}}  {rule.severity.value:<7}  {rule.summary}"
        f"{' (off unless selected)' if rule.severity is Severity.NOTE else ''}\n"
        for rule in rules
    )


def page(rule: Installed) -> str:
    """Return the documentation of a rule in Markdown."""
    on = "off unless selected" if rule.severity is Severity.NOTE else "on by default"
    return f"# {rule.name} ({rule.code})\n\n*{rule.severity.value}, {on}*\n\n{rule.page}\n"


def _show(markdown: str) -> None:
    """Print a page: set by rich on a terminal, as plain Markdown elsewhere."""
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(markdown))
    else:
        sys.stdout.write(markdown)
