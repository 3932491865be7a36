"""A file cannot be read as Python

devlint parses every file it is given, with the Python that runs it. A file that is not valid Python
(Python 2, a template, a file cut short), that is not in the encoding it declares, that holds NUL
characters or nests too deeply gets this one finding, on the line where reading failed, and nothing
else is said about it. Other files are linted all the same.

A notebook that is no valid JSON gets it once; of one that is, each cell that is not valid Python, and its
other cells are linted without it. Magics and cells in other languages are not Python's business.

A file of more than four million bytes that mentions nothing devlint has rules about is taken for data, and
not parsed.

Newer syntax is unreadable to an older interpreter, which is a warning: run devlint with the Python version
that the code is written for. Files that are no Python by intent belong in `extend-exclude`.

In flake8, which shows findings and nothing else, it also tells of a file that could not be checked as it
should: its configuration is wrong, or a rule is broken.
"""

from __future__ import annotations

import sys

from ..finding import Finding, Position, Severity

_PYTHON = f"Python {sys.version_info[0]}.{sys.version_info[1]}"

CODE = "DEV000"
NAME = "unreadable"
SEVERITY = Severity.ERROR

_LIMIT = "too many "
"""How messages on what the interpreter limits begin: brackets and blocks inside each other."""
_ESCAPES = ("(unicode error)", "(value error)")
"""How those on escapes in strings begin, which no version of Python reads; LibCST does not look at them."""
_MAX_NEWER = 1_000_000
"""Bytes of a file that is looked at once more, for newer syntax."""
_DATA = 4_000_000
"""Bytes of a file that is data if no rule watches anything in it: to parse a table takes gigabytes."""
UNDECODABLE = (SyntaxError, UnicodeError, LookupError)
"""What `text.decode` raises: a bad cookie, bytes that are no text, an encoding that does not exist."""
UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What `ast.parse` raises; ValueError is a NUL character."""


def find_unreadable(path: str, source: bytes | str) -> list[Finding]:
    """Check a file that nothing else will be parsing.

    The symbol table is the cheapest parse Python has: half the time of `ast.parse`, which
    builds Python objects. It is stricter too, so `ast.parse` has the last word.
    """
    if len(source) > _DATA:
        return []
    import symtable

    try:
        symtable.symtable(source, path, "exec")  # type: ignore[arg-type]  # bytes work, and their cookies count
    except (*UNPARSABLE, LookupError):
        import ast

        from .text import decode

        try:
            ast.parse(source if isinstance(source, str) else decode(source).text)
        except (*UNDECODABLE, *UNPARSABLE) as error:
            return [unreadable(path, error, source if isinstance(source, bytes) else source.encode())]
    return []


def unreadable(path: str, error: Exception, raw: bytes = b"") -> Finding:
    """Return the finding for a file whose reading raised `error`."""
    if isinstance(error, SyntaxError) and (error.lineno or b"\0" not in raw):
        found = _finding(path, error.lineno or 1, f"not valid {_PYTHON}: {error.msg}", error.offset or 1)
        if str(error.msg).startswith((_LIMIT, *_ESCAPES)) or not _is_newer(raw):
            return found
        newer = f"newer than {_PYTHON}, with which devlint runs: {error.msg}"
        return found._replace(message=newer, severity=Severity.WARNING)
    if isinstance(error, UnicodeDecodeError):
        row = raw.count(b"\n", 0, error.start) + 1
        return _finding(path, row, f"not valid {error.encoding}: {error.reason}")
    if isinstance(error, (RecursionError, MemoryError)):
        return too_deep(path, 1)
    if b"\0" in raw:
        row = raw.count(b"\n", 0, raw.find(b"\0")) + 1
        return _finding(path, row, f"not valid {_PYTHON}: source code cannot contain null bytes")
    return _finding(path, 1, f"not valid {_PYTHON}: {error}")


def _is_newer(raw: bytes) -> bool:
    """Whether it is Python to LibCST, which knows all versions."""
    if not 0 < len(raw) <= _MAX_NEWER:
        return False
    import libcst

    try:
        libcst.parse_module(raw)
    except Exception:  # whatever it makes of what is no Python
        return False
    return True


def unopened(path: str, error: OSError) -> Finding:
    """Return the finding for a file that cannot be opened."""
    return _finding(path, 1, f"cannot be opened: {error.strerror}")


def no_notebook(path: str, message: str, row: int = 1, column: int = 1) -> Finding:
    """Return the finding for a file that is no notebook in spite of its name."""
    return _finding(path, row, f"not a notebook: {message}", column)


def too_deep(path: str, row: int) -> Finding:
    """Return the finding for code that nests deeper than the interpreter's stack."""
    return _finding(path, row, "nested too deeply to be read")


def unsupported(path: str, row: int, message: str) -> Finding:
    """Return the finding for a statement that Python reads and the installed LibCST does not."""
    return _finding(path, row, f"not read by the installed LibCST: {message}")


def _finding(path: str, row: int, message: str, column: int = 1) -> Finding:
    place = Position(max(row, 1), max(column, 1))
    return Finding(path, place, place, CODE, NAME, SEVERITY, message, "", None, place.row)
