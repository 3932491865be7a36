"""What a callee wants to lie together, at a call: meetings of what the caller gives."""

from __future__ import annotations

import ast

from .. import knowledge
from ..core.kinds import TENSORS, Kind
from ..core.paths import Attr, Path
from ..core.places import CPU, ON_DEVICE, Form, Place
from ..core.summary import Need
from ..core.values import Api, Defined, OneOf, Origin, Value, derived, element_of, is_made
from .machine import Machine
from .substitute import Substitution, is_slice, told_cpu


def meet(machine: Machine, sub: Substitution, need: Need, called: ast.AST) -> None:
    """Record a meeting of a callee, if the caller gives one side of it."""
    if need.origin is not None and machine.state.default is not None:
        return  # what the callee makes is on the default device, too
    left, right = sub.place(need.left), sub.place(need.right)
    at, other = sub.argument(need.left), sub.argument(need.right)
    if need.reads and left.form is not Form.CPU:
        return
    if need.indexes and _counts(machine, (at, left), (other, right)):
        need = need._replace(origin=None)
    one = _party(sub, need.left, left, need.one, need.origin, need.runs == "right")
    two = _party(sub, need.right, right, need.other, need.origin, need.runs == "left")
    sure = one.kind in TENSORS or need.tensors[0], two.kind in TENSORS or need.tensors[1]
    one = _computed(sub, need.left, left, one) if sure[1] else one
    two = _computed(sub, need.right, right, two) if sure[0] else two
    left, right = _of_part(sub, need.left, left, need.one), _of_part(sub, need.right, right, need.other)
    one, two = _constructed(sub, need.left, left, one), _constructed(sub, need.right, right, two)
    one, two = (
        _of_module(sub, need.left, left, one, need.one),
        _of_module(sub, need.right, right, two, need.other),
    )
    held = _held(sub, need.left), _held(sub, need.right)
    left, one = (left, one) if held[0] is None else (held[0].place, held[0])
    right, two = (right, two) if held[1] is None else (held[1].place, held[1])
    if not sub.local and (is_guess(sub, need.left, need.one) or is_guess(sub, need.right, need.other)):
        return
    called_at = need.one if need.called == "left" else need.other
    runs = sub.at(called_at) if need.called and called_at is not None else None
    if runs is not None and _scatters(runs):
        return
    if need.called == "left" and one.kind is not Kind.MODULE:
        one = Value(Kind.MODULE, left, one.who)
    elif need.called == "right" and two.kind is not Kind.MODULE:
        two = Value(Kind.MODULE, right, two.who)
    if not sub.local and any(_answers_itself(machine, side) for side in (one, two) if need.called):
        return
    sub.derive(one, need.left)
    sub.derive(two, need.right)
    # What may be 0-dim accuses nobody, but does not make the fix of a lost move safe either.
    if Kind.SCALAR in (one.kind, two.kind) and Form.KEPT not in (left.form, right.form):
        return
    inside = need.origin is not None
    of_part = not _is_given(need, at is not None) and sub.bound is not None and sub.called is None
    if isinstance(called, ast.Attribute) and of_part and not _is_itself(sub, called):
        called = called.value
    if at is not None:
        machine.meeting("call", at, left, one, other or called, right, two, inside, need.at)
    elif other is not None:
        machine.meeting("call", other, right, two, called, left, one, inside, need.at)
    elif not sub.local and sub.bound is not None and sub.called is None and isinstance(called, ast.expr):
        # Both are the object's, whose class another file defines: the caller alone gave it them.
        machine.meeting("call", called, left, one, called, right, two, inside, need.at)


def fails(sub: Substitution, need: Need) -> bool:
    """Whether what a callee makes on the cpu meets there what this caller has on a device."""
    left, right = (need.left, need.right, need.tensors[0]), (need.right, need.left, need.tensors[1])
    for mine, other, sure in (left, right):
        if mine.form is Form.CPU and mine.of is None and (sure or need.origin is not None):
            return sub.place(other).form in ON_DEVICE
    return False


