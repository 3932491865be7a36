"""What a base class of another file hands to a method that a class of this one defines in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.paths import Attr, Element, Item, Path
from ..core.values import Value

if TYPE_CHECKING:
    from ..core.summary import Ask, FunctionSummary
    from .definitions import Function
    from .file import File

FORWARD = ("forward", "__call__")


def handed_down(file: File, function: Function) -> frozenset[str]:
    """The parameters that a method is given by the `forward` that its class inherits, of what that is given.

    `self.prepare(images)` there runs the method of the derived class: https://docs.python.org/3/tutorial/classes.html.
    """
    view = file.view(function.owner) if function.owner is not None else None
    runs = next((name for each in FORWARD if view is not None and (name := view.method(each))), None)
    if runs is None or runs in file.functions:
        return frozenset()
    summary = file.summary(runs)
    return _passed(summary, function) if summary is not None else frozenset()


def _passed(summary: FunctionSummary, method: Function) -> frozenset[str]:
    """The parameters of a method for which another of its object passes its own first, or what came of it."""
    inputs = summary.parameters[1:2]
    if summary.binding != "self" or not inputs:
        return frozenset()
    found: set[str] = set()
    computed: set[Path] = set()
    for ask in summary.asks:
        fits = [_is_of(value, inputs[0].name, computed) for value in ask.positional]
        if ask.of.root.kind == "self" and any(fits):
            computed.add(ask.result)
        if _is_for(ask, method.own_name):
            names = zip(method.positional[1:], fits, strict=False)
            found.update(name for name, fit in names if fit)
    return frozenset(found)


def _is_for(ask: Ask, name: str) -> bool:
    """Whether a method of the object itself is called, which a class has or leaves to others."""
    if ask.of.root.kind != "self":
        return False
    return ask.method == name if not ask.of.steps else not ask.method and ask.of.steps == (Attr(name),)


def _is_of(value: Value, name: str, computed: set[Path]) -> bool:
    """Whether a value is an input, a part of it, or what a method gave for one."""
    who = value.who
    if not isinstance(who, Path):
        return False
    if who in computed:
        return True
    whole = who.root.kind == "parameter" and who.root.name == name
    return whole and all(isinstance(step, (Item, Element)) for step in who.steps)
