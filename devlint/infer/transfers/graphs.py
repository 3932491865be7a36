"""PyG's graphs: tensors on the cpu, attributes of an object that moves itself.

`data.to(device)` moves `data` and returns it: https://pytorch-geometric.readthedocs.io, seen with 2.8.
"""

from __future__ import annotations

from ... import knowledge
from ...core.evidence import Evidence
from ...core.kinds import TENSORS, Kind
from ...core.paths import Attr, Element
from ...core.places import CPU, ON_DEVICE, UNKNOWN_PLACE, Form, Place
from ...core.values import ENCODED, GRAPH, NONE, NUMBER, OTHER, UNKNOWN, Value, container
from .. import lent
from ..machine import Machine, Site
from . import loaders, moves

_EDGES = frozenset({Kind.ARRAY, Kind.NUMBER, Kind.NONE})
"""What edges are made of where they are no tensors."""
_LEAST = 2
"""A graph is no number: what it has are rows of nodes, or of edges."""


def loader(machine: Machine, site: Site) -> Value:
    """A loader whose batches are graphs, where the dataset has them, or the large graph that they are of."""
    found, source = loaders.loader(machine, site), site.args.get("dataset")
    element = found.element or UNKNOWN
    if source is not None and _may_be_ahead(machine, source):
        element = element._replace(place=UNKNOWN_PLACE)
    return found._replace(element=element._replace(known=GRAPH))


def _may_be_ahead(machine: Machine, source: Value) -> bool:
    """Whether graphs were brought to a device before a loader has them."""
    held = source.element if source.kind is Kind.CONTAINER else source
    place = machine.where(held) if held is not None else CPU
    if held is not None and (place.form in ON_DEVICE or (held.known == GRAPH and place.form is not Form.CPU)):
        return True
    ref = machine.ref(source)
    return any(machine.objects.owner(each) == ref for each in machine.state.places)


def dataset(machine: Machine, site: Site) -> Value:
    """A dataset of graphs on the cpu, unless a transform brings them elsewhere."""
    value = machine.own(site.node, Kind.CONTAINER, role="made")
    ref = machine.ref(value)
    assert ref is not None
    given = (site.args.get(name) for name in knowledge.TRANSFORMS_GRAPHS)
    stays = all(each is None or each.kind is Kind.NONE or _stays(each) for each in given)
    graph = machine.objects.part(ref, Element())
    place = Place(CPU.form, CPU.name, graph) if stays else UNKNOWN_PLACE
    return container(ref, element=Value(Kind.BATCH, place, graph, known=GRAPH))


def of_edges(machine: Machine, site: Site) -> Value:
    """A graph of DGL's: where it is told to be, else where its edges are."""
    data = next(filter(None, map(site.args.get, knowledge.EDGES_OF_GRAPH)), NONE)
    parts = [part for end in data.items or (data,) for part in end.items or (end,)]
    places = {machine.where(part) for part in parts if part.kind in TENSORS}
    known = all(part.kind in _EDGES or part.kind in TENSORS for part in parts) and len(places) < 2
    edges = next(iter(places), CPU) if known else UNKNOWN_PLACE
    place = machine.denoted(site.args.get("device"), edges)
    return _graph(machine, site, place)


def _graph(machine: Machine, site: Site, place: Place) -> Value:
    """A graph of DGL's: moved, and left behind, as what a tokenizer gives is."""
    graph = machine.made(site.node, Kind.TENSOR, place, ENCODED if place == CPU else "made", site.api)
    return graph._replace(origin=graph.origin._replace(dims=_LEAST)) if graph.origin is not None else graph


def collection(machine: Machine, site: Site) -> Value:
    """A dataset of DGL's, whose graphs are on the cpu."""
    value = machine.own(site.node, Kind.CONTAINER, role="made")
    ref = machine.ref(value)
    assert ref is not None
    return container(ref, element=_graph(machine, site, CPU))


def _stays(transform: Value) -> bool:
    """Whether a transform is one of PyG's that leaves graphs where they are."""
    return transform.kind is Kind.OTHER and transform.place.form is Form.UNKNOWN


def transform(machine: Machine, site: Site) -> Value:
    """A transform; `ToDevice(device)` is where it brings graphs, and what is composed of it as well."""
    device = site.args.get("device")
    if device is not None:
        return OTHER._replace(place=machine.denoted(device, CPU))
    held = site.args.first()
    parts = (*(held.items or ()), *([held.element] if held.element is not None else [])) if held else ()
    return next((part for part in parts if not _stays(part)), OTHER)


def attribute(machine: Machine, base: Value, name: str) -> Value:
    """A tensor of a graph, or anything else that it has."""
    if name in knowledge.OF_GRAPHS:
        part = machine.part(base, Attr(name))
        machine.note(part, Evidence.TENSOR)
        whole = machine.ref(base)
        moved = machine.state.places.get(whole) if whole is not None else None
        return part._replace(kind=Kind.TENSOR, place=moved or machine.where(part))
    if name.startswith(knowledge.COUNTS):
        return NUMBER
    ref = machine.ref(base)
    return Value(who=machine.objects.part(ref, Attr(name))) if ref is not None else UNKNOWN


def move(machine: Machine, site: Site) -> Value:
    """`data.to(device)` moves all that it has, and gives it back; told names of attributes, those alone."""
    base = site.receiver or UNKNOWN
    place = moves.in_place(machine, site)
    if place is None or len(site.args.positional) > 1:
        lent.replace(machine, base, UNKNOWN)
        return UNKNOWN
    ref = machine.ref(base)
    whole = moves.moved(machine, site, base, place)._replace(known=GRAPH)
    lent.replace(machine, base, whole)
    for key, value in list(machine.state.env.items()):
        if type(key) is tuple and key[0] == ref and isinstance(key[1], Attr) and value.kind in TENSORS:
            machine.state.env[key] = moves.moved(machine, site, value, place)
    return whole
