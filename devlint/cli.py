"""The command line: arguments in, text and an exit status out."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from .console import say
from .errors import DevlintError

if TYPE_CHECKING:
    from collections.abc import Sequence

CLEAN, FOUND, FAILED = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run devlint and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        # File names and code may hold what the terminal's encoding does not.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        status = _dispatch(arguments)
        sys.stdout.flush()
        return status
    except DevlintError as error:
        say(error)
        return FAILED
    except BrokenPipeError:  # the reader, such as `head`, has gone
        _close_stdout()
        return FOUND
    except OSError as error:
        say(f"cannot write the report: {error.strerror}")
        _close_stdout()
        return FAILED
    except KeyboardInterrupt:
        return 130


def _close_stdout() -> None:
    """Send what is still to be written nowhere: Python would complain again when it closes stdout."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(arguments: list[str]) -> int:
    command = arguments[0] if arguments else "check"
    if command in ("rule", "rules"):
        from . import explain

        return explain.main(arguments)
    if command == "verify":
        from .runtime.verify import main as verify

        return verify(arguments[1:])
    from .check import check
    from .options import parse

    return check(parse(arguments[1:] if command == "check" else arguments))
