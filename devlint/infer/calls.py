"""What a call does: which callee it is, and what knowledge or the callee's summary says of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from .. import knowledge
from ..bind.names import last_name
from ..core.events import Fate
from ..core.evidence import Evidence
from ..core.kinds import MAY_HOLD_TENSORS, TENSORS, Kind
from ..core.paths import OF_OPERATION, Attr, Item, Path, Ref, Root
from ..core.places import CPU, ON_DEVICE, UNKNOWN_PLACE, Form, Place, literal
from ..core.summary import Moved
from ..core.values import (
    CLONED,
    ENCODING,
    GRAPH,
    NONE,
    NUMBER,
    PREPARERS,
    UNKNOWN,
    Api,
    Apis,
    Defined,
    Inherited,
    OneOf,
    Origin,
    Partial,
    Record,
    Truth,
    Value,
    derived,
    dotted,
    element_of,
    is_any_model,
    is_made,
    is_one_of,
    library_value,
)
from ..knowledge.row import Row
from . import conditions
from .apply import apply as apply_summary
from .apply import function_call, inherit_devices, made_plainly
from .asks import record_ask
from .holdings import hand, moves_what_it_is_given
from .lent import lend, unsettle
from .log import NOBODY, NOWHERE, RawCall, RawMeeting
from .machine import Arguments, ClassView, Machine, Site, class_name, flag, text_of
from .transfers import (
    builtins,
    containers,
    devices,
    distributions,
    encodings,
    factories,
    graphs,
    loaders,
    losses,
    modules,
    moves,
    operations,
    optimizers,
    preparing,
    ranks,
    transforms,
)

Transfer = Callable[[Machine, Site], Value]

TRANSFERS: dict[str, Transfer] = {
    "devices.device": devices.device,
    "devices.accelerator": devices.accelerator,
    "devices.set_default": devices.set_default,
    "devices.autocast": devices.autocast,
    "factories.factory": factories.factory,
    "factories.from_data": factories.from_data,
    "factories.sparse": factories.sparse,
    "factories.array": factories.array,
    "tensors.requires_grad": factories.requires_grad,
    "operations.sequence": operations.sequence,
    "losses.loss": losses.loss,
    "modules.make": modules.make,
    "modules.loaded": modules.loaded,
    "modules.traced": modules.traced,
    "modules.functional": modules.functional,
    "modules.pretrained": modules.pretrained,
    "modules.with_transforms": modules.with_transforms,
    "modules.wrap": modules.wrap,
    "modules.scatter": modules.scatter,
    "modules.shard": modules.shard,
    "modules.parameter": modules.parameter,
    "modules.parameters": modules.parameters,
    "modules.parts": modules.parts,
    "modules.register": modules.register,
    "modules.state": modules.state,
    "modules.before": modules.before,
    "modules.take": modules.take,
    "modules.move": moves.module,
    "modules.forward": modules.forward,
    "optimizers.make": optimizers.make,
    "optimizers.step": optimizers.step,
    "optimizers.load": optimizers.load,
    "distributions.make": distributions.make,
    "distributions.apart": distributions.apart,
    "loaders.loader": loaders.loader,
    "graphs.loader": graphs.loader,
    "graphs.dataset": graphs.dataset,
    "graphs.of_edges": graphs.of_edges,
    "graphs.collection": graphs.collection,
    "graphs.transform": graphs.transform,
    "loaders.subset": loaders.subset,
    "loaders.split": loaders.split,
    "loaders.tensors": loaders.tensors,
    "sequences.pack": operations.pack,
    "sequences.pad_packed": operations.pad_packed,
    "objects.copy": builtins.copy,
    "objects.getattr": builtins.getattr_,
    "objects.setattr": builtins.setattr_,
    "objects.super": builtins.super_,
    "containers.make": containers.make,
    "containers.range": containers.range_,
    "containers.enumerate": containers.enumerate_,
    "containers.zip": containers.zip_,
    "containers.next": containers.next_,
    "containers.filter": containers.filter_,
    "containers.map": containers.map_,
    "containers.chain": containers.chain,
    "containers.add": containers.add,
    "containers.views": containers.views,
    "containers.get": containers.get,
    "numbers.extreme": builtins.extreme,
    "numbers.truth": builtins.truth_of_argument,
    "numbers.any": builtins.any_,
    "numbers.measure": builtins.measure,
    "strings.str": builtins.str_,
    "strings.startswith": builtins.startswith,
    "strings.format": builtins.format_,
    "tensors.move": moves.tensor,
    "tensors.cast": moves.cast,
    "tensors.retype": moves.retype,
    "tensors.backward": operations.backward,
    "tensors.is_pinned": operations.is_pinned,
    "tensors.index": operations.index,
    "testing.skip": builtins.skip,
    "testing.exits": builtins.exits,
    "objects.record": builtins.record,
    "objects.namedtuple": builtins.namedtuple,
    "objects.field": containers.field,
    "objects.replaced": builtins.replaced,
    "objects.type": builtins.type_,
    "python.exec": builtins.execute,
    "objects.isinstance": builtins.measure,
    "objects.is_tensor": builtins.measure,
    "objects.partial": builtins.partial,
    "tensors.variable": operations.variable,
    "optimizers.add": optimizers.add,
    "distributed.init": builtins.init_process_group,
    "accelerate.make": preparing.accelerator,
    "accelerate.prepare": preparing.prepare,
    "fabric.make": preparing.fabric,
    "fabric.context": preparing.context,
    "transforms.make": transforms.make,
    "transforms.compose": transforms.compose,
    "imports.load": builtins.load_module,
}
"""The transfer functions, by the names that rows use."""

_UNKNOWN: dict[str, Transfer] = {
    "parameters": modules.parameters,
    "named_parameters": modules.parameters,
    "children": modules.parts,
    "named_children": modules.parts,
    "register_buffer": modules.register,
    "register_forward_pre_hook": modules.before,
    "backward": operations.backward,
    "items": containers.views,
    "values": containers.views,
    "keys": containers.views,
    "update": containers.placed,
    "__setitem__": containers.placed,
    "setdefault": containers.set_default,
    "log_prob": distributions.measure,
    "sample": distributions.draw,
    "rsample": distributions.draw,
    "type": moves.retype,
    "is_pinned": operations.is_pinned,
}
"""Methods of objects of which nothing is known yet, that mean the same whatever they turn out to be."""
_HOSTS = frozenset({"number", "array", "other"})
"""What is no tensor: what was given may have been compared, or read on the host."""
_OPERATION = Row("tensor", "operands")
_KINDS = {kind.value: kind for kind in Kind}


def call(machine: Machine, node: ast.Call) -> Value:
    """The value of a call; applies its effects to the state."""
    func = node.func
    if isinstance(func, ast.Attribute):
        base = machine.eval(func.value)
        args = Arguments(machine, node)
        full = ""
        if base.kind is Kind.LIBRARY:
            full = f"{dotted(base)}.{func.attr}"
            machine.log.uses.pop(func.value, None)
        _devices_given(machine, node, args, full, base)
        if func.attr == knowledge.MERGES:
            machine.store_opened(func.value)
            if type(base.who) is int:
                held = (each for _, value in args.all() for each in _held(machine, value))
                machine.log.merged(base.who, held)
        filled = func.attr in knowledge.FILLS_STATE and _is_state(machine, base)
        if filled or (func.attr in knowledge.RESTORES and not _is_scheduler(base, func.value)):
            _restored(machine, args)
        library_name = library_value(full) if full else UNKNOWN
        encoding = encodings.encoded(machine, node, library_name if full else base, args)
        if encoding is not None:
            return encoding
        hand(machine, library_name, None if full else base, func.attr, args)
        return method(machine, node, base, func.attr, args)
    callee = machine.eval(func)
    args = Arguments(machine, node)
    _devices_given(machine, node, args, dotted(callee) if callee.kind is Kind.LIBRARY else "", callee)
    encoding = encodings.encoded(machine, node, callee, args)
    if encoding is not None:
        return encoding
    hand(machine, callee, None, "", args)
    if isinstance(func, ast.Name) and func.id == "reveal_device" and args.positional:
        value = args.positional[0][1]
        machine.log.reveals[node.lineno] = (value, machine.where(value))
        return value
    return apply(machine, node, callee, args)


def _devices_given(machine: Machine, node: ast.Call, args: Arguments, full: str, callee: Value) -> None:
    """Literals given as `device=` and the like, and what launchers are told, whatever is called."""
    name = last_name(node)
    if not args.keywords:
        if knowledge.records(name):
            _only_kept(machine, args)
        return
    backend, trains_on = args.keywords.get("backend"), args.keywords.get("accelerator")
    if backend is not None:
        builtins.through(machine, backend[1])
    if trains_on is not None and text_of(trains_on[1]) in knowledge.GPU_NAMES:
        machine.require()
    if knowledge.records(name):
        _only_kept(machine, args)
        return
    if knowledge.configures(name) or full.startswith(knowledge.CUDA_MODULE):
        return
    chooses: frozenset[str] | None = None
    for keyword in knowledge.DEVICE_KEYWORDS.intersection(args.keywords):
        value = args.keywords[keyword][1]
        if value.kind in (Kind.STRING, Kind.UNKNOWN):
            if chooses is None:
                chooses = _chooses(machine, node, callee)
            machine.name_device(value, chosen=keyword in chooses)
            if value.kind is Kind.STRING and keyword not in chooses:
                machine.use_literal(value, "argument")


def _chooses(machine: Machine, node: ast.Call, callee: Value) -> frozenset[str]:
    """The parameters for which the project's function that is called chooses the device itself."""
    known, name = callee.known, "__init__"
    if isinstance(node.func, ast.Attribute):
        if callee.kind is Kind.LIBRARY:
            callee = machine.attribute(callee, node.func.attr, node.func)
            known = callee.known
        else:
            name = node.func.attr
    if not isinstance(known, Defined):
        return frozenset()
    found: str | None = known.dotted
    if callee.kind is not Kind.FUNCTION:
        view = machine.program.view(known.dotted)
        found = view.method(name) if view is not None else None
    summary = machine.program.summary(found) if found is not None else None
    return summary.chooses if summary is not None else frozenset()


