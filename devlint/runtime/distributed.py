"""Lets a process group of one process work on the simulated device; one of several is not simulated."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from .limit import NotSimulated

if TYPE_CHECKING:
    from collections.abc import Callable

BACKEND = "devlint"
_NCCL = "nccl"


def install(device: str) -> None:
    """Answer for NCCL, and for Gloo with one process, in this process."""
    if not dist.is_available():
        return
    dist.Backend.register_backend(BACKEND, _create, devices=["cpu", "cuda", device])
    initialize, name = dist.init_process_group, dist.get_backend

    @functools.wraps(initialize)
    def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> None:
        asked = str(backend or _NCCL).lower()
        given = kwargs.get("world_size", args[2] if len(args) > 2 else -1)
        processes = given if given > 0 else int(os.environ.get("WORLD_SIZE", 0))
        if _NCCL in asked or processes == 1:
            backend = BACKEND
            kwargs.pop("device_id", None)  # NCCL's communicators are made at once for it
        initialize(backend, *args, **kwargs)

    @functools.wraps(name)
    def get_backend(group: Any = None) -> Any:
        return _NCCL if (found := name(group)) == BACKEND else found

    torch.cuda.nccl.version = lambda: (2, 0, 0)
    for module in (dist, dist.distributed_c10d):
        module.init_process_group = init_process_group
        module.get_backend = get_backend
        module.is_nccl_available = lambda: True
    _refuse_sharding()


def _refuse_sharding() -> None:
    """FSDP asks C++ where it is; it is refused when it is imported, which takes seconds."""
    name = "torch.distributed.fsdp.fully_sharded_data_parallel"
    if name in sys.modules:
        sys.modules[name].FullyShardedDataParallel.__init__ = _refused
        return

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
            if fullname != name:
                return None
            sys.meta_path.remove(self)
            found = importlib.util.find_spec(fullname)
            if found is not None and found.loader is not None:
                load = found.loader.exec_module

                def exec_module(module: Any) -> None:
                    load(module)
                    module.FullyShardedDataParallel.__init__ = _refused

                found.loader.exec_module = exec_module  # type: ignore[method-assign]
            return found

    sys.meta_path.insert(0, Finder())


def _refused(*args: Any, **kwargs: Any) -> Any:
    raise NotSimulated("FullyShardedDataParallel", "DistributedDataParallel of one process is")


def _create(store: Any, rank: int, size: int, timeout: Any) -> Alone:
    if size > 1:
        raise NotSimulated(f"a process group of {size} processes", "one process can be")
    return Alone(rank, size)


def _alone(name: str) -> Callable[..., Any]:
    """A collective whose result is what the one process gave."""

    def call(self: Any, tensors: Any, opts: Any = None, **options: Any) -> Any:
        if "PREMUL_SUM" in str(getattr(opts, "reduceOp", "")):
            raise NotSimulated("torch.distributed with PREMUL_SUM")
        return _done(tensors)

    call.__name__ = name
    return call


def _copying(name: str) -> Callable[..., Any]:
    """A collective that writes what the one process gave somewhere else."""

    def call(self: Any, outputs: Any, inputs: Any, *sizes: Any, **options: Any) -> Any:
        for output, given in zip(_flat(outputs), _flat(inputs), strict=False):
            output.copy_(given)
        return _done(outputs)

    call.__name__ = name
    return call


def _flat(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for each in value for tensor in _flat(each)]


def _done(result: Any) -> Any:
    future: Any = torch.futures.Future()
    future.set_result(_flat(result))
    return torch._C._distributed_c10d._create_work_from_future(future)


_SAME = ("allreduce", "allreduce_coalesced", "broadcast", "reduce")
_COPIED = (
    *("allgather", "_allgather_base", "allgather_into_tensor_coalesced", "gather", "scatter"),
    *("reduce_scatter", "_reduce_scatter_base", "reduce_scatter_tensor_coalesced"),
    *("alltoall", "alltoall_base"),
)


class Alone(getattr(dist, "ProcessGroup", object)):  # type: ignore[misc]
    """The process group of one process."""

    def __init__(self, rank: int, size: int) -> None:
        """Take its place among one."""
        super().__init__(rank, size)
        self._size = size

    def size(self) -> int:
        """How many processes there are."""
        return self._size

    def getBackendName(self) -> str:
        """How torch knows it."""
        return BACKEND

    def barrier(self, opts: Any = None) -> Any:
        """Wait for nobody."""
        return _done([])


for _name in _SAME:
    setattr(Alone, _name, _alone(_name))
for _name in _COPIED:
    if _name not in vars(Alone):
        setattr(Alone, _name, _copying(_name))
