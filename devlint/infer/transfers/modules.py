"""Modules: made, wrapped, called; their parameters and parts."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import knowledge
from ...core.evidence import Evidence
from ...core.kinds import MAY_HOLD_TENSORS, Kind
from ...core.paths import Attr, Element, Item, Ref, Root
from ...core.places import CPU, ON_DEVICE, UNKNOWN_PLACE, Form, Place, literal
from ...core.state import WRAPPED, Mark
from ...core.values import (
    BUFFER,
    MAPPING,
    NONE,
    OF_CLASSES,
    OTHER,
    STRING,
    Api,
    Defined,
    Value,
    constant,
    container,
    dotted,
    is_made,
)
from ...knowledge.row import Row
from .. import unmoved
from ..graphs import is_of_graph
from ..log import NOBODY, Feed
from ..machine import PARAMETERS, Arguments, Machine, Site, class_name, text_of
from .losses import loss, maybe_loss, unreduced

_LOSS = Row("0-dim tensor", "operands")


def make(machine: Machine, site: Site) -> Value:
    """A module of a library."""
    args = site.args
    if args.positional and all(_is_transform(each) for _, each in args.positional):
        return OTHER  # what holds transforms alone has nothing that is anywhere
    known = Api(knowledge.WITHOUT_WEIGHTS if _is_bare(site) else site.api)
    value = machine.made(site.node, Kind.MODULE, api=site.api, known=known)
    ref = machine.ref(value)
    assert ref is not None
    machine.state.forget(ref)
    given = args.get(site.row.devices[0]) if site.row.devices else args.get("device")
    places, holds = machine.state.places, knowledge.HOLDS_MODULES in site.row.topics
    if given is not None and given.kind is not Kind.NONE:
        machine.settle_at(ref, machine.denoted(given, CPU), site.node)
    elif args.unpacked:
        places[ref] = UNKNOWN_PLACE
    elif machine.state.default is not None:
        places[ref] = machine.state.default
    for _, argument in args.positional:
        for part in held_in(argument):
            _joins(machine, ref, part, holds)
    if "loss" in site.row.topics and value.origin is not None:
        kept = OF_CLASSES if any(map(_weighs_on_cpu, args.named())) else ""
        dims = 1 if unreduced(args) else value.origin.dims
        return value._replace(origin=value.origin._replace(dims=dims, attribute=kept))
    return value


def _joins(machine: Machine, ref: Ref, part: Value, holds: bool) -> None:
    """A module has another one as a part, or what may be one: it is where that is."""
    places, inner, place = machine.state.places, machine.ref(part), machine.place_of(part)
    if part.kind in (Kind.MODULE, Kind.UNKNOWN) and inner is not None and inner in places:
        places[ref] = places[inner]
    elif (part.kind is Kind.MODULE and place.form is not Form.CPU) or (
        holds and _is_given(machine, part, place)
    ):
        places[ref] = place  # that of another module, or a caller's: it is there
    elif (
        holds
        and part.kind is Kind.UNKNOWN
        and inner is not None
        and (_is_told_more(machine, inner) or _is_of_moved(machine, inner))
    ):
        places[ref] = UNKNOWN_PLACE


def _is_given(machine: Machine, part: Value, place: Place) -> bool:
    """Whether what may be a module is, or is part of, what the caller gives, or one of several things."""
    if part.kind is not Kind.UNKNOWN or place.form is not Form.AT or type(place.of) is not int:
        return False
    objects = machine.objects
    return place.of in objects.sources or objects.is_parameter(objects.top(place.of))


def _is_told_more(machine: Machine, part: Ref) -> bool:
    """Whether what made it here was given options that nobody names, a device perhaps among them."""
    way, here = machine.objects.ways[part], machine.here
    if not isinstance(way, Root) or way.kind != "made" or machine.objects.functions[part] != here.name:
        return False
    made = here.nodes[way.at]
    return isinstance(made, ast.Call) and any(each.arg is None for each in made.keywords)


def _is_of_moved(machine: Machine, part: Ref) -> bool:
    """Whether a call gave it here, or what has it, that was given what is moved: a layer of that, say."""
    objects, here = machine.objects, machine.here
    while not isinstance(way := objects.ways[part], Root):
        part = objects.parents[part]
    made = here.nodes[way.at] if way.kind == "made" and objects.functions[part] == here.name else None
    given = (
        machine.state.env.get(each.id) for each in getattr(made, "args", ()) if isinstance(each, ast.Name)
    )
    return any(each.who in machine.state.places for each in given if each is not None)


def held_in(argument: Value, depth: int = 3) -> Iterator[Value]:
    """What a module is made with: an argument, or what is in it where that is a container."""
    inner = argument.items or ((argument.element,) if argument.element is not None else ())
    if argument.kind is Kind.CONTAINER and inner and depth:
        for each in inner:
            yield from held_in(each, depth - 1)
    else:
        yield argument


def _weighs_on_cpu(argument: tuple[str, ast.expr, Value]) -> bool:
    """Whether an argument of a loss is the weights of classes, which are on the cpu."""
    name, _, value = argument
    on_cpu = value.place.form is Form.CPU and value.place.of is None
    return name in knowledge.LOSS_WEIGHTS and value.kind is Kind.TENSOR and on_cpu


def _is_bare(site: Site) -> bool:
    """Whether a layer is told to have no parameters, or has none unless it is told to."""
    options = knowledge.WEIGHTS_UNLESS.get(site.name) if site.api.startswith(knowledge.OF_TORCH) else None
    if options is None or site.args.unpacked or site.args.starred:
        return False
    given = {name: site.args.get(name) for name in options}
    return not any(
        default if (value := given[name]) is None else constant(value) is not False
        for name, default in options.items()
    )


def _is_transform(value: Value) -> bool:
    return value.kind is Kind.OTHER and dotted(value).startswith(knowledge.TRANSFORMS)


def pretrained(machine: Machine, site: Site) -> Value:
    """`SomeModel.from_pretrained(…)`; of a tokenizer or processor, something that is no module."""
    if site.api.startswith(knowledge.OF_TORCH):
        return _of_weights(machine, site)
    kinds = knowledge.hints("model-class", site.api.split(".")[-2])
    if "no-module" in kinds:
        return OTHER
    if "module" not in kinds:
        return machine.unknown(site.node)
    value = make(machine, site)
    ref, mapped = machine.ref(value), site.args.get(site.row.devices[0])
    if ref is None:
        return value
    if not knowledge.BRINGS_INPUTS.isdisjoint(site.args.keywords):
        machine.state.places[ref] = UNKNOWN_PLACE
    elif mapped is not None and constant(mapped) in knowledge.SPREADS:
        machine.settle_at(ref, literal(str(constant(mapped))), site.node)
        machine.log.varies.add(ref)  # on several devices, hooks bring to each part what it is given
    elif mapped is not None and mapped.kind not in (Kind.NONE, Kind.DEVICE, Kind.STRING, Kind.NUMBER):
        whole = _whole(site)
        place = UNKNOWN_PLACE if whole is None else machine.denoted(machine.eval(whole), UNKNOWN_PLACE)
        machine.settle_at(ref, place, site.node)
    return value


def _whole(site: Site) -> ast.expr | None:
    """Where all of a model goes: `device_map={"": device}`."""
    found = site.args.at(site.row.devices[0])
    given = found[0] if found is not None else None
    keys = given.keys if isinstance(given, ast.Dict) else []
    whole = len(keys) == 1 and isinstance(keys[0], ast.Constant) and keys[0].value == ""
    return given.values[0] if whole and isinstance(given, ast.Dict) else None


def loaded(machine: Machine, site: Site) -> Value:
    """`torch.jit.load(…)`: a module that is where it is told, or where it was when it was saved."""
    value, told = make(machine, site), site.args.get(site.row.devices[0])
    ref = machine.ref(value)
    if ref is not None and (told is None or told.kind is Kind.NONE):
        machine.state.places[ref] = UNKNOWN_PLACE
    return value


def _of_weights(machine: Machine, site: Site) -> Value:
    """`nn.Embedding.from_pretrained(weights)`: a layer that is where its weights are."""
    value = make(machine, site._replace(api=site.api.rpartition(".")[0]))
    given, ref = site.args.first(), machine.ref(value)
    place = machine.where(given) if given is not None else CPU
    if ref is not None and place.form in ON_DEVICE:
        machine.settle_at(ref, place, site.node)
    elif ref is not None and place.form is not Form.CPU:
        machine.state.places[ref] = UNKNOWN_PLACE
    return value


def with_transforms(machine: Machine, site: Site) -> Value:
    """`open_clip.create_model_and_transforms(…)`: a model, and what makes its inputs of images."""
    value = make(machine, site)
    ref = machine.ref(value)
    if ref is not None and not site.row.place and site.args.get(site.row.devices[0]) is None:
        machine.state.places[ref] = UNKNOWN_PLACE  # where the machine has an accelerator, there
    return container(items=(value, *[OTHER] * knowledge.TRANSFORMS_BESIDE[site.name]))


def wrap(machine: Machine, site: Site) -> Value:
    """`torch.compile` and its like give a module around, or the same as, their first argument."""
    first = site.args.first()
    known = first is not None and (first.who is not None or first.kind is Kind.OTHER)
    return first if first is not None and known else machine.unknown(site.node)


def traced(machine: Machine, site: Site) -> Value:
    """`torch.jit.trace(model, x)`, `torch.onnx.export(model, (x,), path)`: a module runs with its inputs."""
    model, given = (site.args.at(name) for name in site.row.parameters[:2])
    if model is not None and model[1].kind is Kind.MODULE and given is not None:
        place = machine.place_of(model[1])
        for at, value in _parts_of(*given):
            machine.meeting("call", at, machine.where(value), value, model[0], place, model[1])
    return wrap(machine, site) if site.row.gives == "first" else machine.unknown(site.node)


def functional(machine: Machine, site: Site) -> Value:
    """`functional_call(model, parameters, (x,))`: a module runs, with weights that are where its own are."""
    model, given = site.args.at("module"), site.args.at("args")
    if model is None or model[1].kind is not Kind.MODULE:
        return machine.unknown(site.node)
    place = machine.place_of(model[1])
    for at, value in _parts_of(*given) if given is not None else ():
        machine.meeting("call", at, machine.where(value), value, model[0], place, model[1])
    return machine.own(site.node, Kind.BATCH, place)


def scatter(machine: Machine, site: Site) -> Value:
    """DataParallel, and DDP where it is given `device_ids`: the forward copies its inputs to the device."""
    inner = wrap(machine, site)
    if site.args.first() is None or inner.kind is Kind.FUNCTION:
        return inner
    scatters = "always-scatters" in site.row.topics or site.args.get("device_ids") is not None
    known = Api(site.api) if scatters else inner.known
    _mark_wrapped(machine, site, inner)
    return Value(Kind.MODULE, UNKNOWN_PLACE, inner.who, known, origin=inner.origin)


def _mark_wrapped(machine: Machine, site: Site, inner: Value) -> None:
    """DDP hooks the parameters where they are: after a move, nothing reduces their gradients.

    Measured: with torch 2.13 a communication hook of `DDP(m)` is no longer called after `m.to(device)`, as
    swapping a parameter's data for that of another device drops the accumulator that DDP has hooked
    (`VariableHooks::set_data`).
    """
    ref = machine.ref(inner)
    if ref is None or "always-scatters" in site.row.topics or machine.place_at(ref) is not None:
        return
    ids = site.args.at("device_ids")
    if ids is not None and isinstance(ids[0], ast.List) and machine.place_of(inner).form is Form.CPU:
        return  # it raises here
    at = (machine.here.name, machine.here.number(site.node))
    machine.state.marks[WRAPPED, ref] = Mark("fresh", frozenset({ref}), site.name, at)


def shard(machine: Machine, site: Site) -> Value:
    """FSDP replaces the parameters: an optimizer built before holds dead ones (its docstring)."""
    inner = site.args.first()
    if inner is not None:
        machine.relocate(site.node, inner, UNKNOWN_PLACE, site.name)
    return machine.unknown(site.node)


def parameter(machine: Machine, site: Site) -> Value:
    """`nn.Parameter(data)`, `nn.Buffer(data)`: where the data are."""
    data = site.args.get("data")
    place = machine.where(data) if data is not None else CPU
    if "buffer" in site.row.topics:
        made = machine.own(site.node, Kind.TENSOR, place)._replace(known=BUFFER)
        return made if data is None else made._replace(origin=data.origin)
    kind = Kind.PARAMETER if site.name == "Parameter" else Kind.TENSOR
    return unmoved.parameter(machine, machine.own(site.node, kind, place), data)


def parameters(machine: Machine, site: Site) -> Value:
    """`module.parameters()`: a container that remembers whose parameters it holds."""
    base = site.receiver or Value()
    holds = frozenset({base.who}) if base.who is not None else frozenset()
    ref = machine.ref(base)
    who = machine.objects.part(ref, PARAMETERS) if ref is not None else None
    element = Value(Kind.PARAMETER, machine.place_of(base), who, holds=holds)
    if site.name.startswith("named"):
        element = container(items=(STRING, element), holds=holds)
    return container(element=element, holds=holds)


def state(machine: Machine, site: Site) -> Value:
    """`module.state_dict()`: its parameters and buffers, by their names."""
    base = site.receiver or Value()
    ref = machine.ref(base)
    who = machine.objects.part(ref, PARAMETERS) if ref is not None else None
    element = Value(Kind.TENSOR, machine.place_of(base), who)
    value = machine.own(site.node, Kind.CONTAINER)
    return value._replace(known=MAPPING, element=element)


def parts(machine: Machine, site: Site) -> Value:
    """`module.children()`, `named_modules()` and their like."""
    base = site.receiver or Value()
    kind = Kind.UNKNOWN if base.kind is Kind.UNKNOWN else Kind.MODULE
    part = machine.element(Value(kind, who=base.who), site.node)
    if site.name.startswith("named") or site.name == "items":
        part = container(items=(STRING, part))
    return container(element=part)


def _hand_on(machine: Machine, value: Value) -> None:
    """Remember that a module knows something by a name that is computed, and so what that is a child of."""
    todo, done = [value.who], set[Ref]()
    while todo:
        ref = todo.pop()
        if type(ref) is int and ref >= 0 and ref not in done:
            done.add(ref)
            todo += machine.objects.sources.get(ref, ())
            if isinstance(machine.objects.ways[ref], (Element, Item)):
                todo.append(machine.objects.parents[ref])
    machine.log.handed |= done


def register(machine: Machine, site: Site) -> Value:
    """`register_buffer`, `register_parameter`, `add_module`: an attribute that the module knows.

    So is what torchmetrics calls a state: a tensor, or a list of those that come.
    """
    args = site.args
    base = site.receiver or Value()
    label = text_of(args.get("name") or Value())
    value = args.get("tensor") or args.get("param") or args.get("module") or args.get("default")
    ref = machine.ref(base)
    if base.kind is Kind.UNKNOWN:
        machine.note_unknown([v for _, v in args.positional[1:]], Evidence.OPERAND)
        return NONE
    if base.kind is Kind.INSTANCE:
        unmoved.enroll(machine, label, value)
    if base.kind is Kind.MODULE and ref is not None and value is not None:
        _joins(machine, ref, value, holds="module" in site.row.parameters)
    if not label and value is not None:
        _hand_on(machine, value)
    if not label or value is None or ref is None or value.kind is Kind.CONTAINER:
        return NONE
    step = Attr(label)
    if "module" not in site.row.parameters:
        kind = Kind.PARAMETER if site.name == "register_parameter" else Kind.TENSOR
        registered = Value(kind, Place(Form.AT, "", ref), machine.objects.part(ref, step))
        value = unmoved.buffer(machine, ref, registered, value)
    machine.state.env[ref, step] = value
    if base.kind is Kind.INSTANCE and isinstance(base.known, Defined):
        machine.assigned.add((base.known.dotted, label))
    return NONE


def take(machine: Machine, site: Site) -> Value:
    """`layers.append(module)`, `insert(0, module)`, `extend(modules)`: one more part, or several."""
    base, given = site.receiver or Value(), site.args.get("module") or site.args.get("modules")
    ref = machine.ref(base)
    if ref is not None and given is not None:
        for part in held_in(given):
            _joins(machine, ref, part, holds=True)
    return NONE if site.row.gives == Kind.NONE.value else base


def before(machine: Machine, site: Site) -> Value:
    """`module.register_forward_pre_hook(hook)`: what the module is given may be moved before it runs."""
    ref, hook = machine.ref(site.receiver or Value()), site.args.get("hook")
    known = hook.known if hook is not None else None
    summary = machine.program.summary(known.dotted) if isinstance(known, Defined) else None
    looks_only = summary is not None and summary.reaches.isdisjoint(knowledge.NAMES_DEVICES)
    if ref is not None and not looks_only:
        machine.log.note(ref, Evidence.PULLS)
        machine.settle_at(ref, UNKNOWN_PLACE, site.node)
    return OTHER


def forward(machine: Machine, site: Site) -> Value:
    """`module.forward(…)`, `module.generate(…)`."""
    assert site.receiver is not None
    return call(machine, site.node, site.receiver, site)


def call(machine: Machine, node: ast.Call, base: Value, site: Site) -> Value:
    """Run a module's forward."""
    args = site.args
    machine.note_unknown([value for _, value in args.positional], Evidence.TO_MODULE)
    place = machine.place_of(base)
    if base.who is not None:
        machine.log.runs[node] = machine.ref(base) or 0
    feed(machine, base, args)
    library = class_name(base)
    topics = knowledge.topics(library)
    if "loss" in topics:
        row = knowledge.find(f"{library}.forward") or _LOSS
        args.names = row.parameters
        return loss(machine, site._replace(row=row))
    if "scatters" in topics:
        return machine.own(node, Kind.BATCH, place)
    of_torch = library.startswith("torch.nn.")
    if of_torch or knowledge.takes_tensors(library):
        values = [value for _, value in args.all()]
        for value in values[:1]:
            if value.kind in (Kind.UNKNOWN, Kind.BATCH):
                machine.note(value, Evidence.TENSOR | Evidence.SHAPED)
        machine.note_unknown(values[1:], Evidence.OPERAND)
    known = of_torch or knowledge.is_strict_model(library)
    if not known:  # of what an unknown model takes beside its input, nobody knows what becomes
        machine.spill(value for _, value in (*args.positional[1:], *args.keywords.values(), *args.unpacked))
    func = node.func
    counts = knowledge.COUNTS if knowledge.COUNTING in topics else ""
    if isinstance(func, ast.Attribute) and func.attr in (*knowledge.RUNS_FORWARD, counts):
        func = func.value
    if of_torch and library.rpartition(".")[2] in knowledge.NO_PARAMETERS:
        parties = [(at, value) for at, value in args.all() if value.kind in MAY_HOLD_TENSORS]
        inputs = [value for _, value in parties]
        kind = Kind.SCALAR if [value.kind for value in inputs] == [Kind.SCALAR] else Kind.TENSOR
        return machine.computed(node, kind, machine.meet(node, parties, "call"), inputs)
    unread = knowledge.unread(library, {name: at for name, (at, _) in args.keywords.items()})
    named_ones = (each for name, each in args.keywords.items() if name != unread)
    given = [*args.positional, *named_ones, *args.unpacked]
    unpacked = len(given) - len(args.unpacked)
    fed = [each for index, each in enumerate(given) if _is_fed(base, *each, index, index >= unpacked)]
    if fed and isinstance(at := fed[0][0], ast.Starred) and fed[0][1].kind is Kind.BATCH:
        fed[0] = at.value, machine.part(fed[0][1], Item(0))
    runs = base if base.kind is not Kind.UNKNOWN else base._replace(kind=Kind.MODULE)
    named = _inputs_by_name(args)
    machine.note_unknown([value for at, value in fed if at in named], Evidence.TENSOR)
    for index, (at, value) in enumerate(fed):
        # Of what else an unknown model takes, some may belong on the cpu: lengths, texts, settings.
        beside, ref = machine.where(value).of, machine.ref(value)
        belongs = known or at in named or (ref is not None and is_of_graph(machine.objects, ref))
        if index == 0 or belongs or (beside is not None and beside == machine.where(fed[0][1]).of):
            for each, part in _parts_of(at, value):
                machine.meeting("call", each, machine.where(part), part, func, place, runs)
        if index and (at in named or (not belongs and _is_input(value))):
            first_at, first = fed[0]
            machine.meeting("beside", at, machine.where(value), value, first_at, machine.where(first), first)
    return machine.own(node, Kind.TENSOR if of_torch else Kind.BATCH, _result(machine, place, fed))


