"""A random generator is on another device than what is drawn with it

A `torch.Generator` draws numbers on its own device alone: with one of the cpu `torch.randn(3, device="cuda",
generator=g)` raises, and one of the device cannot be used by a factory without `device=`, nor by a
`DataLoader`, which draws its order on the cpu.

    generator = torch.Generator(device=device)
    order = torch.randperm(8, generator=generator)  # DEV409

Draw where the generator is:

    generator = torch.Generator(device=device)
    order = torch.randperm(8, generator=generator, device=device)

What follows an input (`device=x.device`) with a generator of the cpu is an error in a `forward`, else a
warning. So is a loader's: where `torch.set_default_device` was called, the order is drawn there.

A generator that a caller passes is a note where the numbers are drawn on the cpu wherever it is, a warning
where a caller has it on a device. Left alone: places that the file does not tell.
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
    on_device,
    outside,
)

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
        known = seen.place.form in (*_AWAY, Form.CPU) or handed
        is_one = seen.kind is Kind.GENERATOR or (seen.kind is Kind.UNKNOWN and handed)
        return is_one and known and not event.at.guard.absent

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Compare with where the numbers are drawn."""
        generator, drawn = event.given["generator"], ask.value_of(node)
        on_host = drawn.kind in (Kind.LOADER, Kind.CONTAINER) or event.callee.startswith("torch.utils.data")
        if not on_host and drawn.kind not in TENSORS:
            return
        place = drawn.place
        if generator.given[1] and generator.place.form is Form.UNKNOWN:
            if on_host or place.form is Form.CPU:
                yield from _of_caller(event, ask, on_host)
            return
        severity = Severity.WARNING if on_host else None  # another file may have set the default device
        if generator.place.form is Form.CPU:
            if not on_host and place.form is Form.AT:
                if not _follows(event, drawn, ask):
                    return
                severity = None if "forward" in event.at.context else Severity.WARNING
            elif on_host or not _is_away(place, following=False):
                return
        elif not (_is_away(generator.place, following=True) and (on_host or place.form is Form.CPU)):
            return
        where = f"`{generator.place.name}`" if generator.place.name else "another device"
        told = event.given["device"].label if place.form is Form.AT and "device" in event.given else ""
        here = "the cpu" if on_host or place.form is Form.CPU else f"`{told or place.name or 'the device'}`"
        yield Report(
            f"`{generator.label}` is on {where}, and the numbers are drawn on {here}",
            "on an accelerator it raises: a generator draws on its own device alone",
            severity,
        )


def _follows(event: Call, drawn: Seen, ask: Ask) -> bool:
    """Whether the numbers are drawn where an input of `forward` is, or what the call names, of a caller."""
    if "forward" in event.at.context:
        return True
    return "device" in event.given and not all_on_cpu(ask.given(drawn))


def _of_caller(event: Call, ask: Ask, on_host: bool) -> Iterator[Report]:
    """Numbers that are drawn on the cpu, with a generator that a caller gives."""
    generator = event.given["generator"]
    there = on_device(given := ask.given(generator))
    if there is None and (on_host or all_on_cpu(given) or generator.kind is not Kind.GENERATOR):
        return
    yield Report(
        f"`{generator.label}` is the caller's, and the numbers are drawn on the cpu",
        "with one of an accelerator it raises: draw on `generator.device`",
        Severity.NOTE if there is None else Severity.WARNING,
        because=None if there is None else ((there.spot, "it is given here"),),
    )


def _is_away(place: Place, *, following: bool) -> bool:
    """Whether a place is no cpu wherever there is an accelerator."""
    if place.form is Form.EITHER:
        return bool(place.name) or place.of is not None
    return place.form in (Form.LITERAL, Form.SAME) or (following and place.form is Form.AT)
