"""Moves: what device a call names, and what ends up there."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ... import knowledge
from ...bind.names import last_name
from ...core.events import Named
from ...core.evidence import Evidence
from ...core.kinds import TENSORS, Kind
from ...core.paths import Attr, Ref, Root
from ...core.places import CPU, ON_DEVICE, UNKNOWN_PLACE, Form, Place, literal
from ...core.values import (
    MADE,
    OF_LEAF,
    STRING,
    TYPED,
    Defined,
    Origin,
    Value,
    constant,
    derived,
    dotted,
    is_made,
)
from .. import unmoved, weightless
from ..log import RawMove
from ..machine import COPIES, ELEMENTS, GRADIENTS, Machine, Site, class_name, text_of

_EMPTY = "factories.factory"
_TO = frozenset({"to", "cpu"})
_ASKS = frozenset({"requires_grad_"})


class Target(NamedTuple):
    """Where a call moves to."""

    place: Place | None
    """None where it moves nothing."""
    casts: bool
    """Whether it changes the dtype alone."""
    named: Named
    """What the device is given as: a `device`, an `index`, a `literal`; empty where nothing is given, `other`
    where it is nothing that a move of torch takes."""


def target(machine: Machine, name: str, site: Site) -> Target:
    """Where a `.to`, `.cuda` or `.cpu` call moves to, if anywhere."""
    args = site.args
    if name == "cpu":
        return Target(CPU, False, "")
    if name != "to":
        given = args.get("device") or args.first()
        if given is None or given.kind is Kind.NONE:
            return Target(literal(name), False, "other" if _misses(site) else "")
        place = machine.denoted(given, literal(name))
        known = place if place.form is not Form.UNKNOWN else literal(name)
        odd = given.kind is Kind.STRING and place.form is Form.UNKNOWN
        named: Named = "device" if given.kind is Kind.DEVICE else "index"
        return Target(known, False, "other" if odd or _misses(site) else named)
    given = args.keywords["device"][1] if "device" in args.keywords else None
    if given is None and "other" in args.keywords:
        given = args.keywords["other"][1]
    if given is None and args.positional:
        at, given = args.positional[0]
        said = knowledge.hints("option", last_name(at))
        if given.kind is Kind.DTYPE or "dtype" in said:
            return Target(None, not _has_dtype(machine, site.receiver, given), "")
        if given.kind is Kind.LIBRARY and "device" not in said:
            return Target(UNKNOWN_PLACE, False, "literal")  # a dtype, perhaps
    if given is None:
        if args.unpacked or args.starred:
            return Target(UNKNOWN_PLACE, False, "")
        return Target(None, "dtype" in args.keywords, "")
    if given.kind is Kind.NONE or (text_of(given) and given.place.form is Form.UNKNOWN):
        return Target(None, False, "")  # such as `length.to("kilometre")`
    by_name = given.kind in (Kind.DEVICE, Kind.UNKNOWN, Kind.LIBRARY)
    numbered = given.kind is Kind.NUMBER and given.place.form is not Form.UNKNOWN  # by `x.get_device()`
    is_index = numbered or type(constant(given)) is int
    how: Named = "index" if is_index else "device" if by_name else "literal"
    return Target(machine.denoted(given, UNKNOWN_PLACE), False, how)


def _has_dtype(machine: Machine, base: Value | None, dtype: Value) -> bool:
    """Whether a tensor was made with that very dtype, as another tensor's: nothing is left to cast."""
    ref = machine.ref(base) if base is not None and base.kind in TENSORS else None
    told = machine.state.env.get((ref, ELEMENTS)) if ref is not None else None
    return told is not None and dtype.measures is not None and told.measures == dtype.measures


def _misses(site: Site) -> bool:
    """Whether the call has keywords that no move of torch's takes."""
    return not site.args.keywords.keys() <= {name.strip() for name in site.row.signature.split(",")}


def _note(machine: Machine, base: Value | None) -> None:
    """Tell callers that something is moved, and whether that is what was made here."""
    machine.log.reaches.add(knowledge.MOVES_SOMETHING)
    if base is None or not (is_made(base) or _is_kept(machine, base)):
        machine.log.reaches.add(knowledge.MOVES_MORE)


def _is_kept(machine: Machine, value: Value) -> bool:
    """Whether it is a tensor, and no parameter, that the object of a method keeps."""
    ref = machine.ref(value)
    if value.kind is not Kind.TENSOR or ref is None or isinstance(machine.objects.ways[ref], Root):
        return False
    way = machine.objects.ways[machine.objects.top(ref)]
    return isinstance(way, Root) and way.kind == "self"