def takes_inputs_by_name(args: Arguments) -> bool:
    """Whether something is called as models of transformers are, and little else."""
    return not knowledge.MODEL_INPUTS.isdisjoint(args.keywords)


def _inputs_by_name(args: Arguments) -> set[ast.expr]:
    """What a model of transformers is given as its inputs, and its targets."""
    if not takes_inputs_by_name(args):
        return set()
    names = {*knowledge.MODEL_INPUTS, *knowledge.MODEL_TARGETS}
    return {at for name, (at, _) in args.keywords.items() if name in names}


def _is_fed(base: Value, at: ast.expr, value: Value, index: int, unpacked: bool) -> bool:
    """Whether what a module is given may be its input, and where it is is known."""
    if isinstance(at, ast.Starred) and not is_made(value):
        return value.kind is Kind.BATCH and not index
    # What is in a mapping, or list, may stay on the cpu where nobody knows what is called.
    return value.kind in MAY_HOLD_TENSORS or (
        value.kind is Kind.CONTAINER and (unpacked or base.kind is not Kind.UNKNOWN)
    )


def _is_input(value: Value) -> bool:
    """Whether a tensor was made here as inputs of models are: lengths have one dimension."""
    return is_made(value) and value.origin is not None and value.origin.dims > 1


def _parts_of(at: ast.expr, value: Value) -> Iterator[tuple[ast.expr, Value]]:
    """What a module is given: a value, or what a container holds; of what is one on one path, both."""
    if value.kind is Kind.CONTAINER:
        parts = value.items or (value.element or value,)
        shown = at.elts if isinstance(at, (ast.Tuple, ast.List)) else []
        yield from zip(shown if len(shown) == len(parts) else [at] * len(parts), parts, strict=True)
        return
    yield at, value
    held = value.items or ((value.element,) if value.element is not None else ())
    yield from ((at, part._replace(place=UNKNOWN_PLACE)) for part in held if is_made(part))


