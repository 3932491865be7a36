"""A module that is being made has its weights on the cpu, where what is computed of them stays."""

from __future__ import annotations

import ast

from .. import knowledge
from ..core.kinds import TENSORS, Kind
from ..core.paths import Attr, Ref
from ..core.places import CPU, Form, Place
from ..core.values import BUFFER, Origin, Value, is_made
from .machine import Machine


def parameter(machine: Machine, value: Value, data: Value | None) -> Value:
    """A parameter, as made as its data: what is computed of it stays behind when the module moves."""
    if data is None or not _is_made_there(data) or _module(machine) is None:
        return value
    return value._replace(origin=data.origin)


def buffer(machine: Machine, owner: Ref, registered: Value, data: Value) -> Value:
    """A buffer, as made as what is registered, until the module moves."""
    if registered.kind is not Kind.TENSOR or not _is_made_there(data) or _module(machine) != owner:
        return registered
    if machine.place_at(owner) is not None:
        return registered
    return registered._replace(place=CPU, origin=data.origin)


def enroll(machine: Machine, name: str, data: Value | None) -> None:
    """Remember that a module registers a buffer or parameter under a name, which may be unknown."""
    machine.log.registered.add(name or "*")
    if data is not None and data.kind is Kind.TENSOR and data.origin is not None and data.origin.dims:
        machine.log.sized.add(name)


def assigned(machine: Machine, owner: Value, name: str, data: Value) -> Value:
    """What an object has as an attribute once that is assigned: an `nn.Buffer` goes where its module goes."""
    ref = machine.ref(owner)
    if data.known != BUFFER or owner.kind is not Kind.INSTANCE or ref is None:
        return data
    enroll(machine, name, data)
    own = Value(Kind.TENSOR, Place(Form.AT, "", ref), machine.objects.part(ref, Attr(name)))
    return buffer(machine, ref, own, data)


def weight(machine: Machine, layer: Value, parameter: Value) -> Value:
    """A parameter of a layer that the constructor made, as made as that."""
    origin = layer.origin
    if origin is None or origin.how != "made" or parameter.place != CPU or _module(machine) is None:
        return parameter
    return parameter._replace(origin=Origin("factory", origin.function, origin.at, dims=1))


def inherited(machine: Machine, owner: Ref, base: str | None, name: str, node: ast.AST) -> Value | None:
    """The weight that a layer of torch's gives a class that derives from it."""
    if base is None or name not in knowledge.WEIGHT or not knowledge.has_weight(base):
        return None
    own = Value(Kind.PARAMETER, Place(Form.AT, "", owner), machine.objects.part(owner, Attr(name)))
    if _module(machine) != owner or machine.place_at(owner) is not None:
        return own
    origin = Origin("factory", machine.here.name, machine.here.number(node), dims=1)
    return own._replace(place=CPU, origin=origin)


def moved(machine: Machine, module: Value) -> None:
    """A module is moved by its own constructor: its parameters and buffers go along."""
    owner = machine.ref(module)
    if owner is None or _module(machine) != owner:
        return
    for key, value in list(machine.state.env.items()):
        if type(key) is tuple and key[0] == owner and isinstance(key[1], Attr):
            machine.state.env[key] = left(machine, owner, key[1].name, value)


def left(machine: Machine, owner: Ref, name: str, value: Value) -> Value:
    """What methods find in an attribute: parameters and buffers are where the module is by then."""
    if name in machine.log.registered and value.kind is Kind.TENSOR and _is_made_there(value):
        return Value(Kind.TENSOR, Place(Form.AT, "", owner), machine.objects.part(owner, Attr(name)))
    return _plain(value)


def _plain(value: Value, depth: int = 2) -> Value:
    """A value, and what it holds, without how parameters came to be, which move."""
    if value.kind is Kind.PARAMETER and is_made(value):
        return value._replace(origin=None)
    if value.kind is not Kind.CONTAINER or not depth:
        return value
    items = value.items and tuple(_plain(item, depth - 1) for item in value.items)
    element = value.element and _plain(value.element, depth - 1)
    return value._replace(items=items, element=element)


def _is_made_there(value: Value) -> bool:
    return value.kind in TENSORS and is_made(value) and value.place == CPU


def _module(machine: Machine) -> Ref | None:
    """The module that is made, in its constructor."""
    here = machine.here
    if here.owner is None or here.own_name not in knowledge.CONSTRUCTS:
        return None
    view = machine.program.view(here.owner)
    return machine.objects.self_of(here.owner) if view is not None and view.is_module else None
