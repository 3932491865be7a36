"""Trains an actor and a critic by proximal policy optimization, with generalized advantages."""

import json

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []


class Agent(nn.Module):
    """A policy and a value from one body."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
        self.policy, self.value = nn.Linear(32, 2), nn.Linear(32, 1)

    def forward(self, state):
        """The distribution of actions, and how good the state is."""
        h = self.body(state)
        return torch.distributions.Categorical(logits=self.policy(h)), self.value(h).squeeze(-1)


agent = Agent().to(device)
optimizer = torch.optim.Adam(agent.parameters(), 3e-3, eps=1e-5)
for _ in range(3):
    states, actions, before, rewards, values = [], [], [], [], []
    state = torch.randn(8, 4, device=device)
    with torch.no_grad():
        for _ in range(10):
            chances, value = agent(state)
            action = chances.sample()
            (
                states.append(state),
                actions.append(action),
                before.append(chances.log_prob(action)),
                values.append(value),
            )
            state = (state + (action[:, None] * 2 - 1) * 0.1).clamp(-2, 2)
            rewards.append(-state.abs().sum(-1))
    advantages, last = torch.zeros(10, 8, device=device), torch.zeros(8, device=device)
    for i in reversed(range(10)):
        following = values[i + 1] if i < 9 else torch.zeros_like(values[i])
        last = rewards[i] + 0.99 * following - values[i] + 0.99 * 0.95 * last
        advantages[i] = last
    returns = (advantages + torch.stack(values)).flatten()
    advantages = ((advantages - advantages.mean()) / (advantages.std() + 1e-8)).flatten()
    states, actions, before = torch.cat(states), torch.cat(actions), torch.cat(before)
    for part in torch.randperm(80).split(40):
        part = part.to(device)
        chances, value = agent(states[part])
        ratio = (chances.log_prob(actions[part]) - before[part]).exp()
        gain = torch.min(ratio * advantages[part], ratio.clamp(0.8, 1.2) * advantages[part])
        loss = -gain.mean() + 0.5 * F.mse_loss(value, returns[part]) - 0.01 * chances.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

print(json.dumps(losses))
