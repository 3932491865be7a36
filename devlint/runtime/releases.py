"""Which releases of torch can simulate a device; asked before what others may not even be able to import."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import torch

from ..console import say
from . import shim

if TYPE_CHECKING:
    from collections.abc import Callable

OLDEST = (2, 6)
"""The first release that the simulation was run with."""
TESTED = ("2.6.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0")
"""Those that `devlint verify` and `tests/runtime` pass with, but for what docs/runtime.md has of the oldest.
"""


def missing(tell: Callable[[str], object] = say) -> str:
    """What the installed torch lacks for the simulation; empty if nothing.

    What can be compiled is, and loaded into this process; `tell` is given a line before that takes its time.
    """
    release = re.match(r"(\d+)\.(\d+)", torch.__version__)
    if release and tuple(map(int, release.groups())) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        return f"that takes torch {oldest} or newer (pip install --upgrade 'torch>={oldest}')"
    if shim.NEEDED:
        return shim.prepare(tell)
    from torch.utils import backend_registration

    if not hasattr(backend_registration, "_setup_privateuseone_for_python_backend"):
        return "torch.utils.backend_registration cannot set up a backend written in Python"
    if not hasattr(getattr(torch._C, "_acc", None), "create_empty_tensor"):
        return "torch._C._acc.create_empty_tensor does not exist"
    return ""
