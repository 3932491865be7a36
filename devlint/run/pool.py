"""Shares the files of a run out among processes, through any executor of `concurrent.futures`."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ..errors import DevlintError
from ..match import registry
from .cached import Linted
from .work import Done, Portion, work

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from concurrent.futures import Executor, Future
    from multiprocessing.process import BaseProcess as ParentProcess

    from ..config.settings import Settings
    from ..project.store import Shelf
    from ..project.world import World

SMALL = 1 << 18
"""Bytes of source that one process has linted before others would have started."""
NO_PROCESSES = (OSError, ImportError, NotImplementedError)
"""What is raised where the system has no means for several processes."""
_LEAST = 1 << 15
"""Bytes of the smallest portion: handing over one costs a millisecond."""
_CGROUP = "/sys/fs/cgroup/cpu.max"


def cores() -> int:
    """Return how many processes can work at once: what the system, or a container's share of it, allows."""
    affinity = getattr(os, "sched_getaffinity", None)
    found = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        with open(_CGROUP, encoding="ascii") as file:
            quota, period = map(int, file.read().split())
        found = min(found, max(1, round(quota / period)))
    return found


def portions(
    paths: Sequence[str],
    settings: Callable[[str], Settings],
    workers: int,
    store: Shelf,
    shared: Shelf,
    follow: bool = False,
) -> list[Portion]:
    """Divide files into portions of neighbours, which tend to ask each other; the later, the smaller.

    So there is little to wait for in the end.
    """
    run, folder = os.urandom(16).hex(), os.getcwd()
    numbers: dict[Settings, int] = {}
    files = {path: numbers.setdefault(settings(path), len(numbers)) for path in paths}
    whole = Portion(run, folder, (), files, tuple(numbers), store, shared, registry.versions(), follow)
    sizes = [_size(path) for path in paths]
    left = sum(sizes)
    found: list[Portion] = []
    start = taken = 0
    for end, size in enumerate(sizes, 1):
        taken += size
        if end == len(sizes) or taken >= max(_LEAST, left / (2 * workers)):
            found.append(whole._replace(paths=tuple(paths[start:end])))
            start, left, taken = end, left - taken, 0
    return found


def is_small(paths: Sequence[str]) -> bool:
    """Whether files are so few and small that other processes would be of no help."""
    left = SMALL
    for path in paths:
        left -= _size(path)
        if left < 0:
            return len(paths) < 2
    return True


def processes(number: int, forks: bool = True) -> Executor:
    """Return an executor that has so many processes; each ends with this one, however that ends.

    They are forked where that is safe, and started anew otherwise. Raises `NO_PROCESSES`.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    class Apart(ProcessPoolExecutor):
        """Starts its processes, one at a time, as there is work for them."""

        def submit(self, *given: Any, **named: Any) -> Future[Any]:
            with _from_elsewhere():
                return super().submit(*given, **named)

    fork = forks and sys.platform == "linux" and threading.active_count() == 1
    if not fork and sys.version_info < (3, 11):
        raise NotImplementedError  # a new Python would import from the current folder
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()  # or each process would print what waits there
    if fork:
        return ProcessPoolExecutor(number, get_context("fork"), _begin)
    with _from_elsewhere():  # its semaphores have a process of their own that looks after them
        return Apart(number, get_context("spawn"), _begin)


@contextmanager
def _from_elsewhere() -> Iterator[None]:
    """Have a Python that is started meanwhile import nothing from the current folder."""
    name = "PYTHONSAFEPATH"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextmanager
def common_folder() -> Iterator[str]:
    """Give a folder for what the processes of a run learn; it is gone afterwards."""
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="devlint-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _begin() -> None:
    """Prepare a process: Ctrl-C is for the first of them, and the others end when it does."""
    import gc
    import signal
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(200_000, 20, 50)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: ParentProcess) -> None:
    parent.join()
    os._exit(1)


def all_linted(
    waiting: Iterable[Portion],
    executor: Callable[[], Executor],
    workers: int,
    unusable: dict[str, None],
    world: World | None = None,
) -> Generator[Linted]:
    """Yield what came of every file, as it comes in; `unusable` is for what keeps rules from being used,
    `world` for what was read.

    Portions that were under way when a process died are linted again, file by file: the one that it dies of
    is told of, the others are finished.
    """
    fresh, suspects = deque(waiting), deque[Portion]()
    pool: Executor | None = None
    running: dict[Future[Done], tuple[Portion, bool]] = {}
    """With whether nothing else was under way."""
    try:
        while fresh or suspects or running:
            if pool is None:
                pool = executor()
            alone = not fresh and bool(suspects)
            queue, most, broken = (suspects, 1, False) if alone else (fresh, workers, False)
            while queue and len(running) < most and not broken:
                portion = queue.popleft()
                try:
                    running[pool.submit(work, portion)] = portion, alone
                except BrokenExecutor:
                    queue.appendleft(portion)
                    broken = True
            for future in wait(running, return_when=FIRST_COMPLETED).done if running else ():
                portion, alone = running.pop(future)
                try:
                    done = future.result()
                except DevlintError:  # it concerns all the others too
                    raise
                except Exception as error:
                    broken |= isinstance(error, BrokenExecutor)
                    if alone:
                        yield _told(portion.paths[0], error)
                    else:
                        suspects.extend(_one_by_one(portion))
                    continue
                unusable.update(dict.fromkeys(done.unusable))
                if world is not None:
                    world.add(done.read)
                    world.is_steady &= done.is_steady
                yield from done.files
            if broken:
                for portion, _ in running.values():
                    suspects.extend(_one_by_one(portion))
                running.clear()
                pool.shutdown()
                pool = None
    finally:
        if pool is not None:
            _end(pool, now=bool(fresh or suspects or running))


def _one_by_one(portion: Portion) -> Iterator[Portion]:
    for path in portion.paths:
        yield portion._replace(paths=(path,))


def _told(path: str, error: Exception) -> Linted:
    died = isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"
    why = "the process that linted it died" if died else f"{type(error).__name__}: {error}"
    return Linted(path, failure=DevlintError(f"{path}: not checked: {why}"))


def _end(pool: Executor, now: bool) -> None:
    """Let an executor go; `now`, whatever its processes are doing."""
    if now:
        processes = list((getattr(pool, "_processes", None) or {}).values())
        for process in processes:
            process.kill()
        pool.shutdown(wait=bool(processes))
    else:
        pool.shutdown()


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
