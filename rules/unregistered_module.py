"""A module keeps submodules in a plain list, tuple or dict, and does not know of them

`nn.Module` registers what is assigned to its attributes, not what is inside of a list. `model.to(device)`
leaves such submodules on the cpu, the optimizer never sees their parameters, and `state_dict()` lacks them.

    self.layers = [nn.Linear(4, 4) for _ in range(3)]  # DEV405

torch has containers that register:

    self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

The fix is unsafe: what is registered is trained, put into evaluation mode and saved with the module, on the
cpu as well, and checkpoints without it no longer load.

A warning where something of which nothing is known made what is used as modules are. A note where a caller
made them, who may have moved them, and where classes of which nothing is known made them, and they are only
called. Left alone: what an attribute, `setattr`, `add_module` or another module knows as well; a list of one
that nothing loops over, which hides a module on purpose; what the class moves itself; caches that methods
fill, or look modules up in for what registers them; modules without parameters and buffers.
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
    Kind,
    Report,
    Rule,
    Severity,
    bind,
    cst,
    hides,
    outside,
)

_WHAT = {"list": "in a plain list", "dict": "in a plain dict", "other": "in a container that is no module"}
_TOLD = "the modules of `self.{}` are {}"


class UnregisteredModule(Rule[Bind]):
    """Submodules in a container that is no module."""

    code = "DEV405"
    name = "unregistered-module"
    cause = Cause.CONTAINER
    watches = (bind(hides(Kind.MODULE), outside("test")),)
    claim = Claim(MIXED_DEVICES)

    def visit(self, node: cst.CSTNode, event: Bind, ask: Ask) -> Iterator[Report]:
        """Report the attribute where it is first assigned."""
        assert isinstance(node, cst.Attribute)
        assert event.hidden is not None
        hidden, what = event.hidden, _WHAT[event.hidden.form]
        told = "what `self.{}` has, which is called as modules are, is {}" if hidden.called else _TOLD
        noted = hidden.given or hidden.called
        yield Report(
            f"{told.format(event.name, what)}, and not registered",
            "they stay behind when the module moves, nothing trains them, and `state_dict()` lacks them",
            Severity.NOTE if noted else None if hidden.sure else Severity.WARNING,
            _registered(node, event, ask),
        )


def _registered(node: cst.Attribute, event: Bind, ask: Ask) -> Change | None:
    assigned = ask.assignment(node)
    assert event.hidden is not None
    if assigned is None or assigned.value is None or not event.hidden.replaceable:
        return None
    found = [name for name in ("nn", "torch") if (ask.bound_to(name, node) or "").startswith("torch")]
    if not found:
        return None
    value = assigned.value
    module = "nn" if found[0] == "nn" else "torch.nn"
    container = cst.parse_expression(f"{module}.Module{event.hidden.form.capitalize()}")
    empty = isinstance(value, (cst.List, cst.Tuple, cst.Dict)) and not value.elements
    whole = cst.Call(container, [] if empty else [cst.Arg(value)])
    return Change("register the modules", ((value, whole),), safe=False)