def _of_first(machine: Machine, site: Site) -> Value:
    """`checkpoint(f, *args)`: what the first argument gives when it is called with the others."""
    if not site.args.positional or site.args.starred:
        return machine.unknown(site.node)
    own = {each.strip("* ") for each in site.row.signature.split(",")}
    return apply(machine, site.node, site.args.positional[0][1], site.args.rest(own))


TRANSFERS["functions.first"] = _of_first


def _restored(machine: Machine, args: Arguments) -> None:
    """What is given is, or holds, the state of something."""
    for _, value in args.all():
        for part in _held(machine, value):
            if part.kind not in TENSORS:
                machine.note(part, Evidence.RESTORED)


def _is_state(machine: Machine, base: Value) -> bool:
    """Whether something is a module's state, or a weight of it: what is put there is a state, too."""
    element = base.element if base.kind is Kind.CONTAINER else base
    return element is not None and machine.is_weight(element)


def _is_scheduler(base: Value, node: ast.expr) -> bool:
    """Whether the state of something holds no tensors, as its name tells: a scheduler's, a scaler's."""
    return base.kind is not Kind.MODULE and knowledge.is_scheduler(last_name(node))


def _held(machine: Machine, value: Value) -> Iterator[Value]:
    """A value, and what a container holds."""
    yield value
    yield from value.items or ()
    if value.element is not None:
        yield value.element
    if type(value.who) is int:
        env = machine.state.env
        yield from [item for key, item in env.items() if not isinstance(key, str) and key[0] == value.who]


def _only_kept(machine: Machine, args: Arguments) -> None:
    """Something keeps what it is given: a device among it places nothing."""
    devices_of = [at for at, value in args.all() if value.kind in (Kind.DEVICE, Kind.STRING)]
    machine.harmless(devices_of, "recorded")


