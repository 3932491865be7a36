"""What is only presumed is no error, and what a program shows otherwise is not said at all."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from devlint.config.settings import Selection, Settings
from devlint.finding import Severity
from devlint.project.disk import project
from devlint.run.lint import lint

HEAD = "import numpy as np\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
"""What each program begins with."""


def told(program: str, *codes: str) -> list[tuple[int, str, str]]:
    """Lines, counted from that after the imports, codes and levels of what these rules find."""
    settings = Settings(selections=(Selection(select=codes),))
    found = lint((HEAD + dedent(program)).encode(), "program.py", settings)
    return [(each.start.row - HEAD.count("\n"), each.code, each.severity.value) for each in found]


DECODER = """\
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def cost(decoder, words, loss):
        word = torch.tensor([1] * len(words))
        mask, total = torch.ones(len(words)), torch.tensor([0.0])
        for target in words.permute(1, 0):
            total = total + (mask * loss(decoder(word), target)).sum()
            word = target
            mask = mask * (target != 2).float()
        return total

    def train(decoder, dataset):
        loss = nn.CrossEntropyLoss(reduction="none")
        for states, words in torch.utils.data.DataLoader(dataset, 2):
            cost(decoder, words, loss).backward()

    train(nn.Embedding(5, 5), torch.utils.data.TensorDataset(torch.zeros(4, 1), torch.ones(4, 3).long()))
