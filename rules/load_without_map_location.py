"""A checkpoint is loaded without saying to which device

Without `map_location`, `torch.load` puts each tensor back on the device that it was saved from. What
was saved on a GPU does not load on a machine without one, whatever is done with it afterwards; where
there are several, every process fills the GPU of the one that saved it.

    state = torch.load("a.pt")  # DEV205
    model.load_state_dict(state)

Name the device; `load_state_dict` copies from any:

    state = torch.load("a.pt", map_location=device)
    model.load_state_dict(state)

A function that has a `map_location` of its own, and ignores it, is told whatever it loads. Otherwise only
what use shows to be a checkpoint is told: a state that `load_state_dict` is given, a whole module, or what
has parts that are called so (`["state_dict"]`), here or where the function loads the same path again; as a
note where an accelerator is needed on the same path in any case, or by another method of the same class,
unless several processes share the devices, where a program names folders of its machine and no choice, what
the file itself saves at that path, or others that speak of no device, of `torch.jit.load` where no device is
at hand, and of what torch.hub publishes (`load_state_dict_from_url`, `resnet18-5c106cde.pth`), mostly saved
on the cpu. Datasets, features and statistics are left alone, and so is what is loaded where callers may say a
device in another case, what comes after what saved or trained, what a condition on an accelerator guards, and
tests.
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
    Observes,
    Report,
    Rule,
    Severity,
    becomes,
    call,
    cst,
    gives,
    inside,
    lacks,
    outside,
)

_DOCS = "https://docs.pytorch.org/docs/stable/generated/torch.load.html"
_HASHED = re.compile(r"-(?=[0-9]*[a-f])[0-9a-f]{8,64}\.\w+[\"']")
"""The end of a name that torch.hub gives: https://docs.pytorch.org/docs/stable/hub.html."""
_FILE = re.compile(r"([\w-]+\.\w+)[\"']\Z")
_BY_NATURE = ("import:", "backend:")
"""What says that a whole program runs on accelerators: it still must say on which of them to load."""


class LoadWithoutMapLocation(Rule[Call]):
    """A checkpoint that goes where it was saved."""

    code = "DEV205"
    name = "load-without-map-location"
    severity = Severity.WARNING
    watches = (
        call(
            "torch.load",
            lacks("map_location"),
            becomes("state", "module"),
            outside("test", "saved", "handed"),
        ),
        call("torch.load", lacks("map_location"), inside("ignored"), outside("test")),
        call("torch.load", gives("map_location"), becomes("state", "module"), outside("test", "saved")),
        call("torch.jit.load", lacks("map_location"), outside("test", "saved", "handed")),
        call("@published", lacks("map_location"), becomes("state"), outside("test", "saved", "handed")),
    )
    claim = Claim(
        Observes("restored['weight'].is_cuda", bug=True, fixed=False),
        cpu=RUNS,
        programs=dict.fromkeys(
            ("uses", "reformed", "needing", "published", "nccl", "scripted", "scripted_alone"),
            Claim(RUNS, needs="cuda x2", documentation=_DOCS),
        ),
    )

    def suspects(self, event: Call) -> bool:
        """Whether no condition tells that an accelerator is there."""
        guard, ignored = event.at.guard, "ignored" in event.at.context
        told = event.given.get("map_location")
        portable = not guard.certain and all(hint.startswith(_BY_NATURE) for hint in guard.hints)
        return (told is None or bool(told.given[1])) and (ignored or portable)

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Report the call; map to the device at hand, else to the cpu."""
        assert isinstance(node, cst.Call)
        ignored, told_by = "ignored" in event.at.context, event.given.get("map_location")
        if told_by is not None and not ask.left_out(told_by):
            return
        chosen = "map_location" if ignored else ask.device_at_hand(node)
        published = "published" in event.topics
        short = event.callee.rpartition(".")[2] if published else event.callee
        label = event.given["f"].label if "f" in event.given else ""
        hashed, file = _HASHED.search(label) is not None, _FILE.search(label)
        device = chosen or '"cpu"'
        mapped = cst.ensure_type(cst.parse_expression(f"f(map_location={device})"), cst.Call)
        cured = node.with_changes(args=[*node.args, *mapped.args])
        guard, later = event.at.guard, ask.later(event)
        needing = "needing" in event.at.context or ask.needed_after(event.at.function)
        told = chosen and (not chosen.endswith(".device") or ask.device_given(node))
        needing = needing and not told and not any(hint.startswith("backend:") for hint in guard.hints)
        later |= needing or "reread" in event.at.context or (event.callee == "torch.jit.load" and not told)
        later |= ask.saved_on_cpu(file[1] if file else "")
        yield Report(
            f"`map_location` is a parameter here, and `{short}` is not given it"
            if ignored
            else f"`{short}` puts what it loads on the device that it was saved from"
            + (": no caller gives its `map_location`" if told_by is not None else ""),
            "a checkpoint from a GPU does not load without one; say where it goes with `map_location`",
            Severity.NOTE if (later or published or hashed) and not ignored else None,
            Change("name the device", ((node, cured),), safe=False) if told_by is None else None,
        )
