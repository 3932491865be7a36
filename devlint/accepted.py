"""What a run leaves out because it is old: listed in a baseline, or on lines that have not changed."""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING

from .console import say
from .lint import selections_for
from .match.registry import severities
from .match.selection import choose

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from .baseline import Baseline
    from .changed import Changes
    from .config import Configs
    from .finding import Finding
    from .fingerprint import Anchor

_SHOWN = 10
"""Fixed entries of a baseline that are named one by one."""


class Accepted:
    """The baseline and the changes that a command line names, if any."""

    def __init__(self, options: Namespace, configs: Configs) -> None:
        """Read the baseline and ask git; raises DevlintError where either has no answer."""
        self._configs = configs
        self.baseline = _baseline(options)
        self._changes = _changes(options)
        self.linted: set[str] = set()
        """The absolute paths of the files that this run has looked at."""

    def skips(self, path: str) -> bool:
        """Whether a file need not be linted, having no line that has changed."""
        return self._changes is not None and not self._changes.include(path)

    def unlisted(self, findings: list[Finding], sources: Mapping[str, str]) -> list[Finding]:
        """Return the findings that no baseline lists."""
        return findings if self.baseline is None else self.baseline.split(findings, sources)[0]

    def new(self, findings: list[Finding], sources: Mapping[str, str]) -> list[Finding]:
        """Return the findings that no baseline lists and that touch what has changed."""
        findings = self.unlisted(findings, sources)
        if self._changes is not None:
            findings = [finding for finding in findings if self._changes.touch(finding)]
        return findings

    def tell_fixed(self, findings: list[Finding], sources: Mapping[str, str]) -> bool:
        """Name the entries of the baseline that are fixed; return whether there are any."""
        if self.baseline is None:
            return False
        from .baseline import described

        left = self.baseline.split(findings, sources)[1].elements()
        lines = [f"  {described(entry)}" for entry in left if self._seen(entry)]
        if not lines:
            return False
        more = [f"  and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
        about = f"{self.baseline.path} lists what is fixed (--write-baseline takes it out):"
        say(about, *lines[:_SHOWN], *more)
        return True

    def write(self, findings: list[Finding], sources: Mapping[str, str]) -> None:
        """Make the baseline list these findings."""
        assert self.baseline is not None
        self.baseline.write(findings, sources, self._seen)

    def _seen(self, entry: Anchor) -> bool:
        """Whether this run would have found again what an entry of the baseline is about."""
        assert self.baseline is not None
        path = self.baseline.file_of(entry)
        if not os.path.lexists(path):
            return True
        if os.path.abspath(path) not in self.linted:
            return False
        known = severities()
        on = choose(known, selections_for(path, self._configs.for_file(path)))
        return entry.code in on or entry.code not in known


def _baseline(options: Namespace) -> Baseline | None:
    if options.baseline is None:
        return None
    from .baseline import read

    return read(options.baseline, required=not options.write_baseline)


def _changes(options: Namespace) -> Changes | None:
    if options.diff_base is None:
        return None
    from .changed import Changes

    return Changes(options.diff_base)
