"""The `check` command: lints what the command line names, fixes on request, and reports."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from . import report
from .config import Configs
from .errors import DevlintError
from .files import find
from .finding import order
from .lint import NOTEBOOK, lint
from .report.style import summary
from .settings import Selection
from .text import decode
from .unreadable import UNDECODABLE, unopened

if TYPE_CHECKING:
    from argparse import Namespace
    from typing import TextIO

    from .finding import Finding
    from .settings import Settings

_STDIN = "-"


def check(options: Namespace) -> int:
    """Run the command and return the exit status."""
    return _Check(options).run()


class _Check:
    """One run: what was asked, and what has been found so far."""

    def __init__(self, options: Namespace) -> None:
        self.options = options
        self.flags = Selection(
            None if options.select is None else tuple(options.select),
            tuple(options.extend_select or ()),
            tuple(options.ignore or ()),
        )
        self._check_flags()
        self.configs = Configs(self.flags, options.config, options.isolated)
        here = self.configs.for_folder(os.getcwd())
        self.format = options.output_format or here.output_format or "full"
        self.findings: list[Finding] = []
        self.sources: dict[str, str] = {}
        self.problems: list[str] = []
        self.diffs: list[str] = []
        self.fixed = 0
        self.unsafe = here.unsafe_fixes if options.unsafe_fixes is None else True

    def run(self) -> int:
        """Lint everything, print, and return the exit status."""
        # Syntax trees are many objects and few cycles: the default thresholds cost a third of the run.
        gc.set_threshold(200_000, 20, 50)
        paths = self._paths()
        if not paths and not self.problems:
            print("devlint: no Python files found", file=sys.stderr)
        for path in paths:
            try:
                self._file(path)
            except DevlintError as error:
                self.problems.append(str(error))
            except Exception as error:  # one file must not cost the findings of all the others
                self._internal(path, error)
        self.findings.sort(key=order)
        try:
            self._print()
        except DevlintError as error:
            self.problems.append(str(error))
        for problem in dict.fromkeys(self.problems):
            print(f"devlint: {problem}", file=sys.stderr)
        if self.problems:
            return 2
        found = self.diffs if self.options.diff else self.findings
        return int(bool(found) and not self.options.exit_zero)

    def _check_flags(self) -> None:
        for flag in ("select", "extend_select", "ignore"):
            selectors = getattr(self.options, flag)
            if selectors:
                from .registry import installed
                from .selection import check as check_selectors

                check_selectors(selectors, installed(), f"--{flag.replace('_', '-')}")

    def _settings(self, folder: str) -> Settings:
        settings = self.configs.for_folder(folder)
        return settings._replace(force_exclude=settings.force_exclude or self.options.force_exclude)

    def _paths(self) -> list[str]:
        """Return the files to lint, each once, in the order of their names."""
        found: dict[str, str] = {}
        for argument in self.options.paths:
            if argument == _STDIN:
                found[_STDIN] = _STDIN
                continue
            try:
                for path in find(argument, self._settings, self.problems):
                    found.setdefault(os.path.abspath(path), path)
            except DevlintError as error:
                self.problems.append(str(error))
        return sorted(found.values())

    def _file(self, path: str) -> None:
        stdin = path == _STDIN
        name = (self.options.stdin_filename or "<stdin>") if stdin else path
        settings = self.configs.for_file(name)  # "<stdin>" counts as a file of the current folder
        try:
            raw = sys.stdin.buffer.read() if stdin else _read(path)
        except OSError as error:
            self.findings.append(unopened(name, error))
            return
        if self.options.fix or self.options.diff:
            raw, findings = self._fix(raw, name, settings, stdin)
        else:
            findings = lint(raw, name, settings)
        self.findings += findings
        if findings and self.format == "full":
            self.sources |= _texts(name, raw)

    def _fix(self, raw: bytes, name: str, settings: Settings, stdin: bool) -> tuple[bytes, list[Finding]]:
        from . import fix

        fixed = fix.fix(raw, name, settings, self.unsafe)
        if self.options.diff:
            if fixed.raw != raw:
                self.diffs.append(fix.diff(name, raw, fixed.raw))
        elif stdin:
            sys.stdout.buffer.write(fixed.raw)
        elif fixed.raw != raw:
            try:
                fix.write(name, raw, fixed.raw)
            except DevlintError as error:
                self.problems.append(str(error))
                return raw, lint(raw, name, settings)
        self.fixed += len(fixed.applied)
        return fixed.raw, fixed.remaining

    def _internal(self, path: str, error: Exception) -> None:
        if self.options.verbose:
            import traceback

            traceback.print_exc()
        self.problems.append(f"{path}: internal error: {type(error).__name__}: {error} (-v shows where)")

    def _print(self) -> None:
        """Print the report; to stderr where stdout carries a diff's or stdin's text."""
        carried = self.options.diff or (self.options.fix and _STDIN in self.options.paths)
        stream = sys.stderr if carried else sys.stdout
        outcome = report.Outcome(
            self.findings,
            self.sources,
            self.options.output_file is None and wants_color(self.options.color, stream),
            self.unsafe,
            self.fixed,
        )
        if self.options.diff:
            sys.stdout.write("".join(self.diffs))
            text = f"Would fix {self.fixed} of {self.fixed + len(self.findings)} findings.\n"
            text = "" if self.options.quiet else text
        else:
            text = report.render("statistics" if self.options.statistics else self.format, outcome)
            if self.format in ("full", "concise") and not self.options.quiet:
                text += summary(outcome)
        if self.options.output_file is None:
            stream.write(text)
        else:
            _write(self.options.output_file, text)


def wants_color(choice: str, stream: TextIO) -> bool:
    """Whether to colour: the flag, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _texts(path: str, raw: bytes) -> dict[str, str]:
    """Return the text that a file's findings count rows in: its own, and those of a notebook's cells."""
    try:
        texts = {path: decode(raw).text}
    except UNDECODABLE:
        texts = {path: raw.decode("latin-1")}
    if path.endswith(NOTEBOOK):
        from .notebook import read

        texts |= {f"{path}:cell {number}": text for number, text in read(raw, path).sources.items()}
    return texts


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise DevlintError(f"cannot write {path}: {error.strerror}") from error
