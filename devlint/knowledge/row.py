"""What one API does, as data."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple


class Row(NamedTuple):
    """A function, class or method of a library: a summary written by hand.

    Rows are found by dotted name (`torch.zeros`), of methods by kind (`Tensor.numpy`, `Module.to`); a name
    with a `*` stands for all names that begin and end so and have no row of their own.
    """

    gives: str = "unknown"
    """What a call gives: the name of a kind (`tensor`, `0-dim tensor`, `parameter`, `module`, `number`,
    `string`, `None`, `other`, `array`, `device`, `dtype`, `flag`, `generator`, `container`, `unknown`, …);
    `first`: the very object that is its first argument, of a method its receiver; `element`: what iterating
    that yields; `reduced`: a tensor, 0-dim where nothing but the receiver is given."""
    place: str = ""
    """Where that lives: `device` (the argument that names one, else the default device), `receiver-device`
    (the argument, else where the receiver is), `default`, `cpu`, `operands` (the arguments meet, and the
    result is with them), `first`, `unknown`; empty where a kind has no place."""
    signature: str = ""
    """The names of the parameters in order, as `inspect.signature` has them, `self` left out: `input, other`.
    `*size` takes the rest of the positions; what follows it, or a bare `*`, is by keyword alone."""
    devices: tuple[str, ...] = ()
    """Parameters that take a device."""
    host: tuple[str, ...] = ()
    """Parameters that may stay, or must be, on the cpu: they meet nothing."""
    topics: frozenset[str] = frozenset()
    """What rules and guards ask for: `asks-accelerator`, `needs-cuda`, `loads`, `sync`, `clock`, `wraps`, …
    `several`: it gives a tuple of tensors, which all live there."""
    by: str = ""
    """The transfer function that says what the columns cannot: `loaders.loader`."""
    source: str = ""
    """Where this is documented, or how it was measured, where that is not torch's own documentation."""
    probe: str = ""
    """Arguments with which the row can be tried: `(x,size=3)`, where `x` is a tensor and `m` a module, both
    on the device. What another package brings is called with these alone."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters that a position can bind."""
        return _positional(self.signature)


@lru_cache(maxsize=4096)
def _positional(signature: str) -> tuple[str, ...]:
    names = [name.strip() for name in signature.split(",") if name.strip()]
    found: list[str] = []
    for name in names:
        if name.startswith("*"):
            break
        found.append(name)
    return tuple(found)


class Hint(NamedTuple):
    """What a name that a user chose suggests. It may silence a finding; it never makes one."""

    on: frozenset[str]
    """Whose names: `function`, `class`, `decorator`, `option`, `string`, `import`, `base`."""
    pattern: str
    """A regular expression, searched in the name in snake case and lower letters."""
    says: str
    """`accelerator`, `no-accelerator`, `demands`, `dtype`, `device`, `framework`."""
