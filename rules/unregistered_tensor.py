"""A module computes with a tensor that is a plain attribute, and stays on the cpu when the module moves

`nn.Module` moves and saves its parameters and buffers. A tensor that is merely assigned to an attribute is
neither: `model.to(device)` leaves it on the cpu, and `forward` fails where it meets its input. So is what the
constructor computes of a weight, and another name for a buffer: the module moves its own, and not that.

    self.window = torch.hann_window(512)  # DEV404

    def forward(self, x):
        return x * self.window

Register it as a buffer, with `persistent=False` where checkpoints should not have it; what is to be trained
is a Parameter, and a list of Parameters a `nn.ParameterList`. A distribution is made anew, of buffers. An
object that a module has, and that is no module, becomes one, or moves its tensors where it uses them.

    self.window: torch.Tensor
    self.register_buffer("window", torch.hann_window(512))

An error where what it meets is wherever the module runs; a warning where that is up to the caller of another
method, where a function of which nothing is known made it of what `forward` is given, where a caller gave the
tensor from the cpu, the constructor makes it on one path alone, or chose between the cpu and an accelerator,
where it is a Parameter in another case, and where the class is in another file: it is told where it is used.
A note where nobody gives it in sight, where it is only given, beside the input, to a function of which
nothing is known, and where a method makes it for its input and keeps it for the next, as long as the size is
the same: that of a module that was moved may be elsewhere.

Left alone: 0-dim tensors and indices, which may stay on the cpu; what its use, the class's `to` or `_apply`,
or another file moves, or has made there; caches that ask where they are; Parameters for what is not trained.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    Ask,
    Bind,
    Cause,
    Change,
    Claim,
    Form,
    Kind,
    Meeting,
    Report,
    Rule,
    Severity,
    bind,
    comes_from,
    cst,
    hides,
    meeting,
    outside,
)

_PLAIN = "is a plain tensor, which stays on the cpu when the module moves"
_CPU, _PUT = "on the cpu", "where the constructor put it"
_ELSE = "under another condition it is a Parameter, which moves"


class UnregisteredTensor(Rule[Bind | Meeting]):
    """A tensor, or a container of Parameters, that the module does not know."""

    code = "DEV404"
    name = "unregistered-tensor"
    cause = Cause.ATTRIBUTE
    watches = (
        bind(hides(Kind.TENSOR, Kind.PARAMETER), outside("test", "dataset")),
        meeting(comes_from("abroad"), outside("test", "dataset", "probe")),
    )
    claim = Claim(MIXED_DEVICES)

    def visit(self, node: cst.CSTNode, event: Bind | Meeting, ask: Ask) -> Iterator[Report]:
        """Report the attribute where it is first assigned, or, of a class of another file, used."""
        if isinstance(event, Meeting):
            why = f"its class does not register it, and it meets `{event.right.label}`, which moves"
            yield Report(f"`{event.left.label}` {_PLAIN}", why, Severity.WARNING)
            return
        hidden = event.hidden
        assert hidden is not None
        if hidden.what is Kind.PARAMETER:
            yield Report(
                f"the Parameters of `self.{event.name}` are in a plain container, and not registered",
                "they stay behind when the module moves, nothing trains them, and `state_dict()` lacks them",
            )
            return
        where = "wherever the " + ("module runs" if hidden.sure or hidden.path else "caller put it")
        why = f"it meets `{hidden.meets}`, which is {where}" if hidden.meets else _ELSE
        if hidden.beside:
            why = f"it is passed on together with `{hidden.meets}`, which is wherever the module runs"
        if hidden.of_part:
            why = f"it meets `{hidden.meets}`, and what has it is no module, which would move it"
        stays = "where it was given" if hidden.given else _PUT if hidden.placed else _CPU
        if hidden.cached:
            where = "the module" if hidden.meets == "self" else f"`{hidden.meets}`"
            made = f"`self.{event.name}` is made where {where} is, and stays there when the module moves"
            why = f"`{hidden.cached}` decides whether it is made anew, and does not ask where it is"
            yield Report(made, why, Severity.NOTE)
            return
        plain = "holds plain tensors, which stay" if hidden.form else "is a plain tensor, which stays"
        severity = None if hidden.meets and hidden.sure and stays == _CPU else Severity.WARNING
        passed = ask.given(event.value)  # a part of a module is a setting of it, or moves with it
        given = [x.place.form for x in passed if x.kind is not Kind.MODULE] if hidden.given else [Form.CPU]
        unknown, shown = Form.CPU not in given, event.value.certain or (hidden.sure and not given)
        excused = ask.moves_attribute(event.name) or ask.on_default_device(event.at.function)
        excused |= {each.kind for each in passed} == {Kind.ARRAY}  # of a number numpy makes a number
        if excused or (unknown and not shown):
            return  # what nobody knows may be a number
        severity = Severity.NOTE if unknown or hidden.beside else severity  # who moves it may give it there
        told = f"`self.{event.name}` {'on one path ' * hidden.path}{plain} {stays} when the module moves"
        yield Report(told, why, severity, _registered(node, event, ask))


def _registered(node: cst.CSTNode, event: Bind, ask: Ask) -> Change | None:
    assigned = ask.assignment(node)
    replaceable = event.hidden is not None and event.hidden.replaceable
    if not (replaceable and isinstance(assigned, cst.Assign) and isinstance(node, cst.Attribute)):
        return None
    name = cst.Arg(cst.SimpleString(f'"{event.name}"'))
    called = cst.Attribute(node.value, cst.Name("register_buffer"))
    buffer = cst.Expr(cst.Call(called, [name, cst.Arg(assigned.value)]))
    return Change("register a buffer", ((assigned, buffer),), safe=False)
