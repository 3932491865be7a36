"""Conditions of a function that what a call passes settles: `if use:`, and it passes True."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import combinations

from .. import knowledge
from ..core.kinds import Kind
from ..core.places import Form
from ..core.state import State, changed
from ..core.summary import Answers, Case, FunctionSummary, Marked, Moved, Parameter, Term
from ..core.values import Const, Value, is_made
from .machine import Machine

TRUE, FALSE, NONE = "t", "f", "n"
_NOT_NONE = TRUE + FALSE
_OF_KIND = {
    Kind.NONE: NONE,
    **dict.fromkeys((Kind.DEVICE, Kind.MODULE, Kind.OPTIMIZER, Kind.FUNCTION, Kind.CLASS), TRUE),
    **dict.fromkeys((Kind.TENSOR, Kind.SCALAR, Kind.PARAMETER, Kind.CONTAINER, Kind.STRING), _NOT_NONE),
}
_MAX_DECIDING = 3
_MAX_PAIRS = 4
"""Of each, the function is run once more."""
_SAID = frozenset({Form.CPU, Form.LITERAL, Form.SAME, Form.EITHER})


def answers_of_constant(node: ast.expr | None) -> Answers:
    """What is true of an expression that is a constant."""
    if not isinstance(node, ast.Constant):
        return ""
    return NONE if node.value is None else TRUE if node.value else FALSE


def answers(machine: Machine, value: Value) -> Answers:
    """What is true of a value."""
    own = machine.parameters.get(id(value))
    if own is not None:
        return machine.settled.get(own[0], "")
    if isinstance(value.known, Const):
        return TRUE if value.known.value else FALSE
    if value.kind is Kind.STRING and value.place.form is not Form.UNKNOWN:
        return TRUE
    return _NOT_NONE if is_made(value) else _OF_KIND.get(value.kind, "")


def said_of(value: Value) -> Answers:
    """What is true of a value that is a constant."""
    if isinstance(value.known, Const):
        return NONE if value.known.value is None else TRUE if value.known.value else FALSE
    return NONE if value.kind is Kind.NONE else ""


def enter(machine: Machine, name: str, value: Value) -> Value:
    """What a parameter begins with: a value of its own, that tells it from all others."""
    value = Value(*value)
    machine.parameters[id(value)] = name, value
    return value


# In a run


def outcome(machine: Machine, test: ast.expr) -> bool | None:
    """How a condition comes out in this run; None where that is open."""
    if isinstance(test, ast.Constant):
        return bool(test.value)  # `if False:`, which stands for a comment
    if isinstance(test, ast.BoolOp) and any(isinstance(part, ast.Constant) for part in test.values):
        return _of_several(isinstance(test.op, ast.And), [outcome(machine, part) for part in test.values])
    if not machine.settled:
        return None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = outcome(machine, test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        return _of_several(isinstance(test.op, ast.And), [outcome(machine, part) for part in test.values])
    found = _parameter(machine, test)
    said = machine.settled.get(found[0], "") if found is not None else ""
    if found is None or not said:
        return None
    _, true = found
    if said == true:
        return True
    return None if set(true) & set(said) else False


def _of_several(conjunction: bool, parts: list[bool | None]) -> bool | None:
    decisive = not conjunction
    if decisive in parts:
        return decisive
    return None if None in parts else conjunction


def _parameter(machine: Machine, test: ast.expr) -> tuple[str, Answers] | None:
    """The parameter that a condition asks about, and the answer for which it is true."""
    true = TRUE
    if isinstance(test, ast.Compare):
        if len(test.ops) != 1 or answers_of_constant(test.comparators[0]) != NONE:
            return None
        true = NONE if isinstance(test.ops[0], (ast.Is, ast.Eq)) else _NOT_NONE
        test = test.left
    if not isinstance(test, ast.Name):
        return None
    value = machine.state.env.get(test.id)
    own = machine.parameters.get(id(value)) if value is not None else None
    return (own[0], true) if own is not None else None


def asked(machine: Machine, test: ast.expr) -> frozenset[tuple[str, Answers]]:
    """The parameters that a condition asks about, with the answers that it parts; in a run for any call."""
    if not machine.parameters or machine.settled:
        return frozenset()
    return frozenset((name, _parting(true)) for name, true in _all_asked(machine, test))


def _all_asked(machine: Machine, test: ast.expr) -> Iterator[tuple[str, Answers]]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _all_asked(machine, test.operand)
    elif isinstance(test, ast.BoolOp):
        for part in test.values:
            yield from _all_asked(machine, part)
    else:
        found = _parameter(machine, test)
        if found is not None:
            yield found


def _parting(true: Answers) -> Answers:
    return NONE if NONE in true or true == _NOT_NONE else TRUE


def parted(then: State, orelse: State) -> bool:
    """Whether anything is elsewhere on one path than on another, or one of them ends."""
    if then.alive is not orelse.alive:
        return True
    if then.places != orelse.places or then.marks != orelse.marks:
        return True
    if (then.touched is None) is not (orelse.touched is None):
        return True
    for key, value in changed(orelse.env, then.env):
        other = orelse.env.get(key)
        if other is not None and other.place != value.place:
            forms = {other.place.form, value.place.form}
            if _SAID & forms or forms == {Form.AT}:
                return True
    return False


# Of a summary


def places_anything(reaches: Set[str], summary: FunctionSummary) -> bool:
    """Whether a function says where anything is, rather than leave it where its caller has it."""
    if knowledge.MOVES_SOMETHING in reaches or any(
        isinstance(effect, (Moved, Marked)) for effect in summary.effects
    ):
        return True
    sides = (side for need in summary.needs for side in (need.left, need.right))
    return any(side.form in _SAID for side in sides) or _is_placed(summary.returns)


def _is_placed(term: Term) -> bool:
    if term.place.form in _SAID or any(map(_is_placed, term.items or ())):
        return True
    return term.element is not None and _is_placed(term.element)


def assumptions(
    deciding: Iterable[tuple[str, Answers]], parameters: Iterable[Parameter]
) -> list[dict[str, Answers]]:
    """What to assume of a function's parameters, one at a time."""
    by_name: dict[str, set[Answers]] = {}
    for name, parts in deciding:
        by_name.setdefault(name, set()).add(parts)
    names = [parameter.name for parameter in parameters if parameter.name in by_name][:_MAX_DECIDING]
    return [{name: said} for name in names for said in _choices(by_name[name])]