def apply(machine: Machine, node: ast.Call, callee: Value, args: Arguments) -> Value:
    """Call a value."""
    kind, known = callee.kind, callee.known
    if isinstance(known, Partial):
        bound = args.after(node.func, callee.items or (), known.names)
        return apply(machine, node, Value(known.kind, known=known.of), bound)
    if kind is Kind.LIBRARY and isinstance(known, Api):
        return library(machine, node, known.dotted, args)
    if kind is Kind.LIBRARY and isinstance(known, Apis):
        rows = {name: knowledge.find(name) for name in known.names}
        alike = {row.by if row is not None else "" for row in rows.values()}
        if len(alike) == 1 and "" not in alike:
            # What they leave behind counts, whichever it is.
            stateful = [name for name, row in rows.items() if row is not None and "stateful" in row.topics]
            value = library(machine, node, (stateful or list(rows))[0], args)
            if len(stateful) < len(rows):
                optimizers.doubt(machine, value)
            return value
        return machine.unknown(node)
    if kind is Kind.FUNCTION and isinstance(known, Defined):
        if isinstance(node.func, ast.Name) and node.func.id in machine.here.positional:
            machine.state.copies = frozenset()  # another caller may give one that waits for them
        result = function_call(machine, node, known.dotted, None, args)
        return result if result is not None else machine.unknown(node)
    if kind is Kind.CLASS and isinstance(known, Defined):
        return instantiate(machine, node, known.dotted, args)
    if kind is Kind.CLASS and isinstance(known, OneOf):
        return _one_of_several(machine, node, known, args)
    if kind is Kind.CLASS and isinstance(known, Record):
        return containers.record(machine, node, known, args)
    if kind is Kind.MODULE:
        return call_module(machine, node, callee, args)
    if kind is Kind.INSTANCE and isinstance(known, Defined):
        return _call_instance(machine, node, callee, known.dotted, args)
    if kind is Kind.UNKNOWN and isinstance(known, Api):  # a parameter that a call may leave out
        return machine.join(library(machine, node, known.dotted, args), machine.unknown(node, "given"))
    if kind is Kind.UNKNOWN and callee.who is not None:
        return _call_unknown(machine, node, callee, args)
    if kind is Kind.OTHER and isinstance(known, Api):
        return transforms.call(machine, _site(node, known.dotted, None, args))
    return machine.unknown(node)


def _call_instance(machine: Machine, node: ast.Call, callee: Value, cls: str, args: Arguments) -> Value:
    view = machine.program.view(cls)
    if view is None:
        return machine.unknown(node)
    found = view.method("__call__") or (view.method("forward") if view.is_module else None)
    if found is not None:
        result = function_call(machine, node, found, callee, args)
        return result if result is not None else machine.unknown(node)
    return call_module(machine, node, callee, args) if view.is_module else machine.unknown(node)


def _brought(machine: Machine, value: Value) -> Place | None:
    """Where a value was brought, or what a call was given that gave it, of which nobody knows more."""
    if value.place.form in ON_DEVICE:
        return value.place
    ref = value.place.of if value.place.form is Form.AT else value.who
    top = machine.objects.top(ref) if type(ref) is int else NOBODY
    way = machine.objects.ways[top] if top >= 0 else None
    here = machine.here
    if not isinstance(way, Root) or way.kind != "made" or machine.objects.functions[top] != here.name:
        return None
    return machine.log.answers.get(here.nodes[way.at]) if way.at < len(here.nodes) else None


def _call_unknown(machine: Machine, node: ast.Call, callee: Value, args: Arguments) -> Value:
    result = _run_unknown(machine, node, callee, args)
    record_ask(machine, callee, "", args, result)
    return result


def _run_unknown(machine: Machine, node: ast.Call, callee: Value, args: Arguments) -> Value:
    ref = machine.ref(callee)
    assert ref is not None
    machine.note(callee, Evidence.OTHER)
    objects = machine.objects
    of_self = isinstance(objects.ways[ref], Attr) and objects.labels[objects.parents[ref]] == "self"
    called = modules.takes_inputs_by_name(args)
    given = [value for _, value in args.all()]
    of_self = of_self and not (given and all(map(_is_size, given)))  # noise of a shape, a rate at a step
    if called or of_self or ref in machine.state.places or machine.seen(callee) & Evidence.MODULE:
        _note_items(machine, args)
        return modules.unknown_module(machine, node, callee, _site(node, "Module.forward", callee, args))
    return _unknown_call(machine, node, args, ref)


def _is_size(value: Value) -> bool:
    """Whether a value is a number, or several: no module runs on these alone."""
    items = value.items or ()
    return value.kind is Kind.NUMBER or (bool(items) and all(map(_is_size, items)))


def _unknown_call(machine: Machine, node: ast.Call, args: Arguments, callee: Ref = NOBODY) -> Value:
    machine.log.guesses[node] = callee
    answered = next(filter(None, (_brought(machine, value) for _, value in args.all())), None)
    if answered is not None:
        machine.log.answers[node] = answered
    lend(machine, (value for _, value in args.all()))
    if machine.is_discarded(node):
        unsettle(machine, (value for _, value in args.all()))
    _reach_given(machine, args)
    machine.state.copies = frozenset()  # it may wait for them
    machine.spill(value for _, value in (*args.all(), *args.unpacked))
    placed = any(
        value.kind is Kind.LOADER and machine.seen(value) & Evidence.PLACED for _, value in args.all()
    )
    if "imports" in knowledge.hints("callable", last_name(node)):
        first = args.first()
        if first is not None and text_of(first):
            builtins.imported(machine, text_of(first))
    result = losses.unknown_call(machine, node, args.positional, placed, [value for _, value in args.all()])
    _try_out(machine, node, args, callee, result)
    told = (value for name, (_, value) in args.keywords.items() if name in knowledge.DEVICE_KEYWORDS)
    if any(value.place.form is not Form.CPU and value.kind is not Kind.NONE for value in told):
        machine.note(result, Evidence.PLACED)  # a loader, say: what it yields is where it was told
    return result


def _reach_given(machine: Machine, args: Arguments) -> None:
    """A function that is given to nobody knows what is called there: what it moves, moves here."""
    for _, value in args.all():
        if value.kind is Kind.FUNCTION and isinstance(value.known, Defined):
            summary = machine.program.summary(value.known.dotted)
            if summary is not None:
                machine.log.reaches |= summary.reaches & knowledge.NAMES_DEVICES


