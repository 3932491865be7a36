"""Saves and resumes training, with the state of everything and on every kind of map_location."""

import io
import json
import pickle

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []

model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.2), nn.ReLU(), nn.Linear(16, 2)).to(device)
optimizer = torch.optim.Adam(model.parameters(), 1e-2, amsgrad=True)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)


def train(steps):
    """Go on."""
    for _ in range(steps):
        x = torch.randn(4, 8, device=device)
        loss = torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())


train(3)
file = io.BytesIO()
state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}
torch.save({**state, "random": torch.get_rng_state()}, file)
train(2)
for place in ("cpu", device, str(device), None):
    file.seek(0)
    saved = torch.load(file, map_location=place)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    schedule.load_state_dict(saved["schedule"])
    torch.set_rng_state(saved["random"].cpu())
    train(2)
with torch.device("meta"):
    empty = nn.Linear(8, 16)
empty.load_state_dict(pickle.loads(pickle.dumps(model[0].state_dict())), assign=True)
losses.append(empty.weight.sum().item())

print(json.dumps(losses))
