"""What a row of knowledge is about, found in torch and in Python, and whether its signature is right."""

from __future__ import annotations

import collections
import importlib
import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from .signatures import Signature, signatures

if TYPE_CHECKING:
    from ..knowledge.row import Row

_CLASSES: dict[str, tuple[type, ...]] = {
    "Tensor": (torch.Tensor,),
    "Module": (torch.nn.Module, torch.nn.ModuleList, torch.nn.ModuleDict),
    "Optimizer": (torch.optim.Optimizer, torch.optim.SGD),
    "Loader": (torch.utils.data.DataLoader,),
    "Generator": (torch.Generator,),
    "Device": (torch.device,),
    "Container": (list, dict, set, collections.deque),
    "String": (str,),
}
_NOT_IN_TORCH = ("Array", "InPlace", "TestCase")
_UNSAID = frozenset({"names", "kwargs", "args", "self", "dimnames"})
"""Parameters that say nothing about placement, or that only named tensors have."""


class Api(NamedTuple):
    """Something that a row describes."""

    owner: Any
    name: str

    @property
    def value(self) -> Any:
        """The function or class itself."""
        return getattr(self.owner, self.name)


def belongs_here(name: str, row: Row) -> bool:
    """Whether the row is about torch or Python, not about another library or about a group of names."""
    return (
        "other-library" not in row.topics
        and "*" not in name
        and name.partition(".")[0] not in _NOT_IN_TORCH
        and not name.startswith(("mock.", "pytest.", "unittest."))
    )


def locate(name: str) -> Api | None:
    """What a row's name names here, if it is there."""
    head, _, last = name.rpartition(".")
    for owner in _CLASSES.get(head, ()):
        if hasattr(owner, last):
            return Api(owner, last)
    if head in _CLASSES:
        return None
    owner = _named(head or "builtins")
    return Api(owner, last) if hasattr(owner, last) else None


def _named(dotted: str) -> Any:
    """A module, or a class in one."""
    head, _, last = dotted.rpartition(".")
    try:
        return importlib.import_module(dotted)
    except ImportError:
        return getattr(_named(head), last, None) if head else None


def wrong_signature(api: Api, row: Row) -> str | None:
    """How a row's signature differs from each that torch knows; None if it does not, or torch cannot tell."""
    mine = _parse(row.signature)
    if not _of_torch(api):
        return _misfit(mine, api.value)
    ways = [_said(way) for way in signatures(api.owner, api.name)]
    if not ways:
        return None
    if not any(mine.positional == way.positional and (not way.rest or mine.rest == way.rest) for way in ways):
        found = "; ".join(
            sorted({", ".join((*way.positional, *([f"*{way.rest}"] * bool(way.rest)))) for way in ways})
        )
        return f"takes ({', '.join(mine.positional)}), torch ({found})"
    known = frozenset().union(*(way.names for way in ways))
    unknown = mine.names - known - _UNSAID
    if unknown and not any(way.any_keyword for way in ways):
        return f"has no parameter {', '.join(sorted(unknown))}"
    if missing := known - mine.names - _UNSAID:
        return f"also takes {', '.join(sorted(missing))}"
    return None


def tells_signature(api: Api) -> bool:
    """Whether torch or Python knows how a function may be called."""
    if _of_torch(api):
        return bool(signatures(api.owner, api.name))
    return _inspected(api.value) is not None


def _of_torch(api: Api) -> bool:
    module = getattr(api.owner, "__module__", None) or getattr(api.owner, "__name__", "")
    return str(module).partition(".")[0] == "torch" or api.owner is torch.Tensor


def _inspected(value: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(value)
    except (TypeError, ValueError):
        return None


def _misfit(mine: Signature, value: Any) -> str | None:
    """How Python's own function could not be called as the row says; it may be called in other ways, too."""
    said = _inspected(value)
    if said is None:
        return None
    kinds = [parameter.kind for parameter in said.parameters.values()]
    takes = sum(
        kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds
    )
    if len(mine.positional) > takes and inspect.Parameter.VAR_POSITIONAL not in kinds:
        return f"takes {takes} positions, not {len(mine.positional)}"
    unknown = mine.keywords - said.parameters.keys() - _UNSAID
    if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
        return f"has no parameter {', '.join(sorted(unknown))}"
    return None


def _said(way: Signature) -> Signature:
    return Signature(
        tuple(name for name in way.positional if not name.startswith("_") and name != "self"),
        frozenset(name for name in way.keywords if not name.startswith("_")),
        way.rest,
        way.any_keyword,
    )


def _parse(signature: str) -> Signature:
    positional: list[str] = []
    keywords: list[str] = []
    rest, into = "", positional
    for name in filter(None, map(str.strip, signature.split(","))):
        if name.startswith("**"):
            continue
        if name.startswith("*"):
            rest, into = name[1:], keywords
        else:
            into.append(name)
    return Signature(tuple(positional), frozenset(keywords), rest)
