"""What APIs mean to device placement: rows of data, found by name. Nothing here imports what it describes."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from .attributes import MODES, MODULE_ONLY, TENSOR_ONLY, TENSOR_TOO
from .brought import THIRD_PARTY, complaint, is_brought, libraries
from .classes import runs_like_forward
from .find import attribute, bind, buffers_of_class, find, kind_of_class, method, topics_of_class
from .find import provide as provide_rows
from .ranks import *  # noqa: F403
from .row import Hint, Row
from .stars import is_every_modules, is_public, is_torch_nn, offers
from .table import Table
from .vocabulary import *  # noqa: F403
from .words import (
    GPUS,
    chooses_besides,
    chooses_device,
    hints,
    leaves_device,
    limits_devices,
    may_demand_cuda,
    moves_to_cuda,
    names_cuda,
    numbers_devices,
    offers_device,
    places_elsewhere,
    sets_current_device,
    speaking_of_devices,
    speaks_of_devices,
    speaks_of_ranks,
    trains_on,
    without_flags,
    without_texts,
)

__all__ = [
    "GPUS",
    "MODES",
    "MODULE_ONLY",
    "TENSOR_ONLY",
    "TENSOR_TOO",
    "THIRD_PARTY",
    "Hint",
    "Row",
    "Table",
    "attribute",
    "bind",
    "buffers_of_class",
    "chooses_besides",
    "chooses_device",
    "complaint",
    "find",
    "hints",
    "is_brought",
    "is_every_modules",
    "is_public",
    "is_torch_nn",
    "kind_of_class",
    "leaves_device",
    "libraries",
    "limits_devices",
    "may_demand_cuda",
    "method",
    "moves_to_cuda",
    "names_cuda",
    "numbers_devices",
    "offers",
    "offers_device",
    "places_elsewhere",
    "provide",
    "runs_like_forward",
    "sets_current_device",
    "speaking_of_devices",
    "speaks_of_devices",
    "speaks_of_ranks",
    "topics_of_class",
    "trains_on",
    "without_flags",
    "without_texts",
]


def provide(tables: Iterable[Table]) -> None:
    """Know what other packages bring, and nothing that they brought before."""
    if provide_rows(tables):
        for kept in (topics, topics_of_base):
            kept.cache_clear()


@lru_cache(maxsize=4096)
def topics(dotted: str) -> frozenset[str]:
    """What a class of a library is about: what deriving from it means, and what its row says."""
    row = find(dotted) if dotted else None
    return topics_of_class(dotted) | (row.topics if row is not None else frozenset())


def topics_of_call(dotted: str) -> frozenset[str]:
    """What a function, class or method is about."""
    row = find(dotted)
    return row.topics if row is not None else frozenset()


def unread(dotted: str, keywords: Mapping[str, object]) -> str:
    """The argument that a layer drops, as the keywords say what is in it; empty if it reads all.

    `keywords` are the nodes of what is given by name.
    """
    from . import vocabulary

    name, told, unless = vocabulary.UNREAD.get(dotted, ("", {}, ""))
    said = all(getattr(keywords.get(key), "value", None) is truth for key, truth in told.items())
    return name if said and unless not in keywords else ""


def takes_sizes(dotted: str) -> bool:
    """Whether a factory is given the size of what it makes, number by number or as one tuple."""
    row = find(dotted)
    return row is not None and row.signature.startswith("*size")


def scatters(dotted: str, given: Iterable[str]) -> bool | None:
    """Whether a wrapper that is given these arguments brings its inputs to where the replicas are.

    None for what is no such wrapper.
    """
    found = topics(dotted)
    return ("always-scatters" in found or "device_ids" in given) if "scatters" in found else None


def has_weight(dotted: str) -> bool:
    """Whether a class is a layer of torch's with a weight: no container, and no function of its input."""
    from . import vocabulary

    name = dotted.removeprefix("torch.nn.")
    return name != dotted and name not in vocabulary.NO_PARAMETERS | vocabulary.WITHOUT_WEIGHT


def makes_tensor(dotted: str) -> bool:
    """Whether a function makes a tensor where its `device=` says, or else on the default device."""
    row = find(dotted)
    return row is not None and row.gives == "tensor" and row.place == "device"


def takes_tensors(dotted: str) -> bool:
    """Whether what a layer of another library is given is a tensor, whatever else shows."""
    from . import frameworks

    return dotted.startswith(frameworks.TAKE_TENSORS)


def is_strict_model(dotted: str) -> bool:
    """Whether a model needs every tensor that it is given on its own device."""
    from . import frameworks

    return dotted.startswith(frameworks.STRICT_MODELS)


def named_in(topic: str) -> frozenset[str]:
    """The names whose rows have a topic."""
    from .find import rows

    return frozenset(name for name, row in rows() if topic in row.topics)


@lru_cache(maxsize=4096)
def topics_of_base(dotted: str) -> frozenset[str]:
    """What deriving from a class means, by what it is or, where nothing else is known, what it is called."""
    return topics_of_class(dotted) | {
        said for said in hints("base", dotted) if said in ("module", "framework")
    }
