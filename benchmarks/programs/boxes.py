"""Trains a Faster R-CNN of torchvision, whose own operators come with a kernel for the cpu."""

import json

import torch
import torchvision
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []

body = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3, 4, 1), torch.nn.ReLU())
body.out_channels = 16
pool = torchvision.ops.MultiScaleRoIAlign(featmap_names=["0"], output_size=3, sampling_ratio=2)
anchors = AnchorGenerator(sizes=((8, 16),), aspect_ratios=((1.0,),))
model = FasterRCNN(body, 3, rpn_anchor_generator=anchors, box_roi_pool=pool, min_size=32, max_size=32).to(
    device
)
optimizer = torch.optim.SGD(model.parameters(), 1e-2)
for _ in range(3):
    images = [torch.rand(3, 32, 32, device=device) for _ in range(2)]
    corners = torch.rand(2, 2, 2) * 16
    targets = [
        {"boxes": torch.cat([c, c + 12], -1).to(device), "labels": torch.tensor([1, 2], device=device)}
        for c in corners
    ]
    loss = sum(model(images, targets).values())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
model.eval()
with torch.no_grad():
    losses.append(model(images)[0]["scores"].sum().item())

print(json.dumps(losses))
