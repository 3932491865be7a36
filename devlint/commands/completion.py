"""The command `generate-shell-completion SHELL`: a script that completes commands, flags and their values."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ..config import options
from ..errors import DevlintError
from ..runtime import running, verify
from . import explain, explain_line, keys, serve, version

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")
_FILES = frozenset({"FILE", "FILE|KEY=VALUE", "PATH"})


def main(arguments: Sequence[str]) -> int:
    """Run the command and return the exit status."""
    shell = _parser().parse_args(arguments).shell
    try:
        import shtab
    except ImportError:
        raise DevlintError("generate-shell-completion needs shtab: pip install shtab") from None
    sys.stdout.write(f"{shtab.complete(_whole(shtab.FILE), shell)}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    parser = argparse.ArgumentParser(
        prog="devlint generate-shell-completion",
        description="Print a script that completes devlint; it needs shtab.",
        epilog='In ~/.bashrc: eval "$(devlint generate-shell-completion bash)"',
    )
    parser.add_argument("shell", choices=_SHELLS, help="which shell it is for")
    return parser


def _whole(files: object) -> argparse.ArgumentParser:
    """Return a parser that has all commands below it, and the flags of `check`, which is the default."""
    check = options.parser()
    top = argparse.ArgumentParser(prog="devlint")
    commands = top.add_subparsers()
    others = (
        explain.one(),
        explain.all_of_them(),
        explain_line.parser(),
        serve.parser(),
        keys.parser(),
        running.parser(),
        verify.parser(),
        version.parser(),
        _parser(),
    )
    for parser in (check, *others):
        name = parser.prog.partition(" ")[2] or "check"
        commands.add_parser(name, parents=[parser], add_help=False, help=parser.description)
    for action in check._actions:
        if action.metavar in _FILES:
            action.complete = files  # type: ignore[attr-defined]  # what shtab looks at
        if action.option_strings and action.dest != "help":
            top._add_action(action)
    return top