def _record(machine: Machine, site: Site, base: Value, found: Target, in_place: bool) -> None:
    """Record a move or cast."""
    if found.place is not None:
        _note(machine, base)
    fate, alone = machine.fates.get(site.node, ("kept", False))
    place = found.place
    here = machine.where(base)
    if place is not None and _is_beside(machine, base, place):
        here = place
    vain = place is not None and (here is place or _is_there(base, place))
    if place is not None and site.receiver_at is not None:
        vain |= _wakes_the_device(machine, base, site.receiver_at)
    iterates = None
    if fate in ("discarded", "rebound") and site.receiver_at is not None:
        iterates = machine.iterated(site.receiver_at, site.node)
        if isinstance(site.receiver_at, (ast.Attribute, ast.Subscript)):
            machine.log.owners[site.node] = machine.eval(site.receiver_at.value)
    machine.log.moves[site.node] = RawMove(
        site.name,
        base,
        here,
        place,
        found.named,
        found.casts,
        in_place,
        fate,
        alone,
        iterates,
        machine.state.why,
        machine.loops,
        _likens(site),
        _is_leaf(machine, site, base),
        vain,
    )
    if place is not None and found.named != "other":
        # `.cuda(index)` needs CUDA, whichever of the devices is meant.
        machine.need(place if site.name in _TO else literal(site.name))


def _is_beside(machine: Machine, base: Value, place: Place) -> bool:
    """Whether what is moved was computed with the tensor where it is to go: it is there."""
    beside, ref = place.of, machine.ref(base)
    if type(beside) is not int or ref is None or place.form not in (Form.AT, Form.SAME):
        return False
    if machine.objects.ways[beside] == Attr("device"):
        beside = machine.objects.parents[beside]
    todo, done = [ref], {beside}
    while todo:
        of = [each for each, _ in machine.log.derived.get(todo.pop(), ())]
        if beside in of:
            return True
        todo.extend(each for each in of if each not in done)
        done.update(of)
    return False


def _is_leaf(machine: Machine, site: Site, base: Value) -> bool:
    """Whether gradients accumulate in what is moved, and it was made by this very function."""
    if base.kind not in TENSORS:
        return _asked_for_gradients(site)
    ref = machine.ref(base)
    if ref is None or not machine.objects.is_made_in(ref, machine.here.name):
        return _asked_for_gradients(site)
    if base.kind is Kind.PARAMETER:
        return True
    if base.origin is None or base.origin.how not in MADE:
        return _asked_for_gradients(site)
    asked = machine.state.env.get((ref, GRADIENTS))
    if asked is not None:
        return constant(asked) is True
    return not base.origin.api and _asked_for_gradients(site)


def _asked_for_gradients(site: Site) -> bool:
    """`x.requires_grad_().to(device)`: whatever `x` is, what is moved was meant to be a leaf."""
    at = site.receiver_at
    if not isinstance(at, ast.Call) or last_name(at) not in _ASKS or at.keywords:
        return False
    return all(isinstance(given, ast.Constant) and given.value is True for given in at.args)


def _wakes_the_device(machine: Machine, base: Value, receiver: ast.expr) -> bool:
    """`torch.empty(0).cuda()` is made for its effect alone; what has data is not."""
    origin = base.origin
    if origin is None or origin.how != "factory" or origin.function != machine.here.name:
        return False
    row = knowledge.find(origin.api)
    empty = row is not None and row.by == _EMPTY
    return empty and machine.here.nodes[origin.at] is receiver


def _likens(site: Site) -> bool:
    """Whether a tensor says where to: `x.to(y)` takes its dtype as well."""
    first = site.args.first()
    return "other" in site.args.keywords or (first is not None and first.kind in TENSORS)


def _is_there(base: Value, place: Place) -> bool:
    """Whether a move has nothing to do; a variable that holds the cpu is meant to change."""
    if place.form is Form.CPU and place.of is None:
        return base.place.form is Form.CPU
    return place == base.place and place.form is not Form.UNKNOWN


def _kept(machine: Machine, site: Site) -> bool:
    """Whether somebody keeps what the call gives."""
    return machine.fates.get(site.node, ("kept", False))[0] == "kept"


def _discarded(machine: Machine, site: Site) -> bool:
    return machine.is_discarded(site.node)


