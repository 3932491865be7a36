"""The part of `torch.cuda` that training scripts call, answered for the device that stands in for CUDA."""

from __future__ import annotations

import contextlib
import functools
import re
import time
from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

from . import process, stand_in
from .limit import NotSimulated
from .stand_in import CUDA, check_index, is_presented

if TYPE_CHECKING:
    from collections.abc import Callable

_TOTAL = 16 << 30
_DTYPES = {
    "Float": torch.float32,
    "Double": torch.float64,
    "Half": torch.float16,
    "BFloat16": torch.bfloat16,
    "Byte": torch.uint8,
    "Char": torch.int8,
    "Short": torch.int16,
    "Int": torch.int32,
    "Long": torch.int64,
    "Bool": torch.bool,
}

_RANDOM = (
    *("get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all", "seed"),
    *("seed_all", "set_rng_state", "set_rng_state_all"),
)
_ANNOTATIONS = ("markA", "rangePop", "rangePushA", "rangeStartA", "rangeEnd")
_NEED_GPU = ("graph_pool_handle", "memory_snapshot", "get_sync_debug_mode", "set_sync_debug_mode")
"""Functions that a build with CUDA answers without a GPU, of one that is not there."""
_UNABLE = re.compile(
    r"module 'torch\._C' has no attribute|not compiled with CUDA|dummy base class"
    r"|CUDA driver|CUDA-capable device|CUDA GPUs|Invalid device argument|INTERNAL ASSERT FAILED"
)
"""What torch says without CUDA, or with it and without a GPU."""


class LegacyType(type):
    """The class of `torch.cuda.FloatTensor` and its like, which make tensors and judge `isinstance`."""

    dtype: torch.dtype

    def __instancecheck__(cls, value: object) -> bool:
        """Whether `value` is a tensor of this type on the device."""
        return isinstance(value, torch.Tensor) and value.dtype == cls.dtype and is_presented(value)

    def __call__(cls, *args: Any) -> torch.Tensor:
        """Make a tensor as `torch.FloatTensor` does, on the device."""
        return getattr(torch, cls.__name__)(*args).to(stand_in.device)


class Event:
    """A point in the order of work; everything is done when it is recorded."""

    def __init__(self, enable_timing: bool = False, **options: Any) -> None:
        """Make an event that was not yet recorded."""
        self._time = 0.0

    def record(self, stream: Any = None) -> None:
        """Take the time."""
        self._time = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to another."""
        return (end._time - self._time) * 1e3

    def query(self) -> bool:
        """Whether the work before it is done: always."""
        return True

    def wait(self, stream: Any = None) -> None:
        """Let a stream wait: nothing runs ahead here."""

    def synchronize(self) -> None:
        """Wait for the event: nothing runs behind here."""


class Stream:
    """A queue of work that is never behind."""

    def __init__(self, device: Any = None, priority: int = 0, **options: Any) -> None:
        """Make a stream."""
        self.device = CUDA
        self.priority = priority
        self.cuda_stream = 0  # the address of the default queue

    def synchronize(self) -> None:
        """Wait for the queue."""

    def query(self) -> bool:
        """Whether the queue is empty: always."""
        return True

    def wait_stream(self, stream: Any) -> None:
        """Wait for another queue."""

    def wait_event(self, event: Any) -> None:
        """Wait for an event."""

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event in this queue."""
        event = event or Event()
        event.record()
        return event

    def __enter__(self) -> Stream:
        """Make it the current stream."""
        return self

    def __exit__(self, *error: object) -> None:
        """Make the previous stream current."""


class Context(contextlib.nullcontext[None]):
    """`torch.cuda.device(…)` and `torch.cuda.stream(…)`, whose argument there is only one of."""

    def __init__(self, chosen: Any = None) -> None:
        """Accept the choice."""
        if isinstance(chosen, (int, str, torch.device)):
            _choose(chosen)
        super().__init__()


