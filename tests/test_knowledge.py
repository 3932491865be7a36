"""Rows of knowledge are well-formed, found under every name of a thing, and called as torch says."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections import Counter
from importlib import import_module
from typing import Any

import pytest

from devlint.core.kinds import Kind
from devlint.knowledge import (
    Row,
    attribute,
    bind,
    chooses_device,
    find,
    hints,
    kind_of_class,
    method,
    names,
    releases,
    topics_of_class,
)
from devlint.knowledge.aliases import public
from devlint.knowledge.find import modules, rows
from devlint.knowledge.table import Table, entries, read
from devlint.knowledge.table import names as written

TRANSFERS = set(
    """
    devices.device devices.set_default devices.autocast devices.accelerator factories.factory
    factories.from_data factories.sparse operations.sequence losses.loss modules.make modules.pretrained
    modules.loaded modules.traced modules.functional modules.with_transforms modules.wrap modules.before
    modules.take
    modules.scatter modules.shard modules.parameter modules.parameters modules.parts modules.register
    modules.state modules.move modules.forward optimizers.make optimizers.step optimizers.load optimizers.add
    loaders.loader graphs.loader graphs.dataset graphs.transform graphs.of_edges graphs.collection
    loaders.subset loaders.split loaders.tensors sequences.pack sequences.pad_packed
    objects.copy objects.getattr objects.setattr objects.super objects.isinstance
    objects.field objects.is_tensor objects.type objects.replaced objects.partial objects.record
    containers.make
    objects.namedtuple
    containers.enumerate distributions.make distributions.apart python.exec
    containers.zip containers.range containers.next containers.filter containers.map containers.chain
    containers.add
    containers.views containers.get numbers.extreme numbers.truth numbers.any numbers.measure strings.str
    strings.startswith strings.format tensors.move tensors.cast tensors.retype tensors.backward
    tensors.requires_grad tensors.is_pinned tensors.index tensors.variable testing.skip testing.exits
    distributed.init
    imports.load transforms.make transforms.compose containers.range accelerate.make accelerate.prepare
    fabric.make fabric.context
    functions.first
    """.split()
)
GIVES = {kind.value for kind in Kind} | {"first", "element", "reduced"}
PLACES = {"", "device", "receiver-device", "default", "cpu", "operands", "first", "unknown"}
ALL = dict(rows())


def test_columns_say_what_is_defined() -> None:
    for name, row in ALL.items():
        assert row.gives in GIVES, name
        assert row.place in PLACES, name
        assert row.by in TRANSFERS | {""}, name
        parameters = row.signature.replace("*", "").replace(" ", "").split(",")
        named = {*row.devices, *row.host}
        assert named <= set(parameters), f"{name} speaks of {named - set(parameters)}"


def test_every_transfer_is_needed() -> None:
    assert {row.by for row in ALL.values()} - {""} == TRANSFERS


def test_no_name_twice() -> None:
    every: Counter[str] = Counter()
    for module in modules():
        every.update(written(import_module(f"devlint.knowledge.{module}").TABLES))
    assert [name for name, times in every.items() if times > 1] == []


def test_a_table_is_read_as_it_is_written() -> None:
    text = """
    sin cos(input, *,
            out)
    ctc(a, b): host=a,b gives=0-dim topics=extra
    alone(x): topics=!one
    none(x): topics= devices=
    """
    common = Row("tensor", "operands", devices=("device",), topics=frozenset({"shared"}))
    found = {name: read(entry) for name, entry in entries([Table("m.", common, text)]).items()}
    assert found["m.sin"] == found["m.cos"] == common._replace(signature="input, *, out")
    assert found["m.ctc"] == Row(
        "0-dim tensor", "operands", "a, b", ("device",), ("a", "b"), frozenset({"shared", "extra"})
    )
    assert found["m.alone"].topics == {"one"}
    assert found["m.none"].topics == frozenset()
    assert found["m.none"].devices == ()


def test_a_column_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no column 'hosts'"):
        read(entries([Table("", Row(), "f(x): hosts=x")])["f"])


@pytest.mark.parametrize(
    ("name", "positions", "bound"),
    [
        ("torch.utils.data.DataLoader", 7, "collate_fn"),
        ("torch.utils.data.DataLoader", 8, "pin_memory"),
        ("torch.optim.SGD", 3, "momentum"),
        ("torch.load", 2, "map_location"),
        ("torch.nn.functional.ctc_loss", 3, "input_lengths"),
        ("torch.zeros", 2, "size"),
    ],
)
def test_positions_bind_parameters(name: str, positions: int, bound: str) -> None:
    row = find(name)
    assert row is not None
    assert bind(row, positions)[-1] == bound


def test_positions_beyond_the_last_parameter_bind_nothing() -> None:
    row = find("torch.abs")
    assert row is not None
    assert bind(row, 3) == ("input",)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("torch.utils.data.dataloader.DataLoader", "torch.utils.data.DataLoader"),
        ("torch.optim.adamw.AdamW", "torch.optim.AdamW"),
        ("torch.nn.modules.linear.Linear", "torch.nn.Linear"),
        ("torch.nn.DataParallel", "torch.nn.parallel.data_parallel.DataParallel"),
        ("torch.autocast", "torch.amp.autocast_mode.autocast"),
        ("lightning.pytorch.Trainer", "pytorch_lightning.Trainer"),
        ("torch.serialization.load", "torch.load"),
    ],
)
def test_names_of_one_thing_have_one_row(one: str, other: str) -> None:
    assert find(one) is not None
    assert find(one) == find(other)


ENDINGS = {
    "transformers.BertModel": "module",
    "transformers.TFBertModel": "other",
    "torchvision.models.ResNet18_Weights": "other",
    "torchvision.models.resnet18": "module",
}
"""Names that a row with a `*` inside speaks of, or one that begins them further."""


def test_the_longest_prefix_counts_and_the_exact_name_before_it() -> None:
    weights, model = find("timm.models.list_models"), find("timm.models.vit_base")
    assert weights is not None
    assert model is not None
    assert (weights.gives, model.gives) == ("other", "module")
    kinds = {name: row.gives for name in ENDINGS if (row := find(name)) is not None}
    assert kinds == ENDINGS
    assert find("torch.no_such_function") is None
    assert find("no_such_library.function") is None


def test_class_methods_that_build_models_are_known_by_their_name() -> None:
    row = find("transformers.AutoModelForCausalLM.from_pretrained")
    assert row is not None
    assert row.by == "modules.pretrained"


def test_methods_belong_to_kinds() -> None:
    for kind in (Kind.TENSOR, Kind.PARAMETER, Kind.SCALAR):
        assert method(kind, "numpy") == ALL["Tensor.numpy"]
    assert method(Kind.MODULE, "to") == ALL["Module.to"]
    assert method(Kind.MOVES_IN_PLACE, "to") == ALL["InPlace.to"]
    assert method(Kind.ARRAY, "anything") == ALL["Array.*"]
    assert method(Kind.UNKNOWN, "to") is None
    assert method(Kind.TENSOR, "no_such_method") is None


def test_attributes_belong_to_kinds() -> None:
    shape, weight = attribute(Kind.TENSOR, "shape"), attribute(Kind.MODULE, "weight")
    assert shape is not None
    assert weight is not None
    assert (shape.gives, weight.gives) == ("number", "parameter")
    assert attribute(Kind.CONTAINER, "shape") is None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("torch.Tensor", Kind.TENSOR),
        ("torch.LongTensor", Kind.TENSOR),
        ("torch.nn.Parameter", Kind.PARAMETER),
        ("torch.nn.parameter.Parameter", Kind.PARAMETER),
        ("torch.nn.Module", Kind.MODULE),
        ("torch.nn.modules.conv.Conv2d", Kind.MODULE),
        ("torch.optim.Adam", Kind.OPTIMIZER),
        ("torch.utils.data.dataloader.DataLoader", Kind.LOADER),
        ("numpy.ndarray", Kind.ARRAY),
        ("transformers.tokenization_utils_base.BatchEncoding", Kind.MOVES_IN_PLACE),
        ("torch.device", Kind.DEVICE),
        ("torch.zeros", None),
        ("torch.optim.lr_scheduler.StepLR", None),
    ],
)
def test_instances_of_classes_have_kinds(name: str, kind: Kind | None) -> None:
    assert kind_of_class(name) is kind


@pytest.mark.parametrize(
    ("name", "topics"),
    [
        ("torch.nn.Module", {"module"}),
        ("lightning.pytorch.LightningModule", {"module", "framework:lightning", "says-device"}),
        ("torch.utils.data.dataset.Dataset", {"dataset"}),
        ("torch.utils.data.DataLoader", {"loader"}),
        ("torch.optim.Optimizer", {"optimizer"}),
        ("enum.Enum", {"enum"}),
        ("torch_geometric.data.Data", {"graph", "in-place"}),
        ("torch.autograd.Function", {"autograd-function"}),
        ("accelerate.Accelerator", {"framework:accelerate"}),
        ("collections.UserDict", set()),
    ],
)
def test_deriving_from_a_class_means_something(name: str, topics: set[str]) -> None:
    assert topics_of_class(name) == topics


@pytest.mark.parametrize(
    ("on", "name", "says"),
    [
        ("function", "run_gpu", ["accelerator"]),
        ("function", "requiresCUDA", ["accelerator"]),
        ("class", "XLAHook", ["accelerator"]),
        ("function", "output", []),
        ("function", "tmpsum", []),
        ("option", "no_cuda", ["no-accelerator"]),
        ("option", "use_cuda", ["accelerator"]),
        ("option", "cpu_only", ["no-accelerator"]),
        ("variable", "weight_dtype", ["dtype"]),
        ("base", "LightningBase", ["framework"]),
        ("base", "PreTrainedModel", ["module"]),
        ("import", "my_ops_cuda", ["accelerator"]),
        ("import", "vendor.triton.ops", ["accelerator"]),
        ("reason", "needs a GPU", ["accelerator", "demands"]),
        ("reason", "flaky", []),
        ("decorator", "requires_cuda", ["accelerator"]),
        ("callable", "optional_import", ["imports"]),
    ],
)
def test_names_that_users_chose_only_suggest(on: str, name: str, says: list[str]) -> None:
    assert list(hints(on, name)) == says


@pytest.mark.parametrize(
    ("text", "chooses"),
    [
        ("device = 'cuda' if torch.cuda.is_available() else 'cpu'\n", True),
        ("if torch.cuda.is_available():\n    net.cuda()\n    x = x.cuda()\n", False),
        ("if torch.cuda.is_available():\n    net.cuda()\n\n    x = x.cuda()\nelse:\n    slow()\n", True),
        ("use = torch.cuda.is_available()\n", True),
        ("assert torch.cuda.is_available()\n", False),
        ("if not torch.cuda.is_available(): raise SystemExit\n", False),
        ("if dist.is_available():\n    start()\n", False),
        ("def f(x, device):\n    pass\n", True),
        ("torch.zeros(2, device=x.device)\n", False),
        ("x.to(self.device)\n", True),
        ("parser.add_argument('--rows', help='rows (per device) of a batch')\n", False),
        ("parser.add_argument('--device')\n", True),
        ("parser.add_argument('--gpu', action='store_true')\n", True),
        ("parser.add_argument('--gpu', default='0')\n", False),
        ("parser.add_argument('--gpu', type=int, default=-1)\n", True),
        ("if args.gpu >= 0:\n    net.cuda(args.gpu)\n", True),
        ("train(net, use_cuda=True)\n", False),
        ("def train(net, use_cuda=True):\n    return net.cuda() if use_cuda else net\n", True),
        ("torch.load(path, map_location='cpu')\n", False),
        ("torch.load(path, map_location=lambda storage, place: storage)\n", False),
        ("torch.load(path, map_location=chosen)\n", True),
        ("x.to('cpu')\n", False),
    ],
)
def test_what_seems_to_mean_a_device_to_be_a_choice(text: str, chooses: bool) -> None:
    assert chooses_device(text) is chooses


def test_portable_names_are_known_by_release() -> None:
    assert releases.portable("torch.cuda.synchronize") == ("torch.accelerator.synchronize", (2, 6))
    assert releases.portable("torch.cuda.set_device") == ("torch.accelerator.set_device_index", (2, 6))
    assert releases.portable("torch.cuda.get_device_name") is None
    assert releases.portable("torch.zeros") is None


def test_importing_reads_no_table() -> None:
    """A clean file pays for names that it uses, not for all."""
    code = "import sys, devlint.knowledge; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "devlint.knowledge.find" in loaded
    assert "devlint.knowledge.nn " not in loaded
    assert "devlint.knowledge.frameworks" not in loaded


# What torch says


@pytest.fixture(scope="module")
def apis() -> Any:
    pytest.importorskip("torch")
    return import_module("devlint.runtime.apis")


def test_every_row_names_something(apis: Any) -> None:
    mine = [name for name, row in ALL.items() if apis.belongs_here(name, row)]
    assert len(mine) > 2000
    assert [name for name in mine if apis.locate(name) is None] == []


@pytest.mark.filterwarnings("ignore")
def test_signatures_are_those_of_torch(apis: Any) -> None:
    wrong = {}
    told = 0
    for name, row in ALL.items():
        if apis.belongs_here(name, row):
            api = apis.locate(name)
            told += apis.tells_signature(api)
            if said := apis.wrong_signature(api, row):
                wrong[name] = said
    assert wrong == {}
    assert told > 2000


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("torch.add", "input, alpha, other, *, out"),
        ("torch.zeros", "size, *, device, dtype, layout, out, pin_memory, requires_grad"),
        ("torch.load", "f, pickle_module, map_location, *, mmap, weights_only"),
        ("torch.nn.Linear", "in_features, out_features, bias, device"),
        ("torch.nn.Linear", "in_features, out_features, bias, device, dtype, *, place"),
        ("len", "obj, start"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_signature_is_noticed(apis: Any, name: str, signature: str) -> None:
    assert apis.wrong_signature(apis.locate(name), ALL[name]._replace(signature=signature))


@pytest.mark.filterwarnings("ignore")
def test_where_torch_defines_a_thing_leads_to_its_row(apis: Any) -> None:
    lost = {}
    for name, row in ALL.items():
        if not apis.belongs_here(name, row) or not name.startswith("torch.") or "legacy-type" in row.topics:
            continue
        value = apis.locate(name).value
        home = getattr(value, "__module__", None)
        if not inspect.isclass(value) or home is None or not home.startswith("torch"):
            continue
        defined = f"{home}.{value.__qualname__}"
        if find(defined) != row:
            lost[name] = f"{defined}, taken for {public(defined)}"
    assert lost == {}


def test_dtypes_are_those_of_torch(apis: Any) -> None:
    import torch

    assert {name for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype)} == names.DTYPES


def test_tensor_attributes_exist(apis: Any) -> None:
    import torch

    from devlint.knowledge import tensor

    x = torch.ones(2)
    missing = [n for n in written(tensor.ATTRIBUTES) if not hasattr(type(x), n.partition(".")[2])]
    assert missing == []


def test_portable_names_exist_in_torch(apis: Any) -> None:
    import torch

    for listed in releases.SINCE.values():
        assert [name for name in listed.split() if not hasattr(torch.accelerator, name)] == []
