"""Where values come from, as other files understand it: there, a module's own statements have a name."""

from __future__ import annotations

from ..core.summary import Bound, Case, ClassSummary, Effect, FunctionSummary, Marked, Term

WHOLE = "<module>"
"""What other files call the function that is the statements of a module."""


def name_of(module: str) -> str:
    """What other files call the statements of a module."""
    return f"{module}.{WHOLE}"


def abroad(term: Term, module: str) -> Term:
    """A value that leaves its file; the very one where there is nothing to say."""
    origin = term.origin
    if origin is not None and not origin.function:
        term = term._replace(origin=origin._replace(function=name_of(module)))
    if term.items:
        items = tuple(abroad(item, module) for item in term.items)
        if any(new is not old for new, old in zip(items, term.items, strict=True)):
            term = term._replace(items=items)
    if term.element is not None:
        element = abroad(term.element, module)
        if element is not term.element:
            term = term._replace(element=element)
    return term


def function_abroad(summary: FunctionSummary, module: str) -> FunctionSummary:
    """What a function does, for other files."""
    returns, effects = abroad(summary.returns, module), _effects(summary.effects, module)
    cases = tuple(_case(case, module) for case in summary.cases)
    if returns is summary.returns and effects == summary.effects and cases == summary.cases:
        return summary
    return summary._replace(returns=returns, effects=effects, cases=cases)


def _case(case: Case, module: str) -> Case:
    return case._replace(returns=abroad(case.returns, module), effects=_effects(case.effects, module))


def class_abroad(summary: ClassSummary, module: str) -> ClassSummary:
    """What is known of a class, for other files."""
    attributes = {name: abroad(term, module) for name, term in summary.attributes.items()}
    return summary._replace(attributes=attributes, after_init=_effects(summary.after_init, module))


def _effects(effects: tuple[Effect, ...], module: str) -> tuple[Effect, ...]:
    return tuple(_effect(effect, module) for effect in effects)


def _effect(effect: Effect, module: str) -> Effect:
    if isinstance(effect, Bound):
        return effect._replace(value=abroad(effect.value, module))
    if isinstance(effect, Marked) and not effect.at[0]:
        return effect._replace(at=(name_of(module), effect.at[1]))
    return effect
