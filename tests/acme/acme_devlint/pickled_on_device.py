"""A tensor is pickled where it is

At Acme the services that unpickle it have no accelerator, and fail to.

    blob = pickle.dumps(weights)  # ACM102

Send a copy on the cpu:

    blob = pickle.dumps(weights.cpu())
"""

from __future__ import annotations

from collections.abc import Iterator

from devlint.rule import (
    TENSORS,
    Ask,
    Call,
    Change,
    Claim,
    Form,
    Observes,
    Report,
    Rule,
    call,
    cst,
    source_of,
)


class PickledOnDevice(Rule[Call]):
    """A call of a function that devlint itself knows nothing about."""

    code = "ACM102"
    name = "pickled-on-device"
    watches = (call("pickle.dumps"),)
    claim = Claim(Observes("pickle.loads(blob).is_cpu", bug=False, fixed=True))

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Ask what the argument is, and where."""
        assert isinstance(node, cst.Call)
        sent = node.args[0].value
        value = ask.value_of(sent)
        if value.kind not in TENSORS or value.place.form in (Form.CPU, Form.UNKNOWN):
            return
        copy = cst.Call(cst.Attribute(sent, cst.Name("cpu")))
        change = Change("send a copy on the cpu", ((sent, copy),), safe=True)
        yield Report(f"`{source_of(sent)}` is pickled on `{value.place.name}`", change=change)