def _try_out(machine: Machine, node: ast.Call, args: Arguments, callee: Ref, result: Value) -> None:
    """Remember what was made on the cpu and is given to what may be a module."""
    ref = machine.ref(result)
    made = next(((at, value) for at, value in args.positional if is_made(value)), None)
    if ref is None:
        return
    machine.log.tried.pop(ref, None)
    if made is not None and callee != NOBODY:
        place, (at, value) = Place(Form.AT, "", callee), made
        other, state = Value(Kind.MODULE, place, callee), machine.state
        machine.log.tried[ref] = RawMeeting(
            "call", at, machine.where(value), value, node.func, place, other, state.why, machine.loops
        )


def _site(node: ast.Call, api: str, receiver: Value | None, args: Arguments, row: Row | None = None) -> Site:
    row = row or knowledge.find(api) or Row()
    args.names = row.parameters
    at = node.func.value if receiver is not None and isinstance(node.func, ast.Attribute) else None
    return Site(node, api, row, receiver, at, args)


def _record(machine: Machine, site: Site, callee: str) -> None:
    fate: Fate = machine.fates.get(site.node, ("kept", False))[0]
    places = NOWHERE
    receiver, args = site.receiver, site.args
    if receiver is not None and receiver.kind is Kind.MODULE and site.receiver_at is not None:
        places = {site.receiver_at: machine.place_of(receiver)}
    for at, value in args.all() if args.keywords else args.positional:
        if value.kind is Kind.MODULE:
            places = {**places, at: machine.place_of(value)}
    for _, at, value in args.within() if "forks" in site.row.topics else ():
        if value.kind is Kind.MODULE:
            places = {**places, at: machine.place_of(value)}
    if "loads" in site.row.topics:
        machine.loads(site.node)
    machine.log.calls[site.node] = RawCall(
        callee,
        site.receiver,
        site.receiver_at,
        site.args,
        fate,
        machine.state.why,
        machine.loops,
        places,
        machine.branches,
        _waits(machine, site),
        machine.state.touched,
        not machine.log.reaches.isdisjoint(knowledge.SAVED),
    )


def _waits(machine: Machine, site: Site) -> bool:
    """Whether something is read that may be under way from a device; a call that waits ends that."""
    if not machine.state.copies:
        return False
    pending = any(
        value is not None and moves.is_under_way(machine, value)
        for value in (site.receiver, *(value for _, value in site.args.all()))
    )
    if site.name in knowledge.WAITS or "sync" in site.row.topics:
        machine.state.copies = frozenset()
    return pending


# Libraries


def library(machine: Machine, node: ast.Call, name: str, args: Arguments) -> Value:
    """Call a function or class of a library by its dotted name."""
    row = knowledge.find(name)
    site = _site(node, name, None, args, row or Row())
    _record(machine, site, name)
    if row is None:
        value = _unknown_call(machine, node, args)
        if name.partition(".")[0] in knowledge.TENSORS_OF_OTHERS:
            machine.note(value, Evidence.OTHER)  # its tensors have other methods, and go by other rules
        asks = "accelerator" in knowledge.hints("asks", name)
        return flag(Truth(True, False, hint=f"callable:{name}")) if asks else value
    return perform(machine, site)


def perform(machine: Machine, site: Site) -> Value:
    """Do what a row says."""
    row = site.row
    machine.log.reaches |= row.topics & (knowledge.REACHED | knowledge.SAVED)
    together = knowledge.COLLECTIVE in row.topics and site.api != knowledge.WAITS_FOR_OTHERS
    if together and not machine.branches:
        machine.log.reaches.add(knowledge.COLLECTIVE)
    if "touches-cuda" in row.topics:
        machine.touch(site.node)
    if row.topics:
        if knowledge.ASKS_ACCELERATOR in row.topics:
            return flag(Truth(True, False, machine=True))
        if "asks-processes" in row.topics:
            return flag(conditions.PROCESSES)
        if "needs-cuda" in row.topics and row.gives != Kind.TENSOR.value:
            machine.require()
        if "needs-accelerator" in row.topics:
            machine.state.need()
    transfer = TRANSFERS.get(row.by) if row.by else None
    if transfer is not None:
        return transfer(machine, site)
    placing = row.devices and not site.api.startswith(knowledge.CUDA_MODULE)
    if placing and not knowledge.configures(site.name):
        own = knowledge.THIRD_PARTY in row.topics
        for name in row.devices if own else knowledge.DEVICE_KEYWORDS.intersection(row.devices):
            given = site.args.get(name)
            if given is not None and given.kind is Kind.STRING:
                machine.use_literal(given, "argument")
    return _by_columns(machine, site)


