"""What the flags of a command line say about settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .settings import Selection

if TYPE_CHECKING:
    from argparse import Namespace


def selection(options: Namespace) -> Selection:
    """Return the rules that the flags choose; raises DevlintError where a selector means none."""
    for flag in ("select", "extend_select", "ignore"):
        selectors = getattr(options, flag)
        if selectors:
            from ..match.registry import check

            check(selectors, f"--{flag.replace('_', '-')}")
    return Selection(
        None if options.select is None else tuple(options.select),
        tuple(options.extend_select or ()),
        tuple(options.ignore or ()),
    )


def overrides(options: Namespace) -> dict[str, Any]:
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
    if options.lint_tests:
        found["lint_tests"] = True
    if options.target_torch is not None:
        found["target_torch"] = options.target_torch
    return found
