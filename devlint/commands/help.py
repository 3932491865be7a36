"""The command `help [COMMAND]`: what a command, or devlint itself, takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Run the command and return the exit status."""
    from .cli import main as run

    return run([*arguments[:1], "--help"])
