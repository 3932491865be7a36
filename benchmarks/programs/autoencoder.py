"""Trains a variational autoencoder and a quantized one."""

import json

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []

encoder, decoder = nn.Linear(16, 8).to(device), nn.Linear(4, 16).to(device)
codes = nn.Embedding(10, 4).to(device)
optimizer = torch.optim.Adamax([*encoder.parameters(), *decoder.parameters(), *codes.parameters()], 1e-2)
for _ in range(4):
    x = torch.rand(12, 16).to(device)
    mean, spread = encoder(x).chunk(2, -1)
    posterior = torch.distributions.Normal(mean, F.softplus(spread) + 1e-3)
    prior = torch.distributions.Normal(torch.zeros_like(mean), 1.0)
    z = posterior.rsample()
    nearest = torch.cdist(z, codes.weight).argmin(-1)
    snapped = codes(nearest)
    through = z + (snapped - z).detach()
    commitment = F.mse_loss(z, snapped.detach()) + F.mse_loss(snapped, z.detach())
    divergence = torch.distributions.kl_divergence(posterior, prior).sum(-1).mean()
    loss = F.mse_loss(decoder(through), x) + 0.1 * divergence + commitment
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())

print(json.dumps(losses))
