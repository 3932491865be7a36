"""The inference by itself: facts, and what crosses files."""

from __future__ import annotations

import pytest

from devlint.infer import exports, infer
from devlint.infer.facts import BatchMeeting, Discarded, HardcodedCall, HardcodedDevice, StaleOptimizer

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


def lookup_in(**modules: str):  # type: ignore[no-untyped-def]
    known = {
        f"{module}.{name}": value for module, text in modules.items() for name, value in exports(text).items()
    }
    return known.get


def test_ordinary_code_has_no_facts() -> None:
    text = "import torch\nx = torch.zeros(3).to('cpu')\nmodel = torch.nn.Linear(2, 2)\nmodel.to(x.device)\n"
    assert infer(text).facts == ()


def test_what_another_file_returns_is_unknown_and_silent() -> None:
    assert infer(LOOP).facts == ()


def test_a_function_of_another_file_moves_the_batch() -> None:
    helpers = """
import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
def move(batch):
    return [part.to(device) for part in batch]
"""
    assert infer(LOOP, lookup=lookup_in(helpers=helpers)).facts == ()


def test_a_function_of_another_file_leaves_the_batch() -> None:
    helpers = """
import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
def move(batch):
    return batch
"""
    (fact,) = infer(LOOP, lookup=lookup_in(helpers=helpers)).facts
    assert isinstance(fact, BatchMeeting)
    assert (fact.span.line, fact.other, fact.partly, fact.certain) == (10, "model", False, True)


def test_a_module_of_another_file_is_moved_there() -> None:
    models = "from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"
    text = "import torch\nfrom models import Net\nnet = Net()\nnet.to('cpu')\nnet.half()\n"
    assert infer(text, lookup=lookup_in(models=models)).facts == ()


def test_a_variable_that_holds_the_cpu_is_a_switch_when_cpu_values_move_to_it() -> None:
    text = """
import torch
from torch.utils.data import DataLoader
device = torch.device("cpu")
model = torch.nn.Linear(2, 2).to(device)
for x, y in DataLoader(dataset):
    model(x)
"""
    (fact,) = infer(text).facts
    assert isinstance(fact, BatchMeeting)
    assert fact.device == "device"
    assert infer(text.replace(".to(device)", "")).facts == ()


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
    facts = infer(text).facts
    assert [type(fact) for fact in facts] == [Discarded, HardcodedDevice]


@pytest.mark.parametrize(
    ("optimizer", "before", "stage"),
    [
        ("Adagrad(model.parameters())", "", "stateful"),
        ("Adam(model.parameters())", "", "fresh"),
        ("Adam(model.parameters())", "optimizer.step()", "stepped"),
        ("Adam(model.parameters())", "optimizer.load_state_dict(state)", "loaded"),
        ("SGD(model.parameters(), lr=1)", "optimizer.step()", "fresh"),
        ("SGD(model.parameters(), lr=1, momentum=0.9)", "optimizer.step()", "stepped"),
    ],
)
def test_what_an_optimizer_holds_when_the_module_moves(optimizer: str, before: str, stage: str) -> None:
    text = f"""
import torch
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.{optimizer}
{before}
model.to(device)
"""
    (fact,) = infer(text).facts
    assert isinstance(fact, StaleOptimizer)
    assert (fact.stage, fact.line.number, fact.span.line) == (stage, 4, 6)


def test_columns_count_characters() -> None:
    (fact,) = infer('import torch\nx = torch.zeros(1); "äöü"; x.to("cpu:0")\n').facts
    assert (fact.span.line, fact.span.column) == (2, 27)


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
    (fact,) = infer(text).facts
    assert isinstance(fact, BatchMeeting)
    assert (fact.element, fact.partly) == ("mask", True)


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
    assert [type(fact) for fact in infer(text).facts] == ([] if guarded else [HardcodedCall])


@pytest.mark.parametrize(
    ("binds", "assignable"),
    [
        ("", False),
        ("    [x for x in xs]\n", False),
        ("    def g(x): pass\n", False),
        ("    global x\n", True),
        ("    x = x0\n", True),
        ("    for x in xs: pass\n", True),
    ],
)
def test_a_name_that_a_function_only_reads_is_not_assigned_to(binds: str, assignable: bool) -> None:
    """An assignment would make it a local variable, which has no value yet."""
    head = "import torch\nx0 = x = torch.ones(2)\ndef f(device, xs):\n    0\n"
    (fact,) = infer(f"{head}{binds}    x.to(device)\n    return x.sum() + x.mean()\n").facts
    assert isinstance(fact, Discarded)
    assert fact.assignable is assignable
