"""What may be printed: nothing that comes from the linted repository steers a terminal or a CI server."""

from __future__ import annotations

import os
import re
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

# C0 (but the tab), DEL and C1 hold what ends lines and begins escape sequences; U+2028 and U+2029 end lines
# as well; the others turn the direction of the text around them.
_STEERING = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# GitHub's runner takes a line for a command if the first thing on it is `::`, and, like Azure's agent, if one
# of the older forms stands anywhere on it.
_LEADING = re.compile(r"(^\s*):(?=:)")
_ANYWHERE = re.compile(r"#(?=#(?:vso)?\[)")
_PLACEHOLDER = "\ufffd"
_SERVERS = ("GITHUB_ACTIONS", "TF_BUILD")
"""Variables that tell of a CI server which reads commands from the log."""


def printable(text: str) -> str:
    """Return a text as one line, as many characters long, with a sign in place of each that steers."""
    text = _STEERING.sub(_picture, text)
    return _ANYWHERE.sub(_PLACEHOLDER, _LEADING.sub(rf"\1{_PLACEHOLDER}", text))


def shown(path: str) -> str:
    """Return the path of another file as it is said: relative where it lies below."""
    below = os.path.relpath(path)
    return path if below.startswith(os.pardir) else below


def quoted(path: str) -> str:
    """Return the name of a file; where it is not printable, in quotes and with escapes, as git has it.

    `patch` and `git apply` read both.
    """
    if printable(path) == path and not path.startswith('"'):
        return path
    text = _STEERING.sub(_octal, path.replace("\\", "\\\\").replace('"', '\\"'))
    text = _LEADING.sub(r"\1\\072", text)
    return '"' + _ANYWHERE.sub(r"\\043", text) + '"'


def escaped(text: str) -> str:
    r"""Return JSON in ASCII with what steers inside its strings as `\uXXXX`."""
    return _ANYWHERE.sub(r"\\u0023", text.replace("\x7f", r"\u007f"))


def diff(text: str, stream: TextIO) -> str:
    """Return a diff for `stream`: as it is, unless a terminal or the log of a CI server would show it.

    Of files that hold nothing that steers, both are the same.
    """
    if not _shows(stream):
        return text
    return "\n".join(map(_row, text.split("\n")))


def say(*messages: object) -> None:
    """Print messages of devlint's own on stderr, each as one line; the first says whose they are."""
    for number, message in enumerate(messages):
        tell(f"{'' if number else 'devlint: '}{message}")


def tell(*lines: str) -> None:
    """Print lines on stderr; where that is closed or full, the exit status says enough."""
    with suppress(OSError, ValueError):
        for line in lines:
            print(printable(line), file=sys.stderr, flush=True)


def _shows(stream: TextIO) -> bool:
    if stream.isatty():
        return True
    if not any(os.environ.get(name) for name in _SERVERS):
        return False
    try:
        return not stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return True


def _row(row: str) -> str:
    """Return a row of a diff: the sign that it begins with, what can be shown, its own end."""
    end = "\r" * row.endswith("\r")
    return row[:1] + printable(row[1:].removesuffix(end)) + end


def _picture(match: re.Match[str]) -> str:
    """Return the sign that Unicode has for a control character, or one that stands for any."""
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else _PLACEHOLDER


def _octal(match: re.Match[str]) -> str:
    return "".join(f"\\{byte:03o}" for byte in match[0].encode())
