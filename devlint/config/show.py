"""Prints the settings of a file in the form of a configuration file, and the rules that are on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..console import printable
from ..match.registry import turned_on
from .describe import toml
from .layers import selections_for
from .settings import Fixing

if TYPE_CHECKING:
    from .settings import Settings


def shown(path: str, settings: Settings, output_format: str, unsafe_fixes: bool) -> str:
    """Return the settings of a file, as TOML; `rules` is what all selections come to."""
    on = turned_on(selections_for(path, settings), settings.preview, settings.explicit_preview_rules)
    target = settings.target_torch
    fixing = settings.fixing or Fixing()
    table: dict[str, Any] = {
        "rules": sorted(on),
        "per-file-ignores": dict(settings.per_file_ignores),
        "extend-per-file-ignores": dict(settings.extend_per_file_ignores),
        "exclude": settings.exclude,
        "extend-exclude": settings.extend_exclude,
        "force-exclude": settings.force_exclude,
        "respect-gitignore": settings.respect_gitignore,
        "lint-tests": settings.lint_tests,
        "preview": settings.preview,
        "explicit-preview-rules": settings.explicit_preview_rules,
        "target-torch": None if target is None else f"{target[0]}.{target[1]}",
        "unsafe-fixes": unsafe_fixes,
        "fixable": (*fixing.fixable, *fixing.extend_fixable),
        "unfixable": fixing.unfixable,
        "extend-safe-fixes": fixing.safe,
        "extend-unsafe-fixes": fixing.unsafe,
        "baseline": settings.baseline,
        "max-findings": dict(settings.max_findings),
        "output-format": output_format,
        "jobs": settings.jobs,
        "cache-dir": settings.cache_dir,
    }
    source = settings.source or "the defaults"
    lines = [f"{key} = {toml(value)}\n" for key, value in table.items() if value is not None]
    return printable(f"# {path}: {source}") + "\n" + "".join(lines)
