"""Trains a one-stage detector: anchors, intersection over union, focal loss, suppression of duplicates."""

import json

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []


def overlap(one, other):
    """Intersection over union of each box with each other."""
    low = torch.maximum(one[:, None, :2], other[None, :, :2])
    high = torch.minimum(one[:, None, 2:], other[None, :, 2:])
    common = (high - low).clamp(min=0).prod(-1)
    area = [(boxes[:, 2:] - boxes[:, :2]).prod(-1) for boxes in (one, other)]
    return common / (area[0][:, None] + area[1][None] - common)


def suppress(boxes, scores, limit=0.5):
    """The indices of the boxes to keep."""
    order, kept = scores.argsort(descending=True), []
    while order.numel():
        first, rest = order[0], order[1:]
        kept.append(first)
        order = rest[overlap(boxes[first][None], boxes[rest])[0] < limit]
    return torch.stack(kept)


body = nn.Sequential(
    nn.Conv2d(3, 16, 3, 2, 1),
    nn.BatchNorm2d(16),
    nn.ReLU(),
    nn.Conv2d(16, 32, 3, 2, 1),
    nn.ReLU(),
    nn.MaxPool2d(2),
)
model = nn.ModuleDict({"body": body, "classes": nn.Conv2d(32, 3, 1), "boxes": nn.Conv2d(32, 4, 1)}).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, nesterov=True)
rows, columns = torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij")
centers = torch.stack([columns, rows], -1).reshape(-1, 2).to(device) * 8.0 + 4
anchors = torch.cat([centers - 6, centers + 6], -1)
for _ in range(4):
    images = torch.rand(2, 3, 32, 32).to(device)
    corner = torch.rand(2, 3, 2) * 16
    targets = [
        {"boxes": torch.cat([c, c + 10], -1).to(device), "labels": torch.randint(0, 3, (3,)).to(device)}
        for c in corner
    ]
    features = model["body"](images)
    logits = model["classes"](features).permute(0, 2, 3, 1).flatten(1, 2)
    shifts = model["boxes"](features).permute(0, 2, 3, 1).flatten(1, 2)
    loss = torch.zeros((), device=device)
    for target, logit, shift in zip(targets, logits, shifts, strict=True):
        quality, match = overlap(anchors, target["boxes"]).max(1)
        near = quality > 0.2
        wanted = torch.zeros_like(logit)
        wanted[near, target["labels"][match[near]]] = 1
        chance = logit.sigmoid()
        weight = torch.where(wanted > 0, 0.25 * (1 - chance) ** 2, 0.75 * chance**2)
        loss = loss + (weight * F.binary_cross_entropy_with_logits(logit, wanted, reduction="none")).sum()
        loss = loss + F.smooth_l1_loss(anchors[near] + shift[near], target["boxes"][match[near]])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()
    losses.append(loss.item())
kept = suppress(anchors + shifts[0].detach(), logits[0].max(1).values)
losses.append(kept.float().mean().item())

print(json.dumps(losses))