"""


def test_what_is_made_here_or_lies_with_the_batch_is_not_on_a_device() -> None:
    assert not told(DECODER, "DEV401", "DEV402")


PACKING = """\
    class Packing(nn.Module):
        def forward(self, weights):
            packed = torch.zeros((len(weights), weights.shape[1] // 8), device=weights.device)
            for column in range(packed.shape[1]):
                bits = weights[:, column * 8 : column * 8 + 8]{copied}.numpy().astype(np.uint8)
                packed[:, column : column + 1] += torch.from_numpy(np.packbits(bits, axis=1))
            return packed
"""


@pytest.mark.parametrize(("copied", "found"), [("", []), (".cpu()", [(6, "DEV403", "error")])])
def test_what_is_read_as_an_array_as_it_comes_is_on_the_cpu(copied: str, found: list[object]) -> None:
    assert told(PACKING.replace("{copied}", copied), "DEV403") == found


NETWORK = """\
    class Network(nn.Module):
        def __init__(self, {given}):
            super().__init__()
            self.step = {made}

        def forward(self, x):
            return self.step(x) + torch.ones(3)
"""


@pytest.mark.parametrize(
    ("given", "made", "level"),
    [
        ("step", "step", Severity.WARNING),
        ("step: nn.Module", "step", Severity.ERROR),
        ("size", "nn.Linear(size, 3)", Severity.ERROR),
        ("name", "find(name)", Severity.WARNING),
    ],
)
def test_what_something_unknown_gives_is_presumed_to_be_where_the_module_is(
    given: str, made: str, level: Severity
) -> None:
    program = NETWORK.replace("{given}", given).replace("{made}", made)
    assert told(program, "DEV403") == [(7, "DEV403", level.value)]


def test_what_is_trained_is_a_module() -> None:
    program = NETWORK.replace("{given}", "step").replace("{made}", "step")
    program += "\n        def fit(self):\n            self.step.train()\n"
    assert told(program, "DEV403") == [(7, "DEV403", "error")]


SHIFTED = """\
    class Attention(nn.Module):
        def {name}(self, x, triangle=False):
            if triangle:
                x = x * torch.ones(x.size(0))
            return x

        def forward(self, x):
            return self.{name}(x{told})
"""


@pytest.mark.parametrize(
    ("name", "told_so", "found"),
    [("_shift", "", False), ("_shift", ", triangle=True", True), ("shift", "", True)],
)
def test_no_call_gets_into_a_branch_that_the_default_of_a_private_method_keeps_from(
    name: str, told_so: str, found: bool
) -> None:
    program = SHIFTED.replace("{name}", name).replace("{told}", told_so)
    assert told(program, "DEV403") == [(4, "DEV403", "warning")] * found


@pytest.mark.parametrize(
    ("base", "level"), [("nn.Module", "error"), ("MessagePassing", "error"), ("zoo.Layer", "warning")]
)
def test_a_class_that_only_acts_as_a_module_is_presumed_to_be_one(base: str, level: str) -> None:
    program = f"""\
    import zoo
    from torch_geometric.nn import MessagePassing
    class Layer({base}):
        def forward(self, x):
            return x * torch.ones(3)
    print(torch.device("cuda"))
    """
    assert told(program, "DEV403") == [(5, "DEV403", level)]


DEFAULTS = {
    'torch.set_default_device("cuda")\n': True,
    "torch.set_default_tensor_type(torch.cuda.FloatTensor)\n": True,
    "torch.set_default_tensor_type(torch.DoubleTensor)\n": False,
    'import pytest\ntorch.set_default_device("cuda")\n': False,
}
"""What a file says, and whether that makes tensors on an accelerator in other files."""


@pytest.mark.parametrize("setting", DEFAULTS)
@pytest.mark.parametrize("imports", [True, False])
def test_what_another_file_says_of_the_default_device_holds_here(
    setting: str, imports: bool, tmp_path: Path
) -> None:
    net = tmp_path / "net.py"
    net.write_text(
        HEAD
        + "class Net(nn.Module):\n    def forward(self, x):\n        return x + torch.ones(3)\nprint(Net())\n"
    )
    main = tmp_path / "main.py"
    main.write_text("import torch\n" + "from net import Net\n" * imports + setting)
    settings = Settings(selections=(Selection(select=("DEV403",)),))
    found = lint(net.read_bytes(), str(net), settings, project=project())
    expected = [] if DEFAULTS[setting] and imports else ["warning" if DEFAULTS[setting] else "error"]
    assert [each.severity.value for each in found] == expected


def test_a_program_beside_its_package_says_which_the_default_device_is(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    net = tmp_path / "models" / "net.py"
    net.write_text(
        HEAD + "from models.parts import Part\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        return x + torch.ones(3)\n"
    )
    (tmp_path / "models" / "parts.py").write_text("class Part:\n    pass\n")
    main = tmp_path / "main.py"
    main.write_text("import torch\nfrom models.net import Net\ntorch.set_default_device('cuda')\n")
    settings = Settings(selections=(Selection(select=("DEV403",)),))
    assert lint(net.read_bytes(), str(net), settings, project=project()) == []


@pytest.mark.parametrize(
    ("dataset", "level"),
    [("dataset", "warning"), ("torch.utils.data.TensorDataset(torch.ones(2, 2), torch.ones(2))", "error")],
)
def test_a_dataset_that_a_caller_gives_may_yield_what_is_on_a_device(dataset: str, level: str) -> None:
    program = f"""\
    def evaluate(dataset, device):
        model = nn.Linear(2, 2).to(device)
        for inputs, targets in torch.utils.data.DataLoader({dataset}):
            print(model(inputs))
    """
    assert told(program, "DEV401") == [(4, "DEV401", level)]


POSITIONS = """\
    class Positions(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def index(self, seconds: torch.Tensor, rows):
            steps = torch.arange(rows).view(-1, 1)
            times = (steps.expand(-1, rows) * seconds).long().flatten()
            height = torch.arange(rows * rows)
            return torch.stack([times, height])

        def forward(self, x: torch.Tensor, seconds: torch.Tensor):
            return self.layer(x.cuda()) + self.index(seconds, 2).to(x.device).sum()
"""


def test_what_another_mistake_leaves_on_the_cpu_is_no_second_one() -> None:
    assert told(POSITIONS, "DEV403") == [(7, "DEV403", "warning")]


def test_what_is_brought_to_a_device_meets_all_the_same() -> None:
    brought = POSITIONS.replace("seconds).long()", "seconds).to(seconds.device)")
    assert told(brought, "DEV403") == [(9, "DEV403", "warning")]


@pytest.mark.parametrize(("method", "level"), [("__init__(self", ""), ("forward(self, x", "warning")])
def test_what_a_constructor_gives_has_not_been_moved(method: str, level: str) -> None:
    program = f"""\
    def corners(voxels):
        padded = F.pad(voxels, (0, 1, 0, 1))
        return torch.tensor(padded.numpy() > 0)
    class World(nn.Module):
        def {method}, voxels=np.ones((2, 2))):
            super().__init__()
            self.register_buffer("voxels", torch.from_numpy(voxels))
            self.corners = corners(self.voxels)
    print(torch.device("cuda"))
    """
    assert told(program, "DEV407") == ([(3, "DEV407", level)] if level else [])


OVERLAPS = """\
    def overlaps(masks, boxes):
        found = torch.zeros(len(masks), len(masks))
        for row in range(len(masks)):
            near = torch.where(boxes[row])[0].to(masks.device)
            found[row, near] += 1
        return found

    def kept(masks, boxes):
        masks = {given}
        return overlaps(masks, boxes)
"""


@pytest.mark.parametrize(
    ("given", "levels"),
    [
        ("masks.detach()", ["error"]),
        ("masks.detach().cpu()", []),
        ("(masks if isinstance(masks, torch.Tensor) else torch.tensor(masks)).cpu()", ["note"]),
    ],
)
def test_what_follows_an_argument_is_on_the_cpu_where_its_file_gives_it_there(
    given: str, levels: list[str]
) -> None:
    assert [level for _, _, level in told(OVERLAPS.format(given=given), "DEV403")] == levels


RECURRENT = """\
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.GRU(4, 4)
            self.state = None

        def begin(self, size, elsewhere):
            {before}

        def forward(self, x):
            self.begin(x.size(1), x.is_cuda)
            return self.rnn(x, self.state)[0]
"""


@pytest.mark.parametrize(
    ("before", "found"),
    [
        ("self.state = torch.zeros(1, size, 4)", 1),
        ("if not elsewhere: self.state = torch.zeros(1, size, 4)", 0),
        ("if elsewhere: return\n            self.state = torch.zeros(1, size, 4)", 0),
    ],
)
def test_what_a_method_makes_on_a_condition_may_not_be_what_is_read(before: str, found: int) -> None:
    assert len(told(RECURRENT.format(before=before), "DEV403")) == found
