"""Trains a generator against a discriminator with a penalty on gradients and spectral norms."""

import json

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []

generator = nn.Sequential(
    *(nn.Linear(8, 64), nn.Unflatten(1, (16, 2, 2)), nn.ConvTranspose2d(16, 8, 4, 2, 1)),
    *(
        nn.InstanceNorm2d(8, affine=True),
        nn.PReLU(),
        nn.Upsample(scale_factor=2),
        nn.Conv2d(8, 1, 3, padding=1),
    ),
    nn.Tanh(),
).to(device)
norm = nn.utils.parametrizations.spectral_norm
critic = nn.Sequential(
    *(
        norm(nn.Conv2d(1, 16, 3, 2, 1)),
        nn.LeakyReLU(0.2),
        nn.Flatten(),
        nn.Dropout(0.1),
        norm(nn.Linear(256, 1)),
    )
).to(device)
optimizers = [torch.optim.Adam(part.parameters(), 2e-3, betas=(0.5, 0.9)) for part in (generator, critic)]
for _ in range(4):
    real = torch.rand(6, 1, 8, 8).to(device)
    fake = generator(torch.randn(6, 8, device=device))
    share = torch.rand(6, 1, 1, 1, device=device)
    between = (share * real + (1 - share) * fake.detach()).requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    penalty = ((slope.flatten(1).norm(dim=1) - 1) ** 2).mean()
    loss = critic(fake.detach()).mean() - critic(real).mean() + 10 * penalty
    optimizers[1].zero_grad()
    loss.backward()
    optimizers[1].step()
    optimizers[0].zero_grad()
    (-critic(fake).mean()).backward()
    optimizers[0].step()
    losses.append(loss.item())

print(json.dumps(losses))
