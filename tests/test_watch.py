"""Watches: which events match, what the inference need not make, and what a file must contain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from devlint.core.events import Call, Event
from devlint.infer import infer
from devlint.match import registry
from devlint.match.watch import Entry, Matcher, words
from devlint.rule import (
    TENSORS,
    Conflict,
    Kind,
    Watch,
    becomes,
    bind,
    call,
    casts,
    comes_from,
    compare,
    conflict,
    elsewhere,
    gives,
    held_by,
    in_loop,
    inside,
    iterated,
    lacks,
    left,
    literal,
    made_here,
    meeting,
    move,
    named,
    outside,
    owner,
    receiver,
    result,
    right,
    role,
    sibling_moved,
    unguarded,
    unless,
    use,
    value,
)
from devlint.source import sift

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = """
import torch
from torch.utils.data import DataLoader

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.Adagrad(model.parameters())
model.to(device)                                  # 8
state = torch.load("a")
state = torch.load("a", map_location="cuda")      # 10
state = torch.load("a", **options)
if torch.cuda.is_available():
    state = torch.load("b")
    torch.cuda.set_device(0)
model.cuda(0)                                     # 15
for x, y in DataLoader(data):
    model(x) - y.half()
    y.half()                                      # 18
torch.empty(0).cuda()
part = torch.ones(2)
part.cpu()                                        # 21
part.to(device)
for each in parts:
    each.unsqueeze(0)
    each = each.to(device)                        # 25
