"""A tensor is made or moved by the name of a CUDA type

`torch.cuda.FloatTensor` and its like fix the dtype and the device at once: they fail without a CUDA
device, and have been superseded since torch 0.4 by `dtype=` and `device=`.

    mask = torch.cuda.ByteTensor([1, 0, 1])  # DEV203
    x = x.type("torch.cuda.FloatTensor")  # DEV203

Say which dtype, and where:

    mask = torch.tensor([1, 0, 1], dtype=torch.uint8, device=device)
    x = x.to(device, torch.float32)

The fix is unsafe: the device at hand may be another than the one where everything else of that type is.

A note where an accelerator was needed before on the same path, in a program without any choice of a device,
and where a file tries out its own module.
Types that are only compared or tested by `isinstance` are left alone, and so is what a condition on an
accelerator guards, tests, and code that runs on NVIDIA hardware by nature.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..rule import (
    RUNS,
    Ask,
    Call,
    Change,
    Claim,
    Kind,
    Raises,
    Report,
    Rule,
    Severity,
    call,
    cst,
    outside,
    source_of,
    unguarded,
)

_DTYPES = {
    **{"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Bool": "bool"},
    **{"Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64"},
}
_NAME = re.compile(r"""['"]?torch\.cuda\.(\w+)Tensor['"]?""")


class LegacyCudaType(Rule[Call]):
    """A legacy CUDA type that is called, or that something is turned into."""

    code = "DEV203"
    name = "legacy-cuda-type"
    severity = Severity.WARNING
    watches = (
        call("@legacy-type", "Tensor.type", "torch.set_default_tensor_type", unguarded(), outside("test")),
    )
    claim = Claim(RUNS, cpu=Raises("TypeError|AssertionError|RuntimeError", "torch.cuda|CUDA|NVIDIA"))

    def suspects(self, event: Call) -> bool:
        """Whether it is such a type, or is given one."""
        return _type(event) in _DTYPES

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Report the call; name the dtype and the device at hand instead."""
        assert isinstance(node, cst.Call)
        name = _type(event)
        yield Report(
            f"`torch.cuda.{name}Tensor` fails on a machine without a CUDA device",
            "the types of torch before 0.4 fix dtype and device at once: say `dtype=` and `device=`",
            Severity.NOTE if ask.later(event) else None,
            _cured(node, event, _DTYPES[name], ask),
        )


def _type(event: Call) -> str:
    """The type that is called or given, without `Tensor`; empty where it is none, or one of several."""
    given = [seen.label for seen in event.given.values()]
    found = map(_NAME.fullmatch, [event.callee] if "legacy-type" in event.topics else given[:1])
    return next((match[1] for match in found if match is not None), "")


def _cured(node: cst.Call, event: Call, dtype: str, ask: Ask) -> Change | None:
    device = ask.device_at_hand(node)
    if device is None or ask.bound_to("torch", node) != "torch" or event.open:
        return None
    arguments = [source_of(arg.value) for arg in node.args]
    kinds = {ask.value_of(arg.value).kind for arg in node.args}
    if event.callee == "Tensor.type" and isinstance(node.func, cst.Attribute):
        text = f"{source_of(node.func.value)}.to({device}, torch.{dtype})"
    elif "legacy-type" not in event.topics or any(arg.keyword for arg in node.args):
        return None
    elif kinds <= {Kind.NUMBER}:
        text = f"torch.empty({', '.join(arguments) or 0}, dtype=torch.{dtype}, device={device})"
    elif len(arguments) == 1 and kinds <= {Kind.CONTAINER, Kind.ARRAY}:
        text = f"torch.tensor({arguments[0]}, dtype=torch.{dtype}, device={device})"
    else:
        return None
    return Change("name the dtype and the device", ((node, cst.parse_expression(text)),), safe=False)
