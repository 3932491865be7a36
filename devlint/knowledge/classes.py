"""Classes: the kind of their instances, and what deriving from them means."""

from __future__ import annotations

from ..core.kinds import Kind
from .table import pairs, words

_KINDS = """
    TENSOR: torch.Tensor torch.FloatTensor torch.DoubleTensor torch.HalfTensor torch.BFloat16Tensor
    TENSOR: torch.ByteTensor torch.CharTensor torch.ShortTensor torch.IntTensor torch.LongTensor
    TENSOR: torch.BoolTensor
    TENSOR: torch.autograd.Variable torch.nn.Buffer torch.nn.UninitializedBuffer torch.types.Tensor
    TENSOR: torch.cuda.FloatTensor torch.cuda.DoubleTensor torch.cuda.HalfTensor torch.cuda.BFloat16Tensor
    TENSOR: torch.cuda.ByteTensor torch.cuda.CharTensor torch.cuda.ShortTensor torch.cuda.IntTensor
    TENSOR: torch.cuda.LongTensor torch.cuda.BoolTensor
    PARAMETER: torch.nn.Parameter torch.nn.UninitializedParameter
    MODULE: torch.nn.Module torch.jit.ScriptModule torch.jit.RecursiveScriptModule torch.nn.Container
    MODULE: transformers.PreTrainedModel diffusers.ModelMixin pytorch_lightning.LightningModule
    MODULE: torch_geometric.nn.MessagePassing torch_geometric.nn.conv.MessagePassing
    MODULE: torch_geometric.nn.conv.message_passing.MessagePassing
    MODULE: torchmetrics.Metric torchmetrics.MetricCollection torchmetrics.wrappers.abstract.WrapperMetric
    DEVICE: torch.device
    DTYPE: torch.dtype
    GENERATOR: torch.Generator
    ARRAY: numpy.ndarray numpy.array
    NUMBER: int float bool complex numbers.Number
    STRING: str
    LOADER: torch.utils.data.DataLoader monai.data.DataLoader
    OPTIMIZER: torch.optim.Optimizer
    OTHER: bytes torch.Size collections.abc.Callable typing.Callable
    """
FRAMEWORKS = """
    lightning: pytorch_lightning lightning lightning_fabric
    fastai: fastai
    composer: composer
    transformers: transformers.Trainer transformers.trainer transformers.Seq2SeqTrainer
    accelerate: accelerate
    deepspeed: deepspeed
    ignite: ignite
    catalyst: catalyst
    skorch: skorch
    """
"""Frameworks that move batches and modules themselves: no placement inside their classes is the author's."""
_TOPICS = """
    dataset: torch.utils.data.Dataset torch.utils.data.IterableDataset torch.utils.data.TensorDataset
    dataset: torch.utils.data.Subset torch.utils.data.ConcatDataset torchvision.datasets.VisionDataset
    dataset: torchvision.datasets.ImageFolder
    dataset: torch_geometric.data.Dataset torch_geometric.data.InMemoryDataset
    graph: torch_geometric.data.Data torch_geometric.data.Batch
    enum: enum.Enum enum.StrEnum enum.IntEnum enum.Flag enum.IntFlag
    autograd-function: torch.autograd.Function
    test-case: unittest.TestCase unittest.IsolatedAsyncioTestCase
    test-case: torch.testing._internal.common_utils.TestCase
    scheduler: torch.optim.lr_scheduler.LRScheduler
    record: typing.NamedTuple typing.TypedDict pydantic.BaseModel
    metric: torchmetrics.Metric torchmetrics.wrappers.abstract.WrapperMetric
    process: multiprocessing.Process torch.multiprocessing.Process
    says-device: pytorch_lightning.LightningModule torchmetrics.Metric
    says-device: torchmetrics.wrappers.abstract.WrapperMetric
    """
_BUFFERS = """
    weight: torch.nn._WeightedLoss torch.nn.BCELoss torch.nn.MultiLabelSoftMarginLoss
    weight: torch.nn.CrossEntropyLoss torch.nn.MultiMarginLoss torch.nn.NLLLoss torch.nn.NLLLoss2d
    weight,pos_weight: torch.nn.BCEWithLogitsLoss
    """
"""The buffers that a base registers, by its public name: what is assigned to them is the buffer then
(`torch.nn.modules.loss`)."""
_RUN = {
    "framework:lightning": "training_step validation_step test_step predict_step",
    "metric": "update",
    "autograd-function": "forward backward jvp",
}
"""By framework or base, the methods that get what is where the module is that they serve."""
_NO_MODULES = words("Parameter Buffer UninitializedParameter UninitializedBuffer ParameterDict")
_OF_MODULES = ("torch.nn.", "torch.ao.nn.", "torchvision.models.", "timm.models.")


def kind_of(dotted: str, gives: str) -> Kind | None:
    """The kind of the instances of a class under its public name; `gives` is what its row says."""
    known = pairs(_KINDS).get(dotted)
    if known is not None:
        return Kind[known]
    if gives in ("module", "optimizer", "loader", "moves-in-place"):
        return Kind(gives)
    name = dotted.rpartition(".")[2]
    if dotted.startswith(_OF_MODULES) and name[:1].isupper() and name not in _NO_MODULES:
        return Kind.MODULE
    return None


def topics_of(dotted: str, kind: Kind | None) -> frozenset[str]:
    """What deriving from a class means."""
    topics, frameworks = pairs(_TOPICS), pairs(FRAMEWORKS)
    found = {topics[dotted]} if dotted in topics else set()
    if kind in (Kind.MODULE, Kind.LOADER, Kind.OPTIMIZER):
        found.add(kind.value)
    if kind is Kind.MOVES_IN_PLACE:
        found.add("in-place")
    if dotted.startswith("torch.cuda."):
        found.add("needs-cuda")
    part = dotted
    while part:
        if part in frameworks:
            found.add(f"framework:{frameworks[part]}")
        part = part.rpartition(".")[0]
    return frozenset(found)


def buffers_of(dotted: str) -> frozenset[str]:
    """The names of the buffers that a class of torch's registers, under its public name."""
    return frozenset(pairs(_BUFFERS).get(dotted, "").split(",")) - {""}


def runs_like_forward(method: str, topics: frozenset[str]) -> bool:
    """Whether a framework calls a method, of a module or for one, with what is where that is."""
    return any(method in words(_RUN.get(topic, "")) for topic in topics)
