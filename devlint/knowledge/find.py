"""Rows by name: of functions and classes by dotted name, of methods and attributes by the receiver's kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module

from ..core.kinds import Kind
from . import brought, classes
from .aliases import public
from .row import Row
from .table import Entry, Table, entries, read

_LIBRARIES = {
    "torch": ("torch", "nn", "optim", "cuda", "data", "maths", "python", "testing"),
    "Tensor": ("tensor",),
    "Array": ("tensor",),
    "Module": ("module",),
    "Optimizer": ("module",),
    "Loader": ("module",),
    "InPlace": ("module",),
    "Generator": ("module",),
    "Device": ("module",),
    "Container": ("python",),
    "String": ("python",),
    "TestCase": ("testing",),
}
"""The modules with the rows of a library, by its first name."""
_OTHERS = ("python", "testing", "optim", "data", "models", "frameworks")
_PREFIX_OF = {
    Kind.TENSOR: "Tensor",
    Kind.SCALAR: "Tensor",
    Kind.PARAMETER: "Tensor",
    Kind.MODULE: "Module",
    Kind.OPTIMIZER: "Optimizer",
    Kind.LOADER: "Loader",
    Kind.MOVES_IN_PLACE: "InPlace",
    Kind.CONTAINER: "Container",
    Kind.STRING: "String",
    Kind.DEVICE: "Device",
    Kind.ARRAY: "Array",
    Kind.GENERATOR: "Generator",
}


@lru_cache(maxsize=8192)
def find(dotted: str) -> Row | None:
    """What is known of a function, class or method of a library.

    The name itself is looked for first, then the public name of the same thing, then the longest `prefix*`,
    last `*.name`.
    """
    library = dotted.partition(".")[0]
    modules = _LIBRARIES.get(library, _OTHERS)
    found = _exact(modules, dotted)
    if found is None:
        name = public(dotted)
        if name != dotted:
            modules = _LIBRARIES.get(name.partition(".")[0], _OTHERS)
            found = _exact(modules, name)
        other = None if found is not None else brought.exact(dotted) or brought.exact(name)
        if other is None and found is None:
            length, found = _longest_prefix(modules, name)
            other = brought.longest_prefix(dotted, length)
        if other is not None:
            return brought.read(other)
        found = found or _exact(("frameworks",), f"*.{dotted.rpartition('.')[2]}")
    return None if found is None else read(found)


def provide(tables: Iterable[Table]) -> bool:
    """Know what other packages bring, and nothing that they brought before; False where nothing changes."""
    if not brought.provide(tables):
        return False
    for kept in (find, kind_of_class, topics_of_class):
        kept.cache_clear()
    return True


@lru_cache(maxsize=4096)
def method(kind: Kind, name: str) -> Row | None:
    """What is known of a method of values of some kind; a parameter has a tensor's."""
    prefix = _PREFIX_OF.get(kind)
    if prefix is None:
        return None
    dotted = f"{prefix}.{name}"
    found = _exact(_LIBRARIES[prefix], dotted) or _longest_prefix(_LIBRARIES[prefix], dotted)[1]
    return None if found is None else read(found)


@lru_cache(maxsize=1024)
def attribute(kind: Kind, name: str) -> Row | None:
    """What reading an attribute of values of some kind gives."""
    prefix = _PREFIX_OF.get(kind)
    if prefix not in ("Tensor", "Module", "Loader", "Optimizer", "Device", "Generator"):
        return None
    module = import_module(f".{_LIBRARIES[prefix][0]}", __package__)
    found = _entries_of(module.ATTRIBUTES).get(f"{prefix}.{name}")
    return None if found is None else read(found)


def bind(row: Row, positions: int) -> tuple[str, ...]:
    """The parameters that so many positions bind, in order; `*size` takes all that are left."""
    names = row.parameters[:positions]
    if positions > len(names) and (rest := _rest(row.signature)):
        names += (rest,) * (positions - len(names))
    return names


@lru_cache(maxsize=4096)
def kind_of_class(dotted: str) -> Kind | None:
    """The kind of the instances of a class of a library, as `isinstance` and annotations promise it."""
    name = public(dotted)
    row = find(name) if name.rpartition(".")[2][:1].isupper() else None
    return classes.kind_of(name, row.gives if row is not None else "")


@lru_cache(maxsize=4096)
def topics_of_class(dotted: str) -> frozenset[str]:
    """What deriving from a class of a library means: `module`, `framework:lightning`, `dataset`, `enum`, …"""
    name = public(dotted)
    return classes.topics_of(name, kind_of_class(dotted)) | classes.topics_of(dotted, None)


def buffers_of_class(dotted: str) -> frozenset[str]:
    """The names of the buffers that deriving from a class of torch's brings."""
    return classes.buffers_of(public(dotted))


def _rest(signature: str) -> str:
    for name in signature.replace(",", " ").split():
        if name.startswith("*"):
            return name.lstrip("*") if not name.startswith("**") else ""
    return ""


def modules() -> tuple[str, ...]:
    """The modules that hold rows."""
    return tuple(dict.fromkeys((*(name for group in _LIBRARIES.values() for name in group), *_OTHERS)))


def rows() -> Iterator[tuple[str, Row]]:
    """Every row under its name; of methods under that of their kind; what other packages bring is last."""
    for module in modules():
        for name, entry in _rows(module).items():
            yield name, read(entry)
    for name, entry in brought.rows():
        yield name, brought.read(entry)


_tables: dict[object, dict[str, Entry]] = {}


def _rows(module: str) -> dict[str, Entry]:
    found = _tables.get(module)
    if found is None:
        tables = import_module(f".{module}", __package__).TABLES
        found = _tables[module] = entries(tables)
    return found


def _entries_of(tables: Iterable[Table]) -> dict[str, Entry]:
    found = _tables.get(id(tables))
    if found is None:
        found = _tables[id(tables)] = entries(tables)
    return found


def _exact(modules: tuple[str, ...], dotted: str) -> Entry | None:
    for module in modules:
        found = _rows(module).get(dotted)
        if found is not None:
            return found
    return None


def _longest_prefix(modules: tuple[str, ...], dotted: str) -> tuple[int, Entry | None]:
    """The row of the longest `prefix*`, or `prefix*ending`, that a name is one of, and the length of that."""
    best, entry = (0, 0), None
    for module in modules:
        for prefix, ending, found in _patterns(module):
            if dotted.startswith(prefix) and dotted.endswith(ending) and (len(prefix), len(ending)) > best:
                best, entry = (len(prefix), len(ending)), found
    return best[0], entry


@lru_cache(maxsize=32)
def _patterns(module: str) -> tuple[tuple[str, str, Entry], ...]:
    parted = ((*name.partition("*"), entry) for name, entry in _rows(module).items())
    return tuple((prefix, ending, entry) for prefix, star, ending, entry in parted if prefix and star)
