"""The flake8 plugin: the findings of the command line, in flake8's form and under its own `# noqa`."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from .. import __version__
from ..config.discovery import Configs
from ..config.settings import Selection
from ..console import printable
from ..errors import DevlintError
from ..match import faults, registry
from ..problems import unforeseen
from ..project.disk import project
from ..run.lint import lint
from ..source.files import excluded
from ..source.unreadable import CODE as UNREADABLE

if TYPE_CHECKING:
    import ast
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from ..config.settings import Settings
    from ..errors import BrokenRule
    from ..finding import Finding
    from ..project.index import Project


class Plugin:
    """One file's check; flake8 makes an instance for each, in several processes.

    It has no options: `[tool.devlint]` says what is on, so that flake8 and the command line agree.
    """

    name = "devlint"
    version = __version__
    noqa: ClassVar[bool] = True
    """Whether flake8 looks at `# noqa`."""
    configs: ClassVar[Configs] = Configs(Selection())

    def __init__(self, tree: ast.AST, lines: Sequence[str], filename: str) -> None:
        """Take what flake8 has read; asking for the tree makes this a check of whole files."""
        self.lines = lines
        self.text = "".join(lines)
        self.filename = os.path.normpath(filename)

    @classmethod
    def parse_options(cls, options: Namespace) -> None:
        """Remember who decides about `# noqa`, and end the run where nothing could be checked as it should.

        That is what flake8 does with a plugin that it cannot load. Later on it wraps what a plugin raises in
        tracebacks, so that what goes wrong in one file is told as a finding there.
        """
        cls.noqa = not options.disable_noqa
        cls.configs = Configs(Selection())
        wrong: tuple[DevlintError, ...]
        try:
            cls.configs.for_folder(os.getcwd())
            registry.entries()
            wrong = faults.unusable()
        except DevlintError as error:
            wrong = (error,)
        if wrong:
            sys.exit("\n".join(f"devlint: {printable(str(error))}" for error in wrong))

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """Yield row, column (from 0: flake8 adds one) and text of each finding."""
        broken: list[BrokenRule] = []
        try:
            settings = self.configs.for_file(self.filename)
            found = [] if excluded(self.filename, settings) else self._findings(settings, broken)
        except DevlintError as error:
            yield self._unchecked(1, str(error))
            return
        except Exception as error:  # one file must not cost the findings of all the others
            yield self._unchecked(1, f"{unforeseen(error)} (`devlint -v {self.filename}` shows where)")
            return
        broken.sort(key=lambda rule: rule.row or 1, reverse=True)
        for rule in {each.code: each for each in broken}.values():  # of each the first place
            yield self._unchecked(rule.row or 1, str(rule).partition(": ")[2])
        for finding in found:
            row, column = finding.start
            yield row, column - 1, f"{finding.code} {printable(finding.message)}", type(self)

    def _unchecked(self, row: int, message: str) -> tuple[int, int, str, type[Plugin]]:
        return row, 0, f"{UNREADABLE} {printable(message)}", type(self)

    def _findings(self, settings: Settings, broken: list[BrokenRule]) -> list[Finding]:
        """Return the findings that flake8 is to decide about.

        devlint also takes a `# noqa` on the first or last row of a statement, flake8 only on that of the
        finding. What such a comment silences is told on its row: flake8 leaves it out there, and plugins that
        ask which comments were of use see that this one was.
        """
        own = settings._replace(noqa=self.noqa)
        plain = lint(self.text, self.filename, own, broken, _project())
        if not self.noqa or "noqa" not in self.text.lower():
            return plain
        everything = lint(self.text, self.filename, settings._replace(noqa=False), [], _project())
        from ..comments.suppress import suppressions
        from ..source.text import split_rows

        comments = [
            item for item in suppressions(self.text, split_rows(self.text)) if not item.own and item.rows
        ]
        for finding in everything:
            rows = [item.comment.row for item in comments if item.silences(finding)]
            if rows and finding not in plain:
                row = finding.start.row if finding.start.row in rows else rows[0]
                plain.append(finding._replace(start=finding.start._replace(row=row)))
        return plain


@lru_cache(maxsize=1)
def _project() -> Project:
    """The files around those that this process is given."""
    return project()
