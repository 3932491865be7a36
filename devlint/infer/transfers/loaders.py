"""Data loaders: what they yield is on the cpu, unless the dataset or `collate_fn` says otherwise."""

from __future__ import annotations

from ...core.evidence import Evidence
from ...core.kinds import TENSORS, Kind
from ...core.paths import Attr, Element, Item, Ref
from ...core.places import CPU, ON_DEVICE, UNKNOWN_PLACE, Form, Place
from ...core.summary import Term
from ...core.values import MAPPINGS, Api, Defined, Partial, Value, container
from ...knowledge import topics_of_call
from ...knowledge.vocabulary import (
    CALLED,
    COLLATES_ON_CPU,
    IN_WORKERS,
    INDEXED,
    MOVES,
    NAMES_DEVICES,
    RUN_BY_WORKERS,
    WORKERS,
)
from ..machine import Machine, Site, class_name, is_elsewhere

_WITH_OPTIONS = (WORKERS, *sorted(RUN_BY_WORKERS))


def loader(machine: Machine, site: Site) -> Value:
    """A loader whose batches are collated on the cpu."""
    machine.spill((value for _, value in site.args.all()), from_device=True)  # workers and pinned memory
    _unpack(machine, site)
    value = machine.made(site.node, Kind.LOADER, how="loader", api=site.api, known=Api(site.api))
    ref = machine.ref(value)
    assert ref is not None
    batch = machine.objects.part(ref, Element())
    place = Place(CPU.form, CPU.name, batch)
    collate, dataset = site.args.get("collate_fn"), site.args.get("dataset")
    source = machine.ref(dataset) if dataset is not None else None
    if source is not None:
        machine.loaded_from[ref] = source
    if dataset is not None and (_moves_samples(machine, dataset) or _holds_moved(machine, dataset)):
        machine.log.note(ref, Evidence.PLACED)
    if collate is not None and COLLATES_ON_CPU in topics_of_call(class_name(collate)):
        collate = None  # as the loader does by itself
    if collate is not None and collate.kind is not Kind.NONE:
        given = _collated(machine, collate)
        if given is not None and _moves_itself(machine, given):
            return value._replace(element=Value(Kind.OTHER))  # what of it moves, its class tells alone
        place = place if given is not None and _is_of_tensors(given) else UNKNOWN_PLACE
    elif dataset is not None and dataset.kind is Kind.CONTAINER and dataset.element is not None:
        places = [machine.where(item) for item in dataset.element.items or ()]
        if any(each.form in ON_DEVICE for each in places):
            machine.log.note(ref, Evidence.PLACED)
        if any(each.form is not Form.CPU for each in places):
            place = UNKNOWN_PLACE
    elif dataset is not None and dataset.kind in TENSORS:
        place = _of_rows(machine, ref, dataset, place)
    elif dataset is not None and (_may_move(machine, dataset) or _holds_moved(machine, dataset)):
        place = UNKNOWN_PLACE
    elif dataset is not None and (_is_given(machine, dataset) or _shares_given(machine, dataset)):
        machine.log.doubted.add(ref)
    if machine.state.default not in (None, CPU):
        place = UNKNOWN_PLACE  # workers make it on the cpu, and without any it is made on the default device
    element = Value(Kind.BATCH, place, batch)
    return value._replace(element=element)


def _unpack(machine: Machine, site: Site) -> None:
    """Take how many workers there are, and what they run, from a mapping that is unpacked: `**options`."""
    for at, whole in site.args.unpacked:
        ref = machine.ref(whole)
        wholes = machine.objects.sources.get(ref, (ref,)) if ref is not None else ()
        for name in _WITH_OPTIONS:
            found = (machine.state.env.get((each, Item(name))) for each in wholes)
            value = next(filter(None, found), None)
            if value is not None and site.args.get(name) is None:
                site.args.keywords[name] = (at, value)


def _of_rows(machine: Machine, ref: Ref, dataset: Value, place: Place) -> Place:
    """Where the batches of a tensor's rows are: wherever that is.

    What belongs to an object that a caller gives, a graph, may have been moved with all that it has.
    """
    there = machine.where(dataset)
    if there.form is Form.AT and type(there.of) is int and isinstance(machine.objects.ways[there.of], Attr):
        return UNKNOWN_PLACE
    if there.form in ON_DEVICE:
        machine.log.note(ref, Evidence.PLACED)
    elif there.form is Form.AT:
        machine.log.doubted.add(ref)
    return place if there.form in (Form.CPU, Form.AT) else UNKNOWN_PLACE


def _is_given(machine: Machine, dataset: Value) -> bool:
    """Whether a caller gives a dataset, or what it is a part of, and nobody knows its class."""
    ref = machine.ref(dataset)
    return dataset.kind is Kind.UNKNOWN and ref is not None and machine.objects.is_given(ref)


