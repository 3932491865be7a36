"""The `check` command: lints what the command line names, fixes on request, and reports."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import closing, suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING

from .. import console, report
from ..config import flags
from ..config.discovery import Configs
from ..errors import DevlintError
from ..finding import order
from ..match import faults
from ..problems import Problem, Problems
from ..project.store import Shelf, Store
from ..project.world import World
from ..report.style import fixes, painted
from ..run import cached
from ..run.cached import Linted, fingerprint
from ..run.progress import counted, status_line
from ..source import shards
from ..source.files import find
from ..source.plain import read_named
from ..source.sources import texts
from ..source.unreadable import CODE as UNREADABLE
from ..source.unreadable import unopened
from . import cache, printing

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from concurrent.futures import Executor

    from ..config.settings import Settings
    from ..errors import BrokenRule
    from ..finding import Finding
    from ..match.watch import Matcher
    from ..old.accepted import Accepted
    from ..project.index import Project
    from ..run.observed import Trace
    from ..run.unchanged import Unchanged

_STDIN = "-"


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
        self.quiet = options.quiet or options.silent
        self.here = _here()
        self.problems = Problems(options.verbose)
        selection = flags.selection(options)
        self.configs = Configs(
            selection,
            options.config,
            options.isolated,
            flags.overrides(options),
            options.keys,
            partial(flags.fixing, options),
            warn=console.say,
        )
        settings = self.configs.for_folder(self.here)
        self.format = (
            options.output_format or printing.format_of_environment() or settings.output_format or "full"
        )
        if options.statistics:
            printing.check_statistics(self.format)
        self.findings: list[Finding] = []
        self.sources: dict[str, str] = {}
        self.raws: dict[str, bytes] = {}
        self.broken: list[BrokenRule] = []
        self.shelf = None if options.no_cache else cache.shelf(options.cache_dir, settings)
        self.store = Store(self.shelf) if self.shelf is not None else None
        self.world = World() if self.store is not None else None
        self.waiting: dict[str, str] = {}
        """The files that are still to be linted, by absolute path."""
        self.unchanged: Unchanged | None = None
        """What the last run that was asked the same has found, if it is to be used."""
        self.diffs: list[str] = []
        self.stale: list[Problem] = []
        self.ahead: dict[str, Linted] = {}
        """What other processes have found already."""
        self.unusable: dict[str, None] = {}
        """What other processes have to say of rules that cannot be loaded."""
        self.changed: set[str] = set()
        """The files that were fixed, by absolute path."""
        self.checked = 0
        self.fixed: list[Finding] = []
        self.fixes = bool(options.fix or options.fix_only or options.diff)
        self.writes = bool(options.fix or options.fix_only)
        self.limits = flags.limits(options, settings)
        self.baseline = flags.baseline(options, settings)
        self.unsafe = settings.unsafe_fixes if options.unsafe_fixes is None else options.unsafe_fixes
        self.jobs: int | None = options.jobs or settings.jobs
        self.accepted = self._accepted()
        self.trace = self._trace()
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
            self._collect_broken()
        else:
            self._lint(paths)
        problems = self.problems.all()
        for message in dict.fromkeys(problem.message for problem in problems):
            console.say(message)
        if problems:
            return 2
        return int(self._fails() and not self.options.exit_zero)

    @cached_property
    def project(self) -> Project:
        """The files around those that are linted; where nothing has changed, nobody asks for it."""
        from ..match import registry
        from ..project.disk import project

        registry.entries()  # packages bring knowledge along with rules
        found = project(store=self.store, world=self.world)
        found.watching = self._watched
        return found

    def _watched(self, path: str, text: str) -> Matcher | None:
        from ..run.lint import watching

        name = self.waiting.get(path)
        return watching(name, text, self.configs.for_file(name)) if name is not None else None

    def _fails(self) -> bool:
        """Whether what was found, or fixed, is for the exit status to tell."""
        if self.options.diff:
            return bool(self.diffs or self.stale)
        if self.fixed and self.options.exit_non_zero_on_fix:
            return True
        if not self.limits:
            return bool(self.findings or self.stale)
        from ..old.ratchet import judge

        verdict = judge(self.findings, self.limits)
        for message in verdict.exceeded:
            console.say(message)
        if not self.quiet and all(os.path.isdir(path) for path in self.options.paths):
            for message in verdict.slack:  # of single files there are always fewer
                console.say(message)
        return verdict.fails or bool(self.stale)

    def _lint(self, paths: list[str]) -> None:
        if not paths and not self.problems.all() and not (self.options.diff_base or self.options.shard):
            console.say("no Python files found")
        self.waiting = {os.path.abspath(path): path for path in paths}
        self._lint_ahead(paths)
        for path in paths if self.quiet or self.ahead else counted(paths, sys.stderr):
            self.waiting.pop(os.path.abspath(path), None)
            try:
                self._file(path)
                self.checked += 1
            except Exception as error:  # one file must not cost the findings of all the others
                self.problems.caught(error, self._name(path))
        if self.unchanged is not None:
            self.unchanged.keep()
        self.findings.sort(key=order)
        for step in (self._settle, self._add_noqa, self._print):
            self._collect_broken()
            try:
                step()
            except OSError:  # stdout does not take the report
                raise
            except Exception as error:
                self.problems.caught(error)

    def _lint_ahead(self, paths: list[str]) -> None:
        """Take what is known, and have several processes lint the others as they are now.

        This one does what is left.
        """
        files = [path for path in paths if os.path.isfile(path)]  # stdin and pipes are read once
        if self.store is not None and self.world is not None and files and not self.fixes:
            from ..run.unchanged import Unchanged

            self.unchanged = Unchanged(self.store, self.world, files, self.configs.for_file)
        if self.shelf is not None:
            files = [path for path in files if not self._is_known(path)]
        if self.options.dask is not None:
            from ..run.cluster import cluster

            with cluster(self.options.dask) as (executor, workers):
                self._share_out(files, lambda: executor, workers)
            return
        if self.jobs == 1 or len(files) < 2:
            return
        from ..run import pool

        workers = min(self.jobs or pool.cores(), len(files))
        if workers == 1 or pool.is_small(files):
            return
        from .. import infer  # noqa: F401
        from ..match import registry

        registry.entries()  # both once for all processes that are forked
        with suppress(*pool.NO_PROCESSES):
            self._share_out(files, lambda: pool.processes(workers, not self.options.watch), workers)

    def _share_out(self, files: list[str], executor: Callable[[], Executor], workers: int) -> None:
        from ..run import pool

        with pool.common_folder() as common:
            shared = Shelf(common, os.urandom(32), "")
            portions = pool.portions(
                files, self.configs.for_file, workers, self.shelf or shared, shared, self.writes
            )
            done = pool.all_linted(portions, executor, workers, self.unusable, self.world)
            with closing(done), status_line(sys.stderr) as show:
                for number, linted in enumerate(done, 1):
                    self.ahead[linted.path] = linted
                    if not self.quiet:
                        show(f"{number} of {len(files)} files")

    def _is_known(self, path: str) -> bool:
        """Take what an earlier run has found in a file, if that still holds."""
        try:
            raw = read_named(path)
        except OSError:
            return False
        found = self.unchanged.findings(path, raw) if self.unchanged is not None else None
        if found is None:
            found = cached.at_once(raw, path, self.configs.for_file(path), self.project)
        if found is None:
            return False
        asked = self.project.asked_by(path) if self.writes else frozenset()
        self.ahead[path] = Linted(path, tuple(found), read=fingerprint(raw), asked=asked)
        return True

    def _accepted(self) -> Accepted | None:
        if self.baseline is None and self.options.diff_base is None:
            return None
        from ..old.accepted import Accepted

        return Accepted(self.options, self.baseline, self.configs)

    def _trace(self) -> Trace | None:
        if self.options.with_trace is None:
            return None
        from ..run.observed import read

        return read(self.options.with_trace)

    def _paths(self) -> list[str]:
        """Return the files to lint, each once, in the order of their names."""
        found: dict[str, str] = {}
        unread: list[str] = []
        for argument in self.options.paths:
            if argument == _STDIN:
                found[_STDIN] = _STDIN
                continue
            try:
                for path in find(argument, self.configs.for_folder, unread):
                    if self.accepted is None or not self.accepted.skips(path):
                        found.setdefault(os.path.abspath(path), path)
            except Exception as error:
                self.problems.caught(error, argument)
        for message in unread:
            self.problems.add(message)
        if self.options.shard is not None:
            part, parts = self.options.shard
            return shards.part(sorted(found.values()), printing.project(self.here), part, parts)
        return sorted(found.values())

    def _show(self, paths: list[str]) -> None:
        if self.options.show_files:
            sys.stdout.write("".join(f"{console.quoted(path)}\n" for path in paths))
        elif paths:
            from ..config.show import shown

            path = self._name(paths[0])
            sys.stdout.write(shown(path, self.configs.for_file(path), self.format, self.unsafe))

    def _name(self, path: str) -> str:
        return (self.options.stdin_filename or "<stdin>") if path == _STDIN else path

    def _file(self, path: str) -> None:
        stdin = path == _STDIN
        name = self._name(path)
        settings = self.configs.for_file(name)  # "<stdin>" counts as a file of the current folder
        try:
            raw = sys.stdin.buffer.read() if stdin else read_named(path)
        except OSError as error:
            self.findings.append(unopened(name, error))
            return
        broken = len(self.broken)
        known = self._known(path, raw)
        if self.fixes:
            raw, findings = self._fix(raw, name, settings, stdin, known)
        elif known is not None:
            findings = known
        elif stdin:
            findings = self._linted(raw, name)
        else:
            findings = cached.lint(raw, name, settings, self.broken, self.project)
        if self.unchanged is not None and not stdin and len(self.broken) == broken:
            self.unchanged.note(path, raw, findings)
        self.findings += findings
        if self.accepted is not None and not any(item.code == UNREADABLE for item in findings):
            self.accepted.linted.add(os.path.abspath(name))
        if findings and self.keeps_sources:
            self.sources |= texts(name, raw)
            self._keep_related(findings)
        if findings and self.options.add_noqa:
            self.raws[name] = raw

    def _linted(self, raw: bytes, name: str) -> list[Finding]:
        """Lint what may not be what the disk has."""
        from ..run.lint import lint

        return lint(raw, name, self.configs.for_file(name), self.broken, self.project)

    def _known(self, path: str, raw: bytes) -> list[Finding] | None:
        """Return what another process has found in a file; None where that may no longer hold."""
        known = self.ahead.pop(path, None)
        if known is None:
            return None
        if known.failure is not None:
            raise known.failure
        if known.read != fingerprint(raw) or not known.asked.isdisjoint(self.changed):
            return None
        self.broken += known.broken
        return list(known.findings)

    def _keep_related(self, findings: list[Finding]) -> None:
        """Read the other files that explain findings; a report does without those that cannot be read."""
        for path in {related.path for finding in findings for related in finding.related}:
            if not any(known.partition(":cell ")[0] == path for known in self.sources):
                with suppress(OSError):
                    self.sources |= texts(path, read_named(path))

    def _fix(
        self, raw: bytes, name: str, settings: Settings, stdin: bool, known: list[Finding] | None
    ) -> tuple[bytes, list[Finding]]:
        from ..run import fix

        def unlisted(findings: list[Finding], state: bytes) -> list[Finding]:
            if self.accepted is None:
                return findings
            return self.accepted.unlisted(findings, texts(name, state))

        fixed = fix.fix(raw, name, settings, self.unsafe, unlisted, self.broken, self.project, known)
        if self.options.diff:
            if fixed.raw != raw:
                self.diffs.append(fix.diff(name, raw, fixed.raw))
        elif stdin:
            sys.stdout.buffer.write(fixed.raw)
        elif fixed.raw != raw:
            try:
                fix.write(name, raw, fixed.raw)
                self.project.forget(name)
                self.changed.add(os.path.abspath(name))
            except DevlintError as error:
                self.problems.caught(error, name)
                return raw, self._linted(raw, name)
        self.fixed += sorted(fixed.applied, key=order)
        return fixed.raw, fixed.remaining

    def _collect_broken(self) -> None:
        """Tell of rules that have raised, and of those that cannot be loaded."""
        self.problems.broken(self.broken)
        self.broken.clear()
        # Where no file asked for a rule, none has been loaded, and loading them now would be for nothing.
        for error in faults.unusable():
            self.problems.caught(error)
        for message in self.unusable:
            self.problems.add(message)

    def _settle(self) -> None:
        """Write the baseline, or leave out what is old."""
        if self.accepted is None:
            return
        self.accepted.broken = self.problems.broken_codes
        said = ""
        if self.options.write_baseline:
            said = self.accepted.write(self.findings, self.sources)
            self.findings = []
        else:
            fixed = self.accepted.fixed(self.findings, self.sources)
            if self.options.prune_baseline:
                said = self.accepted.prune(fixed)
            elif fixed:
                self.stale.append(Problem(self.accepted.tell_fixed(fixed), self.baseline or ""))
            self.findings = self.accepted.new(self.findings, self.sources)
        if said and not self.quiet:
            console.say(said)

    def _add_noqa(self) -> None:
        """Silence what was found, and keep what cannot be."""
        if not self.options.add_noqa:
            return
        from ..comments.noqa import silence

        def left(name: str, after: bytes) -> list[Finding]:
            self.sources |= texts(name, after)
            found = self._linted(after, name)
            return found if self.accepted is None else self.accepted.new(found, self.sources)

        reason = self.options.reason or ""
        kept = silence(self.findings, self.raws, self.sources, reason, left, self.problems)
        if not self.quiet:
            number = len(self.findings) - len(kept)
            console.say(f"{number} finding{'s' * (number != 1)} silenced")
        self.findings = kept

    def _print(self) -> None:
        """Print the report; to stderr where stdout carries a diff's or stdin's text."""
        if self.options.fix_only:
            self.findings = []
        if self.trace is not None:
            self.findings = self.trace.mark(self.findings)
        if self.format == "sarif":
            from ..match import registry

            rules = registry.installed()
            self._collect_broken()
        else:
            rules = {}
        carried = self.options.diff or (self.fixes and _STDIN in self.options.paths)
        stream = sys.stderr if carried and not self.options.diff else sys.stdout
        outcome = report.Outcome(
            self.findings,
            self.sources,
            self.options.output_file is None and printing.wants_color(self.options.color, stream),
            self.unsafe,
            len(self.fixed),
            printing.project(self.here),
            rules,
            problems=self.problems.all(),
            stale=self.stale,
            checked=self.checked > 0,
            trees=self.options.paths if len(self.options.paths) > 1 else (),
        )
        if self.options.diff:
            text = "".join(self.diffs)
            if self.options.output_file is None:
                text = console.diff(text, sys.stdout)
                if outcome.color:
                    text = painted(text)
            if not self.quiet:
                console.tell(
                    f"Would fix {len(self.fixed)} of {len(self.fixed) + len(self.findings)} findings."
                )
        else:
            text = printing.rendered(self.format, self.options.statistics, outcome)
            if self.format in printing.FOR_PEOPLE:
                text += fixes(self.fixed) if self.options.show_fixes else ""
                text += "" if self.quiet else printing.closing(outcome)
        if self.options.output_file is not None:
            from ..run.output import write

            try:
                write(self.options.output_file, text.encode("utf-8", "backslashreplace"))
            except DevlintError as error:
                self.problems.caught(error)
            else:
                return
        if not self.options.silent:
            stream.write(text)


def _here() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise DevlintError(f"the current folder cannot be used: {error.strerror}") from error