def feed(machine: Machine, base: Value, args: Arguments) -> None:
    """Remember what a function passes to a module: another, or another loop, may move it first."""
    ref = machine.ref(base)
    if not args.positional or ref is None or "scatters" in knowledge.topics(class_name(base)):
        return
    at, value = args.positional[0]
    moved = value.origin is not None and value.origin.how == "moved"
    place = machine.place_of(base)
    machine.log.feeds.append(Feed(ref, at, value, machine.where(value), place, moved))


def _result(machine: Machine, place: Place, fed: list[tuple[ast.expr, Value]]) -> Place:
    """Where the result of a forward is: with the module, or with what it is given where that says more."""
    owner = machine.here.owner
    view = machine.program.view(owner) if owner is not None else None
    of_self = view is not None and view.is_module and place.of == machine.objects.self_of(view.name)
    conditional = (place.form is Form.EITHER and not place.when) or machine.is_chosen(place)
    if place.form is Form.UNKNOWN or (place.form is Form.AT and not of_self):
        moved = machine.combine([value for _, value in fed])
        return moved if moved.form is not Form.UNKNOWN else place
    if conditional:
        moved = machine.combine([value for _, value in fed])
        return moved if moved.form is Form.EITHER else place
    return place


def unknown_module(machine: Machine, node: ast.Call, callee: Value, site: Site) -> Value:
    """Call an object that is likely a module."""
    ref = machine.ref(callee)
    if ref is not None and (machine.place_at(ref) is None or _moves_with_self(machine, callee, ref)):
        machine.log.guesses[node] = ref
        if callee.kind is Kind.MODULE:  # by an annotation, say
            machine.note(callee, Evidence.MODULE)
    result = call(machine, node, callee, site)
    parties = [(at, value) for at, value in site.args.positional if value.kind in MAY_HOLD_TENSORS]
    if parties and _is_computed(machine, parties[0][1]):
        maybe_loss(machine, result, parties, NOBODY if ref is None else ref)
    return result


def _moves_with_self(machine: Machine, callee: Value, ref: Ref) -> bool:
    """Whether what is called is where it is for `self` alone, and moves with it if it is a module."""
    way, owner = machine.objects.ways[ref], machine.objects.owner(ref)
    root = machine.objects.ways[owner] if isinstance(way, Attr) and owner >= 0 else None
    of_self = isinstance(root, Root) and root.kind == "self"
    return callee.kind is Kind.UNKNOWN and of_self and ref not in machine.state.places


def _is_computed(machine: Machine, value: Value) -> bool:
    """Whether a value is what some call gave, as a network's output is that a loss takes."""
    ref = machine.ref(value)
    if ref is None or machine.objects.wholes[ref] >= 0:
        return False
    return machine.objects.owner(ref) < 0 and not machine.objects.is_parameter(ref)
