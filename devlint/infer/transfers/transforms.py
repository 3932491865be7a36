"""Objects of libraries that are called: which of torchvision make tensors of pictures, on the cpu."""

from __future__ import annotations

import ast

from ... import knowledge
from ...bind.names import last_name
from ...core.kinds import Kind
from ...core.values import Api, Value, dotted
from ..machine import Machine, Site
from .factories import made_on_cpu

_DIMS = 3
"""Channels, rows, columns."""


def make(machine: Machine, site: Site) -> Value:
    """A transform, what collates samples, or what a function of the module gives."""
    if not site.name[:1].isupper():
        return machine.unknown(site.node)
    moves = (last_name(part) in knowledge.MOVES for part in ast.walk(site.node) if isinstance(part, ast.Call))
    return Value(Kind.OTHER, known=None if any(moves) else Api(site.api))


def compose(machine: Machine, site: Site) -> Value:
    """`Compose([…])`: it gives a tensor of the cpu if any part does, and every part is known."""
    given = site.args.first()
    names = [dotted(item) for item in (given.items if given is not None else None) or ()]
    made = [name for name in names if name.rpartition(".")[2] in knowledge.TO_TENSOR]
    known = bool(made) and all(name.startswith(knowledge.TRANSFORMS) for name in names)
    return Value(Kind.OTHER, known=Api(made[0]) if known else None)


def call(machine: Machine, site: Site) -> Value:
    """Call a transform."""
    if site.name not in knowledge.TO_TENSOR or not site.api.startswith(knowledge.TRANSFORMS):
        return machine.unknown(site.node)
    value = made_on_cpu(machine, site, Kind.TENSOR)
    assert value.origin is not None
    return value._replace(origin=value.origin._replace(dims=_DIMS), measures=None)
