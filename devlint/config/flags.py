"""What the flags of a command line say about settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..errors import DevlintError
from ..source.globs import anchored, expanded
from .settings import Fixing, Selection

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from .settings import Settings

_SAME = ("force_exclude", "respect_gitignore", "lint_tests", "preview", "target_torch")
"""Flags that are called as the settings are."""


def selection(options: Namespace) -> Selection:
    """Return the rules that the flags choose; raises DevlintError where a selector means none."""
    select, more, fewer = (
        _meant(getattr(options, flag), flag) for flag in ("select", "extend_select", "ignore")
    )
    return Selection(None if options.select is None else select, more, fewer)


def overrides(options: Namespace) -> dict[str, Any]:
    """Return the settings that the command line has the last word on."""
    found: dict[str, Any] = {
        flag: getattr(options, flag) for flag in _SAME if getattr(options, flag) is not None
    }
    if options.exclude is not None:
        found["exclude"] = tuple(options.exclude)
    if options.extend_exclude is not None:
        found["extend_exclude"] = tuple(options.extend_exclude)
    if options.ignore_noqa:
        found["ignore_noqa"] = True
    for flag in ("per_file_ignores", "extend_per_file_ignores"):
        pairs = getattr(options, flag)
        if pairs is not None:
            codes = _meant((code for _, code in pairs), flag)
            for pattern, _ in pairs:
                expanded(pattern)
            found[flag] = tuple(
                (anchored(pattern, os.getcwd()), (code,))
                for (pattern, _), code in zip(pairs, codes, strict=True)
            )
    return found


def fixing(options: Namespace, said: Fixing | None) -> Fixing | None:
    """Return of which rules fixes are applied, after what the configuration has `said`."""
    given = ("fixable", "extend_fixable", "unfixable")
    flags = {flag: _meant(getattr(options, flag), flag) for flag in given}
    if all(getattr(options, flag) is None for flag in given):
        return said
    said = said or Fixing()
    return said._replace(
        fixable=said.fixable if options.fixable is None else flags["fixable"],
        extend_fixable=(*said.extend_fixable, *flags["extend_fixable"]),
        unfixable=said.unfixable if options.unfixable is None else flags["unfixable"],
    )


def baseline(options: Namespace, settings: Settings) -> str | None:
    """Return the path of the baseline; raises DevlintError where one is to be changed and there is none."""
    path: str | None = options.baseline
    if path is None and settings.baseline is not None and not options.no_baseline:
        path = os.path.relpath(settings.baseline)
    for flag in ("write_baseline", "prune_baseline"):
        if getattr(options, flag) and path is None:
            raise DevlintError(f"{_named(flag)} needs --baseline, or `baseline` in the configuration")
    return path


def limits(options: Namespace, settings: Settings) -> dict[str, int]:
    """Return how many findings of which selectors do not fail a run."""
    if options.max_findings is None:
        return dict(settings.max_findings)
    found = dict(options.max_findings)
    return dict(zip(_meant(found, "max_findings"), found.values(), strict=True))


def _meant(selectors: Iterable[str] | None, flag: str) -> tuple[str, ...]:
    """Return the selectors of a flag, with codes in place of names."""
    selectors = tuple(selectors or ())
    if not selectors:
        return ()
    from ..match.registry import resolved

    return resolved(selectors, _named(flag))


def _named(flag: str) -> str:
    return f"--{flag.replace('_', '-')}"