def is_guess(sub: Substitution, place: Place, path: Path | None) -> bool:
    """Whether something is only presumed to lie with what a loader yields: what a model gave for that."""
    of = place.of
    if place.form is not Form.AT or not isinstance(of, Path) or of == path or not of.steps:
        return False
    whole = sub.root(of)
    return whole is not None and whole.kind is Kind.LOADER


def _of_part(sub: Substitution, place: Place, here: Place, path: Path | None) -> Place:
    """Where a part of an object is that is no module: where that part is, and not where the object is."""
    of, bound = place.of, sub.bound
    if place.form is not Form.AT or not isinstance(of, Path) or of.root.kind != "self" or of.steps:
        return here
    if path is None or path.root != of.root or not path.steps or bound is None:
        return here
    view = sub.machine.program.view(bound.known.dotted) if isinstance(bound.known, Defined) else None
    part = sub.at(path) if bound.kind is Kind.INSTANCE and view is not None and not view.is_module else None
    if part is None:
        return here
    ref = sub.machine.ref(part)
    return (sub.machine.place_at(ref) if ref is not None else None) or sub.machine.where(part)


def _constructed(sub: Substitution, place: Place, here: Place, one: Value) -> Value:
    """What a method has of its object, where the constructor was told to put that on the cpu, or nothing."""
    kept = sub.constructed_with(place.of)
    if here != CPU or one.kind is Kind.SCALAR or kept is None:
        return one
    if kept.kind is Kind.MODULE and kept.origin is not None and kept.who == one.who:
        return kept._replace(place=here)
    return Value(Kind.TENSOR, here, one.who, origin=told_cpu(place.of))


def _of_module(sub: Substitution, place: Place, here: Place, one: Value, path: Path | None) -> Value:
    """The module itself that was made and not moved, where a method has a buffer of it with dimensions."""
    of, bound = place.of, sub.bound
    if here != CPU or one.kind in TENSORS or bound is None or bound.kind is not Kind.MODULE:
        return one
    own = place.form is Form.AT and isinstance(of, Path) and of.root.kind == "self" and not of.steps
    made = bound.origin is not None and bound.origin.how == "made"
    view = sub.machine.program.view(bound.known.dotted) if isinstance(bound.known, Defined) else None
    if not (own and made and sub.called is None) or view is None:
        return one
    first = path.steps[0] if path is not None and path.steps else None
    sized = view.is_sized(first.name if isinstance(first, Attr) else None)
    return bound._replace(place=here) if sized else one


def _is_itself(sub: Substitution, called: ast.Attribute) -> bool:
    """Whether what is called is the object itself, and not a method of it: `self.net(x)`."""
    ref = sub.bound.who if sub.bound is not None else None
    return type(ref) is int and sub.machine.objects.ways[ref] == Attr(called.attr)


def _is_given(need: Need, left: bool) -> bool:
    """Whether the caller gives the other side of a meeting, which is then no part of the callee's object."""
    of = need.right.of if left else need.left.of
    return isinstance(of, Path) and of.root.kind == "parameter"


def _counts(machine: Machine, *sides: tuple[ast.expr | None, Place]) -> bool:
    """Whether what a tensor is indexed with may be a number here, or an entry of a tensor."""
    return any(
        at is not None and (place.form not in ON_DEVICE or machine.is_entry(at)) for at, place in sides
    )


