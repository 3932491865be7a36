# mypy: ignore-errors
"""What scripts ask of CUDA besides tensors; on the cpu there is nothing to ask."""

import io
import threading

import torch
from torch import nn

seen = {}
if torch.cuda.is_available():
    x = torch.ones(3).cuda()
    seen["device"] = str(x.device), x.is_cuda, x.get_device(), x.type()
    seen["legacy"] = isinstance(x, torch.cuda.FloatTensor), torch.cuda.FloatTensor([1.0]).device.type
    seen["factory"] = torch.zeros(2, device="cuda").device.type, x.new_ones(2).device.type
    seen["string"] = torch.zeros(2).type("torch.cuda.DoubleTensor").type()
    about = torch.cuda.get_device_properties(0)
    seen["properties"] = about.warp_size, about.L2_cache_size > 0, about.total_memory > 0
    graph = torch.cuda.CUDAGraph
    seen["classes"] = isinstance(x, (graph, torch.cuda.MemPool)), type(None) in (graph | None).__args__
    compiled = torch.compile(nn.Linear(2, 1).cuda())
    seen["compiled"] = list(compiled.state_dict()), compiled(torch.ones(1, 2).cuda()).device.type
    seen["compiled function"] = torch.compile(dynamic=False)(abs)(-1)
    with torch.device("cuda"):
        seen["context"] = torch.ones(2).device.type, torch.range(0, 2).device.type
    torch.set_default_device("cuda")
    seen["default"] = torch.ones(2).device.type, torch.get_default_device().type
    torch.set_default_device(None)
    thread = threading.Thread(target=lambda: seen.update(thread=torch.ones(2, device="cuda").device.type))
    thread.start()
    thread.join()

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * torch.full((3,), 2.0, device="cuda")

    x.requires_grad_()
    Double.apply(x).sum().backward()
    seen["backward"] = x.grad.tolist()
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    with torch.cuda.stream(torch.cuda.Stream()), torch.cuda.device(0):
        stop.record()
    torch.cuda.synchronize()
    seen["timed"] = start.elapsed_time(stop) >= 0
    seen["capturing"] = torch.cuda.is_current_stream_capturing()
    try:
        torch.ones(2, device="cuda:1")
    except RuntimeError as error:
        seen["second"] = str(error)
    generator = torch.Generator(device="cuda").manual_seed(0)
    seen["generator"] = torch.randn(2, generator=generator, device="cuda").device.type
    for name, foreign, place in (("host", torch.Generator(), "cuda"), ("device", generator, "cpu")):
        try:
            torch.randn(2, generator=foreign, device=place)
        except RuntimeError as error:
            seen[f"{name} generator"] = str(error)
    file = io.BytesIO()
    torch.save(x.detach(), file)
    for place in ("cpu", "cuda", None):
        file.seek(0)
        seen[f"load {place}"] = torch.load(file, map_location=place).device.type
    seen["script"] = torch.jit.script(nn.Linear(3, 2)).cuda()(x).device.type
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(nn.Linear(3, 2)), file)
    file.seek(0)
    seen["loaded script"] = torch.jit.load(file, map_location="cuda")(x).device.type
    seen["parallel"] = nn.DataParallel(nn.Linear(3, 2)).cuda()(x.detach()[None]).device.type
    seen["accelerator"] = str(torch.accelerator.current_accelerator())
