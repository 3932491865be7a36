"""The command line: arguments in, text and an exit status out."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from ..console import say
from ..errors import DevlintError
from ..problems import show_traceback, unforeseen

if TYPE_CHECKING:
    from collections.abc import Sequence

CLEAN, FOUND, FAILED = 0, 1, 2
_VERBOSE = frozenset({"-v", "--verbose"})
_MORE = {
    "clean": "cache",
    "config": "keys",
    "generate-shell-completion": "completion",
    "help": "help",
    "version": "version",
}
"""Commands that folders of code are called by too, and the modules that run them."""
_WITHOUT_VERBOSE = frozenset({*_MORE, "explain", "rule", "rules", "run", "server", "trace", "verify"})


def main(argv: Sequence[str] | None = None) -> int:
    """Run devlint and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_streams()
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
        _trace(error, arguments)
        what = "cannot write the report" if error.filename is None else error.filename
        say(f"{what}: {error.strerror or error}")
        _close_stdout()
        return FAILED
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # Python would exit with the status that means findings
        _trace(error, arguments)
        hint = "" if arguments[:1] and arguments[0] in _WITHOUT_VERBOSE else " (-v shows where)"
        say(f"{unforeseen(error)}{hint}")
        return FAILED


def _trace(error: Exception, arguments: list[str]) -> None:
    if not _VERBOSE.isdisjoint(arguments):
        show_traceback(error)


def _open_streams() -> None:
    """Stand something in for streams that were closed (`>&-`), for which Python has `None`.

    It would print to stdout what is meant for a closed stderr, and the next file to be opened, perhaps one
    that is being fixed, would have the number of the stream.
    """
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (handle := os.open(os.devnull, os.O_RDONLY)) <= 2:
        pass
    os.close(handle)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    if sys.stdout is None:  # takes nothing, so that a report is not lost in silence
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def _close_stdout() -> None:
    """Send what is still to be written nowhere: Python would complain again when it closes stdout."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(arguments: list[str]) -> int:
    command = arguments[0] if arguments else "check"
    if command in ("rule", "rules"):
        from . import explain

        return explain.main(arguments)
    if command == "explain":
        from .explain_line import main as explain_line

        return explain_line(arguments[1:])
    if command == "server":
        from .serve import main as serve

        return serve(arguments[1:])
    if command in _MORE:
        if len(arguments) == 1 and os.path.lexists(command):
            raise DevlintError(f"{command} is a command, and a path here: ./{command} is the path")
        return int(import_module(f"..commands.{_MORE[command]}", __package__).main(arguments[1:]))
    if command == "verify":
        from ..runtime.verify import main as verify

        return verify(arguments[1:])
    if command == "run":
        from ..runtime.running import main as run

        return run(arguments[1:])
    if command == "trace":
        from ..runtime.tracing import main as trace

        return trace(arguments[1:])
    from ..config.options import parse

    options = parse(arguments[1:] if command == "check" else arguments)
    from .check import check  # what `--help`, `--version` and mistakes can do without

    return check(options)
