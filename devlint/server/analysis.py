"""Lints the open documents as parts of one project in which their unsaved text counts; one thread's work."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ..config.discovery import Configs
from ..errors import DevlintError
from ..match.watch import anything
from ..project.disk import project
from ..project.edits import Edits
from ..run.explained import Explained
from ..run.lint import lint, watching
from ..source import sift
from ..source.files import excluded
from ..source.unreadable import CODE as UNREADABLE
from .options import Options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..config.settings import Settings
    from ..errors import BrokenRule
    from ..finding import Finding
    from ..match.watch import Matcher
    from ..project.index import Project
    from .documents import Document

_CONFIGURATION = ("devlint.toml", "pyproject.toml")
_MOST_EXPLAINED = 2
"""Documents of which the values of all expressions are kept for the next question."""


class Linted(NamedTuple):
    """What became of one document."""

    findings: tuple[Finding, ...]
    asked: frozenset[str]
    """The files whose definitions it depends on, by whatever way."""
    problems: tuple[str, ...]
    """What keeps it from being checked as it should, such as a mistake in the configuration."""
    stale: bool = False
    """Whether what all documents are linted with has changed meanwhile: a configuration, or a file that none
    of them is."""


class Analyses:
    """The state between one analysis and the next."""

    def __init__(self, options: Options | None = None) -> None:
        """Take how the client wants it."""
        self.set(options or Options())

    def set(self, options: Options) -> None:
        """Begin anew, with other options."""
        self.options = options
        self._explained: dict[str, tuple[str, int, Explained]] = {}
        self._round = 0
        """How often anything has changed that an explanation may depend on."""
        self._start()

    def _start(self) -> None:
        options = self.options
        wanted = {"lint_tests": options.lint_tests, "preview": options.preview}
        overrides = {name: True for name, on in wanted.items() if on}
        self.warnings: list[str] = []
        """What there is to say of the configurations since they were last read."""
        self._configs = Configs(
            options.selection, options.configuration, overrides=overrides, warn=self.warnings.append
        )
        self._config_stamps: dict[str, tuple[int, int] | None] = {}
        self._project = project(self._unsaved, edits=Edits())
        self._project.watching = self._watching
        self._texts: dict[str, str] = {}
        self._read: dict[str, tuple[int, int] | None] = {}
        """What files on the disk were like when they were read."""
        self._forget_explained()

    def refresh(self) -> None:
        """Look at the disk again: files have come or gone, or a configuration has changed."""
        self._start()

    def is_new(self, path: str) -> bool:
        """Whether a file is new on the disk, and nobody has asked it; then the disk is looked at again."""
        new = stamp(path) is not None and not self._project.layout.lists(path)
        if new:
            self._start()
        return new

    def lint(self, document: Document, texts: Mapping[str, str]) -> Linted:
        """Return the findings of a document; `texts` are those of all that are open, by path."""
        path = document.path
        broken: list[BrokenRule] = []
        try:
            stale = self._is_stale(path) | self._follow(texts, path)
            settings = self.settings(path)
            if document.on_disk and excluded(path, settings):
                return Linted((), frozenset(), (), stale)
            found = lint(document.text, path, settings, broken, self._around(document))
            if self._project.asks_otherwise(path) and not any(each.code == UNREADABLE for each in found):
                self._project.confirm()
                found = lint(document.text, path, settings, broken, self._around(document))
        except DevlintError as error:
            return Linted((), frozenset(), (str(error), *self.warnings), stale)
        except Exception:
            self._start()  # what was under way has left nothing that can be relied on
            raise
        problems = {rule.code: str(rule) for rule in reversed(broken)}
        asked = self._project.asked_by(path) - {path} if document.on_disk else frozenset()
        return Linted(tuple(found), asked, (*problems.values(), *self.warnings), stale)

    def _around(self, document: Document) -> Project | None:
        return self._project if document.on_disk else None

    def settings(self, path: str) -> Settings:
        """Return the settings of a file; raises DevlintError."""
        return self._configs.for_file(path)

    def project_with(self, texts: Mapping[str, str]) -> Project:
        """Return the project in which a document is fixed."""
        self._follow(texts)
        return self._project

    def explained(self, document: Document, texts: Mapping[str, str]) -> Explained | None:
        """Return what is known of a document; None where it cannot be read."""
        self._is_stale(document.path)
        self._follow(texts, document.path)
        path, text = document.path, document.text
        known = self._explained.pop(path, None)
        if known is not None and known[:2] == (text, self._round):
            self._explained[path] = known
            return known[2]
        if known is not None:
            known[2].release()
        if not sift.matters(text.encode("utf-8", "surrogatepass"), anything()):
            return None
        try:
            found = Explained(text, path, self.settings(path), self._around(document))
        except DevlintError:
            return None
        while len(self._explained) >= _MOST_EXPLAINED:
            self._explained.pop(next(iter(self._explained)))[2].release()
        self._explained[path] = text, self._round, found
        return found

    def _unsaved(self, path: str) -> str | None:
        text = self._texts.get(path)
        if text is None:
            self._read[path] = stamp(path)
        return text

    def _watching(self, path: str, text: str) -> Matcher | None:
        """The rules for a document: one analysis tells what it defines, and what happens in it."""
        try:
            return watching(path, text, self.settings(path)) if path in self._texts else None
        except DevlintError:
            return None

    def _follow(self, texts: Mapping[str, str], analysed: str | None = None) -> bool:
        """Let go of what was known of files that have changed; tell whether one that is not open has.

        What the one that is to be `analysed` defines is looked at only if somebody asks.
        """
        before, self._texts = self._texts, dict(texts)
        opened = {path for path, text in texts.items() if before.get(path) != text}
        on_disk = {path for path, known in self._read.items() if path not in texts and stamp(path) != known}
        others = (before.keys() - texts.keys()) | on_disk
        for path in others:
            self._project.forget(path)
            self._read.pop(path, None)
        for path in opened:
            self._read.pop(path, None)
            self._project.renew(path)
        self._project.confirm(but=analysed)
        changed = opened | others
        self._round += bool(changed)
        return bool(on_disk)

    def _is_stale(self, path: str) -> bool:
        """Whether a configuration around a file has changed since it was read; then all are read again."""
        folder, stale = os.path.dirname(path), False
        while True:
            for name in _CONFIGURATION:
                file = os.path.join(folder, name)
                now = stamp(file)
                stale |= self._config_stamps.setdefault(file, now) != now
            above = os.path.dirname(folder)
            if above == folder:
                break
            folder = above
        if self.options.configuration is not None:
            now = stamp(self.options.configuration)
            stale |= self._config_stamps.setdefault(self.options.configuration, now) != now
        if stale:
            self._start()
            self._is_stale(path)
        return stale

    def _forget_explained(self) -> None:
        for _, _, explained in self._explained.values():
            explained.release()
        self._explained.clear()


def stamp(path: str) -> tuple[int, int] | None:
    """What a file on the disk is like; None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
