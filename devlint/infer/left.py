"""Accelerators that a call leaves to a default, or a module's constructor chooses for its methods."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..core.events import Literal_, Role
from ..core.kinds import Kind
from .definitions import Function
from .function import CONSTRUCTORS
from .log import Site
from .settle import Settled

_CHOSEN: Role = "chosen"
DROPPED = ""
"""What is left to a default that names no device, where one was given."""


class Left(NamedTuple):
    """One such call."""

    function: str
    """The one in which it stands."""
    site: Site
    at: ast.expr
    text: str
    """The accelerator, as the default names it."""


def left(settled: Settled) -> Iterator[Left]:
    """The calls of functions of the project that leave the choice of a device to a default."""
    for function, log in settled.logs.items():
        for site in (*log.sites, *log.abroad):
            if site.open or not isinstance(site.at, ast.expr):
                continue
            callee = settled.file.summary(site.callee)
            for each in callee.parameters if callee is not None else ():
                if each.accelerator and each.name not in site.arguments:
                    yield Left(function, site, site.at, each.accelerator)
            if site.callee == function:
                yield from _dropped(settled, function, site)


def _dropped(settled: Settled, function: str, site: Site) -> Iterator[Left]:
    """A call by which a function calls itself without the device to which it moves what it is given."""
    home = settled.file.functions.get(function)
    if home is None or home.args is None or not isinstance(site.at, ast.expr):
        return
    moves = settled.logs[function].moves.values()
    targets = {settled.device_name(raw.target) for raw in moves if raw.target is not None}
    for name, default in _with_defaults(home.args):
        none = isinstance(default, ast.Constant) and default.value is None
        if none and name in targets and name not in site.arguments:
            yield Left(function, site, site.at, DROPPED)


def _with_defaults(args: ast.arguments) -> Iterator[tuple[str, ast.expr | None]]:
    """The parameters that have a default, with it."""
    plain = [*args.posonlyargs, *args.args]
    for arg, default in zip(plain[len(plain) - len(args.defaults) :], args.defaults, strict=True):
        yield arg.arg, default
    for arg, each in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield arg.arg, each


def keeping(
    settled: Settled, literals: Iterable[tuple[ast.AST, Literal_]]
) -> Iterator[tuple[ast.AST, Literal_]]:
    """The literals that constructors of modules choose, where methods bring things to what they keep."""
    for node, event in list(literals):
        home = settled.file.functions.get(event.at.function)
        log = settled.logs.get(event.at.function)
        if event.role != _CHOSEN or home is None or home.owner is None or log is None:
            continue
        view = settled.file.view(home.owner)
        if home.own_name not in CONSTRUCTORS or view is None or not view.is_module:
            continue
        line = getattr(node, "lineno", 0)
        kept = {
            f"{home.positional[0]}.{raw.name}"
            for target, raw in log.binds.items()
            if isinstance(target, ast.Attribute)
            and raw.value.kind is Kind.DEVICE
            and getattr(target, "lineno", 0) == line
        }
        if any(_brings(settled, method, kept) for method in _methods(settled, home)):
            yield node, event


def _methods(settled: Settled, home: Function) -> Iterator[str]:
    """The methods of a class that do not construct."""
    for name, function in settled.file.functions.items():
        if function.owner == home.owner and function.own_name not in CONSTRUCTORS:
            yield name


def _brings(settled: Settled, method: str, kept: set[str]) -> bool:
    """Whether a method brings a tensor to a device that an attribute keeps."""
    log = settled.logs.get(method)
    moves = log.moves.values() if log is not None else ()
    return any(
        raw.target is not None
        and raw.receiver.kind is not Kind.MODULE
        and settled.device_name(raw.target) in kept
        for raw in moves
    )
