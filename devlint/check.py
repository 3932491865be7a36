"""The `check` command: lints what the command line names, fixes on request, and reports."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Any

from . import console, report
from .config import Configs
from .errors import DevlintError
from .files import find
from .finding import order
from .lint import NOTEBOOK, lint
from .progress import counted
from .report.style import summary
from .settings import Selection
from .text import decode
from .unreadable import UNDECODABLE, unopened

if TYPE_CHECKING:
    from argparse import Namespace
    from typing import TextIO

    from .accepted import Accepted
    from .finding import Finding
    from .settings import Settings

_STDIN = "-"
FORMAT = "DEVLINT_OUTPUT_FORMAT"


def check(options: Namespace) -> int:
    """Run the command and return the exit status."""
    if options.watch:
        from .watch import watch

        watch(options.paths, lambda: _Check(options).run())
        return 0
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
        self.configs = Configs(self.flags, options.config, options.isolated, _overrides(options))
        here = self.configs.for_folder(os.getcwd())
        self.format = options.output_format or _format_of_environment() or here.output_format or "full"
        self.findings: list[Finding] = []
        self.sources: dict[str, str] = {}
        self.raws: dict[str, bytes] = {}
        self.problems: list[str] = []
        self.diffs: list[str] = []
        self.outdated = False
        self.fixed = 0
        self.unsafe = here.unsafe_fixes if options.unsafe_fixes is None else True
        self.accepted = self._accepted()
        self.keeps_sources = (
            self.format in report.WITH_SOURCES or self.accepted is not None or options.add_noqa
        )

    def run(self) -> int:
        """Lint everything, print, and return the exit status."""
        # Syntax trees are many objects and few cycles: the default thresholds cost a third of the run.
        gc.set_threshold(200_000, 20, 50)
        paths = self._paths()
        if self.options.show_files or self.options.show_settings:
            self._show(paths)
        else:
            self._lint(paths)
        for problem in dict.fromkeys(self.problems):
            console.say(problem)
        if self.problems:
            return 2
        found = self.diffs if self.options.diff else self.findings
        return int((bool(found) or self.outdated) and not self.options.exit_zero)

    def _lint(self, paths: list[str]) -> None:
        if not paths and not self.problems and self.options.diff_base is None:
            console.say("no Python files found")
        for path in paths if self.options.quiet else counted(paths, sys.stderr):
            try:
                self._file(path)
            except DevlintError as error:
                self.problems.append(str(error))
            except Exception as error:  # one file must not cost the findings of all the others
                self._internal(path, error)
        self.findings.sort(key=order)
        for step in (self._settle, self._add_noqa, self._print):
            try:
                step()
            except DevlintError as error:
                self.problems.append(str(error))

    def _check_flags(self) -> None:
        for flag in ("select", "extend_select", "ignore"):
            selectors = getattr(self.options, flag)
            if selectors:
                from .match.registry import installed
                from .match.selection import check as check_selectors

                check_selectors(selectors, installed(), f"--{flag.replace('_', '-')}")

    def _accepted(self) -> Accepted | None:
        if self.options.baseline is None and self.options.diff_base is None:
            return None
        from .accepted import Accepted

        return Accepted(self.options, self.configs)

    def _paths(self) -> list[str]:
        """Return the files to lint, each once, in the order of their names."""
        found: dict[str, str] = {}
        for argument in self.options.paths:
            if argument == _STDIN:
                found[_STDIN] = _STDIN
                continue
            try:
                for path in find(argument, self.configs.for_folder, self.problems):
                    if self.accepted is None or not self.accepted.skips(path):
                        found.setdefault(os.path.abspath(path), path)
            except DevlintError as error:
                self.problems.append(str(error))
        return sorted(found.values())

    def _show(self, paths: list[str]) -> None:
        if self.options.show_files:
            sys.stdout.write("".join(f"{console.quoted(path)}\n" for path in paths))
        elif paths:
            from .show import shown

            path = self._name(paths[0])
            sys.stdout.write(shown(path, self.configs.for_file(path), self.format, self.unsafe))

    def _name(self, path: str) -> str:
        return (self.options.stdin_filename or "<stdin>") if path == _STDIN else path

    def _file(self, path: str) -> None:
        stdin = path == _STDIN
        name = self._name(path)
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
        if self.accepted is not None:
            self.accepted.linted.add(os.path.abspath(name))
        if findings and self.keeps_sources:
            self.sources |= _texts(name, raw)
        if findings and self.options.add_noqa:
            self.raws[name] = raw

    def _fix(self, raw: bytes, name: str, settings: Settings, stdin: bool) -> tuple[bytes, list[Finding]]:
        from . import fix

        def unlisted(findings: list[Finding], state: bytes) -> list[Finding]:
            if self.accepted is None:
                return findings
            return self.accepted.unlisted(findings, _texts(name, state))

        fixed = fix.fix(raw, name, settings, self.unsafe, unlisted)
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

            console.say(*traceback.format_exc().splitlines())
        self.problems.append(f"{path}: internal error: {type(error).__name__}: {error} (-v shows where)")

    def _settle(self) -> None:
        """Write the baseline, or leave out what is old."""
        if self.accepted is None:
            return
        if not self.options.write_baseline:
            self.outdated = self.accepted.tell_fixed(self.findings, self.sources)
            self.findings = self.accepted.new(self.findings, self.sources)
            return
        self.accepted.write(self.findings, self.sources)
        if not self.options.quiet:
            console.say(f"{len(self.findings)} findings in {self.options.baseline}")
        self.findings = []

    def _add_noqa(self) -> None:
        """Silence what was found, and keep what cannot be."""
        if not self.options.add_noqa:
            return
        from . import noqa
        from .fix import write

        left: list[Finding] = []
        for name in dict.fromkeys(finding.path for finding in self.findings):
            mine = [finding for finding in self.findings if finding.path == name]
            raw = self.raws.get(name, b"")
            after = noqa.add(raw, name, mine, self.sources, self.options.reason or "") if raw else raw
            try:
                if after != raw:
                    write(name, raw, after)
                    self.sources |= _texts(name, after)
                    mine = lint(after, name, self.configs.for_file(name))
                    mine = mine if self.accepted is None else self.accepted.new(mine, self.sources)
            except DevlintError as error:
                self.problems.append(str(error))
            left += mine
        if not self.options.quiet:
            console.say(f"{len(self.findings) - len(left)} findings silenced")
        self.findings = left

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
            _project(os.getcwd()),
        )
        if self.format == "sarif":
            from .match.registry import installed

            outcome = outcome._replace(rules=installed())
        if self.options.diff:
            sys.stdout.write(console.diff("".join(self.diffs), sys.stdout))
            text = f"Would fix {self.fixed} of {self.fixed + len(self.findings)} findings.\n"
            text = "" if self.options.quiet else text
        else:
            text = report.render("statistics" if self.options.statistics else self.format, outcome)
            if self.format in ("full", "concise") and not self.options.quiet:
                text += summary(outcome)
        if self.options.output_file is not None:
            from .output import write

            try:
                write(self.options.output_file, text.encode("utf-8", "backslashreplace"))
            except DevlintError as error:
                self.problems.append(str(error))
            else:
                return
        stream.write(text)


def wants_color(choice: str, stream: TextIO) -> bool:
    """Whether to colour: the flag, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def _overrides(options: Namespace) -> dict[str, Any]:
    """Return the settings that the command line has the last word on."""
    found: dict[str, Any] = {}
    if options.exclude is not None:
        found["exclude"] = tuple(options.exclude)
    if options.extend_exclude is not None:
        found["extend_exclude"] = tuple(options.extend_exclude)
    if options.force_exclude:
        found["force_exclude"] = True
    if options.no_respect_gitignore:
        found["respect_gitignore"] = False
    if options.target_torch is not None:
        found["target_torch"] = options.target_torch
    return found


def _format_of_environment() -> str | None:
    name = os.environ.get(FORMAT)
    if name and name not in report.FORMATS:
        raise DevlintError(f"{FORMAT}: there is no format {name!r} (known are {', '.join(report.FORMATS)})")
    return name


def _project(folder: str) -> str:
    """Return the root of the repository that holds a folder, or the folder itself."""
    above = folder
    while not os.path.exists(os.path.join(above, ".git")):
        above, below = os.path.dirname(above), above
        if above == below:
            return folder
    return above


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
