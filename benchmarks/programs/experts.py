"""Trains a language model with a mixture of experts, rotary places and cached decoding."""

import json

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []


def rotate(x):
    """Turn pairs of features by their place."""
    place = torch.arange(x.size(-2), device=x.device)[:, None]
    angle = place / 100 ** (torch.arange(0, x.size(-1), 2, device=x.device) / x.size(-1))
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack(
        [even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()], -1
    ).flatten(-2)


class Experts(nn.Module):
    """Each token goes through two of four."""

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(32, 4, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(32, 64), nn.SiLU(), nn.Linear(64, 32)) for _ in range(4)
        )

    def forward(self, x):
        """What the experts make of each token."""
        weights, chosen = self.router(x).softmax(-1).topk(2)
        flat, out = x.reshape(-1, 32), torch.zeros_like(x).reshape(-1, 32)
        for number, expert in enumerate(self.experts):
            token, slot = torch.where(chosen.reshape(-1, 2) == number)
            out.index_add_(0, token, expert(flat[token]) * weights.reshape(-1, 2)[token, slot, None])
        return out.view_as(x)


class Model(nn.Module):
    """One block."""

    def __init__(self):
        super().__init__()
        self.words, self.qkv, self.norms = (
            nn.Embedding(40, 32),
            nn.Linear(32, 96),
            nn.ModuleList([nn.RMSNorm(32)] * 2),
        )
        self.experts, self.head = Experts(), nn.Linear(32, 40, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        """Scores of the next token."""
        x = self.words(tokens)
        q, k, v = (p.unflatten(-1, (4, 8)).transpose(1, 2) for p in self.qkv(self.norms[0](x)).chunk(3, -1))
        a = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
        x = x + a.transpose(1, 2).flatten(2)
        return self.head(x + self.experts(self.norms[1](x)))


model = torch.compile(Model().to(device)) if device.type == "cuda" else Model()
optimizer = torch.optim.AdamW(model.parameters(), 3e-3, fused=True)
for _ in range(4):
    tokens = torch.randint(0, 40, (4, 17)).to(device)
    loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
with torch.inference_mode():
    for _ in range(4):
        scores = model(tokens)[:, -1]
        lowest = scores.topk(5).values[:, -1:]
        scores = scores.masked_fill(scores < lowest, -torch.inf)
        tokens = torch.cat([tokens, scores.softmax(-1).multinomial(1)], 1)
losses.append(tokens.float().mean().item())

print(json.dumps(losses))
