"""What a run has found, for the next that is asked the same: it holds while nothing that was read differs.

Nobody is asked anything for that: files and folders are read, and their digests compared.
"""

from __future__ import annotations

import marshal
import os
from typing import TYPE_CHECKING

from ..project.world import Facts, is_same, of_file
from ..source.digest import digest
from ..source.unreadable import CODE as UNREADABLE
from . import cached

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..config.settings import Settings
    from ..finding import Finding
    from ..project.store import Store
    from ..project.world import World

_MOST = 16
"""Runs of several files that are kept: those of others or with other settings take each other's places."""


class Unchanged:
    """The findings of a run's files by path, as far as they need not be looked for again."""

    def __init__(
        self, store: Store, world: World, paths: Sequence[str], settings: Callable[[str], Settings]
    ) -> None:
        """Take what is known of a run of these files, if all that it read is as it was."""
        self._store = store
        self._world = world
        asked = [os.path.abspath(store.shelf.folder)]
        places = [os.path.abspath(path) for path in paths]
        for path, place in zip(paths, places, strict=True):
            asked += place, cached.key(path, settings(path))
        self._key = digest("\0".join(asked).encode("utf-8", "surrogateescape"))
        slot = os.path.join(store.root, str(self._key[0] % _MOST))
        self._place = places[0] if len(places) == 1 else slot  # one file after the other has its own
        self._found: dict[str, bytes] = {}
        self._changed = False
        kept = store.get("run", self._place)
        if kept is not None and kept[0] == self._key:
            facts = Facts(*kept[1])
            if is_same(facts):
                world.add(facts)
                self._found = kept[2]

    def findings(self, path: str, raw: bytes) -> list[Finding] | None:
        """Return what is found in a file that has these bytes if that is known; None otherwise."""
        place = os.path.abspath(path)
        known = self._found.get(place)
        if known is None or self._world.facts().files.get(place) != of_file(raw):
            return None
        return cached.back(marshal.loads(known), path) if known else []

    def note(self, path: str, raw: bytes, findings: list[Finding]) -> None:
        """Remember what was found in a file that has these bytes; what cannot be read is tried each time."""
        self._world.note_file(path, raw)
        place = os.path.abspath(path)
        if place in self._found or any(each.code == UNREADABLE for each in findings):
            return
        found = cached.away(findings, path)
        if found is not None:
            self._found[place] = marshal.dumps(found) if found else b""
            self._changed = True

    def keep(self) -> None:
        """Keep it for the next run, unless the files changed while this one read them."""
        if self._changed and self._world.is_steady:
            self._store.put("run", self._place, (self._key, tuple(self._world.facts()), self._found))
