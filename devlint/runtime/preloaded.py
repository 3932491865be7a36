"""Imported by a fork server before anything else: the processes that it forks are followed as it is."""

from __future__ import annotations

from . import children

children.join().__enter__()
