"""Trains with DistributedDataParallel in a group of one process."""

import json
import os

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []

os.environ |= {
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29511",
    "RANK": "0",
    "WORLD_SIZE": "1",
    "LOCAL_RANK": "0",
}
torch.distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2)).to(device)
model = nn.SyncBatchNorm.convert_sync_batchnorm(model) if device.type == "cuda" else model
model = nn.parallel.DistributedDataParallel(model, device_ids=[0] if device.type == "cuda" else None)
dataset = torch.utils.data.TensorDataset(torch.randn(32, 8), torch.randint(0, 2, (32,)))
sampler = torch.utils.data.DistributedSampler(dataset)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for x, y in torch.utils.data.DataLoader(dataset, 8, sampler=sampler, pin_memory=True):
        loss = F.cross_entropy(model(x.to(device, non_blocking=True)), y.to(device, non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = loss.detach().clone()
        torch.distributed.all_reduce(total)
        losses.append(total.item())
torch.distributed.barrier()
torch.distributed.destroy_process_group()

print(json.dumps(losses))
