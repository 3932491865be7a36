"""A tensor is made on the cpu and meets one that may be elsewhere

A factory without `device=` makes its tensor on the cpu. Where the module and its inputs were moved, they
raise `Expected all tensors to be on the same device`: on every accelerator, never on the cpu.

    def forward(self, x):
        noise = torch.randn(x.shape)  # DEV403
        return x + noise

Make it where the other one is:

    def forward(self, x):
        noise = torch.randn(x.shape, device=x.device)
        return x + noise

What it meets may be known to be elsewhere, belong to the module, or be what `forward` is given. What its
other methods are given is a warning, as is what functions are where a caller, in any file, has that on a
device, or the result goes `.to(x.device)`; else a note, where the function or its class follows the devices
of its arguments, the tensor's size, dtype or elements come from what it meets or that is computed of, nothing
in the program calls it, or what it meets is a model that callers have, or a callable whose result goes to the
cpu. What a model of unknown class, or one that another method moves, is given, and gives, is a warning, as is
what is put for a buffer. The fix is unsafe: what it follows may be None, the numbers are the device's.

What another file makes, and returns or keeps in an object, is told where it meets something, without a fix.
What a function returns on one path is on the cpu, and on another wherever its arguments are: a warning, as is
what `forward` fills with what it computes. What it returns with the size or dtype of an argument is a note.

Left alone: 0-dim tensors in arithmetic and comparisons, a cpu index of a tensor elsewhere, what is stored by
a number or slice, any index that something is stored at, other default devices, constructors, datasets,
collate functions, tests, branches without accelerator, scripts that speak of no device, module attributes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    Ask,
    Cause,
    Change,
    Claim,
    Conflict,
    Form,
    Kind,
    Meeting,
    Report,
    Rule,
    Severity,
    Spot,
    at_device,
    comes_from,
    cst,
    meeting,
    on_device,
    outside,
    source_of,
)

_TAKE_NO_DEVICE = ("torchvision.", "torch.distributions.", "pad_packed_sequence")
_PUTS = {"attribute": " and replaces the buffer", "filled": " and returned, filled with what is"}
_LEAVES = {"return": ", and another path returns", "join": " and comes of", "size": " with size or dtype of"}


class CreatedOnCpu(Rule[Meeting]):
    """What a factory makes without `device=`, and what it meets."""

    code = "DEV403"
    name = "created-on-cpu"
    cause = Cause.MADE
    watches = (meeting(comes_from("factory", "array"), outside("probe")),)
    claim = Claim(MIXED_DEVICES, packages=("numpy", "accelerate"))

    def visit(self, node: cst.CSTNode, event: Meeting, ask: Ask) -> Iterator[Report]:
        """Report where the tensor is made."""
        if ask.copies_given(node):
            return
        sure = event.conflict in (Conflict.CERTAIN, Conflict.PORTABLE)
        tries = "method" in event.at.context or event.right.place.form not in (Form.LITERAL, Form.SAME)
        surely = sure and not (tries and ask.only_constructs(event.at.function))  # which ask for a size
        presumed = Severity.WARNING if event.conflict is Conflict.PRESUMED else Severity.NOTE
        other, runs = event.right, "forward" in event.at.context or event.conflict is Conflict.CERTAIN
        severity = (None if runs or other.place.name else Severity.WARNING) if surely else presumed
        because: tuple[tuple[Spot | None, str], ...] = ()
        device, kept = event.device, event.left.span == event.at.span and not event.left.made_here
        where = f" on `{other.place.name}`" if other.place.name else ", which may be elsewhere"
        if event.conflict in (Conflict.CALLER, Conflict.GIVEN) and not other.place.name:
            entry = Kind.SCALAR if event.how == "index" else None  # which counts as a number
            there = on_device(given := [x for x in ask.given(other) if x.kind is not entry], tensors=True)
            unsure = given or not (other.certain or event.how == "size")
            if there is None and event.conflict is Conflict.GIVEN and unsure:
                return
            where = ", which is wherever the caller put it"
            if there is not None:
                where = f", which a caller has on `{there.place.name or 'the device of a module'}`"
                severity, because = Severity.WARNING, ((there.spot, "it is given here"),)
                made_there = event.left.origin is not None and event.left.origin.function == other.given[0]
                device = device or (f"{other.given[1]}.device" if made_there else "")
        change: Change | None = None
        if device and isinstance(node, cst.Call):
            origin, called = ask.value_of(node).origin, source_of(node.func).rpartition(".")[2]
            if not (origin.api if origin is not None else called).startswith(_TAKE_NO_DEVICE):
                change = Change(f"make it on `{device}`", ((node, at_device(node, device)),), safe=False)
        made = f"`{event.left.label}`" if kept or event.left.label.isidentifier() else "a tensor"
        made = f"what {made} holds" if event.how == "container" and made[0] == "`" else made
        path = "on one path " if event.left.place.form is not Form.CPU else ""
        meets = _PUTS.get(event.how, " and meets")
        at = "it is put there here" if event.how in _PUTS else "they meet here"
        if event.how in _LEAVES:
            meets, at = _LEAVES[event.how], "it is returned here"
            nothing = source_of(node).endswith(("()", "([])"))
            severity = Severity.NOTE if nothing or event.how == "size" else severity or Severity.WARNING
        label = "" if event.how == "filled" else f" `{other.label}`"
        yield Report(
            f"{made} is {path}made on the cpu{meets}{label}{where}",
            "a factory without `device=` makes its tensor on the default device",
            *(severity, change),
            (
                *because,
                *((spot, "") for spot in event.left.spots if kept or spot.node is not None),
                (other.span if (other.span or event.at.span).line != event.at.span.line else None, at),
                *((spot, "") for spot in other.spots),
            ),
        )
