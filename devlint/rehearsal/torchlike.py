"""What torch and numpy do in a rehearsal: by the rows of `knowledge`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from .. import knowledge
from ..core.kinds import Kind
from ..core.values import ACCELERATOR as PREPARES
from ..knowledge.row import Row
from .dims import dims_of, dims_of_data, is_several, sizes
from .loaders import Loaders
from .moves import ACCELERATOR, MOVES
from .parts import (
    bind,
    is_none,
    of_kind,
    told_device,
)
from .perform import is_slice
from .values import (
    CPU,
    NONE,
    NOWHERE,
    NUMBER,
    TEXT,
    Argument,
    Array,
    Const,
    Device,
    Lib,
    Made,
    Map,
    Method,
    Obj,
    Partial,
    Seq,
    Spot,
    Super,
    Tensor,
    Text,
    Unknown,
    Value,
    normal,
)

_LIKE = "_like"
_VIEWS = frozenset({"T", "H", "mT", "mH", "data", "real", "imag", "grad", "values", "indices"})
_DATA = ("data", "obj", "ndarray", "input")
"""What a tensor is made of, by the names of parameters."""
_COPIES_LISTS = frozenset({"tensor", "from_numpy", "frombuffer"})
"""Functions that are mostly given what is no tensor."""
_PASSES = frozenset(
    {"torch.compile", "torch.nn.parallel.DistributedDataParallel", "copy.copy",
     "torch.nn.utils.weight_norm", "torch.nn.utils.spectral_norm", "torch.jit.script", "functools.wraps"}
)  # fmt: skip
_NEW_ARRAYS = frozenset(
    {"zeros", "ones", "empty", "full", "arange", "linspace", "choice", "permutation", "array", "asarray",
     "stack", "concatenate", "argsort", "where", "vstack", "hstack"}
)  # fmt: skip
"""Functions of numpy's whose result has dimensions of its own."""
_LIKE_ARRAYS = frozenset(
    {"abs", "exp", "log", "sqrt", "clip", "maximum", "minimum", "sign", "astype", "copy"}
)
"""Functions of numpy's whose result has the dimensions of what they are given."""
_FOLLOWED = ("factory", "told")
_SPLITS = frozenset({"torch.utils.data.random_split", "torch.utils.data.Subset"})


