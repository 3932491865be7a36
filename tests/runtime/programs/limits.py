# mypy: ignore-errors
"""Does what the simulation cannot answer, and what only looks like it."""

import os
from multiprocessing.reduction import ForkingPickler

import numpy
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.arange(6.0).reshape(2, 3).to(device)
seen = {}


def says(function):
    try:
        function()
    except Exception as error:
        return type(error).__name__, isinstance(error, RuntimeError), str(error).splitlines()[0]
    return "runs"


if device == "cuda":
    from torch.distributed.fsdp import FullyShardedDataParallel

    library = torch.library.Library("limits", "DEF")
    library.define("only_cuda(Tensor x) -> Tensor")
    library.impl("only_cuda", lambda x: x + 1, "CUDA")
    sparse = nn.Embedding(4, 2, sparse=True).cuda()
    attempts = {
        "sparse": lambda: x.to_sparse(),
        "sparse made": lambda: torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,), device="cuda"),
        "sparse moved": lambda: torch.eye(3).to_sparse().cuda(),
        "sparse rows": lambda: torch.eye(3).to_sparse_csr().cuda().to_dense(),
        "sparse gradient": lambda: sparse(torch.tensor([1], device="cuda")).sum().backward(),
        "nested": lambda: torch.nested.nested_tensor([x[0], x[1, :2]]).unbind(),
        "quantized": lambda: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
        "another process": lambda: ForkingPickler.dumps(x),
        "graph": lambda: torch.cuda.CUDAGraph(),
        "snapshot": lambda: torch.cuda.memory_snapshot(),
        "accelerator": lambda: torch.accelerator.Graph(),
        "fsdp": lambda: FullyShardedDataParallel(nn.Linear(2, 2)),
        "power": lambda: torch.cuda.power_draw(),
        "operator": lambda: torch.ops.limits.only_cuda(x),
        "pool": lambda: torch.cuda.graph_pool_handle(),
        "numpy": lambda: x.numpy(),
        "asarray": lambda: numpy.asarray(x),
        "__array__": lambda: x.__array__(),
        "numpy by dlpack": lambda: numpy.from_dlpack(x),
        "buffer": lambda: torch.frombuffer(x, dtype=torch.float32),
        "second device": lambda: torch.UntypedStorage(4, device="cuda:1"),
        "pinned": lambda: x.pin_memory(),
        "mixed padding": lambda: (
            nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 1, batch_first=True), 1)
            .cuda()
            .eval()
            .requires_grad_(False)(x.new_ones(1, 2, 4), src_key_padding_mask=torch.tensor([[False, True]]))
        ),
    }
    seen = {name: says(attempt) for name, attempt in attempts.items()}

    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, repr(says(lambda: torch.ones(2, device="cuda"))).encode())
        os._exit(0)
    os.waitpid(child, 0)
    seen["forked"] = eval(os.read(reader, 1000))


class Listens(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        calls.append((getattr(function, "__name__", ""), (kwargs or {}).get("device")))
        return function(*args, **(kwargs or {}))


class Marked(torch.Tensor):
    pass


def answers(tensor):
    return tensor.is_cuda, str(tensor.device), tensor.get_device(), tensor.type(), (tensor + 1).sum().item()


calls = []
properties = {"plain": answers(x), "subclass": answers(x.as_subclass(Marked))}
with torch.device(device):
    properties["context"] = answers(x)
    properties["made in context"] = [
        made.device.type
        for made in (torch.ones(2), torch.tensor(1), torch.as_tensor([1]), nn.Linear(2, 2).weight)
    ]
    properties["named in context"] = torch.ones(2, device="cpu").device.type
with Listens():
    properties["mode"] = answers(x)
    properties["of the cpu"] = x.cpu().is_cuda, x.cpu().device.type
    del calls[:]
    torch.ones(2, device=device)
    properties["what the mode hears"] = calls[0]
properties["subclass kept"] = [
    type(t).__name__ for t in (x.as_subclass(Marked).to(device), x.as_subclass(Marked).type(torch.double))
]
