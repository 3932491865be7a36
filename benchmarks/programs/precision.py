"""Trains in mixed precision with a scaler, as scripts for GPUs do."""

import json

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []

model = nn.Sequential(
    nn.Conv1d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 16), nn.LayerNorm(16), nn.Linear(16, 2)
)
model = model.to(device)
optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
scaler = torch.amp.GradScaler(device.type, init_scale=256.0)
for _ in range(4):
    x, y = torch.randn(8, 1, 10).to(device), torch.randint(0, 2, (8,)).to(device)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        out = model(x)
        loss = F.cross_entropy(out.float(), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    losses += [loss.item(), scaler.get_scale(), float(out.dtype is torch.bfloat16)]

print(json.dumps(losses))
