"""Why a rule left an event alone, in words: tests that fail, and what it would have taken to speak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.events import At, Bind, Call, Compare, Literal_, Meeting, Move, Seen, Why
from ..core.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..core.events import Event
    from ..core.watches import Test

_KINDS = {Kind.OTHER.value: "of a class that devlint does not model", Kind.UNKNOWN.value: "unknown"}
_CONTEXTS = {
    "forward": "a module's `forward`",
    "method": "a module's method",
    "moved": "a method of a module that moves itself",
    "hook": "a step that a trainer runs",
    "test": "test code",
    "dataset": "a dataset",
    "collate_fn": "a `collate_fn`",
    "worker": "a loader's worker",
    "probe": "code that is expected to fail, or asserted to be on the cpu",
    "processes": "a function in which several processes work together",
    "demo": "what a file that defines a module tries out when it is run",
    "saved": "a function that saved or trained something before",
    "reread": "what the file saves itself at that path",
    "handed": "a function that its caller tells where to load",
    "ignored": "a function that is told where to load, and ignores it",
    "pending": "a call that is given a copy still under way",
}
_HINTS = {
    "function": "the function's name, `{}`,",
    "class": "the class's name, `{}`,",
    "import": "the import of `{}`",
    "option": "the name `{}`",
    "decorator": "the decorator `{}`",
    "string": "the string `{}`",
    "reason": "the reason `{}`",
    "callable": "the call of `{}`",
}
_CONFLICTS = {
    "none": "nothing says that the two are apart",
    "certain": "the two are certainly apart",
    "presumed": "they are apart if something unknown is what it is taken for",
    "branches": "both are moved, under conditions that can differ",
    "caller": "they are apart unless the caller moved one",
    "given": "they are apart only where a caller has on a device what it gives",
    "portable": "they are apart only where one of them is elsewhere",
}
_HOWS = {
    "factory": "what a factory made",
    "array": "an array",
    "encoded": "what a tokenizer gives",
    "loader": "a loader",
    "moved": "a move",
    "literal": "a literal",
    "default": "a default",
    "made": "what the program builds",
    "copied": "a copy",
    "attribute": "an attribute",
    "abroad": "an attribute that a class of another file assigns",
}


def guards(why: Why) -> Iterator[str]:
    """Say what a guard knows of an accelerator."""
    if why.absent:
        yield "no accelerator is there, or none is wanted: a condition says so"
    elif why.certain:
        yield "an accelerator is there: a condition asks for one"
    if why.tensor:
        yield f"`{why.tensor}` is on CUDA: a condition asks"
    if why.needed and not why.guarded:
        yield "an accelerator was needed before: without one, that has failed by now"
    for hint in dict.fromkeys(why.hints):
        sort, _, name = hint.partition(":")
        if not name:
            yield "what fails there is caught" if sort == "try" else f"`{hint}` suggests an accelerator"
        else:
            yield f"{_HINTS.get(sort, '`{}`').format(name)} suggests an accelerator"


def contexts(found: frozenset[str]) -> str:
    """Name where code runs."""
    return " and ".join(_CONTEXTS.get(each, f"`{each}`") for each in sorted(found))


def failed(test: Test[Any], event: Event) -> str:
    """Say why a test of a watch does not hold for an event."""
    say = _SAY.get(test.name)
    return say(event, test) if say is not None else f"the test `{test.name}` does not hold"


_ROLES = {
    "kept": "chosen by a constructor, for methods to use",
    "left": "left to the default of what is called",
    "argument": "an argument",
    "default": "a default",
    "autocast": "given to autocast",
    "compared": "only compared",
    "chosen": "one of a choice",
    "followed": "one of a choice that a tensor decides",
    "recorded": "only recorded",
}
_FORMS = {
    *("becomes", "casts", "comes_from", "context", "gives", "held_by", "hides", "iterated", "left"),
    *("named", "of_leaf", "right"),
}
"""Tests of what a rule is about at all, not of whether that is wrong here."""


def is_about_another(test: Test[Any]) -> bool:
    """Whether a test that fails shows that the rule is about something else altogether."""
    return not test.negated and test.name in _FORMS


def _guarded(event: Event, test: Test[Any]) -> str:
    if test.negated:
        return "; ".join(guards(event.at.guard))
    return "nothing says that an accelerator is there"


def _context(event: Event, test: Test[Any]) -> str:
    if test.negated:
        return f"it is in {contexts(event.at.context & frozenset(test.wanted))}"
    return f"it is not in {_either(_CONTEXTS.get(each, each) for each in test.wanted)}"


def _lacks(event: Call, test: Test[Any]) -> str:
    given = [f"`{name}`" for name in test.wanted if name in event.given]
    return f"{' and '.join(given)} is given" if given else "`*args` or `**kwargs` may give it"


def _receiver(event: Call | Move, test: Test[Any]) -> str:
    return _kind(event.receiver, test)


def _elsewhere(event: Move, test: Test[Any]) -> str:
    if event.target is None:
        return "it names no device"
    return f"it is on `{event.target.name}` already" if event.target.name else "it is there already"


def _held_by(event: Move, test: Test[Any]) -> str:
    return f"nothing of the sort {_either(test.wanted)} is known to hold it"


def _comes_from(event: Meeting, test: Test[Any]) -> str:
    origin = event.left.origin
    came = f"what is behind comes from {_HOWS.get(origin.how, origin.how)}" if origin is not None else ""
    wanted = _either(_HOWS.get(each, each) for each in test.wanted)
    return f"{came or 'nobody knows where what is behind comes from'}, not from {wanted}"


def _kind(seen: Seen | None, test: Test[Any]) -> str:
    if seen is None:
        return "it is a method of nothing that is known"
    what = f"`{seen.label}`" if seen.label else "what is there"
    kind = _KINDS.get(seen.kind.value, _a(seen.kind.value))
    if test.negated:
        return f"{what} is {kind}"
    return f"{what} is {kind}, not {_either(map(_a, test.wanted))}"


def _given(event: Call, test: Test[Any]) -> str:
    return f"{_either(f'`{name}`' for name in test.wanted)} is not given"


def _result(event: Call | Move, test: Test[Any]) -> str:
    what = {"kept": "used", "rebound": "bound to a name that nothing reads", "displayed": "shown"}
    return f"its result is {what.get(event.result, event.result)}"


def _sides(side: str) -> Callable[[Any, Test[Any]], str]:
    return lambda event, test: _kind(getattr(event, side), test)


def _whether(yes: str, no: str) -> Callable[[Any, Test[Any]], str]:
    return lambda event, test: yes if test.negated else no


_SAY: dict[str, Callable[[Any, Test[Any]], str]] = {
    "guarded": _guarded,
    "context": _context,
    "in_loop": _whether("it is in a loop", "no loop is around it"),
    "lacks": _lacks,
    "gives": _given,
    "result": _result,
    "receiver": _receiver,
    "casts": _whether("it changes the dtype alone", "it does not change the dtype alone"),
    "elsewhere": _elsewhere,
    "made_here": _whether("what is moved is made there and then", "what is moved is not made there and then"),
    "iterated": _whether(
        "it is an element that a loop yields, and nothing reads it later",
        "it is no element that a loop yields and nothing reads later",
    ),
    "named": lambda event, test: "its device is given in another way",
    "held_by": _held_by,
    "of_leaf": _whether("it is a leaf for gradients", "it is no leaf that was made for gradients here"),
    "becomes": _whether(
        "it is taken for something else", "nothing shows that it is taken for what this is about"
    ),
    "conflict": lambda event, test: _CONFLICTS[event.conflict.value],
    "comes_from": _comes_from,
    "how": lambda event, test: "they come together in another way",
    "sibling_moved": _whether(
        "another part of the same batch is moved", "no other part of the same batch is moved"
    ),
    "role": lambda event, test: f"the name of the device is {_ROLES.get(event.role, event.role)}",
    "left": _sides("left"),
    "right": _sides("right"),
    "hides": _whether(
        "the module does not know of it", "the module knows of it, or it is nothing to know of"
    ),
    "owner": _sides("owner"),
    "value": _sides("value"),
}


def otherwise(event: Event) -> Iterator[tuple[str, Event]]:
    """Yield an event as it is not, each time in one respect, with what that respect is in fact.

    Where a rule that leaves the event alone suspects it so, that respect is the rule's reason.
    """
    at = event.at
    for guard in _guards_left_out(at.guard):
        yield "; ".join(guards(_difference(at.guard, guard))), _with(event, "at", at._replace(guard=guard))
    for each in sorted(at.context):
        rest = at._replace(context=at.context - {each})
        yield f"it is in {_CONTEXTS.get(each, each)}", _with(event, "at", rest)
    if isinstance(event, Call) and event.conditional:
        yield "a condition decides whether it is reached", event._replace(conditional=False)
    for name in _SIDES.get(type(event), ()):
        seen = getattr(event, name)
        if isinstance(seen, Seen) and not seen.certain:
            what = f"what `{seen.label}` is" if seen.label else "what it is"
            yield f"{what} is not certain", _with(event, name, seen._replace(certain=True))
    if isinstance(event, Compare) and event.decides:
        yield "it decides no more than whether something is moved", event._replace(decides="")


_SIDES: dict[type, tuple[str, ...]] = {
    Call: ("receiver",),
    Move: ("receiver",),
    Meeting: ("left", "right"),
    Compare: ("left", "right"),
    Bind: ("owner", "value"),
    Literal_: (),
}


def _guards_left_out(guard: Why) -> Iterator[Why]:
    if guard.hints:
        yield guard._replace(hints=())
    if guard.certain:
        yield guard._replace(certain=False)
    if guard.absent:
        yield guard._replace(absent=False)
    if sum((bool(guard.hints), guard.certain, guard.absent)) > 1:
        yield Why(tensor=guard.tensor)


def _difference(guard: Why, without: Why) -> Why:
    """What one guard says and the other does not."""
    return Why(
        guard.certain and not without.certain,
        guard.hints if not without.hints else (),
        guard.absent and not without.absent,
    )


def _with(event: Any, name: str, other: At | Seen) -> Event:
    changed: Event = event._replace(**{name: other})
    return changed


def _a(kind: str) -> str:
    known = _KINDS.get(kind)
    if known is not None or kind in ("None", "moves-in-place"):
        return known or {"None": "None", "moves-in-place": "what moves in place"}[kind]
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"


def _either(words: Any) -> str:
    return " or ".join(dict.fromkeys(words))
