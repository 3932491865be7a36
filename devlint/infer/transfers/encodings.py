"""What tokenizers and processors give: tensors on the cpu, in a mapping that moves itself."""

from __future__ import annotations

import ast

from ... import knowledge
from ...bind.names import last_name
from ...core.kinds import MAY_HOLD_TENSORS, TENSORS, Kind
from ...core.paths import Item
from ...core.places import ON_DEVICE, Form
from ...core.values import ENCODED, ENCODING, UNKNOWN, Defined, Value, constant, container, dotted, element_of
from .. import lent
from ..machine import Arguments, Machine, Site
from . import factories, moves

_MAY_ENCODE = frozenset({Kind.UNKNOWN, Kind.OTHER})
_KEEPS = frozenset({Kind.INSTANCE, Kind.MODULE})
_LEAST = 2
"""What is encoded has rows: at least two dimensions."""


def encoded(machine: Machine, node: ast.Call, callee: Value, args: Arguments) -> Value | None:
    """What a call gives that asks for torch's tensors, as those of transformers' tokenizers do; or None."""
    asked = args.keywords.get(knowledge.ENCODED_AS)
    if asked is None or constant(asked[1]) not in knowledge.AS_TORCH or not _encodes(machine, node, callee):
        return None
    given = [value for _, value in (*args.all(), *args.unpacked)]
    told = knowledge.DEVICE_KEYWORDS.intersection(args.keywords) or args.unpacked
    if told or any(_is_elsewhere(machine, value) for value in given):
        return None
    machine.spill(given)
    place = factories.default(machine)
    name = last_name(node)
    tensor = machine.made(node, Kind.TENSOR, place, ENCODED, name)
    if tensor.origin is not None:
        tensor = tensor._replace(origin=tensor.origin._replace(dims=_LEAST))
    as_mapping = args.get(knowledge.AS_MAPPING)
    if name in knowledge.ENCODES_ONE and (as_mapping is None or constant(as_mapping) is not True):
        return tensor
    ref = machine.own(node, Kind.CONTAINER, role="made").who
    for key in [key for key in machine.state.env if type(key) is tuple and key[0] == ref]:
        del machine.state.env[key]
    return container(ref, element=tensor)._replace(known=ENCODING)


def _encodes(machine: Machine, node: ast.Call, callee: Value) -> bool:
    """Whether what is called may be a tokenizer or processor: it is neither a class nor the project's own.

    Of an object of the project's, that is what it keeps, and no method that it may inherit.
    """
    name = last_name(node)
    if name[:1].isupper():
        return False  # collators, which give what they are given
    if isinstance(node.func, ast.Attribute) and callee.kind in _KEEPS:
        view = machine.program.view(callee.known.dotted) if isinstance(callee.known, Defined) else None
        if view is None or view.method(name) is not None or view.attribute(name) is None:
            return False
        callee = machine.attribute(callee, name, node.func)
    return callee.kind in _MAY_ENCODE or (
        callee.kind is Kind.LIBRARY and dotted(callee).startswith(knowledge.OF_ENCODERS)
    )


def _is_elsewhere(machine: Machine, value: Value) -> bool:
    """Whether a processor is given tensors that it may leave where they are."""
    held = element_of(value) if value.kind is Kind.CONTAINER else value
    if held is None or held.kind not in MAY_HOLD_TENSORS:
        return False
    place = machine.where(held)
    return place.form in ON_DEVICE if held.kind is Kind.UNKNOWN else place.form is not Form.CPU


def attribute(machine: Machine, base: Value, name: str, node: ast.AST) -> Value:
    """`encoding.input_ids`: an item of it."""
    if name in knowledge.OF_ENCODING:
        return base if name in knowledge.TENSOR_DATA else UNKNOWN
    ref = machine.ref(base)
    stored = machine.state.env.get((ref, Item(name))) if ref is not None else None
    return stored or machine.element(base, node)


def move(machine: Machine, site: Site) -> Value:
    """`encoding.to(device)` moves all of its items, and gives the encoding."""
    base = site.receiver or UNKNOWN
    place = moves.in_place(machine, site)
    held = element_of(base)
    if place is None or held is None:
        return base
    ref = machine.ref(base)
    whole = base._replace(element=moves.moved(machine, site, held, place))
    lent.replace(machine, base, whole)
    for key, value in list(machine.state.env.items()):
        if type(key) is tuple and key[0] == ref and isinstance(key[1], Item) and value.kind in TENSORS:
            machine.state.env[key] = moves.moved(machine, site, value, place)
    return whole
