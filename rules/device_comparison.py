"""A device is compared with what it never equals

A `torch.device` equals other devices alone: `==` with a string is always false, whatever that says, `!=`
always true, and `in` finds nothing. `torch.device("cuda")` never equals the device of a tensor, which has an
index: `cuda:0`. `is` never finds it either. A type has none, and is never `gpu`.

    if features.device == "cuda":  # DEV208

Compare the type, which is a string:

    if features.device.type == "cuda":

Left alone: what may be a string itself, devices without a known index, and needless moves.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    RUNS,
    TENSORS,
    Ask,
    Change,
    Claim,
    Compare,
    Kind,
    Observes,
    Report,
    Rule,
    compare,
    cst,
    left,
    outside,
    right,
    source_of,
)

_LEFT = left(Kind.DEVICE, Kind.STRING)


class DeviceComparison(Rule[Compare]):
    """A `torch.device` beside a string, a number, or a device that it cannot equal."""

    code = "DEV208"
    name = "device-comparison"
    watches = (compare(_LEFT, outside("probe")), compare(right(Kind.DEVICE), outside("probe")))
    claim = Claim(
        Observes("found", [], ["cuda", "made"]),
        programs={
            "others": Claim(Observes("found", [], ["cuda", "numbered", "same", "typed", "first"])),
            "spellings": Claim(Observes("found", ["elsewhere"], ["in", "cuda"])),
            "cpu": Claim(RUNS, cpu=Observes("found", ["not the cpu"], [])),
            "wrapped": Claim(Observes("found", [], ["cuda"])),
            "fields": Claim(Observes("found", [], ["scaled", "pinned", "there"])),
        },
    )

    def suspects(self, event: Compare) -> bool:
        """Whether one side is a device for sure, and the other may be no device of the same precision."""
        device, other = event.left, event.right
        if device.kind is not Kind.DEVICE:
            device, other = other, device
        if device.kind is not Kind.DEVICE:
            return bool(_never(event))
        if event.operator.endswith("in"):
            return device.certain and event.left is device and other.kind is Kind.CONTAINER
        known = other.kind in (Kind.STRING, Kind.NUMBER) or (other.kind is Kind.DEVICE and other.certain)
        return device.certain and known and not event.decides

    def visit(self, node: cst.CSTNode, event: Compare, ask: Ask) -> Iterator[Report]:
        """Report the comparison; compare types instead, where the other side names one."""
        assert isinstance(node, cst.Comparison)
        device, other = node.left, node.comparisons[0].comparator
        if event.left.kind is event.right.kind is Kind.STRING:
            whole = ask.value_of(device.value) if isinstance(device, cst.Attribute) else None
            if whole is not None and whole.kind is Kind.DEVICE:
                yield Report(f"`{event.left.label}` never equals `{_never(event)}`", "no such type exists")
            return
        if event.left.kind is not Kind.DEVICE or (event.right.kind is Kind.DEVICE and _type(device)):
            device, other = other, device
        kind, why = cst.Attribute(device, cst.Name("type")), "a device equals devices alone, never its name"
        said = f"`{source_of(device)}` is a `torch.device` and never equals `{source_of(other)}`"
        change = None
        if event.left.kind is event.right.kind and event.operator.startswith("is"):
            if not any(isinstance(side, (cst.Attribute, cst.Call)) for side in (device, other)):
                return
            said = "`is` tells equal devices apart"
            why = "each time that a device is read, it is a new object"
        elif event.left.kind is event.right.kind:
            tensor = ask.value_of(device.value) if isinstance(device, cst.Attribute) else None
            text = _type(other)
            if tensor is None or text is None or not tensor.certain or tensor.kind not in TENSORS:
                return
            said = f"`{source_of(device)}` has an index and never equals `{source_of(other)}`"
            why = "the device of a tensor is `cuda:0`, say, which `cuda` does not equal"
            change = Change("compare types", ((device, kind), (other, text)), safe=True)
        else:
            items = [each.value for each in getattr(other, "elements", ())] or [other]
            texts = [each.evaluated_value for each in items if isinstance(each, cst.SimpleString)]
            if len(texts) < len(items) and event.operator.endswith("in"):
                return
            plain = isinstance(device, (cst.Name, cst.Attribute)) and not event.operator.startswith("is")
            if plain and len(texts) == len(items) and all(str(text).isalpha() for text in texts):
                change = Change("compare types", ((device, kind),), safe="cpu" not in texts)
        yield Report(said, why, change=change)


def _never(event: Compare) -> str:
    """What the type of a device never equals, where what is called one is compared with a text."""
    text, typed = event.right.label.strip("\"'"), event.left.label.endswith(".type")
    wrong = ":" in text or text.lower() in ("gpu", *{"cuda", "cpu", "mps"} - {text})
    return text if typed and wrong and event.right.kind is Kind.STRING else ""


def _type(node: cst.BaseExpression) -> cst.SimpleString | None:
    """The literal of a device made here that names a type with indices, and no index."""
    text = node.args[0].value if isinstance(node, cst.Call) and len(node.args) == 1 else None
    named = isinstance(text, cst.SimpleString) and text.evaluated_value in ("cuda", "mps", "xpu")
    return text if named and isinstance(text, cst.SimpleString) else None
