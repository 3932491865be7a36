"""A random generator is on another device than what is drawn with it

A `torch.Generator` draws on its own device alone: with one of the cpu `torch.rand(3, device="cuda",
generator=g)` raises; one of the device is for no factory without `device=`, and no `DataLoader`.

    generator = torch.Generator(device=device)
    order = torch.randperm(8, generator=generator)  # DEV409

Draw where the generator is:

    generator = torch.Generator(device=device)
    order = torch.randperm(8, generator=generator, device=device)

What follows an input (`device=x.device`) is an error in a `forward`, else a warning. So is a loader's, which
draws its order on the default device: where that is changed, one that shuffles has to be given one. One that
callers pass is a note, a warning where a caller has it elsewhere. Left alone: what the file does not tell.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    TENSORS,
    Ask,
    Call,
    Cause,
    Claim,
    Form,
    Kind,
    Place,
    Raises,
    Report,
    Rule,
    Seen,
    Severity,
    all_on_cpu,
    call,
    cst,
    gives,
    is_away,
    lacks,
    on_cpu_beside,
    on_device,
    outside,
)

_HANDED_ON = Kind.UNKNOWN, Place(Form.ANYWHERE)  # no input, which would be where a module runs
_APART = "`{}` is on {}, and the numbers are drawn on {}"
_ORDER = "the order is drawn on the default device, `{}`, and the generator of `{}` on the cpu"
_RAISES = "on an accelerator it raises: a generator draws on its own device alone"
_TOLD = (Form.LITERAL, Form.SAME, Form.AT, Form.EITHER, Form.CPU)


class GeneratorDevice(Rule[Call]):
    """Numbers that are drawn with a generator of another device."""

    code = "DEV409"
    name = "generator-device"
    cause = Cause.GENERATOR
    watches = (
        call("torch.*", "Tensor.*", gives("generator"), outside("probe")),
        call("torch.utils.data.DataLoader", "*.data.RandomSampler", lacks("generator"), outside("probe")),
    )
    claim = Claim(Raises("RuntimeError", "device type for generator"))

    def suspects(self, event: Call) -> bool:
        """Whether it is known where the generator is, or a loader makes its own."""
        if "generator" not in event.given:
            told = event.given.get("shuffle")
            return not event.open and (told.label == "True" if told else event.callee.endswith("Sampler"))
        seen = event.given["generator"]
        known = bool(seen.given[1]) or (seen.kind is Kind.GENERATOR and seen.place.form in _TOLD)
        return known and seen.kind in (Kind.GENERATOR, Kind.UNKNOWN) and not event.at.guard.absent

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Compare with where the numbers are drawn."""
        loads, generator = event.callee.startswith("torch.utils.data"), event.given.get("generator")
        default = ask.default_device_here if loads else ""  # which is where loaders draw
        if default or generator is None:
            its = generator.label if generator is not None else event.callee
            if default and (generator is None or generator.place.form is Form.CPU):
                yield Report(_ORDER.format(default, its), _RAISES, Severity.WARNING)
            return
        place = (drawn := ask.value_of(node)).place
        on_host = loads or drawn.kind in (Kind.LOADER, Kind.CONTAINER)
        if ask.sets_default_device if on_host else drawn.kind not in TENSORS:
            return
        if generator.given[1] and generator.place.form is Form.UNKNOWN:
            return (yield from _of_caller(event, ask, drawn, on_host))
        forward, level = "forward" in event.at.context, Severity.WARNING if on_host else None
        if generator.place.form is Form.CPU:
            if not on_host and place.form is Form.AT:
                if not forward and ("device" not in event.given or all_on_cpu(ask.given(drawn))):
                    return  # it follows neither an input of `forward` nor what a caller may have on a device
                level = None if forward else Severity.WARNING
            elif on_host or not is_away(place, following=False):
                return
        elif not (is_away(generator.place, following=True) and (on_host or place.form is Form.CPU)):
            return
        elif generator.place.form is Form.AT and not forward:
            level = Severity.WARNING  # what it follows may always be on the cpu
        where = f"`{name}`" if (name := generator.place.name) else "another device"
        told = event.given["device"].label if place.form is Form.AT and "device" in event.given else ""
        here = "the cpu" if on_host or place.form is Form.CPU else f"`{told or place.name or 'the device'}`"
        yield Report(_APART.format(generator.label, where, here), _RAISES, level)


def _of_caller(event: Call, ask: Ask, drawn: Seen, on_host: bool) -> Iterator[Report]:
    """Numbers that are drawn with a generator that a caller gives."""
    generator, where = event.given["generator"], event.given.get("device", drawn)
    if here := on_host or drawn.place.form is Form.CPU:
        there = on_device(given := [each for each in ask.given(generator) if each[:2] != _HANDED_ON])
        if there is None and (on_host or all_on_cpu(given) or generator.kind is not Kind.GENERATOR):
            return
    else:
        away = not where.given[1] and is_away(drawn.place, following=False)
        if (there := on_cpu_beside(ask.given_together(generator, where), away)) is None:
            return
    drawn_at, other = ("on the cpu", "an accelerator") if here else ("elsewhere", "the cpu")
    yield Report(
        f"`{generator.label}` is the caller's, and the numbers are drawn {drawn_at}",
        f"with one of {other} it raises: draw on `generator.device`",
        Severity.NOTE if there is None else Severity.WARNING,
        because=None if there is None else ((there.spot, "it is given here"),),
    )
