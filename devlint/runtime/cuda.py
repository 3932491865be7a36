"""The part of `torch.cuda` that training scripts call, answered for the device that stands in for CUDA."""

from __future__ import annotations

import functools
import re
import time
from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

from . import copies, process, stand_in
from .limit import NotSimulated
from .stand_in import choose, current, index_of, is_presented, target_of

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
_NEED_GPU = (
    *("graph_pool_handle", "memory_snapshot", "get_sync_debug_mode", "set_sync_debug_mode"),
    *("GreenContext", "CUDAPluggableAllocator", "use_mem_pool", "caching_allocator_alloc"),
    *("clock_rate", "device_memory_used", "memory_usage", "power_draw", "temperature", "utilization"),
    "change_current_allocator",
)
"""What a build with CUDA, or a library of NVIDIA's, answers of a GPU that is not there."""
_FORGOTTEN = (
    *("empty_cache", "reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached"),
    *("reset_accumulated_memory_stats", "reset_accumulated_host_memory_stats"),
    *("reset_peak_host_memory_stats", "set_per_process_memory_fraction"),
)
"""Functions that set what nothing here depends on."""
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
        return getattr(torch, cls.__name__)(*args).to(target_of(current()))


class Properties(SimpleNamespace):
    """What a device is: numbers of an A100, for what is computed from them."""

    def __init__(self, name: str) -> None:
        """Take the name."""
        super().__init__(
            name=name,
            gcnArchName=name,
            major=8,
            minor=0,
            total_memory=_TOTAL,
            multi_processor_count=1,
            max_threads_per_multi_processor=2048,
            max_threads_per_block=1024,
            warp_size=32,
            regs_per_multiprocessor=1 << 16,
            shared_memory_per_block=48 << 10,
            shared_memory_per_block_optin=163 << 10,
            shared_memory_per_multiprocessor=164 << 10,
            L2_cache_size=40 << 20,
            is_integrated=0,
            is_multi_gpu_board=0,
        )

    def __getattr__(self, name: str) -> Any:
        """What another release of torch knows besides."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotSimulated(f"`{name}` of a device's properties")


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
        self.device = torch.device("cuda", index_of(device))
        self.priority = priority
        self.cuda_stream = 0  # the address of the default queue

    def synchronize(self) -> None:
        """Wait for the queue."""

    def query(self) -> bool:
        """Whether the queue is empty: always."""
        return True

    def is_capturing(self) -> bool:
        """Whether a graph is made of its work: never."""
        return False

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


class Context:
    """`torch.cuda.device(…)`: what `cuda` means inside it."""

    def __init__(self, device: Any) -> None:
        """Choose a device."""
        self.idx = index_of(device) if device is not None else -1
        self._before = -1

    def __enter__(self) -> None:
        """Let `cuda` mean it."""
        self._before = choose(self.idx)

    def __exit__(self, *error: object) -> None:
        """Let `cuda` mean what it did before."""
        choose(self._before)


class ContextOf(Context):
    """`torch.cuda.device_of(…)`: that of a tensor."""

    def __init__(self, tensor: torch.Tensor) -> None:
        """Choose the device of a tensor, if it is on one."""
        super().__init__(tensor.get_device() if is_presented(tensor) else None)


class StreamContext(Context):
    """`torch.cuda.stream(…)`: the device of a stream, whose order is that of the program anyway."""

    def __init__(self, stream: Stream | None) -> None:
        """Choose the device of a stream."""
        super().__init__(None if stream is None else stream.device)


def install() -> None:
    """Answer for `torch.cuda` in this process, for good."""
    cuda, true = torch.cuda, torch.get_device_module(stand_in.device)
    for name, value in _answers().items():
        setattr(cuda, name, lambda *args, _value=value, **kwargs: _value)
    cuda.device_count = lambda: stand_in.count
    cuda.current_device = index_of
    cuda.set_device = lambda device: choose(device) and None
    cuda.synchronize = lambda device=None: true.synchronize()
    cuda.manual_seed = cuda.manual_seed_all = true.manual_seed
    cuda.seed = cuda.seed_all = torch.seed
    cuda.initial_seed = torch.initial_seed
    cuda.get_rng_state = lambda device=None: true.get_rng_state()
    cuda.set_rng_state = lambda state, device=None: true.set_rng_state(state)
    cuda.get_rng_state_all = lambda: [true.get_rng_state()] * stand_in.count
    cuda.set_rng_state_all = lambda states: true.set_rng_state(states[0])
    for name in (*_RANDOM, "current_device"):
        setattr(cuda.random, name, getattr(cuda, name))
    for name in _answers():
        if hasattr(cuda.memory, name):
            setattr(cuda.memory, name, getattr(cuda, name))
    cuda.Stream, cuda.ExternalStream, cuda.Event = Stream, Stream, Event
    cuda._is_in_bad_fork = process.is_lost
    cuda.device, cuda.device_of, cuda.stream = Context, ContextOf, StreamContext
    cuda.set_stream = lambda stream: None
    cuda.cudart = functools.partial(_refuse, "cudart")
    for name, dtype in _DTYPES.items():
        setattr(cuda, f"{name}Tensor", LegacyType(f"{name}Tensor", (), {"dtype": dtype}))
    cuda.jiterator._JittedFunction.__call__ = functools.partial(_refuse, "jiterator")
    cuda.nvtx._nvtx = SimpleNamespace(**dict.fromkeys(_ANNOTATIONS, lambda *args: 0))
    _refuse_the_rest()
    torch.backends.cudnn.is_acceptable = lambda tensor: False
    torch.backends.cuda.is_built = lambda: True
    copies.install()


def _refuse_the_rest() -> None:
    """Let the functions and classes that need a GPU say that it is the simulation that ends."""
    for module in (torch.cuda, torch.cuda.memory, torch.cuda.graphs):
        for name, value in list(vars(module).items()):
            if not getattr(value, "__module__", None) or not value.__module__.startswith("torch.cuda"):
                continue
            if isinstance(value, type) and (name in _NEED_GPU or _is_native(value)):
                setattr(module, name, refused_class(name, f"torch.cuda.{name}"))
            elif name in _NEED_GPU:
                setattr(module, name, functools.partial(_refuse, name))
            elif isinstance(value, FunctionType):
                setattr(module, name, _refusing(f"torch.cuda.{name}", value))


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
                raise NotSimulated(name) from error
            raise

    return call


def _refuse(name: str, *args: Any, **kwargs: Any) -> Any:
    raise NotSimulated(f"torch.cuda.{name}")


def refused_class(name: str, said: str) -> type:
    """A class that cannot be instantiated, for annotations and for `isinstance`, which need one."""

    def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
        raise NotSimulated(said)

    return type(name, (), {"__new__": __new__})


def _answers() -> dict[str, Any]:
    """Functions of `torch.cuda` that always answer the same."""
    properties = Properties(name=f"{stand_in.device.type} as CUDA")
    answers: dict[str, Any] = {
        "is_available": True,
        "is_initialized": True,
        "is_bf16_supported": True,
        "is_current_stream_capturing": False,
        "get_device_name": properties.name,
        "get_device_capability": (properties.major, properties.minor),
        "get_device_properties": properties,
        "mem_get_info": (_TOTAL, _TOTAL),
        "memory_summary": "",
        "can_device_access_peer": True,
        "get_per_process_memory_fraction": 1.0,
        "current_stream": Stream(),
        "default_stream": Stream(),
    }
    answers |= dict.fromkeys(
        ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"), 0
    )
    return answers | dict.fromkeys(("_lazy_init", "init", "ipc_collect", *_FORGOTTEN))
