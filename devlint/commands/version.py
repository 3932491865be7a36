"""The command `version`."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from .. import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    top = argparse.ArgumentParser(prog="devlint version", description="Print the version.")
    top.add_argument("--output-format", choices=("text", "json"), default="text")
    return top


def main(arguments: Sequence[str]) -> int:
    """Run the command and return the exit status."""
    as_json = parser().parse_args(arguments).output_format == "json"
    sys.stdout.write(f"{json.dumps({'version': __version__}) if as_json else f'devlint {__version__}'}\n")
    return 0
