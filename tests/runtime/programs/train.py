# mypy: ignore-errors
"""Trains three kinds of models as scripts do; the losses must not depend on the device."""

import copy
import io

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


class Sentences(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        words = torch.randint(0, 50, (12,), generator=torch.Generator().manual_seed(index))
        return {"words": words, "label": index % 3}


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50, 16), nn.Embedding(12, 16)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True), 1)
        self.head = nn.Linear(16, 3)

    def forward(self, words):
        places = torch.arange(words.size(1), device=words.device)
        return self.head(self.encoder(self.words(words) + self.places(places)).mean(1))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.head = nn.LSTM(8, 8, 2, batch_first=True), nn.GRU(8, 8), nn.Linear(8, 3)

    def forward(self, words):
        packed = nn.utils.rnn.pack_padded_sequence(F.one_hot(words % 8, 8).float(), [12] * len(words), True)
        hidden, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.head(self.gru(hidden)[0][:, -1])


class Convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.head = nn.Conv1d(1, 4, 3), nn.BatchNorm1d(4), nn.LazyLinear(3)

    def forward(self, words):
        return self.head(F.max_pool1d(self.norm(self.first(words[:, None].float() / 50)), 2).flatten(1))


def train(model, kind):
    torch.manual_seed(0)
    model = model.to(device)
    model(torch.zeros(2, 12, dtype=torch.long, device=device))
    average = copy.deepcopy(model).eval()
    optimizer = getattr(torch.optim, kind)(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    scaler = torch.amp.GradScaler("cuda", enabled=torch.cuda.is_available())
    losses = []
    for _ in range(2):
        for batch in DataLoader(Sentences(), 16, shuffle=True, num_workers=1, pin_memory=True):
            words, labels = batch["words"].to(device, non_blocking=True), batch["label"].to(device)
            optimizer.zero_grad(set_to_none=True)
            loss = F.cross_entropy(model(words), labels)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            with torch.no_grad():
                for kept, parameter in zip(average.parameters(), model.parameters(), strict=True):
                    kept.lerp_(parameter, 0.1)
            losses.append(round(loss.item(), 3))
        schedule.step()
    return model, optimizer, losses


losses = {}
for model, kind in ((Transformer(), "AdamW"), (Recurrent(), "Adam"), (Convolutional(), "SGD")):
    model, optimizer, losses[kind] = train(model, kind)
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    saved = torch.load(file, map_location=device)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    places = {value.device.type for value in saved["model"].values()}
    losses[f"{kind} loaded in place"] = places == {device.type}
