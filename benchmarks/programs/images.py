"""Trains models of timm with mixed images, soft labels, an average of the weights and its optimizers."""

import json

import numpy
import timm
import timm.optim
import timm.utils
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
numpy.random.seed(0)
losses = []

small = {"img_size": 32, "patch_size": 8, "depth": 2}
for name, options in (("vit_tiny_patch16_224", small), ("resnet10t", {}), ("convnext_atto", {})):
    model = timm.create_model(name, num_classes=5, drop_path_rate=0.1, **options).to(device)
    optimizer = timm.optim.create_optimizer_v2(model, opt="lamb", lr=1e-3)
    average = timm.utils.ModelEmaV3(model, 0.9)
    mix = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=5)
    for _ in range(2):
        x, y = torch.randn(4, 3, 32, 32).to(device), torch.randint(0, 5, (4,)).to(device)
        x, y = mix(x, y)
        loss = SoftTargetCrossEntropy()(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(model)
        losses.append(loss.item())
    losses.append(average.module(x).abs().mean().item())

print(json.dumps(losses))