class Rehearsal(Loaders):
    """Rehearses a program of torch's."""

    def of_tensor(self, value: Tensor, name: str) -> Value:
        """An attribute of a tensor."""
        if name == "device":
            followed = value.made if value.made is not None and value.made.how in _FOLLOWED else None
            return Device(value.place, followed) if value.place else Unknown()
        if name in ("shape", "size_"):
            return (
                Seq((NUMBER,) * value.dims, "tuple", open=True)
                if value.dims
                else Seq((NUMBER,), "tuple", open=True)
            )
        if name == "is_cuda":
            known = bool(value.place) and not value.place.startswith("?")
            return Const(value.place.startswith(ACCELERATOR)) if known else NUMBER
        if name in knowledge.NUMBER_ATTRIBUTES:
            return NUMBER
        if name == "dtype":
            return Lib("torch.dtype")
        if value.loose and name in knowledge.PART_OF_RESULT:
            return value._replace(registered=False, loose=False)
        viewed = name in _VIEWS or value.loose
        if viewed and (knowledge.method(Kind.TENSOR, name) is None or name in knowledge.TENSOR_DATA):
            return value._replace(registered=False)
        return Method(value, name)

    def of_index(self, value: Tensor, key: Value, node: ast.Subscript) -> Value:
        """What a tensor has at an index."""
        if value.loose and isinstance(key, Const) and not is_slice(key):
            return value._replace(registered=False, dims=max(value.dims - 1, 0))
        keys = key.items if isinstance(key, Seq) else (key,)
        elts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice] * len(keys)
        self._index(node, value, keys, elts)
        if all(is_slice(each) or is_none(each) for each in keys):
            return value._replace(registered=False)
        fewer = sum(not (is_slice(each) or isinstance(each, (Tensor, Seq)) or is_none(each)) for each in keys)
        more = max((each.dims for each in keys if isinstance(each, Tensor)), default=0)
        kept = max(value.dims - fewer, 0)
        if any(isinstance(each, Tensor) for each in keys):
            kept = min(more, 1, value.dims)
        return value._replace(dims=kept, registered=False)

    def _index(
        self, node: ast.Subscript, value: Tensor, keys: Sequence[Value], elts: Sequence[ast.expr]
    ) -> None:
        if value.place != CPU or not value.dims:
            return
        for at, each in zip(elts, keys, strict=False):
            if isinstance(each, Tensor) and each.place not in (NOWHERE, CPU) and each.dims > 0:
                self.tell("index", (node.value, value), (at, each))

    def set_index(self, node: ast.Subscript, owner: Tensor, key: Value, value: Value) -> None:
        """Assign to a part of a tensor: its index is brought to it, from wherever it is, values are not."""
        keys = key.items if isinstance(key, Seq) else (key,)
        indexed = any(isinstance(each, Tensor) and each.dims > 0 for each in keys)
        if indexed and isinstance(value, Tensor) and value.dims > 0:
            self.combined(node, "operator", [(node.value, owner), (node, value)])

    def method(
        self,
        receiver: Any,
        name: str,
        positional: Sequence[Argument],
        keywords: dict[str, Argument],
        node: ast.AST,
    ) -> Value:
        """What a method of a library gives."""
        if isinstance(receiver, Tensor):
            return self._of_tensor(receiver, name, positional, keywords, node)
        if isinstance(receiver, Super):
            if name == "__init__":
                self.begin(receiver.receiver, positional, keywords, node)
                return NONE
            return self._of_object_method(receiver.receiver, name, positional, keywords, node)
        if isinstance(receiver, Obj):
            return self._of_object_method(receiver, name, positional, keywords, node)
        if isinstance(receiver, Seq):
            return self._of_seq(receiver, name, positional, node)
        if isinstance(receiver, Map):
            return self._of_map(receiver, name, positional, keywords, node)
        if isinstance(receiver, Array):
            return Array(receiver.dims) if name in ("astype", "copy") else Array(0)
        if isinstance(receiver, (Const, Text)):
            return self._of_text(receiver, name, positional)
        return Unknown()

    def _of_tensor(
        self,
        value: Tensor,
        name: str,
        positional: Sequence[Argument],
        keywords: dict[str, Argument],
        node: ast.AST,
    ) -> Value:
        at: Any = node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            at = node.func.value
        if name in MOVES:
            moved = self._moved(value, self.target(name, positional, keywords), at)
            left = [each.left for _, each in (*positional, *keywords.values()) if isinstance(each, Const)]
            if moved.made is not None and moved.place == CPU and left and left[0]:
                # It is the call that says where, by saying nothing.
                return moved._replace(made=Made("factory", left[0], ""))
            return moved
        row = knowledge.method(Kind.TENSOR, name)
        if row is None:
            return value if value.loose else Unknown()
        if name == "type_as":
            return self._moved(value, self.place_of(positional[0][1]) if positional else NOWHERE, at)
        if name == "type":
            told = positional[0][1] if positional else NONE
            if isinstance(told, Lib) and not told.dotted.endswith("Tensor"):
                return value._replace(registered=False)  # a dtype
            legacy = isinstance(told, Lib) and told.dotted.startswith("torch.cuda.")
            return self._moved(value, ACCELERATOR if legacy else NOWHERE, at)
        if name == "numpy":
            if value.place not in (NOWHERE, CPU) and "force" not in keywords:
                self._read_by_numpy(at, value, name)
            return Array(value.dims)
        if name in ("size", "stride"):
            return NUMBER if positional else self.of_tensor(value, "shape")
        if name == "item":
            return NUMBER
        given = bind(row, positional, keywords)
        if row.place == "receiver-device":
            place = self.place_of(given["device"][1]) if told_device(given) else value.place
            of_data = name == "new_tensor" and bool(positional)
            dims = dims_of_data(positional[0][1]) if of_data else sizes(row, positional)
            return Tensor(place, dims, self._factory(node, place))
        if row.gives in ("tensor", "0-dim tensor", "reduced", "first", "unknown"):
            operands = self.operands(row, given)
            fills = name in knowledge.FILLS | knowledge.TAKES_SIZES  # or takes numbers alone
            alone = fills or row.place == "first"  # or a size alone, as `expand_as` does
            parties = [(at, value), *([] if alone else operands)]
            found = self.combined(node, "call", parties)
            if row.gives == "first" or name.endswith("_"):
                return value
            if row.gives == "unknown":
                return Unknown()
            dims = dims_of(name, row, [v for _, v in parties], positional, keywords)
            loose = is_several(name, row, given)
            if name in ("detach", "clone", "contiguous"):
                return value._replace(registered=False)
            return found._replace(dims=dims, loose=loose)
        if row.gives == "number":
            for at_, each in self.operands(row, given):
                self.combined(node, "call", [(at, value), (at_, each)])
        return of_kind(row.gives)

    def _moved(self, value: Tensor, place: str | None, at: ast.expr) -> Tensor:
        if place is None or place == value.place:
            return value._replace(registered=False)
        if value.made is not None and value.made.how == "loader" and place not in (NOWHERE, CPU):
            self.moved_groups.add(id(value.made.group))
        made = (
            Made("copied", self.spot(at), "") if place == CPU and value.place not in (NOWHERE, CPU) else None
        )
        return Tensor(place, value.dims, made, was=value.made, loose=value.loose)

    def _read_on_host(self, given: dict[str, Argument], name: str) -> None:
        """Note that an argument is on a device which a function reads on the host: lengths, say."""
        at, value = given.get(name, (ast.Name(name), NONE))
        first = next(iter(given.values()))
        if isinstance(value, Tensor) and value.place not in (NOWHERE, CPU) and not value.loose:
            self.tell("host", (at, value._replace(made=None)), first)

    def set_item(self, node: ast.Subscript, owner: Value, key: Value, value: Value) -> None:
        """Assign an item: what an array is given is read on the host."""
        stored = value if isinstance(owner, Array) and isinstance(value, Tensor) else None
        # One without dimensions is read as a number.
        if stored is not None and stored.dims and stored.place not in (NOWHERE, CPU):
            self._read_by_numpy(self.assigned or node, stored, "numpy")
        super().set_item(node, owner, key, value)

    def _read_by_numpy(self, at: ast.expr, value: Tensor, reader: str) -> None:
        """Note that numpy reads what is on a device."""
        if not value.loose and not self.unsure:
            self.tell("array", (at, value._replace(made=None)), (ast.Name(reader), value))

    def of_library(self, value: Lib, name: str) -> Value:
        """An attribute of something of a library."""
        dotted = f"{value.dotted}.{name}"
        return Seq((TEXT,), "list") if dotted == "sys.argv" else Lib(dotted)

    def library(
        self, dotted: str, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        """What a function or class of a library gives."""
        first, _, name = dotted.partition(".")
        if first == "builtins":
            return self.built_in(name, positional, keywords, node)
        known = _KNOWN.get(dotted)
        if known is not None:
            return known
        values = [value for _, value in positional]
        if dotted == "torch.device":
            return self._device(positional, keywords)
        if dotted in _PASSES and values:
            return values[0]
        if dotted == "copy.deepcopy" and values:
            copied: Value = self._copied(values[0], {}, self.spot(node))
            return copied
        if dotted == "functools.partial" and values:
            more = tuple((name, value) for name, (_, value) in keywords.items())
            return Partial(values[0], tuple(values[1:]), more)
        if dotted == "argparse.ArgumentParser":
            return self.make(dotted, positional, keywords, node)
        if dotted in ("dataclasses.field", "dataclasses.dataclass"):
            return Partial(Lib(dotted), (), tuple((k, v) for k, (_, v) in keywords.items()))
        if dotted == "torch.is_tensor" and values:
            said = self._is_a(values[0], Lib("torch.Tensor"))
            return NUMBER if said is None else Const(said)
        if dotted == "dataclasses.replace" and values and isinstance(values[0], Obj):
            made = self.hold(Obj(values[0].cls, values[0].lib, self.spot(node)))
            made.attrs = {**values[0].attrs, **{key: value for key, (_, value) in keywords.items()}}
            return made
        if dotted in ("os.environ.get", "os.getenv"):
            return values[1] if len(values) > 1 else NONE
        if dotted in _SPLITS and values:
            split = self.hold(Obj(None, "torch.utils.data.Subset", None))
            split.attrs["#0"] = values[0]
            return split if dotted.endswith("Subset") else Seq((split,), "list", open=True)
        if dotted == "torch.set_default_tensor_type" and values:
            told = str(values[0]) if isinstance(values[0], (Const, Lib)) else ""
            self.default = ACCELERATOR if ACCELERATOR in told else CPU
            return NONE
        if name.rpartition(".")[2].startswith("Uninitialized"):
            return Tensor(NOWHERE, 1, registered=True)
        if dotted.startswith("torch.cuda.") and dotted.endswith("Tensor"):
            return Tensor(ACCELERATOR, 1 if values else 0)
        if dotted == "torch.set_default_device" and values:
            self.default = self.place_of(values[0])
            return NONE
        if dotted in ("itertools.chain", "itertools.islice", "itertools.cycle", "itertools.product"):
            return self.sequence(
                tuple(each for at, v in positional for each in self.iterated(v, at).items), "iter", open=True
            )
        if dotted in ("collections.defaultdict", "collections.OrderedDict", "collections.Counter"):
            found = Map()
            found.makes = values[0] if values and dotted.endswith("defaultdict") else None
            return found
        if dotted.endswith(".kl_divergence"):
            parties = [(at, each) for at, value in positional for each in self.tensors_in(value)]
            return self.combined(node, "call", parties)
        if dotted == PREPARES.dotted and not positional and knowledge.PLACES_OTHERWISE.isdisjoint(keywords):
            prepares = self.hold(Obj(None, dotted, None))
            prepares.attrs["device"] = Device(ACCELERATOR)
            return prepares
        if dotted == "collections.deque":
            return Seq(self.iterated(values[0], positional[0][0]).items if values else (), "list", open=False)
        if dotted == "random.Random":
            return Lib("random")  # its methods draw as the functions of the module do
        if dotted == "random.choice" and values:
            return self.element(self.iterated(values[0], positional[0][0]))
        if dotted == "random.sample" and values:
            return Seq((self.element(self.iterated(values[0], positional[0][0])),), "list", open=True)
        if dotted.startswith(("types.SimpleNamespace", "argparse.Namespace")):
            made = self.hold(Obj(None, "argparse.Namespace", None))
            made.attrs.update({name: value for name, (_, value) in keywords.items()})
            return made
        if first == "numpy":
            return self._numpy(dotted, positional, keywords)
        if first == "math" or first == "time":
            return NUMBER
        return self._row(dotted, positional, keywords, node)

    def _row(
        self, dotted: str, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        row = knowledge.find(dotted)
        gives = row.gives if row is not None else ""
        is_class = dotted.rpartition(".")[2][:1].isupper()
        is_kept = gives == "parameter" or (row is not None and "buffer" in row.topics)
        if is_kept and (positional or "data" in keywords):
            value = positional[0][1] if positional else keywords["data"][1]
            place = NOWHERE if isinstance(value, Unknown) else self.default
            made = value if isinstance(value, Tensor) else Tensor(place, 1)
            return made._replace(registered=True, made=None)
        if not dotted.startswith("torch") and gives != "module":
            self.hand_over([value for _, value in (*positional, *keywords.values())])
            return self.make(dotted, positional, keywords, node) if gives and is_class else Unknown()
        if gives not in ("", "module") and not dotted.startswith("torch."):
            return Unknown()
        if is_class and gives not in ("tensor", "parameter"):
            return self.make(dotted, positional, keywords, node)
        if row is None:
            return Unknown()
        given = bind(row, positional, keywords)
        if row.gives in ("tensor", "0-dim tensor", "reduced", "first", "parameter"):
            return self._tensor(dotted, row, given, positional, keywords, node)
        for name in row.host:
            self._read_on_host(given, name)
        if row.gives == "unknown":
            operands = self.operands(row, given)
            if row.place == "operands" or "loss" in row.topics:
                return self.combined(node, "call", operands)._replace(loose=True)
            return Unknown()
        if row.gives == "None":
            return NONE
        return of_kind(row.gives)

    def _tensor(
        self,
        dotted: str,
        row: Row,
        given: dict[str, Argument],
        positional: Sequence[Argument],
        keywords: dict[str, Argument],
        node: ast.AST,
    ) -> Value:
        name = dotted.rpartition(".")[2]
        told = given.get("device")
        out = given["out"][1] if "out" in given else None
        if isinstance(out, Tensor):
            operands = [argument for argument in self.operands(row, given) if argument is not given["out"]]
            filled = out._replace(dims=max(out.dims, 1))  # no number, however few dimensions it has
            self.combined(node, "call", [(given["out"][0], filled), *operands])
            return out
        if out is not None and not is_none(out):
            return Unknown()  # wherever that is
        if row.place in ("device", "receiver-device", "cpu", "default"):
            if not given and not positional and "legacy-type" not in row.topics:
                return Unknown()  # `torch.rand()` raises before anything meets it
            numbers = told is not None or "size" in given  # which `torch.normal` takes beside numbers alone
            drawn = [given[each] for each in knowledge.DRAWN_FROM if each in given and not numbers]
            if any(isinstance(value, Tensor) for _, value in drawn):
                return self.combined(node, "call", drawn)
            if any(isinstance(value, Unknown) for _, value in drawn):
                return Tensor(NOWHERE, 0)
            data = next((given[each] for each in _DATA if each in given), None)
            source = data[1] if data is not None else None
            left = told[1].left if told is not None and isinstance(told[1], Const) else None
            if told is not None and not is_none(told[1]):
                place = self.place_of(told[1])
                if row.place == "cpu" and place != CPU:
                    return Unknown()  # it takes no other device
            elif row.place == "receiver-device" or (
                name in knowledge.COPIES_DATA and isinstance(source, Tensor)
            ):
                tensor = next((v for _, v in positional if isinstance(v, Tensor)), source)
                return tensor._replace(registered=False) if isinstance(tensor, Tensor) else Unknown()
            elif name.startswith("sparse_"):
                there = next((v.place for _, v in positional if isinstance(v, Tensor)), NOWHERE)
                return Tensor(there, 2)  # where its values are
            elif isinstance(source, Unknown) and name not in _COPIES_LISTS:
                return Tensor(NOWHERE, 0)  # it may share what it is given, wherever that is
            else:
                place = CPU if row.place == "cpu" and name != knowledge.TENSOR_TYPE else self.default
            dims = dims_of_data(source) if name in knowledge.OF_ARRAY else sizes(row, positional)
            if row.place == "receiver-device" and isinstance(source, Tensor):
                dims = source.dims
            made = self._factory(node, place)
            if left is not None and made is not None:
                made = Made("factory", left, "")  # it is the call that says where, by saying nothing
            elif told is not None and isinstance(told[1], Device) and told[1].made is not None:
                made = told[1].made  # what it follows is what should be elsewhere
            elif told is not None and not is_none(told[1]) and made is not None:
                made = made._replace(how="told")
            return Tensor(place, dims, made)
        operands = self.operands(row, given)
        if name.endswith(_LIKE):
            like = operands[0][1] if operands else None
            if not isinstance(like, Tensor):
                return Unknown()
            return Tensor(like.place, like.dims, like.made or self._factory(node, like.place))
        bounds = [given[each][1] for each in ("min", "max") if each in given and name in knowledge.CLAMPS]
        exact = name in knowledge.NO_SCALARS and all(isinstance(x, Tensor) or is_none(x) for x in bounds)
        found = self.combined(node, "call", operands, exact=exact)
        values = [value for _, value in operands]
        dims = dims_of(name, row, values, positional, keywords)
        if "loss" in row.topics or row.gives == "0-dim tensor":
            dims = 0
        if not operands:
            return Tensor(NOWHERE, 0)
        return found._replace(dims=dims, loose=is_several(name, row, given))

    def _factory(self, node: ast.AST, place: str) -> Made | None:
        return Made("factory", self.spot(node), "") if place == CPU else None

    def _device(self, positional: Sequence[Argument], keywords: dict[str, Argument]) -> Value:
        values = [value for _, value in positional] or [value for _, value in keywords.values()]
        if not values:
            return Unknown()
        first = values[0]
        index = values[1] if len(values) > 1 else None
        place = self.place_of(first)
        if index is not None:
            known = isinstance(index, Const) and isinstance(index.value, int)
            place = normal(f"{place}:{index.value}") if known else NOWHERE  # type: ignore[union-attr]
        return Device(place) if place else Unknown()

    def _numpy(self, dotted: str, positional: Sequence[Argument], keywords: dict[str, Argument]) -> Value:
        dims = 0
        for at, value in positional:
            parts = value.items if isinstance(value, Seq) else (value,)
            for each in parts:
                reads = "host-only" in knowledge.topics_of_call(dotted)
                if reads and isinstance(each, Tensor) and each.place not in (NOWHERE, CPU):
                    self._read_by_numpy(at, each, dotted.rpartition(".")[2])
            dims = max(dims, dims_of_data(value))
        name = dotted.rpartition(".")[2]
        if name in _NEW_ARRAYS:
            first = positional[0][1] if positional else None
            if name in ("array", "asarray"):
                return Array(dims_of_data(first))
            if name == "choice" and len(positional) < 2:
                return Array(0)
            return Array(max(dims, len(first.items) if isinstance(first, Seq) and not first.open else 1))
        if name in _LIKE_ARRAYS:
            return Array(dims)
        if name in ("default_rng", "RandomState"):
            return Lib("numpy.random")  # its methods draw as the functions of the module do
        if dotted.startswith("numpy.random."):
            size = keywords["size"][1] if "size" in keywords else None
            if isinstance(size, Seq):
                return Array(len(size.items))
            return Array(1 if size is not None or positional else 0)
        return Array(0)

    def _copied(self, value: Value, done: dict[int, Any], spot: Spot | None = None, depth: int = 0) -> Any:
        """A deep copy, which is made at a place; its parts are made where those of the original are."""
        self.spend()
        if id(value) in done:
            return done[id(value)]
        if depth > 10:
            return Unknown()
        if isinstance(value, Obj):
            made = done[id(value)] = self.hold(Obj(value.cls, value.lib, spot or value.spot))
            made.buffers, made.unsettled, made.moved = value.buffers, value.unsettled, value.moved
            made.pulls = value.pulls
            made.original = value if spot is not None else None
            made.attrs = {
                name: self._copied(each, done, None, depth + 1) for name, each in value.attrs.items()
            }
            made.parts = self._copied(value.parts, done, None, depth + 1) if value.parts is not None else None
            return made
        if isinstance(value, Seq):
            return Seq(
                tuple(self._copied(each, done, None, depth + 1) for each in value.items),
                value.form,
                open=value.open,
            )
        if isinstance(value, Map):
            items = {key: self._copied(each, done, None, depth + 1) for key, each in value.items.items()}
            return Map(items, value.rest)
        return value


_KNOWN: dict[str, Value] = {
    "torch.cuda.is_available": Const(True),
    "torch.accelerator.is_available": Const(True),
    "torch.accelerator.current_accelerator": Device(ACCELERATOR),
    "torch.backends.mps.is_available": Const(False),
    "torch.backends.mps.is_built": Const(False),
    "torch.xpu.is_available": Const(False),
    "torch.cuda.current_device": Const(0),
    "torch.distributed.is_initialized": Const(False),
    "torch.distributed.is_available": NUMBER,
    "os.path.exists": NUMBER,
}
