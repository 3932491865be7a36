"""What torch's dispatcher says of the kernels that the simulated device registered."""

from __future__ import annotations

import torch

from devlint.runtime import autocast

_has = torch._C._dispatch_has_kernel_for_dispatch_key


def outdone() -> list[str]:
    """Operators that the CPU has a kernel for, and the device only one for all backends."""
    return [name for name in _names() if _has(name, "CPU") and _composite(name) and not _own(name)]


def without_autocast() -> list[str]:
    """Operators that autocast knows for CUDA, and not for the device."""
    cuda = [name for name in _names() if _has(name, "AutocastCUDA")]
    return [name for name in cuda if not _has(name, autocast.KEY)]


def _names() -> list[str]:
    return sorted(name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::"))


def _composite(name: str) -> bool:
    return bool(_has(name, "CompositeExplicitAutograd"))


def _own(name: str) -> bool:
    return bool(_has(name, "PrivateUse1"))