def of_two(
    deciding: Iterable[tuple[str, Answers]], parameters: Iterable[Parameter], alone: Iterable[Case]
) -> list[dict[str, Answers]]:
    """What to assume of two parameters at once: each of them tells something alone."""
    tell = {name for each in alone for name, _ in each.given}
    singles = assumptions((each for each in deciding if each[0] in tell), parameters)
    pairs = [one | two for one, two in combinations(singles, 2) if one.keys() != two.keys()]
    return pairs[:_MAX_PAIRS]


def _choices(parts: set[Answers]) -> tuple[Answers, ...]:
    if parts == {NONE}:
        return NONE, _NOT_NONE
    if parts == {TRUE}:
        return TRUE, FALSE + NONE
    return TRUE, FALSE, NONE


def case(assumed: Mapping[str, Answers], summary: FunctionSummary) -> Case:
    """What a run under assumptions found out."""
    return Case(
        tuple(assumed.items()),
        summary.returns,
        summary.effects,
        summary.needs,
        summary.requires,
        summary.touches,
    )


def telling(summary: FunctionSummary, found: Iterable[Case]) -> tuple[Case, ...]:
    """The cases that say more than the summary does, or than one of fewer assumptions."""
    plain = case({}, summary)[1:]
    kept: list[Case] = []
    for each in found:
        wider = [one for one in kept if set(one.given) < set(each.given)]
        if not any(each[1:] == one[1:] for one in wider) and (wider or each[1:] != plain):
            kept.append(each)
    return tuple(kept)


def fitting(
    machine: Machine, summary: FunctionSummary, passed: Mapping[str, Value], more: bool
) -> FunctionSummary:
    """The summary for what a call passes; `more` where `*args` or `**kwargs` may pass what is not seen."""
    names = {name for each in summary.cases for name, _ in each.given}
    said: dict[str, Answers] = {}
    for parameter in summary.parameters:
        if parameter.name not in names:
            continue
        value = passed.get(parameter.name)
        if value is None:
            said[parameter.name] = "" if more else parameter.means
            continue
        said[parameter.name] = answers(machine, value)
        own = machine.parameters.get(id(value))
        if own is not None and not machine.settled:
            machine.log.deciding |= {
                (own[0], NONE if set(accepted) in ({NONE}, set(_NOT_NONE)) else TRUE)
                for each in summary.cases
                for name, accepted in each.given
                if name == parameter.name
            }
    fits = [
        each for each in summary.cases if all(_fits(said[name], accepted) for name, accepted in each.given)
    ]
    if not fits:
        return summary
    best = max(fits, key=lambda each: len(each.given))
    return summary._replace(
        returns=best.returns,
        effects=best.effects,
        needs=best.needs,
        requires=best.requires,
        touches=best.touches,
    )


def _fits(said: Answers, accepted: Answers) -> bool:
    return bool(said) and set(said) <= set(accepted)