def install() -> None:
    """Answer for `torch.cuda` in this process, for good."""
    cuda, true = torch.cuda, torch.get_device_module(stand_in.device)
    for name, value in _answers().items():
        setattr(cuda, name, lambda *args, _value=value, **kwargs: _value)
    cuda.set_device = _choose
    cuda.synchronize = lambda device=None: true.synchronize()
    cuda.manual_seed = cuda.manual_seed_all = true.manual_seed
    cuda.seed = cuda.seed_all = torch.seed
    cuda.initial_seed = torch.initial_seed
    cuda.get_rng_state = lambda device=None: true.get_rng_state()
    cuda.set_rng_state = lambda state, device=None: true.set_rng_state(state)
    cuda.get_rng_state_all = lambda: [true.get_rng_state()]
    cuda.set_rng_state_all = lambda states: true.set_rng_state(states[0])
    for name in _RANDOM:
        setattr(cuda.random, name, getattr(cuda, name))
    cuda.Stream, cuda.ExternalStream, cuda.Event = Stream, Stream, Event
    cuda._is_in_bad_fork = process.is_lost
    cuda.device, cuda.stream = Context, Context
    cuda.set_stream = lambda stream: None
    cuda.cudart = functools.partial(_refuse, "cudart")
    for name, dtype in _DTYPES.items():
        setattr(cuda, f"{name}Tensor", LegacyType(f"{name}Tensor", (), {"dtype": dtype}))
    cuda.nvtx._nvtx = SimpleNamespace(**dict.fromkeys(_ANNOTATIONS, lambda *args: 0))
    _refuse_the_rest()
    torch.backends.cudnn.is_acceptable = lambda tensor: False
    # DataParallel over the one device there is.
    torch._C._scatter = lambda tensor, *args: (tensor.to(CUDA),)


def _refuse_the_rest() -> None:
    """Let the functions and classes that need a GPU say that it is the simulation that ends."""
    for module in (torch.cuda, torch.cuda.memory, torch.cuda.graphs):
        for name, value in list(vars(module).items()):
            if not getattr(value, "__module__", None) or not value.__module__.startswith("torch.cuda"):
                continue
            if name in _NEED_GPU or (isinstance(value, type) and _is_native(value)):
                setattr(module, name, functools.partial(_refuse, name))
            elif isinstance(value, FunctionType):
                setattr(module, name, _refusing(name, value))


def _is_native(cls: type) -> bool:
    """Whether a class is written in C++; in builds without CUDA a dummy takes the place of that base."""
    return any(base.__module__ in ("torch._C", "torch._utils") for base in cls.__mro__)


def _refusing(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (AssertionError, AttributeError, RuntimeError) as error:
            if _UNABLE.search(str(error)):
                raise NotSimulated(f"torch.cuda.{name}") from error
            raise

    return call


def _refuse(name: str, *args: Any, **kwargs: Any) -> Any:
    raise NotSimulated(f"torch.cuda.{name}")


def _answers() -> dict[str, Any]:
    """Functions of `torch.cuda` that always answer the same."""
    properties = SimpleNamespace(
        name=f"{stand_in.device.type} as CUDA", major=8, minor=0, total_memory=_TOTAL, multi_processor_count=1
    )
    answers: dict[str, Any] = {
        "is_available": True,
        "is_initialized": True,
        "is_bf16_supported": True,
        "is_current_stream_capturing": False,
        "device_count": 1,
        "current_device": CUDA.index,
        "get_device_name": properties.name,
        "get_device_capability": (properties.major, properties.minor),
        "get_device_properties": properties,
        "mem_get_info": (_TOTAL, _TOTAL),
        "memory_summary": "",
        "current_stream": Stream(),
        "default_stream": Stream(),
    }
    answers |= dict.fromkeys(
        ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"), 0
    )
    memory = ("empty_cache", "reset_peak_memory_stats", "reset_max_memory_allocated")
    return answers | dict.fromkeys(("_lazy_init", "init", "ipc_collect", *memory))


def _choose(device: Any) -> None:
    check_index(device if isinstance(device, int) else torch.device(device).index)
