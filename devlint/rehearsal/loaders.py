"""What loaders and datasets yield."""

from __future__ import annotations

import ast

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
            return self._of_loader(given, made)
        return self._collated(sample, made)

    def _of_loader(self, value: Value, made: Made, depth: int = 0) -> Value:
        """What a function of the program's own makes a batch of."""
        self.spend()
        if isinstance(value, Tensor):
            return value._replace(made=made) if value.place == CPU else value
        if isinstance(value, Seq) and depth < _DEPTH:
            items = tuple(
                self._of_loader(each, _part(made, index), depth + 1) for index, each in enumerate(value.items)
            )
            return Seq(items, value.form, open=value.open)
        if isinstance(value, Map) and depth < _DEPTH:
            known = {
                key: self._of_loader(each, _part(made, key), depth + 1) for key, each in value.items.items()
            }
            return Map(known, value.rest)
        if isinstance(value, Obj) and not self.is_module(value) and depth < _DEPTH:
            for name, each in list(value.attrs.items()):
                self.put(value.attrs, name, self._of_loader(each, _part(made, name), depth + 1))
        return value

    def _sample(self, dataset: Value, node: ast.expr) -> Value:
        if isinstance(dataset, Obj):
            if self.has_method(dataset, "__getitem__"):
                return self.call(self.attribute(dataset, "__getitem__", None), [(node, NUMBER)], {}, node)
            if self.has_method(dataset, "__iter__"):
                seq = self.iterated(self.call(self.attribute(dataset, "__iter__", None), [], {}, node), node)
                return self.element(seq)
            given = [v for name, v in dataset.attrs.items() if name.startswith("#")]
            if dataset.lib.endswith("TensorDataset"):
                parts = [
                    each._replace(dims=max(each.dims - 1, 0)) for each in given if isinstance(each, Tensor)
                ]
                return Seq(tuple(parts), "tuple") if len(parts) == len(given) else Unknown()
            if given and dataset.lib.endswith(("Subset", "ConcatDataset")):
                inner = given[0]
                return self._sample(self.element(inner) if isinstance(inner, Seq) else inner, node)
            return Unknown()
        if isinstance(dataset, (Seq, Tensor, Array)):
            return self.element(self.iterated(dataset, node))
        return Unknown()

    def _collated(self, sample: Value, made: Made, depth: int = 0) -> Value:
        self.spend()
        if isinstance(sample, Tensor):
            if sample.place == CPU:
                return Tensor(CPU, sample.dims + 1, made)
            return sample._replace(dims=sample.dims + 1, registered=False)
        if is_number(sample) or isinstance(sample, Array):
            return Tensor(CPU, 1, made)
        if isinstance(sample, Seq) and depth < _DEPTH:
            items = tuple(
                self._collated(each, _part(made, index), depth + 1) for index, each in enumerate(sample.items)
            )
            return Seq(items, sample.form, open=sample.open)
        if isinstance(sample, Map) and depth < _DEPTH:
            known = {
                key: self._collated(each, _part(made, key), depth + 1) for key, each in sample.items.items()
            }
            return Map(known, None if sample.rest is None else self._collated(sample.rest, made, depth + 1))
        return Unknown()


def _part(made: Made, key: object) -> Made:
    """How a part of a batch came to be, which is no other."""
    return made._replace(label=f"{made.label}[{key}]")


def _is_default(collate: Value) -> bool:
    return isinstance(collate, Lib) and collate.dotted.endswith("default_collate")