def _party(
    sub: Substitution, place: Place, here: Place, path: Path | None, origin: Origin | None, runs: bool
) -> Value:
    """What takes part in a callee's meeting: the very argument, if it is the tensor that is given.

    `runs` says whether a module is run on it.
    """
    of = place.of
    if isinstance(of, Path) and of.root.kind == "parameter" and of == path:
        given = sub.given.get(of.root.name)
        if (
            given is not None
            and (given.value.kind in TENSORS or is_made(given.value))
            and (not of.steps or is_slice(of, given.value))
        ):
            dims = given.value.origin.dims - len(of.steps) if given.value.origin is not None else 1
            # A 0-dim tensor of the cpu meets what is elsewhere, but no weights; one on a device does not.
            sized = dims or runs or here.form in ON_DEVICE
            return given.value if sized else given.value._replace(kind=Kind.SCALAR)
    if origin is not None and place.form is Form.CPU and place.of is None:
        return Value(Kind.TENSOR, here, sub.ref(path), origin=origin)
    if isinstance(of, Path) and place.form is Form.AT and sub.answer(of) is not None:
        answer = sub.at(of)
        if answer is not None and answer.kind in TENSORS:
            itself = of == path or answer.origin is None
            return (
                answer if itself else answer._replace(origin=derived(answer.origin or Origin("made", "", -1)))
            )
    found = sub.at(path) if path is not None and path == of else None
    if found is not None and found.kind is Kind.MODULE and _takes_as_it_comes(sub.machine, found):
        return found._replace(place=here)
    if found is not None and found.kind is Kind.TENSOR and found.origin is not None and here == CPU:
        return found._replace(place=here)
    if found is not None and is_made(found):
        return found  # or what a caller gave, of which nobody knows what it is
    return Value(Kind.BATCH if found is None else found.kind, here, sub.ref(path))


def _scatters(module: Value) -> bool:
    """Whether a module brings what it is given to where its replicas are."""
    api = module.known.dotted if module.kind is Kind.MODULE and isinstance(module.known, Api) else ""
    return "scatters" in knowledge.topics(api)


def _answers_itself(machine: Machine, module: Value) -> bool:
    """Whether it is known what a module's class does with what it is given: it was asked."""
    view = machine.program.view(module.known.dotted) if isinstance(module.known, Defined) else None
    found = view.method("forward") if view is not None and module.kind is Kind.MODULE else None
    return found is not None and machine.program.summary(found) is not None


def _takes_as_it_comes(machine: Machine, module: Value) -> bool:
    """Whether a module is of a class that is known, and moves nothing when it runs."""
    if isinstance(module.known, OneOf):
        each_of = (module._replace(known=each) for each in module.known.classes)
        return all(_takes_as_it_comes(machine, each) for each in each_of)
    if not isinstance(module.known, Defined):
        return module.known is not None
    view = machine.program.view(module.known.dotted)
    found = view.method("forward") if view is not None else None
    summary = machine.program.summary(found) if found is not None else None
    return summary is not None and knowledge.MOVES_SOMETHING not in summary.reaches


def _computed(sub: Substitution, place: Place, here: Place, one: Value) -> Value:
    """What a callee has of a tensor that an argument keeps, or computed from it, and what made that.

    That it is met by a tensor has to be sure: an attribute of unknown kind may be a number.
    """
    if is_made(one) or one.kind is Kind.SCALAR or place.form is not Form.AT:
        return one
    whole = sub.at(place.of) if isinstance(place.of, Path) else None
    if whole is None or whole.kind is not Kind.TENSOR or whole.origin is None:
        return one
    if not (is_made(whole) or here == CPU):
        return one
    kind = Kind.TENSOR if whole.origin is not None and whole.origin.dims else Kind.SCALAR
    return Value(kind, here, one.who, origin=whole.origin)


def _held(sub: Substitution, place: Place) -> Value | None:
    """What was made on the cpu for a pair, or list, that is given: the states of a recurrent network."""
    of = place.of
    value = sub.within(of) if place.form is Form.AT else None
    if value is not None and value.kind is Kind.CONTAINER:
        value = element_of(value)
    elif not isinstance(of, Path) or not of.steps:
        return None  # the very argument
    made = value is not None and value.kind in TENSORS and is_made(value) and value.place.form is Form.CPU
    return value if made else None
