"""The name of an accelerator is written where a device goes

A literal such as `"cuda:0"` that reaches `.to`, `device=`, `torch.device` or `map_location`, also through a
variable or a default, makes the code fail without that accelerator, and pins it to one of several.

    model = nn.Linear(2, 2)
    model.to("cuda")  # DEV202

Use the device at hand, or choose one at run time, `"cuda" if torch.cuda.is_available() else "cpu"`, not in a
default, which is made once. Told too are calls that leave a parameter to one beside a device at hand, what
drops, replaces or never reads a given one, and a choice that the next replaces. What follows the first such
place on a path, reached only where that one worked, is a note. So is a program in which nothing chooses a
device, or that names folders of its machine, a default that no call leaves a parameter to, autocast, a choice
that is overruled, and what tries out a module of its file. Left alone: names under a condition that the
device is there, or only compared, printed or used as keys, options' defaults, tests, and NVIDIA's own code.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    MIXED_DEVICES,
    NO_ACCELERATOR,
    RUNS,
    Ask,
    Change,
    Claim,
    Literal_,
    Observes,
    Raises,
    Report,
    Rule,
    Severity,
    Use,
    available_device,
    cst,
    literal,
    outside,
    role,
    source_of,
    unguarded,
    use,
)

_ONE, _ASK = "make it one choice, with `elif`", "choose only where none is given"
_ADVICE = {"beyond": "leave out the index, or ask for it", "lost": _ONE, "forced": _ONE, "usurps": _ASK}
_SAID = {
    "argument": "`{}` is fixed here, whatever the machine has",
    "default": "the default device is `{}`, whatever the machine has",
    "autocast": "autocast is pinned to `{}` and does nothing on other devices",
    "beyond": "`{}` is not the first device, and the condition asks for any",
    **dict.fromkeys(("lost", "forced"), "`{}` is chosen in vain: the next choice takes its place"),
    "usurps": "`{}` takes the place of the device that the caller gives",
}
_AT_HAND = "take the device from a tensor or argument at hand, or ask which is available"
_DROPPED = "where there is no `{}`, the device that is given is dropped"
_IN_VAIN = ("lost", "forced", "again", "missing", "usurping")
_PROGRAMS = {
    "dropped": Claim(RUNS, cpu=Observes("placed", ("cpu", "cpu"), ("meta", "meta"))),
    **dict.fromkeys(_IN_VAIN, Claim(RUNS, cpu=Observes("lost", True, False))),
    **{"recursion": Claim(MIXED_DEVICES), "beyond": Claim(Raises("RuntimeError", "ordinal"))},
}
_CHOICES = ("torch.device", "torch.set_default_device", "torch.cuda.set_device")


class HardcodedDeviceName(Rule[Literal_ | Use]):
    """An unguarded device literal."""

    code = "DEV202"
    name = "hardcoded-device"
    severity = Severity.WARNING
    watches = (
        literal(role("argument", "default", "autocast"), unguarded(), outside("test")),
        literal(role("left"), unguarded(), outside("test", "probe")),
        literal(role("dropped", *_ADVICE), outside("test")),
        use("@asks-accelerator", unguarded(), outside("test")),
    )
    claim = Claim(RUNS, cpu=NO_ACCELERATOR, programs=_PROGRAMS)

    def suspects(self, event: Literal_ | Use) -> bool:
        """Whether a device is named, or a function is taken for its answer."""
        return isinstance(event, Literal_) or event.decides

    def visit(self, node: cst.CSTNode, event: Literal_ | Use, ask: Ask) -> Iterator[Report]:
        """Report the literal; choose between it and the cpu at run time."""
        if isinstance(event, Use):
            assert isinstance(node, cst.BaseExpression)
            called = Change("call it", ((node, cst.Call(node)),), safe=False)
            said = f"`{source_of(node)}` is not called, and a function is always true"
            yield Report(said, "what it decides is the same on every machine", change=called)
            return
        if not isinstance(node, cst.SimpleString) or event.role == "dropped":
            if (given := _of_given(node, event, ask)) is not None:
                yield Report(*given)
            return
        later = event.role in ("autocast", "forced") or ask.is_offered(node) or ask.later(event)
        later |= (event.role == "default" or ask.in_default(node)) and not ask.default_is_used(node)
        said, note = _SAID[event.role].format(event.text), Severity.NOTE if later else None
        yield Report(said, _ADVICE.get(event.role, _AT_HAND), note, _cured(node, event, ask))


def _of_given(node: cst.CSTNode, event: Literal_, ask: Ask) -> tuple[str, str] | None:
    """What is to be said of a device that is given, or at hand, and dropped."""
    if event.role == "dropped":
        return _DROPPED.format(event.text), "`or` comes before `if`: it lacks brackets"
    func = source_of(cst.ensure_type(node, cst.Call).func)
    if not event.text:
        return f"`{func}` calls itself without the device that it is given", "pass the device on"
    if (device := ask.device_at_hand(node)) is None:
        return None
    return f"`{func}` takes its default device `{event.text}`, and not `{device}`", "pass the one at hand"


def _cured(node: cst.SimpleString, event: Literal_, ask: Ask) -> Change | None:
    """The device at hand, else a choice; a default would make it when the file is imported."""
    if event.role in ("autocast", *_ADVICE) or not event.text.startswith("cuda") or ask.in_default(node):
        return None
    uses = event.text in ("cuda", "cuda:0") and ask.is_argument(node)
    if uses and not ask.is_given_to(node, *_CHOICES) and (device := ask.device_at_hand(node)):
        return Change("use the device at hand", ((node, cst.parse_expression(device)),), safe=False)
    if ask.bound_to("torch", node) != "torch":
        return None
    chosen = available_device(node.value, ask.is_operand(node))
    return Change("fall back to the cpu", ((node, chosen),), safe=False)