def _note_switch(machine: Machine, base: Value, place: Place) -> None:
    """Moving what is on the cpu anyway to a variable that holds the cpu: the variable is meant to change."""
    of = machine.of(place)
    if place.form is not Form.CPU or of is None or machine.objects.wholes[of] >= 0:
        return
    here = machine.where(base)
    if here.form is Form.CPU and here.of != of:
        machine.log.note(of, Evidence.SWITCH)


def _moved(machine: Machine, site: Site, kind: Kind, place: Place, base: Value) -> Value:
    at = machine.here.number(site.node)
    given = site.args.get(knowledge.UNDER_WAY)
    api = ""
    if place.form is Form.CPU and base.place.form is not place.form:
        if given is not None and constant(given) is True:
            machine.state.copies |= {(machine.here.name, at)}
            api = knowledge.UNDER_WAY
        else:
            machine.state.copies = frozenset()  # it waits for those before it
    elif base.kind is Kind.PARAMETER and base.place.form is Form.CPU and place.form in ON_DEVICE:
        raw = machine.log.moves.get(site.node)
        api = OF_LEAF if raw is not None and raw.leaf else ""
    return Value(kind, place, base.who, base.known, origin=Origin("moved", machine.here.name, at, api))


def is_under_way(machine: Machine, value: Value) -> bool:
    """Whether a value is a copy to the cpu that nothing has waited for."""
    origin = value.origin
    if origin is None or origin.api != knowledge.UNDER_WAY:
        return False
    return (origin.function, origin.at) in machine.state.copies


def tensor(machine: Machine, site: Site) -> Value:
    """A tensor's move returns a copy."""
    base = site.receiver or Value()
    found = target(machine, site.name, site)
    if found.place is not None:
        _note_switch(machine, base, found.place)
    if found.place is not None or found.casts:
        _record(machine, site, base, found, in_place=False)
    if _discarded(machine, site):
        return machine.keep(site.node, base, found.place) or base
    kind = Kind.TENSOR if base.kind is Kind.PARAMETER else base.kind
    if found.place is None:
        return _cast(machine, site, base, kind)
    if _kept(machine, site):
        machine.keep_copy(base, found.place, site.node)
    return _moved(machine, site, kind, found.place, base)


def _cast(machine: Machine, site: Site, base: Value, kind: Kind) -> Value:
    """The same tensor in another dtype: where it came from is still known."""
    found = Value(kind, machine.where(base), base.who, origin=_copied(machine, site))
    if found.origin is not None or base.origin is None or not is_made(base):
        return found
    return found._replace(origin=derived(base.origin), measures=base.measures)


def cast(machine: Machine, site: Site) -> Value:
    """A tensor's cast returns a copy in another dtype."""
    base = site.receiver or Value()
    _record(machine, site, base, Target(None, True, ""), in_place=False)
    if base.kind not in TENSORS:
        return Value(Kind.TENSOR, base.place, base.who) if base.kind is Kind.BATCH else base
    kind = Kind.SCALAR if base.kind is Kind.SCALAR else Kind.TENSOR
    return _cast(machine, site, base, kind)


def _copied(machine: Machine, site: Site) -> Origin | None:
    """How a cast copy of a leaf came to be; of what is no leaf, that is of no interest."""
    raw = machine.log.moves.get(site.node)
    if raw is None or not (raw.leaf or (raw.receiver.origin and raw.receiver.origin.how in COPIES)):
        return None
    return Origin("copied", machine.here.name, machine.here.number(site.node))


def cast_in_place(machine: Machine, site: Site) -> Value:
    """A module's cast changes its own parameters."""
    base = site.receiver or Value()
    _record(machine, site, base, Target(None, True, ""), in_place=True)
    return base


def retype(machine: Machine, site: Site) -> Value:
    """`x.type(torch.cuda.FloatTensor)` moves as well as casts; `x.type(torch.float32)` only casts."""
    base = site.receiver or Value()
    given = site.args.get("dtype") or site.args.first()
    if given is None:
        named = Origin(TYPED, machine.here.name, machine.here.number(site.node), site.api)
        return STRING if machine.where(base).form is Form.CPU else STRING._replace(origin=named)
    if given.origin is not None and given.origin.how == TYPED and _kept(machine, site):
        machine.note(base, Evidence.TENSOR)  # a module is, too, and then nobody keeps what it gives
    _record(machine, site, base, Target(None, True, ""), in_place=False)
    kind = base.kind if base.kind is Kind.SCALAR else Kind.TENSOR
    if given.kind is not Kind.DTYPE:
        _note(machine, base)
    if given.kind in TENSORS:
        machine.log.follows_devices = True
        return Value(kind, machine.where(given))  # `type_as`
    if given.kind is Kind.DTYPE:
        return _cast(machine, site, base, kind)
    name = dotted(given) or text_of(given)
    if name.startswith(knowledge.CUDA_MODULE):
        machine.note(base, Evidence.TENSOR)  # nothing else is turned into such a type
    place = literal("cuda") if name.startswith(knowledge.CUDA_MODULE) else UNKNOWN_PLACE
    if place is UNKNOWN_PLACE and knowledge.kind_of_class(name) is Kind.TENSOR:
        place = CPU
    if place.form is Form.CPU and base.place.form is Form.CPU and base.place.of is None:
        return _cast(machine, site, base, kind)
    machine.keep_copy(base, literal("cuda") if place is UNKNOWN_PLACE else place, site.node)
    return _moved(machine, site, kind, place, base)


