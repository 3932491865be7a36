"""What loaders and datasets yield."""

from __future__ import annotations

import ast
from collections.abc import Callable

from .. import knowledge
from .modules import Modules
from .values import (
    CPU,
    NUMBER,
    Array,
    Batch,
    Bound,
    Function,
    Lib,
    Made,
    Map,
    Obj,
    Partial,
    Seq,
    Tensor,
    Unknown,
    Value,
    is_number,
)

_DEPTH = 4


class Loaders(Modules):
    """Goes through loaders."""

    def iterated_library(self, value: Obj, node: ast.expr) -> Seq:
        """What a loader or dataset yields."""
        if value.lib.endswith("DataLoader"):
            return Seq((self._batch(value, node),), "iter", open=True)
        if "dataset" in knowledge.topics_of_base(value.lib):
            return Seq((self._sample(value, node),), "iter", open=True)
        return Seq((Unknown(),), "iter", open=True)

    def _batch(self, loader: Obj, node: ast.expr) -> Value:
        dataset = loader.attrs.get("dataset", loader.attrs.get("#0", Unknown()))
        sample = self._sample(dataset, node)
        collate = loader.attrs.get("collate_fn")
        made = Made("loader", self.spot(node), "", Batch(loader))
        if isinstance(collate, (Function, Bound, Partial, Lib, Obj)) and not _is_default(collate):
            given = self.call(collate, [(node, Seq((sample, sample), "list", open=True))], {}, node)
            return self._each(given, made, _loaded)
        return self._each(sample, made, _collated)

    def _sample(self, dataset: Value, node: ast.expr) -> Value:
        if isinstance(dataset, Obj):
            if self.has_method(dataset, "__getitem__"):
                return self.call(self.attribute(dataset, "__getitem__", None), [(node, NUMBER)], {}, node)
            if self.has_method(dataset, "__iter__"):
                seq = self.iterated(self.call(self.attribute(dataset, "__iter__", None), [], {}, node), node)
                return self.element(seq)
            given = [v for name, v in dataset.attrs.items() if name.startswith("#")]
            if dataset.lib.endswith("TensorDataset"):
                rows = (
                    each if isinstance(each, Tensor) else Tensor() for each in given
                )  # it takes no others
                return Seq(tuple(each._replace(dims=max(each.dims - 1, 0)) for each in rows), "tuple")
            if given and dataset.lib.endswith(("Subset", "ConcatDataset")):
                inner = given[0]
                return self._sample(self.element(inner) if isinstance(inner, Seq) else inner, node)
            return Unknown()
        if isinstance(dataset, (Seq, Tensor, Array)):
            return self.element(self.iterated(dataset, node))
        return Unknown()

    def _each(self, value: Value, made: Made, leaf: Callable[[Value, Made], Value], depth: int = 0) -> Value:
        """A batch in the shape of a value; what its parts are, `leaf` says."""
        self.spend()
        if isinstance(value, Seq) and depth < _DEPTH:
            parts = enumerate(value.items)
            items = tuple(self._each(each, _part(made, index), leaf, depth + 1) for index, each in parts)
            return Seq(items, value.form, open=value.open)
        if isinstance(value, Map) and depth < _DEPTH:
            known = {k: self._each(each, _part(made, k), leaf, depth + 1) for k, each in value.items.items()}
            return Map(known, None if value.rest is None else self._each(value.rest, made, leaf, depth + 1))
        if isinstance(value, Obj) and not self.is_module(value) and depth < _DEPTH:
            record = self.hold(Obj(value.cls, value.lib, value.spot))
            for name, each in value.attrs.items():
                record.attrs[name] = self._each(each, _part(made, name), leaf, depth + 1)
            return record
        return leaf(value, made)


def _collated(sample: Value, made: Made) -> Value:
    """What torch's own function makes a part of a batch of."""
    if isinstance(sample, Tensor):
        if sample.place == CPU:
            return Tensor(CPU, sample.dims + 1, made)
        return sample._replace(dims=sample.dims + 1, registered=False)
    return Tensor(CPU, 1, made) if is_number(sample) or isinstance(sample, Array) else Unknown()


def _loaded(value: Value, made: Made) -> Value:
    """A part of what a function of the program's own makes a batch of."""
    here = isinstance(value, Tensor) and value.place == CPU
    return value._replace(made=made) if isinstance(value, Tensor) and here else value


def _part(made: Made, key: object) -> Made:
    """How a part of a batch came to be, which is no other."""
    return made._replace(label=f"{made.label}[{key}]")


def _is_default(collate: Value) -> bool:
    return isinstance(collate, Lib) and collate.dotted.endswith("default_collate")