def _by_columns(machine: Machine, site: Site) -> Value:
    row = site.row
    if row.gives in _HOSTS:
        _leave_torch(machine, site)
    base = site.receiver if site.receiver is not None else site.args.first()
    if row.gives == "first":
        if base is None:
            return machine.unknown(site.node)
        if "casts" in row.topics:
            return moves.cast_in_place(machine, site)
        if row.place == "operands":
            return operations.in_place(machine, site)
        itself = site.receiver is None and site.name.endswith(knowledge.IN_PLACE)
        if base.kind is Kind.PARAMETER and not itself:
            return Value(Kind.TENSOR, machine.where(base), base.who)
        return base._replace(place=machine.where(base)) if base.kind in TENSORS else base
    if row.gives == "element":
        return machine.element(base, site.node) if base is not None else UNKNOWN
    if row.place == "operands":
        return (
            operations.method(machine, site)
            if site.receiver is not None
            else operations.function(machine, site)
        )
    if row.gives == "reduced":
        place = machine.where(base) if base is not None else UNKNOWN_PLACE
        alone = not site.args.positional and not site.args.keywords
        reduced = machine.own(site.node, Kind.SCALAR if alone else Kind.TENSOR, place, OF_OPERATION)
        machine.derive(reduced, (base,) if base is not None else ())
        return reduced
    kind = _KINDS.get(row.gives, Kind.UNKNOWN)
    if kind is Kind.UNKNOWN:
        return machine.unknown(site.node)
    if kind is Kind.NONE:
        return NONE
    given = site.args.get(row.devices[0]) if row.devices else None
    if row.place == "device":
        of_cuda = "cuda-only" in row.topics  # `torch.cuda.FloatTensor(…)`
        place = machine.denoted(given, literal("cuda") if of_cuda else factories.default(machine, row))
        if kind in TENSORS:
            return machine.made(site.node, kind, place, "factory", site.api)
        return machine.own(site.node, kind, place)
    if row.place == "receiver-device":
        machine.log.follows_devices = True
        place = machine.denoted(given, machine.where(base) if base is not None else UNKNOWN_PLACE)
        alike = site.receiver is None
        if base is not None and base.kind is Kind.BATCH and site.name.endswith(knowledge.LIKENED):
            machine.note_tensor(base)
        scalar = alike and base is not None and base.kind is Kind.SCALAR
        new = machine.own(site.node, Kind.SCALAR if scalar else kind, place)
        told = given is not None and given.kind is not Kind.NONE and place == CPU
        if told and not scalar and (alike or factories.least(site)):
            at = machine.here.number(site.node)
            return new._replace(origin=Origin("made", machine.here.name, at, site.api))
        if base is None or base.origin is None or not is_made(base) or place != base.place:
            beside = alike and base is not None and place == machine.where(base)
            return new._replace(measures=base.who) if beside and base is not None else new
        if alike:
            return new._replace(origin=derived(base.origin), measures=base.measures)
        return new._replace(origin=derived(base.origin, factories.least(site)))
    if row.place == "default":
        return machine.made(site.node, kind, factories.default(machine), "factory", site.api)
    if row.place == "cpu":
        if given is not None and given.kind is not Kind.NONE:
            # If it does not fail: `torch.Tensor(2, device=…)`.
            return machine.own(site.node, kind, machine.denoted(given, CPU))
        if kind in TENSORS:
            return factories.made_on_cpu(machine, site, kind)
        return factories.host_array(site) if kind is Kind.ARRAY else Value(kind, CPU)
    if row.place == "first" and base is not None:
        if kind is Kind.TENSOR and site.receiver is None:
            operations.note_tensors(machine, site)
        scalar = kind is Kind.TENSOR and base.kind is Kind.SCALAR and site.name not in knowledge.OF_SECOND
        held = element_of(base) if base.kind is Kind.CONTAINER else None
        place = machine.where(held if held is not None and held.kind in TENSORS else base)
        same = Value(Kind.SCALAR if scalar else kind, place, base.who)
        if knowledge.CLONES in site.row.topics and place == CPU and machine.is_weight(base):
            return same._replace(origin=Origin(CLONED, machine.here.name, machine.here.number(site.node)))
        if kind in TENSORS and is_made(base):
            dims = ranks.dimensions(site, [base, *(value for _, value in site.args.positional)])
            origin = derived(base.origin, dims) if base.origin is not None else None
            return same._replace(origin=origin, measures=base.measures)
        return same
    if kind is Kind.TENSOR:
        return machine.own(site.node, kind)
    if kind is Kind.NUMBER:
        measured = site.receiver if site.receiver is not None else base
        if measured is None or measured.kind not in MAY_HOLD_TENSORS:
            return NUMBER
        return NUMBER._replace(measures=machine.whose_size(measured))
    return Value(kind)


def _leave_torch(machine: Machine, site: Site) -> None:
    """What becomes a number or an array is compared, or read on the host."""
    if site.row.gives == Kind.ARRAY.value:
        own = (site.receiver,) if site.receiver is not None else ()
        machine.spill((*own, *(value for _, value in site.args.all())), from_device=True)
        if "host-only" in site.row.topics and site.args.get("force") is None:
            for value in own:
                if machine.where(value).form is Form.AT:
                    machine.note(value, Evidence.HOSTED)
    elif site.args.positional[1:] or (site.receiver is not None and site.args.positional):
        own = (site.receiver,) if site.receiver is not None else ()
        machine.spill((*own, *(value for _, value in site.args.all())))


# Methods


