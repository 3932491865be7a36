"""Names of torch and Python that the inference asks for by themselves, not as a row."""

from __future__ import annotations

import re

from ..core.kinds import Kind
from . import api, frameworks
from .attributes import MODULE_ONLY, TENSOR_ONLY, TENSOR_TOO
from .words import hints

MOVES = api.MOVE_METHODS
CASTS = api.CAST_METHODS
ACCELERATORS = api.ACCELERATOR_TYPES
DEVICE_KEYWORDS = api.DEVICE_KEYWORDS
NUMBER_ATTRIBUTES = api.NUMBER_ATTRIBUTES
DTYPES = frozenset(f"torch.{name}" for name in api.DTYPES)
PLACEMENT_ATTRIBUTES = {"device": "device", "is_cuda": "flag", "dtype": "dtype"}
"""What an attribute of a tensor says about it: where it is, whether that is CUDA, or its dtype."""
DEVICE_TYPE = frozenset({"type"})
WRAPPED_MODULE = frozenset({"module"})
"""What DataParallel and its like call the module inside."""
MODULE_PARAMETERS = frozenset({"weight", "bias", "in_proj_weight", "in_proj_bias"})
LOADER_ATTRIBUTES = frozenset({"dataset", "batch_sampler", "collate_fn", "num_workers"})
TENSOR_VIEWS = frozenset({"mT", "mH"})
"""Attributes, no methods, that only tensors have."""
NO_LAYER = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "mm", "bmm", "mv"})
"""Methods of tensors that take tensors, and that nobody would name a layer after."""
LAYER_NAMES = frozenset({"log_softmax"})
"""Methods of tensors of several words that a layer may well be called."""
AXES = frozenset({"dim", "dims", "dim0", "dim1", "keepdim", "start_dim", "end_dim", "axis"})
"""Keywords of tensors' methods that layers are not called with."""
LEAF = frozenset({"grad", "is_leaf", "requires_grad", "requires_grad_"})
"""What speaks of a tensor's own gradient, which a moved copy has not."""
ONLY_MOVES = frozenset({"device", "non_blocking"})
"""Keywords of a move that changes nothing but the device."""
TYPING_ONLY = frozenset({"TYPE_CHECKING"})
TENSOR_DATA = frozenset({"data"})
NAMES_A_DEVICE = frozenset({"device"})
LIKELY_TENSOR = frozenset({"is_pinned", "size", "dim", "split", "select", "squeeze_", "transpose"})
"""Methods that tensors share with few other things that have a `.to`."""
SAME_OBJECT = frozenset(
    "eval train requires_grad_ clone detach contiguous pin_memory share_memory compile apply".split()
)
"""Methods that give the very object, or a copy beside it, whatever it is."""
RUNS_FORWARD = frozenset({"forward", "generate", "__call__"})
OPTIMIZER_METHODS = frozenset({"load_state_dict", "state_dict", "zero_grad", "step"})
TENSOR_TYPES = frozenset({"Tensor", "LongTensor", "FloatTensor", "BoolTensor"})
"""What annotations call tensors where the import is not known."""
OPAQUE_TYPES = frozenset({"Any", "object", "T", "TypeVar", "Callable"})
GENERICS = {
    **dict.fromkeys("Optional Annotated Final ClassVar Required NotRequired".split(), "wrapper"),
    **dict.fromkeys(
        "List list Sequence Iterable Iterator Set set Collection Deque deque".split(), "sequence"
    ),
    **dict.fromkeys(
        "Dict dict Mapping MutableMapping OrderedDict defaultdict DefaultDict".split(), "mapping"
    ),
    **dict.fromkeys(("Tuple", "tuple"), "tuple"),
    **dict.fromkeys(("Callable", "Type", "type", "Generator"), "opaque"),
    "Union": "union",
    "DataLoader": "loader",
}
"""What the brackets after a generic type hold."""
GPU_NAMES = frozenset({"gpu", "cuda"})
NCCL = "nccl"
METHODS_OF = {
    Kind.TENSOR: "Tensor",
    Kind.SCALAR: "Tensor",
    Kind.PARAMETER: "Tensor",
    Kind.MODULE: "Module",
    Kind.OPTIMIZER: "Optimizer",
    Kind.LOADER: "Loader",
    Kind.DEVICE: "Device",
    Kind.CONTAINER: "Container",
    Kind.STRING: "String",
    Kind.ARRAY: "Array",
    Kind.GENERATOR: "Generator",
}
"""What callees are called whose receiver has one of these kinds."""
CUDA_MODULE = "torch.cuda."
CUDA_CONTEXTS = frozenset({"torch.cuda.device", "torch.cuda.stream"})
CUDA_ERRORS = frozenset({"RuntimeError", "AssertionError", "Exception", "BaseException"})
"""What torch raises where there is no accelerator, and what catches it."""
EXITS = frozenset("exit quit _exit abort skip skipTest fail SkipTest xfail".split())
"""Calls after which control does not go on."""
EXPECTS_FAILURE = frozenset({"raises", "suppress", "assertRaises", "assertRaisesRegex"})
MODULE_MARKS = frozenset({"pytestmark"})
REACHED = frozenset({"sync", "clock", "forks", "spawns", "loads", "touches-cuda", "moves"})
"""Topics that a function's callers want to know of."""
BUILTINS = frozenset(
    """
    list tuple iter enumerate zip map filter next reversed sorted len isinstance max min sum dict set getattr
    setattr hasattr super int float str bool range print type id any all abs round open vars
    """.split()
)
_DEVICE = re.compile(r"(cpu|cuda|mps|xpu|hpu|npu|mtia|xla|musa|ipu)(:\d+)?\Z")


def is_device_name(text: str) -> bool:
    """Whether a string is the name of a device."""
    return _DEVICE.match(text) is not None


def is_accelerator_name(text: str) -> bool:
    """Whether a string is the name of a device that is not the cpu."""
    return is_device_name(text) and not text.startswith("cpu")


def records(name: str) -> bool:
    """Whether a callable of that name only keeps what it is given: a device among it places nothing."""
    said = hints("callable", name)
    return "records" in said or "asserts" in said


def configures(name: str) -> bool:
    """Whether `device=` is, to a callable of that name, a setting that the user can change."""
    return "configures" in hints("callable", name)


def imports_accelerator(name: str) -> bool:
    """Whether a module runs on an accelerator alone."""
    first = name.split(".")[0]
    by_nature = first in frameworks.CUDA_BY_NATURE or name in frameworks.CUDA_BY_NATURE
    return by_nature or "accelerator" in hints("import", name)