def _shares_given(machine: Machine, dataset: Value) -> bool:
    """Whether a dataset of the project yields, as it is, what a caller gave to be kept: tensors, perhaps."""
    known, ref = dataset.known, machine.ref(dataset)
    if dataset.kind is not Kind.INSTANCE or not isinstance(known, Defined):
        return False
    kept = [value for key, value in machine.state.env.items() if isinstance(key, tuple) and key[0] == ref]
    view = machine.program.view(known.dotted) if any(_is_given(machine, each) for each in kept) else None
    found = view.method(INDEXED) if view is not None else None
    summary = machine.program.summary(found) if found is not None else None
    return summary is not None and _is_shared(summary.returns)


def _is_shared(given: Term) -> bool:
    """Whether all of what is given is neither made nor computed, as far as anybody knows."""
    parts = given.items or ((given.element,) if given.element is not None else ())
    if given.kind is Kind.CONTAINER and parts:
        return all(map(_is_shared, parts))
    return given.kind is Kind.UNKNOWN and given.origin is None


def _may_move(machine: Machine, dataset: Value) -> bool:
    """Whether a dataset of the project may yield what was moved when it was made, or what it moves."""
    if dataset.kind is Kind.INSTANCE and isinstance(dataset.known, Defined):
        view = machine.program.view(dataset.known.dotted)
        return view is not None and view.moves()
    return bool(machine.seen(dataset) & Evidence.PLACED)


def _moves_samples(machine: Machine, dataset: Value) -> bool:
    """Whether a dataset of the project moves what it yields, or parts of it, or has a function that does."""
    if dataset.kind is not Kind.INSTANCE or not isinstance(dataset.known, Defined):
        return False
    if machine.seen(dataset) & Evidence.PLACED:
        return True
    view = machine.program.view(dataset.known.dotted)
    found = (view.method(name) for name in IN_WORKERS) if view is not None else ()
    summaries = (machine.program.summary(name) for name in found if name is not None)
    return any(each is not None and not each.reaches.isdisjoint(NAMES_DEVICES) for each in summaries)


def _holds_moved(machine: Machine, dataset: Value) -> bool:
    """Whether a dataset was given what may be on a device, or what moves, to keep, or was moved itself."""
    ref = machine.ref(dataset)
    if ref is None or dataset.kind not in (Kind.INSTANCE, Kind.UNKNOWN):
        return False
    there = machine.state.places.get(ref)
    if is_elsewhere(dataset) or (there is not None and there.form in ON_DEVICE):
        return True
    return machine.keeps_moved(ref) or any(
        key[0] == ref and _is_mover(machine, value)
        for key, value in machine.state.env.items()
        if isinstance(key, tuple)
    )


def _is_mover(machine: Machine, value: Value) -> bool:
    """Whether an object of the project moves what it is called with."""
    if value.kind is not Kind.INSTANCE or not isinstance(value.known, Defined):
        return False
    view = machine.program.view(value.known.dotted)
    return view is not None and view.method(CALLED) is not None and view.moves()


def _collated(machine: Machine, collate: Value) -> Term | None:
    """What a `collate_fn` gives; None of one that may move it: what is no function of the project, or names
    a device."""
    known = collate.known.of if isinstance(collate.known, Partial) else collate.known
    if not isinstance(known, Defined):
        return None
    name: str | None = known.dotted if collate.kind is Kind.FUNCTION else None
    if collate.kind is Kind.INSTANCE:
        view = machine.program.view(known.dotted)
        name = view.method(CALLED) if view is not None else None
    summary = machine.program.summary(name) if name is not None else None
    if summary is None or not summary.reaches.isdisjoint(NAMES_DEVICES):
        return None
    return summary.returns


def _moves_itself(machine: Machine, given: Term) -> bool:
    """Whether a batch is an object of the project whose own methods move what is in it."""
    if given.kind is not Kind.INSTANCE or not isinstance(given.known, Defined):
        return False
    view = machine.program.view(given.known.dotted)
    return view is not None and any(view.method(name) is not None for name in MOVES)


def _is_of_tensors(given: Term) -> bool:
    """Whether a batch may be moved as a whole: not where some of a mapping are lists, and others tensors.

    Nor where all are lists of what the samples have: `{key: [x[key] for x in samples] for key in keys}`.
    """
    held = given.element if given.known in MAPPINGS else None
    if held is not None and held.kind is Kind.CONTAINER and not held.items:
        held = held.element
    return held is None or held.kind is not Kind.UNKNOWN


def subset(machine: Machine, site: Site) -> Value:
    """`Subset(dataset, …)`, `ConcatDataset([…])`: what the dataset yields."""
    first = site.args.first() or Value()
    return machine.element(first, site.node) if first.kind is Kind.CONTAINER and first.items else first


def split(machine: Machine, site: Site) -> Value:
    """`random_split(dataset, …)`: several of what the dataset is."""
    return container(element=site.args.first() or Value())


def tensors(machine: Machine, site: Site) -> Value:
    """`TensorDataset(x, y)` indexes the tensors it is given, wherever those are."""
    values = tuple(value for _, value in site.args.positional)
    machine.note_unknown(values, Evidence.TENSOR)
    element = container(items=values)
    return machine.own(site.node, Kind.CONTAINER, role="made")._replace(element=element)
