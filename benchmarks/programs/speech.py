"""Trains a recognizer on spectrograms: convolutions, a bidirectional GRU on packed sequences, CTC."""

import json

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []


class Recognizer(nn.Module):
    """From waves to characters."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))
        self.convolution = nn.Conv1d(33, 32, 3, padding=1)
        self.recurrent = nn.GRU(32, 24, num_layers=2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(48, 12)

    def forward(self, waves, lengths):
        """Logarithms of chances, time first, and how many steps there are."""
        spectrum = torch.stft(waves, 64, 32, window=self.window, return_complex=True).abs()
        h = F.gelu(self.convolution((spectrum + 1e-6).log())).transpose(1, 2)
        steps = lengths // 32 + 1
        packed = nn.utils.rnn.pack_padded_sequence(h, steps.cpu(), batch_first=True, enforce_sorted=False)
        h, _ = nn.utils.rnn.pad_packed_sequence(self.recurrent(packed)[0], batch_first=True)
        return self.out(h).log_softmax(-1).transpose(0, 1), steps


model = Recognizer().to(device)
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=4)
criterion = nn.CTCLoss(zero_infinity=True)
for _ in range(4):
    lengths = torch.tensor([1024, 800, 640])
    waves = nn.utils.rnn.pad_sequence([torch.randn(n) for n in lengths], batch_first=True).to(device)
    targets, sizes = torch.randint(1, 12, (3, 6)).to(device), torch.tensor([6, 5, 4])
    chances, steps = model(waves, lengths.to(device))
    loss = criterion(chances, targets, steps, sizes.to(device))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    schedule.step()
    losses.append(loss.item())
losses.append(chances.argmax(-1).float().mean().item())

print(json.dumps(losses))
