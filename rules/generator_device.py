"""A random generator is on another device than what is drawn with it

A `torch.Generator` draws on its own device alone: with one of the cpu `torch.rand(3, device="cuda",
generator=g)` raises; one of the device is for no factory without `device=`, and no `DataLoader`.

    generator = torch.Generator(device=device)
    order = torch.randperm(8, generator=generator)  # DEV409

Draw where the generator is:

    generator = torch.Generator(device=device)
    order = torch.randperm(8, generator=generator, device=device)

What follows an input (`device=x.device`) is an error in a `forward`, else a warning. So is a loader's: where
`torch.set_default_device` was called, the order is drawn there. One that callers pass is a note where the
numbers are drawn on the cpu wherever it is, a warning where a caller has it on another device. Left alone:
places that the file does not tell.
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
    on_cpu_beside,
    on_device,
    outside,
)

_HANDED_ON = Kind.UNKNOWN, Place(Form.ANYWHERE)  # no input, which would be where a module runs
_AWAY = (Form.LITERAL, Form.SAME, Form.AT, Form.EITHER)


class GeneratorDevice(Rule[Call]):
    """Numbers that are drawn with a generator of another device."""

    code = "DEV409"
    name = "generator-device"
    cause = Cause.GENERATOR
    watches = (call("torch.*", gives("generator"), outside("probe")), call("Tensor.*", gives("generator")))
    claim = Claim(Raises("RuntimeError", "device type for generator"))

    def suspects(self, event: Call) -> bool:
        """Whether it is known where the generator is."""
        seen, handed = event.given["generator"], bool(event.given["generator"].given[1])
        known = handed or (seen.kind is Kind.GENERATOR and seen.place.form in (*_AWAY, Form.CPU))
        return known and seen.kind in (Kind.GENERATOR, Kind.UNKNOWN) and not event.at.guard.absent

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Compare with where the numbers are drawn."""
        generator, drawn = event.given["generator"], ask.value_of(node)
        place, loads = drawn.place, event.callee.startswith("torch.utils.data")
        on_host = loads or drawn.kind in (Kind.LOADER, Kind.CONTAINER)
        if not on_host and drawn.kind not in TENSORS:
            return
        if generator.given[1] and generator.place.form is Form.UNKNOWN:
            yield from _of_caller(event, ask, drawn, on_host)
            return
        if on_host and ask.calls_of("torch.set_default_device"):
            return  # which is where loaders draw as well
        forward, severity = "forward" in event.at.context, Severity.WARNING if on_host else None
        if generator.place.form is Form.CPU:
            if not on_host and place.form is Form.AT:
                if not forward and ("device" not in event.given or all_on_cpu(ask.given(drawn))):
                    return  # it follows neither an input of `forward` nor what a caller may have on a device
                severity = None if forward else Severity.WARNING
            elif on_host or not _is_away(place, following=False):
                return
        elif not (_is_away(generator.place, following=True) and (on_host or place.form is Form.CPU)):
            return
        elif generator.place.form is Form.AT and not forward:
            severity = Severity.WARNING  # what it follows may always be on the cpu
        where = f"`{generator.place.name}`" if generator.place.name else "another device"
        told = event.given["device"].label if place.form is Form.AT and "device" in event.given else ""
        here = "the cpu" if on_host or place.form is Form.CPU else f"`{told or place.name or 'the device'}`"
        yield Report(
            f"`{generator.label}` is on {where}, and the numbers are drawn on {here}",
            "on an accelerator it raises: a generator draws on its own device alone",
            severity,
        )


def _of_caller(event: Call, ask: Ask, drawn: Seen, on_host: bool) -> Iterator[Report]:
    """Numbers that are drawn with a generator that a caller gives."""
    generator, where = event.given["generator"], event.given.get("device", drawn)
    if here := on_host or drawn.place.form is Form.CPU:
        there = on_device(given := [each for each in ask.given(generator) if each[:2] != _HANDED_ON])
        if there is None and (on_host or all_on_cpu(given) or generator.kind is not Kind.GENERATOR):
            return
    else:
        away = not where.given[1] and _is_away(drawn.place, following=False)
        if (there := on_cpu_beside(ask.given_together(generator, where), away)) is None:
            return
    drawn_at, other = ("on the cpu", "an accelerator") if here else ("elsewhere", "the cpu")
    yield Report(
        f"`{generator.label}` is the caller's, and the numbers are drawn {drawn_at}",
        f"with one of {other} it raises: draw on `generator.device`",
        Severity.NOTE if there is None else Severity.WARNING,
        because=None if there is None else ((there.spot, "it is given here"),),
    )


def _is_away(place: Place, *, following: bool) -> bool:
    """Whether a place is no cpu wherever there is an accelerator."""
    if place.form is Form.EITHER:
        return bool(place.name) or place.of is not None
    return place.form in (Form.LITERAL, Form.SAME) or (following and place.form is Form.AT)