kind = torch.cuda.FloatTensor
model.mask = part
same = part.device == "cuda:1"                    # 28
table["mask"] = 3
part.numpy()                                      # 30
"""


def matcher(*watches: Watch) -> Matcher:
    found: frozenset[tuple[str, str]] = frozenset().union(*map(words, watches))
    return Matcher([Entry("TST101", "test", "error", "tests", "Test", watches, found)])


def rows(watch: Watch) -> list[int]:
    """Return the lines of the events that match, whether or not others were made."""
    watching = matcher(watch)
    every = [each for each in infer(PROGRAM).events if list(watching.matching(each))]
    wanted = [each for each in infer(PROGRAM, wants=watching.wants).events if list(watching.matching(each))]
    assert _places(every) == _places(wanted)
    if every:
        assert sift.matters(PROGRAM.encode(), watching.words)
    return [each.at.span.line for each in every]


def _places(events: list[Event]) -> list[tuple[object, ...]]:
    return [(type(each), each.at.span) for each in events]


@pytest.mark.parametrize(
    ("watch", "expected"),
    [
        (call("torch.load"), [9, 10, 11, 13]),
        (call("torch.load", lacks("map_location")), [9, 13]),
        (call("torch.load", gives("map_location")), [10]),
        (call("torch.load", lacks("map_location"), unguarded()), [9]),
        (call("torch.load", unless(unguarded())), [13]),
        (call("*.load"), [9, 10, 11, 13]),
        (call("torch.lo*"), [9, 10, 11, 13]),
        (call("torch.cuda.set_*"), [14]),
        (call("@needs-cuda"), [14]),
        (call("Tensor.numpy", "Module.cuda"), [15, 30]),
        (call("*.cuda", receiver(Kind.MODULE)), [15]),
        (call("*.cuda", result("discarded")), [15, 19]),
        (call("torch.nowhere"), []),
        (use("torch.cuda.*"), [26]),
        (use("torch.*"), [26]),
        (move(result("discarded"), receiver(*TENSORS), elsewhere()), [19, 22]),
        (move(result("discarded"), receiver(*TENSORS), elsewhere(), unless(made_here())), [22]),
        (move("cuda"), [15, 19]),
        (move("cuda", named("index")), [15]),
        (move(casts()), [17, 18]),
        (move(casts(), result("discarded"), in_loop()), [18]),
        (move(held_by("optimizer")), [8]),
        (move(iterated()), [25]),
        (move(result("rebound")), [25]),
        (meeting(conflict(Conflict.CERTAIN), comes_from("loader")), [17]),
        (meeting(conflict(Conflict.CERTAIN), comes_from("loader"), sibling_moved()), []),
        (meeting(left(Kind.BATCH), right(Kind.MODULE)), []),
        (literal(role("argument")), [10]),
        (literal("cuda*", role("chosen")), [5]),
        (bind("mask"), [27, 29]),
        (bind("mask", owner(Kind.MODULE), value(*TENSORS)), [27]),
        (compare(left(Kind.DEVICE), right(Kind.STRING)), [28]),
        (compare(inside("forward")), []),
        (compare(outside("forward")), [28]),
    ],
)
def test_what_matches(watch: Watch, expected: list[int]) -> None:
    assert rows(watch) == expected


def test_a_rule_is_told_once_of_what_two_of_its_watches_match() -> None:
    watching = matcher(call("torch.load"), call("*.load", unguarded()))
    (first, *_) = [
        each for each in infer(PROGRAM).events if isinstance(each, Call) and each.callee == "torch.load"
    ]
    assert len(list(watching.matching(first))) == 1


@pytest.mark.parametrize(
    ("watch", "text", "matters"),
    [
        (call("torch.load"), "import torch\nload(1)\n", True),
        (call("torch.load"), "import torch\nreload(1)\n", False),
        (call("torch.load"), "load(1)\n", False),
        (call("acme.launch"), "from acme import launch\nlaunch(1)\n", True),
        (call("acme.launch"), "import torch\nlaunch(1)\n", False),
        (call("Tensor.numpy"), "import torch\nx.numpy()\n", True),
        (call("@needs-cuda"), "import torch\ntorch.cuda.set_device(0)\n", True),
        (call("*"), "import torch\n", True),
        (move(casts(), result("discarded")), "import torch\nx.half()\n", True),
        (move(casts(), result("discarded")), "import torch\ny = x.half()\n", False),
        (move(casts()), "import torch\ny = x.half()\n", True),
        (move("cuda"), "import torch\nx.to(d)\n", False),
        (literal(), "import torch\nd = 'xpu:1'\n", True),
        (literal(), "import torch\nd = 'cpu'\n", False),
        (use("torch.cuda.FloatTensor"), "import torch\nx = torch.cuda.FloatTensor\n", True),
        (compare(), "import torch\n", True),
        (compare(left(Kind.DEVICE)), "import torch\nx.device == 0\n", True),
        (compare(left(Kind.DEVICE)), "import torch\nx.dtype == 0\n", False),
    ],
)
def test_what_a_file_must_contain(watch: Watch, text: str, matters: bool) -> None:
    assert sift.matters(text.encode(), frozenset({words(watch)})) is matters


def test_what_a_rule_is_about_and_what_it_watches_for_go_together() -> None:
    """A file about numpy does not matter because another rule wants to see all that is about torch."""
    wanted = frozenset({words(call("*")), words(call("numpy.asarray"))})
    assert sift.matters(b"import torch\n", wanted)
    assert sift.matters(b"import numpy\nnumpy.asarray(x)\n", wanted)
    assert not sift.matters(b"import numpy\nnumpy.ones(x)\n", wanted)
    assert not sift.matters(b"import os\nos.path.join(x, y)\n", registry.active(()).words)


def test_only_rules_that_are_on_are_looked_for() -> None:
    from devlint.config.settings import Selection

    text = b"import torch\nd = 'xpu'\n"
    assert sift.matters(text, registry.active(()).words)
    assert not sift.matters(text, registry.active((Selection(select=("DEV101",)),)).words)
    assert not sift.matters(text, registry.active((Selection(select=("DEV001",)),)).words)


def test_a_third_partys_file_without_torch_is_read(provide: Callable[[str, str], None]) -> None:
    from devlint.run.lint import lint

    provide(
        "acme_rules",
        '"""Page."""\nfrom devlint.rule import Call, Report, Rule, call\n'
        'class Acme(Rule[Call]):\n    code = "ACM101"\n    name = "acme"\n'
        '    watches = (call("acme.launch"),)\n'
        '    def visit(self, node, event, ask):\n        yield Report("launched")\n',
    )
    (found,) = lint("import acme\nacme.launch()\n", "a.py")
    assert (found.code, found.start) == ("ACM101", (2, 1))


def test_what_no_watch_could_match_is_not_finished() -> None:
    loads = matcher(call("torch.load", lacks("map_location")), call("@sync"))
    assert loads.wants("call", "torch.load")
    assert loads.wants("call", "Tensor.item")
    assert not loads.wants("call", "torch.zeros")
    assert not loads.wants("compare")
    every = [each for each in infer(PROGRAM).events if isinstance(each, Call) and each.callee == "torch.load"]
    assert {each.at.span.line for each in every if loads.wants("call", each.callee, each)} == {9, 13}


def test_what_a_sketch_does_not_tell_is_left_open() -> None:
    loads = matcher(call("torch.load", becomes("state")))
    every = [each for each in infer(PROGRAM).events if isinstance(each, Call) and each.callee == "torch.load"]
    assert every
    assert all(loads.wants("call", each.callee, each._replace(becomes=frozenset())) for each in every)
