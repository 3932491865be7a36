"""Trains graph convolutions and attention over edges, written with scattering."""

import json

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []


class Convolution(nn.Module):
    """The mean of the neighbours."""

    def __init__(self, size, out):
        super().__init__()
        self.linear = nn.Linear(size, out)

    def forward(self, x, edges):
        """Features of the nodes after one step."""
        source, target = edges
        x = self.linear(x)
        degree = torch.zeros(len(x), device=x.device).index_add_(
            0, target, torch.ones_like(target, dtype=x.dtype)
        )
        total = torch.zeros_like(x).scatter_add_(0, target[:, None].expand(-1, x.size(1)), x[source])
        return total / degree.clamp(min=1)[:, None]


class Attention(nn.Module):
    """Neighbours by weight."""

    def __init__(self, size, out):
        super().__init__()
        self.linear, self.score = nn.Linear(size, out), nn.Linear(2 * out, 1)

    def forward(self, x, edges):
        """Features of the nodes after one step."""
        x = self.linear(x)
        score = F.leaky_relu(self.score(torch.cat([x[edges[0]], x[edges[1]]], -1))).squeeze(-1)
        highest = torch.full((len(x),), -1e9, device=x.device).scatter_reduce(0, edges[1], score, "amax")
        score = (score - highest[edges[1]]).exp()
        total = torch.zeros(len(x), device=x.device).scatter_add(0, edges[1], score)
        weight = (score / total[edges[1]])[:, None]
        return torch.zeros_like(x).index_add(0, edges[1], weight * x[edges[0]])


edges, x, y = torch.randint(0, 100, (2, 600)), torch.randn(100, 16), torch.randint(0, 4, (100,))
mask = torch.rand(100) > 0.3
edges, x, y, mask = (part.to(device) for part in (edges, x, y, mask))
first, second = Convolution(16, 32).to(device), Attention(32, 4).to(device)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], 1e-2)
for _ in range(5):
    out = second(first(x, edges).relu(), edges)
    loss = F.cross_entropy(out[mask], y[mask])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
groups, counts = torch.unique(y, return_counts=True)
losses += [counts.float().std().item(), torch.bincount(y[mask]).float().mean().item()]

print(json.dumps(losses))
