"""What installed rules and knowledge declare, in the user's cache folder: to know it, nothing is imported.

The file is data, and is never trusted to name code: `registry.load` imports a module only below an entry
point that is installed. It counts where the user owns it, nobody else can write it, and nothing has changed
that it was made from. Whatever is wrong with it, the rules are imported once instead.
"""

from __future__ import annotations

import marshal
import os
import stat
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from .. import __version__
from ..finding import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..core.watches import Watch
    from ..knowledge import Table
    from .watch import Entry

_FORMAT = 4
_MAX_SIZE = 1 << 22
_PARTS = 5
_SPOILT = (OSError, ValueError, TypeError, EOFError, IndexError, RecursionError, MemoryError, SystemError)
"""What is raised where the file is not what was written."""
_SEVERITIES = frozenset(severity.value for severity in Severity)

Stamp = tuple[str, int, int]
"""A file or folder, the time of its last change in nanoseconds, and its size; -1 where there is none."""


class Declared(NamedTuple):
    """What installed packages bring."""

    rules: tuple[Entry, ...]
    tables: tuple[Table, ...] = ()
    """Rows of knowledge of other packages."""
    versions: str = ""
    """What tells this devlint, its rules and its knowledge from any other; empty where nobody can say."""


def declared(declare: Callable[[], tuple[Declared, Iterable[str] | None]]) -> Declared:
    """Return what all installed packages bring, from the cache if that is still true.

    Otherwise `declare` imports the rules; it also names the files that their declarations depend on, or gives
    None where they must be imported again next time.
    """
    found = _decoded(_kept())
    if found is None:
        found, files = declare()
        path = _path()
        if path is not None and files is not None:
            _write(path, found, files)
    return found


def versions() -> str | None:
    """Return what tells this devlint, its rules and knowledge from any other; None if that is not at hand."""
    *_, found = _kept() or (None,)
    return found if type(found) is str else None


def forget() -> None:
    """Read the file again when it is asked for."""
    _kept.cache_clear()


@lru_cache(maxsize=1)
def _kept() -> tuple[Any, ...] | None:
    path = _path()
    return _read(path) if path is not None else None


def folder(*, below: bool = False) -> str | None:
    """Return the user's cache folder for devlint; None where there is none that can be trusted.

    One below the working directory could have come with the code that is linted: only who runs that code
    anyway may take it, and says so with `below`.
    """
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(base):  # the specification says to ignore it
            base = os.path.expanduser("~/.cache")
    if not os.path.isabs(base):
        return None
    try:
        found = os.path.realpath(os.path.join(base, "devlint"))
        here = os.path.realpath(os.getcwd())
    except OSError:
        return None
    inside = found == here or found.startswith(os.path.join(here, ""))
    return None if inside and not below else found


def _path() -> str | None:
    """The manifest's file: one for each interpreter and path of modules."""
    where = folder()
    if where is None:
        return None
    which = repr((sys.executable, sys.version, sys.path)).encode("utf-8", "backslashreplace")
    return os.path.join(where, f"rules-{crc32(which):08x}")


def _environment() -> tuple[Any, ...]:
    """What the manifest holds for: the interpreter, devlint, and the folders that packages are in."""
    return (_FORMAT, __version__, sys.version, sys.executable, tuple(map(_stamp, sys.path)))


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path or ".")
    except (OSError, ValueError):
        return path, -1, -1
    return path, status.st_mtime_ns, -1 if stat.S_ISDIR(status.st_mode) else status.st_size


def _read(path: str) -> tuple[Any, ...] | None:
    """Return what is in the file, if it counts; what it says of rules and knowledge is not looked at."""
    try:
        if not is_private(os.stat(os.path.dirname(path)), stat.S_ISDIR):
            return None
        # Opened once and asked about then: a name could mean another file a moment later.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not is_private(os.fstat(descriptor), stat.S_ISREG):
                return None
            raw = file.read(_MAX_SIZE)
        environment, files, *_ = found = marshal.loads(raw)
        if len(found) != _PARTS or environment != _environment():
            return None
        return None if any(_stamp(each[0]) != each for each in files) else tuple(found)
    except _SPOILT:
        return None


def _decoded(kept: tuple[Any, ...] | None) -> Declared | None:
    if kept is None or not kept[2]:
        return None
    _, _, rules, tables, versions = kept
    try:
        return Declared(tuple(map(_entry, rules)), tuple(map(_table, tables)), _text(versions))
    except _SPOILT:
        return None


def is_private(status: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    """Whether something is of a kind, and the user alone can have written it."""
    if not is_kind(status.st_mode):
        return False
    return sys.platform == "win32" or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


def _entry(data: Any) -> Entry:
    """Return an entry; raises ValueError where the data is none."""
    from .watch import Entry  # here as below: who asks for the versions alone need not wait for this

    *texts, watches, words, preview = data
    code, name, severity, module, rule = map(_text, texts)
    if severity not in _SEVERITIES:
        raise ValueError(severity)
    return Entry(
        *(code, name, severity, module, rule),
        tuple(_watch(*watch) for watch in watches),
        frozenset((_text(kind), _text(word)) for kind, word in words),
        preview is True,
    )


def _watch(event: Any, names: Any, tests: Any) -> Watch:
    from ..core.watches import Test, Watch
    from .watch import problem

    made: list[Test[Any]] = []
    for name, wanted, negated in tests:
        made.append(Test(_text(name), tuple(map(_text, wanted)), negated is True))
    watch = Watch(_text(event), tuple(map(_text, names)), tuple(made))
    if problem(watch):
        raise ValueError(watch)
    return watch


def _table(data: Any) -> Table:
    from ..knowledge import Row, Table

    prefix, text, gives, place, signature, devices, host, topics, by, source, probe = data
    devices, host = tuple(map(_text, devices)), tuple(map(_text, host))
    texts = map(_text, (by, source, probe))
    row = Row(
        _text(gives), _text(place), _text(signature), devices, host, frozenset(map(_text, topics)), *texts
    )
    return Table(_text(prefix), row, _text(text))


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError(value)
    return value


def _write(path: str, found: Declared, files: Iterable[str]) -> None:
    """Keep the manifest if that is possible; the next run can do without."""
    rules = tuple(
        (
            *entry[:5],
            tuple((event, names, tuple(map(tuple, tests))) for event, names, tests in entry.watches),
            tuple(sorted(entry.words)),
            entry.preview,
        )
        for entry in found.rules
    )
    tables = tuple(
        (prefix, text, *row[:5], tuple(sorted(row.topics)), *row[6:]) for prefix, row, text in found.tables
    )
    temporary = f"{path}.{os.getpid()}"
    try:
        data: Any = (_environment(), tuple(map(_stamp, sorted(files))), rules, tables, found.versions)
        raw = marshal.dumps(data)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        if not is_private(os.stat(os.path.dirname(path)), stat.S_ISDIR):
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(raw)
        os.replace(temporary, path)
    except (OSError, ValueError):
        return
