"""Trains a U-Net in channels-last format with Dice loss, accumulated gradients and a warm-up."""

import json

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []


def block(size, out):
    """Two convolutions."""
    layers = [nn.Conv2d(size, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True)]
    return nn.Sequential(
        *layers, nn.Conv2d(out, out, 3, padding=1, groups=out), nn.GroupNorm(2, out), nn.Hardswish()
    )


class UNet(nn.Module):
    """Down once, up once."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = block(3, 8), block(8, 16), block(16, 8)
        self.up, self.out = nn.ConvTranspose2d(16, 8, 2, 2), nn.Conv2d(8, 2, 1)

    def forward(self, x):
        """Scores of each pixel."""
        high = self.first(x)
        low = self.second(F.avg_pool2d(high, 2))
        return self.out(self.last(torch.cat([high, self.up(low)], 1)))


model = UNet().to(device, memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, weight_decay=1e-4)
warm = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=2)
schedule = torch.optim.lr_scheduler.SequentialLR(
    optimizer, [warm, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)], [2]
)
for _ in range(4):
    x = torch.rand(4, 3, 16, 16).to(device, memory_format=torch.channels_last)
    y = (x.mean(1) > 0.5).long()
    for part_x, part_y in zip(x.chunk(2), y.chunk(2), strict=True):
        scores = model(part_x)
        chance = scores.softmax(1)[:, 1]
        dice = 1 - 2 * (chance * part_y).sum() / (chance.sum() + part_y.sum())
        loss = (F.cross_entropy(scores, part_y, label_smoothing=0.1) + dice) / 2
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    schedule.step()
    losses.append(loss.item())
losses.append(model.first[1].running_var.sum().item())

print(json.dumps(losses))
