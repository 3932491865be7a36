"""The inference by itself: events, and what crosses files."""

from __future__ import annotations

import ast
from typing import TypeVar

import pytest

from devlint.core.events import Bind, Call, Compare, Conflict, Event, Literal_, Meeting, Move, Use
from devlint.core.met import Met
from devlint.core.summary import ClassSummary, FunctionSummary
from devlint.core.values import Value
from devlint.infer import infer, summarise
from devlint.infer.demo import Demo

E = TypeVar("E", bound=Event)
LOOP = """
import torch
from torch import nn
from torch.utils.data import DataLoader
from helpers import move, device

model = nn.Linear(4, 2).to(device)
for batch in DataLoader(dataset):
    x, y = move(batch)
    print(model(x) - y)
"""


class Others:
    """An index of modules whose text a test gives."""

    def __init__(self, modules: dict[str, str]) -> None:
        self.modules = {name: summarise(ast.parse(text), name) for name, text in modules.items()}

    def has(self, module: str) -> bool:
        """Whether a test gives its text."""
        return module in self.modules

    def rehearsed(self, tree: ast.Module) -> tuple[Met, ...]:
        """Nothing: no program is at hand."""
        return ()

    def find(self, dotted: str) -> Value | FunctionSummary | ClassSummary | None:
        """What a module defines at its top level."""
        summary = self.modules.get(dotted.split(".")[0])
        if summary is None:
            return None
        return (
            summary.functions.get(dotted)
            or summary.classes.get(dotted)
            or summary.values.get(dotted.partition(".")[2])
        )


def events(kind: type[E], text: str, **modules: str) -> list[E]:
    return [each for each in infer(text, index=Others(modules)).events if isinstance(each, kind)]


def test_what_nobody_wants_is_left_out() -> None:
    text = "import torch\nx = torch.zeros(3).to('cuda')\ntorch.save(x, 'f')\nm.x = x.device == 'cuda'\n"
    assert infer(text, wants=lambda event, name, sketch=None: False).events == ()
    found = infer(text, wants=lambda event, name, sketch=None: name == "torch.save").events
    assert [type(each) for each in found] == [Call]


def test_what_another_file_returns_is_unknown_and_silent() -> None:
    assert events(Meeting, LOOP) == []


def test_a_function_of_another_file_moves_the_batch() -> None:
    helpers = """
import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
def move(batch):
    return [part.to(device) for part in batch]
"""
    assert events(Meeting, LOOP, helpers=helpers) == []


def test_a_function_of_another_file_leaves_the_batch() -> None:
    helpers = """
import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
def move(batch):
    return batch
"""
    (met,) = events(Meeting, LOOP, helpers=helpers)
    assert (met.at.span.line, met.right.label, met.sibling_moved) == (10, "model", False)
    assert met.conflict is Conflict.CERTAIN


def test_a_module_of_another_file_is_moved_there() -> None:
    models = "from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"
    text = "import torch\nfrom models import Net\nnet = Net()\nnet.to('cpu')\nnet.half()\n"
    moved, cast = events(Move, text, models=models)
    assert (moved.in_place, moved.casts) == (True, False)
    assert (cast.in_place, cast.casts) == (True, True)


def test_a_variable_that_holds_the_cpu_is_a_switch_when_cpu_values_move_to_it() -> None:
    text = """
import torch
from torch.utils.data import DataLoader
device = torch.device("cpu")
model = torch.nn.Linear(2, 2).to(device)
for x, y in DataLoader(dataset):
    model(x)
"""
    (met,) = events(Meeting, text)
    assert met.right.place.name == "device"
    assert events(Meeting, text.replace(".to(device)", "")) == []


def test_a_call_is_reported_once_however_often_its_function_is_analysed() -> None:
    text = """
import torch
def move(x):
    x.unsqueeze(0)
    x.to("cuda")
for i in range(3):
    for j in range(3):
        move(torch.zeros(i))
"""
    found = [each for each in infer(text).events if isinstance(each, Move | Literal_)]
    assert [type(each) for each in found] == [Move, Literal_]


def test_a_decorator_may_be_one_of_two() -> None:
    text = """
from functools import wraps
import torch
def patched(origin):
    @wraps(origin.__func__ if hasattr(origin, "__func__") else origin)
    def forward(self, x: torch.Tensor, *args, **kwargs):
        x.to("cuda")
        return origin(self, x, *args, **kwargs)
    return forward
"""
    (moved,) = events(Move, text)
    assert moved.receiver.certain


