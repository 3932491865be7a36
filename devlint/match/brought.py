"""Knowledge that installed packages bring, found through entry points and checked."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from .. import knowledge
from ..errors import FAULTS, DevlintError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "devlint.knowledge"


def points() -> tuple[EntryPoint, ...]:
    """Return the entry points of all packages that bring knowledge, each module once."""
    from importlib.metadata import entry_points

    found = sorted(entry_points(group=GROUP), key=lambda entry: entry.value)
    return tuple({entry.value: entry for entry in found}.values())


def tables(unusable: list[DevlintError]) -> tuple[knowledge.Table, ...]:
    """Import what packages bring; of one whose rows are wrong nothing is taken, and `unusable` says why."""
    found: list[knowledge.Table] = []
    for point in points():
        try:
            brought = getattr(importlib.import_module(point.value), "TABLES", None)
            said = knowledge.complaint(brought)
            if not said and isinstance(brought, tuple):
                found += brought
                continue
        except FAULTS as error:
            said = f"{type(error).__name__}: {error}"
        origin = f"{point.value} (from {point.dist.name})" if point.dist else point.value
        unusable.append(DevlintError(f"cannot use the knowledge in {origin}: {said}"))
    return tuple(found)
