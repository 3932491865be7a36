"""Modules of torch's, and other objects of libraries."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from .. import knowledge
from ..core.values import ACCELERATOR as PREPARES
from .dims import gives_several
from .meetings import Meetings
from .moves import ACCELERATOR, MOVES
from .parts import (
    DISTRIBUTIONS,
    bind,
    held,
    is_none,
    named_parts,
)
from .values import (
    CPU,
    NONE,
    NOWHERE,
    TEXT,
    Argument,
    Bound,
    Const,
    Device,
    Function,
    Made,
    Map,
    Obj,
    Seq,
    Tensor,
    Unknown,
    Value,
    truth,
)

_CONTAINERS = frozenset({"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"})
_SCATTERS = "torch.nn.DataParallel"
"""What brings its input to where its module is."""


class Modules(Meetings):
    """Makes and runs objects of libraries."""

    def begin(
        self, made: Obj, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> None:
        """What the constructor of a library's class does to an object."""
        name = made.lib.rpartition(".")[2]
        values = [value for _, value in positional]
        if made.lib == _SCATTERS and values:
            made.attrs["#0"] = made.attrs["module"] = values[0]
        if name in _CONTAINERS and self.is_module(made):
            self._fill_container(made, name, positional)
        elif self.is_module(made):
            self._give_weights(made, positional, keywords)
            for each in values:
                if isinstance(each, Obj) and self.is_module(each):
                    made.attrs[f"part{len(made.attrs)}"] = each

    def _fill_container(self, made: Obj, name: str, positional: Sequence[Argument]) -> None:
        first = positional[0][1] if len(positional) == 1 else None
        if name == "Sequential" and isinstance(first, Map):
            made.parts = Seq(tuple(first.items.values()), open=first.rest is not None)
            made.names = tuple(first.items)
        elif name.endswith("Dict"):
            made.parts = Map(dict(first.items), first.rest) if isinstance(first, Map) else Map()
        elif name == "Sequential" and not isinstance(first, Seq):
            made.parts = Seq(tuple(value for _, value in positional))
        else:
            seq = self.iterated(first, positional[0][0]) if first is not None else Seq()
            made.parts = Seq(seq.items, open=seq.open)
        self._share(made.parts.items.values() if isinstance(made.parts, Map) else made.parts.items)

    def _share(self, values: Iterable[Value]) -> None:
        """Parameters of other modules are registered once more, and move those where they are moved."""
        for value in values:
            if isinstance(value, Tensor) and value.made is not None and isinstance(value.made.group, Obj):
                self.hand_over([value.made.group])

    def _give_weights(self, made: Obj, positional: Sequence[Argument], keywords: dict[str, Argument]) -> None:
        row = knowledge.find(made.lib)
        told = keywords.get("device")
        place = self.place_of(told[1]) if told is not None and not is_none(told[1]) else self.default
        options = knowledge.WEIGHTS_UNLESS.get(made.lib.rpartition(".")[2], {"": True})
        told_no = not any(
            truth(keywords[name][1]) is not False if name in keywords else default
            for name, default in options.items()
        )
        if knowledge.has_weight(made.lib) and row is not None and row.place == "device" and not told_no:
            made.attrs["weight"] = made.attrs["bias"] = Tensor(place, 1, None, registered=True)
        given = bind(row, positional, keywords) if row is not None and "loss" in row.topics else {}
        for name in knowledge.LOSS_WEIGHTS.intersection(given):
            value = given[name][1]
            if isinstance(value, Tensor) and value.dims:  # one number meets any device
                made.attrs[name] = value._replace(made=None)
                made.buffers |= {name}

    def make(
        self, dotted: str, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Obj:
        """An object of a library's class."""
        made = self.hold(Obj(None, dotted, self.spot(node)))
        self.begin(made, positional, keywords, node)
        for index, (_, value) in enumerate(positional):
            made.attrs.setdefault(f"#{index}", value)
        row = knowledge.find(dotted)
        for name, (_, value) in zip(
            knowledge.bind(row, len(positional)) if row else (), positional, strict=False
        ):
            made.attrs.setdefault(name, value)
        for name, (_, value) in keywords.items():
            made.attrs.setdefault(name, value)
        return made

    def _of_object_method(
        self,
        obj: Obj,
        name: str,
        positional: Sequence[Argument],
        keywords: dict[str, Argument],
        node: ast.AST,
    ) -> Value:
        if self.is_module(obj):
            return self._of_module(obj, name, positional, keywords, node)
        if obj.lib == "argparse.ArgumentParser":
            return self._of_parser(obj, name, positional, keywords)
        if obj.lib.startswith(DISTRIBUTIONS):
            if name in ("sample", "rsample", "entropy", "mean", "log_prob", "cdf"):
                parties = [*((node, each) for each in self.tensors_in(obj)), *positional]
                return self.combined(node, "call", parties)  # type: ignore[arg-type]
            return Unknown()
        if name == "__init__":
            return NONE
        if obj.lib in ("", "builtins.object"):
            return Unknown()
        if obj.lib.startswith("torch.optim.") and name in ("step", "zero_grad"):
            return NONE
        if obj.lib.startswith("torch.utils.data."):
            return Unknown()
        chosen = obj.lib == PREPARES.dotted and "device" in obj.attrs
        if chosen and knowledge.PLACES_OTHERWISE.isdisjoint(keywords) and knowledge.find(f"{obj.lib}.{name}"):
            found = tuple(self._prepared(value) for _, value in positional)
            return found[0] if len(found) == 1 else Seq(found, "tuple")
        self.hand_over([value for _, value in (*positional, *keywords.values())])
        return Unknown()

    def _prepared(self, value: Value) -> Value:
        """What an `Accelerator` gives for a module, that it moves, or a loader, whose batches it will."""
        if isinstance(value, Obj) and self.is_module(value):
            self.move(value, ACCELERATOR)
            self.alter(value, "moved", True)
        loads = isinstance(value, Seq) or (isinstance(value, Obj) and value.lib.endswith("DataLoader"))
        return Unknown() if loads else value

    def _beside(self, at: ast.expr, value: Value) -> Sequence[Value]:
        """What is in a sequence beside the one at hand, as nobody knows which that is: `self.models[i]`."""
        whole = self.eval(at.value) if isinstance(at, ast.Subscript) else None
        if not (isinstance(whole, Seq) and isinstance(at, ast.Subscript)):
            return ()
        known = isinstance(self.eval(at.slice), Const) and not whole.open
        return () if known else [each for each in whole.items if each is not value]

    def _of_module(
        self,
        obj: Obj,
        name: str,
        positional: Sequence[Argument],
        keywords: dict[str, Argument],
        node: ast.AST,
    ) -> Value:
        if name in MOVES:
            place = self.target(name, positional, keywords)
            if place is not None:
                back = obj.moved and place == CPU and isinstance(node, ast.Call)
                receiver = node.func.value if back and isinstance(node.func, ast.Attribute) else None  # type: ignore[attr-defined]
                self.alter(obj, "left_by", self.spot(receiver) if receiver is not None else None)
                self.move(obj, place)
                self.alter(obj, "moved", True)
            return obj
        if name in ("parameters", "buffers", "named_parameters", "named_buffers"):
            whose = Made("weights", obj.spot, "", obj) if obj.spot is not None else None
            weights = dict.fromkeys(
                each._replace(registered=False, made=whose if each.place == CPU else None)
                for each in self.weights(obj)
            )
            items: tuple[Value, ...] = tuple(weights) or (Unknown(),)
            if name.startswith("named"):
                items = tuple(Seq((TEXT, each), "tuple") for each in items)
            return Seq(items, "iter", open=True)
        if name in ("modules", "children", "named_children", "named_modules"):
            named = [(key, each) for key, each in named_parts(obj) if isinstance(each, Obj)]
            inner: list[Value] = [each for _, each in named]
            if name.startswith("named"):
                inner = [Seq((Const(key), each), "tuple") for key, each in named]
            return Seq(tuple(inner) or (Unknown(),), "iter", open=True)
        if name == "state_dict":
            found = tuple(self.weights(obj))
            rest = (
                self.element(Seq(tuple(each._replace(registered=False) for each in found)))
                if found
                else Unknown()
            )
            return Map({}, rest)
        if name in ("register_buffer", "register_parameter"):
            values = [value for _, value in positional]
            tensor = values[1] if len(values) > 1 else keywords.get("tensor", (node, Unknown()))[1]
            self._share((tensor,))
            if isinstance(values[0] if values else None, Const):
                key = values[0].value  # type: ignore[union-attr]
                self.alter(obj, "buffers", obj.buffers | {key})
                kept = tensor._replace(made=None) if isinstance(tensor, Tensor) else tensor
                self.put(obj.attrs, key, kept)
            return NONE
        if name in ("add_module", "register_module") and len(positional) > 1:
            key = positional[0][1]
            called = key.value if isinstance(key, Const) else f"#{id(node)}.{len(obj.attrs)}"
            self.put(obj.attrs, called, positional[1][1])
            for number, each in enumerate(self._beside(*positional[1])):
                self.put(obj.attrs, f"{called}#{number}", each)
            return NONE
        if name in ("append", "extend", "insert", "items", "keys", "values", "update", "pop"):
            if obj.parts is None:
                obj.parts = Map() if obj.lib.endswith("Dict") else Seq()
            given = self.method(obj.parts, name, positional, keywords, node)
            return obj if name in ("append", "extend") else given
        if name in (
            "train",
            "eval",
            "requires_grad_",
            "half",
            "float",
            "double",
            "bfloat16",
            "share_memory",
        ):
            return obj
        if name == "apply":
            self.hand_over(
                [obj] if not positional or not isinstance(positional[0][1], (Function, Bound)) else []
            )
            for each in (*obj.attrs.values(), *held(obj)):
                if positional and isinstance(each, Obj) and self.is_module(each):
                    self.call(positional[0][1], [(node, each)], {}, node)  # type: ignore[list-item]
            return obj
        if name == "load_state_dict" and "assign" in keywords:
            self.move(obj, NOWHERE)
        if name in ("__call__", "forward"):
            return self.run_library_object(obj, positional, keywords, node)
        if name == "register_forward_pre_hook":
            self.alter(obj, "pulls", True)
            return Unknown()
        if name == "to_empty" and (told := [value for _, value in (*positional, *keywords.values())]):
            self.move(obj, self.place_of(told[0]))
            return obj
        if name == "register_forward_hook" and positional:
            self.alter(obj, "hooks", (*obj.hooks, positional[0][1]))
            return Unknown()
        if name in ("zero_grad", "load_state_dict", "__init__", "extra_repr"):
            return NONE
        return Unknown()

    def run_library_object(
        self, callee: Obj, positional: Sequence[Argument], keywords: dict[str, Argument], node: ast.AST
    ) -> Value:
        """Call an object of a library: a module's weights meet what it is given."""
        if not self.is_module(callee):
            self.hand_over([value for _, value in (*positional, *keywords.values())])
            return Unknown()
        if isinstance(callee.parts, Seq) and callee.lib.endswith("Sequential"):
            return self._run_in_turn(callee, positional, node)
        if callee.lib == _SCATTERS and "#0" in callee.attrs:
            place = next((each.place for each in self.weights(callee)), NOWHERE)
            if place == CPU:  # its constructor has moved it where there is one GPU alone
                self.hand_over([callee, *(value for _, value in (*positional, *keywords.values()))])
                return Unknown()
            brought = [(at, self.brought_to(value, place)) for at, value in positional]
            return self.call(
                callee.attrs["#0"],
                brought,
                {k: (at, self.brought_to(v, place)) for k, (at, v) in keywords.items()},
                node,
            )
        unread = knowledge.unread(callee.lib, {name: at for name, (at, _) in keywords.items()})
        keywords = {name: each for name, each in keywords.items() if name != unread}
        given = [*positional, *keywords.values()]
        tensors: list[Argument] = [(at, value) for at, value in given if isinstance(value, Tensor)]
        row = knowledge.find(f"{callee.lib}.forward")
        if row is not None:
            tensors = self.operands(row, bind(row, positional, keywords))
        if not callee.lib.startswith("torch."):
            self.hand_over([value for _, value in given])
            return Unknown()
        weights = [each for each in self.weights(callee) if each.place]
        func: ast.expr = node.func if isinstance(node, ast.Call) else node  # type: ignore[assignment]
        if weights and tensors:
            kept = weights[0]
            for at, value in tensors:
                if not isinstance(value, Tensor):
                    continue
                if value.place and kept.place == CPU and value.place != CPU:
                    if kept.made is None:
                        self.tell("call", (func, kept), (at, value), module=callee)
                    else:
                        self.tell("call", (func, kept), (at, value))
                    return Tensor(NOWHERE, 1, loose=True)
                if value.place == CPU and kept.place != CPU and value.dims > 0:
                    self.tell("call", (at, value), (func, kept))
                    return Tensor(NOWHERE, 1, loose=True)
        loss = knowledge.find(callee.lib)
        found = self.combined(node, "call", tensors)
        if weights and found.place == CPU and callee.spot is not None:
            found = found._replace(made=Made("weights", callee.spot, "", self.outermost(callee)))
        if loss is not None and "loss" in loss.topics:
            return found._replace(dims=0)
        away = weights and weights[0].place != CPU
        if not tensors and not away:
            return Unknown()
        if away and found.place == NOWHERE:  # what it is given is there as well, or it fails
            found = found._replace(place=weights[0].place, made=None)
        return found._replace(loose=gives_several(callee.lib), dims=max(found.dims, 1), registered=False)

    def _run_in_turn(self, callee: Obj, positional: Sequence[Argument], node: ast.AST) -> Value:
        assert isinstance(callee.parts, Seq)
        value = positional[0][1] if positional else Unknown()
        at = positional[0][0] if positional else node
        for each in callee.parts.items:
            value = self.call(each, [(at, value)], {}, node)  # type: ignore[list-item]
        return value

    def _of_parser(
        self, obj: Obj, name: str, positional: Sequence[Argument], keywords: dict[str, Argument]
    ) -> Value:
        options = obj.attrs.setdefault("=", Map())
        assert isinstance(options, Map)
        if name == "add_argument":
            flags = [
                value.value
                for _, value in positional
                if isinstance(value, Const) and isinstance(value.value, str)
            ]
            long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
            dest = keywords["dest"][1] if "dest" in keywords else None
            key = dest.value if isinstance(dest, Const) else long.lstrip("-").replace("-", "_")
            action = keywords["action"][1] if "action" in keywords else None
            told = action.value if isinstance(action, Const) else ""
            left_out = long.startswith("-") and "required" not in keywords and told in ("", "store")
            value: Value = NONE if left_out else Unknown()
            if "default" in keywords:
                value = self._asked_for(keywords["default"][1], keywords)
            elif told in ("store_true", "store_false"):
                value = Const(told == "store_false")
            self.put(options.items, key, value)
            return Unknown()
        if name == "set_defaults":
            for key, (_, value) in keywords.items():
                self.put(options.items, key, value)
            return NONE
        if name in ("add_argument_group", "add_mutually_exclusive_group"):
            return obj
        if name in ("parse_args", "parse_known_args"):
            made = self.hold(Obj(None, "argparse.Namespace", None))
            made.attrs.update(options.items)
            return made if name == "parse_args" else Seq((made, Seq((), open=True)), "tuple")
        return Unknown()

    def _asked_for(self, default: Value, keywords: dict[str, Argument]) -> Value:
        """What an option is: the cpu by default, it is there for those who have an accelerator."""
        if self.place_of(default) != CPU:
            return default
        choices = keywords["choices"][1] if "choices" in keywords else None
        if isinstance(choices, Seq) and ACCELERATOR not in map(self.place_of, choices.items):
            return default
        return Device(ACCELERATOR) if isinstance(default, Device) else Const(ACCELERATOR)
