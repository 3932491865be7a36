"""Trains a small GPT-2 and lets it generate: greedily, by sampling, and with beams."""

import json

import torch
from transformers import GPT2Config, GPT2LMHeadModel

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []

config = GPT2Config(
    vocab_size=100,
    n_positions=64,
    n_embd=32,
    n_layer=2,
    n_head=2,
    bos_token_id=0,
    eos_token_id=0,
    pad_token_id=0,
)
model = GPT2LMHeadModel(config).to(device)
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
for _ in range(3):
    tokens = torch.randint(1, 100, (4, 20)).to(device)
    mask = torch.ones_like(tokens)
    mask[0, 15:] = 0
    loss = model(input_ids=tokens, attention_mask=mask, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.item())
model.eval()
for how in ({"do_sample": False}, {"do_sample": True, "top_k": 10, "top_p": 0.9}, {"num_beams": 3}):
    out = model.generate(tokens[:, :5], attention_mask=mask[:, :5], max_new_tokens=8, **how)
    losses.append(out.float().mean().item())

print(json.dumps(losses))