def unknown(machine: Machine, site: Site) -> Value:
    """A move of something unknown: a tensor's copy, or a module's in place; what it is shows later."""
    base = site.receiver or Value()
    found = target(machine, site.name, site)
    if found.place is not None or found.casts:
        _record(machine, site, base, found, in_place=False)
    discarded = _discarded(machine, site)
    if found.place is None:
        return base
    if not discarded and _kept(machine, site):
        machine.keep_copy(base, found.place, site.node)
    _note_switch(machine, base, found.place)
    kept = machine.keep(site.node, base, found.place) if discarded else None
    if kept is not None:
        return kept
    if base.kind is Kind.UNKNOWN:
        machine.relocate(site.node, base, found.place, site.name)
        if discarded and type(base.who) is int:
            machine.unset_attributes(base.who)  # what has attributes is no tensor, and may move in place
    return base if discarded else _moved(machine, site, base.kind, found.place, base)


def module(machine: Machine, site: Site) -> Value:
    """A module moves in place and returns itself."""
    base = site.receiver or Value()
    if site.name == knowledge.CUDA and _is_weightless(machine, base):
        return base  # it has nothing to bring there, and runs without a GPU
    found = target(machine, "to" if site.name == "to_empty" else site.name, site)
    _record(machine, site, base, found, in_place=True)
    if found.place is not None:
        _note_switch(machine, base, found.place)
        machine.relocate(site.node, base, found.place, site.name, has_parameters(base))
        unmoved.moved(machine, base)
    return base


def _is_weightless(machine: Machine, module: Value) -> bool:
    """Whether a module has nothing to move: an activation, or a loss made without weights."""
    if isinstance(module.known, Defined):
        view = machine.program.view(module.known.dotted)
        return view is not None and view.is_weightless()
    name = class_name(module)
    if not weightless.is_of_torch(name):
        return False
    if "loss" not in knowledge.topics(name):
        return True
    made = machine.making(module)
    return made is not None and not weightless.gives_weights(made)


def inherited(machine: Machine, site: Site) -> Value:
    """A class's own move calls that of `nn.Module`: that it is written there is no news to anybody."""
    base = site.receiver or Value()
    _note(machine, base)
    found = target(machine, site.name, site)
    if found.place is not None:
        machine.relocate(site.node, base, found.place, site.name)
    return base


def has_parameters(module: Value) -> bool:
    """Whether a module may hold parameters: a loss of torch's own does not."""
    return "loss" not in knowledge.topics(class_name(module))


def object_in_place(machine: Machine, site: Site) -> Value:
    """An object that is no module and moves itself, or whose class says what its move does."""
    base = site.receiver or Value()
    found = target(machine, site.name, site)
    if base.kind is Kind.INSTANCE:
        found = found._replace(named="other")  # what its own method takes is its own affair
    _record(machine, site, base, found, in_place=True)
    return base


def in_place(machine: Machine, site: Site) -> Place | None:
    """Record the move of what moves all that it holds; where it goes, if it goes anywhere."""
    base = site.receiver or Value()
    found = target(machine, site.name, site)
    _record(machine, site, base, found, in_place=True)
    return found.place


def moved(machine: Machine, site: Site, tensor: Value, place: Place) -> Value:
    """One of the tensors that move so."""
    return _moved(machine, site, tensor.kind, place, tensor)


def object_copied(machine: Machine, site: Site, parts: tuple[Ref, ...]) -> None:
    """An object whose class gives a moved copy of it, and leaves it where it is: nobody has the copy."""
    base = site.receiver or Value()
    found = target(machine, site.name, site)
    if found.place is not None and _discarded(machine, site):
        _record(machine, site, base, found._replace(named="other"), in_place=False)
        machine.log.moves[site.node] = machine.log.moves[site.node]._replace(parts=parts)
