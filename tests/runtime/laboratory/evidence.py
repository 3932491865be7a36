"""Judges one row of knowledge on the device."""

from __future__ import annotations

from typing import Any

from devlint.knowledge.find import rows
from devlint.runtime import samples
from devlint.runtime.apis import locate
from devlint.runtime.evidence import on_device


def judge_by_guesses(name: str) -> tuple[str, str]:
    """The verdict on a row where torch's own samples cannot be had, as they need its test utilities."""
    operators = samples._operators
    samples._operators = dict  # type: ignore[assignment]
    try:
        return judge(name, {})
    finally:
        samples._operators = operators


def judge(name: str, change: dict[str, Any]) -> tuple[str, str]:
    """The verdict on a row, some of its columns changed."""
    if "topics" in change:
        change = {**change, "topics": frozenset(change["topics"])}
    row = dict(rows())[name]._replace(**change)
    api = locate(name)
    assert api is not None
    return on_device(name, row, api)