def method(machine: Machine, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """Call a method of a value."""
    kind = base.kind
    if isinstance(base.known, Inherited):
        return _inherited_method(machine, node, base.known.dotted, name, args)
    if name in knowledge.WAITS:
        machine.state.copies = frozenset()
        machine.log.reaches.add("sync")
    if name in knowledge.ENTERS and args.positional:
        machine.enter(args.positional[0][1], args.positional[0][0])
    if kind is Kind.LIBRARY:
        return apply(machine, node, machine.attribute(base, name, node.func), args)
    ref = machine.ref(base)
    if ref is not None and kind is not Kind.CONTAINER:
        stored = machine.state.env.get((ref, Attr(name)))
        if stored is not None:
            return apply(machine, node, stored, args)
    if name in knowledge.READS_OPTIONS and kind in (Kind.OTHER, Kind.UNKNOWN):
        options = machine.unknown(node)
        machine.note(options, Evidence.OTHER)
        return options
    if name in knowledge.DRAWS and kind is not Kind.INSTANCE and kind is not Kind.MODULE:
        return library(machine, node, f"{knowledge.DRAWN_ON}.{name}", args)
    if name in knowledge.OF_ARRAYS and (kind in TENSORS or kind is Kind.UNKNOWN):
        machine.note(base, Evidence.OTHER)
        return Value(Kind.ARRAY, CPU)
    if kind in TENSORS:
        return tensor_method(machine, node, base, name, args)
    if kind is Kind.MODULE or kind is Kind.INSTANCE:
        return object_method(machine, node, base, name, args)
    if base.known == GRAPH:
        if name in knowledge.MOVES:
            return graphs.move(machine, _site(node, f"Object.{name}", base, args))
        if name in knowledge.CHANGES_GRAPH:
            lend(machine, (base,))
        return machine.unknown(node)
    if name in knowledge.MOVES and base.element is not None and base.element.known == GRAPH:
        lend(machine, (base.element,))  # a dataset that moves all that it has
        return UNKNOWN
    if kind in (Kind.UNKNOWN, Kind.BATCH):
        result = unknown_method(machine, node, base, name, args)
        if kind is Kind.UNKNOWN and name not in knowledge.TENSOR_ONLY and name not in knowledge.MOVES:
            record_ask(machine, base, name, args, result)
        return result
    if kind is Kind.CLASS and isinstance(base.known, Defined):
        return _class_method(machine, node, base, base.known.dotted, name, args)
    if kind is Kind.MOVES_IN_PLACE:
        if name in knowledge.MOVES:
            return moves.object_in_place(machine, _site(node, f"Object.{name}", base, args))
        return machine.unknown(node)
    if base.known == ENCODING and name in knowledge.MOVES:
        return encodings.move(machine, _site(node, f"Object.{name}", base, args))
    if kind is Kind.OTHER and isinstance(base.known, Api) and base.known in PREPARERS:
        full = f"{base.known.dotted}.{name}"
        found = knowledge.find(full)
        return perform(machine, _site(node, full, base, args, found)) if found else machine.unknown(node)
    row = knowledge.method(kind, name)
    if row is None:
        if kind is Kind.ARRAY:
            return Value(Kind.ARRAY, CPU)
        return UNKNOWN if kind in (Kind.CONTAINER, Kind.STRING, Kind.DEVICE) else machine.unknown(node)
    site = _site(node, f"{kind.value.capitalize()}.{name}", base, args, row)
    _record(machine, site, site.api)
    return perform(machine, site)


def _inherited_method(machine: Machine, node: ast.Call, cls: str, name: str, args: Arguments) -> Value:
    """`super().to(device)`: what a constructor inherits, methods begin with anyway."""
    view, here = machine.program.view(cls), machine.here
    receiver = machine.state.env.get(here.positional[0]) if here.is_method else None
    if view is None or receiver is None:
        return machine.unknown(node)
    found = view.inherited(name)
    if name.startswith(2 * knowledge.PRIVATE):
        if found is not None and name in knowledge.CONSTRUCTS:
            inherit_devices(machine, node, found, receiver, args)
        return machine.unknown(node)
    if found is not None:
        result = function_call(machine, node, found, receiver, args)
        return result if result is not None else machine.unknown(node)
    row = knowledge.method(Kind.MODULE, name)
    if name in knowledge.MOVES and row is not None and view.is_module:
        return moves.inherited(machine, _site(node, f"Module.{name}", receiver, args, row))
    return machine.unknown(node)


def _class_method(
    machine: Machine, node: ast.Call, base: Value, cls: str, name: str, args: Arguments
) -> Value:
    view = machine.program.view(cls)
    found = view.method(name) if view is not None else None
    if found is None:
        return machine.unknown(node)
    summary = machine.program.summary(found)
    of_class = summary is not None and summary.binding == "class"
    result = function_call(machine, node, found, base if of_class else None, args)
    return result if result is not None else machine.unknown(node)


def tensor_method(machine: Machine, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """Call a method of a tensor."""
    if name in knowledge.RETAINS_GRADIENT:
        machine.leaf(base, "retained")
    row = knowledge.method(Kind.TENSOR, name)
    if row is None and name not in knowledge.TENSOR_ONLY and name not in knowledge.TENSOR_TOO:
        return machine.unknown(node)  # of a class of its own, such as DGL's graphs: `g.number_of_nodes()`
    site = _site(node, f"Tensor.{name}", base, args, row or _OPERATION)
    _record(machine, site, site.api)
    return perform(machine, site)


def unknown_method(machine: Machine, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """Call a method of an object whose kind is unknown, and learn from the name."""
    named = name in knowledge.TENSOR_ONLY and _is_tensors_own(machine, name, args)
    named |= name in knowledge.LIST_TOO and bool(args.positional or args.keywords.keys() & knowledge.ORDERS)
    tensor_too = named or name in knowledge.LIKELY_TENSOR
    row = knowledge.method(Kind.TENSOR, name)
    site = _site(node, f"Tensor.{name}", base, args, row or _OPERATION)
    if name in knowledge.MOVES:
        return moves.unknown(machine, site)
    if base.who is None:
        known = name in knowledge.TENSOR_ONLY
        return tensor_method(machine, node, base, name, args) if known else machine.unknown(node)
    _record(machine, site, f"?.{name}")
    if base.kind is Kind.BATCH and _may_move(machine, node, name, args):
        unsettle(machine, (base,))
        return machine.unknown(node)
    if name in knowledge.REWINDS:
        machine.log.reaches.add("saves")  # what is read from there, the program has written
    if named:
        machine.note(base, Evidence.NAMED)
    else:
        machine.attribute_evidence(base, name)
    if name in knowledge.MEASURES:
        machine.note(base, Evidence.SHAPED)
    if name in knowledge.FILLS_CONTAINER:
        machine.note(base, Evidence.FILLED)
    if name == "size" and args.positional:
        machine.note(base, Evidence.OPERAND)
    transfer = _UNKNOWN.get(name)
    if transfer is not None:
        return transfer(machine, site)
    if name in ("get", "pop") and len(args.positional) == 1:
        return containers.get(machine, site)
    if row is not None and row.by == "tensors.cast":
        return moves.cast(machine, site)
    if name in knowledge.SAME_OBJECT:
        return base
    if tensor_too:
        result = perform(machine, site)
        if result.kind in TENSORS and type(result.who) is int and type(base.who) is int:
            machine.log.likely[result.who] = base.who
        return result
    ref = machine.ref(base)
    if name in knowledge.RUNS_FORWARD and ref in machine.state.places:
        return call_module(machine, node, base, args)
    if name in knowledge.OPTIMIZER_METHODS and not _is_of_another(base, node, name, args):
        optimizers.advance(machine, base, name)
    if name in knowledge.MODULE_ONLY or name in knowledge.OPTIMIZER_METHODS:
        return machine.unknown(node)
    return _unknown_call(machine, node, args)


def _may_move(machine: Machine, node: ast.Call, name: str, args: Arguments) -> bool:
    """Whether a method of a batch may be of its own class, and move all that it holds.

    One that tensors have is, if it is given what is to be done with each of its tensors.
    """
    if not machine.is_discarded(node):
        return False
    own = name not in _UNKNOWN and name not in knowledge.FILLS_CONTAINER
    own &= knowledge.method(Kind.TENSOR, name) is None and knowledge.method(Kind.CONTAINER, name) is None
    return own or any(value.kind is Kind.FUNCTION for _, value in args.all())


def _is_of_another(base: Value, node: ast.Call, name: str, args: Arguments) -> bool:
    """Whether what has a method of optimizers is known to be none: a scheduler, or what takes an action."""
    own = isinstance(node.func, ast.Attribute) and _is_scheduler(base, node.func.value)
    return own or (name in knowledge.STEPS and bool(args.positional))


def _is_tensors_own(machine: Machine, name: str, args: Arguments) -> bool:
    """Whether a call can be that of a tensor's method: not of a class's of this file, nor of a module's part.

    `net.norm(x)` may run a layer: it may be given a tensor, and layers are called by plain words.
    """
    if machine.program.defines_method(name):
        return False
    several_words = "_" in name and name not in knowledge.LAYER_NAMES
    if name in knowledge.NO_LAYER or several_words or args.keywords.keys() & knowledge.AXES:
        return True
    return not args.positional or any(value.kind not in MAY_HOLD_TENSORS for _, value in args.positional)


# Modules and instances


def object_method(machine: Machine, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """Call a method of a module, or of an instance of a class of the project."""
    view = machine.program.view(base.known.dotted) if isinstance(base.known, Defined) else None
    found = view.method(name) if view is not None else None
    is_module = base.kind is Kind.MODULE or (view is not None and view.is_module)
    if found is not None and not (is_module and name == "__call__"):
        result = function_call(machine, node, machine.program.implemented(found), base, args)
        ref = machine.ref(base)
        if base.kind is Kind.MODULE and name in knowledge.MOVES and ref is not None:
            machine.state.places.setdefault(ref, UNKNOWN_PLACE)  # perhaps its parts are all that it moves
        if name in knowledge.MOVES and not is_module:
            parts = _moved_in_copy(machine, found, base)
            if parts is not None:
                moves.object_copied(machine, _site(node, f"Object.{name}", base, args), parts)
        return result if result is not None else machine.unknown(node)
    if is_module:
        return module_method(machine, node, base, name, args)
    if name in knowledge.MOVES:
        return moves.object_in_place(machine, _site(node, f"Object.{name}", base, args))
    if name in knowledge.REPLACES_FIELDS and base.kind is Kind.INSTANCE:
        return builtins.another(machine, node, base)
    value = machine.attribute(base, name, node.func)
    if value.kind is not Kind.UNKNOWN or value.who is not None:
        return apply(machine, node, value, args)
    return machine.unknown(node)


def _moved_in_copy(machine: Machine, method: str, base: Value) -> tuple[Ref, ...] | None:
    """What a method of an object moves that makes another of its class, and leaves that one as it is."""
    summary, ref = machine.program.summary(method), machine.ref(base)
    if summary is None or summary.binding != "self" or ref is None:
        return None
    given, moved = summary.returns, []
    new = isinstance(given.who, Path) and given.who.root.kind == "made" and not given.who.steps
    if not new or given.kind is not Kind.INSTANCE or given.known != base.known:
        return None
    for effect in summary.effects:
        if effect.path.root.kind != "made":
            if not isinstance(effect, Moved) or len(effect.path.steps) != 1:
                return None
            # A module, unlike a tensor, would be elsewhere in both: what it is, use shows.
            moved.append(machine.objects.part(ref, effect.path.steps[0]))
    return tuple(moved)


def module_method(machine: Machine, node: ast.Call, base: Value, name: str, args: Arguments) -> Value:
    """Call a method of `nn.Module`."""
    if name == knowledge.COUNTS and knowledge.COUNTING in knowledge.topics(class_name(base)):
        assert isinstance(node.func, ast.Attribute)
        return call_module(machine, node, base, args, node.func.value)
    row = knowledge.method(Kind.MODULE, name)
    if row is not None:
        site = _site(node, f"Module.{name}", base, args, row)
        _record(machine, site, site.api)
        return perform(machine, site)
    if base.kind is Kind.INSTANCE and isinstance(base.known, Defined):
        value = machine.attribute(base, name, node.func)
        view = machine.program.view(base.known.dotted)
        framework = view is not None and view.framework
        if value.kind is not Kind.UNKNOWN or (value.who is not None and not framework):
            return apply(machine, node, value, args)
    if base.kind is Kind.MODULE and isinstance(base.known, Defined):
        part = machine.attribute(base, name, node.func)
        if part.kind is Kind.MODULE:  # `model.encoder(x)`
            return apply(machine, node, part, args)
    result = machine.unknown(node)
    if type(result.who) is int:
        machine.log.remade(result.who, [value for _, value in args.positional])
    return result


def call_module(
    machine: Machine, node: ast.Call, base: Value, args: Arguments, at: ast.expr | None = None
) -> Value:
    """Run a module's forward; `at` is what has the method that does."""
    site = _site(node, "Module.__call__", base, args)._replace(receiver_at=at or node.func)
    _record(machine, site, site.api)
    _note_items(machine, args)
    if isinstance(base.known, Defined):
        view = machine.program.view(base.known.dotted)
        found = view.method("forward") if view is not None else None
        if found is not None:
            machine.note_unknown([value for _, value in args.positional], Evidence.TO_MODULE)
            modules.feed(machine, base, args)
            result = function_call(machine, node, machine.program.implemented(found), base, args)
            if result is not None:
                return result
    base = _any_of_alike(base)
    site = _site(node, "Module.forward", base, args)
    if is_any_model(base) or is_one_of(base):
        modules.feed(machine, base, args)
        result = modules.unknown_module(machine, node, base, site)
        record_ask(machine, base, "", args, result)
        return result
    return modules.call(machine, node, base, site)


def _any_of_alike(base: Value) -> Value:
    """A module of one of several classes of torch, as one of them, where all take the same."""
    if not isinstance(base.known, OneOf):
        return base
    names = [each.dotted for each in base.known.classes if isinstance(each, Api)]
    if len(names) < len(base.known.classes) or not all(name.startswith(knowledge.OF_TORCH) for name in names):
        return base
    does = {(knowledge.topics(name), name.rpartition(".")[2] in knowledge.NO_PARAMETERS) for name in names}
    return base._replace(known=base.known.classes[0]) if len(does) == 1 else base


def _note_items(machine: Machine, args: Arguments) -> None:
    """`model(**batch)`: what a batch holds is given to a module."""
    for _, value in args.unpacked:
        if value.kind in (Kind.UNKNOWN, Kind.BATCH) and value.who is not None:
            machine.note(machine.part(value, Item("**", variable=True)), Evidence.TO_MODULE)


def instantiate(machine: Machine, node: ast.Call, cls: str, args: Arguments) -> Value:
    """Make an instance of a class of the project."""
    view = machine.program.view(cls)
    if view is None:
        return machine.unknown(node)
    base = view.library_base()
    topics = knowledge.topics_of_class(base) if base is not None else frozenset()
    if "loader" in topics:
        if view.method("__iter__") is not None or view.moves():
            return machine.unknown(node)
        return loaders.loader(machine, _site(node, base or "", None, args))
    if base is not None and view.is_module and "scatters" in _topics_of_call(base):
        return perform(machine, _site(node, base, None, args))  # a DataParallel of its own scatters too
    kind = Kind.MODULE if view.is_module else Kind.INSTANCE
    if "optimizer" in topics:
        kind = Kind.OPTIMIZER
    value = machine.made(node, kind, role="made", known=Defined(cls))
    ref = machine.ref(value)
    assert ref is not None
    machine.state.forget(ref)
    if kind is Kind.OPTIMIZER:
        return optimizers.make(machine, _site(node, base or "", None, args))
    if kind is Kind.INSTANCE:
        machine.note(value, Evidence.OTHER)
    init = view.method("__init__")
    summary = machine.program.summary(init) if init is not None and kind is Kind.INSTANCE else None
    if summary is not None and (
        knowledge.MOVER in summary.reaches
        or any(moves_what_it_is_given(machine, given) for _, given in args.all())
    ):
        machine.note(value, Evidence.PLACED)  # what it yields may be moved, if it is a dataset
    if init is None or not init.startswith(f"{cls}."):
        made_plainly(machine, node, cls, args)
    if init is None and kind is Kind.INSTANCE:
        _fill_fields(machine, ref, view, args)
    if init is not None:
        function_call(machine, node, init, value, args)
        if view.moved_by_constructor():
            # Where the constructor of a subclass, or the caller, moves it is not known.
            place = machine.state.places.get(ref)
            machine.state.places[ref] = place if place is not None and place.of is None else UNKNOWN_PLACE
    else:
        after = view.method(knowledge.AFTER_FIELDS)
        done = machine.program.summary(after) if after is not None else None
        if done is not None:
            apply_summary(machine, node, done, {}, value)
    if kind is Kind.MODULE:
        _may_be_told(machine, ref, args)
    return value


def _one_of_several(machine: Machine, node: ast.Call, known: OneOf, args: Arguments) -> Value:
    """Make an instance of one of several classes of the project, which are modules, every one."""
    views = [machine.program.view(each.dotted) for each in known.classes]
    for view in views:
        init = view.method(knowledge.INITS) if view is not None else None
        if init is not None:
            machine.program.summary(init)  # it says what objects of the class have
    value = machine.made(node, Kind.MODULE, role="made", known=known)
    ref = machine.ref(value)
    if ref is None or not all(view is not None and _is_plain_module(view) for view in views):
        return machine.unknown(node)
    machine.state.forget(ref)
    if any(view is None or view.moved_by_constructor() for view in views):
        machine.state.places[ref] = UNKNOWN_PLACE
    _may_be_told(machine, ref, args)
    return value


def _is_plain_module(view: ClassView) -> bool:
    """Whether a class of the project is a module, and nothing that brings what it is given to devices."""
    base = view.library_base()
    return view.is_module and (base is None or "scatters" not in _topics_of_call(base))


def _may_be_told(machine: Machine, ref: Ref, args: Arguments) -> None:
    """What is told a device, or given what was moved, may make its parts there; or on the default device."""
    starred = any(
        isinstance(at, ast.Starred) and each.kind is not Kind.NUMBER for at, each in args.positional
    )
    told = bool(args.unpacked or starred) or any(map(_tells_device, args.named()))
    told = told or any(_was_moved(machine, given) for _, given in args.all())
    if told or machine.state.default is not None:
        machine.state.places.setdefault(ref, UNKNOWN_PLACE if told else factories.default(machine))


def _fill_fields(machine: Machine, ref: Ref, view: ClassView, args: Arguments) -> None:
    """What a dataclass, or a tuple with named items, is made with."""
    plain = view.library_base() is None or knowledge.RECORD in view.topics
    args.names = view.fields if plain else ()
    for name, _, value in args.named() if plain else ():
        if name in view.fields or name in args.keywords:
            machine.state.env[ref, Attr(name)] = value


def _was_moved(machine: Machine, value: Value) -> bool:
    """Whether a module, or something with such a part, is given that is not known to be on the cpu."""
    ref = machine.ref(value)
    if value.kind is Kind.MODULE:
        return machine.place_of(value).form is not Form.CPU
    if ref is None or value.kind not in (Kind.UNKNOWN, Kind.INSTANCE):
        return False
    places = machine.state.places
    return machine.place_at(ref) is not None or any(part in places for part in machine.objects.parts(ref))


def _topics_of_call(api: str) -> frozenset[str]:
    row = knowledge.find(api)
    return row.topics if row is not None else frozenset()


def _tells_device(argument: tuple[str, ast.expr, Value]) -> bool:
    """Whether an argument is a device, or called one: a hint, which only keeps from knowing."""
    name, at, value = argument
    if value.kind in (Kind.DEVICE, Kind.NONE):
        return value.kind is Kind.DEVICE
    return "device" in knowledge.hints("variable", last_name(at)) or "device" in knowledge.hints(
        "option", name
    )
