"""That a constructor is told the cpu, by the call that made an object in another function of the file."""

from __future__ import annotations

import ast

from ..bind.names import last_name
from ..core.kinds import Kind
from ..core.objects import foreign_name
from ..core.paths import Attr, Path, Root
from ..core.places import CPU
from ..core.summary import Bound, FunctionSummary
from ..core.values import Defined, Value
from .machine import ClassView, Machine

_CONSTRUCTOR = "__init__"


def keeps(summary: FunctionSummary, view: ClassView) -> dict[str, str]:
    """By attribute, the parameter of a constructor that it is, and stays."""
    kept: dict[str, str] = {}
    for each in summary.effects:
        if isinstance(each, Bound) and len(each.path.steps) == 1:
            step, who = each.path.steps[0], each.value.who
            if not isinstance(step, Attr) or not isinstance(who, Path) or who.steps:
                continue
            if who.root.kind == "parameter" and (each.lasts or not view.varies(step.name)):
                kept[step.name] = who.root.name
    return kept


def tells_cpu(machine: Machine, made: Value, of: Path) -> bool:
    """Whether a device that the methods of an object speak of is the cpu, as its constructor was told.

    They speak of the constructor's parameter, or of the attribute that keeps it.
    """
    origin = made.origin
    home = machine.program.function(origin.function) if origin is not None and origin.how == "made" else None
    view = machine.program.view(made.known.dotted) if isinstance(made.known, Defined) else None
    summary = machine.program.summary(view.method(_CONSTRUCTOR) or "") if view is not None else None
    if origin is None or home is None or view is None or summary is None or home is machine.here:
        return False
    call = home.nodes[origin.at] if origin.at < len(home.nodes) else None
    name = _parameter(summary, view, of)
    if not isinstance(call, ast.Call) or not name or any(isinstance(each, ast.Starred) for each in call.args):
        return False
    positional = [each.name for each in summary.parameters if each.how in ("positional", "either")][1:]
    given = dict(zip(positional, call.args, strict=False))
    given.update({each.arg: each.value for each in call.keywords if each.arg is not None})
    return name in given and _is_cpu(given[name])


def _parameter(summary: FunctionSummary, view: ClassView, of: Path) -> str:
    """The parameter of a constructor that is meant; empty for anything else."""
    if of.root.kind == "self" and len(of.steps) == 1 and isinstance(of.steps[0], Attr):
        return keeps(summary, view).get(of.steps[0].name, "")
    names = (each.name for each in summary.parameters) if of.root.kind == "global" else ()
    abroad = {foreign_name(summary.name, Root("parameter", name)): name for name in names}
    return abroad.get(of.root.name, "")


def _is_cpu(node: ast.expr) -> bool:
    """`"cpu"` or `torch.device("cpu")`."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and last_name(node) == Kind.DEVICE.value:
        node = node.args[0]
    return isinstance(node, ast.Constant) and node.value == CPU.name
