"""Lints a portion of a run's files, in whatever process: plain data in, plain data out."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ..errors import BrokenRule, DevlintError, Elsewhere, kind_of
from ..match import faults, registry
from ..project.disk import project
from ..project.store import Store
from ..project.world import Facts, World
from . import cached
from .cached import Linted, fingerprint
from .lint import watching

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..config.settings import Settings
    from ..match.watch import Matcher
    from ..project.index import Project
    from ..project.store import Shelf


class Portion(NamedTuple):
    """Files for one process to lint, one after the other."""

    run: str
    """A name that no other has: until the run ends, a process keeps what it learns of the files around."""
    folder: str
    """The folder that paths are relative to."""
    paths: tuple[str, ...]
    files: Mapping[str, int]
    """All files of the run, with the number of the settings of each."""
    settings: tuple[Settings, ...]
    store: Shelf
    """What is known from before, and for what becomes known."""
    shared: Shelf
    """For what one process of the run learns that others can use."""
    versions: str
    """What has a say in results, here and there."""
    follow: bool = False
    """Whether to tell what each file depends on."""


class Done(NamedTuple):
    """What came of a portion; a file that cannot be opened is left out."""

    files: tuple[Linted, ...]
    unusable: tuple[str, ...]
    """What keeps installed rules from being used."""
    read: Facts = Facts({}, {})
    """What was read since the process was last asked for this run."""
    is_steady: bool = True
    """Whether that was the same each time."""


_alone = threading.Lock()
"""Held while a portion is linted: the recursion limit, warnings and the current folder are the process's."""
_around: tuple[str, Project, World] | None = None


def work(portion: Portion) -> Done:
    """Lint a portion; whatever goes wrong with a file costs no other one."""
    global _around
    with _alone, _inside(portion.folder):
        if registry.versions() != portion.versions:
            raise DevlintError("this process has another devlint, other rules or another Python")
        if _around is None or _around[0] != portion.run:
            shared = Store(portion.shared) if os.path.isdir(portion.shared.folder) else None
            store = shared if portion.store == portion.shared else Store(portion.store)
            world = World()
            _around = portion.run, project(store=store, shared=shared, world=world), world
        _, around, world = _around
        files = {path: portion.settings[number] for path, number in portion.files.items()}
        waiting = {os.path.abspath(path): path for path in files}

        def watched(path: str, text: str) -> Matcher | None:
            name = waiting.get(path)
            return watching(name, text, files[name]) if name is not None else None

        around.watching = watched
        found: list[Linted] = []
        for path in portion.paths:
            waiting.pop(os.path.abspath(path), None)
            try:
                with open(path, "rb") as file:
                    raw = file.read()
            except OSError:
                continue
            linted = lint_file(raw, path, files[path], around)
            found.append(linted._replace(asked=around.asked_by(path)) if portion.follow else linted)
        return Done(tuple(found), tuple(map(str, faults.unusable())), *world.news())


def lint_file(raw: bytes, path: str, settings: Settings, around: Project) -> Linted:
    """Lint one file; never raises."""
    broken: list[BrokenRule] = []
    try:
        findings = cached.lint(raw, path, settings, broken, around)
    except Exception as error:  # one file must not cost the findings of all the others
        return Linted(path, failure=portable(error), read=fingerprint(raw))
    told = tuple(rule._replace(error=portable(rule.error)) for rule in broken)
    return Linted(path, tuple(findings), told, None, fingerprint(raw))


def portable(error: BaseException) -> DevlintError | Elsewhere:
    """Return an exception that survives the way to another process and says the same."""
    cause = error.__cause__ if isinstance(error, DevlintError) else error
    if cause is None:
        return DevlintError(str(error))
    import traceback

    return Elsewhere(kind_of(error), str(error), "".join(traceback.format_exception(cause)))


@contextmanager
def _inside(folder: str) -> Iterator[None]:
    """Work in a folder for a while, if the process is not there already."""
    before = os.getcwd()
    if before == folder:
        yield
        return
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