@pytest.mark.parametrize(
    ("optimizer", "before", "stage"),
    [
        ("Adagrad(model.parameters())", "", "stateful"),
        ("Adam(model.parameters())", "", "fresh"),
        ("Adam(model.parameters())", "optimizer.step()", "stepped"),
        ("Adam(model.parameters())", "resume(optimizer)", "loaded"),
        ("SGD(model.parameters(), lr=1)", "optimizer.step()", "fresh"),
        ("SGD(model.parameters(), lr=1, momentum=0.9)", "optimizer.step()", "stepped"),
    ],
)
def test_what_an_optimizer_holds_when_the_module_moves(optimizer: str, before: str, stage: str) -> None:
    text = f"""
import torch
def resume(optimizer):
    optimizer.load_state_dict(state)
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.{optimizer}
{before}
model.to(device)
optimizer.step()
"""
    (moved,) = events(Move, text)
    (holder,) = moved.holders
    assert (holder.protocol, holder.phase, str(holder.line), moved.at.span.line) == (
        "optimizer",
        stage,
        "line 6",
        8,
    )


@pytest.mark.parametrize("after", ["model.to(device)", "for _ in range(2):\n    move(model)"])
def test_what_is_left_behind_is_told_where_state_is_loaded(after: str) -> None:
    text = f"""
import torch
def move(model):
    model.to(device)
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.Adam(model.parameters())
optimizer.load_state_dict(state)
{after}
optimizer.step()
"""
    (loads,) = (each for each in events(Call, text) if each.callee == "Optimizer.load_state_dict")
    (left,) = loads.leaves
    assert (left.label, left.name, left.sure) == ("model", "Adam", "move(" not in after)
    assert not any(each.holders for each in events(Move, text))


def test_columns_count_characters() -> None:
    (moved,) = events(Move, 'import torch\nx = torch.zeros(1); "äöü"; x.to("cpu:0")\n')
    assert (moved.at.span.line, moved.at.span.column) == (2, 27)


@pytest.mark.parametrize("source", ["print 'x'", "x = (", "\0"])
def test_unreadable_source_raises(source: str) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        infer(source)


def test_a_pretrained_model_needs_every_tensor_beside_it() -> None:
    text = """
import torch
from torch.utils.data import DataLoader
from transformers import AutoModel
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = AutoModel.from_pretrained("bert").to(device)
for ids, mask in DataLoader(dataset):
    model(ids.to(device), attention_mask=mask)
"""
    (met,) = events(Meeting, text)
    assert (met.left.label, met.sibling_moved) == ("mask", True)


@pytest.mark.parametrize(("autouse", "guarded"), [("True", True), ("False", False)])
def test_only_a_fixture_that_every_test_uses_guards_them(autouse: str, guarded: bool) -> None:
    text = f"""
import pytest
import torch

def make():
    return torch.ones(2).cuda()

@pytest.fixture(autouse={autouse})
def gpu():
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
"""
    (moved,) = events(Move, text)
    assert moved.at.guard.certain is guarded


def one(kind: type[E], line: str, before: str = "") -> E:
    """Return the one event of a type in a line of code."""
    text = f"import torch\nfrom torch import nn\nx = torch.zeros(2)\nm = nn.Linear(2, 2)\n{before}{line}\n"
    row = text.count("\n")
    (found,) = [each for each in events(kind, text) if each.at.span.line == row]
    return found


@pytest.mark.parametrize(
    ("before", "certain", "hints"),
    [
        ("", False, ()),
        ("if torch.cuda.is_available():\n    ", True, ()),
        ("import triton\n", False, ("import:triton",)),
        ("def run_gpu():\n    ", False, ("function:run_gpu",)),
    ],
)
def test_what_is_guarded_is_seen_with_its_guard(before: str, certain: bool, hints: tuple[str, ...]) -> None:
    moved, written = one(Move, "x.cuda()", before), one(Literal_, 'torch.ones(2, device="cuda:1")', before)
    for found in (moved.at.guard, written.at.guard):
        assert (found.certain, found.hints) == (certain, hints)
        assert found.guarded is (certain or bool(hints))


@pytest.mark.parametrize(
    ("line", "role"),
    [
        ('x.to("cuda")', "argument"),
        ('print(x.device == torch.device("cuda"))', "compared"),
        ('d = "cuda" if wanted else "cpu"', "chosen"),
        ('d = torch.device("cuda") if wanted else torch.device("cpu")', "chosen"),
        ('SimpleNamespace(device=torch.device("cuda"))', "recorded"),
        ('torch.autocast("cuda")', "autocast"),
        ('def f(d=torch.device("cuda")): pass', "default"),
    ],
)
def test_where_a_literal_goes(line: str, role: str) -> None:
    assert one(Literal_, line).role == role


