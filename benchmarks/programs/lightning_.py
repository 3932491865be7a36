"""Trains with Lightning, which moves modules and batches by itself, and with its metrics and checkpoints."""

import json
import logging
import tempfile
import warnings

import lightning
import torch
import torchmetrics
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
lightning.seed_everything(0, verbose=False)
losses = []


class Classifier(lightning.LightningModule):
    """Two layers."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
        self.accuracy = torchmetrics.classification.MulticlassAccuracy(num_classes=2)

    def training_step(self, batch, index):
        """The loss."""
        x, y = batch
        out = self.layers(x)
        loss = nn.functional.cross_entropy(out, y)
        self.accuracy(out, y)
        self.log("loss", loss)
        losses.append(loss.item())
        return loss

    def on_train_epoch_end(self):
        """Keep the accuracy."""
        losses.append(self.accuracy.compute().item())

    def validation_step(self, batch, index):
        """The loss."""
        self.log("validation", nn.functional.cross_entropy(self.layers(batch[0]), batch[1]))

    def configure_optimizers(self):
        """Adam, and a schedule."""
        optimizer = torch.optim.Adam(self.parameters())
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


dataset = TensorDataset(torch.randn(32, 8), torch.randint(0, 2, (32,)))
with tempfile.TemporaryDirectory() as folder:
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(
        max_epochs=2, devices=1, default_root_dir=folder, gradient_clip_val=1.0, **quiet
    )
    trainer.fit(Classifier(), DataLoader(dataset, 8), DataLoader(dataset, 8))
    losses.append(trainer.validate(dataloaders=DataLoader(dataset, 8), verbose=False)[0]["validation"])

print(json.dumps(losses))
