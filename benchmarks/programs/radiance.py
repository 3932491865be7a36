"""Trains a field of radiance: rays, positional encoding, transmittance, and a grid of features."""

import json

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []


class Field(nn.Module):
    """Density and color at points."""

    def __init__(self):
        super().__init__()
        self.grid = nn.Parameter(torch.randn(1, 4, 4, 4, 4) * 0.1)
        self.layers = nn.Sequential(nn.Linear(22, 32), nn.ReLU(), nn.Linear(32, 4))
        self.register_buffer("frequencies", 2.0 ** torch.arange(3), persistent=False)

    def forward(self, points):
        """Four numbers for each point."""
        angles = (points[..., None] * self.frequencies).flatten(-2)
        sampled = F.grid_sample(
            self.grid, points[None, :, :, None], align_corners=True, padding_mode="border"
        )
        return self.layers(torch.cat([angles.sin(), angles.cos(), sampled[0, ..., 0].permute(1, 2, 0)], -1))


field = Field().to(device)
optimizer = torch.optim.RAdam(field.parameters(), 1e-2)
origins = torch.tensor([0.0, 0.0, -2.0])
for _ in range(4):
    directions = F.normalize(torch.randn(16, 3) + torch.tensor([0.0, 0.0, 4.0]), dim=-1).to(device)
    depth = torch.linspace(1, 3, 12, device=device).expand(16, 12) + torch.rand(16, 12, device=device) * 0.1
    out = field(origins.to(device) + directions[:, None] * depth[..., None])
    gaps = torch.cat([depth.diff(dim=-1), torch.full_like(depth[:, :1], 1e2)], -1)
    alpha = 1 - torch.exp(-F.softplus(out[..., 3]) * gaps)
    passed = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-6], -1), -1)[:, :-1]
    color = ((alpha * passed)[..., None] * out[..., :3].sigmoid()).sum(1)
    loss = F.mse_loss(color, directions.abs()) + torch.logsumexp(out, 0).mean() * 1e-3
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())

print(json.dumps(losses))