@pytest.mark.parametrize(
    ("line", "callee", "given", "open_"),
    [
        ('torch.load("a", "cpu")', "torch.load", {"f", "map_location"}, False),
        ('torch.load("a", **more)', "torch.load", {"f"}, True),
        ("torch.load(*more, weights_only=True)", "torch.load", {"weights_only"}, True),
        ("x.numpy(force=True)", "Tensor.numpy", {"force"}, False),
        ("m.state_dict()", "Module.state_dict", set(), False),
    ],
)
def test_a_call_has_the_name_of_its_callee_and_of_what_it_is_given(
    line: str, callee: str, given: set[str], open_: bool
) -> None:
    found = one(Call, line)
    assert isinstance(found, Call)
    assert (found.callee, set(found.given), found.open, found.result) == (callee, given, open_, "discarded")


def test_what_only_use_shows_to_be_a_tensor_has_its_methods() -> None:
    text = "import torch\ndef f(x):\n    x.unsqueeze(0)\n    return x.numpy()\n"
    assert [each.callee for each in events(Call, text)] == ["Tensor.unsqueeze", "Tensor.numpy"]
    assert not any(each.receiver and each.receiver.certain for each in events(Call, text))


def test_names_that_are_read_and_not_called() -> None:
    text = "import torch\nkind = torch.cuda.FloatTensor\ntorch.cuda.set_device(0)\n"
    (used,) = events(Use, text)
    assert used.name == "torch.cuda.FloatTensor"
    (called,) = events(Call, text)
    assert called.callee == "torch.cuda.set_device"
    assert "needs-cuda" in called.topics


def test_what_is_bound_and_compared() -> None:
    bound = one(Bind, "m.mask = x")
    assert isinstance(bound, Bind)
    assert bound.owner is not None
    assert (bound.target, bound.name, bound.owner.label) == ("attribute", "mask", "m")
    compared = one(Compare, 'x.device == "cuda:0"')
    assert isinstance(compared, Compare)
    assert (compared.left.kind.value, compared.right.label) == ("device", '"cuda:0"')


def test_a_factory_that_meets_a_device_is_seen() -> None:
    text = (
        "import torch\nd = torch.device('cuda')\nx = torch.ones(2).to(d)\ny = torch.ones(2)\nprint(x + y)\n"
    )
    (met,) = events(Meeting, text)
    assert met.left.origin is not None
    assert (met.left.label, met.left.origin.how, met.right.label) == ("y", "factory", "x")


def test_where_code_runs_and_what_becomes_of_a_result() -> None:
    text = """
import torch
class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        for _ in range(3):
            x.to("cuda")
        try:
            x.cpu()
        except RuntimeError:
            pass
        return x.half()
"""
    in_loop, probed, kept = events(Move, text)
    assert (in_loop.at.function, in_loop.at.context, in_loop.at.loops) == (
        "Net.forward",
        frozenset({"forward"}),
        1,
    )
    assert (in_loop.result, kept.result) == ("discarded", "kept")
    assert probed.at.context == {"forward", "probe"}


STARRED = """
from helpers import *

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

def load(path):
    torch.load(path)
    Net().to("cuda")(torch.ones(4))
"""


@pytest.mark.parametrize("others", [{}, {"helpers": "import torch\nfrom torch import nn\n"}])
def test_names_that_a_star_brings(others: dict[str, str]) -> None:
    assert [each.callee for each in events(Call, STARRED, **others)].count("torch.load") == 1
    assert [each.receiver.kind.value for each in events(Move, STARRED, **others)] == ["module"]
    assert [each.left.label for each in events(Meeting, STARRED, **others)] == ["torch.ones(4)"]


def test_a_star_of_a_library_brings_what_that_has() -> None:
    text = "from torch import *\nfrom torch.nn.functional import *\nx = ones(4).to('cuda')\nprint(relu(x))\n"
    (found,) = events(Move, text)
    assert found.receiver.origin is not None
    assert found.receiver.origin.api == "torch.ones"


def test_a_star_brings_no_name_that_anybody_may_have_chosen() -> None:
    text = "from helpers import *\nload('x')\nnn.Module\nnn.Layer\nbase.to('cuda')\n"
    assert [each.callee for each in events(Call, text) if "load" in each.callee] == []
    other = "class A(nn.Layer, nn.Module):\n    pass\nA().to('cuda')\n"
    assert [each.receiver.kind.value for each in events(Move, "from helpers import *\n" + other)] == [
        "instance"
    ]


