# mypy: ignore-errors
"""What two devices, DataParallel and a process group of one process do."""

import io

import torch
import torch.distributed as dist
from torch import nn

seen = {}


def says(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[0].replace("sim:", "cuda:")


if torch.cuda.device_count() > 1:
    a, b = torch.ones(3, device="cuda:0"), torch.ones(3, device="cuda:1")
    one = torch.ones(1, 1, 3)
    seen["where"] = str(a.device), str(b.device), b.get_device(), str((b + 1).device), str(b[:1].device)
    seen["sum"] = says(lambda: a + b)
    seen["number"] = says(lambda: a + b.sum())
    seen["product"] = says(lambda: a[None] @ b[:, None])
    seen["index"] = says(lambda: a[torch.tensor([0], device="cuda:1")])
    seen["convolution"] = says(lambda: nn.functional.conv1d(one.to("cuda:0"), one.to("cuda:1")))
    seen["copied"] = a.clone().copy_(b * 2).tolist(), str((a + b.cuda(0)).device)
    seen["third"] = says(lambda: torch.ones(2, device="cuda:2"))
    with torch.cuda.device(1):
        seen["chosen"] = str(torch.ones(2).cuda().device), torch.cuda.current_device()
        seen["chosen by name"] = str(torch.ones(2, device="cuda").device)
    seen["as before"] = str(torch.ones(2).cuda().device)
    file = io.BytesIO()
    torch.save(b, file)
    seen["loaded"] = [str(torch.load(io.BytesIO(file.getvalue()), m).device) for m in (None, "cuda:0", "cpu")]
    rnn = nn.LSTM(3, 4).to("cuda:1")
    rnn(torch.ones(2, 1, 3, device="cuda:1"))[0].sum().backward()
    optimizer = torch.optim.Adam(rnn.parameters())
    optimizer.step()
    moments = next(iter(optimizer.state.values()))["exp_avg"]
    seen["trained"] = str(rnn.weight_ih_l0.grad.device), str(moments.device)

device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group("nccl" if device == "cuda" else "gloo", rank=0, world_size=1, store=dist.HashStore())
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
data = torch.rand(6, 4).to(device)
if device == "cuda":
    seen["parallel"] = nn.DataParallel(model.cuda())(data.cpu()).sum().item()
else:
    seen["parallel"] = model(data).sum().item()
wrapped = nn.parallel.DistributedDataParallel(model.to(device))
optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
losses = []
for _ in range(3):
    optimizer.zero_grad()
    loss = wrapped(data).pow(2).mean()
    loss.backward()
    optimizer.step()
    reduced = loss.detach().clone()
    dist.all_reduce(reduced)
    losses.append(round(reduced.item(), 5))
seen["losses"] = losses
seen["parallel"] = round(seen["parallel"], 5)
gathered, objects = [torch.zeros(2, device=device)], [None]
dist.all_gather(gathered, torch.ones(2, device=device))
dist.all_gather_object(objects, {"a": 1})
dist.barrier()
seen["gathered"] = gathered[0].tolist(), objects
seen["backend"] = dist.get_backend()
dist.destroy_process_group()
