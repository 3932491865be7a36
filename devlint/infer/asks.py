"""What only a caller knows: calls of what it gives, which a callee leaves open and the caller carries out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from .. import knowledge
from ..core.kinds import MAY_HOLD_TENSORS, TENSORS, Kind
from ..core.paths import Element, Path
from ..core.places import ON_DEVICE, Form, Place
from ..core.summary import Ask, FunctionSummary
from ..core.values import Api, Defined, Value
from . import cases
from .log import RawAsk
from .machine import Arguments, Machine
from .needs import is_guess
from .substitute import KEEP_IDENTITY, Given, Substitution, defaults

_MAX_GIVEN = 8
_MAX_ASKING = 3
"""Of what is asked, so many levels are answered at one call."""

Run = Callable[
    [Machine, ast.AST, FunctionSummary, Mapping[str, Given], Value | None, Value | None, ast.expr | None],
    Value,
]
"""Applies the summary of the method asked: that answers what is asked in turn, and is not imported here."""


def record_ask(machine: Machine, of: Value, method: str, args: Arguments, result: Value) -> None:
    """Remember a call of what a caller gives, or of a method that subclasses define."""
    ref, to = machine.ref(of), machine.ref(result)
    if ref is None or to is None or args.starred or args.unpacked:
        return
    place = machine.place_at(ref)
    positional = tuple(value for _, value in args.positional)
    keywords = tuple((name, value) for name, (_, value) in args.keywords.items())
    if place is not None and place.form in ON_DEVICE and any(map(_is_batch_on_cpu, positional)):
        return  # that is told here
    if len(positional) + len(keywords) <= _MAX_GIVEN:
        made = {value.who for value in positional if value.kind is Kind.INSTANCE}
        env = machine.state.env.items() if made else ()
        placed = any(
            type(key) is tuple and key[0] in made and value.kind is Kind.DEVICE for key, value in env
        )
        machine.log.asks[to] = RawAsk(ref, method, positional, keywords, to, placed)


def _is_drawn(term: Value) -> bool:
    """Whether the function that is called draws it of what it is given: that is told there."""
    return isinstance(term.who, Path) and any(isinstance(step, Element) for step in term.who.steps)


def _is_batch_on_cpu(value: Value) -> bool:
    return value.kind is Kind.BATCH and value.place.form is Form.CPU


def answer(machine: Machine, node: ast.AST, sub: Substitution, ask: Ask, run: Run) -> None:
    """Do what a callee asks of what it is given, where this caller knows what that is."""
    asked = sub.at(ask.of)
    ref = machine.ref(asked) if asked is not None else None
    result = sub.at(ask.result)
    if asked is None or ref is None or result is None or machine.asking >= _MAX_ASKING:
        return
    positional = [Given(_shown(sub, term), _passed(sub, term)) for term in ask.positional]
    keywords = {name: Given(_shown(sub, term), _passed(sub, term)) for name, term in ask.keywords}
    itself = ask.of.root.kind == "self" and not ask.of.steps
    given = (*positional, *keywords.values())
    terms = (*ask.positional, *(term for _, term in ask.keywords))
    passed = any(_is_batch_on_cpu(each.value) for each in sub.given.values())
    passed = passed and ask.of not in sub.moves and not any(map(_is_drawn, terms))
    told = itself or passed or not sub.local
    known = isinstance(asked.known, (Defined, Api)) and told
    at = _shown(sub, Value(who=ask.of))
    machine.asking += 1
    found = None
    if known and asked.kind in (Kind.INSTANCE, Kind.MODULE) and isinstance(asked.known, Defined):
        found = _answer_by_method(machine, node, asked, at, ask.method, positional, keywords, run)
    elif known and asked.kind is Kind.MODULE and ask.method in ("", *knowledge.RUNS_FORWARD):
        found = _answer_by_module(machine, at, asked, given, ask.at)
    machine.asking -= 1
    if found is not None:
        who = found.who if found.kind in KEEP_IDENTITY else result.who
        sub.answers[ask.result] = Given(at, found._replace(who=who))
    elif type(result.who) is int and asked.kind in (Kind.UNKNOWN, Kind.INSTANCE, Kind.MODULE):
        values = tuple(each.value for each in positional)
        named = tuple((name, each.value) for name, each in keywords.items())
        machine.log.asks[result.who] = RawAsk(ref, ask.method, values, named, result.who, within=ask.at)


def _answer_by_method(
    machine: Machine,
    node: ast.AST,
    asked: Value,
    at: ast.expr | None,
    method: str,
    positional: list[Given],
    keywords: dict[str, Given],
    run: Run,
) -> Value | None:
    view = machine.program.view(asked.known.dotted) if isinstance(asked.known, Defined) else None
    if view is None or view.framework:
        return None
    found = view.method(method) if method else view.method(knowledge.CALLED)
    if found is None and method in ("", *knowledge.RUNS_FORWARD) and view.is_module:
        found = view.method("forward")
    summary = machine.program.summary(found) if found is not None else None
    if summary is None or (asked.kind is Kind.INSTANCE and is_replaced(summary)):
        return None
    names = [each.name for each in summary.parameters if each.how in ("positional", "either")]
    given = {**defaults(summary), **keywords}
    if summary.binding in ("self", "class", "property") and names:
        given[names[0]] = Given(None, asked)
        names = names[1:]
    given.update(zip(names, positional, strict=False))
    if summary.cases:
        summary = cases.fitting(machine, summary, {name: each.value for name, each in given.items()}, False)
    return run(machine, node, summary, given, asked, None, at)


def _answer_by_module(
    machine: Machine,
    at: ast.expr | None,
    module: Value,
    given: tuple[Given, ...],
    within: tuple[str, int],
) -> Value | None:
    """What a module of a library gives for tensors, which it wants where it is."""
    api = module.known.dotted if isinstance(module.known, Api) else ""
    topics = knowledge.topics(api)
    if not api.startswith(knowledge.OF_TORCH) or "scatters" in topics:
        return None
    parties = [(each.at, each.value) for each in given if each.value.kind in MAY_HOLD_TENSORS]
    shown = [(where, value) for where, value in parties if where is not None]
    place = machine.place_of(module)
    if "loss" in topics:
        # What the callee computes stands in no argument: it is with what is called.
        sides = [(side, value) for where, value in parties if (side := where or at) is not None]
        return Value(Kind.SCALAR, machine.meet(at or ast.Pass(), sides, "call"))
    if api.rpartition(".")[2] in knowledge.NO_PARAMETERS:
        return Value(Kind.TENSOR, machine.combine([value for _, value in parties]))
    for where, value in shown:
        if at is not None:
            inside = value.origin is not None and value.origin.function != machine.here.name
            machine.meeting("call", where, machine.where(value), value, at, place, module, inside, within)
    return Value(Kind.TENSOR, place)


def _passed(sub: Substitution, term: Value) -> Value:
    """What the callee gives: what it was given, where nothing is known of that but what it is."""
    unknown = term.kind in (Kind.UNKNOWN, Kind.BATCH) and term.place.form is Form.UNKNOWN
    found = sub.at(term.who) if unknown and isinstance(term.who, Path) and term.origin is None else None
    if is_guess(sub, term.place, term.who if isinstance(term.who, Path) else None):
        return Value()
    return sub.value(term) if found is None else found


def _shown(sub: Substitution, term: Value) -> ast.expr | None:
    """The argument, at the call, that a value of the callee is, or lies with."""
    for who in (term.who, term.place.of):
        found = sub.argument(Place(Form.AT, "", who))
        if found is not None:
            return found
    if sub.called is not None:
        return sub.called
    func = sub.node.func if isinstance(sub.node, ast.Call) else None
    return func.value if isinstance(func, ast.Attribute) and sub.bound is not None else func


def is_replaced(summary: FunctionSummary) -> bool:
    """Whether a subclass is likely to say what a method does, and it is not said to give a tensor."""
    return summary.hook and summary.returns.kind not in TENSORS
