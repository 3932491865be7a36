"""Whether an object is a tensor of a graph, as the attributes that its owner has show."""

from __future__ import annotations

from .. import knowledge
from ..core.objects import Objects
from ..core.paths import Attr, Element, Ref

_EDGES = Attr("edge_index")
"""What an object has that is one of PyG's graphs, and no other."""


def is_of_graph(objects: Objects, ref: Ref) -> bool:
    """Whether an object is a tensor that a graph has, which a caller or a loop gives."""
    way, owner = objects.ways[ref], objects.parents[ref]
    if not isinstance(way, Attr) or way.name not in knowledge.OF_GRAPHS or not objects.has(owner, _EDGES):
        return False
    return objects.is_parameter(owner) or isinstance(objects.ways[owner], Element)
