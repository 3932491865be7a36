"""What a run was asked to do, as plain data: the same whether it came from a file, a flag or a test."""

from __future__ import annotations

from typing import NamedTuple

DEFAULT_EXCLUDE = (
    ".bzr", ".devlint_cache", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints",
    ".mypy_cache", ".nox", ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox",
    ".venv", ".vscode", "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist",
    "node_modules", "site-packages", "venv",
)  # fmt: skip


class Selection(NamedTuple):
    """One layer of rule selection; a later layer overrides an earlier one."""

    select: tuple[str, ...] | None = None
    """Codes, prefixes or `ALL` that replace whatever was chosen before; `None` leaves it."""
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def selectors(self) -> tuple[str, ...]:
        """Return every selector of this layer, to be checked against the known codes."""
        return (*(self.select or ()), *self.extend_select, *self.ignore)


class Fixing(NamedTuple):
    """Of which rules fixes are applied, and which of them count as safe; each the selectors of codes."""

    fixable: tuple[str, ...] = ("ALL",)
    extend_fixable: tuple[str, ...] = ()
    unfixable: tuple[str, ...] = ()
    safe: tuple[str, ...] = ()
    """Fixes that are safe whatever the rule says."""
    unsafe: tuple[str, ...] = ()


class Settings(NamedTuple):
    """Everything that decides which findings a file has."""

    root: str = ""
    """The folder that `per_file_ignores` and the excludes are relative to."""
    selections: tuple[Selection, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Glob patterns and the selectors that are off for the files they match."""
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    unsafe_fixes: bool = False
    noqa: bool = True
    """Whether `# noqa` silences; a host that looks at it itself turns it off."""
    output_format: str | None = None
    target_torch: tuple[int, int] | None = None
    """The oldest release of torch that the code must run with; `None` for any."""
    preview: bool = False
    """Whether rules that are not settled run too."""
    explicit_preview_rules: bool = False
    """Whether these have to be selected by their whole code."""
    lint_tests: bool = False
    """Whether rules that leave test code alone tell of it too."""
    jobs: int | None = None
    """How many processes lint at most; `None` for as many as there are cores."""
    ignore_noqa: bool = False
    """Whether no comment silences, devlint's own neither."""
    fixing: Fixing | None = None
    """`None` where everything is as the rules say."""
    baseline: str | None = None
    """The path of a file of findings that are not reported."""
    max_findings: tuple[tuple[str, int], ...] = ()
    """Selectors, and how many findings of theirs do not fail a run."""
    extend_per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The same as `per_file_ignores`, on top of them."""
    cache_dir: str | None = None
    """The path of the folder for results; `None` for `.devlint_cache` in `root`."""
    source: str | None = None
    """The file this was read from."""


def release(text: str) -> tuple[int, int]:
    """Return a release of torch, such as `2.6`, as numbers that compare; raises ValueError."""
    major, dot, minor = text.partition(".")
    if not (dot and major.isdecimal() and minor.isdecimal()):
        raise ValueError(f'expected a release such as "2.6", got {text!r}')
    return int(major), int(minor)
