"""Where in a program something happens: which frames are its own, and which call of theirs is running."""

from __future__ import annotations

import ast
import bisect
import dis
import functools
import linecache
import os
import site
import sys
import sysconfig
from typing import TYPE_CHECKING, NamedTuple

from ..finding import Position

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Place(NamedTuple):
    """A stretch of a file."""

    path: str
    start: Position
    end: Position


def _libraries() -> tuple[str, ...]:
    named = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    found = [*named, *site.getsitepackages(), site.getusersitepackages(), _HERE]
    return tuple({os.path.realpath(folder) + os.sep for folder in found if folder})


_LIBRARIES = _libraries()
_INSTALLED = {"site-packages", "dist-packages"}
_own: list[str] = []
_starts = {os.path.join(_HERE, "runtime", "execute.py")}
"""What starts a program: what has called it is not of the program."""
_cells: list[Callable[[str], str | None]] = []
"""What knows by the names of their code the cells of a notebook, and what to call them."""


def own(folder: str) -> None:
    """Take a folder for the program's, though it may be installed."""
    _own.append(os.path.realpath(folder) + os.sep)
    is_own.cache_clear()


def own_cells(named: Callable[[str], str | None], start: str) -> None:
    """Take for the program's the cells that this has a name for; `start` is the file of what runs them."""
    _cells.append(named)
    _starts.add(start)
    is_own.cache_clear()


def _cell(path: str) -> str | None:
    return next(filter(None, (named(path) for named in _cells)), None)


def own_folders() -> list[str]:
    """The folders that were taken for the program's."""
    return list(_own)


@functools.cache
def is_own(path: str) -> bool:
    """Whether a file is the program's, not a library's."""
    if _cell(path) is not None:
        return True
    if path.startswith("<"):
        return False
    real = os.path.realpath(path)
    if real.startswith(tuple(_own)):
        return True
    return not (real.startswith(_LIBRARIES) or _INSTALLED & set(real.split(os.sep)))


def stack(depth: int = 1) -> Iterator[FrameType]:
    """All frames, from the caller's on."""
    frame: FrameType | None = sys._getframe(depth + 1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def own_frames() -> list[FrameType]:
    """The program's own frames, the innermost first."""
    return list(_own_frames())


def _own_frames() -> Iterator[FrameType]:
    for frame in stack(2):
        path = frame.f_code.co_filename
        if path in _starts:
            return
        if is_own(path):
            yield frame


def innermost() -> FrameType | None:
    """The program's innermost frame."""
    return next(_own_frames(), None)


def calls_directly(frame: FrameType, between: frozenset[str]) -> bool:
    """Whether nothing but these files stands between a frame and the caller."""
    for each in stack():
        if each is frame:
            return True
        path = each.f_code.co_filename
        if path not in between and not path.startswith(_HERE):
            return False
    return False


def place_of(frame: FrameType) -> Place:
    """Where the expression stands that a frame is evaluating: all of its line where Python does not tell."""
    code, line = frame.f_code, frame.f_lineno
    path = shown(code.co_filename)
    rows = _positions(code)
    found = rows[frame.f_lasti // 2] if frame.f_lasti // 2 < len(rows) else (None,) * 4
    if None in found:
        return _whole_line(code.co_filename, line)
    row, end_row, column, end_column = found
    assert row is not None
    assert end_row is not None
    return Place(path, _position(code, row, column), _position(code, end_row, end_column))


def _whole_line(path: str, line: int) -> Place:
    text = linecache.getline(path, line).rstrip()
    first = len(text) - len(text.lstrip()) + 1
    return Place(shown(path), Position(line, first), Position(line, max(len(text), first) + 1))


def _position(code: CodeType, row: int, column: int | None) -> Position:
    """Python counts bytes."""
    before = linecache.getline(code.co_filename, row).encode()[: column or 0]
    return Position(row, len(before.decode(errors="replace")) + 1)


@functools.cache
def _positions(code: CodeType) -> list[tuple[int | None, int | None, int | None, int | None]]:
    return list(code.co_positions()) if sys.version_info >= (3, 11) else []


def shown(path: str) -> str:
    """A path as the linter shows it: relative, if it is below the current folder; a cell by its name."""
    if (cell := _cell(path)) is not None:
        return cell
    relative = os.path.relpath(path)
    return os.path.abspath(path) if relative.startswith(os.pardir) else relative


def drops(frame: FrameType) -> bool:
    """Whether a frame throws away the result of the call that it is making."""
    offsets, names = _instructions(frame.f_code)
    # The current offset may lie among the cache entries of the call.
    following = bisect.bisect_right(offsets, frame.f_lasti)
    return names[following : following + 1] == ["POP_TOP"]


@functools.cache
def _instructions(code: CodeType) -> tuple[list[int], list[str]]:
    found = [each for each in dis.get_instructions(code) if each.opname not in ("CACHE", "NOP")]
    return [each.offset for each in found], [each.opname for each in found]


def is_of_something_held(frame: FrameType, place: Place) -> bool:
    """Whether the running call is a method of what has a name, and not of what another call has just made."""
    lines = linecache.getlines(frame.f_code.co_filename)[place.start.row - 1 : place.end.row]
    if not lines:
        return False
    lines[-1] = lines[-1][: place.end.column - 1] if place.start.row != place.end.row else lines[-1]
    text = "".join(lines) if len(lines) > 1 else lines[0][: place.end.column - 1]
    try:
        parsed = ast.parse(text[place.start.column - 1 :].strip())
    except SyntaxError:
        return False
    statement = parsed.body[0] if parsed.body else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and not any(isinstance(part, ast.Call) for part in ast.walk(call.func))
    )


def cut(error: BaseException | None) -> None:
    """Leave devlint's own frames out of a traceback, as those of torch's C++ are."""
    trace = None if error is None else error.__traceback__
    while trace is not None:
        while trace.tb_next is not None and trace.tb_next.tb_frame.f_code.co_filename.startswith(_HERE):
            trace.tb_next = trace.tb_next.tb_next
        trace = trace.tb_next


def last_place(error: BaseException) -> Place | None:
    """The line of the program that an error has left last."""
    trace, found = error.__traceback__, None
    while trace is not None:
        if is_own(trace.tb_frame.f_code.co_filename):
            found = trace
        trace = trace.tb_next
    if found is None:
        return None
    path, line = found.tb_frame.f_code.co_filename, found.tb_lineno
    return _whole_line(path, line)
