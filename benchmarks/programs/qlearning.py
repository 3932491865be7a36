"""Trains a deep Q-network from a memory on the cpu, with a target network that follows it."""

import copy
import json
import random

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []

random.seed(0)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3)).to(device)
target = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.RMSprop(model.parameters(), 1e-3, centered=True)
memory, state = [], torch.randn(4)
for step in range(60):
    with torch.no_grad():
        best = model(state.to(device)).argmax().item()
    action = random.randrange(3) if random.random() < 0.3 else best
    following = (state + (action - 1) * 0.1).clamp(-1, 1)
    memory.append((state, action, -following.abs().sum().item(), following, step % 20 == 19))
    state = following
    if step < 20:
        continue
    states, actions, rewards, after, done = zip(*random.sample(memory, 16), strict=True)
    states, after = torch.stack(states).to(device), torch.stack(after).to(device)
    actions, rewards = torch.tensor(actions, device=device), torch.tensor(rewards, device=device)
    done = torch.tensor(done, device=device)
    chosen = model(states).gather(1, actions[:, None]).squeeze(1)
    wanted = rewards + 0.9 * target(after).max(1).values * ~done
    loss = F.huber_loss(chosen, wanted)
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    for old, new in zip(target.parameters(), model.parameters(), strict=True):
        old.data.lerp_(new.data, 0.1)
    if step % 10 == 0:
        losses.append(loss.item())

print(json.dumps(losses))
