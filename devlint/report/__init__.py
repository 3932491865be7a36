"""Output formats: each a module with a pure function `render`, from a run's findings to text."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..finding import Finding
    from ..match.registry import Installed
    from ..problems import Problem

FORMATS = (
    *("full", "concise", "grouped", "json", "json-lines"),
    *("github", "gitlab", "sarif", "junit", "pylint", "rdjson", "azure"),
)
WITH_SOURCES = frozenset({"full", "gitlab", "sarif", "rdjson"})
"""The formats that draw on the text of the files."""


class Outcome(NamedTuple):
    """All that a format may draw on."""

    findings: Sequence[Finding]
    """In the order of files and positions."""
    sources: Mapping[str, str]
    """The text of each file that has findings, by its path; of a notebook's cells, by `PATH:cell N`."""
    color: bool = False
    unsafe_fixes: bool = False
    """Whether `--fix` would apply unsafe fixes too."""
    fixed: int = 0
    """How many findings were fixed before these were made."""
    base: str = ""
    """The folder that paths are relative to where a format wants that; by default the current one."""
    rules: Mapping[str, Installed] = MappingProxyType({})
    """The rules to describe, for the formats that do."""
    problems: Sequence[Problem] = ()
    """What could not be checked, or not by all rules."""
    stale: Sequence[Problem] = ()
    """What fails the run though nothing is wrong with the code: entries of a baseline that are fixed."""
    checked: bool = True
    """Whether there was anything to check."""
    trees: Sequence[str] = ()
    """The paths that statistics are told apart by; none for one count over all."""
    as_json: bool = False
    """Whether statistics are for programs."""


def render(name: str, outcome: Outcome) -> str:
    """Return an outcome in one of the formats, ending in a newline unless it is empty."""
    text: str = import_module(f"{__name__}.{name.replace('-', '_')}").render(outcome)
    return text
