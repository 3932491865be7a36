"""A device that was used before a fork is lost to the child, as CUDA is."""

from __future__ import annotations

import os

FORKED = (
    "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, "
    "you must use the 'spawn' start method"
)
"""What CUDA says in a process that was forked from one that had used it."""
_used = _lost = False


def enter() -> None:
    """Use the device; raise as `torch.cuda._lazy_init` does where it cannot be used."""
    global _used
    if _lost:
        raise RuntimeError(FORKED)
    _used = True


def is_lost() -> bool:
    """Whether this process was forked from one that had used the device."""
    return _lost


def regain() -> None:
    """Let this process use the device all the same, to see what else is wrong with it."""
    global _lost
    _lost = False


def _after_fork() -> None:
    global _lost
    _lost = _used


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
