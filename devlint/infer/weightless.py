"""Which modules have nothing that a move could bring anywhere: no parameter, no buffer, no part with one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from .. import knowledge
from ..bind.names import last_name
from ..bind.walk import descendants
from ..core.kinds import Kind
from ..core.summary import Term
from ..core.values import Api, Defined

_PLAIN = frozenset(
    {
        *(Kind.NONE, Kind.NUMBER, Kind.STRING, Kind.FLAG, Kind.DEVICE, Kind.DTYPE, Kind.GENERATOR),
        *(Kind.TENSOR, Kind.SCALAR, Kind.ARRAY, Kind.CONTAINER, Kind.FUNCTION),
    }
)
"""What a module does not register where it is assigned, be it a list of modules."""
_REGISTER = knowledge.REGISTERS | knowledge.ADDS_BY_NAME | knowledge.ASSIGNS_BY_NAME
_NN = f"{knowledge.OF_TORCH}nn."
_BASE = f"{_NN}Module"
_NUMBERS = frozenset({"int", "float", "bool", "str"})


def is_of_torch(name: str) -> bool:
    """Whether a class of torch's has no weights of its own: a loss has those that it is given."""
    last = name.rpartition(".")[2]
    known = last in knowledge.NO_PARAMETERS or "loss" in knowledge.topics(name)
    return known and name.startswith(knowledge.OF_TORCH)


def is_base(name: str) -> bool:
    """Whether what derives from a class of a library has no weights by that."""
    return name == _BASE or is_of_torch(name)


def gives_weights(made: ast.Call) -> bool:
    """Whether the call that makes a loss may give it weights."""
    return bool(made.args) or any(
        keyword.arg is None or keyword.arg in knowledge.LOSS_WEIGHTS for keyword in made.keywords
    )


class Shape(NamedTuple):
    """What the definition of a class says, whatever its attributes are."""

    registers: bool
    """Whether it calls what may give a module something that none of its attributes shows."""
    stored: frozenset[str]
    """The attributes that it assigns."""
    numbers: frozenset[str]
    """Those that are parameters which are numbers or texts, as their defaults or annotations say."""


def shape_of(definition: ast.ClassDef) -> Shape:
    """What is asked of each class once, however often it is asked whether it has weights."""
    nodes = descendants(definition)
    return Shape(
        any(map(_registers, nodes)),
        frozenset(
            each.attr for each in nodes if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
        ),
        frozenset(_kept_numbers(definition)),
    )


def registers_nothing(
    shape: Shape, held: Mapping[str, Term | None], of_project: Callable[[str], bool]
) -> bool:
    """Whether the methods of a class assign no weight, and no module that may have some.

    `held` says what is known of what they assign, and `of_project` answers for the project's classes.
    """
    if shape.registers or not shape.stored <= held.keys():
        return False
    unknown = {name for name, term in held.items() if term is None or term.kind is Kind.UNKNOWN}
    return unknown <= shape.numbers and all(
        _is_plain(term, of_project) for name, term in held.items() if term and name not in unknown
    )


def _is_plain(held: Term, of_project: Callable[[str], bool]) -> bool:
    if isinstance(held.known, Defined):
        return of_project(held.known.dotted)
    return held.kind in _PLAIN or (isinstance(held.known, Api) and is_of_torch(held.known.dotted))


def _registers(node: ast.AST) -> bool:
    name = last_name(node) if isinstance(node, ast.Call) else ""
    if not isinstance(node, ast.Call) or not name:
        return False
    return name in _REGISTER or (gives_weights(node) and "loss" in knowledge.topics(f"{_NN}{name}"))


def _kept_numbers(definition: ast.ClassDef) -> Iterator[str]:
    """The attributes that are parameters which are numbers or texts, as their defaults or annotations say."""
    for method in definition.body:
        if isinstance(method, ast.FunctionDef):
            given = frozenset(_numbers(method.args))
            for node in descendants(method):
                if (
                    isinstance(node, ast.Assign)
                    and isinstance(node.value, ast.Name)
                    and node.value.id in given
                ):
                    yield from (each.attr for each in node.targets if isinstance(each, ast.Attribute))


def _numbers(given: ast.arguments) -> Iterator[str]:
    by_position = (*given.posonlyargs, *given.args)
    defaults = (*(None,) * (len(by_position) - len(given.defaults)), *given.defaults, *given.kw_defaults)
    for each, default in zip((*by_position, *given.kwonlyargs), defaults, strict=True):
        constant = default.value if isinstance(default, ast.Constant) else None
        if constant is not None or last_name(each.annotation or each) in _NUMBERS:
            yield each.arg
