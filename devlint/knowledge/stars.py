"""What `from x import *` brings: names of a library, or of a file that nobody can read."""

from __future__ import annotations

from collections.abc import Collection

from .find import find
from .table import words
from .vocabulary import BUILTINS

_STARRED = words("torch torch.nn torch.nn.functional torch.optim torch.utils.data numpy")
"""Modules of libraries of which people import all names."""
_PARTS_OF_NN = words("functional init utils modules parallel parameter quantized qat Module")
"""What `torch.nn` has besides what there are rows for."""


def is_public(name: str) -> bool:
    """Whether a star brings a name of a module that does not say what it brings."""
    return name[:1] != "_"


def is_every_modules(name: str) -> bool:
    """Whether every module has a name anyway, as `__name__` and `str`: no star is asked for it."""
    return name in BUILTINS or (name.startswith("__") and name.endswith("__"))


def offers(library: str, name: str) -> bool:
    """Whether importing all names of a library's module brings a name."""
    return library in _STARRED and find(f"{library}.{name}") is not None


def is_torch_nn(read: Collection[str]) -> bool:
    """Whether a module of which these attributes are read can only be `torch.nn`."""
    return "Module" in read and all(
        each in _PARTS_OF_NN or find(f"torch.nn.{each}") is not None for each in read
    )
