"""What a run leaves out because it is old: listed in a baseline, or on lines that have not changed."""

from __future__ import annotations

import os.path
from collections import Counter
from typing import TYPE_CHECKING

from ..config.layers import selections_for
from ..console import say
from ..match.faults import unusable
from ..match.registry import names, turned_on

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Collection, Mapping

    from ..config.discovery import Configs
    from ..finding import Finding
    from .baseline import Baseline
    from .changed import Changes
    from .fingerprint import Anchor

_SHOWN = 10
"""Fixed entries of a baseline that are named one by one."""


class Accepted:
    """The baseline and the changes that a command line names, if any."""

    def __init__(self, options: Namespace, baseline: str | None, configs: Configs) -> None:
        """Read the baseline and ask git; raises DevlintError where either has no answer."""
        self._configs = configs
        self.baseline = _baseline(baseline, required=not options.write_baseline)
        self._changes = _changes(options)
        self.linted: set[str] = set()
        """The absolute paths of the files that this run has looked at, from end to end."""
        self.broken: Collection[str] = ()
        """The codes of rules that have raised, so that nobody knows what they would have found."""

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

    def fixed(self, findings: list[Finding], sources: Mapping[str, str]) -> Counter[Anchor]:
        """Return the entries of the baseline that are fixed."""
        if self.baseline is None:
            return Counter()
        left = self.baseline.split(findings, sources)[1]
        return Counter({entry: number for entry, number in left.items() if self._seen(entry)})

    def tell_fixed(self, fixed: Counter[Anchor]) -> str:
        """Name the entries that are fixed, and return one line about them all."""
        assert self.baseline is not None
        from .baseline import described

        lines = [f"  {described(entry)}" for entry in fixed.elements()]
        more = [f"  and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
        about = f"{self.baseline.path} lists what is fixed (--prune-baseline takes it out)"
        say(f"{about}:", *lines[:_SHOWN], *more)
        return about

    def prune(self, fixed: Counter[Anchor]) -> str:
        """Take the entries that are fixed out of the baseline, and return what to say about it."""
        assert self.baseline is not None
        self.baseline.prune(fixed)
        return f"{_counted(fixed.total(), 'entry', 'entries')} taken out of {self.baseline.path}"

    def write(self, findings: list[Finding], sources: Mapping[str, str]) -> str:
        """Make the baseline list these findings, and return what to say about it."""
        assert self.baseline is not None
        new, gone = self.baseline.write(findings, sources, self._seen)
        total = _counted(len(findings), "finding", "findings")
        return f"{total} in {self.baseline.path}: {new} new, {gone} gone"

    def _seen(self, entry: Anchor) -> bool:
        """Whether this run would have found again what an entry of the baseline is about."""
        assert self.baseline is not None
        path = self.baseline.file_of(entry)
        if not os.path.lexists(path):
            return True
        if os.path.abspath(path) not in self.linted:
            return False
        if entry.code not in names():
            return not unusable()  # it may be of a package that cannot be loaded now
        settings = self._configs.for_file(path)
        on = turned_on(selections_for(path, settings), settings.preview, settings.explicit_preview_rules)
        return entry.code in on and entry.code not in self.broken


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _baseline(path: str | None, *, required: bool) -> Baseline | None:
    if path is None:
        return None
    from .baseline import read

    return read(path, required=required)


def _changes(options: Namespace) -> Changes | None:
    if options.diff_base is None:
        return None
    from .changed import Changes

    return Changes(options.diff_base, options.paths[0])
