"""Learns to learn: gradients of gradients, per-sample gradients, and an ensemble by vmap."""

import json

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []

model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)).to(device)
optimizer = torch.optim.Adagrad(model.parameters(), 1e-2)


def error(parameters, x, y):
    """How far off."""
    return F.mse_loss(functional_call(model, parameters, (x,)), y)


for _ in range(4):
    parameters = dict(model.named_parameters())
    x, y = torch.randn(3, 5, 4, device=device), torch.randn(3, 5, 1, device=device)

    def adapted(x, y, parameters=parameters):
        """The error after one step on the same task."""
        slopes = grad(error)(parameters, x, y)
        return error({name: p - 0.1 * slopes[name] for name, p in parameters.items()}, x, y)

    loss = vmap(adapted)(x, y).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
each = vmap(grad(error), in_dims=(None, 0, 0))(dict(model.named_parameters()), x[0], y[0])
losses.append(sum(g.flatten(1).norm(dim=1).mean().item() for g in each.values()))
members = [nn.Linear(4, 2).to(device) for _ in range(3)]
stacked, buffers = stack_module_state(members)
out = vmap(lambda p, b: functional_call(members[0], (p, b), (x[0],)))(stacked, buffers)
losses.append(out.sum().item())

print(json.dumps(losses))
