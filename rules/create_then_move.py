"""A tensor is made on the cpu and copied to a device at once

    mask = torch.ones(n, n).to(device)  # DEV503

Name the device where it is made:

    mask = torch.ones(n, n, device=device)

A note: it works. Random numbers on a device are others than on the cpu, and operations round otherwise:
there the fix is unsafe, and so it is for an `arange` of anything but whole numbers. Left alone are pinned
memory, generators, leaves that want a gradient, arrays, and `torch.tensor(data)`: with `device=` that is
filled on the cpu, and copied, all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    TENSORS,
    Ask,
    Change,
    Claim,
    Form,
    Kind,
    Move,
    Observes,
    Report,
    Rule,
    Severity,
    casts,
    cst,
    move,
    result,
    source_of,
    unless,
)

_COUNT = """
import torch
class Counts(torch.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        torch.copies = getattr(torch, "copies", 0) + (func is torch.ops.aten._to_copy.default)
        return func(*args, **(kwargs or {}))
torch.counts = Counts().__enter__()  # releases before 2.10 do not keep it themselves
"""
_EXACT = frozenset({"zeros", "ones", "empty", "full", "eye", "arange"})
_OTHERS = frozenset({"linspace", "logspace", "rand", "randn", "randint", "randperm", "hann_window"})
_OTHERWISE = (".pin_memory", ".requires_grad_")
_LEFT_ALONE = frozenset({"device", "out", "generator", "pin_memory", "requires_grad", "layout"})


class CreateThenMove(Rule[Move]):
    """A move of what its own receiver makes."""

    code = "DEV503"
    name = "create-then-move"
    severity = Severity.NOTE
    watches = (move("to", "cuda", unless(casts()), result("kept")),)
    claim = Claim(Observes("torch.copies > 0", bug=True, fixed=False), setup=_COUNT)

    def suspects(self, event: Move) -> bool:
        """What is made on the cpu, and goes elsewhere."""
        here, target = event.receiver, event.target
        made = here.origin is not None and here.origin.how == "factory"
        on_cpu = made and here.place.form is Form.CPU and here.place.of is None
        return on_cpu and here.kind in TENSORS and target is not None and target.form is not Form.CPU

    def visit(self, node: cst.CSTNode, event: Move, ask: Ask) -> Iterator[Report]:
        """Look for the call that makes the tensor, under all that is done with it before it is moved."""
        assert isinstance(node, cst.Call)
        made: list[cst.Call] = []
        for part in _parts(node.func, ask):
            if isinstance(part, cst.Call):
                made.append(part)
                continue
            seen, source = ask.value_of(part), source_of(part)
            if (seen.certain and seen.kind in TENSORS) or source.endswith(_OTHERWISE):
                return
        for call in made[:1]:
            name = source_of(call.func).rpartition(".")[2]
            given = {arg.keyword.value for arg in call.args if arg.keyword is not None}
            if name in _EXACT | _OTHERS and not given & _LEFT_ALONE and not any(a.star for a in call.args):
                cure = _cure(node, call, ask) if len(made) == 1 else None
                what = f"`{source_of(call.func)}()` makes its tensor on the cpu, to copy it at once"
                yield Report(what, "`device=` makes it where it is needed", change=cure)


def _parts(node: cst.CSTNode, ask: Ask) -> Iterator[cst.CSTNode]:
    """The calls in an expression that make tensors, and the names around them."""
    origin = ask.value_of(node).origin if isinstance(node, cst.Call) else None
    if origin is not None and origin.how == "factory" and origin.api:
        yield node
        return
    if isinstance(node, (cst.Name, cst.Attribute)):
        yield node
    for child in node.children:
        yield from _parts(child, ask)


def _cure(node: cst.Call, made: cst.Call, ask: Ask) -> Change | None:
    assert isinstance(node.func, cst.Attribute)
    moves = [arg for arg in node.args if arg.keyword is None or arg.keyword.value != "non_blocking"]
    device: cst.BaseExpression = moves[0].value if moves else cst.SimpleString('"cuda"')
    others = [arg.keyword.value for arg in moves if arg.keyword is not None and arg.keyword.value != "device"]
    if len(moves) > 1 or others or not made.args or not (moves or node.func.attr.value == "cuda"):
        return None
    if moves and moves[0].keyword is None and ask.value_of(device).kind not in (Kind.DEVICE, Kind.STRING):
        return None  # a tensor, perhaps, that says the dtype as well
    name = made.func.attr.value if isinstance(made.func, cst.Attribute) else ""
    whole = all(arg.keyword is not None or isinstance(arg.value, cst.Integer) for arg in made.args)
    exact = name in _EXACT and (whole or name != "arange")
    keyword = cst.parse_expression(f"f(device={source_of(device)})")
    assert isinstance(keyword, cst.Call)
    last = made.args[-1]
    between = made.args[0].comma if len(made.args) > 1 else cst.MaybeSentinel.DEFAULT
    args = [*made.args[:-1], last.with_changes(comma=between), keyword.args[0].with_changes(comma=last.comma)]
    there = made.with_changes(args=args)
    changed = node.func.value.deep_replace(made, there)
    assert isinstance(changed, cst.CSTNode)
    return Change("make it on the device", ((node, changed),), safe=exact and made is node.func.value)