def test_without_a_star_an_unbound_name_is_nothing() -> None:
    text = STARRED.replace("from helpers import *", "")
    assert "torch.load" not in {each.callee for each in events(Call, text)}
    assert "torch.load" in {each.callee for each in events(Call, STARRED)}


def test_what_a_star_of_the_project_brings_is_not_what_a_library_has() -> None:
    helpers = "class torch:\n    @staticmethod\n    def load(path):\n        return path\n"
    assert [each for each in events(Call, STARRED, helpers=helpers) if each.callee == "torch.load"] == []


def test_a_star_brings_what_all_names_alone() -> None:
    text = "from first import *\nfrom second import *\nwork(1).to('cuda')\n"
    first = "import torch\ndef work(x):\n    return torch.ones(x)\n"
    second = "from torch import nn\ndef work(x):\n    return nn.Linear(x, 1)\ndef other(x):\n    return 4\n"
    for names, kinds in (("['other']", ["tensor"]), ("['work']", ["module"])):
        found = events(Move, text, first=first, second=f"{second}__all__ = {names}\n")
        assert [each.receiver.kind.value for each in found] == kinds


def test_methods_that_call_each_other_without_arguments() -> None:
    """Of one that is still being analysed nothing is known, its parameters neither."""
    infer(
        "import torch\n\n\nclass Stage:\n    def run(self):\n        self.again()\n\n"
        "    def again(self):\n        self.run()\n"
    )


OPAQUE = """
import torch
from {module} import {base}

class Net({base}):
    def __init__(self):
        super().__init__()
        self.bins = torch.linspace(0, 1, 5)
        {extra}

    def {method}(self, x: torch.Tensor):
        return x * self.bins
"""


@pytest.mark.parametrize(
    ("module", "base", "extra", "method", "expected"),
    [
        ("others.layers", "Layer", "pass", "forward", True),
        ("others.layers", "Layer", "self.register_buffer('mean', torch.ones(5))", "run", True),
        ("others.layers", "Layer", "pass", "run", False),
        ("abc", "ABC", "pass", "forward", False),
        ("torchmetrics", "Metric", "self.add_state('total', torch.zeros(5))", "update", True),
    ],
)
def test_a_class_is_a_module_by_what_it_does(
    module: str, base: str, extra: str, method: str, expected: bool
) -> None:
    text = OPAQUE.format(module=module, base=base, extra=extra, method=method)
    hidden = {each.name for each in events(Bind, text) if each.hidden is not None}
    assert hidden == ({"bins"} if expected else set())


def test_nccl_under_a_condition_tells_of_its_own_function() -> None:
    text = """
import torch
import torch.distributed as dist
device = "cuda" if torch.cuda.is_available() else "cpu"
def start(distributed):
    if distributed:
        dist.init_process_group("nccl")
    torch.zeros(1, device="cuda")
def draw():
    torch.zeros(1, device="cuda")
"""
    hints = {each.at.function: each.at.guard.hints for each in events(Literal_, text)}
    assert hints["start"] == ("backend:nccl",)
    assert hints["draw"] == ()


def test_a_name_that_nothing_asked_for_guards_nothing() -> None:
    text = """
import torch
def chosen_else(x: torch.Tensor):
    kind = "mps" if x.device.type == "mps" else "cuda"
    if kind == "cuda":
        torch.cuda.empty_cache()
def asked_for(x: torch.Tensor):
    kind = "cuda" if torch.cuda.is_available() else "mps"
    if kind == "cuda":
        torch.cuda.empty_cache()
"""
    found = {each.at.function: each.at.guard.certain for each in events(Call, text) if "empty" in each.callee}
    assert found == {"chosen_else": False, "asked_for": True}


def test_a_flag_that_a_call_settles_says_nothing_of_the_machine() -> None:
    text = """
import torch
def made(use_cuda=False):
    if use_cuda:
        return torch.ones(3).cuda()
    return torch.ones(3)
y = made(use_cuda=True)
x = torch.ones(3)
x.cuda()
"""
    (moved,) = [each for each in events(Move, text) if each.receiver.label == "x"]
    assert not moved.at.guard.guarded


def test_a_trial_has_all_that_is_defined_in_it() -> None:
    trial = Demo((range(8, 12),), frozenset({"tried"}))
    assert trial.covers("", 8)
    assert trial.covers("Wide.__init__", 11)
    assert trial.covers("tried", 3)
    assert not trial.covers("Wide.__init__", 12)
    assert not trial.covers("", 3)
