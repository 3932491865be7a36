"""Learns distances: triplets, contrast, a queue of negatives, and kernels."""

import json

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []

model = nn.Sequential(nn.Linear(16, 32), nn.Mish(), nn.Linear(32, 8)).to(device)
queue = F.normalize(torch.randn(20, 8, device=device), dim=-1)
optimizer = torch.optim.NAdam(model.parameters(), 1e-2)
triplets = nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: 1 - F.cosine_similarity(a, b))
for _ in range(4):
    x, y = torch.randn(12, 16).to(device), torch.arange(12, device=device) % 4
    z = F.normalize(model(x), dim=-1)
    other = F.normalize(model(x + 0.1 * torch.randn_like(x)), dim=-1)
    logits = torch.cat([(z * other).sum(-1, keepdim=True), z @ queue.T], 1) / 0.1
    contrast = F.cross_entropy(logits, torch.zeros(12, dtype=torch.long, device=device))
    same = (y[:, None] == y[None]) & ~torch.eye(12, dtype=torch.bool, device=device)
    distance = torch.cdist(z, z) + 1e-6
    far = distance.masked_fill(same, -1.0).amax(1) - distance.masked_fill(~same, torch.inf).amin(1)
    loss = contrast + triplets(z, other, z.roll(1, 0)) + far.pow(2).mean()
    loss = (
        loss + torch.pdist(z).mean() + F.kl_div(z.log_softmax(-1), other.softmax(-1), reduction="batchmean")
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    queue = torch.cat([queue, z.detach()])[-20:]
    losses.append(loss.item())
losses.append(torch.linalg.matrix_norm(queue).item())

print(json.dumps(losses))
