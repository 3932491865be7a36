"""Fits a Gaussian process and a normalizing flow: factorizations, solvers, distributions, LBFGS."""

import json

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []

x, y = torch.linspace(0, 1, 20).to(device)[:, None], torch.randn(20, device=device)
scale = nn.Parameter(torch.zeros(2, device=device))
optimizer = torch.optim.LBFGS([scale], lr=0.1, max_iter=3, line_search_fn="strong_wolfe")


def likelihood():
    """How unlikely the data are."""
    optimizer.zero_grad()
    kernel = scale[0].exp() * torch.exp(-torch.cdist(x, x).pow(2) * scale[1].exp())
    factor = torch.linalg.cholesky(kernel + 0.1 * torch.eye(20, device=device))
    solved = torch.cholesky_solve(y[:, None], factor).squeeze(-1)
    loss = 0.5 * y @ solved + factor.diagonal().log().sum()
    loss.backward()
    return loss


losses += [optimizer.step(likelihood).item() for _ in range(3)]
turn = nn.Linear(3, 3, bias=False).to(device)
nn.init.orthogonal_(turn.weight)
base = torch.distributions.MultivariateNormal(torch.zeros(3, device=device), torch.eye(3, device=device))
optimizer = torch.optim.Rprop(turn.parameters(), 1e-2)
for _ in range(3):
    z = turn(torch.randn(16, 3, device=device) * 2)
    loss = -(base.log_prob(z) + torch.linalg.slogdet(turn.weight).logabsdet).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
mixture = torch.distributions.MixtureSameFamily(
    torch.distributions.Categorical(torch.ones(2, device=device)),
    torch.distributions.Normal(torch.tensor([-1.0, 1.0], device=device), 1.0),
)
losses.append(mixture.log_prob(mixture.sample((5,))).mean().item())
losses.append(torch.linalg.svdvals(turn.weight).sum().item() + torch.fft.rfft(y).abs().mean().item())

print(json.dumps(losses))
