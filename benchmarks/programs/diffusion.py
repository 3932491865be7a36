"""Trains a small denoising diffusion model with an average of its weights, and samples from it."""

import json

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []


class Net(nn.Module):
    """A network with one level, an embedding of time and attention."""

    def __init__(self):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 32))
        self.down, self.inner = nn.Conv2d(1, 32, 3, padding=1), nn.Conv2d(32, 32, 3, 2, 1)
        self.norm, self.attention = nn.GroupNorm(8, 32), nn.MultiheadAttention(32, 4, batch_first=True)
        self.up, self.out = nn.ConvTranspose2d(32, 32, 4, 2, 1), nn.Conv2d(64, 1, 3, padding=1)

    def forward(self, x, t):
        """Predict the noise."""
        frequencies = torch.exp(-torch.arange(8, device=x.device) / 8 * 9.2)
        angles = t[:, None].float() * frequencies[None]
        first = (
            F.silu(self.down(x)) + self.time(torch.cat([angles.sin(), angles.cos()], -1))[:, :, None, None]
        )
        h = F.silu(self.norm(self.inner(first)))
        tokens = h.flatten(2).transpose(1, 2)
        tokens = tokens + self.attention(tokens, tokens, tokens, need_weights=False)[0]
        h = tokens.transpose(1, 2).reshape(h.shape)
        h = F.interpolate(h, scale_factor=2, mode="bilinear", align_corners=False) + self.up(h)
        return self.out(torch.cat([h, first], 1))


steps = 20
beta = torch.linspace(1e-4, 0.02, steps, device=device)
kept = torch.cumprod(1 - beta, 0)
model = Net().to(device)
average = torch.optim.swa_utils.AveragedModel(
    model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9)
)
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
numbers = torch.Generator(device=device).manual_seed(3)
for _ in range(4):
    clean = torch.rand(8, 1, 16, 16).to(device, memory_format=torch.channels_last)
    t = torch.randint(0, steps, (8,), device=device, generator=numbers)
    noise = torch.randn(clean.shape, device=device, generator=numbers)
    level = kept[t][:, None, None, None]
    loss = F.mse_loss(model(level.sqrt() * clean + (1 - level).sqrt() * noise, t), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update_parameters(model)
    losses.append(loss.item())
with torch.no_grad():
    x = torch.randn(2, 1, 16, 16, device=device)
    for i in reversed(range(steps)):
        predicted = average(x, torch.full((2,), i, device=device))
        x = (x - beta[i] / (1 - kept[i]).sqrt() * predicted) / (1 - beta[i]).sqrt()
        x += beta[i].sqrt() * torch.randn_like(x) if i else 0
losses.append(x.abs().mean().item())

print(json.dumps(losses))
