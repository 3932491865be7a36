"""A legacy type, such as `torch.cuda.FloatTensor`, says where a tensor is

It fixes dtype and device at once. One of CUDA fails without a CUDA device, one of the cpu where it is given
another device; `.type()` names one without an index, or none that there is: `torch.mps.FloatTensor`.

    mask = torch.cuda.ByteTensor([1, 0, 1])  # DEV203
    mask = torch.ByteTensor([1, 0, 1], device=x.device).type(x.type())  # DEV203

Say which dtype, and where, or like which tensor:

    mask = torch.tensor([1, 0, 1], dtype=torch.uint8, device=device).type_as(x)

The first fix is unsafe: all else of that type may be elsewhere. An error where a type of the cpu is given a
device; a note for `.type()`, which is right on one GPU of CUDA, and where an accelerator is needed anyway.
Left alone: `isinstance`, what is compared, on the cpu, in a loader's hands, where an accelerator is; tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    RUNS,
    Ask,
    Call,
    Change,
    Claim,
    Form,
    Kind,
    Raises,
    Report,
    Rule,
    Severity,
    call,
    cst,
    gives,
    outside,
    source_of,
    type_as,
    unguarded,
    without_legacy_type,
)

_DTYPES = {
    **{"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Bool": "bool"},
    **{"Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64"},
}
_DOCS = "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.type.html"
_TWO = Claim(MIXED_DEVICES, needs="cuda x2", documentation=_DOCS)
_NAME = re.compile(r"""['"]?torch\.cuda\.(\w+)Tensor['"]?""")
_CALLS = ("@legacy-type", "Tensor.type", "Module.type", "torch.set_default_tensor_type")


class LegacyCudaType(Rule[Call]):
    """A legacy type that is called, or that something is turned into."""

    code = "DEV203"
    name = "legacy-cuda-type"
    severity = Severity.WARNING
    watches = (
        call(*_CALLS, unguarded(), outside("test")),
        call("@legacy-type", gives("device"), outside("test", "probe")),
    )
    claim = Claim(
        RUNS,
        cpu=Raises("TypeError|AssertionError|RuntimeError", "torch.cuda|CUDA|NVIDIA"),
        programs={
            "device": Claim(Raises("RuntimeError", "legacy constructor")),
            "beside": Claim(RUNS, needs="mps", documentation=_DOCS),
            **dict.fromkeys(("named", "name_kept"), _TWO),
        },
    )

    def suspects(self, event: Call) -> bool:
        """Whether it is a type of CUDA, or is given one, or what `.type()` said, or a device."""
        return _is_named(event) or _is_told(event) or (bool(_type(event)) and not event.at.guard.guarded)

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Report the call; name the dtype and the device at hand, or the tensor that has both."""
        assert isinstance(node, cst.Call)
        why = "the types of torch before 0.4 fix dtype and device at once: say `dtype=` and `device=`"
        level = Severity.NOTE if ask.later(event) else None
        if _is_named(event):
            why = "there is none of MPS, and that of CUDA means the current device, whatever the index"
            text = f"`{source_of(node.args[0].value)}` names a legacy type, and no device"
            return (yield Report(text, why, Severity.NOTE, type_as(node, ask.value_of)))
        text = f"`torch.cuda.{_type(event)}Tensor` fails on a machine without a CUDA device"
        if _is_told(event):
            level = Severity.ERROR if event.given["device"].kind is Kind.DEVICE else None
            text = f"`{event.callee}` makes its tensor on the cpu, and fails for any other device"
        yield Report(text, why, level, _cured(node, event, ask))


def _type(event: Call) -> str:
    """The type of CUDA that is called or given, without `Tensor`; empty where there is none."""
    given = [seen.label for seen in event.given.values()]
    found = map(_NAME.fullmatch, [event.callee] if "legacy-type" in event.topics else given[:1])
    return next((match[1] for match in found if match is not None and match[1] in _DTYPES), "")


def _is_told(event: Call) -> bool:
    """Whether a type of the cpu is given a device that need not be the cpu."""
    told = event.given.get("device")
    there = told is None or told.kind is Kind.NONE or told.place.form is Form.CPU
    return not (there or _type(event) or event.at.guard.absent)


def _is_named(event: Call) -> bool:
    """Whether what is given is what `.type()` said of a tensor."""
    given = next(iter(event.given.values()), None)
    named = given is not None and given.origin is not None and given.origin.how == "typed"
    return named and event.at.context.isdisjoint(("dataset", "collate_fn", "worker", "called"))


def _cured(node: cst.Call, event: Call, ask: Ask) -> Change | None:
    told = [source_of(arg.value) for arg in node.args if arg.keyword is not None]
    device = next(iter(told), ask.device_at_hand(node))
    if device is None or ask.bound_to("torch", node) != "torch" or event.open or told[1:]:
        return None
    name = _type(event) or event.callee.removeprefix("torch.").removesuffix("Tensor")
    cured = without_legacy_type(node, event.callee, _DTYPES.get(name, "float32"), device, ask.value_of)
    return Change("name the dtype and the device", ((node, cured),), safe=False) if cured else None
